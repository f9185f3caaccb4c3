//! Answers that people write and approve; the bot only chooses among them.
//!
//! Versions never change: a change makes a new draft version, and the approved one serves on until the draft is approved.

use std::net::Ipv4Addr;

use async_trait::async_trait;
use time::OffsetDateTime;
use unicode_normalization::UnicodeNormalization;
use url::Url;

use super::{Category, Channel, Tongue};
use crate::{
    AccountId, ConversationId, StoreError, TemplateId,
    audit::Entry,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    page::{Page, PageRequest},
    text::{self, TextRefused},
};

/// Templates an account may have.
pub const MAX_TEMPLATES: i64 = 200;
/// Characters of a name.
pub const MAX_NAME_CHARS: usize = 100;
/// Variations of a template: platforms take the same sentence over and over for spam.
pub const MAX_VARIATIONS: usize = 5;
/// Characters of a variation.
pub const MAX_VARIATION_CHARS: usize = 1_000;
/// Characters of the name of who approved.
pub const MAX_APPROVER_CHARS: usize = 100;

/// Characters of a commenter's name that are said.
const MAX_SAID_CHARS: usize = 64;

const USERNAME: &str = "{username}";
const LINK: &str = "{link}";

text_enum!(
    /// Where the newest version of a template stands.
    TemplateState { Draft = "draft", Approved = "approved", Retired = "retired" }
);

/// Hosts that answers may lead to, and where `{link}` leads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Links {
    /// In small letters.
    pub own_hosts: Vec<String>,
    pub link: Option<String>,
}

/// Why a text is no variation. The messages complete "`variations` …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VariationRefused {
    #[error("must not hold an empty text")]
    Empty,
    #[error("holds a text that is refused: {0}")]
    Text(TextRefused),
    #[error("must not hold control characters but line feeds")]
    Control,
    #[error("may use the placeholders {{username}} and {{link}} and no other braces")]
    Placeholder,
    #[error("leads to a host that is not one of the account's own_hosts, or not by https")]
    ForeignLink,
    #[error("must not state a price, a percentage or a number in stock: they go stale")]
    Figure,
    #[error("must not mention other accounts: `@` is refused")]
    Mention,
}

/// Why content cannot be. The messages complete "`field` …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidContent {
    #[error("must not be empty")]
    EmptyName,
    #[error("is refused: {0}")]
    Name(TextRefused),
    #[error("must not hold control characters")]
    ControlInName,
    #[error("must hold 1 to {MAX_VARIATIONS} texts")]
    Count,
    #[error(transparent)]
    Variation(#[from] VariationRefused),
}

impl InvalidContent {
    /// Whether a text says what an answer must not, however well it is formed.
    pub const fn is_of_content(&self) -> bool {
        use VariationRefused::{Figure, ForeignLink, Mention, Placeholder};
        matches!(self, Self::Variation(Placeholder | ForeignLink | Figure | Mention))
    }

    /// The field at fault.
    pub const fn field(&self) -> &'static str {
        match self {
            Self::EmptyName | Self::Name(_) | Self::ControlInName => "name",
            Self::Count | Self::Variation(_) => "variations",
        }
    }
}

/// What a template says. Valid by construction: see [`Content::new`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    name: String,
    category: Category,
    language: Tongue,
    variations: Vec<String>,
}

impl Content {
    /// # Errors
    /// [`InvalidContent`].
    pub fn new(
        name: &str,
        category: Category,
        language: Tongue,
        variations: Vec<String>,
        links: &Links,
    ) -> Result<Self, InvalidContent> {
        let name = name.trim().to_owned();
        if name.is_empty() {
            return Err(InvalidContent::EmptyName);
        }
        text::check(&name, MAX_NAME_CHARS).map_err(InvalidContent::Name)?;
        if name.chars().any(char::is_control) {
            return Err(InvalidContent::ControlInName);
        }
        if !(1..=MAX_VARIATIONS).contains(&variations.len()) {
            return Err(InvalidContent::Count);
        }
        variations.iter().try_for_each(|variation| check(variation, links))?;
        Ok(Self { name, category, language, variations })
    }

    /// As it was stored, after a check that may have been by other hosts.
    pub const fn stored(name: String, category: Category, language: Tongue, variations: Vec<String>) -> Self {
        Self { name, category, language, variations }
    }

    pub fn name(&self) -> &str {
        &self.name
    }
    pub const fn category(&self) -> Category {
        self.category
    }
    pub const fn language(&self) -> Tongue {
        self.language
    }
    pub fn variations(&self) -> &[String] {
        &self.variations
    }
}

