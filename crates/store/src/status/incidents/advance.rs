//! Goes through the minutes that are over, and opens, moves and ends incidents.

use diesel::{prelude::*, sql_types::Timestamptz};
use diesel_async::AsyncPgConnection;
use domain::{
    StoreError,
    incidents::{
        Incident,
        automation::{CurrentIncident, Step, Watch},
        wording::{Occasion, body, title},
    },
    texts::{Locale, Texts},
    uptime::{Component, MAX_DELAY_HOURS, Minute, Outcome, minute_of},
};
use time::{Duration, OffsetDateTime};

use super::{IncidentRow, insert, write};
use crate::{
    Store,
    database::{error::Failure, query::RunQueryDsl, statement::Scalar},
    schema::{incident_watches as watches, incidents},
    status::uptime,
};

/// How far a component's minutes have been gone through, and what the last of them were.
#[derive(Queryable, Selectable)]
#[diesel(table_name = watches, check_for_backend(diesel::pg::Pg))]
struct WatchRow {
    component: String,
    until: OffsetDateTime,
    down: i64,
    bad: i64,
    good: i64,
}

statement!(
    DatabaseTime() -> Scalar<Timestamptz> = "SELECT now()"
);

impl Store {
    /// One transaction: a process that comes while another is at it waits for the first row, and finds nothing left to do.
    pub(super) async fn advance_incidents(&self, now: OffsetDateTime) -> Result<(), StoreError> {
        self.run_transaction::<_, Failure>(async |connection| {
            // A process whose clock is ahead passes no minute over that others have yet to see.
            let database: OffsetDateTime = DatabaseTime {}.get_result(connection).await?;
            let until = minute_of(now.min(database));
            begin(connection, until).await?;
            let marks: Vec<WatchRow> = watches::table
                .filter(watches::until.lt(until))
                .order(watches::component)
                .select(WatchRow::as_select())
                .for_update()
                .load(connection)
                .await?;
            let Some(since) = marks.iter().map(|mark| mark.until).min() else { return Ok(()) };
            let oldest = until - Duration::hours(MAX_DELAY_HOURS);
            let since = since.max(oldest);
            let minutes = uptime::minutes(connection, since, until).await?;
            for WatchRow { component: name, until: gone_to, down, bad, good } in marks {
                let Ok(component) = name.parse::<Component>() else { continue };
                // What lies further back was not looked at in time, and says nothing.
                let watch = if gone_to < oldest { Watch::default() } else { Watch { down, bad, good } };
                let seen = |minute: OffsetDateTime| seen(&minutes, component, minute);
                let watch = go(connection, component, watch, (gone_to.max(oldest), until), seen).await?;
                diesel::update(watches::table.find(name))
                    .set((
                        watches::until.eq(until),
                        watches::down.eq(watch.down),
                        watches::bad.eq(watch.bad),
                        watches::good.eq(watch.good),
                    ))
                    .execute(connection)
                    .await?;
            }
            Ok(())
        })
        .await?;
        Ok(())
    }
}

/// Nothing is done about minutes from before the first time.
async fn begin(connection: &mut AsyncPgConnection, until: OffsetDateTime) -> QueryResult<usize> {
    let none = |component: &Component| {
        (
            watches::component.eq(component.as_str()),
            watches::until.eq(until),
            watches::down.eq(0_i64),
            watches::bad.eq(0_i64),
            watches::good.eq(0_i64),
        )
    };
    let all: Vec<_> = Component::ALL.iter().map(none).collect();
    diesel::insert_into(watches::table).values(all).on_conflict_do_nothing().execute(connection).await
}

fn seen(minutes: &[Minute], component: Component, minute: OffsetDateTime) -> Option<Outcome> {
    // They are in the order of their minutes.
    let first = minutes.partition_point(|found| found.minute < minute);
    let of_minute = minutes.iter().skip(first).take_while(|found| found.minute == minute);
    of_minute.filter(|found| found.component == component).find_map(|found| found.tally.outcome())
}

/// Goes through the minutes of a component, from the first to before the second.
async fn go(
    connection: &mut AsyncPgConnection,
    component: Component,
    mut watch: Watch,
    (mut minute, until): (OffsetDateTime, OffsetDateTime),
    seen: impl Fn(OffsetDateTime) -> Option<Outcome>,
) -> Result<Watch, Failure> {
    let mut standing = standing(connection, component).await?;
    while minute < until {
        watch = watch.then(seen(minute));
        minute += Duration::MINUTE;
        standing = match watch.step(component, standing.clone(), minute) {
            Step::Nothing => standing,
            Step::Open { severity, started_at } => {
                let title = title(component, severity, &Texts::of(Locale::ENGLISH));
                let incident = Incident::begun(title, severity, vec![component], true, started_at);
                let text = body(Occasion::Opened, &Texts::of(Locale::ENGLISH));
                CurrentIncident::Automatic(insert(connection, incident, &text, minute).await?)
            }
            Step::Change(incident, occasion) => {
                let text = body(occasion, &Texts::of(Locale::ENGLISH));
                CurrentIncident::Automatic(write(connection, incident, &text, minute).await?)
            }
        };
    }
    Ok(watch)
}

/// What there is for a component: what a person has in hand comes first.
async fn standing(connection: &mut AsyncPgConnection, component: Component) -> Result<CurrentIncident, Failure> {
    let of_component = || incidents::table.filter(incidents::components.contains(vec![component.as_str()]));
    let in_hand = of_component().filter(incidents::automatic.eq(false)).filter(incidents::status.ne("resolved"));
    if diesel::select(diesel::dsl::exists(in_hand)).get_result(connection).await? {
        return Ok(CurrentIncident::InHand);
    }
    let newest: Option<IncidentRow> = of_component()
        .filter(incidents::automatic)
        .order(incidents::id.desc())
        .select(IncidentRow::as_select())
        .for_update()
        .first(connection)
        .await
        .optional()?;
    let Some(row) = newest else { return Ok(CurrentIncident::Nothing) };
    // What was told of it so far decides nothing.
    Ok(CurrentIncident::Automatic(row.with(Vec::new())?))
}
