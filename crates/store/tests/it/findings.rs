//! Anomalies and insights: what stays the same from run to run, what goes, and what is announced.

use domain::{
    AccountId, AnomalyId, InsightId, StoryId,
    ai::Ending,
    anomalies::{AnomalyStore, AnomalyWriter, Cause, CorrelatedMetric, Detected, Direction, Driver, Finding, Kind},
    customers::Segment,
    daily::Dimension,
    insights::{
        self, Category, CommentsWaiting, Draft, InsightSource, InsightStore, InsightWriter, ProductWeeks, SegmentFact,
        Severity, Told, Worded, Wording,
    },
    jobs::{Again, JobName, JobStore, WriteOutcome},
    language::Language,
    metric_days::{Expected, JudgedDay, MetricDay, MetricDayStore, Observed},
    metrics::Metric,
    page::PageRequest,
    profit::DayRange,
    stories::{Band, Gauge, Lever, LeverKind, Measure, Member, Money, Normal, Phase, Seen, Story, Subject},
};
use rust_decimal::dec;
use time::{
    Date, Duration, OffsetDateTime,
    macros::{date, datetime},
};

use crate::{
    database::{Database, fresh, until_waiting},
    shop,
};

const AS_OF: Date = date!(2026 - 03 - 02);
const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);
const SCORED: DayRange = DayRange { first: date!(2025 - 12 - 02), last: date!(2026 - 03 - 01) };

fn drop_on(day: Date, first: Date, last: Date) -> Finding {
    Finding {
        kind: Kind::Univariate,
        metric: "gross_revenue".into(),
        span: DayRange { first, last },
        day,
        observed_value: 400.0,
        expected_value: 1040.5,
        expected_interval: Some((900.0, 1200.0)),
        z_score: -6.25,
        direction: Direction::Down,
        severity: Severity::High,
        detected_at: day.next_day().unwrap().midnight().assume_utc(),
        inferred_cause: None,
        confidence: None,
        correlated_metrics: vec![],
        drivers: vec![],
        cause: None,
        is_shift: false,
    }
}

fn cause_of(finding: &Finding) -> Finding {
    let conversion = CorrelatedMetric { metric: "conversion".into(), modz: -7.5, direction: Direction::Down };
    Finding {
        kind: Kind::Correlated,
        inferred_cause: Some("conversion".into()),
        confidence: Some(0.875),
        correlated_metrics: vec![conversion],
        ..finding.clone()
    }
}

/// Sales that were missing on some days, with the anomaly that shows it.
fn drop_story(first: Date, last: Date) -> Story {
    let money = Money { low: -700.5, expected: -640.5, high: -580.5, measure: Measure::Revenue };
    Story {
        subject: Subject::Sales,
        span: DayRange { first, last },
        peak: last,
        direction: Direction::Down,
        seen: Seen {
            gauge: Gauge::GrossRevenue,
            part: None,
            band: Band { observed: 400.0, expected: 1040.5, low: 900.0, high: 1200.0 },
        },
        normal: Some(Normal::Visitors),
        severity: Severity::High,
        lever: Some(Lever { kind: LeverKind::Conversion, part: None, share: 0.9, confidence: 0.8 }),
        money: Some(money),
        usual_day: 1040.5,
        returned: 0.0,
        is_on_order: false,
        members: vec![Member {
            kind: Kind::Univariate,
            metric: "gross_revenue".into(),
            day: last,
            direction: Direction::Down,
        }],
        phase: Phase::Open,
    }
}

async fn detect(db: &Database, account: AccountId, findings: Vec<Finding>) -> WriteOutcome {
    keep(db, account, SCORED, Detected { findings, ..Detected::default() }).await
}

async fn keep(db: &Database, account: AccountId, scored: DayRange, detected: Detected) -> WriteOutcome {
    let run = db.store.claim(account, JobName::AnomalyDetection, AS_OF, 60, Again::All).await.unwrap().unwrap();
    let news = date!(2026 - 02 - 27);
    AnomalyWriter::replace(&*db.store, &run, scored, news, detected, NOW).await.unwrap()
}

