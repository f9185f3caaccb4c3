//! The form of what the bot may do: its fields as texts, and what they mean.

use domain::{
    credits::CreditAmount,
    social::{
        Category, Gate, Mode,
        settings::{Caps, Hours, InvalidSettings, MAX_LINK_CHARS, MIN_THRESHOLD, Settings, Weekday},
        templates::Links,
    },
};
use time::Time;

use super::{
    bot::{Tab, category},
    fields::Fields,
};
use crate::{
    text::Writer,
    views::form::{Button, Field, Form, Input, Pick},
};

/// The fields of the caps.
const CAPS: [&str; 3] = ["per_user_day", "per_post_hour", "per_account_hour"];
/// What the bot may answer by itself.
const QUESTIONS: [Category; 3] = [Category::PriceQuestion, Category::ShippingQuestion, Category::StockQuestion];

/// The settings as a form has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    mode: String,
    threshold: String,
    /// Of each day, such as `09:00-13:00, 15:00-19:00`.
    hours: Vec<String>,
    caps: [String; 3],
    auto: Vec<String>,
    /// A line each.
    opt_out_words: String,
    own_hosts: String,
    link: String,
    model_vote: bool,
}

impl Wanted {
    pub fn of(writer: &Writer, settings: &Settings) -> Self {
        let Settings { mode, threshold, business_hours, caps, categories_auto, opt_out_words, links, model_vote } =
            settings;
        let Caps { per_user_day, per_post_hour, per_account_hour } = caps;
        Self {
            mode: mode.to_string(),
            threshold: writer.field(*threshold),
            hours: Weekday::ALL.iter().map(|day| hours_of(*day, business_hours)).collect(),
            caps: [per_user_day, per_post_hour, per_account_hour].map(ToString::to_string),
            auto: categories_auto.iter().map(ToString::to_string).collect(),
            opt_out_words: opt_out_words.join("\n"),
            own_hosts: links.own_hosts.join("\n"),
            link: links.link.clone().unwrap_or_default(),
            model_vote: *model_vote,
        }
    }

    pub fn sent(fields: &Fields) -> Self {
        let text = |name: &str| fields.one(name).unwrap_or_default().to_owned();
        Self {
            mode: text("mode"),
            threshold: text("threshold"),
            hours: Weekday::ALL.iter().map(|day| text(day.as_str())).collect(),
            caps: CAPS.map(text),
            auto: fields.all("auto").map(ToOwned::to_owned).collect(),
            opt_out_words: text("opt_out_words"),
            own_hosts: text("own_hosts"),
            link: text("link"),
            model_vote: fields.one("model_vote").is_some(),
        }
    }

    /// The settings; else the field at fault, and what is wrong with it.
    pub fn settings(&self, writer: &Writer) -> Result<Settings, (&'static str, String)> {
        let fault = |field: &'static str| (field, allowed(writer, &format!("bad-{field}")));
        let threshold = writer.read(&self.threshold).ok_or_else(|| fault("threshold"))?;
        let mut business_hours = Vec::new();
        for (day, text) in Weekday::ALL.iter().zip(&self.hours) {
            business_hours.extend(hours(*day, text).ok_or_else(|| (day.as_str(), writer.say("bot-bad-hours")))?);
        }
        let cap = |text: &str, name| text.trim().parse().map_err(|_| fault(name));
        let ([user, post, account], [by_user, by_post, by_account]) = (&self.caps, CAPS);
        let categories_auto = self.auto.iter().map(|name| name.parse()).collect::<Result<Vec<Category>, _>>();
        let settings = Settings {
            mode: self.mode.parse().map_err(|_| fault("mode"))?,
            threshold,
            business_hours,
            caps: Caps {
                per_user_day: cap(user, by_user)?,
                per_post_hour: cap(post, by_post)?,
                per_account_hour: cap(account, by_account)?,
            },
            categories_auto: categories_auto.map_err(|_| fault("auto"))?,
            opt_out_words: lines(&self.opt_out_words),
            links: Links {
                own_hosts: lines(&self.own_hosts),
                link: Some(self.link.trim().to_owned()).filter(|link| !link.is_empty()),
            },
            model_vote: self.model_vote,
        };
        settings.checked().map_err(|InvalidSettings { field, .. }| match field {
            "business_hours" => (Weekday::Monday.as_str(), writer.say("bot-bad-hours")),
            "caps" => fault("per_user_day"),
            "categories_auto" => fault("auto"),
            field => fault(field),
        })
    }
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(ToOwned::to_owned).collect()
}

