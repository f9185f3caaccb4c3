//! Insights that are made at once, what that costs, and what became of it.

use std::str::FromStr;

use actix_web::{HttpResponse, web::Data};
use domain::{
    AccountId, RunId, StoreError,
    ai::{Outcome, RequestError, Run},
    audit::Action,
    credits::CreditAmount,
    insights::Status,
};

use super::{Query, see};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        form::{Button, Form},
        insights::Asked,
        layout::Here,
        panel::Way,
    },
};

/// Why nothing is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    Paused,
    Insufficient,
}

impl Refused {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Paused => "paused",
            Self::Insufficient => "insufficient",
        }
    }
}

impl FromStr for Refused {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Paused, Self::Insufficient].into_iter().find(|refused| refused.as_str() == text).ok_or(())
    }
}

/// Has them made, and leads to the page that tells what became of it.
pub async fn generate(viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let (note, mode) = (viewer.note(Action::InsightsRequested), viewer.session().account.mode);
    let asked = state.text_generator.request(viewer.account(), mode, None, Some(note), (state.clock)()).await;
    let open = Query::of_status(Status::Open);
    let query = match asked {
        Ok(run) => Query { run: Some(run.value.id.0), ..open },
        Err(RequestError::Paused) => Query { refused: Some(Refused::Paused), ..open },
        Err(RequestError::Insufficient { .. }) => Query { refused: Some(Refused::Insufficient), ..open },
        Err(RequestError::Idempotency(error)) => return Err(error.into()),
    };
    Ok(see(&query.address()))
}

/// The run that the address names, if the account has it.
pub(super) async fn run(state: &State, account: AccountId, query: Query) -> Result<Option<Run>, StoreError> {
    match query.run {
        Some(id) => state.text_generator.runs.find(account, RunId(id)).await,
        None => Ok(None),
    }
}

/// What is said of a run, or of why there is none.
pub fn asked(writer: &Writer, refused: Option<Refused>, run: Option<&Run>) -> Option<Asked> {
    let say = |class, id: &str| Asked { class, text: writer.say(id), way: None };
    match refused {
        Some(Refused::Paused) => return Some(say("bad", "insights-paused")),
        Some(Refused::Insufficient) => {
            let way = Way { text: writer.say("credits"), address: Here::Credits.address().to_owned() };
            return Some(Asked { way: Some(way), ..say("bad", "insights-insufficient") });
        }
        None => {}
    }
    let run = run?;
    Some(match run.outcome {
        None => say("", "insights-under-way"),
        Some(Outcome::Worded) => {
            let text = writer.message("insights-worded").count("credits", run.credits).say();
            Asked { class: "good", text, way: None }
        }
        Some(Outcome::NothingNew) => say("good", "insights-nothing-new"),
        Some(Outcome::Rules) => say("good", "insights-made"),
        Some(Outcome::Refused) => say("good", "insights-plain"),
        Some(Outcome::Failed | Outcome::Interrupted | Outcome::Voted) => say("bad", "insights-failed"),
    })
}

/// The button, and what it costs; `price` is none where it is free.
pub fn form(writer: &Writer, price: Option<CreditAmount>) -> Form {
    let cost = match price {
        Some(price) => writer.message("insights-now-price").count("credits", price.get()).say(),
        None => writer.say("insights-now-free"),
    };
    Form {
        id: "h-now",
        title: writer.say("insights-now"),
        about: vec![writer.say("insights-now-what"), cost],
        is_get: false,
        action: "/insights/generate".to_owned(),
        hidden: vec![],
        fields: vec![],
        buttons: vec![Button::main(writer.say("insights-now-make"))],
    }
}

#[cfg(test)]
mod tests {
    use domain::ai::{RunState, Trigger};
    use time::macros::datetime;

    use super::*;
    use crate::text::tests::writer;

    fn told(outcome: Option<Outcome>, credits: i64) -> (&'static str, String) {
        let run = Run {
            id: RunId(52),
            trigger: Trigger::Request,
            state: outcome.map_or(RunState::Running, Outcome::state),
            outcome,
            reason: None,
            credits,
            refunded: outcome.is_some_and(|outcome| !outcome.is_paid()),
            created_at: datetime!(2026-11-22 12:00 UTC),
            finished_at: None,
        };
        let asked = asked(&writer("en"), None, Some(&run)).unwrap();
        (asked.class, asked.text)
    }

    #[test]
    fn what_it_costs_is_said_before() {
        let about = |price| form(&writer("en"), price).about.remove(1);
        let price = CreditAmount::new(5).ok();
        assert!(about(price).contains("5 credits"), "{}", about(price));
        assert_eq!(about(None), "It costs nothing.");
    }

    #[test]
    fn only_what_was_worded_has_cost_something() {
        assert_eq!(told(Some(Outcome::Worded), 5), ("good", "Made just now, for 5 credits.".to_owned()));
        for (outcome, class) in [
            (Outcome::Refused, "good"),
            (Outcome::Rules, "good"),
            (Outcome::NothingNew, "good"),
            (Outcome::Failed, "bad"),
            (Outcome::Interrupted, "bad"),
        ] {
            let (of, text) = told(Some(outcome), 5);
            assert!(of == class && text.contains("cost nothing"), "{outcome}: {text}");
        }
        assert_eq!(told(None, 0).0, "");
    }

    #[test]
    fn who_has_too_few_credits_is_led_to_them() {
        let asked = asked(&writer("en"), Some(Refused::Insufficient), None).unwrap();
        assert_eq!(asked.way.map(|way| way.address).as_deref(), Some("/credits"));
        assert!(super::asked(&writer("en"), Some(Refused::Paused), None).unwrap().way.is_none());
        assert!(super::asked(&writer("en"), None, None).is_none());
    }
}