#[tokio::test]
async fn an_event_that_goes_on_keeps_its_row_and_what_no_longer_holds_goes() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let [old, first, second] = [date!(2025 - 12 - 02), date!(2026 - 02 - 10), date!(2026 - 02 - 12)];
    let passing = Finding { metric: "orders".into(), ..drop_on(old, old, old) };
    detect(&db, account, vec![passing, drop_on(first, first, first)]).await;
    db.sql.execute("UPDATE anomalies SET day = '2025-12-01' WHERE metric = 'orders'", &[]).await.unwrap();
    let ids = shop::rows(&db.sql, account, "metric, id", "anomalies").await;

    let worse = drop_on(second, first, second);
    detect(&db, account, vec![worse.clone(), cause_of(&worse)]).await;
    let found = shop::rows(&db.sql, account, "kind, metric, day, confidence, correlated_metrics", "anomalies").await;
    let correlated = r#"[{""modz"": -7.5, ""metric"": ""conversion"", ""direction"": ""down""}]"#;
    let expected = [
        format!("(correlated,gross_revenue,2026-02-12,0.875,\"{correlated}\")"),
        "(univariate,gross_revenue,2026-02-12,,[])".to_owned(),
        "(univariate,orders,2025-12-01,,[])".to_owned(),
    ];
    assert_eq!(found, expected, "rows older than the scored days stay");
    let same =
        shop::rows(&db.sql, account, "metric, id", "(SELECT * FROM anomalies WHERE kind = 'univariate') a").await;
    assert_eq!(same, ids);

    assert_eq!(detect(&db, account, vec![worse.clone(), cause_of(&worse)]).await, WriteOutcome::Rows(0));
    assert_eq!(detect(&db, account, vec![]).await, WriteOutcome::Rows(2));
}

#[tokio::test]
async fn a_list_goes_on_behind_an_anomaly_that_is_gone() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let days = [date!(2026 - 02 - 12), date!(2026 - 01 - 20), date!(2025 - 12 - 20)];
    let on = |at: usize| drop_on(days[at], days[at], days[at]);
    let page = async |cursor| {
        let page = PageRequest { limit: 2, cursor };
        let found = AnomalyStore::page(&*db.store, account, None, datetime!(2025-12-01 0:00 UTC), page).await.unwrap();
        (found.found.items.iter().map(|anomaly| anomaly.day).collect::<Vec<_>>(), found.found.next_cursor)
    };
    detect(&db, account, vec![on(0), on(1), on(2)]).await;
    let (read, cursor) = page(None).await;
    assert_eq!(read, days[..2]);
    detect(&db, account, vec![on(0), on(2)]).await;
    assert_eq!(page(cursor).await, (vec![days[2]], None));
    assert_eq!(page(cursor.map(|id| id + 100)).await, (vec![], None), "what was never there has no place");
}

#[tokio::test]
async fn drivers_and_the_lever_are_kept_and_brought_up_to_date() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let day = date!(2026 - 02 - 10);
    let driver = Driver {
        level: 1,
        metric: "orders".into(),
        dimension: Some(Dimension::CountryPlatform),
        part: Some("BR/shopify".into()),
        effect: -640.5,
        share: 1.0,
        observed: 0.0,
        expected: 32.0,
        direction: Direction::Down,
    };
    let traced = Finding { drivers: vec![driver.clone()], cause: Some(Cause::Platform), ..drop_on(day, day, day) };
    detect(&db, account, vec![drop_on(day, day, day)]).await;
    assert_eq!(detect(&db, account, vec![traced.clone()]).await, WriteOutcome::Rows(1));
    assert_eq!(detect(&db, account, vec![traced]).await, WriteOutcome::Rows(0));
    let page = PageRequest { limit: 10, cursor: None };
    let since = datetime!(2026-01-01 0:00 UTC);
    let found = AnomalyStore::page(&*db.store, account, None, since, page).await.unwrap().found.items;
    assert_eq!((&found[0].drivers, found[0].cause), (&vec![driver], Some(Cause::Platform)));
}

