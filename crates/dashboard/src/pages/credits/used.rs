//! How many credits there are, how long they last, and what they went for.

use domain::{
    credits::runway::{USE_DAYS, days_left},
    metrics::Metric,
    money::round,
    periods::Change,
    usage::{Figures, Period, PeriodUse, Usage, UsageRead},
};
use time::Date;
use url::Url;

use super::super::{
    days::{labels, tick},
    figures::{self, judged},
    panel,
};
use crate::{
    parts::chart::{Line, Name, Scale, Series},
    text::Writer,
    views::{
        chart::{Chart, Drawn},
        credits::Balance,
        figures::Fact,
        panel::{Panel, Table},
        rows::{Cell, Head, Row},
    },
};

/// The call that says what the credits went for.
const PATH: &str = "/api/v1/usage";

fn number(writer: &Writer, credits: i64) -> String {
    writer.number(credits.into(), 0)
}

/// A period, which there always is.
fn of(sums: &Usage, period: Period) -> Option<&PeriodUse> {
    sums.periods.iter().find(|used| used.period == period)
}

pub fn balance(writer: &Writer, usage: &UsageRead, sums: &Usage, api: &Url) -> Balance {
    let lasts = days_left(usage.balance, usage.used_lately);
    let lately =
        writer.message("used-lately").count("days", USE_DAYS).text("credits", number(writer, usage.used_lately));
    let mut facts = vec![
        Fact {
            name: writer.say("balance"),
            text: number(writer, usage.balance),
            value: Some(usage.balance.to_string()),
            change: None,
            below: None,
        },
        Fact {
            name: writer.say("days-left"),
            text: lasts.map_or_else(|| "–".to_owned(), |days| writer.number(days, 1)),
            value: lasts.map(|days| round(days, 1).normalize().to_string()),
            change: None,
            below: Some(lately.say()),
        },
    ];
    facts.extend(of(sums, Period::Week).map(|used| spent(writer, used)));
    facts.extend(of(sums, Period::Month).map(|used| spent(writer, used)));
    Balance {
        title: writer.say("balance-title"),
        facts,
        foot: panel::current(writer, vec![writer.say("how-runway"), writer.say("how-spent")], PATH, api),
    }
}

fn spent(writer: &Writer, used: &PeriodUse) -> Fact {
    let (now, before) = (used.figures.spent(), used.previous.spent());
    let change = Change::relative(now.into(), before.into());
    Fact {
        name: writer.message("spent-in").count("days", used.period.days()).say(),
        text: number(writer, now),
        value: Some(now.to_string()),
        // More spent is no good news by itself.
        change: change.map(|change| judged(writer, change, false)),
        below: Some(writer.message("spent-before").text("credits", number(writer, before)).say()),
    }
}

pub fn head(writer: &Writer) -> Vec<Head> {
    let number = |id: &str| Head::Number(writer.say(id));
    vec![
        Head::Text(writer.say("feature")),
        Head::Text(writer.say("feature-share")),
        number("feature-spent"),
        number("feature-debits"),
        number("feature-refunded"),
    ]
}

/// Features of the last 30 days, the dearest first.
pub fn features(writer: &Writer, sums: &Usage, api: &Url) -> Panel<Row> {
    let month = of(sums, Period::Month);
    let all = month.map(|month| month.figures).unwrap_or_default();
    let row = |feature: &str, figures: &Figures| {
        let share = figures.share_of(&all);
        let counted = |count: i64| Cell::Number { text: number(writer, count), value: Some(count.to_string()) };
        Row {
            name: feature.to_owned(),
            address: None,
            below: None,
            cells: vec![
                figures::share(writer, share),
                counted(figures.spent()),
                counted(figures.debits),
                counted(figures.refunded),
            ],
        }
    };
    let rows = month.map(|month| month.by_feature.iter().map(|used| row(&used.feature, &used.figures)).collect());
    Panel {
        id: "h-features",
        title: writer.message("features-title").count("days", Period::Month.days()).say(),
        items: rows.unwrap_or_default(),
        nothing: writer.say("features-none"),
        all: None,
        next: None,
        foot: panel::current(writer, vec![writer.say("how-spent")], PATH, api),
    }
}

/// What went on each day.
pub fn chart(writer: &Writer, sums: &Usage, api: &Url) -> Chart {
    let mut foot = panel::current(writer, vec![writer.say("how-spent")], PATH, api);
    foot.table = Some(Table {
        head: ["column-day", "feature-spent"].map(|id| writer.say(id)).into(),
        rows: sums
            .daily
            .iter()
            .rev()
            .map(|(day, used)| vec![writer.weekday(*day), number(writer, used.spent())])
            .collect(),
    });
    let drawn = if sums.daily.iter().any(|(_, used)| used.spent() != 0) {
        Drawn::Line(Box::new(line(writer, &sums.daily)))
    } else {
        Drawn::Empty { title: writer.say("unused"), what: writer.say("unused-what"), acts: vec![] }
    };
    Chart { title: writer.say("used-title"), drawn, foot }
}

