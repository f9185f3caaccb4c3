//! `api accounts`.

use std::str::FromStr;

use analytics::holidays;
use anyhow::Context;
use clap::Subcommand;
use domain::{
    AccountId, UserId,
    accounts::{Account, AccountChange, AccountStore, MAX_NAME_CHARS, NewUser, Plan, parse_amount, parse_share},
    imports::{CountryCode, InvalidCountryCode},
    language::Language,
    money::Currency,
    texts::{Locale, Texts},
    zone::Zone,
};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use store::Store;
use time::OffsetDateTime;

use crate::{output::rfc3339, random};

/// Characters of an account's name.

#[derive(Debug, Subcommand)]
pub enum AccountsCommand {
    /// Creates a user with a live and a sandbox account
    #[command(
        after_help = "Example:\n  api accounts create --name 'My shop' --currency BRL --timezone America/Sao_Paulo"
    )]
    Create {
        /// Name of the shop
        #[arg(long, value_parser = name)]
        name: String,
        /// ISO 4217 code, such as EUR
        #[arg(long, default_value = "USD", value_parser = Currency::of_account)]
        currency: Currency,
        /// IANA time zone, such as Europe/London: it decides which day a sale belongs to
        #[arg(long, default_value = "UTC")]
        timezone: Zone,
        /// free, starter, pro or scale
        #[arg(long, default_value = "free")]
        plan: Plan,
        #[command(flatten)]
        texts: TextsArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Changes an account; what is computed follows with the next run of the jobs
    #[command(
        after_help = "Examples:\n  api accounts set 1 --fee-rate 0.0349 --fee-fixed 0.30\n  api accounts set 1 --timezone Europe/Lisbon --holidays PT"
    )]
    Set(SetArgs),
    /// Lists all accounts
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// In which language and by which country's habits texts are written.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct TextsArgs {
    /// Language of the texts where a request does not ask for another: en, es or pt-BR
    #[arg(long, default_value = "en")]
    language: Language,
    /// ISO 3166-1 code, such as BR: texts write numbers, amounts and dates as it does
    #[arg(long, value_parser = country)]
    country: Option<CountryCode>,
}

impl From<TextsArgs> for Locale {
    fn from(TextsArgs { language, country }: TextsArgs) -> Self {
        Self { language, region: country }
    }
}

#[derive(Debug, clap::Args)]
pub struct SetArgs {
    /// The account
    #[arg(value_name = "ID")]
    account: i64,
    /// Name of the shop
    #[arg(long, value_parser = name)]
    name: Option<String>,
    /// IANA time zone: all days are computed again by it
    #[arg(long)]
    timezone: Option<Zone>,
    /// Country whose public holidays the shop keeps, such as BR, or none: those days are neither judged nor learned from
    #[arg(long, value_name = "COUNTRY")]
    holidays: Option<Holidays>,
    /// Language of the texts where a request does not ask for another: en, es or pt-BR
    #[arg(long)]
    language: Option<Language>,
    /// ISO 3166-1 code, such as BR, or none: texts write numbers, amounts and dates as it does
    #[arg(long, value_parser = country_or_none)]
    country: Option<Country>,
    /// Share of an order's revenue that is paid as a fee where the shop does not state it, such as 0.029
    #[arg(long, value_parser = parse_share)]
    fee_rate: Option<Decimal>,
    /// Fee per order on top of it
    #[arg(long, value_parser = parse_amount)]
    fee_fixed: Option<Decimal>,
    /// Cost of shipping an order where the shop does not state it
    #[arg(long, value_parser = parse_amount)]
    shipping_per_order: Option<Decimal>,
    /// Share of revenue that goods cost where neither their own cost nor that of their category is known, such as 0.4
    #[arg(long, value_parser = parse_share)]
    cogs_ratio: Option<Decimal>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A country whose holidays are known, or none.
#[derive(Debug, Clone, Copy)]
struct Holidays(Option<CountryCode>);

impl FromStr for Holidays {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let known = holidays::countries();
        match text {
            "none" => Ok(Self(None)),
            code if known.contains(&code) => Ok(Self(Some(code.parse().map_err(|e| format!("{e}"))?))),
            _ => Err(format!("known are none, {}", known.join(", "))),
        }
    }
}