#[tokio::test]
async fn a_story_keeps_its_id_while_it_goes_on_and_names_its_anomalies() {
    let db = fresh().await;
    let (account, other) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let [first, second] = [date!(2026 - 02 - 26), date!(2026 - 02 - 28)];
    let small = Finding { metric: "units".into(), severity: Severity::Low, ..drop_on(first, first, first) };
    let of = |day: Date, story: Story| Detected {
        findings: vec![drop_on(day, first, day), cause_of(&drop_on(day, first, day)), small.clone()],
        stories: vec![story],
        ..Detected::default()
    };
    keep(&db, account, SCORED, of(first, drop_story(first, first))).await;
    keep(&db, other, SCORED, of(first, drop_story(first, first))).await;
    let stories = async |columns: &str| shop::rows(&db.sql, account, columns, "stories").await;
    let id: i64 = db.sql.query_one("SELECT id FROM stories WHERE account_id = $1", &[&account.0]).await.unwrap().get(0);
    let members = async || shop::rows(&db.sql, account, "kind, metric, day, story_id", "anomalies").await;
    let expected = [
        format!("(correlated,gross_revenue,2026-02-26,{id})"),
        format!("(univariate,gross_revenue,2026-02-26,{id})"),
        "(univariate,units,2026-02-26,)".to_owned(),
    ];
    assert_eq!(members().await, expected);

    // It goes on, and is found to have begun a day earlier.
    let began = first.previous_day().unwrap();
    let mut worse = of(second, drop_story(began, second));
    let orders = Finding { metric: "orders".into(), ..drop_on(second, second, second) };
    let member = Member { metric: orders.metric.clone(), ..worse.stories[0].members[0].clone() };
    worse.stories[0].members.push(member);
    worse.findings.push(orders);
    keep(&db, account, SCORED, worse.clone()).await;
    assert_eq!(stories("id, key, first_day, last_day").await, [format!("({id},sales:down,2026-02-25,2026-02-28)")]);
    assert_eq!(keep(&db, account, SCORED, worse).await, WriteOutcome::Rows(0));
    // What came to light on the last days is announced with the story that it is a part of.
    let sent = shop::rows(&db.sql, account, "convert_from(body, 'UTF8')", "events").await;
    assert!(sent.len() == 1 && sent[0].contains(&format!("\"\"story_id\"\":{id}")), "{sent:?}");
    detect(&db, account, vec![]).await;
    assert_eq!(stories("id").await, [""; 0]);
}

#[tokio::test]
async fn a_drop_that_turns_out_to_be_a_stock_out_keeps_its_id() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let [first, second] = [date!(2026 - 02 - 26), date!(2026 - 02 - 27)];
    let of = |stories: Vec<Story>| Detected { stories, ..Detected::default() };
    keep(&db, account, SCORED, of(vec![drop_story(second, second)])).await;
    let id: i64 = db.sql.query_one("SELECT id FROM stories", &[]).await.unwrap().get(0);
    let lever = Lever { kind: LeverKind::StockOut, part: Some("MUG".into()), share: 1.0, confidence: 0.95 };
    let stock_out = Story { lever: Some(lever), ..drop_story(first, second) };
    // As long as the drop is told beside it, each is a story of its own.
    keep(&db, account, SCORED, of(vec![stock_out.clone(), drop_story(second, second)])).await;
    assert_eq!(shop::rows(&db.sql, account, "key", "stories").await, ["(sales:down)", "(stock_out:MUG)"]);
    keep(&db, account, SCORED, of(vec![drop_story(second, second)])).await;
    keep(&db, account, SCORED, of(vec![stock_out])).await;
    let kept = shop::rows(&db.sql, account, "id, key, first_day", "stories").await;
    assert_eq!(kept, [format!("({id},stock_out:MUG,2026-02-26)")]);
}