/// The hours of a day as they are written: `09:00-13:00, 15:00-19:00`.
fn hours_of(day: Weekday, all: &[Hours]) -> String {
    let clock = |clock: Time| format!("{:02}:{:02}", clock.hour(), clock.minute());
    let of_day = all.iter().filter(|hours| hours.day == day);
    of_day.map(|hours| format!("{}-{}", clock(hours.from), clock(hours.to))).collect::<Vec<_>>().join(", ")
}

/// The same as it is read. `None`: it is none.
fn hours(day: Weekday, text: &str) -> Option<Vec<Hours>> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let read = |part: &str| {
        let (from, to) = part.split_once(['-', '–'])?;
        Some(Hours { day, from: clock(from)?, to: clock(to)? })
    };
    parts.map(read).collect()
}

fn clock(text: &str) -> Option<Time> {
    let (hour, minute) = text.trim().split_once(':')?;
    let number = |text: &str| text.parse::<u8>().ok().filter(|_| text.len() <= 2);
    Time::from_hms(number(hour)?, number(minute)?, 0).ok()
}

/// The settings in words, for who may not change them.
pub fn listed(writer: &Writer, settings: &Settings, vote_price: Option<CreditAmount>) -> Vec<(String, String)> {
    let wanted = Wanted::of(writer, settings);
    let or_none = |text: String| if text.is_empty() { writer.say("bot-none") } else { text };
    let days = Weekday::ALL.iter().zip(&wanted.hours).filter(|(_, hours)| !hours.is_empty());
    let hours: Vec<_> = days.map(|(day, hours)| format!("{} {hours}", writer.say(&format!("weekday-{day}")))).collect();
    let hours = if hours.is_empty() { writer.say("bot-always") } else { hours.join("; ") };
    let auto: Vec<_> = settings.categories_auto.iter().map(|one| category(writer, *one)).collect();
    let caps = CAPS.into_iter().zip(&wanted.caps).map(|(name, cap)| (label(writer, name), cap.clone()));
    let first = [(label(writer, "threshold"), writer.number(settings.threshold, 2)), (writer.say("bot-hours"), hours)];
    let last = [
        (label(writer, "auto"), or_none(auto.join(", "))),
        (label(writer, "opt_out_words"), or_none(settings.opt_out_words.join(", "))),
        (label(writer, "own_hosts"), or_none(settings.links.own_hosts.join(", "))),
        (label(writer, "link"), or_none(wanted.link)),
        (label(writer, "model_vote"), vote(writer, settings.model_vote, vote_price)),
    ];
    first.into_iter().chain(caps).chain(last).collect()
}

/// Whether a model is asked, and what that costs.
fn vote(writer: &Writer, is_on: bool, price: Option<CreditAmount>) -> String {
    match price {
        Some(price) if is_on => writer.message("bot-model-vote-on").count("credits", price.get()).say(),
        None if is_on => writer.say("bot-model-vote-none"),
        _ => writer.say("bot-none"),
    }
}

fn label(writer: &Writer, name: &str) -> String {
    writer.say(&format!("bot-{}", name.replace('_', "-")))
}

/// What a field may be.
fn allowed(writer: &Writer, name: &str) -> String {
    writer.message(format!("bot-{}", name.replace('_', "-"))).number("least", MIN_THRESHOLD, 1).say()
}

