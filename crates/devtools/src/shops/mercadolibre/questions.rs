//! Questions of buyers about listings, and their answers: one each, by whomever.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime, format_description::well_known::Rfc3339};

use super::{Mercadolibre, answer::Answer, sales::Query};

/// Characters of a question or answer.
const MAX_CHARS: usize = 2_000;
/// Questions of a page, and what a search finds at most.
const MAX_LIMIT: usize = 50;
const CAP: usize = 1_000;
/// The first buyer who asks.
const BUYER: u64 = 162_981_404;

/// What the platform or a buyer does to a question, or the seller on the platform itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// The seller answers by hand.
    Answer(String),
    Ban,
    Delete,
    /// The listing ends.
    Close,
    Review,
    /// After a review.
    Release,
}

#[derive(Debug, Clone)]
struct Given {
    text: String,
    at: OffsetDateTime,
    /// Not shown before.
    shown_at: OffsetDateTime,
    by_app: bool,
}

#[derive(Debug, Clone)]
struct Question {
    item: String,
    from: u64,
    text: String,
    created: OffsetDateTime,
    /// But for being answered.
    status: &'static str,
    answer: Option<Given>,
}

impl Question {
    /// The answer, once it is shown.
    fn shown(&self, now: OffsetDateTime) -> Option<&Given> {
        self.answer.as_ref().filter(|answer| answer.shown_at <= now)
    }

    fn status(&self, now: OffsetDateTime) -> &'static str {
        if self.status == "UNANSWERED" && self.shown(now).is_some() { "ANSWERED" } else { self.status }
    }

    /// Links and addresses are found out, and what holds them is shown to nobody.
    fn json(&self, id: u64, seller: u64, now: OffsetDateTime) -> Value {
        let date = |at: OffsetDateTime| at.format(&Rfc3339).unwrap_or_default();
        let answer = self.shown(now).map(|answer| {
            let is_banned = ["http", "www.", "@"].iter().any(|part| answer.text.contains(part));
            let (status, text) = if is_banned { ("BANNED", "") } else { ("ACTIVE", answer.text.as_str()) };
            json!({"text": text, "status": status, "date_created": date(answer.at)})
        });
        let text = if self.status == "BANNED" { "" } else { self.text.as_str() };
        json!({
            "id": id, "seller_id": seller, "item_id": self.item, "text": text, "status": self.status(now),
            "date_created": date(self.created), "hold": false, "deleted_from_listing": false, "suspected_spam": false,
            "answer": answer, "from": {"id": self.from},
        })
    }
}