fn line(writer: &Writer, daily: &[(Date, Figures)]) -> Line {
    let dates: Vec<Date> = daily.iter().map(|(day, _)| *day).collect();
    // Credits of a day, far below what a double holds exactly.
    let values: Series = daily.iter().map(|(_, used)| Some(used.spent() as f64)).collect();
    let (low, high) =
        values.iter().flatten().fold((0.0_f64, 1.0_f64), |(low, high), value| (low.min(*value), high.max(*value)));
    let scale = Scale::counting(low, high);
    let called = writer.say("line-credits");
    let name = values.last().copied().flatten().map(|value| Name { value, text: called.clone(), is_main: true });
    let nothing: Series = values.iter().map(|_| None).collect();
    Line {
        id: "chart".to_owned(),
        summary: summary(writer, daily),
        ticks: scale.ticks.iter().map(|value| tick(writer, Metric::Orders, *value, scale.decimals)).collect(),
        scale,
        days: labels(writer, &dates),
        marks: vec![],
        remarks: vec![],
        is_open: true,
        key: [Some(called), None, None, None],
        low: nothing.clone(),
        high: nothing.clone(),
        before: nothing,
        values,
        names: name.into_iter().collect(),
    }
}

/// What went on the days that are over, and on the dearest of them.
fn summary(writer: &Writer, daily: &[(Date, Figures)]) -> String {
    let over = daily.split_last().map_or(daily, |(_, over)| over);
    let total: i64 = over.iter().map(|(_, used)| used.spent()).sum();
    let days = i64::try_from(over.len()).unwrap_or(i64::MAX);
    let said = writer.message("used-sum").text("credits", number(writer, total)).count("days", days).say();
    match over.iter().max_by_key(|(day, used)| (used.spent(), *day)) {
        Some((day, used)) if used.spent() > 0 => {
            let most = writer.message("used-most").text("credits", number(writer, used.spent()));
            format!("{said} {}", most.text("day", writer.weekday(*day)).say())
        }
        _ => said,
    }
}

#[cfg(test)]
mod tests {
    use domain::usage::{DayUse, sum_up};
    use time::macros::date;

    use super::*;
    use crate::{parts::chart::Part, text::tests::writer};

    fn usage() -> UsageRead {
        let day = |day, feature: &str, consumed, refunded| DayUse {
            day,
            feature: feature.to_owned(),
            figures: Figures { consumed, refunded, debits: 2, refunds: 1 },
        };
        let days = vec![
            day(date!(2026 - 11 - 22), "chat", 1_000, 0),
            day(date!(2026 - 11 - 20), "chat", 60, 0),
            day(date!(2026 - 11 - 19), "wording", 1_240, 40),
            day(date!(2026 - 11 - 10), "chat", 740, 0),
        ];
        UsageRead { balance: 1_500, used_lately: 3_000, days }
    }

    #[test]
    fn the_balance_stands_beside_how_long_it_lasts() {
        let (usage, api) = (usage(), Url::parse("http://localhost").unwrap());
        let shown = balance(&writer("es-AR"), &usage, &sum_up(&usage.days, date!(2026 - 11 - 22)), &api);
        let facts: Vec<_> = shown.facts.iter().map(|fact| (fact.text.as_str(), fact.value.as_deref())).collect();
        assert_eq!(
            facts,
            [("1.500", Some("1500")), ("7,0", Some("7")), ("2.260", Some("2260")), ("3.000", Some("3000"))]
        );
    }

    #[test]
    fn a_day_that_is_not_over_is_drawn_and_not_added_up() {
        let usage = usage();
        let sums = sum_up(&usage.days, date!(2026 - 11 - 22));
        let line = line(&writer("en"), &sums.daily);
        assert_eq!((line.values.len(), line.values.last().copied().flatten()), (90, Some(1_000.0)));
        assert!(line.summary.contains("2,000") && line.summary.contains("Thu 19 Nov"), "{}", line.summary);
    }

    #[test]
    fn a_feature_is_seen_as_its_part() {
        let usage = usage();
        let sums = sum_up(&usage.days, date!(2026 - 11 - 22));
        let panel = features(&writer("en"), &sums, &Url::parse("http://localhost").unwrap());
        let named: Vec<_> = panel.items.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(named, ["chat", "wording"]);
        assert!(
            matches!(&panel.items[1].cells[0], Cell::Share { text, part } if text == "40%" && *part == Part::of(0.4))
        );
    }
}
