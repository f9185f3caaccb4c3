//! [`Mailer`] by SMTP: over TLS from the beginning (`smtps://`), else by STARTTLS (`smtp://`), and without either only to a server on
//! this machine.

use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use domain::mail::{Letter, Mailer, SendError};
use lettre::{
    AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor,
    message::{Mailbox, SinglePart, header::ContentType},
    transport::smtp::{self, extension::ClientId},
};
use time::OffsetDateTime;
use url::Url;
use uuid::Uuid;

/// How long each answer of the server may take.
const TIMEOUT: Duration = Duration::from_secs(20);

/// What a server says that does not let us in (RFC 4954, 6): a password that is wrong by now is no reason to give mails up.
const NOT_LET_IN: [u16; 4] = [530, 534, 535, 538];

/// The settings name no server that mails can be sent by.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidServer {
    #[error("smtp_url is smtps://user:password@host, or smtp:// for STARTTLS")]
    Url,
    #[error("mail_from is an address, such as Shop <hello@example.com>")]
    From,
    #[error("smtp_url: {0}")]
    Tls(String),
}

/// A way to a server.
pub struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

impl Smtp {
    /// # Errors
    /// [`InvalidServer`]
    pub fn new(url: &str, from: &str) -> Result<Self, InvalidServer> {
        let mut url = Url::parse(url).map_err(|_| InvalidServer::Url)?;
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or(InvalidServer::Url)?;
        let is_local = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
        match url.scheme() {
            "smtps" => {}
            "smtp" if is_local => url.set_query(None),
            // Else a password and the links would be readable on the way.
            "smtp" => url.set_query(Some("tls=required")),
            _ => return Err(InvalidServer::Url),
        }
        let from: Mailbox = from.parse().map_err(|_| InvalidServer::From)?;
        let builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(url.as_str());
        let builder = builder.map_err(|error| InvalidServer::Tls(error.to_string()))?;
        // The library would say `EHLO [127.0.0.1]`, which some relays turn away.
        let name = ClientId::Domain(from.email.domain().to_owned());
        Ok(Self { transport: builder.timeout(Some(TIMEOUT)).hello_name(name).build(), from })
    }

    fn message(&self, letter: &Letter, now: OffsetDateTime) -> Option<Message> {
        let builder = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, letter.to.as_str().parse().ok()?))
            .subject(letter.subject.clone())
            .date(SystemTime::from(now))
            .message_id(Some(format!("<{}@{}>", Uuid::now_v7().simple(), self.from.email.domain())))
            // Nobody answers these (RFC 3834).
            .raw_header(lettre::message::header::HeaderValue::new(
                lettre::message::header::HeaderName::new_from_ascii_str("Auto-Submitted"),
                "auto-generated".to_owned(),
            ));
        builder.singlepart(SinglePart::builder().header(ContentType::TEXT_PLAIN).body(letter.text.clone())).ok()
    }
}

#[async_trait]
impl Mailer for Smtp {
    async fn send(&self, letter: &Letter, now: OffsetDateTime) -> Result<(), SendError> {
        let Some(message) = self.message(letter, now) else {
            return Err(SendError::Refused("the address is none that SMTP knows".to_owned()));
        };
        self.transport.send(message).await.map(|_| ()).map_err(|error| why(&error))
    }
}

fn why(error: &smtp::Error) -> SendError {
    match error.status() {
        Some(code) => answered(code.into()),
        None if error.is_timeout() => SendError::Later("the server did not answer in time".to_owned()),
        None if error.is_tls() => SendError::Later("TLS with the server failed".to_owned()),
        None => SendError::Later("the server could not be reached".to_owned()),
    }
}

/// An answer of the server often quotes the addressee, so of one only the code is told.
fn answered(code: u16) -> SendError {
    let said = format!("the server answered {code}");
    if code < 500 || NOT_LET_IN.contains(&code) { SendError::Later(said) } else { SendError::Refused(said) }
}

#[cfg(test)]
mod tests {
    use std::sync::Once;

    use super::*;

    fn checked(url: &str, from: &str) -> Option<InvalidServer> {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| drop(lettre_provider()));
        Smtp::new(url, from).err()
    }

    fn lettre_provider() -> Result<(), std::sync::Arc<rustls::crypto::CryptoProvider>> {
        rustls::crypto::ring::default_provider().install_default()
    }

    #[test]
    fn a_server_is_named_by_an_address_and_a_sender() {
        let from = "Shop <hello@example.com>";
        for url in ["smtps://ana:secret@mail.example.com", "smtp://mail.example.com:587", "smtp://127.0.0.1:2525"] {
            assert_eq!(checked(url, from), None, "{url}");
        }
        for url in ["", "mail.example.com", "https://mail.example.com", "smtp://"] {
            assert_eq!(checked(url, from), Some(InvalidServer::Url), "{url}");
        }
        assert_eq!(checked("smtp://127.0.0.1", "hello"), Some(InvalidServer::From));
    }

    #[test]
    fn a_mail_is_given_up_for_what_is_wrong_with_it_alone() {
        for code in [421, 450, 454, 530, 535] {
            assert_eq!(answered(code), SendError::Later(format!("the server answered {code}")));
        }
        for code in [550, 553, 554] {
            assert_eq!(answered(code), SendError::Refused(format!("the server answered {code}")));
        }
    }
}