#[tokio::test]
async fn of_many_insights_seven_are_told_and_what_is_over_ends_with_its_last_facts() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    keep(&db, account, SCORED, Detected { stories: vec![drop_story(SCORED.last, SCORED.last)], ..Detected::default() })
        .await;
    let story: i64 = db.sql.query_one("SELECT id FROM stories", &[]).await.unwrap().get(0);
    let generate = async |insights: Vec<Worded>| {
        let run = db.store.claim(account, JobName::InsightGeneration, AS_OF, 60, Again::All).await.unwrap().unwrap();
        InsightWriter::replace(&*db.store, account, Ending { job: Some(run), run: None }, insights, NOW).await.unwrap()
    };
    let with = |name: &str, change: &dyn Fn(&mut Draft)| {
        let mut worded = insight(name, name);
        change(&mut worded.draft);
        worded
    };
    let told = |title: &str, is_over: bool| {
        let mut told = with("story", &|draft| {
            (draft.story, draft.stake, draft.is_over) = (Some(StoryId(story)), Some(dec!(640.5)), is_over);
        });
        told.template.title = title.into();
        told
    };
    let others = || (1..=8).map(|at| insight(&format!("other {at}"), "other"));
    generate(std::iter::once(told("it fell", false)).chain(others()).collect()).await;
    let list = async |filter: insights::Filter| {
        let page = PageRequest { limit: 100, cursor: None };
        InsightStore::page(&*db.store, account, filter, page).await.unwrap().found.items
    };
    let open = insights::Filter { status: Some(insights::Status::Open), ..insights::Filter::default() };
    let found = list(open).await;
    assert_eq!(found.len(), insights::MOST_TOLD);
    let first = &found[0];
    assert_eq!((first.is_told, first.at_stake), (true, Some(dec!(640.5))));
    assert_eq!(first.story.as_ref().map(|kept| (kept.id, kept.members.len())), Some((StoryId(story), 0)));
    let all = list(insights::Filter { all: true, ..open }).await;
    assert_eq!((all.len(), all.iter().filter(|insight| insight.is_told).count()), (9, 7));

    // A story of another version takes neither the page along nor the job.
    let facts: serde_json::Value = db.sql.query_one("SELECT facts FROM stories", &[]).await.unwrap().get(0);
    db.sql.execute("UPDATE stories SET facts = facts || '{\"subject\": \"weather\"}'", &[]).await.unwrap();
    let found = list(open).await;
    assert_eq!((found.len(), found[0].story.is_none()), (insights::MOST_TOLD, true));
    assert_eq!(db.store.stored(account, SCORED, NOW).await.unwrap().stories, []);
    db.sql.execute("UPDATE stories SET facts = $1", &[&facts]).await.unwrap();
    assert_eq!(db.store.stored(account, SCORED, NOW).await.unwrap().stories.len(), 1);

    let over = |title: &str| std::iter::once(told(title, true)).chain(others()).collect::<Vec<_>>();
    generate(over("it is over")).await;
    let resolved = insights::Filter { status: Some(insights::Status::Resolved), ..open };
    let ended: Vec<_> =
        list(resolved).await.into_iter().map(|insight| (insight.written.title, insight.is_told)).collect();
    assert_eq!(ended, [("it is over".to_owned(), true)]);
    // Another takes its place, and it is not told again.
    assert_eq!((list(open).await.len(), generate(over("it is over")).await), (7, WriteOutcome::Rows(0)));
    // What a person opens again has to wait for room.
    let id = list(resolved).await[0].id;
    db.sql.execute("UPDATE insights SET told_at = NULL, recorded_at = '2026-01-05'", &[]).await.unwrap();
    let opened = InsightStore::decide(&*db.store, account, id, insights::Status::Open, None, NOW).await.unwrap();
    assert_eq!((opened.is_told, list(open).await.len()), (false, 7));
    let told_first = "SELECT told_at = recorded_at FROM insights WHERE id = $1";
    assert_eq!(db.sql.query_one(told_first, &[&id.0]).await.unwrap().get::<_, Option<bool>>(0), Some(true));
    // What the job ends afterwards was ended by no person, and comes back with the next run that finds it.
    generate(others().collect()).await;
    assert!(list(insights::Filter { all: true, ..open }).await.iter().all(|insight| insight.id != id));
    generate(over("it fell again")).await;
    let decided = "SELECT count(*) FROM insights WHERE decided_at IS NOT NULL";
    assert_eq!(db.sql.query_one(decided, &[]).await.unwrap().get::<_, i64>(0), 0);
}

#[tokio::test]
async fn the_end_of_a_story_is_told_however_long_after_its_last_day() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let day = date!(2026 - 02 - 05);
    let over = Story { phase: Phase::Over { since: date!(2026 - 02 - 27) }, ..drop_story(day, day) };
    keep(&db, account, SCORED, Detected { stories: vec![over], ..Detected::default() }).await;
    let story: i64 = db.sql.query_one("SELECT id FROM stories", &[]).await.unwrap().get(0);
    let news = DayRange { first: date!(2026 - 02 - 16), last: SCORED.last };
    let found = async || db.store.stored(account, news, NOW).await.unwrap().stories.len();
    assert_eq!(found().await, 0, "nobody was told that it began");
    let mut fell = insight("story", "it fell");
    fell.draft.story = Some(StoryId(story));
    InsightWriter::replace(&*db.store, account, Ending { job: None, run: None }, vec![fell], NOW).await.unwrap();
    assert_eq!(found().await, 1);
    InsightWriter::replace(&*db.store, account, Ending { job: None, run: None }, vec![], NOW).await.unwrap();
    assert_eq!(found().await, 0);
}

