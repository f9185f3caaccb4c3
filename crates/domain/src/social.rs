//! Conversations with those who comment on the shop's posts or ask about what it lists, and the bot that may answer some of
//! them.
//!
//! The bot writes nothing: it chooses among templates that a person approved, or stays silent. What it may do is decided by
//! one pure function, [`decide`]. A language model may have a [vote](votes) where word lists are in doubt.

pub mod channels;
mod classify;
pub mod conversations;
mod decide;
mod gate;
mod lexicon;
pub mod profiles;
pub mod replies;
pub mod settings;
pub mod templates;
pub mod votes;

pub use classify::{Classified, classify, fingerprint_of};
pub use decide::{
    AGE_LIMIT, Choice, Decision, RAID_COMMENTERS, RAID_WINDOW, Sent, Situation, Thread, decide, delay, goes_by_vote,
    names_opt_out,
};
pub use gate::{GATE_JUDGED, GATE_WRONG, Gate, wilson_interval};

use crate::accounts::Platform;

text_enum!(
    /// Where a conversation takes place.
    Channel { Instagram = "instagram", Facebook = "facebook", Mercadolibre = "mercadolibre" }
);

impl Channel {
    /// Characters that an answer may have there. Unverified: 2,200 for Instagram and Facebook, as people report; Mercado
    /// Libre documents 2,000.
    pub const fn max_reply_chars(self) -> usize {
        match self {
            Self::Instagram | Self::Facebook => 2_200,
            Self::Mercadolibre => 2_000,
        }
    }

    /// The channel that comes with a connected shop: what people ask there.
    pub const fn of_shop(platform: Platform) -> Option<Self> {
        match platform {
            Platform::Mercadolibre => Some(Self::Mercadolibre),
            _ => None,
        }
    }

    /// Whether an answer may say how to reach the shop elsewhere. Mercado Libre forbids it: it bans the answer, and the
    /// seller in the end.
    pub const fn takes_contacts(self) -> bool {
        !matches!(self, Self::Mercadolibre)
    }

    /// Whether it says how who writes is called. Mercado Libre tells a number only.
    pub const fn tells_names(self) -> bool {
        !matches!(self, Self::Mercadolibre)
    }

    /// Whether no two profiles have the same handle. On Facebook it is a name.
    pub const fn has_unique_handles(self) -> bool {
        !matches!(self, Self::Facebook)
    }

    /// Whether a comment has one answer at most, whoever writes it.
    pub const fn takes_one_answer(self) -> bool {
        matches!(self, Self::Mercadolibre)
    }
}

text_enum!(
    /// What a comment is about.
    Category {
        PriceQuestion = "price_question",
        ShippingQuestion = "shipping_question",
        StockQuestion = "stock_question",
        Complaint = "complaint",
        Praise = "praise",
        Spam = "spam",
        Other = "other",
    }
);

impl Category {
    /// Whether it asks for something that a template can answer. The bot answers nothing else by itself: praise is also the
    /// form of sarcasm. People may use a template for any of them.
    pub const fn is_question(self) -> bool {
        matches!(self, Self::PriceQuestion | Self::ShippingQuestion | Self::StockQuestion)
    }

    /// Whether who wrote it waits for an answer: after neither spam nor praise.
    pub const fn asks_for_an_answer(self) -> bool {
        !matches!(self, Self::Spam | Self::Praise)
    }
}

text_enum!(
    /// The language of a comment and of a template.
    Tongue { Spanish = "es", Portuguese = "pt", English = "en" }
);

impl From<crate::language::Language> for Tongue {
    fn from(language: crate::language::Language) -> Self {
        match language {
            crate::language::Language::English => Self::English,
            crate::language::Language::Spanish => Self::Spanish,
            crate::language::Language::BrazilianPortuguese => Self::Portuguese,
        }
    }
}

text_enum!(
    /// Where a conversation stands.
    Status { Open = "open", Snoozed = "snoozed", Closed = "closed" }
);
text_enum!(
    /// Who answers it.
    Handling { Bot = "bot", Human = "human" }
);
text_enum!(
    /// Which way a message went.
    Direction { In = "in", Out = "out" }
);
text_enum!(
    /// Who wrote a message.
    Author { Customer = "customer", Bot = "bot", Human = "human" }
);
text_enum!(
    /// Where the answer to a comment stands.
    ReplyState {
        /// To be sent at its time.
        Reserved = "reserved",
        /// Being sent.
        Sending = "sending",
        /// The provider has it.
        Sent = "sent",
        /// The provider may have it: it is looked for there.
        Unknown = "unknown",
        /// Waits for a person, or for its time.
        Held = "held",
        /// The provider refused it.
        Failed = "failed",
        /// A person decided against it.
        Skipped = "skipped",
        /// What would have been sent.
        DryRun = "dry_run",
    }
);
text_enum!(
    /// Why an answer is held.
    Reason {
        NeedsApproval = "needs_approval",
        LowConfidence = "low_confidence",
        VotersDisagree = "voters_disagree",
        Complaint = "complaint",
        Spam = "spam",
        NoTemplate = "no_template",
        QuietHours = "quiet_hours",
        CapReached = "cap_reached",
        HumanActive = "human_active",
        OptedOut = "opted_out",
        TooOld = "too_old",
        Hidden = "hidden",
        Deleted = "deleted",
        Raid = "raid",
        Blocked = "blocked",
        TokenDead = "token_dead",
        /// The model was to be asked, and there were not enough credits.
        NoCredits = "no_credits",
        /// The model was asked, and gave no answer that counts.
        UnusableAnswer = "unusable_answer",
    }
);
text_enum!(
    /// What the bot does with what it decided.
    Mode {
        /// Nothing is decided.
        Off = "off",
        /// Decisions are kept for people to judge; nothing is sent.
        DryRun = "dry_run",
        /// A person approves each answer.
        Approve = "approve",
        /// Answers are sent.
        Auto = "auto",
    }
);
