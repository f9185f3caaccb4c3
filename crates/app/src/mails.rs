//! Sending what is queued: each mail's link is made when it is sent, so a mail that is sent a second time has another one.

use std::{sync::Arc, time::Duration as Pause};

use domain::{
    MailId, StoreError,
    mail::{
        Leased, Letter, LinkDetails, MOST_ATTEMPTS, Mail, MailQueue, Mailer, Outgoing, Reading, SendError, back_off,
    },
    people::PersonStore,
    sessions::{INVITATION_LASTS, Link, LinkPurpose, LinkStore, MAIL_LINK_LASTS, Token},
    texts::{Locale, Texts},
};
use time::OffsetDateTime;
use tracing::Instrument;
use url::Url;

use crate::worker;

/// Mails that are taken at once. One: of those that waited here behind another, links would be made that nobody wants any more.
const BATCH: i64 = 1;
/// A mail that is asked for waits no longer than this.
const LOOK_EVERY: Pause = Pause::from_secs(1);

/// What sending needs.
#[derive(Clone)]
pub struct Postman {
    pub queue: Arc<dyn MailQueue>,
    pub people: Arc<dyn PersonStore>,
    pub links: Arc<dyn LinkStore>,
    pub mailer: Arc<dyn Mailer>,
    /// Where links lead.
    pub public_url: Url,
    pub clock: fn() -> OffsetDateTime,
    pub token: fn() -> Token,
}

impl Postman {
    /// Sends what is due until `stopped` resolves; the mail under way is sent first. Any number of processes may do it.
    pub async fn run(self, stopped: impl Future<Output = ()>) {
        let turn = || async { self.round().await.map(|sent| sent > 0) };
        worker::run_to_the_end(stopped, LOOK_EVERY, "mails could not be looked up", turn).await;
    }

    /// Sends what is due now, and says how many there were.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn round(&self) -> Result<usize, StoreError> {
        let due = self.queue.lease(BATCH, (self.clock)()).await?;
        for mail in &due {
            let span = tracing::error_span!("mail", mail = %mail.id, attempt = mail.attempts);
            self.deliver(mail).instrument(span).await?;
        }
        Ok(due.len())
    }

    async fn deliver(&self, leased: &Leased) -> Result<(), StoreError> {
        let Leased { id, outgoing, attempts } = leased;
        let Some(letter) = self.letter(*id, outgoing).await? else { return self.queue.done(*id).await };
        match self.mailer.send(&letter, (self.clock)()).await {
            Ok(()) => {
                metrics::counter!("mails_sent_total").increment(1);
                self.queue.done(*id).await
            }
            Err(SendError::Later(error)) if *attempts < MOST_ATTEMPTS => {
                tracing::warn!(error, "a mail was not sent; it is tried again");
                self.queue.put_off(*id, (self.clock)() + back_off(*attempts)).await
            }
            Err(error) => {
                metrics::counter!("mails_failed_total").increment(1);
                tracing::warn!(%error, "a mail was given up");
                self.queue.done(*id).await
            }
        }
    }

    /// The letter; none where there is nobody to write to, or the mail was ended after it was taken.
    async fn letter(&self, id: MailId, outgoing: &Outgoing) -> Result<Option<Letter>, StoreError> {
        let Outgoing { to, language, mail } = outgoing;
        let person = self.people.find(to).await?.filter(|person| person.disabled_at.is_none());
        let language = person.as_ref().and_then(|person| person.language).unwrap_or(*language);
        let (by, shop) = match mail {
            Mail::Invitation { by, shop, .. } => (by.as_str(), shop.as_str()),
            _ => ("", ""),
        };
        // Made when everything is read: texts stay on one thread.
        let finish = |reading: Reading<'_>| {
            let texts = Texts::of(Locale { language, region: None });
            Some(reading.letter(&texts, to.clone(), by, shop))
        };
        if let Mail::Notice { what } = mail {
            return Ok(finish(Reading::Notice(*what)));
        }
        let Some((purpose, mut of, user)) = mail.link() else { return Ok(None) };
        let exists = purpose == LinkPurpose::SignUp && person.is_some();
        let purpose = if exists { LinkPurpose::ResetPassword } else { purpose };
        if purpose == LinkPurpose::ResetPassword {
            let Some(person) = &person else { return Ok(None) };
            of = Some(person.id);
        }
        let role = if let Mail::Invitation { role, .. } = mail { Some(*role) } else { None };
        let details = LinkDetails { email: to.as_str().to_owned(), role, by: role.map(|_| by.to_owned()) };
        let link = Link {
            purpose,
            person: of,
            user,
            details: serde_json::to_value(details).map_err(|error| StoreError::Internal(error.into()))?,
        };
        let Some(url) = self.make(id, link).await? else { return Ok(None) };
        Ok(finish(if exists { Reading::Exists { url: &url } } else { Reading::Link { purpose, url: &url } }))
    }

    async fn make(&self, mail: MailId, link: Link) -> Result<Option<String>, StoreError> {
        let (page, lasts) = match link.purpose {
            LinkPurpose::Enter => return Ok(None),
            LinkPurpose::SignUp => ("signup", MAIL_LINK_LASTS),
            LinkPurpose::ResetPassword => ("reset", MAIL_LINK_LASTS),
            LinkPurpose::Invitation => ("invitation", INVITATION_LASTS),
            LinkPurpose::NewAddress => ("address", MAIL_LINK_LASTS),
        };
        let (token, now) = ((self.token)(), (self.clock)());
        if !self.links.make_for(mail, token.hash(), link, now, now + lasts).await? {
            return Ok(None);
        }
        Ok(self.public_url.join(&format!("/{page}/{}", token.expose())).ok().map(String::from))
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        UserId,
        language::Language,
        mail::{MockMailQueue, MockMailer},
        people::{MockPersonStore, Role},
        sessions::MockLinkStore,
    };
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);

    /// The mailer's mock panics when it is called.
    #[tokio::test]
    async fn an_invitation_that_was_ended_after_it_was_taken_is_not_sent() {
        let user: UserId = format!("user_{}", "a".repeat(24)).parse().unwrap();
        let mail = Mail::Invitation { user, role: Role::Owner, by: "Ana".into(), shop: "Casa".into() };
        let outgoing = Outgoing { to: "eva@example.com".parse().unwrap(), language: Language::English, mail };
        let (mut queue, mut people, mut links) = (MockMailQueue::new(), MockPersonStore::new(), MockLinkStore::new());
        queue
            .expect_lease()
            .times(1)
            .returning(move |_, _| Ok(vec![Leased { id: MailId(7), outgoing: outgoing.clone(), attempts: 1 }]));
        queue.expect_done().times(1).withf(|id| *id == MailId(7)).returning(|_| Ok(()));
        people.expect_find().returning(|_| Ok(None));
        links
            .expect_make_for()
            .times(1)
            .withf(|mail, _, _, _, _| *mail == MailId(7))
            .returning(|_, _, _, _, _| Ok(false));
        let postman = Postman {
            queue: Arc::new(queue),
            people: Arc::new(people),
            links: Arc::new(links),
            mailer: Arc::new(MockMailer::new()),
            public_url: "https://shop.example.com".parse().unwrap(),
            clock: || NOW,
            token: || Token::generate(0..=255),
        };
        assert_eq!(postman.round().await.unwrap(), 1);
    }
}
