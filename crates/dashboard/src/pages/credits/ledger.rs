//! The ledger, with what narrows it.

use actix_web::HttpRequest;
use domain::{
    credits::{FeatureName, MAX_FEATURE_CHARS, Transaction, TransactionFilter, TransactionKind},
    page::Page,
};
use time::Date;
use url::Url;

use super::super::{panel, query};
use crate::{
    error::PageError,
    text::Writer,
    views::{
        form::{Field, Filters, Input, Pick},
        layout::Here,
        panel::{Foot, Panel},
        rows::{Cell, Head, Row},
    },
};

/// Rows of a page.
pub const LIMIT: i64 = 25;

/// What is looked at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    kind: Option<TransactionKind>,
    feature: Option<FeatureName>,
    from: Option<Date>,
    to: Option<Date>,
    pub cursor: Option<i64>,
}

impl Query {
    pub fn of(request: &HttpRequest) -> Result<Self, PageError> {
        let feature = query::one::<String>(request, "feature")?.map(FeatureName::new).transpose();
        Ok(Self {
            kind: query::one(request, "kind")?,
            feature: feature.map_err(|_| PageError::Invalid("feature"))?,
            from: query::day(request, "from")?,
            to: query::day(request, "to")?,
            cursor: query::cursor(request)?,
        })
    }

    /// The parameters, which the API names alike.
    fn pairs(&self, cursor: Option<i64>) -> [Option<String>; 5] {
        [
            self.kind.map(|kind| format!("kind={kind}")),
            self.feature.as_ref().map(|feature| format!("feature={}", feature.as_str())),
            self.from.map(|day| format!("from={day}")),
            self.to.map(|day| format!("to={day}")),
            cursor.map(|cursor| format!("cursor={cursor}")),
        ]
    }

    fn address(&self, cursor: Option<i64>) -> String {
        query::address(Here::Credits.address(), self.pairs(cursor))
    }

    /// The call that gives the same.
    fn api(&self) -> String {
        query::address("/api/v1/credits/transactions", self.pairs(self.cursor))
    }

    /// Both days are meant whole.
    ///
    /// # Errors
    /// When the last is before the first.
    pub fn filter(&self, writer: &Writer) -> Result<TransactionFilter, PageError> {
        if self.from.zip(self.to).is_some_and(|(from, to)| from > to) {
            return Err(PageError::Invalid("to"));
        }
        Ok(TransactionFilter {
            kind: self.kind,
            feature: self.feature.clone(),
            from: self.from.map(|day| writer.zone.start_of(day)),
            to: self.to.and_then(Date::next_day).map(|day| writer.zone.start_of(day)),
        })
    }
}

pub fn filters(writer: &Writer, query: &Query) -> Filters {
    let any = Pick { value: String::new(), text: writer.say("any"), is_chosen: query.kind.is_none() };
    let kind = |kind: &TransactionKind| Pick {
        value: kind.to_string(),
        text: writer.say(&format!("ledger-{kind}")),
        is_chosen: query.kind == Some(*kind),
    };
    let line = |kind, value: Option<String>, max| Input::Line {
        kind,
        value: value.unwrap_or_default(),
        max,
        is_required: false,
    };
    let day = |day: Option<Date>| line("date", day.map(|day| day.to_string()), None);
    let feature = query.feature.as_ref().map(|feature| feature.as_str().to_owned());
    let field = |name, label: &str, input| Field { name, label: writer.say(label), help: None, error: None, input };
    Filters {
        id: "h-filter",
        action: Here::Credits.address().to_owned(),
        fields: vec![
            field(
                "kind",
                "ledger-kind",
                Input::Select(std::iter::once(any).chain(TransactionKind::ALL.iter().map(kind)).collect()),
            ),
            field("feature", "feature", line("text", feature, Some(MAX_FEATURE_CHARS))),
            field("from", "from", day(query.from)),
            field("to", "to", day(query.to)),
        ],
        go: writer.say("filter"),
        clear: writer.say("filter-clear"),
    }
}

pub fn head(writer: &Writer) -> Vec<Head> {
    vec![
        Head::Text(writer.say("ledger-time")),
        Head::Text(writer.say("ledger-kind")),
        Head::Text(writer.say("feature")),
        Head::Number(writer.say("ledger-amount")),
        Head::Number(writer.say("ledger-balance")),
    ]
}

pub fn list(writer: &Writer, query: &Query, found: &Page<Transaction>, api: &Url) -> Panel<Row> {
    let path = query.api();
    let foot = panel::current(writer, vec![writer.say("how-ledger")], &path, api);
    let joined = if path.contains('?') { '&' } else { '?' };
    Panel {
        id: "h-ledger",
        title: writer.say("ledger-title"),
        items: found.items.iter().map(|transaction| row(writer, transaction)).collect(),
        nothing: writer.say("ledger-none"),
        all: None,
        next: panel::next(writer, found.next_cursor.map(|cursor| query.address(Some(cursor)))),
        foot: Foot { csv: Some(format!("{path}{joined}format=csv")), ..foot },
    }
}

fn row(writer: &Writer, transaction: &Transaction) -> Row {
    let number =
        |credits: i64| Cell::Number { text: writer.number(credits.into(), 0), value: Some(credits.to_string()) };
    Row {
        name: writer.moment(transaction.created_at),
        address: None,
        below: None,
        cells: vec![
            Cell::Text(writer.say(&format!("ledger-{}", transaction.kind))),
            Cell::Mono(transaction.feature.clone().unwrap_or_else(|| "–".to_owned())),
            number(transaction.amount),
            number(transaction.balance_after),
        ],
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;
    use time::macros::datetime;

    use super::*;
    use crate::text::tests::writer;

    fn query(uri: &str) -> Result<Query, PageError> {
        Query::of(&TestRequest::with_uri(uri).to_http_request())
    }

    #[test]
    fn what_narrows_the_ledger_is_in_the_address_and_days_are_those_of_the_account() {
        let asked = "kind=consume&feature=insight_wording&from=2026-11-20&to=2026-11-21";
        let found = query(&format!("/credits?{asked}&cursor=9")).unwrap();
        assert_eq!(found.address(Some(4)), format!("/credits?{asked}&cursor=4"));
        assert_eq!(found.api(), format!("/api/v1/credits/transactions?{asked}&cursor=9"));
        let filter = found.filter(&writer("en")).unwrap();
        let span = (datetime!(2026-11-20 3:00 UTC), datetime!(2026-11-22 3:00 UTC));
        assert_eq!(filter.from.zip(filter.to), Some(span));
    }

    #[test]
    fn what_cannot_be_asked_for_is_said() {
        for wrong in ["kind=x", "feature=A%20b", "from=1.1.2026", "cursor=0"] {
            assert!(query(&format!("/credits?{wrong}")).is_err(), "{wrong}");
        }
        let turned = query("/credits?from=2026-11-21&to=2026-11-20").unwrap();
        assert!(turned.filter(&writer("en")).is_err());
    }
}
