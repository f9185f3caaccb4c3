//! The form of an alert rule, and how the rule would have done.

use domain::{
    alerts::{
        BACK_TEST_DAYS, Comparator, DEFAULT_COOLDOWN_HOURS, InvalidTerms, MAX_NAME_CHARS, Terms, UncheckedTerms,
        Watched, back_test, needed,
    },
    insights::Severity,
    profit::DayRange,
};
use serde::Deserialize;
use time::{Date, Duration};
use url::form_urlencoded;

use super::alert_words::{condition, value};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        alerts::Trial,
        form::{Button, Field, Form, Input, Pick},
        layout::Here,
    },
};

/// What can be watched, but for events, which have names of their own.
const WATCHED: [&str; 9] = ["orders", "revenue", "profit", "margin", "aov", "refunds", "ad_spend", "roas", "stockouts"];
/// Stands for a tracked event, whose name is in a field beside it.
const EVENT: &str = "event";
/// Crossings that are listed; all of them are counted.
const LISTED: usize = 10;

/// A rule as a form or an address asks for it.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Wanted {
    #[serde(default)]
    name: String,
    #[serde(default)]
    metric: String,
    #[serde(default)]
    event: String,
    #[serde(default)]
    comparator: String,
    #[serde(default)]
    threshold: String,
    #[serde(default)]
    window: String,
    #[serde(default)]
    severity: String,
    #[serde(default)]
    cooldown: String,
}

impl Wanted {
    pub fn of(writer: &Writer, terms: &Terms) -> Self {
        let (metric, event) = match terms.metric() {
            Watched::Event(name) => (EVENT.to_owned(), name.to_string()),
            metric => (metric.to_string(), String::new()),
        };
        Self {
            name: terms.name().to_owned(),
            metric,
            event,
            comparator: terms.comparator().to_string(),
            threshold: writer.field(terms.threshold()),
            window: terms.window_hours().to_string(),
            severity: terms.severity().to_string(),
            cooldown: terms.cooldown_hours().to_string(),
        }
    }

    /// Whether anything is asked for.
    pub const fn is_asked(&self) -> bool {
        !self.metric.is_empty()
    }

    /// The terms; else the field at fault, and what is wrong with it.
    pub fn terms(&self, writer: &Writer) -> Result<Terms, (&'static str, String)> {
        let fault = |field: &'static str| (field, writer.say(&format!("alert-{field}-bad")));
        let metric = if self.metric == EVENT { format!("{EVENT}:{}", self.event.trim()) } else { self.metric.clone() };
        let field = if self.metric == EVENT { "event" } else { "metric" };
        let threshold = writer.read(&self.threshold);
        let wanted = UncheckedTerms {
            name: self.name.clone(),
            metric: metric.parse().map_err(|_| fault(field))?,
            comparator: self.comparator.parse().map_err(|_| fault("comparator"))?,
            threshold: threshold.ok_or_else(|| fault("threshold"))?,
            window_hours: self.window.trim().parse().map_err(|_| fault("window"))?,
            severity: self.severity.parse().map_err(|_| fault("severity"))?,
            cooldown_hours: self.cooldown.trim().parse().map_err(|_| fault("cooldown"))?,
        };
        Terms::new(wanted).map_err(|invalid| match invalid {
            InvalidTerms::EmptyName | InvalidTerms::Name(_) | InvalidTerms::ControlInName => fault("name"),
            InvalidTerms::Threshold => fault("threshold"),
            InvalidTerms::Window(_) => fault("window"),
            InvalidTerms::Cooldown => fault("cooldown"),
        })
    }

    /// Where the rule is tried out before it is made.
    pub fn address(&self) -> String {
        let fields = self.hidden().into_iter().filter(|(_, value)| !value.is_empty());
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        format!("{}?{query}", Here::Alerts.address())
    }

    fn hidden(&self) -> Vec<(&'static str, String)> {
        let Self { name, metric, event, comparator, threshold, window, severity, cooldown } = self.clone();
        vec![
            ("name", name),
            ("metric", metric),
            ("event", event),
            ("comparator", comparator),
            ("threshold", threshold),
            ("window", window),
            ("severity", severity),
            ("cooldown", cooldown),
        ]
    }
}

