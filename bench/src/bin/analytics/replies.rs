//! Protocol A1: what the bot would answer by itself, held against labelled comments.
//!
//! Every comment is sorted by the rules and decided about in mode `auto`, with an approved template for each category and
//! language. An answer is wrong where the comment is of another category. The file's columns are `language`, `category`,
//! `clear` and `text`; the repository has one of 600 comments.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use domain::{
    ConversationId, TemplateId,
    social::{
        Category, Channel, Decision, Handling, Mode, Sent, Situation, Thread, Tongue, classify, decide,
        settings::Settings, templates::Approved, votes::Vote, wilson_interval,
    },
    zone::Zone,
};
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};

use crate::{
    daily::{print, round},
    table::Table,
};

/// The set in the repository.
const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/domain/tests/data/replies/comments.csv");

/// What became of the comments of a language.
#[derive(Default)]
struct Score {
    comments: i64,
    answered: i64,
    wrong: i64,
    complaints: i64,
    complaints_answered: i64,
    clear: i64,
    clear_answered: i64,
}

impl Score {
    fn add(&mut self, category: Category, is_clear: bool, answered_as: Option<Category>) {
        let count = |holds: bool| i64::from(holds);
        let is_answered = answered_as.is_some();
        self.comments += 1;
        self.answered += count(is_answered);
        self.wrong += count(answered_as.is_some_and(|found| found != category));
        self.complaints += count(category == Category::Complaint);
        self.complaints_answered += count(category == Category::Complaint && is_answered);
        self.clear += count(is_clear);
        self.clear_answered += count(is_clear && answered_as == Some(category));
    }

    fn figures(&self, language: &str) -> Value {
        json!({
            "protocol": "A1", "language": language, "comments": self.comments, "answered": self.answered,
            "wrong_of_all": share(self.wrong, self.comments), "wrong_of_answered": share(self.wrong, self.answered),
            "complaints_answered": share(self.complaints_answered, self.complaints),
            "clear_questions_answered": share(self.clear_answered, self.clear),
        })
    }
}

/// A share with its 95 % interval (Wilson).
fn share(hits: i64, of: i64) -> Value {
    let (low, high) = wilson_interval(hits, of);
    let number = |count: i64| u32::try_from(count).map_or(f64::NAN, f64::from);
    let share = (of > 0).then(|| round(number(hits) / number(of)));
    json!({ "count": hits, "of": of, "share": share, "low": round(low), "high": round(high) })
}

/// Measures by a file, or by the repository's own where `data` is none.
///
/// # Errors
/// When the file cannot be read.
pub fn run(data: &Path) -> anyhow::Result<()> {
    let path = if data.is_file() { data.to_owned() } else { PathBuf::from(OWN) };
    let table = Table::open(&path)?;
    let [language, category, clear, text] =
        [table.column("language")?, table.column("category")?, table.column("clear")?, table.column("text")?];
    let mut comments: Vec<(Tongue, Category, bool, String)> = Vec::new();
    table.each(|row| {
        let cell = |at: usize| row.get(at).unwrap_or_default();
        comments.push((cell(language).parse()?, cell(category).parse()?, cell(clear) == "yes", cell(text).to_owned()));
        Ok(())
    })?;
    let (mut all, mut by_language) = (Score::default(), BTreeMap::<Tongue, Score>::new());
    for (tongue, label, is_clear, text) in &comments {
        let found = answered_as(text, *tongue);
        all.add(*label, *is_clear, found);
        by_language.entry(*tongue).or_default().add(*label, *is_clear, found);
    }
    for (tongue, score) in &by_language {
        print(&score.figures(tongue.as_str()))?;
    }
    print(&all.figures("all"))
}

/// As what the bot answers a comment, if it does. The account speaks the language of the comments.
fn answered_as(text: &str, account: Tongue) -> Option<Category> {
    let (classified, zone, now) = (classify(text), Zone::utc(), OffsetDateTime::UNIX_EPOCH);
    let settings = Settings { mode: Mode::Auto, ..Settings::default() };
    let mut templates = Vec::new();
    for &language in Tongue::ALL {
        for &category in Category::ALL {
            let variations = vec!["…".to_owned()];
            templates.push(Approved { id: TemplateId(1), version: 1, category, language, variations });
        }
    }
    let situation = Situation {
        now,
        channel: Channel::Instagram,
        zone: &zone,
        settings: &settings,
        is_enabled: true,
        is_blocked: false,
        is_token_dead: false,
        commented_at: now - Duration::MINUTE,
        is_hidden: false,
        is_deleted: false,
        text,
        username: "",
        thread: Thread {
            conversation: ConversationId(1),
            handling: Handling::Bot,
            opted_out: false,
            is_open: true,
            was_answered: false,
            has_human: false,
        },
        sent: Sent::default(),
        same_text_from: 1,
        classified: &classified,
        vote: Vote::Closed,
        templates: &templates,
        language: account,
        random: 0,
    };
    matches!(decide(&situation), Decision::Send { .. }).then_some(classified.category)
}