/// What was asked.
#[derive(Debug, Default)]
pub struct Questions(BTreeMap<u64, Question>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewAnswer {
    question_id: u64,
    text: String,
}

fn bad_request(what: &str) -> Answer {
    Answer::refused(400, "bad_request", what)
}

fn is_versioned(query: &Query) -> Result<(), Answer> {
    if query.get("api_version") == Some("4") { Ok(()) } else { Err(bad_request("api_version")) }
}

impl Questions {
    /// `GET /questions/search`
    pub fn search(&self, seller: u64, query: &Query, now: OffsetDateTime) -> Result<Answer, Answer> {
        is_versioned(query)?;
        if query.get("seller_id") != Some(seller.to_string().as_str()) {
            return Err(Answer::refused(403, "forbidden", "the caller is not the seller"));
        }
        let (limit, offset) = (query.whole("limit", MAX_LIMIT)?, query.whole("offset", 0)?);
        if limit == 0 || limit > MAX_LIMIT || offset + limit > CAP {
            return Err(bad_request("limit or offset is not valid"));
        }
        let wanted = |question: &Question| query.get("status").is_none_or(|status| question.status(now) == status);
        let mut all: Vec<_> = self.0.iter().filter(|(_, question)| wanted(question)).collect();
        match (query.get("sort_fields"), query.get("sort_types")) {
            (None, None) => {}
            (Some("date_created"), Some("ASC")) => all.sort_by_key(|(id, question)| (question.created, **id)),
            (Some("date_created"), Some("DESC")) => {
                all.sort_by_key(|(id, question)| std::cmp::Reverse((question.created, **id)));
            }
            _ => return Err(bad_request("sort_fields or sort_types")),
        }
        let page = all.iter().skip(offset).take(limit).map(|(id, question)| question.json(**id, seller, now));
        let page: Vec<_> = page.collect();
        Ok(Answer::ok(json!({"total": all.len(), "limit": limit, "questions": page})))
    }

    /// `GET /questions/{id}`
    pub fn one(&self, seller: u64, id: &str, query: &Query, now: OffsetDateTime) -> Result<Answer, Answer> {
        is_versioned(query)?;
        let id: u64 = id.parse().map_err(|_| bad_request("id"))?;
        let question = self.0.get(&id).ok_or_else(Answer::not_found)?;
        Ok(Answer::ok(question.json(id, seller, now)))
    }

    /// `POST /answers`, shown after `lag`.
    pub fn answer(&mut self, seller: u64, body: &[u8], lag: Duration, now: OffsetDateTime) -> Result<Answer, Answer> {
        let NewAnswer { question_id: id, text } = serde_json::from_slice(body).map_err(|_| bad_request("body"))?;
        if text.trim().is_empty() || text.chars().count() > MAX_CHARS {
            return Err(bad_request("text"));
        }
        let question = self.0.get_mut(&id).ok_or_else(Answer::not_found)?;
        if question.status != "UNANSWERED" || question.answer.is_some() {
            let message = format!("Question {id} is not unanswered");
            return Err(Answer::refused(400, "not_unanswered_question", &message));
        }
        question.answer = Some(Given { text, at: now, shown_at: now + lag, by_app: true });
        Ok(Answer::ok(question.json(id, seller, now)))
    }

    /// Questions with what was really answered, for tests.
    fn truth(&self) -> Value {
        let told = self.0.iter().map(|(id, question)| {
            let (text, by_app) = question.answer.as_ref().map(|given| (&given.text, given.by_app)).unzip();
            json!({"id": id, "status": question.status, "answer": text, "by_app": by_app})
        });
        told.collect()
    }
}

impl Mercadolibre {
    /// A buyer asks about the first listing; the question's number.
    pub fn ask(&self, text: &str) -> u64 {
        let now = self.now();
        let mut state = self.open();
        let super::State { seller, questions, .. } = &mut *state;
        let item = seller.offers.first().map(|offer| offer.listing.clone()).unwrap_or_default();
        let (id, from) = (seller.new_id(), BUYER + questions.0.len() as u64);
        let question = Question { item, from, text: text.to_owned(), created: now, status: "UNANSWERED", answer: None };
        questions.0.insert(id, question);
        let seller = seller.id;
        drop(state);
        self.tell(seller, "questions", &format!("/questions/{id}"));
        id
    }

    /// Lets something happen to a question; false when there is none, or it cannot be answered.
    pub fn happen(&self, id: u64, deed: Deed) -> bool {
        let now = self.now();
        let lag = if matches!(deed, Deed::Answer(_)) { self.answer_lag() } else { Duration::ZERO };
        let mut state = self.open();
        let seller = state.seller.id;
        let Some(question) = state.questions.0.get_mut(&id) else { return false };
        match deed {
            Deed::Answer(_) if question.answer.is_some() || question.status != "UNANSWERED" => return false,
            Deed::Answer(text) => {
                question.answer = Some(Given { text, at: now, shown_at: now + lag, by_app: false });
            }
            Deed::Ban => question.status = "BANNED",
            Deed::Delete => question.status = "DELETED",
            Deed::Close => question.status = "CLOSED_UNANSWERED",
            Deed::Review => question.status = "UNDER_REVIEW",
            Deed::Release => question.status = "UNANSWERED",
        }
        drop(state);
        self.tell(seller, "questions", &format!("/questions/{id}"));
        true
    }

    /// How long an answer that is given now is not shown.
    pub(super) fn answer_lag(&self) -> Duration {
        let seconds = self.0.common.faults.take("answer_lag").unwrap_or_default();
        Duration::seconds(i64::try_from(seconds).unwrap_or(i64::MAX))
    }

    /// Every question with what was really answered.
    pub fn asked(&self) -> Value {
        self.open().questions.truth()
    }
}
