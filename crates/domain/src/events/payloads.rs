//! What every event says. The fields are the contract with receivers: they may be added to, never renamed or removed.

use rust_decimal::dec;
use serde::Serialize;
use serde_json::{Map, Value, json};
use time::macros::{date, datetime};

use super::{
    EventKind,
    value::{Amount, Day, Described, Instant, Measured, texts, with},
};
use crate::{
    alerts::Comparator,
    anomalies::Direction,
    credits::RechargeSource,
    insights::Severity,
    integrations::ErrorCode,
    inventory::Status as StockStatus,
    social::{Channel, Tongue},
};

/// Declares the payloads: a type with its fields, a schema made of the fields' types and comments, and a sample.
macro_rules! payloads {
    ($($(#[doc = $doc:literal])+ $event:ident {
        $($(#[doc = $about:literal])+ $field:ident: $type:ty = $sample:expr,)+
    })+) => {
        $(
            $(#[doc = $doc])+
            #[derive(Debug, Clone, PartialEq, Serialize)]
            pub struct $event { $($(#[doc = $about])+ pub $field: $type,)+ }

            impl $event {
                fn schema() -> Value {
                    let mut properties = Map::new();
                    $(
                        let field = with(<$type as Described>::schema(), "description", concat!($($about),+).trim());
                        properties.insert(stringify!($field).to_owned(), field);
                    )+
                    // In an order of its own: that of a map depends on how serde_json was built.
                    let mut required = [$(stringify!($field)),+];
                    required.sort_unstable();
                    json!({
                        "type": "object",
                        "description": concat!($($doc),+).trim(),
                        "required": required,
                        "properties": properties,
                    })
                }
            }

            impl From<$event> for Event {
                fn from(payload: $event) -> Self {
                    Self::$event(payload)
                }
            }
        )+

        /// Something that happened, with what receivers are told about it. Serialises as the payload alone.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Event { $($(#[doc = $doc])+ $event($event),)+ }

        impl Event {
            /// What happened.
            pub const fn kind(&self) -> EventKind {
                match self { $(Self::$event(_) => EventKind::$event,)+ }
            }

            /// A made-up event of this kind, for trying receivers out.
            pub fn sample(kind: EventKind) -> Self {
                match kind { $(EventKind::$event => Self::$event($event { $($field: $sample,)+ }),)+ }
            }
        }

        impl EventKind {
            /// The JSON Schema (2020-12) of the payload.
            pub fn data_schema(self) -> Value {
                match self { $(Self::$event => $event::schema(),)+ }
            }
        }
    };
}

macro_rules! described_texts {
    ($($type:ty),+) => {
        $(impl Described for $type {
            fn schema() -> Value {
                texts(Self::NAMES)
            }
        })+
    };
}

text_enum!(
    /// How near the month's cost is to its limit.
    CostLevel { Warning = "warning", Critical = "critical" }
);
text_enum!(
    /// What happened to AI access, as far as the pause goes.
    PauseAction { Pause = "pause" }
);
text_enum!(
    /// What happened to AI access, as far as the end of the pause goes.
    ResumeAction { Resume = "resume" }
);
text_enum!(
    /// Who acted.
    ActorKind { System = "system", Admin = "admin" }
);
text_enum!(
    /// How an anomaly was found.
    AnomalySource { Univariate = "univariate" }
);

described_texts!(
    CostLevel,
    PauseAction,
    ResumeAction,
    ActorKind,
    AnomalySource,
    RechargeSource,
    Severity,
    Direction,
    StockStatus,
    Channel,
    Tongue,
    Comparator,
    ErrorCode
);

payloads! {
    /// A payment in the payment gateway was credited, for a subscription or a top-up.
    PurchaseCreated {
        /// The gateway's invoice; null where it has none.
        invoice_id: Option<String> = Some("inv_20260501_0042".to_owned()),
        /// What was paid, in units of the currency.
        amount: Amount = Amount(dec!(49.90)),
        /// ISO 4217.
        currency: String = "USD".to_owned(),
        /// Who paid; null where the gateway does not say.
        customer_email: Option<String> = Some("owner@example.com".to_owned()),
    }
    /// A debit for an AI feature left the balance below the threshold.
    CreditsLow {
        /// Credits left.
        balance: i64 = 84,
        /// The threshold.
        threshold: i64 = 100,
        /// The feature that was charged.
        last_feature: String = "insight_generation".to_owned(),
        /// Whether this debit took the balance below the threshold; false when it was below before.
        crossed: bool = true,
    }
    /// A debit left the balance at zero.
    CreditsDepleted {
        /// Credits left.
        balance: i64 = 0,
        /// The feature that was charged.
        last_feature: String = "insight_generation".to_owned(),
        /// Credits that the last debit took.
        last_amount: i64 = 12,
    }
    /// A top-up succeeded, by hand or automatically.
    CreditsRecharged {
        /// Credits added.
        credits_added: i64 = 1_000,
        /// Credits after the top-up.
        new_balance: i64 = 1_084,
        /// The billing provider's payment.
        rebill_payment: String = "pay_20260501_0042".to_owned(),
        /// What caused the top-up.
        source: RechargeSource = RechargeSource::Auto,
    }
    /// The evaluator saw the threshold of an alert rule crossed.
    AlertFired {
        /// The rule.
        rule_id: i64 = 7,
        /// The rule's name.
        rule_name: String = "More than 50 orders a day".to_owned(),
        /// How serious the rule says it is.
        severity: Severity = Severity::High,
        /// The metric that is watched.
        metric: String = "orders".to_owned(),
        /// What was seen.
        observed: Amount = Amount(dec!(63)),
        /// What the rule names.
        threshold: Amount = Amount(dec!(50)),
        /// How the observed value compares to the threshold.
        comparator: Comparator = Comparator::Gt,
        /// The hours that were looked at.
        window_hours: i64 = 24,
    }
    /// A metric deviated significantly from what was expected; severity is at least medium.
    AnomalyDetected {
        /// The metric.
        metric: String = "gross_revenue".to_owned(),
        /// What was seen.
        observed: Measured = Measured(1_250.5),
        /// What was expected.
        expected: Measured = Measured(4_180.25),
        /// The deviation in robust standard deviations.
        z_score: Measured = Measured(-5.4),
        /// Which way the metric went.
        direction: Direction = Direction::Down,
        /// How serious it is.
        severity: Severity = Severity::High,
        /// How it was found.
        source: AnomalySource = AnomalySource::Univariate,
        /// The story that it is a part of; null where there is none.
        story_id: Option<i64> = Some(12),
    }
    /// The month's cost of AI providers crossed a threshold.
    UsageThresholdCrossed {
        /// The month, YYYY-MM.
        month: String = "2026-05".to_owned(),
        /// The threshold that was crossed.
        severity: CostLevel = CostLevel::Warning,
        /// The month's cost so far, in US dollars.
        cost_usd: Amount = Amount(dec!(20.37)),
        /// The month's tokens so far.
        tokens: i64 = 1_842_003,
        /// The month's requests so far.
        requests: i64 = 912,
        /// The threshold, in US dollars.
        threshold_usd: Amount = Amount(dec!(20)),
        /// When it was seen.
        ts: Instant = Instant(datetime!(2026-05-01 12:00 UTC)),
    }
    /// AI access was paused by an administrator or by the quota guard.
    AiPaused {
        /// Always `pause`.
        action: PauseAction = PauseAction::Pause,
        /// Why.
        reason: String = "monthly cost reached the critical threshold".to_owned(),
        /// Who paused it.
        by: String = "quota_guard".to_owned(),
        /// What kind of actor that is.
        by_kind: ActorKind = ActorKind::System,
        /// The month's cost so far, in US dollars; null when cost was not the reason.
        cost_usd: Option<Amount> = Some(Amount(dec!(50.12))),
        /// The threshold, in US dollars; null when cost was not the reason.
        threshold_usd: Option<Amount> = Some(Amount(dec!(50))),
        /// When.
        ts: Instant = Instant(datetime!(2026-05-01 12:00 UTC)),
    }
    /// An administrator resumed AI access.
    AiResumed {
        /// Always `resume`.
        action: ResumeAction = ResumeAction::Resume,
        /// Always null.
        reason: () = (),
        /// Who resumed it.
        by: String = "admin".to_owned(),
        /// What kind of actor that is.
        by_kind: ActorKind = ActorKind::Admin,
        /// When.
        ts: Instant = Instant(datetime!(2026-05-02 8:30 UTC)),
    }
    /// A shop, an ad account or a profile was connected.
    IntegrationConnected {
        /// The platform; of a profile the channel.
        provider: String = "shopify".to_owned(),
        /// The shop's host name, the name of the ad account, or the profile's handle.
        shop: String = "example.myshopify.com".to_owned(),
    }
    /// A shop's permission ended: uninstalled there, or revoked here.
    IntegrationRevoked {
        /// The platform.
        provider: String = "tiendanube".to_owned(),
        /// The integration.
        store_id: i64 = 31,
        /// Why.
        reason: String = "uninstalled".to_owned(),
    }
    /// A subscription was activated or reactivated after an approved payment.
    SubscriptionActivated {
        /// The payment gateway.
        provider: String = "rebill".to_owned(),
        /// The plan.
        plan_key: String = "pro".to_owned(),
        /// How often it is paid.
        interval: String = "month".to_owned(),
    }
    /// An incoming social comment was answered with an approved template.
    SocialAutoReplySent {
        /// The comment.
        comment_id: String = "17890001112223334".to_owned(),
        /// The answer.
        reply_id: String = "17890001112229999".to_owned(),
        /// The text of the answer.
        message: String = "Thank you! We have sent you the details.".to_owned(),
        /// Who commented.
        username: String = "example_user".to_owned(),
        /// What the comment was taken for.
        category: String = "price_question".to_owned(),
        /// The template.
        template_id: i64 = 5,
        /// Whether the commenter is a VIP customer.
        is_vip: bool = false,
        /// When.
        replied_at: Instant = Instant(datetime!(2026-05-01 12:00 UTC)),
        /// Where.
        channel: Channel = Channel::Instagram,
        /// The conversation.
        conversation_id: i64 = 5,
        /// The approved version of the template.
        template_version: i64 = 2,
        /// The comment's language; null where it could not be told.
        language: Option<Tongue> = Some(Tongue::English),
        /// Whether the answer was found at the network after its confirmation was lost.
        recovered: bool = false,
    }
    /// Credits were debited.
    CreditConsumed {
        /// The entry in the list of transactions.
        transaction_id: i64 = 9_001,
        /// The feature that was charged.
        feature: String = "insight_generation".to_owned(),
        /// Credits taken.
        amount: i64 = 12,
        /// Credits after the debit.
        balance: i64 = 96,
    }
    /// A debit was taken back.
    CreditRefunded {
        /// The entry in the list of transactions.
        transaction_id: i64 = 9_002,
        /// The feature that had been charged.
        feature: String = "insight_generation".to_owned(),
        /// Credits given back.
        amount: i64 = 12,
        /// Credits after the refund.
        balance: i64 = 108,
        /// Why.
        reason: String = "the job failed".to_owned(),
    }
    /// What was connected is no longer, for whatever reason: `integration.revoked`, of profiles too, in the terms of
    /// `integration.connected`.
    IntegrationDisconnected {
        /// The platform; of a profile the channel.
        provider: String = "mercadolibre".to_owned(),
        /// The shop, the ad account or the profile.
        shop: String = "EXAMPLESHOP".to_owned(),
        /// Why, as in `integration.revoked`.
        reason: String = "manual".to_owned(),
        /// When.
        disconnected_at: Instant = Instant(datetime!(2026-05-02 8:30 UTC)),
    }
    /// A shop no longer answers as it should.
    IntegrationBroken {
        /// The platform.
        provider: String = "shopify".to_owned(),
        /// The shop's host name.
        shop: String = "example.myshopify.com".to_owned(),
        /// What goes wrong.
        reason: String = "the access token is no longer accepted".to_owned(),
        /// When data last came in; null before the first time.
        last_sync_at: Option<Instant> = Some(Instant(datetime!(2026-04-30 21:14:05 UTC))),
        /// What kind of trouble it is.
        code: ErrorCode = ErrorCode::TokenRefused,
        /// Since when nothing comes in.
        since: Instant = Instant(datetime!(2026-04-30 21:24:05 UTC)),
    }
    /// An advertisement earned clearly more than the others.
    CreativeWinnerDetected {
        /// The advertising platform.
        platform: String = "meta".to_owned(),
        /// The campaign.
        campaign: String = "Spring sale".to_owned(),
        /// The advertisement.
        creative: String = "Video 3, blue".to_owned(),
        /// What it cost, in units of the currency.
        spend: Amount = Amount(dec!(120.00)),
        /// What it brought by the platform's count, in units of the currency; null where the platform does not tell.
        revenue: Option<Amount> = Some(Amount(dec!(912.40))),
        /// ISO 4217.
        currency: String = "USD".to_owned(),
        /// The days that were looked at.
        window_days: i64 = 7,
        /// The creative in the campaign, as `/creatives` numbers it.
        creative_id: i64 = 12,
        /// What it is better in: `roas` or `purchases_per_mille`.
        metric: String = "roas".to_owned(),
        /// By how much it is above the others, in parts of theirs, shrunk by what is known of such differences.
        lift: Amount = Amount(dec!(0.6419)),
        /// The 95 % interval of the lift.
        lift_low: Amount = Amount(dec!(0.1768)),
        /// Its other end.
        lift_high: Amount = Amount(dec!(1.2908)),
        /// The e-value, divided by how many creatives are compared: at least 10.
        evidence: Amount = Amount(dec!(11.98)),
    }
    /// An item is running out.
    InventoryLowStock {
        /// The item.
        sku: String = "MUG-BLUE-11".to_owned(),
        /// The item's name.
        product_name: String = "Blue mug, 11 oz".to_owned(),
        /// Units in stock.
        current_stock: i64 = 9,
        /// Days until they are sold at the present rate; null when nothing is sold.
        days_of_stock: Option<Amount> = Some(Amount(dec!(6.4))),
        /// How urgent it is.
        status: StockStatus = StockStatus::Critical,
        /// When they will be sold; null when nothing is sold.
        estimated_stockout_at: Option<Day> = Some(Day(date!(2026-05-08))),
    }
}
