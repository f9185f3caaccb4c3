//! What the layers of the dashboard may name: a view knows finished texts only, and markup that is not escaped is in one
//! file that no shop's data reaches.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{assert_none, top};

struct Rule {
    /// Files and folders below `crates/dashboard/src`; all of it where there are none.
    within: &'static [&'static str],
    /// The only file that it does not hold for.
    but: Option<&'static str>,
    /// What no line of code may name.
    never: &'static [&'static str],
    instead: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        within: &["views", "views.rs", "parts", "parts.rs"],
        but: None,
        never: &["domain", "app"],
        instead: "a view gets texts, addresses and enums of its own: let its page turn what the ports give into them",
    },
    Rule {
        within: &[],
        but: Some("parts/icons.rs"),
        never: &["PreEscaped"],
        instead: "names of products and customers are not to be trusted: let maud escape them",
    },
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Whether a line of code has the word, and not in a comment.
fn names(line: &str, word: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let code = line.split("//").next().unwrap_or_default();
    code.match_indices(word).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + word.len()..]);
        // A lower-case word stands for a crate: only a path or an import names that.
        let is_path = after.starts_with("::") || before.trim_end().ends_with("use");
        !before.ends_with(is_part) && !after.starts_with(is_part) && (is_path || word.starts_with(char::is_uppercase))
    })
}

/// A sentence for each line of a file, named from the crate's sources, that breaks a rule.
fn faults(file: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for Rule { within, but, never, instead } in RULES {
        let holds = within.is_empty() || within.iter().any(|place| Path::new(file).starts_with(place));
        if !holds || *but == Some(file) {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            for word in never.iter().filter(|word| names(line, word)) {
                faults.push(format!("crates/dashboard/src/{file}:{} names `{word}`: {instead}", number + 1));
            }
        }
    }
    faults
}

#[test]
fn a_layer_of_the_dashboard_names_what_it_may() {
    let folder = top().join("crates/dashboard/src");
    let mut files = Vec::new();
    sources(&folder, &mut files);
    assert!(files.len() > 20, "{files:?}");
    let of = |path: &PathBuf| {
        let file = path.strip_prefix(&folder).unwrap().to_str().unwrap();
        faults(file, &fs::read_to_string(path).unwrap())
    };
    assert_none(&files.iter().flat_map(of).collect::<Vec<_>>());
}

#[test]
fn a_line_that_names_too_much_is_a_fault() {
    let count = |file: &str, text: &str| faults(file, text).len();
    for line in ["use domain::money::Currency;", "let zone = ::domain::zone::Zone::utc();", "use app;", "app::run()"] {
        assert_eq!(count("views/overview.rs", line), 1, "{line}");
        assert_eq!(count("pages/overview.rs", line), 0, "{line}");
    }
    for line in ["// domain::money is for pages", "let domain = 1;", "self.subdomain::<T>()", "map::wrap::run()"] {
        assert_eq!(count("views/overview.rs", line), 0, "{line}");
    }
    assert_eq!(count("views/overview.rs", "use maud::{Markup, PreEscaped};"), 1);
    assert_eq!(count("pages/overview.rs", "let raw = maud::PreEscaped(name);"), 1);
    assert_eq!(count("parts/icons.rs", "use maud::{Markup, PreEscaped};"), 0);
}