fn check(variation: &str, links: &Links) -> Result<(), VariationRefused> {
    if variation.trim().is_empty() {
        return Err(VariationRefused::Empty);
    }
    text::check(variation, MAX_VARIATION_CHARS).map_err(VariationRefused::Text)?;
    if variation.chars().any(|c| c.is_control() && c != '\n') {
        return Err(VariationRefused::Control);
    }
    let plain = variation.replace(USERNAME, " ").replace(LINK, " ");
    if plain.contains(['{', '}']) {
        return Err(VariationRefused::Placeholder);
    }
    if plain.split_whitespace().any(|word| leads_away(word, &links.own_hosts)) {
        return Err(VariationRefused::ForeignLink);
    }
    let words: Vec<String> = plain.split_whitespace().map(compatible).filter(|word| !is_address(word)).collect();
    let words = words.join(" ");
    if words.contains('@') {
        return Err(VariationRefused::Mention);
    }
    if states_a_figure(&words) { Err(VariationRefused::Figure) } else { Ok(()) }
}

/// A text as people and platforms read it: compatible characters as one (NFKC, Unicode Standard Annex 15), dots as host names may
/// be written with (UTS 46), without characters that are not shown.
fn compatible(text: &str) -> String {
    let is_shown =
        |c: &char| !matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}');
    text.nfkc().filter(is_shown).map(|c| if c == '。' { '.' } else { c }).collect()
}

/// Whether a word leads anywhere but to the account's own hosts.
fn leads_away(word: &str, own_hosts: &[String]) -> bool {
    let read = compatible(word);
    if is_address(&read) { !is_own(word, own_hosts) } else { is_host(&read) }
}

/// Whether a word is an address, as opposed to a bare host.
fn is_address(word: &str) -> bool {
    let word = word.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '/');
    word.contains("://") || word.starts_with("//") || word.to_lowercase().starts_with("www.")
}

/// Whether an address is https and its host one of the account's, for every reader: the host stands there as it is set, so
/// that no two readers disagree about where it ends. Punctuation around it belongs to the sentence.
pub fn is_own(address: &str, own_hosts: &[String]) -> bool {
    let address = address.trim_start_matches(|c: char| !c.is_alphanumeric());
    let address = address.trim_end_matches(|c: char| ".,;:!?()\"'»”…".contains(c));
    let Some(rest) = address.strip_prefix("https://") else { return false };
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"-.".contains(c)).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    own_hosts.iter().any(|own| own == host)
        && (path.is_empty() || path.starts_with(['/', '?', '#']))
        && !path.contains("://")
        && !path.contains('\\')
        && Url::parse(address).is_ok_and(|url| url.host_str() == Some(host))
}

/// Whether a word holds a host without a scheme, which platforms turn into a link all the same: a name with letters after its
/// last dot, or an address of IPv4.
fn is_host(word: &str) -> bool {
    let parts = word.split(|c: char| !c.is_alphanumeric() && !is_mark(c) && !"-._".contains(c));
    parts.map(|part| part.trim_matches(|c: char| !c.is_alphanumeric())).any(|part| {
        part.eq_ignore_ascii_case("localhost")
            || part.parse::<Ipv4Addr>().is_ok()
            || part.rsplit_once('.').is_some_and(|(name, end)| {
                let is_name = name.ends_with(|c: char| c.is_alphanumeric() || is_mark(c) || c == '-');
                let is_end = end.starts_with("xn--") || end.chars().all(|c| c.is_alphabetic() || is_mark(c));
                is_name && is_end && end.chars().count() >= 2
            })
    })
}

/// Whether a character is written onto the letter before it, as the vowels of Hindi are.
fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

/// Digits of a telephone number, at least.
const PHONE_DIGITS: usize = 8;

/// Whether a text says how to reach somebody elsewhere: by a link, a host name, a mail address, a handle or a telephone
/// number. What is in doubt counts as one.
pub fn has_contact(text: &str) -> bool {
    let read = compatible(text);
    read.contains('@') || read.split_whitespace().any(|word| is_address(word) || is_host(word)) || has_phone(&read)
}

/// Digits in groups with one of `-`, `.`, a space or parentheses between them, one group longer than sizes are.
fn has_phone(text: &str) -> bool {
    let is_part = |c: char| c.is_numeric() || " -.()".contains(c);
    text.split(|c| !is_part(c)).any(|run| {
        let groups = run.split(|c: char| !c.is_numeric()).map(|group| group.chars().count());
        let (digits, longest) = groups.fold((0, 0), |(sum, longest), length| (sum + length, longest.max(length)));
        digits >= PHONE_DIGITS && longest >= 4
    })
}

