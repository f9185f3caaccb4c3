//! One delivery: what was sent, every attempt, and sending it again.

use actix_web::{HttpRequest, HttpResponse, web::Data};
use domain::{
    DeliveryId, SubscriptionId,
    audit::Action,
    people::Act,
    webhooks::{
        attempt::FailureCode,
        delivery::DeliveryState,
        log::{LoggedAttempt, LoggedDelivery, Resent},
        secret_binding,
        settings::StoredSubscription,
        signature::{Envelope, Secret},
    },
};
use rust_decimal::Decimal;

use super::{
    html, panel, query, see,
    shell::shell,
    webhook::{all, state as standing},
    webhooks::whole,
};
use crate::{
    error::PageError,
    parts::chart::Phases,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        delivery::{self as view, Attempt, Model, Sent, Words},
        form::{Button, Form},
        layout::Here,
        panel::{Panel, Way},
    },
};

/// A scale is no shorter, microseconds.
const SHORTEST_SCALE: i64 = 100_000;

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let (id, delivery) = ids(&request)?;
    let account = viewer.account();
    let stored = state.webhook_settings.find(account, id).await?.ok_or(PageError::NotFound)?;
    let found = state.delivery_log.find(account, id, delivery).await?.ok_or(PageError::NotFound)?;
    let body = state.delivery_log.body(account, found.event_id).await?;
    let is_resent = query::one(&request, "resent")?.unwrap_or(false);
    let sent = match body {
        Some(body) => Some(sent(&writer, &found, &body, secret(&viewer, &state, &stored)?)),
        None => None,
    };
    let path = format!("/webhooks/{id}/deliveries/{delivery}");
    let model = Model {
        shell: shell(&viewer, &state, &writer, Here::Webhooks, found.event.clone()).await?,
        back: [all(&writer), Way { text: stored.subscription.url, address: format!("/webhooks/{id}") }],
        title: found.event.clone(),
        state: standing(&writer, &found),
        about: about(&writer, &found),
        done: is_resent.then(|| writer.say("resent")),
        attempts: attempts(&writer, &state, &found, &path),
        words: words(&writer),
        sent,
        resend: viewer.may(Act::Change).then(|| resend_form(&writer, &path)),
    };
    Ok(html(view::page(&model)))
}

/// Sends it again, whatever became of it.
pub async fn resend(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let (id, delivery) = ids(&request)?;
    let note = Some(viewer.note(Action::DeliveryResent));
    let resent = state.delivery_log.resend(viewer.account(), id, delivery, None, note, (state.clock)()).await?;
    match resent.value {
        Resent::Queued => Ok(see(&format!("/webhooks/{id}/deliveries/{delivery}?resent=true"))),
        Resent::Unknown => Err(PageError::NotFound),
        Resent::UnderWay | Resent::Inactive => Err(PageError::Conflict),
    }
}

fn ids(request: &HttpRequest) -> Result<(SubscriptionId, DeliveryId), PageError> {
    let delivery = request.match_info().get("delivery").and_then(|text| text.parse().ok());
    Ok((SubscriptionId(query::id(request)?), DeliveryId(delivery.ok_or(PageError::NotFound)?)))
}

/// The secret that signs today.
fn secret(viewer: &Viewer, state: &State, stored: &StoredSubscription) -> Result<Secret, PageError> {
    let binding = secret_binding(viewer.account(), stored.subscription.id);
    let opened = state.deliveries.sealer.open(binding, &stored.sealed_secret);
    let text = opened.ok().and_then(|secret| String::from_utf8(secret).ok());
    let secret = text.and_then(|text| Secret::parse(&text).ok());
    secret.ok_or_else(|| PageError::Internal("the signing secret cannot be opened".to_owned()))
}

/// What comes next, or how it ended.
fn about(writer: &Writer, delivery: &LoggedDelivery) -> String {
    let ended = delivery.finished_at.unwrap_or(delivery.created_at);
    let (id, at) = match (delivery.state, delivery.next_attempt_at) {
        (DeliveryState::Pending, Some(at)) => ("next", at),
        (DeliveryState::Pending, None) => ("underway", writer.now),
        (DeliveryState::Held, _) => ("held", writer.now),
        (DeliveryState::Delivered, _) => ("done", ended),
        (DeliveryState::Failed, _) => ("failed", ended),
        (DeliveryState::Canceled, _) => ("canceled", ended),
    };
    writer.message(format!("delivery-about-{id}")).text("at", writer.moment(at)).say()
}

fn words(writer: &Writer) -> Words {
    Words {
        attempt: writer.say("delivery-attempt"),
        response: writer.say("delivery-answer"),
        time: writer.say("delivery-where"),
        total: writer.say("delivery-total"),
        answer: writer.say("delivery-answered"),
    }
}

fn attempts(writer: &Writer, state: &State, delivery: &LoggedDelivery, path: &str) -> Panel<Attempt> {
    let scale = scale(&delivery.attempts);
    Panel {
        id: "h-attempts",
        title: writer.say("attempts-title"),
        items: delivery.attempts.iter().rev().map(|one| attempt(writer, one, scale)).collect(),
        nothing: writer.say("attempts-none"),
        all: None,
        next: None,
        foot: panel::current(
            writer,
            vec![writer.say("how-attempts"), writer.say("how-deliveries")],
            &format!("/api/v1{path}"),
            &state.settings.api_url,
        ),
    }
}

/// What the bars of all attempts are as parts of: the longest that was answered.
fn scale(attempts: &[LoggedAttempt]) -> i64 {
    let answered = attempts.iter().filter(|one| one.status.is_some()).map(|one| one.total_us).max();
    answered.or_else(|| attempts.iter().map(|one| one.total_us).max()).unwrap_or_default().max(SHORTEST_SCALE)
}

