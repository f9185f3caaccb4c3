//! What is done about a comment: one pure function of everything that is known.

use time::{Duration, OffsetDateTime};

use super::{
    Category, Channel, Classified, Handling, Mode, Reason, Tongue,
    settings::Settings,
    templates::{Approved, rendered, turn},
    votes::{MAX_VOTE_CHARS, VOTE_WITHIN, Vote, candidates},
};
use crate::{ConversationId, TemplateId, zone::Zone};

/// Comments older than this are not answered by the bot.
pub const AGE_LIMIT: Duration = Duration::hours(24);
/// Within this time the same text from [`RAID_COMMENTERS`] people is taken for a raid.
pub const RAID_WINDOW: Duration = Duration::minutes(10);
/// Commenters that make a raid.
pub const RAID_COMMENTERS: i64 = 5;
/// Texts of fewer words are written by many who know nothing of each other, such as "price?".
const RAID_WORDS: usize = 4;

/// What is known of the thread that a comment stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thread {
    pub conversation: ConversationId,
    pub handling: Handling,
    /// A person closed or snoozed it. Who writes in it opens it.
    pub is_open: bool,
    /// The commenter asked to be left alone, here or elsewhere.
    pub opted_out: bool,
    /// The bot answered in this thread.
    pub was_answered: bool,
    /// Somebody of the shop wrote in this thread.
    pub has_human: bool,
}

/// Answers of the bot that count against the caps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sent {
    /// To this person within 24 hours.
    pub user_day: i64,
    /// Under this post within an hour.
    pub post_hour: i64,
    /// Of the account within an hour.
    pub account_hour: i64,
}

/// Everything that a decision depends on.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    pub now: OffsetDateTime,
    pub channel: Channel,
    pub zone: &'a Zone,
    pub settings: &'a Settings,
    /// Whether the installation lets any bot answer.
    pub is_enabled: bool,
    /// The platform refused answers as abusive, or asks for a pause.
    pub is_blocked: bool,
    pub is_token_dead: bool,
    pub commented_at: OffsetDateTime,
    pub is_hidden: bool,
    pub is_deleted: bool,
    pub text: &'a str,
    pub username: &'a str,
    pub thread: Thread,
    pub sent: Sent,
    /// People who wrote the same within [`RAID_WINDOW`], this one included.
    pub same_text_from: i64,
    pub classified: &'a Classified,
    /// What a model chose where the rules are in doubt.
    pub vote: Vote,
    /// Versions in use.
    pub templates: &'a [Approved],
    /// The language of the account, for comments whose own cannot be told.
    pub language: Tongue,
    /// 0 to 255: how long to wait before an answer, so that it is no reflex.
    pub random: u8,
}

/// An answer that was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub template: TemplateId,
    pub version: i64,
    pub message: String,
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The bot is off: nothing is decided.
    None,
    /// A model is asked which of these templates answers the comment, and then it is decided.
    Ask { candidates: Vec<TemplateId> },
    /// The answer is sent at its time.
    Send { choice: Choice, due_at: OffsetDateTime },
    /// What would have been sent is kept for people to judge.
    DryRun { choice: Choice },
    /// A person decides, with the answer that the bot would give; or the bot again, at `again_at`.
    Hold { reason: Reason, choice: Option<Choice>, again_at: Option<OffsetDateTime> },
}

impl Decision {
    /// The answer that the bot stands for: only the mode, the hour or a cap keeps it from being sent. What the bot itself holds back
    /// is none, though it may name an answer for people to choose.
    pub fn proposal(&self) -> Option<&Choice> {
        match self {
            Self::Send { choice, .. } | Self::DryRun { choice } => Some(choice),
            Self::Hold { reason: Reason::NeedsApproval | Reason::QuietHours | Reason::CapReached, choice, .. } => {
                choice.as_ref()
            }
            Self::None | Self::Ask { .. } | Self::Hold { .. } => None,
        }
    }
}

/// How long an answer waits: 20 to 90 seconds.
pub fn delay(random: u8) -> Duration {
    Duration::seconds(20 + i64::from(random) * 70 / 255)
}