/// The form of a new rule, which first tries it out.
pub fn form(writer: &Writer, wanted: &Wanted, fault: Option<(&'static str, String)>) -> Form {
    Form {
        id: "h-new",
        title: writer.say("alert-new-title"),
        about: vec![writer.say("alert-new-about")],
        is_get: true,
        action: Here::Alerts.address().to_owned(),
        hidden: vec![],
        fields: fields(writer, wanted, fault),
        buttons: vec![Button::main(writer.say("alert-try"))],
    }
}

/// The fields of a rule.
pub fn fields(writer: &Writer, wanted: &Wanted, fault: Option<(&'static str, String)>) -> Vec<Field> {
    let or = |text: &str, usual: &str| if text.is_empty() { usual.to_owned() } else { text.to_owned() };
    let pick =
        |value: &str, text: String, chosen: &str| Pick { is_chosen: value == chosen, value: value.to_owned(), text };
    let metric = or(&wanted.metric, "orders");
    let metrics = WATCHED.iter().copied().chain([EVENT]);
    let comparator = or(&wanted.comparator, Comparator::Lt.as_str());
    let comparators =
        Comparator::ALL.iter().map(|one| pick(one.as_str(), writer.say(&format!("comparator-{one}")), &comparator));
    let severity = or(&wanted.severity, Severity::Medium.as_str());
    let severities =
        Severity::ALL.iter().map(|one| pick(one.as_str(), writer.say(&format!("severity-{one}")), &severity));
    let line = |kind, value: String, max, is_required| Input::Line { kind, value, max, is_required };
    let field = |name: &'static str, has_help: bool, input| Field {
        name,
        label: writer.say(&format!("alert-{name}")),
        help: has_help.then(|| writer.say(&format!("alert-{name}-help"))),
        error: fault.as_ref().filter(|(field, _)| *field == name).map(|(_, error)| error.clone()),
        input,
    };
    vec![
        field("name", false, line("text", wanted.name.clone(), Some(MAX_NAME_CHARS), true)),
        field(
            "metric",
            false,
            Input::Select(metrics.map(|name| pick(name, writer.say(&format!("watch-{name}")), &metric)).collect()),
        ),
        field("event", true, line("text", wanted.event.clone(), None, false)),
        field("comparator", false, Input::Select(comparators.collect())),
        field("threshold", true, line("text", wanted.threshold.clone(), None, true)),
        field("window", true, line("number", or(&wanted.window, "24"), None, true)),
        field("severity", false, Input::Select(severities.collect())),
        field("cooldown", true, line("number", or(&wanted.cooldown, &DEFAULT_COOLDOWN_HOURS.to_string()), None, true)),
    ]
}

/// How a rule would have done on the last 90 days that are over; with the form that makes it where it is `wanted`.
pub async fn trial(
    viewer: &Viewer,
    state: &State,
    writer: &Writer,
    terms: &Terms,
    wanted: Option<&Wanted>,
) -> Result<Trial, PageError> {
    let last = writer.today().previous_day().unwrap_or(Date::MIN);
    let first = last.checked_sub(Duration::days(BACK_TEST_DAYS - 1)).unwrap_or(Date::MIN);
    let range = DayRange { first, last };
    let days = state.daily.series(viewer.account(), needed(terms, range)).await?;
    let crossings = back_test(terms, &days, range, writer.currency, &writer.zone);
    let count = crossings.as_ref().map(Vec::len);
    let sentence = match count {
        None => writer.say("trial-untold"),
        Some(count) => writer.message("trial-count").count("count", count as i64).count("days", BACK_TEST_DAYS).say(),
    };
    let seen = crossings.unwrap_or_default();
    let shown = seen.iter().rev().take(LISTED);
    Ok(Trial {
        title: condition(writer, terms),
        sentence,
        crossings: shown.map(|one| (writer.full_day(one.day), value(writer, terms.metric(), one.observed))).collect(),
        form: wanted.map(|wanted| Form {
            id: "h-make",
            title: writer.message("alert-make-title").text("name", terms.name()).say(),
            about: vec![],
            is_get: false,
            action: Here::Alerts.address().to_owned(),
            hidden: wanted.hidden(),
            fields: vec![],
            buttons: vec![Button::main(writer.say("alert-make"))],
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tests::writer;

    #[test]
    fn the_help_says_of_each_figure_how_finely_time_is_cut() {
        for locale in ["en", "es-AR", "pt-BR"] {
            let writer = writer(locale);
            for (text, before) in [("alert-window-help", 0), ("how-alerts", 3)] {
                let text = writer.say(text).to_lowercase();
                let sentences: Vec<_> = text.split(". ").collect();
                for name in WATCHED {
                    let resolution = name.parse::<Watched>().unwrap().resolution();
                    let place = match (resolution.allows(1), resolution.allows(48)) {
                        (true, _) => 0,
                        (false, true) => 1,
                        (false, false) => 2,
                    };
                    let called = writer.say(&format!("watch-{name}")).to_lowercase();
                    assert!(sentences[before + place].contains(&called), "{locale}: {called} in {text}");
                }
            }
        }
    }
}