fn name(text: &str) -> Result<String, String> {
    match domain::text::check(text, MAX_NAME_CHARS) {
        Ok(()) if text.trim().is_empty() => Err("a name is 1 to 200 characters".to_owned()),
        Ok(()) => Ok(text.trim().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// A country, or none.
type Country = Option<CountryCode>;

fn country_or_none(text: &str) -> Result<Country, String> {
    if text == "none" { Ok(None) } else { country(text).map(Some) }
}

fn country(text: &str) -> Result<CountryCode, String> {
    let code: CountryCode = text.parse().map_err(|error: InvalidCountryCode| error.to_string())?;
    let is_known = Texts::of(Locale::ENGLISH).knows_country(code.as_str());
    if is_known { Ok(code) } else { Err(format!("{text} is no country of ISO 3166-1")) }
}

pub async fn run(command: AccountsCommand, store: &Store) -> anyhow::Result<()> {
    let (accounts, json) = match command {
        AccountsCommand::Create { name, currency, timezone, plan, texts, json } => {
            (create(store, name, currency, timezone, plan, texts.into()).await?, json)
        }
        AccountsCommand::Set(args) => (vec![set(store, &args).await?], args.json),
        AccountsCommand::List { json } => (store.list().await?, json),
    };
    if json {
        println!("{}", serde_json::to_string_pretty(&accounts.iter().map(to_json).collect::<Vec<_>>())?);
        return Ok(());
    }
    println!("{:>8}  {:<4}  {:<29}  {:<8}  {:<24}  NAME", "ACCOUNT", "MODE", "USER", "CURRENCY", "TIME ZONE");
    for account in accounts {
        println!(
            "{:>8}  {:<4}  {:<29}  {:<8}  {:<24}  {}",
            account.id,
            account.mode.as_str(),
            account.user_id.as_str(),
            account.currency.as_str(),
            account.timezone.name(),
            account.name
        );
    }
    Ok(())
}

/// Creates a user with both accounts; live comes first.
pub async fn create(
    store: &Store,
    name: String,
    currency: Currency,
    timezone: Zone,
    plan: Plan,
    locale: Locale,
) -> anyhow::Result<Vec<Account>> {
    let user = NewUser {
        id: UserId::generate(random::bytes()),
        name,
        currency,
        timezone,
        plan,
        locale,
        now: OffsetDateTime::now_utc(),
    };
    Ok(store.create(user).await?)
}

async fn set(store: &Store, args: &SetArgs) -> anyhow::Result<Account> {
    let change = AccountChange {
        name: args.name.clone(),
        timezone: args.timezone.clone(),
        holiday_country: args.holidays.map(|Holidays(country)| country),
        language: args.language,
        country: args.country,
        fee_rate: args.fee_rate,
        fee_fixed: args.fee_fixed,
        shipping_per_order: args.shipping_per_order,
        cogs_ratio: args.cogs_ratio,
    };
    let changed = store.change(AccountId(args.account), change, None, OffsetDateTime::now_utc()).await?;
    changed.with_context(|| format!("there is no account {}; `api accounts list` shows which there are", args.account))
}

fn to_json(account: &Account) -> Value {
    let Account { id, user_id, mode, name, plan, currency, timezone, holiday_country, locale, created_at } = account;
    json!({
        "id": id,
        "user_id": user_id,
        "mode": mode,
        "name": name,
        "plan": plan,
        "currency": currency.as_str(),
        "timezone": timezone.name(),
        "holiday_country": holiday_country.as_ref().map(CountryCode::as_str),
        "language": locale.language.as_str(),
        "country": locale.region.as_ref().map(CountryCode::as_str),
        "created_at": rfc3339(*created_at),
    })
}
