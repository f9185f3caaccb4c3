//! `api people` and `api sessions`: what an operator does for the people of a shop.

use anyhow::Context;
use clap::Subcommand;
use domain::{
    PersonId, SessionId,
    accounts::Account,
    audit::{Action, Actor, AuditLog, Entry},
    log_in::{CredentialStore, Credentials, SecondFactorStore},
    mail::LinkDetails,
    people::{EmailAddress, PersonStore, Role},
    sessions::{Ended, INVITATION_LASTS, Link, LinkPurpose, LinkStore, MAIL_LINK_LASTS, SessionStore, Token},
};
use serde_json::json;
use store::Store;
use time::{Duration, OffsetDateTime};

use super::find_account;
use crate::{config::Config, dashboard, output::rfc3339, random};

#[derive(Debug, Subcommand)]
pub enum PeopleCommand {
    /// Prints a link by which the owner of the address becomes a member, once and within three days
    #[command(after_help = "Example:\n  api people invite ana@example.com --account 1 --role owner")]
    Invite {
        /// The address of whom to invite
        email: EmailAddress,
        /// The account whose user's people are meant
        #[arg(long, value_name = "ID")]
        account: i64,
        /// owner, editor or viewer
        #[arg(long, default_value = "viewer")]
        role: Role,
    },
    /// Lists the members
    List {
        /// The account whose user's people are meant
        #[arg(long, value_name = "ID")]
        account: i64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Lets a person log in no more, which ends all sessions
    Disable {
        /// The person's address
        email: EmailAddress,
        /// Let them log in again
        #[arg(long)]
        undo: bool,
    },
    /// Prints a link to a new password, once and within an hour; a second factor stays
    Reset {
        /// The person's address
        email: EmailAddress,
        /// Turn the second factor off instead, of who has lost device and recovery codes
        #[arg(long)]
        second_factor: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// Logs a person out everywhere
    End {
        /// The person's address
        email: EmailAddress,
    },
}

pub async fn run(command: PeopleCommand, store: &Store, config: &Config) -> anyhow::Result<()> {
    let now = OffsetDateTime::now_utc();
    match command {
        PeopleCommand::Invite { email, account, role } => {
            let account = find_account(store, account).await?;
            let mut note = operator(&account, Action::MemberInvited);
            (note.target, note.after) = (Some(email.as_str().to_owned()), Some(json!({ "role": role })));
            let link = Link {
                purpose: LinkPurpose::Invitation,
                person: None,
                user: Some(account.user_id),
                details: details(&email, Some(role))?,
            };
            println!("{}", printed(store, config, link, "invitation", INVITATION_LASTS).await?);
            store.note(note, now).await?;
        }
        PeopleCommand::List { account, json } => list(store, account, json).await?,
        PeopleCommand::Disable { email, undo } => {
            let Credentials { person, .. } = known(store, &email).await?;
            store.set_disabled(person.id, !undo, now).await?;
            println!(
                "{}",
                if undo { "The person may log in again." } else { "The person is logged out, and may not log in." }
            );
        }
        PeopleCommand::Reset { email, second_factor: true } => turn_off(store, &email, now).await?,
        PeopleCommand::Reset { email, second_factor: false } => {
            let Credentials { person, .. } = known(store, &email).await?;
            let link = Link {
                purpose: LinkPurpose::ResetPassword,
                person: Some(person.id),
                user: None,
                details: details(&email, None)?,
            };
            println!("{}", printed(store, config, link, "reset", MAIL_LINK_LASTS).await?);
        }
    }
    Ok(())
}

pub async fn run_sessions(command: SessionsCommand, store: &Store) -> anyhow::Result<()> {
    let SessionsCommand::End { email } = command;
    let Credentials { person, user, .. } = known(store, &email).await?;
    let note = user.map(|user| Entry {
        target: Some(person.name.clone()),
        ..Entry::new(user, Actor::Operator, Action::SessionsEnded, None)
    });
    store.end(person.id, Ended::All, note, OffsetDateTime::now_utc()).await?;
    println!("The person is logged out everywhere.");
    Ok(())
}

async fn known(store: &Store, email: &EmailAddress) -> anyhow::Result<Credentials> {
    store.by_email(email).await?.context("nobody has that address; `api people list` shows who there is")
}

fn operator(account: &Account, action: Action) -> Entry {
    Entry::new(account.user_id.clone(), Actor::Operator, action, None)
}

fn details(email: &EmailAddress, role: Option<Role>) -> anyhow::Result<serde_json::Value> {
    Ok(serde_json::to_value(LinkDetails { email: email.as_str().to_owned(), role, by: None })?)
}

/// Makes a link, and gives its address.
async fn printed(store: &Store, config: &Config, link: Link, page: &str, lasts: Duration) -> anyhow::Result<String> {
    let (token, now) = (Token::generate(random::bytes()), OffsetDateTime::now_utc());
    store.make(token.hash(), link, now, now + lasts).await?;
    let site = dashboard::public_url(config, config.dashboard_listen)?;
    Ok(site.join(&format!("/{page}/{}", token.expose()))?.to_string())
}

async fn turn_off(store: &Store, email: &EmailAddress, now: OffsetDateTime) -> anyhow::Result<()> {
    let Credentials { person, user, has_second_factor, .. } = known(store, email).await?;
    anyhow::ensure!(has_second_factor, "the person has no second factor");
    let user = user.context("the person is no member of any shop")?;
    let mut note = Entry::new(user, Actor::Operator, Action::SecondFactorRemoved, None);
    note.target = Some(person.name.clone());
    // No session is kept.
    store.turn_off(PersonId(person.id.0), SessionId(0), note, None, now).await?;
    println!("The second factor is off, and the person is logged out everywhere.");
    Ok(())
}

async fn list(store: &Store, account: i64, json: bool) -> anyhow::Result<()> {
    let account = find_account(store, account).await?;
    let members = store.members(&account.user_id).await?;
    if json {
        let rows = members.iter().map(|member| {
            json!({
                "email": member.person.email.as_str(),
                "name": member.person.name,
                "role": member.role,
                "since": rfc3339(member.since),
                "disabled_at": member.person.disabled_at.map(rfc3339),
            })
        });
        println!("{}", serde_json::to_string_pretty(&rows.collect::<Vec<_>>())?);
        return Ok(());
    }
    for member in &members {
        let disabled = if member.person.disabled_at.is_some() { "  (disabled)" } else { "" };
        println!("{:<7} {:<40} {}{disabled}", member.role.as_str(), member.person.email.as_str(), member.person.name);
    }
    if members.is_empty() {
        println!("Nobody yet; `api people invite` makes a link.");
    }
    Ok(())
}
