//! [`IncidentStore`] on Postgres.

mod advance;

use async_trait::async_trait;
use diesel::prelude::*;
use diesel_async::AsyncPgConnection;
use domain::{
    IncidentId, IncidentUpdateId, StoreError,
    incidents::{Change, ChangeError, Incident, IncidentStore, MOST, NewIncident, Update},
    uptime::Component,
};
use time::OffsetDateTime;

use crate::{
    Store,
    database::{
        error::{Failure, parse, store_error},
        query::RunQueryDsl,
        transact::Rollback,
    },
    schema::{incident_updates as updates, incidents},
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = incidents, check_for_backend(diesel::pg::Pg))]
struct IncidentRow {
    id: i64,
    title: String,
    severity: String,
    status: String,
    components: Vec<String>,
    automatic: bool,
    started_at: OffsetDateTime,
    identified_at: Option<OffsetDateTime>,
    monitoring_at: Option<OffsetDateTime>,
    resolved_at: Option<OffsetDateTime>,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = updates, check_for_backend(diesel::pg::Pg))]
struct UpdateRow {
    id: i64,
    incident_id: i64,
    status: String,
    body: String,
    created_at: OffsetDateTime,
}

impl TryFrom<UpdateRow> for Update {
    type Error = StoreError;
    fn try_from(row: UpdateRow) -> Result<Self, StoreError> {
        let UpdateRow { id, incident_id: _, status, body, created_at } = row;
        Ok(Self { id: IncidentUpdateId(id), status: parse(&status, "status of an incident")?, body, created_at })
    }
}

impl IncidentRow {
    /// The incident, with its updates, newest first.
    fn with(self, updates: Vec<Update>) -> Result<Incident, StoreError> {
        let Self {
            id,
            title,
            severity,
            status,
            components,
            automatic,
            started_at,
            identified_at,
            monitoring_at,
            resolved_at,
        } = self;
        let components = components.iter().map(|name| parse(name, "component"));
        Ok(Incident {
            id: IncidentId(id),
            title,
            severity: parse(&severity, "severity of an incident")?,
            status: parse(&status, "status of an incident")?,
            components: components.collect::<Result<_, _>>()?,
            automatic,
            started_at,
            identified_at,
            monitoring_at,
            resolved_at,
            updates,
        })
    }
}

#[async_trait]
impl IncidentStore for Store {
    async fn all(&self) -> Result<Vec<Incident>, StoreError> {
        let (rows, told) = self
            .run::<_, Failure>(async |connection| {
                let rows: Vec<IncidentRow> = incidents::table
                    .order(incidents::id.desc())
                    .limit(MOST)
                    .select(IncidentRow::as_select())
                    .load(connection)
                    .await?;
                let oldest = rows.last().map_or(i64::MAX, |row| row.id);
                let told: Vec<UpdateRow> = updates::table
                    .filter(updates::incident_id.ge(oldest))
                    .order((updates::incident_id.desc(), updates::id.desc()))
                    .select(UpdateRow::as_select())
                    .load(connection)
                    .await?;
                Ok((rows, told))
            })
            .await?;
        let mut told = told.into_iter().peekable();
        let with_updates = |row: IncidentRow| {
            // An update may be newer than the incidents that were read a moment before.
            while told.next_if(|update| update.incident_id > row.id).is_some() {}
            let own = std::iter::from_fn(|| told.next_if(|update| update.incident_id == row.id));
            let own = own.map(Update::try_from).collect::<Result<_, _>>()?;
            row.with(own)
        };
        rows.into_iter().map(with_updates).collect()
    }

    async fn open(&self, incident: NewIncident, now: OffsetDateTime) -> Result<Incident, StoreError> {
        let NewIncident { title, severity, components, status, body } = incident;
        let mut incident = Incident::begun(title, severity, components, false, now);
        incident.enter(status, now);
        let opened = self
            .run_transaction::<_, Failure>(async |connection| {
                Ok(insert(connection, incident.clone(), &body, now).await?)
            })
            .await?;
        Ok(opened)
    }

