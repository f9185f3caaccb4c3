//! One attempt: open the secrets, sign, send, judge.

use domain::{
    sealing::{SealError, Sealer},
    webhooks::{
        attempt::Request,
        delivery::{Leased, Report},
        secret_binding,
        signature::{Envelope, Secret},
    },
};

use super::Ports;

/// Why nothing was sent. No attempt is counted: the fault is ours, and the delivery is due again when its lease ends.
#[derive(Debug, thiserror::Error)]
pub enum Unsent {
    #[error("the signing secret cannot be opened: {0}")]
    Sealed(#[from] SealError),
    #[error("the signing secret is not valid")]
    Invalid,
}

/// Makes one attempt of a leased delivery.
///
/// # Errors
/// [`Unsent`] when it cannot be signed.
pub async fn attempt(ports: &Ports, leased: &Leased) -> Result<Report, Unsent> {
    let secret = open(&*ports.sealer, leased, &leased.sealed_secret)?;
    let previous = leased.sealed_previous.as_deref().map(|sealed| open(&*ports.sealer, leased, sealed)).transpose()?;
    let started_at = (ports.clock)();
    let envelope = Envelope {
        delivery_id: leased.id,
        event_id: &leased.lease.event.to_string(),
        attempt: leased.attempt,
        now: started_at,
        secret: &secret,
        previous: previous.as_ref(),
        body: &leased.body,
    };
    let account = leased.lease.receiver.account;
    let request = Request { account, url: leased.url.clone(), headers: envelope.headers(), body: leased.body.clone() };
    let made = ports.sender.send(request).await;
    Ok(Report::new(leased, started_at, made, (ports.clock)(), (ports.jitter)()))
}

fn open(sealer: &dyn Sealer, leased: &Leased, sealed: &[u8]) -> Result<Secret, Unsent> {
    let receiver = leased.lease.receiver;
    let binding = secret_binding(receiver.account, receiver.subscription);
    let text = String::from_utf8(sealer.open(binding, sealed)?).map_err(|_| Unsent::Invalid)?;
    Secret::parse(&text).map_err(|_| Unsent::Invalid)
}
