//! What stands below every panel.

use domain::freshness::Freshness;
use url::Url;

use crate::{
    text::Writer,
    views::{
        layout::Here,
        panel::{Call, Foot, FootWords, Way},
        search::Search,
    },
};

/// What stands below a panel: how fresh its figures are, how they are made, and the calls that give the same.
pub fn foot(writer: &Writer, freshness: &Freshness, how: Vec<String>, path: &str, csv: bool, api: &Url) -> Foot {
    let joined = if path.contains('?') { '&' } else { '?' };
    Foot {
        call: Some(call(path, api)),
        csv: csv.then(|| format!("{path}{joined}format=csv")),
        ..uncalled(writer, freshness, how)
    }
}

/// The same where no call of the API gives it.
pub fn uncalled(writer: &Writer, freshness: &Freshness, how: Vec<String>) -> Foot {
    let as_of = match freshness.as_of {
        Some(at) => writer.message("as-of").text("time", writer.moment(at)).say(),
        None => writer.say("never-computed"),
    };
    Foot { as_of, table: None, words: words(writer), how, call: None, command: None, csv: None }
}

/// The same below figures that nobody computed before: they are as they stand now.
pub fn current(writer: &Writer, how: Vec<String>, path: &str, api: &Url) -> Foot {
    Foot {
        as_of: writer.message("as-of").text("time", writer.time(writer.now)).say(),
        table: None,
        words: words(writer),
        how,
        call: Some(call(path, api)),
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
        call: None,
        command: Some(command),
        csv: None,
    }
}

/// What stands below a panel of what the API has no path for: how exact it is, and how something is done.
pub fn notes(writer: &Writer, as_of: String, title: String, how: Vec<String>) -> Foot {
    Foot {
        as_of,
        table: None,
        words: FootWords { calculated: title, ..words(writer) },
        how,
        call: None,
        command: None,
        csv: None,
    }
}

fn words(writer: &Writer) -> FootWords {
    FootWords {
        table: writer.say("table"),
        as_table: writer.say("chart-as-table"),
        calculated: writer.say("calculated"),
        copy: writer.say("copy"),
        copied: writer.say("copied"),
    }
}

/// The command that asks the API for a path.
pub fn curl(path: &str, api: &Url) -> String {
    format!("curl -H \"Authorization: Bearer $KEY\" '{}{path}'", api.as_str().trim_end_matches('/'))
}

fn call(path: &str, api: &Url) -> Call {
    Call { curl: curl(path, api), json: path.to_owned() }
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