#[tokio::test]
async fn a_decision_waits_for_a_run_that_writes() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let ending = Ending { job: None, run: None };
    InsightWriter::replace(&*db.store, account, ending, vec![insight("a", "3 gone")], NOW).await.unwrap();
    let id: i64 = db.sql.query_one("SELECT id FROM insights", &[]).await.unwrap().get(0);
    // Else the run writes what it makes of the insights that it has read, as if nobody had decided.
    let mut session = db.session().await;
    let run = session.transaction().await.unwrap();
    run.query("SELECT FROM pg_advisory_xact_lock(726302, hashint8($1))", &[&account.0]).await.unwrap();
    let dismissed = insights::Status::Dismissed;
    let deciding = InsightStore::decide(&*db.store, account, InsightId(id), dismissed, None, NOW);
    let (decided, ()) = tokio::join!(deciding, async {
        until_waiting(&db.sql, 1).await;
        run.execute("UPDATE insights SET title = '4 gone' WHERE account_id = $1", &[&account.0]).await.unwrap();
        run.commit().await.unwrap();
    });
    let decided = decided.unwrap();
    assert_eq!((decided.written.title.as_str(), decided.status), ("4 gone", dismissed));
}

#[tokio::test]
async fn the_days_of_a_metric_are_kept_for_a_year_with_their_anomalies() {
    let db = fresh().await;
    let (account, other) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let last = SCORED.last;
    let of = |metric: Metric, day: Date, observed: Option<f64>| {
        let expected = observed.map(|_| Expected { value: 1040.5, low: 900.0, high: 1200.0 });
        MetricDay { metric, day, observed, expected }
    };
    let (oldest, before) = (date!(2025 - 03 - 02), last.previous_day().unwrap());
    let older = DayRange { first: oldest, last: before.previous_day().unwrap() };
    assert_eq!(db.store.observed(account, older).await.unwrap(), Observed::new());
    let days = vec![
        of(Metric::GrossRevenue, oldest, Some(1000.0)),
        of(Metric::Orders, oldest, Some(50.0)),
        of(Metric::GrossRevenue, before, Some(800.0)),
        of(Metric::GrossRevenue, last, Some(400.0)),
        of(Metric::Aov, last, None),
    ];
    let findings = vec![drop_on(last, before, last), cause_of(&drop_on(last, before, last))];
    let found = Detected { findings, days, ..Detected::default() };
    assert_eq!(keep(&db, account, SCORED, found.clone()).await, WriteOutcome::Rows(7));
    assert_eq!(keep(&db, account, SCORED, found).await, WriteOutcome::Rows(0), "what is the same is not written again");
    let kept = [((Metric::GrossRevenue, oldest), Some(1000.0)), ((Metric::Orders, oldest), Some(50.0))];
    assert_eq!(db.store.observed(account, older).await.unwrap(), Observed::from(kept));

    let range = DayRange { first: oldest, last };
    let listed = async |account: AccountId, metric: Metric| db.store.range(account, metric, range).await.unwrap().found;
    let id: i64 = db.sql.query_one("SELECT id FROM anomalies WHERE kind = 'univariate'", &[]).await.unwrap().get(0);
    let expected = Some(Expected { value: 1040.5, low: 900.0, high: 1200.0 });
    let judged = |day, observed, anomaly| JudgedDay { day, observed: Some(observed), expected, anomaly };
    let one = Some(AnomalyId(id));
    let all = [judged(last, 400.0, one), judged(before, 800.0, one), judged(oldest, 1000.0, None)];
    assert_eq!(listed(account, Metric::GrossRevenue).await, all);
    // One that was kept before its days were is that of its day alone.
    db.sql.execute("UPDATE anomalies SET first_day = NULL, last_day = NULL", &[]).await.unwrap();
    let alone = [judged(last, 400.0, one), judged(before, 800.0, None), judged(oldest, 1000.0, None)];
    assert_eq!(listed(account, Metric::GrossRevenue).await, alone);
    let nothing = JudgedDay { day: last, observed: None, expected: None, anomaly: None };
    assert_eq!(listed(account, Metric::Aov).await, [nothing]);
    assert_eq!(listed(other, Metric::GrossRevenue).await, []);

    // A day later the oldest is too old; what the shop no longer has of the scored days goes.
    let tomorrow = last.next_day().unwrap();
    let scored = DayRange { first: SCORED.first, last: tomorrow };
    let days = vec![of(Metric::GrossRevenue, tomorrow, Some(1100.0))];
    keep(&db, account, scored, Detected { days, ..Detected::default() }).await;
    let left = shop::rows(&db.sql, account, "metric, day, observed", "metric_days").await;
    assert_eq!(left, ["(gross_revenue,2026-03-02,1100)"]);

    // What began later than it was known to has no days before that.
    let begins = tomorrow.next_day();
    keep(&db, account, scored, Detected { begins, ..Detected::default() }).await;
    assert_eq!(shop::rows(&db.sql, account, "day", "metric_days").await, [""; 0]);
}