fn attempt(writer: &Writer, one: &LoggedAttempt, scale: i64) -> Attempt {
    let phases = [one.dns_us, one.connect_us, one.tls_us, one.first_byte_us];
    let spent: i64 = phases.iter().flatten().sum();
    let vain = if one.status.is_none() { (one.total_us - spent).max(0) } else { 0 };
    let part = |micros: i64| micros as f64 / scale as f64;
    // What took next to no time took some.
    let ms = |micros: i64| writer.number(Decimal::new(micros, 3), u32::from(micros < 10_000));
    let said = |id: &str, micros: i64| writer.message(id).text("ms", ms(micros)).say();
    let names = ["phase-dns", "phase-connect", "phase-tls", "phase-first-byte"];
    let mut words: Vec<_> =
        names.iter().zip(phases).filter_map(|(id, micros)| micros.map(|micros| said(id, micros))).collect();
    if vain > 0 {
        words.push(said("phase-vain", vain));
    }
    let redirected = |to: &String| writer.message("redirected").text("to", to).say();
    let failure = one.failure.as_deref().and_then(|code| code.parse::<FailureCode>().ok());
    let failure = failure.map(|code| writer.say(&format!("attempt-{code}")));
    Attempt {
        number: whole(writer, one.number.into()),
        at: writer.moment(one.started_at),
        response: one.status.map_or_else(|| writer.say("no-answer"), |status| status.to_string()),
        is_bad: !one.is_success(),
        phases: Phases { parts: phases.map(|micros| part(micros.unwrap_or_default())), vain: part(vain) },
        said: words.join(", "),
        total: ms(one.total_us),
        total_value: Decimal::new(one.total_us, 3).normalize().to_string(),
        note: failure.or_else(|| one.location.as_ref().map(redirected)),
        detail: one.message.clone(),
        answer: Some(one.answer_text()).filter(|answer| !answer.is_empty()),
    }
}

fn sent(writer: &Writer, delivery: &LoggedDelivery, body: &[u8], secret: Secret) -> Sent {
    let last = delivery.attempts.last();
    let headers = Envelope {
        delivery_id: delivery.id,
        event_id: &delivery.event_id.to_string(),
        attempt: last.and_then(|one| one.number.try_into().ok()).unwrap_or(1),
        now: last.map_or(delivery.created_at, |one| one.started_at),
        secret: &secret,
        previous: None,
        body,
    }
    .headers();
    let lines: Vec<_> = headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    Sent {
        title: writer.say("sent-title"),
        size: writer.message("sent-size").count("bytes", body.len() as i64).say(),
        body: String::from_utf8_lossy(body).into_owned(),
        headers_title: writer.say("sent-headers"),
        headers: lines.join("\n"),
        headers_note: writer.say("sent-headers-note"),
    }
}

fn resend_form(writer: &Writer, path: &str) -> Form {
    Form {
        id: "h-resend",
        title: writer.say("resend-title"),
        about: vec![writer.say("resend-about")],
        is_get: false,
        action: format!("{path}/resend"),
        hidden: vec![],
        fields: vec![],
        buttons: vec![Button::main(writer.say("resend"))],
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;
    use crate::text::tests::writer;

    fn made(status: Option<i32>, total_us: i64) -> LoggedAttempt {
        LoggedAttempt {
            number: 3,
            started_at: datetime!(2026-11-22 20:25:31 UTC),
            status,
            failure: status.is_none().then(|| "timed_out".to_owned()),
            message: status.is_none().then(|| "the receiver did not answer in time".to_owned()),
            dns_us: Some(3_400),
            connect_us: Some(24_000),
            tls_us: None,
            first_byte_us: status.map(|_| 72_600),
            total_us,
            answer: b"a\xff".to_vec(),
            answer_bytes: 2,
            location: None,
        }
    }

    #[test]
    fn a_wait_in_vain_is_told_and_drawn_apart_from_the_phases() {
        let all = [made(Some(503), 200_000), made(None, 10_000_000)];
        assert_eq!(scale(&all), 200_000, "an attempt in vain does not shrink the others");
        let vain = attempt(&writer("en"), &all[1], 200_000);
        assert_eq!(vain.said, "DNS 3.4, connect 24, no reply in 9,973");
        assert!(vain.is_bad && vain.phases.vain > 1.0);
        assert_eq!((vain.total.as_str(), vain.total_value.as_str()), ("10,000", "10000"));
        let refused = attempt(&writer("en"), &all[0], 200_000);
        assert_eq!((refused.phases.parts[3], refused.phases.vain), (0.363, 0.0));
        assert_eq!(refused.answer.as_deref(), Some("a\u{fffd}"));
    }

    #[test]
    fn why_there_was_no_answer_is_told_in_the_language_of_the_page() {
        let told = |tag, code: &str| {
            let failed = LoggedAttempt { failure: Some(code.to_owned()), ..made(None, 10_000_000) };
            attempt(&writer(tag), &failed, 200_000)
        };
        let late = told("es-AR", "timed_out");
        assert_eq!(late.note.as_deref(), Some("No hubo respuesta a tiempo"));
        assert_eq!(late.detail.as_deref(), Some("the receiver did not answer in time"));
        for (tag, code) in
            ["en", "es", "pt-BR"].into_iter().flat_map(|tag| FailureCode::ALL.iter().map(move |code| (tag, code)))
        {
            assert!(!told(tag, code.as_str()).note.unwrap().starts_with("attempt-"), "{tag}: {code}");
        }
    }

    #[test]
    fn a_scale_is_not_of_nothing() {
        assert_eq!(scale(&[]), SHORTEST_SCALE);
        assert_eq!(scale(&[made(None, 300_000)]), 300_000);
    }
}