/// The variations that may be used on a channel.
pub fn usable_on(channel: Channel, variations: &[String]) -> Vec<&str> {
    let leads_away = |variation: &str| variation.contains(LINK) || has_contact(variation);
    let fits = |variation: &&str| {
        (channel.takes_contacts() || !leads_away(variation))
            && (channel.tells_names() || !variation.contains(USERNAME))
            && variation.chars().count() <= channel.max_reply_chars()
    };
    variations.iter().map(String::as_str).filter(fits).collect()
}

const CURRENCIES: [&str; 24] = [
    "usd", "ars", "brl", "mxn", "clp", "cop", "eur", "gbp", "uyu", "pen", "peso", "pesos", "reais", "real", "dolar",
    "dolares", "dollar", "dollars", "euro", "euros", "bucks", "soles", "libras", "pounds",
];
const COUNTED: [&str; 20] = [
    "unidades",
    "unidad",
    "unidade",
    "units",
    "unit",
    "left",
    "pieces",
    "piezas",
    "pecas",
    "disponibles",
    "disponiveis",
    "available",
    "stock",
    "estoque",
    "cuotas",
    "parcelas",
    "off",
    "quedan",
    "restam",
    "only",
];

fn states_a_figure(text: &str) -> bool {
    // `$`, the currency signs of Latin-1 and those of their own block.
    if text.contains(|c| matches!(c, '$' | '%' | '‰' | '¢'..='¥' | '\u{20a0}'..='\u{20cf}')) {
        return true;
    }
    let words = super::classify::words(text);
    words.iter().enumerate().any(|(at, word)| {
        let is_number = word.starts_with(char::is_numeric);
        let around = [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(|at| words.get(at));
        let unit = word.trim_start_matches(char::is_numeric);
        is_number
            && around
                .map(String::as_str)
                .chain([unit])
                .any(|near| CURRENCIES.contains(&near) || COUNTED.contains(&near))
    })
}

/// What a template can say on a channel: its variations that may be used there and have what they need, as the answers they are.
pub fn rendered(channel: Channel, variations: &[String], username: &str, links: &Links) -> Vec<String> {
    // Where everybody may have any name it may be a host, which the network turns into a link.
    let is_free = !channel.has_unique_handles();
    let leads_away = is_free && username.split_whitespace().any(|word| is_host(&compatible(word)));
    let username = if leads_away { "" } else { username };
    usable_on(channel, variations).into_iter().filter_map(|variation| render(variation, username, links)).collect()
}

/// The text of an answer. `None` where it needs a link and the account has none, or a name and there is none.
pub fn render(variation: &str, username: &str, links: &Links) -> Option<String> {
    let name = addressed(username);
    if name.is_empty() && variation.contains(USERNAME) {
        return None;
    }
    if !variation.contains(LINK) {
        return Some(variation.replace(USERNAME, &name));
    }
    let link = links.link.as_deref().filter(|link| is_own(link, &links.own_hosts))?;
    Some(variation.replace(LINK, link).replace(USERNAME, &name))
}

/// A name as it is said. It is data: it must not become a mention of somebody else, a second placeholder, or a link. Empty where
/// nothing is left of it.
fn addressed(username: &str) -> String {
    let is_kept = |c: &char| c.is_alphanumeric() || is_mark(*c) || "._-'’".contains(*c);
    let words = username.split_whitespace().map(|word| word.chars().filter(is_kept).collect::<String>());
    let words: Vec<String> = words.filter(|word| word.contains(char::is_alphanumeric)).collect();
    if words.iter().any(|word| is_address(&compatible(word))) {
        return String::new();
    }
    let name: String = words.join(" ").chars().take(MAX_SAID_CHARS).collect();
    name.trim_end().to_owned()
}

/// A template with its newest version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub id: TemplateId,
    pub content: Content,
    /// Of the newest version.
    pub state: TemplateState,
    pub version: i64,
    /// The version that is in use.
    pub approved_version: Option<i64>,
    pub approved_by: Option<String>,
    pub approved_at: Option<OffsetDateTime>,
    /// Answers that were sent with it.
    pub used_count: i64,
    pub created_at: OffsetDateTime,
    pub updated_at: OffsetDateTime,
}

/// A version of a template: it never changes, but for being approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    pub version: i64,
    pub category: Category,
    pub language: Tongue,
    pub variations: Vec<String>,
    pub approved_by: Option<String>,
    pub approved_at: Option<OffsetDateTime>,
    pub created_at: OffsetDateTime,
}

/// The version of a template that is in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approved {
    pub id: TemplateId,
    pub version: i64,
    pub category: Category,
    pub language: Tongue,
    pub variations: Vec<String>,
}