#[tokio::test]
async fn what_is_new_recent_and_matters_is_announced_once() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let [past, recent] = [date!(2026 - 02 - 26), date!(2026 - 02 - 27)];
    let small = Finding { metric: "units".into(), severity: Severity::Low, ..drop_on(recent, recent, recent) };
    let findings = vec![
        Finding { expected_value: 1_040.504_949, z_score: -6.250_051, ..drop_on(recent, recent, recent) },
        cause_of(&drop_on(recent, recent, recent)),
        Finding { metric: "orders".into(), ..drop_on(past, past, past) },
        small,
    ];
    detect(&db, account, findings.clone()).await;
    detect(&db, account, findings.clone()).await;
    let sent = async || shop::rows(&db.sql, account, "kind, convert_from(body, 'UTF8')", "events").await;
    let once = sent().await;
    assert_eq!(once.len(), 1, "{once:?}");
    assert!(once[0].contains("anomaly.detected") && once[0].contains("gross_revenue"), "{}", once[0]);
    assert!(once[0].contains(":1040.5049,") && once[0].contains(":-6.2501,"), "as the API shows them: {}", once[0]);

    // What was small has become worse.
    let worse = |finding: Finding| Finding { severity: finding.severity.max(Severity::Critical), ..finding };
    let findings: Vec<Finding> = findings.into_iter().map(worse).collect();
    detect(&db, account, findings.clone()).await;
    detect(&db, account, findings).await;
    let twice = sent().await;
    assert_eq!(twice.len(), 2, "{twice:?}");
    assert!(twice.iter().any(|event| event.contains("\"units\"")), "{twice:?}");
}

pub fn insight(fingerprint: &str, title: &str) -> Worded {
    let told = Told::new(insights::Kind::Reorders).with("items", insights::Value::Count(3.into()));
    let draft = Draft::new(fingerprint, Severity::High, Category::Inventory, told);
    let template = Wording {
        title: title.into(),
        body: "body".into(),
        suggested_action: "act".into(),
        impact_estimate: "much".into(),
    };
    Worded { draft, template, model: None, language: Language::English }
}

#[tokio::test]
async fn a_situation_has_one_open_insight_which_people_may_dismiss() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let generate = async |insights: Vec<Worded>, now: OffsetDateTime| {
        let run = db.store.claim(account, JobName::InsightGeneration, AS_OF, 60, Again::All).await.unwrap().unwrap();
        let ending = Ending { job: Some(run), run: None };
        InsightWriter::replace(&*db.store, account, ending, insights, now).await.unwrap()
    };
    let found = async || shop::rows(&db.sql, account, "fingerprint, title, status, source", "insights").await;

    assert_eq!(generate(vec![insight("a", "3 gone"), insight("b", "1 low")], NOW).await, WriteOutcome::Rows(2));
    assert_eq!(generate(vec![insight("a", "3 gone"), insight("b", "1 low")], NOW).await, WriteOutcome::Rows(0));
    let ids = shop::rows(&db.sql, account, "fingerprint, id", "insights").await;
    generate(vec![insight("a", "4 gone"), insight("b", "1 low")], NOW).await;
    assert_eq!(shop::rows(&db.sql, account, "fingerprint, id", "insights").await, ids);
    assert_eq!(found().await, ["(a,\"4 gone\",open,rules)", "(b,\"1 low\",open,rules)"]);

    db.sql.execute("UPDATE insights SET status = 'dismissed' WHERE fingerprint = 'a'", &[]).await.unwrap();
    assert_eq!(generate(vec![insight("a", "5 gone")], NOW + Duration::days(13)).await, WriteOutcome::Rows(1));
    assert_eq!(found().await, ["(a,\"4 gone\",dismissed,rules)", "(b,\"1 low\",resolved,rules)"]);

    generate(vec![insight("a", "6 gone")], NOW + Duration::days(15)).await;
    let expected = ["(a,\"4 gone\",dismissed,rules)", "(a,\"6 gone\",open,rules)", "(b,\"1 low\",resolved,rules)"];
    assert_eq!(found().await, expected);
}

