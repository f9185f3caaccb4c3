//! Users and their accounts. A user has a live account and a sandbox; a key opens exactly one of them.

use async_trait::async_trait;
use rust_decimal::Decimal;
use time::OffsetDateTime;

use crate::{
    AccountId, StoreError, UserId,
    audit::Entry,
    imports::{CountryCode, MAX_AMOUNT},
    language::Language,
    money::Currency,
    texts::Locale,
    zone::Zone,
};

text_enum!(
    /// What the user pays for.
    Plan { Free = "free", Starter = "starter", Pro = "pro", Scale = "scale" }
);

text_enum!(
    /// Which of a user's two accounts: production, or development with its own rows and no real provider behind it.
    Mode { Live = "live", Test = "test" }
);

/// The platforms that accounts are connected to.
pub mod platform {
    use crate::error::UnknownValue;

    text_enum!(
        /// What customers and orders come from, or advertising alone.
        Platform {
            Shopify = "shopify",
            Tiendanube = "tiendanube",
            Mercadolibre = "mercadolibre",
            /// An advertising network: no goods are sold there.
            Meta = "meta",
            /// Another one.
            GoogleAds = "google_ads",
        }
    );

    impl Platform {
        /// Those that customers and orders come from.
        pub const SHOPS: [Self; 3] = [Self::Shopify, Self::Tiendanube, Self::Mercadolibre];
        /// Their spellings, in the same order.
        pub const SHOP_NAMES: &'static [&'static str] =
            &[Self::Shopify.as_str(), Self::Tiendanube.as_str(), Self::Mercadolibre.as_str()];

        /// Whether customers and orders come from it; else it tells of advertising alone.
        pub const fn is_shop(self) -> bool {
            match self {
                Self::Shopify | Self::Tiendanube | Self::Mercadolibre => true,
                Self::Meta | Self::GoogleAds => false,
            }
        }

        /// Whether it signs its hooks; else anybody may have sent them. Platforms of advertising send none.
        pub const fn signs_hooks(self) -> bool {
            match self {
                Self::Shopify | Self::Tiendanube | Self::Meta | Self::GoogleAds => true,
                Self::Mercadolibre => false,
            }
        }

        /// The platform of this name that customers and orders come from.
        ///
        /// # Errors
        /// There is none.
        pub fn shop(name: &str) -> Result<Self, UnknownValue> {
            let unknown = UnknownValue { allowed: Self::SHOP_NAMES };
            name.parse::<Self>().ok().filter(|platform| platform.is_shop()).ok_or(unknown)
        }

        /// Whether the platform gives its fees back when goods come back: Mercado Libre cancels the selling fee with the
        /// sale; the others keep theirs, or leave it to the payment provider.
        pub const fn returns_fees(self) -> bool {
            match self {
                Self::Mercadolibre => true,
                Self::Shopify | Self::Tiendanube | Self::Meta | Self::GoogleAds => false,
            }
        }

        /// Whether the platform knows what a product costs the shop.
        pub const fn knows_costs(self) -> bool {
            match self {
                Self::Shopify | Self::Tiendanube => true,
                Self::Mercadolibre | Self::Meta | Self::GoogleAds => false,
            }
        }

        /// The platform whose sales this one keeps copies of.
        pub const fn copies_of(self) -> Option<Self> {
            match self {
                Self::Tiendanube => Some(Self::Mercadolibre),
                Self::Shopify | Self::Mercadolibre | Self::Meta | Self::GoogleAds => None,
            }
        }
    }
}
pub use platform::Platform;

/// Characters of an account's name.
pub const MAX_NAME_CHARS: usize = 200;

/// Credits that a new account starts with.
pub const STARTING_CREDITS: i64 = 500;

/// An account as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub id: AccountId,
    pub user_id: UserId,
    pub mode: Mode,
    pub name: String,
    pub plan: Plan,
    pub currency: Currency,
    pub timezone: Zone,
    /// Whose public holidays the shop keeps; `None` when it keeps no country's.
    pub holiday_country: Option<CountryCode>,
    /// Of texts, where nobody asks for another.
    pub locale: Locale,
    pub created_at: OffsetDateTime,
}

/// What every answer about an account depends on, so that the key look-up brings it along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    pub plan: Plan,
    /// Of every amount of the account.
    pub currency: Currency,
    /// In which the account's days begin and end.
    pub timezone: Zone,
    /// Of texts, where the request does not ask for another.
    pub locale: Locale,
    pub created_at: OffsetDateTime,
}

/// A user to be created, with a live and a sandbox account that each start with [`STARTING_CREDITS`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewUser {
    pub id: UserId,
    pub name: String,
    pub currency: Currency,
    pub timezone: Zone,
    pub plan: Plan,
    pub locale: Locale,
    pub now: OffsetDateTime,
}

/// What is to be changed about an account; what is absent stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AccountChange {
    /// 1 to [`MAX_NAME_CHARS`] characters.
    pub name: Option<String>,
    /// All days are cut again by it.
    pub timezone: Option<Zone>,
    /// Whose public holidays the shop keeps from now on, if any country's.
    pub holiday_country: Option<Option<CountryCode>>,
    pub language: Option<Language>,
    /// Whose way of writing numbers, amounts and dates texts follow, if any country's.
    pub country: Option<Option<CountryCode>>,
    /// The rates that are assumed where the shop does not state what an order cost. Fee rate and `cogs_ratio` are shares of
    /// revenue, 0 to 1 with at most 5 decimals; the others amounts per order, 0 or more with at most 6.
    pub fee_rate: Option<Decimal>,
    pub fee_fixed: Option<Decimal>,
    pub shipping_per_order: Option<Decimal>,
    pub cogs_ratio: Option<Decimal>,
}

/// Reads a share of revenue: 0 to 1 with at most 5 decimals.
///
/// # Errors
/// What is allowed.
pub fn parse_share(text: &str) -> Result<Decimal, &'static str> {
    let within = |value: &Decimal| *value >= Decimal::ZERO && *value <= Decimal::ONE && value.normalize().scale() <= 5;
    text.parse().ok().filter(within).ok_or("a share is 0 to 1 with at most 5 decimals")
}

/// Reads an amount per order: 0 or more with at most 6 decimals.
///
/// # Errors
/// What is allowed.
pub fn parse_amount(text: &str) -> Result<Decimal, &'static str> {
    let within = |value: &Decimal| *value >= Decimal::ZERO && *value <= MAX_AMOUNT && value.normalize().scale() <= 6;
    text.parse().ok().filter(within).ok_or("an amount is 0 or more with at most 6 decimals")
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait AccountStore: Send + Sync {
    /// Creates the user and both accounts with their starting credits, in one transaction. Returns live, then sandbox.
    async fn create(&self, user: NewUser) -> Result<Vec<Account>, StoreError>;
    /// Every account, oldest first.
    async fn list(&self) -> Result<Vec<Account>, StoreError>;
    async fn find(&self, account: AccountId) -> Result<Option<Account>, StoreError>;
    /// Changes the account and gives it as it is then; `None` where there is no such account. What was computed follows with
    /// the next run of the jobs. `note` goes into the audit log with it.
    async fn change(
        &self,
        account: AccountId,
        change: AccountChange,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Option<Account>, StoreError>;
}
