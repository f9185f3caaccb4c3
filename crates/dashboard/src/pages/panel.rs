//! What stands below every panel.

use domain::freshness::Freshness;
use url::Url;

use crate::{
    text::Writer,
    views::{
        layout::Here,
        panel::{Foot, FootWords, Way},
        search::Search,
    },
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
        words: words(writer),
        how,
        curl: curl(path, api),
        command: None,
        csv: csv.then(|| curl(&format!("{path}{joined}format=csv"), api)),
    }
}

/// The same below figures that nobody computed before: they are as they stand now.
pub fn current(writer: &Writer, how: Vec<String>, path: &str, api: &Url) -> Foot {
    Foot {
        as_of: writer.message("as-of").text("time", writer.time(writer.now)).say(),
        table: None,
        words: words(writer),
        how,
        curl: curl(path, api),
        command: None,
        csv: None,
    }
}

/// The same where the API has no call, but the command line a command.
pub fn command(writer: &Writer, how: Vec<String>, command: String) -> Foot {
    Foot {
        as_of: writer.message("as-of").text("time", writer.time(writer.now)).say(),
        table: None,
        words: words(writer),
        how,
        curl: String::new(),
        command: Some(command),
        csv: None,
    }
}

fn words(writer: &Writer) -> FootWords {
    FootWords {
        table: writer.say("table"),
        as_table: writer.say("chart-as-table"),
        calculated: writer.say("calculated"),
    }
}

/// The command that asks the API for a path.
pub fn curl(path: &str, api: &Url) -> String {
    format!("curl -H \"Authorization: Bearer $KEY\" '{}{path}'", api.as_str().trim_end_matches('/'))
}

/// The field that looks something up in a list.
pub fn search(writer: &Writer, here: Here, label: &str, text: Option<&str>) -> Search {
    Search {
        address: here.address(),
        label: writer.say(label),
        text: text.unwrap_or_default().to_owned(),
        go: writer.say("search-go"),
    }
}

/// Where a list goes on.
pub fn next(writer: &Writer, address: Option<String>) -> Option<Way> {
    address.map(|address| Way { text: writer.say("next-page"), address })
}