#[tokio::test]
async fn what_a_person_opens_again_goes_on_whatever_became_of_a_later_one() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let write = async |title: &str, now: OffsetDateTime| {
        InsightWriter::replace(&*db.store, account, Ending::default(), vec![insight("a", title)], now).await.unwrap()
    };
    let list = async || {
        let page = PageRequest { limit: 10, cursor: None };
        InsightStore::page(&*db.store, account, insights::Filter::default(), page).await.unwrap().found.items
    };
    let decide = async |id: InsightId, to: insights::Status, now: OffsetDateTime| {
        InsightStore::decide(&*db.store, account, id, to, None, now).await.unwrap()
    };
    write("3 gone", NOW).await;
    let first = list().await[0].id;
    decide(first, insights::Status::Resolved, NOW).await;
    let later = NOW + Duration::days(8);
    write("4 gone", later).await;
    let second = list().await[0].id;
    decide(second, insights::Status::Dismissed, later).await;
    decide(first, insights::Status::Open, later).await;
    write("5 gone", later).await;
    let found: Vec<_> =
        list().await.into_iter().map(|insight| (insight.id, insight.status, insight.written.title)).collect();
    let expected = [
        (second, insights::Status::Dismissed, "4 gone".to_owned()),
        (first, insights::Status::Open, "5 gone".to_owned()),
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn facts_are_the_accounts_own_and_the_newest() {
    let db = fresh().await;
    let (account, other) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let [older, newest] = [date!(2026 - 02 - 26), date!(2026 - 02 - 28)];
    let ended = Story { phase: Phase::Over { since: newest }, ..drop_story(older, older) };
    let stories =
        vec![ended.clone(), drop_story(newest, newest), drop_story(date!(2026 - 01 - 01), date!(2026 - 01 - 03))];
    keep(&db, account, SCORED, Detected { stories, ..Detected::default() }).await;
    for (owner, name) in [(account, "a"), (other, "b")] {
        shop::customer(&db.sql, owner, name).await;
        db.sql
            .execute(
                "INSERT INTO integrations (account_id, provider, shop, connected_at, last_sync_at)
                 VALUES ($1, 'shopify', 'stale.example', now(), $2), ($1, 'shopify', 'fresh.example', now(), $3)",
                &[&owner.0, &(NOW - Duration::hours(25)), &(NOW - Duration::hours(23))],
            )
            .await
            .unwrap();
    }
    let waiting = "WITH profile AS (
            INSERT INTO social_accounts (account_id, channel, external_id, connected_at)
            VALUES ($1, 'instagram', '7', now()) RETURNING id)
        INSERT INTO conversations (account_id, channel, external_id, social_account_id, category, status, snoozed_until,
            position, messages_count, waiting_since, created_at, updated_at)
        SELECT $1, 'instagram', n::text, profile.id, category, status, CASE status WHEN 'snoozed' THEN now() END, n, 1,
            $2::timestamptz - hours * interval '1 hour', now(), now()
        FROM profile, (VALUES (1, 25, 'complaint', 'open'), (2, 49, NULL, 'open'), (3, 26, 'price_question', 'open'),
            (4, 23, 'complaint', 'open'), (5, 99, 'spam', 'open'), (6, 99, 'praise', 'open'),
            (7, 99, 'complaint', 'closed'), (8, 99, 'complaint', 'snoozed')) AS t (n, hours, category, status)";
    db.sql.execute(waiting, &[&account.0, &NOW]).await.unwrap();
    let news = DayRange { first: date!(2026 - 02 - 23), last: date!(2026 - 03 - 01) };
    let stored = db.store.stored(account, news, NOW).await.unwrap();
    let mut found: Vec<_> = stored.stories.into_iter().map(|fact| fact.story).collect();
    found.sort_by_key(|story| story.span.first);
    let kept = |story: Story| Story { members: vec![], ..story };
    assert_eq!(found, [kept(ended), kept(drop_story(newest, newest))]);
    assert_eq!(stored.segments, [SegmentFact { segment: Segment::Prospect, customers: 1, revenue: dec!(0) }]);
    let shops: Vec<_> = stored.stale_shops.iter().map(|stale| stale.shop.as_str()).collect();
    assert_eq!(shops, ["stale.example"]);
    assert_eq!((stored.reorders.len(), stored.critical.len()), (0, 0));
    let waited = CommentsWaiting { comments: 3, complaints: 1, since: NOW - Duration::hours(49) };
    assert_eq!(stored.waiting, Some(waited));
    assert_eq!(db.store.stored(other, news, NOW).await.unwrap().waiting, None);
    assert_eq!(db.store.stored(other, news, NOW).await.unwrap().stories, []);
}