/// Whether a text holds one of the words by which people ask to be left alone.
pub fn names_opt_out(text: &str, opt_out_words: &[String]) -> bool {
    let words = super::classify::words(text);
    opt_out_words.iter().any(|wanted| {
        let wanted = super::classify::words(wanted);
        !wanted.is_empty() && words.windows(wanted.len()).any(|part| part == wanted)
    })
}

/// Decides what is done about a comment. Whatever is in doubt is held.
pub fn decide(situation: &Situation<'_>) -> Decision {
    let mode = situation.settings.mode;
    if mode == Mode::Off {
        return Decision::None;
    }
    let choice = choose(situation);
    match brake(situation) {
        None => {}
        Some(Reason::LowConfidence) => return second_vote(situation, choice),
        Some(reason) => {
            // A comment that is gone needs no answer.
            let choice = choice.filter(|_| !matches!(reason, Reason::Deleted | Reason::Spam));
            return Decision::Hold { reason, choice, again_at: None };
        }
    }
    let Some(choice) = choice else {
        return Decision::Hold { reason: Reason::NoTemplate, choice: None, again_at: None };
    };
    let is_automatic = mode == Mode::Auto
        && situation.is_enabled
        && situation.classified.category.is_question()
        && situation.settings.categories_auto.contains(&situation.classified.category);
    if !is_automatic {
        return proposed(mode, choice);
    }
    if let Some((reason, again_at)) = wait(situation) {
        // By then it may be too old.
        let again_at = again_at.filter(|at| *at - situation.commented_at <= AGE_LIMIT);
        return Decision::Hold { reason, choice: Some(choice), again_at };
    }
    Decision::Send { choice, due_at: situation.now + delay(situation.random) }
}

/// Whether the decision goes by what a model chose, be it that none of the templates fits. It does not where anything
/// else decides: a brake, the settings, or what the rules are sure of.
pub fn goes_by_vote(situation: &Situation<'_>) -> bool {
    let Situation { settings, classified, .. } = situation;
    let is_wanted = settings.mode != Mode::Off && settings.model_vote && classified.is_doubtful();
    is_wanted && matches!(brake(situation), Some(Reason::LowConfidence))
}

/// An answer that is not sent by itself: kept to be judged, or for a person to approve.
fn proposed(mode: Mode, choice: Choice) -> Decision {
    if mode == Mode::DryRun {
        return Decision::DryRun { choice };
    }
    Decision::Hold { reason: Reason::NeedsApproval, choice: Some(choice), again_at: None }
}

/// What comes of a comment that the rules are in doubt about. What a model chose is proposed to people and never sent by
/// itself: a model that agrees with whatever the rules suspect would have the bot answer complaints. `by_rules` is the answer
/// that the rules would choose.
fn second_vote(situation: &Situation<'_>, by_rules: Option<Choice>) -> Decision {
    let classified = situation.classified;
    let held = |reason, choice| Decision::Hold { reason, choice, again_at: None };
    // What the rules are sure of is not put to a vote: that the comment is out of scope, or that the settings ask for more.
    let vote = if goes_by_vote(situation) { situation.vote } else { Vote::Closed };
    match vote {
        Vote::Open => match asked(situation) {
            candidates if candidates.is_empty() => held(Reason::LowConfidence, by_rules),
            candidates => Decision::Ask { candidates },
        },
        Vote::Closed => held(Reason::LowConfidence, by_rules),
        Vote::Unpaid => held(Reason::NoCredits, by_rules),
        Vote::Unusable => held(Reason::UnusableAnswer, by_rules),
        Vote::ForNone if classified.category.is_question() => held(Reason::VotersDisagree, by_rules),
        Vote::ForNone => held(Reason::LowConfidence, by_rules),
        Vote::For(id) => {
            // It may have been retired since the model was asked.
            let Some(template) = fitting(situation).into_iter().find(|template| template.id == id) else {
                return held(Reason::LowConfidence, by_rules);
            };
            let choice = filled(situation, template);
            let is_meant = [Some(classified.category), classified.also].contains(&Some(template.category));
            if classified.category.is_question() && !is_meant {
                return held(Reason::VotersDisagree, choice);
            }
            choice.map_or_else(|| held(Reason::NoTemplate, None), |choice| proposed(situation.settings.mode, choice))
        }
    }
}

