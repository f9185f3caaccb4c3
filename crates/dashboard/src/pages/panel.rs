//! What stands below every panel.

use domain::freshness::Freshness;
use url::Url;

use crate::{
    text::Writer,
    views::panel::{Foot, FootWords, Way},
};

/// What stands below a panel: how fresh its figures are, how they are made, and the calls that give the same.
pub fn foot(writer: &Writer, freshness: &Freshness, how: Vec<String>, path: &str, csv: bool, api: &Url) -> Foot {
    let as_of = match freshness.as_of {
        Some(at) => writer.message("as-of").text("time", writer.moment(at)).say(),
        None => writer.say("never-computed"),
    };
    let joined = if path.contains('?') { '&' } else { '?' };
    Foot {
        as_of,
        table: None,
        words: FootWords {
            table: writer.say("table"),
            as_table: writer.say("chart-as-table"),
            calculated: writer.say("calculated"),
            copy: writer.say("copy"),
            copied: writer.say("copied"),
        },
        how,
        curl: curl(path, api),
        json: path.to_owned(),
        csv: csv.then(|| format!("{path}{joined}format=csv")),
    }
}

/// The command that asks the API for a path.
pub fn curl(path: &str, api: &Url) -> String {
    format!("curl -H \"Authorization: Bearer $KEY\" '{}{path}'", api.as_str().trim_end_matches('/'))
}

/// Where a list goes on.
pub fn next(writer: &Writer, address: Option<String>) -> Option<Way> {
    address.map(|address| Way { text: writer.say("next-page"), address })
}