#[tokio::test]
async fn what_sells_at_a_loss_is_not_missed_when_its_stock_is_gone() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    for (sku, contribution) in [("gain", "2.5"), ("loss", "-0.5"), ("unknown", "null")] {
        let product = shop::product(&db.sql, account, sku, None).await;
        let text = "WITH sold AS (
                INSERT INTO product_days (account_id, product_id, day, units, revenue)
                VALUES ($1, $2, '2026-02-20', 3, 30)),
            stock AS (INSERT INTO stock_levels VALUES ($1, $2, '2026-02-27', 0)),
            item AS (
                INSERT INTO inventory_items (account_id, product_id, sku, product_name, current_stock, units_sold_30d,
                    units_sold_7d, avg_daily_units_30d, avg_daily_units_7d, trend, status, velocity, missed_units,
                    unit_contribution, computed_at)
                VALUES ($1, $2, $3, $3, 0, 3, 0, 0, 0, 'stable', 'critical', 0.25, 3.5, $5, now()) RETURNING id)
            INSERT INTO reorder_suggestions (account_id, inventory_item_id, sku, qty_suggested, reason, confidence,
                forecast_days, basis, computed_at)
            SELECT $1, id, $3, 5, 'r', 0.9, 21, $4::text::jsonb, now() FROM item";
        let basis = format!(
            r#"{{"on_hand": 0, "on_order": 0, "lead_time_days": 14, "review_days": 7, "daily_demand": 0.1,
                "expected_demand": 2.1, "safety_stock": 2.9, "reorder_point": 4, "order_up_to": 5, "service_level": 0.95,
                "pack_size": 1, "min_order_qty": 1, "unit_contribution": {contribution}}}"#
        );
        let contribution: Option<f64> = contribution.parse().ok();
        db.sql.execute(text, &[&account.0, &product, &sku, &basis, &contribution]).await.unwrap();
    }
    let outs = db.store.stock_outs(account, SCORED).await.unwrap();
    assert_eq!(outs.iter().map(|out| out.sku.as_str()).collect::<Vec<_>>(), ["gain", "unknown"]);
    let stored = db.store.stored(account, SCORED, NOW).await.unwrap();
    let critical: Vec<_> =
        stored.critical.iter().map(|item| (item.sku.as_str(), item.sells_at_a_loss(), item.price)).collect();
    let price = Some(dec!(10));
    assert_eq!(critical, [("gain", false, price), ("loss", true, price), ("unknown", false, price)]);
    let gain = &stored.critical[0];
    assert_eq!((gain.velocity, gain.missed_units, gain.unit_contribution), (Some(dec!(0.25)), Some(3.5), Some(2.5)));
    let reorders: Vec<_> =
        stored.reorders.iter().map(|pending| (pending.sku.as_str(), pending.is_recommended())).collect();
    assert_eq!(reorders, [("gain", true), ("loss", false), ("unknown", true)]);
    let later = DayRange { last: date!(2026 - 05 - 21), ..SCORED };
    let critical = db.store.stored(account, later, NOW).await.unwrap().critical;
    assert!(critical.iter().all(|item| item.price.is_none()), "90 days that end with the last full one");
}

#[tokio::test]
async fn a_product_is_told_by_its_weeks() {
    let db = fresh().await;
    let (account, other) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let sold = async |sku: &str, days: &[(Date, i64)]| {
        let product = shop::product(&db.sql, account, sku, None).await;
        for (day, purchases) in days {
            let text = "INSERT INTO product_days (account_id, product_id, day, purchases, units, revenue)
                VALUES ($1, $2, $3, $4::bigint, $4 * 3, $4 * 2)";
            db.sql.execute(text, &[&account.0, &product, day, purchases]).await.unwrap();
        }
        product
    };
    let last = date!(2026 - 03 - 01);
    let weeks = [
        (last, 8),
        (date!(2026 - 02 - 23), 4),
        (date!(2026 - 02 - 22), 2),
        (date!(2026 - 02 - 16), 3),
        (date!(2025 - 12 - 29), 5),
        (date!(2025 - 12 - 28), 99),
        (date!(2026 - 03 - 02), 99),
    ];
    let mug = sold("MUG", &weeks).await;
    sold("FEW", &[(last, 4)]).await;
    db.sql.execute("UPDATE products SET current_stock = 40, on_order = 6 WHERE id = $1", &[&mug]).await.unwrap();
    let stored = db.store.stored(account, SCORED, NOW).await.unwrap();
    let expected = ProductWeeks {
        sku: "MUG".into(),
        purchases: 12,
        units: 36,
        revenue: dec!(24),
        before: [5, 0, 0, 0, 0, 0, 0, 5],
        stock: Some(40),
        is_on_order: true,
    };
    assert_eq!(stored.products, [expected]);
    assert_eq!(db.store.stored(other, SCORED, NOW).await.unwrap().products, []);
}
