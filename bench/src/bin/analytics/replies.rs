//! Protocol A1: what the bot would answer by itself, held against labelled comments.
//!
//! Every comment is sorted by the rules and decided about in mode `auto`, with an approved template for each category and
//! language: by the rules alone, with a model that always agrees with them where they are in doubt, which is the worst that
//! one can do, and with one that is always right. An answer is wrong where the comment is of another category. The file's
//! columns are `language`, `category`, `clear` and `text`; the repository has one of 600 comments.

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

    fn figures(&self, voter: Voter, language: &str) -> Value {
        json!({
            "protocol": "A1", "voter": voter.name(), "language": language,
            "comments": self.comments, "answered": self.answered,
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
    for voter in [Voter::None, Voter::Agrees, Voter::IsRight] {
        let (mut all, mut by_language) = (Score::default(), BTreeMap::<Tongue, Score>::new());
        for (tongue, label, is_clear, text) in &comments {
            let found = answered_as(text, *tongue, (voter, *label));
            all.add(*label, *is_clear, found);
            by_language.entry(*tongue).or_default().add(*label, *is_clear, found);
        }
        for (tongue, score) in &by_language {
            print(&score.figures(voter, tongue.as_str()))?;
        }
        print(&all.figures(voter, "all"))?;
    }
    Ok(())
}

/// The model that has the second vote.
#[derive(Clone, Copy)]
enum Voter {
    None,
    /// It chooses the template of the rules' category.
    Agrees,
    /// It chooses the template of the label.
    IsRight,
}

impl Voter {
    const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Agrees => "agrees",
            Self::IsRight => "is_right",
        }
    }
}

/// The number of the template of a language and a category.
fn template(language: Tongue, category: Category) -> TemplateId {
    let place = Tongue::ALL.iter().flat_map(|tongue| Category::ALL.iter().map(move |one| (*tongue, *one)));
    let place = place.take_while(|one| *one != (language, category)).count();
    TemplateId(i64::try_from(place).unwrap_or_default())
}

/// As what the bot answers a comment with this label, if it does. The account speaks the language of the comments.
fn answered_as(text: &str, account: Tongue, (voter, label): (Voter, Category)) -> Option<Category> {
    let (classified, zone, now) = (classify(text), Zone::utc(), OffsetDateTime::UNIX_EPOCH);
    let settings = Settings { mode: Mode::Auto, ..Settings::default() };
    let templates: Vec<Approved> = Tongue::ALL
        .iter()
        .flat_map(|language| Category::ALL.iter().map(move |category| (*language, *category)))
        .map(|(language, category)| Approved {
            id: template(language, category),
            version: 1,
            category,
            language,
            variations: vec!["…".to_owned()],
        })
        .collect();
    let language = classified.language.unwrap_or(account);
    let vote = match voter {
        Voter::None => Vote::Closed,
        Voter::Agrees => Vote::For(template(language, classified.category)),
        Voter::IsRight => Vote::For(template(language, label)),
    };
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
            was_answered: false,
            has_human: false,
        },
        sent: Sent::default(),
        same_text_from: 1,
        classified: &classified,
        vote,
        templates: &templates,
        language: account,
        random: 0,
    };
    matches!(decide(&situation), Decision::Send { .. }).then_some(classified.category)
}