/// What to change; what is left out stays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TemplateChange {
    pub name: Option<String>,
    pub category: Option<Category>,
    pub language: Option<Tongue>,
    pub variations: Option<Vec<String>>,
    pub step: Option<Step>,
}

/// Where a person takes a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Approve {
        by: String,
        /// The version that the person read: no other is approved. `None` for the newest, whichever it is.
        seen: Option<i64>,
    },
    Retire,
}

/// What a change comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    pub content: Content,
    /// Whether a new version is made.
    pub is_new_version: bool,
    pub state: TemplateState,
    /// Who approved, if the newest version is approved by this change.
    pub approved_by: Option<String>,
}

impl TemplateChange {
    /// # Errors
    /// [`ChangeError::Invalid`], or [`ChangeError::Transition`] for a template that was retired, and for a version that is not
    /// the one that was read.
    pub fn apply(self, found: &Template, links: &Links) -> Result<Changed, ChangeError> {
        let Self { name, category, language, variations, step } = self;
        if found.state == TemplateState::Retired && step != Some(Step::Retire) {
            return Err(ChangeError::Transition);
        }
        let old = &found.content;
        if step == Some(Step::Retire) && (&name, &category, &language, &variations) == (&None, &None, &None, &None) {
            // What is used no more need not lead to the hosts of today.
            let content = old.clone();
            return Ok(Changed { content, is_new_version: false, state: TemplateState::Retired, approved_by: None });
        }
        let content = Content::new(
            &name.unwrap_or_else(|| old.name.clone()),
            category.unwrap_or(old.category),
            language.unwrap_or(old.language),
            variations.unwrap_or_else(|| old.variations.clone()),
            links,
        )
        .map_err(ChangeError::Invalid)?;
        // The name is for people and no part of what was approved.
        let says = |content: &Content| (content.category, content.language, content.variations.clone());
        let is_new_version = says(&content) != says(old);
        if matches!(step, Some(Step::Approve { seen: Some(seen), .. }) if seen != found.version) {
            return Err(ChangeError::Transition);
        }
        let (state, approved_by) = match step {
            Some(Step::Retire) => (TemplateState::Retired, None),
            Some(Step::Approve { .. }) if !is_new_version && found.state == TemplateState::Approved => {
                (TemplateState::Approved, None)
            }
            Some(Step::Approve { by, .. }) => (TemplateState::Approved, Some(by)),
            None if is_new_version => (TemplateState::Draft, None),
            None => (found.state, None),
        };
        Ok(Changed { content, is_new_version, state, approved_by })
    }
}

/// Why a template was not created.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    #[error("the account has {MAX_TEMPLATES} templates, as many as it may have")]
    LimitReached,
    #[error("the content is not valid")]
    Invalid(#[source] InvalidContent),
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
}

impl From<StoreError> for CreateError {
    fn from(error: StoreError) -> Self {
        Self::Idempotency(error.into())
    }
}

/// Why a template was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error("the account has no such template")]
    NotFound,
    #[error("the content is not valid")]
    Invalid(#[source] InvalidContent),
    #[error("the template is not in a state that allows this")]
    Transition,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Which templates to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TemplateFilter {
    pub category: Option<Category>,
    pub language: Option<Tongue>,
    pub state: Option<TemplateState>,
}

/// A template as it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTemplate {
    pub name: String,
    pub category: Category,
    pub language: Tongue,
    pub variations: Vec<String>,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait TemplateStore: Send + Sync {
    /// Newest first (id descending).
    async fn page(
        &self,
        account: AccountId,
        filter: TemplateFilter,
        page: PageRequest,
    ) -> Result<Page<Template>, StoreError>;
    /// A template with a page of its versions, the newest first.
    async fn find(
        &self,
        account: AccountId,
        id: TemplateId,
        page: PageRequest,
    ) -> Result<Option<(Template, Page<Version>)>, StoreError>;
    /// Creates a draft, its links checked against the account's settings. `note` goes into the audit log with it.
    async fn create(
        &self,
        account: AccountId,
        new: NewTemplate,
        note: Option<Entry>,
        idempotency: Option<IdempotencyKey>,
        now: OffsetDateTime,
    ) -> Result<Idempotent<Template>, CreateError>;
    async fn change(
        &self,
        account: AccountId,
        id: TemplateId,
        change: TemplateChange,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Template, ChangeError>;
    /// Removes a draft that no version of was ever approved or used.
    async fn delete(
        &self,
        account: AccountId,
        id: TemplateId,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<(), ChangeError>;
}

/// Which of the variations a conversation gets: they take turns.
pub fn turn(conversation: ConversationId, variations: usize) -> usize {
    usize::try_from(conversation.0).unwrap_or_default().checked_rem(variations).unwrap_or_default()
}

#[cfg(test)]
mod tests;