    async fn change(
        &self,
        IncidentId(id): IncidentId,
        change: Change,
        now: OffsetDateTime,
    ) -> Result<Incident, ChangeError> {
        let changed = self
            .transact::<_, Rollback<_>>(async |connection| {
                let row: Option<IncidentRow> = incidents::table
                    .find(id)
                    .select(IncidentRow::as_select())
                    .for_update()
                    .first(connection)
                    .await
                    .optional()?;
                let row = row.ok_or(Rollback::Refused(ChangeError::NotFound))?;
                let mut incident = row.with(told(connection, id).await?)?;
                incident.change(&change, now).map_err(|refused| Rollback::Refused(refused.into()))?;
                Ok(write(connection, incident, &change.body, now).await?)
            })
            .await;
        changed.map_err(Rollback::into_error)
    }

    async fn advance(&self, now: OffsetDateTime) -> Result<(), StoreError> {
        self.advance_incidents(now).await
    }
}

/// What was told of an incident, newest first.
async fn told(connection: &mut AsyncPgConnection, id: i64) -> Result<Vec<Update>, StoreError> {
    let rows: Vec<UpdateRow> = updates::table
        .filter(updates::incident_id.eq(id))
        .order(updates::id.desc())
        .select(UpdateRow::as_select())
        .load(connection)
        .await
        .map_err(store_error)?;
    rows.into_iter().map(Update::try_from).collect()
}

fn names(components: &[Component]) -> Vec<&'static str> {
    components.iter().map(|component| component.as_str()).collect()
}

/// Adds an incident with its first update; the number that it has is a new one.
async fn insert(
    connection: &mut AsyncPgConnection,
    mut incident: Incident,
    body: &str,
    now: OffsetDateTime,
) -> QueryResult<Incident> {
    let id: i64 = diesel::insert_into(incidents::table)
        .values((
            incidents::title.eq(&incident.title),
            incidents::severity.eq(incident.severity.as_str()),
            incidents::status.eq(incident.status.as_str()),
            incidents::components.eq(names(&incident.components)),
            incidents::automatic.eq(incident.automatic),
            incidents::started_at.eq(incident.started_at),
            incidents::identified_at.eq(incident.identified_at),
            incidents::monitoring_at.eq(incident.monitoring_at),
            incidents::resolved_at.eq(incident.resolved_at),
        ))
        .returning(incidents::id)
        .get_result(connection)
        .await?;
    incident.id = IncidentId(id);
    tell(connection, incident, body, now).await
}

/// Writes an incident as it is now, and what is told of that.
async fn write(
    connection: &mut AsyncPgConnection,
    incident: Incident,
    body: &str,
    now: OffsetDateTime,
) -> QueryResult<Incident> {
    diesel::update(incidents::table.find(incident.id.0))
        .set((
            incidents::title.eq(&incident.title),
            incidents::severity.eq(incident.severity.as_str()),
            incidents::status.eq(incident.status.as_str()),
            incidents::automatic.eq(incident.automatic),
            incidents::identified_at.eq(incident.identified_at),
            incidents::monitoring_at.eq(incident.monitoring_at),
            incidents::resolved_at.eq(incident.resolved_at),
        ))
        .execute(connection)
        .await?;
    tell(connection, incident, body, now).await
}

async fn tell(
    connection: &mut AsyncPgConnection,
    mut incident: Incident,
    body: &str,
    now: OffsetDateTime,
) -> QueryResult<Incident> {
    let status = incident.status;
    let id: i64 = diesel::insert_into(updates::table)
        .values((
            updates::incident_id.eq(incident.id.0),
            updates::status.eq(status.as_str()),
            updates::body.eq(body),
            updates::created_at.eq(now),
        ))
        .returning(updates::id)
        .get_result(connection)
        .await?;
    incident.updates.insert(0, Update { id: IncidentUpdateId(id), status, body: body.to_owned(), created_at: now });
    Ok(incident)
}