/// The form. What was not earned is not offered.
pub fn form(
    writer: &Writer,
    wanted: &Wanted,
    earned: (Gate, Option<CreditAmount>),
    fault: Option<&(&'static str, String)>,
) -> Form {
    Form {
        id: "h-settings",
        title: writer.say("bot-limits"),
        about: vec![writer.say("bot-limits-about")],
        is_get: false,
        action: Tab::Settings.address().to_owned(),
        hidden: vec![],
        fields: fields(writer, wanted, earned, fault),
        buttons: vec![Button::main(writer.say("bot-set"))],
    }
}

fn fields(
    writer: &Writer,
    wanted: &Wanted,
    (gate, vote_price): (Gate, Option<CreditAmount>),
    fault: Option<&(&'static str, String)>,
) -> Vec<Field> {
    let field = |name: &'static str, has_help: bool, input: Input| Field {
        name,
        label: label(writer, name),
        help: has_help.then(|| allowed(writer, &format!("{name}-help"))),
        error: fault.filter(|(field, _)| *field == name).map(|(_, text)| text.clone()),
        input,
    };
    let line = |kind, value: &str, max, is_required| Input::Line { kind, value: value.to_owned(), max, is_required };
    let is_offered = |mode: &&Mode| **mode != Mode::Auto || gate.is_ready() || wanted.mode == Mode::Auto.as_str();
    let mode = |mode: &Mode| Pick {
        value: mode.to_string(),
        text: format!("{}: {}", writer.say(&format!("bot-mode-{mode}")), writer.say(&format!("bot-about-{mode}"))),
        is_chosen: wanted.mode == mode.as_str(),
    };
    let auto = |one: &Category| {
        let is_chosen = wanted.auto.iter().any(|name| name == one.as_str());
        ("auto", Pick { value: one.to_string(), text: category(writer, *one), is_chosen })
    };
    let day = |(day, hours): (&Weekday, &String)| Field {
        label: writer.message("bot-hours-of").text("day", writer.say(&format!("weekday-{day}"))).say(),
        help: (*day == Weekday::Monday).then(|| writer.say("bot-hours-help")),
        ..field(day.as_str(), false, line("text", hours, None, false))
    };
    let first = [
        field("mode", false, Input::Radios(Mode::ALL.iter().filter(is_offered).map(mode).collect())),
        field("auto", true, Input::Ticks(QUESTIONS.iter().map(auto).collect())),
        field("threshold", true, line("text", &wanted.threshold, None, true)),
    ];
    let caps = CAPS.into_iter().zip(&wanted.caps).map(|(name, cap)| field(name, true, line("number", cap, None, true)));
    let days = Weekday::ALL.iter().zip(&wanted.hours).map(day);
    let asks = Pick { value: "on".to_owned(), text: writer.say("bot-model-vote-ask"), is_chosen: wanted.model_vote };
    let cost = match vote_price {
        Some(price) => writer.message("bot-model-vote-help").count("credits", price.get()).say(),
        None => writer.say("bot-model-vote-none"),
    };
    let area = |value: &str| Input::Area { value: value.to_owned(), max: None };
    let last = [
        field("opt_out_words", true, area(&wanted.opt_out_words)),
        field("own_hosts", true, area(&wanted.own_hosts)),
        field("link", true, line("url", &wanted.link, Some(MAX_LINK_CHARS), false)),
        Field { help: Some(cost), ..field("model_vote", false, Input::Ticks(vec![("model_vote", asks)])) },
    ];
    first.into_iter().chain(caps).chain(days).chain(last).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use rust_decimal::dec;
    use time::macros::time;

    use super::*;
    use crate::text::tests::writer;

    #[test]
    fn what_was_set_is_sent_back_unchanged() {
        let hours = |day, from, to| Hours { day, from, to };
        let settings = Settings {
            mode: Mode::Approve,
            threshold: dec!(0.9),
            business_hours: vec![
                hours(Weekday::Monday, time!(9:00), time!(13:00)),
                hours(Weekday::Monday, time!(15:00), time!(0:00)),
                hours(Weekday::Friday, time!(9:30), time!(18:00)),
            ],
            opt_out_words: vec!["basta".into(), "no molesten".into()],
            links: Links { own_hosts: vec!["a.example".into()], link: Some("https://a.example/p".into()) },
            model_vote: true,
            ..Settings::default()
        };
        let wanted = Wanted::of(&writer("en"), &settings);
        assert_eq!(wanted.hours[0], "09:00-13:00, 15:00-00:00");
        assert_eq!(wanted.settings(&writer("en")), Ok(settings));
        assert_eq!(Wanted { threshold: "0,9".into(), ..wanted }.settings(&writer("es")).unwrap().threshold, dec!(0.9));
    }

    #[rstest]
    #[case("es-AR", "De 0,5 a 1")]
    #[case("es-MX", "De 0.5 a 1")]
    #[case("en", "0.5 to 1")]
    fn what_a_field_may_be_is_written_as_its_number_is(#[case] locale: &str, #[case] told: &str) {
        let writer = writer(locale);
        let fields = fields(&writer, &Wanted::default(), (Gate::default(), None), None);
        let help = fields.into_iter().find(|field| field.name == "threshold").unwrap().help.unwrap();
        assert!(help.starts_with(told), "{help}");
    }

    #[rstest]
    #[case("mode", |wanted: &mut Wanted| wanted.mode = "on".into())]
    #[case("threshold", |wanted: &mut Wanted| wanted.threshold = "0.4".into())]
    #[case("threshold", |wanted: &mut Wanted| wanted.threshold = "high".into())]
    #[case("tue", |wanted: &mut Wanted| wanted.hours[1] = "9".into())]
    #[case("mon", |wanted: &mut Wanted| wanted.hours[0] = "18:00-09:00".into())]
    #[case("per_post_hour", |wanted: &mut Wanted| wanted.caps[1] = "many".into())]
    #[case("per_user_day", |wanted: &mut Wanted| wanted.caps[2] = "501".into())]
    #[case("auto", |wanted: &mut Wanted| wanted.auto = vec!["complaint".into()])]
    #[case("own_hosts", |wanted: &mut Wanted| wanted.own_hosts = "https://a.example".into())]
    #[case("link", |wanted: &mut Wanted| wanted.link = "https://b.example/".into())]
    fn what_cannot_be_is_said_at_its_field(#[case] field: &str, #[case] spoil: fn(&mut Wanted)) {
        let writer = writer("en");
        let mut wanted = Wanted::of(&writer, &Settings::default());
        spoil(&mut wanted);
        let fault = wanted.settings(&writer).unwrap_err();
        assert_eq!(fault.0, field);
        assert!(!fault.1.starts_with("bot-"), "{} has no text", fault.1);
        let drawn = fields(&writer, &wanted, (Gate::default(), None), Some(&fault));
        assert_eq!(drawn.iter().filter(|field| field.error.is_some()).count(), 1);
    }

    #[test]
    fn the_mode_that_sends_is_offered_once_it_is_earned() {
        let offered = |gate, mode| {
            let wanted = Wanted::of(&writer("en"), &Settings { mode, ..Settings::default() });
            let fields = fields(&writer("en"), &wanted, (gate, None), None);
            let Input::Radios(picks) = &fields[0].input else { panic!() };
            picks.iter().any(|pick| pick.value == "auto")
        };
        assert!(!offered(Gate { judged: 99, wrong: 0 }, Mode::Approve));
        assert!(offered(Gate { judged: 100, wrong: 0 }, Mode::Approve));
        assert!(offered(Gate { judged: 100, wrong: 2 }, Mode::Auto), "it is what is chosen");
    }
    #[test]
    fn what_a_vote_costs_is_said_where_it_is_switched_on() {
        let help = |language: &str, price: Option<i64>| {
            let price = price.map(|price| CreditAmount::new(price).unwrap());
            let fields = fields(&writer(language), &Wanted::default(), (Gate::default(), price), None);
            fields.into_iter().find(|field| field.name == "model_vote").unwrap().help.unwrap()
        };
        assert!(help("en", Some(1)).contains("costs 1 credit,"), "{}", help("en", Some(1)));
        assert!(help("es", Some(2)).contains("cuesta 2 créditos,"), "{}", help("es", Some(2)));
        assert!(help("pt-BR", Some(2)).contains("custa 2 créditos,"), "{}", help("pt-BR", Some(2)));
        assert!(help("en", None).contains("No language model"), "{}", help("en", None));
    }
}