/// The templates that a model is asked about; none where it is not to be asked.
fn asked(situation: &Situation<'_>) -> Vec<TemplateId> {
    let is_late = situation.now - situation.commented_at > VOTE_WITHIN;
    if is_late || situation.text.chars().count() > MAX_VOTE_CHARS {
        return Vec::new();
    }
    candidates(&fitting(situation), situation.classified.category)
}

/// What keeps the bot from answering this comment, the most important first.
fn brake(situation: &Situation<'_>) -> Option<Reason> {
    let Situation { thread, classified, settings, .. } = situation;
    let brakes = [
        (situation.is_deleted, Reason::Deleted),
        (situation.is_hidden, Reason::Hidden),
        (thread.opted_out || names_opt_out(situation.text, &settings.opt_out_words), Reason::OptedOut),
        (thread.handling == Handling::Human || !thread.is_open, Reason::HumanActive),
        (thread.has_human || thread.was_answered, Reason::HumanActive),
        (classified.category == Category::Complaint, Reason::Complaint),
        (classified.category == Category::Spam, Reason::Spam),
        (is_raid(situation), Reason::Raid),
        (situation.now - situation.commented_at > AGE_LIMIT, Reason::TooOld),
        (situation.is_token_dead, Reason::TokenDead),
        (situation.is_blocked, Reason::Blocked),
        (classified.also.is_some(), Reason::LowConfidence),
        (classified.category == Category::Other, Reason::LowConfidence),
        (classified.confidence < settings.threshold, Reason::LowConfidence),
    ];
    brakes.into_iter().find_map(|(holds, reason)| holds.then_some(reason))
}

fn is_raid(situation: &Situation<'_>) -> bool {
    situation.same_text_from >= RAID_COMMENTERS && super::classify::words(situation.text).len() >= RAID_WORDS
}

/// What the bot has to wait for, and when to look again.
fn wait(situation: &Situation<'_>) -> Option<(Reason, Option<OffsetDateTime>)> {
    let Situation { now, zone, settings, sent, .. } = situation;
    let caps = settings.caps;
    if !settings.is_open(zone, *now) {
        return Some((Reason::QuietHours, settings.opens_at(zone, *now)));
    }
    if sent.user_day >= caps.per_user_day {
        return Some((Reason::CapReached, None));
    }
    let is_full = sent.post_hour >= caps.per_post_hour || sent.account_hour >= caps.per_account_hour;
    is_full.then_some((Reason::CapReached, Some(*now + Duration::HOUR)))
}

/// The answer that fits channel, category and language. Templates of the same kind take turns, as their variations do.
fn choose(situation: &Situation<'_>) -> Option<Choice> {
    let Situation { classified, thread, .. } = situation;
    let mut templates = fitting(situation);
    templates.retain(|template| template.category == classified.category);
    filled(situation, templates.get(turn(thread.conversation, templates.len()))?)
}

/// The templates in the comment's language that have something to say there.
fn fitting<'a>(situation: &Situation<'a>) -> Vec<&'a Approved> {
    let language = situation.classified.language.unwrap_or(situation.language);
    let fits = |template: &&Approved| template.language == language && !texts(situation, template).is_empty();
    situation.templates.iter().filter(fits).collect()
}

/// A template as an answer to the comment.
fn filled(situation: &Situation<'_>, template: &Approved) -> Option<Choice> {
    let mut texts = texts(situation, template);
    let turn = turn(situation.thread.conversation, texts.len());
    (turn < texts.len()).then(|| Choice {
        template: template.id,
        version: template.version,
        message: texts.swap_remove(turn),
    })
}

fn texts(situation: &Situation<'_>, template: &Approved) -> Vec<String> {
    rendered(situation.channel, &template.variations, situation.username, &situation.settings.links)
}

#[cfg(test)]
mod tests;
