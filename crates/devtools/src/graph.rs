//! What the fakes of Meta's APIs share: parameters of calls, what is answered, and Facebook Login.

pub mod oauth;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use url::form_urlencoded;

/// What is answered: a status, JSON, and one header beside those of every answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub body: Value,
    pub header: Option<(&'static str, String)>,
}

impl Answer {
    pub fn ok(body: Value) -> Self {
        Self { status: 200, body, header: None }
    }

    /// As every call is refused.
    pub fn refused(status: u16, code: u32, subcode: u32, message: &str) -> Self {
        let error = json!({
            "message": message, "type": "OAuthException", "code": code, "error_subcode": subcode, "fbtrace_id": "AbCdEfGhIj",
        });
        Self { status, body: json!({ "error": error }), header: None }
    }

    /// A parameter is wrong.
    pub fn invalid(message: &str) -> Self {
        Self::refused(400, 100, 0, &format!("(#100) {message}"))
    }
}

/// Parameters, each once.
pub struct Query(BTreeMap<String, String>);

impl Query {
    pub fn of(text: &[u8]) -> Result<Self, Answer> {
        let mut all = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(text).into_owned() {
            if all.insert(name.clone(), value).is_some() {
                return Err(Answer::invalid(&format!("{name} is there twice")));
            }
        }
        Ok(Self(all))
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub fn need(&self, name: &str) -> Result<&str, Answer> {
        self.get(name).ok_or_else(|| Answer::invalid(&format!("The parameter {name} is required")))
    }

    /// Not as the platform, which ignores what it does not know: a misspelt filter must not go unnoticed here.
    pub fn only(&self, known: &[&str]) -> Result<(), Answer> {
        match self.0.keys().find(|name| !known.contains(&name.as_str())) {
            Some(unknown) => Err(Answer::invalid(&format!("{unknown} is no parameter of this"))),
            None => Ok(()),
        }
    }

    pub fn json(&self, name: &str) -> Result<Option<Value>, Answer> {
        let wrong = |_| Answer::invalid(&format!("param {name} must be JSON"));
        self.get(name).map(|text| serde_json::from_str(text).map_err(wrong)).transpose()
    }

    /// The values of an `IN` filter by field.
    pub fn filters(&self, known: &[&str]) -> Result<BTreeMap<String, Vec<String>>, Answer> {
        let Some(given) = self.json("filtering")? else { return Ok(BTreeMap::new()) };
        let wrong = || Answer::invalid("param filtering must be an array of {field, operator, value}");
        let mut filters = BTreeMap::new();
        for filter in given.as_array().ok_or_else(wrong)? {
            let field = filter["field"].as_str().filter(|field| known.contains(field)).ok_or_else(wrong)?;
            let values = filter["value"].as_array().filter(|_| filter["operator"] == "IN").ok_or_else(wrong)?;
            let values: Option<Vec<_>> = values.iter().map(|value| value.as_str().map(str::to_owned)).collect();
            filters.insert(field.to_owned(), values.ok_or_else(wrong)?);
        }
        Ok(filters)
    }

    /// A page of a list, with the cursor of the next one.
    pub fn page(&self, rows: &[Value], largest: usize) -> Result<Answer, Answer> {
        let limit = match self.get("limit").map(str::parse::<usize>) {
            None => 25,
            Some(Ok(limit)) if (1..=largest).contains(&limit) => limit,
            Some(_) => return Err(Answer::invalid(&format!("param limit must be 1 to {largest}"))),
        };
        let from = match self.get("after").map(|after| after.strip_prefix("QVFI").map(str::parse::<usize>)) {
            None => 0,
            Some(Some(Ok(from))) => from,
            Some(_) => return Err(Answer::invalid("param after is no cursor")),
        };
        let shown: Vec<_> = rows.iter().skip(from).take(limit).cloned().collect();
        let end = from + shown.len();
        let mut paging = json!({ "cursors": { "before": format!("QVFI{from}"), "after": format!("QVFI{end}") } });
        if let Some(paging) = paging.as_object_mut().filter(|_| end < rows.len()) {
            let next = "https://graph.facebook.com/next?access_token=none-of-your-business";
            paging.insert("next".to_owned(), next.into());
        }
        Ok(Answer::ok(json!({ "data": shown, "paging": paging })))
    }
}
