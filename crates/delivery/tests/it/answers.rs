//! What receivers answer, or do not.

use std::time::Duration;

use domain::webhooks::attempt::{FailureCode, MAX_ANSWER_BYTES, Outcome, Request, Sender};
use rstest::rstest;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{mpsc, watch};

use crate::receiver::{Receiver, SHORT, code, patient_sender, read_request, request, sender};

/// A receiver that reads each request, sends these bytes and closes.
async fn answering(answer: impl Into<Vec<u8>>) -> Receiver {
    let answer = answer.into();
    Receiver::start(move |mut stream| {
        let answer = answer.clone();
        async move {
            read_request(&mut stream).await;
            stream.write_all(&answer).await.ok();
        }
    })
    .await
}

/// A receiver that reads the request, sends a first part, and then another part again and again until the client closes.
async fn repeating(first: &'static str, again: &'static [u8], pause: Duration) -> (Receiver, mpsc::Receiver<()>) {
    let (gone, heard) = mpsc::channel(1);
    let receiver = Receiver::start(move |mut stream| {
        let gone = gone.clone();
        async move {
            read_request(&mut stream).await;
            stream.write_all(first.as_bytes()).await.ok();
            while stream.write_all(again).await.is_ok() {
                tokio::time::sleep(pause).await;
            }
            gone.send(()).await.ok();
        }
    })
    .await;
    (receiver, heard)
}

#[tokio::test]
async fn the_request_is_sent_as_given() {
    let (seen, mut requests) = mpsc::channel(1);
    let receiver = Receiver::start(move |mut stream| {
        let seen = seen.clone();
        async move {
            let request = read_request(&mut stream).await.unwrap();
            seen.send(request).await.unwrap();
            stream.write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 4\r\n\r\ndone").await.unwrap();
        }
    })
    .await;
    let attempt = patient_sender().send(request(receiver.url())).await;
    let host = receiver.address;
    assert_eq!(
        requests.recv().await.unwrap(),
        format!(
            "POST /hook?x=1 HTTP/1.1\r\nhost: {host}\r\nuser-agent: tests/1\r\nx-svc-attempt: 1\r\n\
             content-length: 13\r\n\r\n{{\"event\":\"a\"}}"
        )
    );
    assert_eq!((attempt.outcome.clone(), attempt.is_success()), (Outcome::Status(202), true));
    assert_eq!(attempt.answer, b"done");
    let timings = attempt.timings;
    assert_eq!((timings.dns, timings.tls), (None, None));
    assert!(timings.connect.unwrap() + timings.first_byte.unwrap() <= timings.total);
}

#[rstest]
#[case(101, false)]
#[case(200, true)]
#[case(204, true)]
#[case(299, true)]
#[case(304, false)]
#[case(400, false)]
#[case(410, false)]
#[case(500, false)]
#[case(599, false)]
#[tokio::test]
async fn two_hundreds_are_success(#[case] status: u16, #[case] success: bool) {
    let receiver = answering(format!("HTTP/1.1 {status} X\r\n\r\n")).await;
    let attempt = patient_sender().send(request(receiver.url())).await;
    assert_eq!((attempt.status(), attempt.is_success()), (Some(status), success));
}

#[rstest]
#[case(301)]
#[case(302)]
#[case(303)]
#[case(307)]
#[case(308)]
#[tokio::test]
async fn redirects_are_recorded_and_not_followed(#[case] status: u16) {
    let target = answering("HTTP/1.1 200 OK\r\n\r\n").await;
    let receiver = answering(format!("HTTP/1.1 {status} X\r\nlocation: {}\r\n\r\n", target.url())).await;
    let attempt = patient_sender().send(request(receiver.url())).await;
    assert_eq!((attempt.status(), attempt.is_success()), (Some(status), false));
    assert_eq!(attempt.location, Some(target.url()));
    assert_eq!((receiver.accepted(), target.accepted()), (1, 0));
}

#[tokio::test]
async fn headers_that_make_browsers_call_elsewhere_do_nothing() {
    let target = answering("HTTP/1.1 200 OK\r\n\r\n").await;
    let port = target.address.port();
    let answer =
        format!("HTTP/1.1 200 OK\r\nrefresh: 0;url={}\r\nalt-svc: h3=\"127.0.0.1:{port}\"\r\n\r\n", target.url());
    let receiver = answering(answer).await;
    let sender = patient_sender();
    for _ in 0..2 {
        assert!(sender.send(request(receiver.url())).await.is_success());
    }
    assert_eq!(target.accepted(), 0);
}

#[tokio::test]
async fn a_wish_for_later_is_passed_on() {
    let receiver = answering("HTTP/1.1 429 X\r\nretry-after: 120\r\ncontent-length: 0\r\n\r\n").await;
    let attempt = patient_sender().send(request(receiver.url())).await;
    assert_eq!((attempt.status(), attempt.retry_after.as_deref()), (Some(429), Some("120")));
}

#[tokio::test]
async fn the_answer_is_kept_as_bytes() {
    // Not text, and not unpacked: a bomb stays as small as it was sent.
    let body = b"\x1f\x8b\x08\0\0\xff\xfe\0";
    let mut answer = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 8\r\n\r\n".to_vec();
    answer.extend(body);
    let attempt = patient_sender().send(request(answering(answer).await.url())).await;
    assert_eq!(attempt.answer, body);
}

#[rstest]
#[case(MAX_ANSWER_BYTES - 1, MAX_ANSWER_BYTES - 1)]
#[case(MAX_ANSWER_BYTES, MAX_ANSWER_BYTES)]
#[case(MAX_ANSWER_BYTES + 1, MAX_ANSWER_BYTES)]
#[case(10 * MAX_ANSWER_BYTES, MAX_ANSWER_BYTES)]
#[tokio::test]
async fn sixteen_kib_of_the_answer_are_kept(#[case] sent: usize, #[case] kept: usize) {
    let answer = format!("HTTP/1.1 500 X\r\ncontent-length: {sent}\r\n\r\n{}", "a".repeat(sent));
    let attempt = patient_sender().send(request(answering(answer).await.url())).await;
    assert_eq!((attempt.status(), attempt.answer.len()), (Some(500), kept));
}

#[tokio::test]
async fn an_endless_body_is_cut_and_the_connection_closed() {
    let (receiver, mut gone) = repeating("HTTP/1.1 200 OK\r\n\r\n", &[b'a'; 65_536], Duration::ZERO).await;
    let attempt = patient_sender().send(request(receiver.url())).await;
    assert_eq!((attempt.is_success(), attempt.answer.len()), (true, MAX_ANSWER_BYTES));
    // Ended by the size, not by the deadline of 10 s.
    assert!(attempt.timings.total < Duration::from_secs(5));
    gone.recv().await.unwrap();
}

#[tokio::test]
async fn a_body_that_drips_ends_at_the_deadline_and_the_status_counts() {
    let (receiver, mut gone) = repeating("HTTP/1.1 200 OK\r\n\r\n", b"a", Duration::from_millis(5)).await;
    let attempt = sender(SHORT).send(request(receiver.url())).await;
    assert!(attempt.is_success() && !attempt.answer.is_empty() && attempt.timings.total >= SHORT);
    gone.recv().await.unwrap();
}

#[tokio::test]
async fn a_body_that_drips_holds_up_a_patient_sender_for_a_second() {
    let (receiver, mut gone) = repeating("HTTP/1.1 200 OK\r\n\r\n", b"a", Duration::from_millis(5)).await;
    let attempt = patient_sender().send(request(receiver.url())).await;
    assert!(attempt.is_success() && !attempt.answer.is_empty());
    assert!((1..5).contains(&attempt.timings.total.as_secs()), "{:?}", attempt.timings);
    gone.recv().await.unwrap();
}

#[rstest]
#[case::head_that_drips("HTTP/1.1 200 OK\r\n", b"x: y\r\n".as_slice())]
#[case::status_line_that_drips("HTTP/1.1 200 ", b"O".as_slice())]
#[case::endless_continue("", b"HTTP/1.1 100 Continue\r\n\r\n".as_slice())]
#[tokio::test]
async fn a_head_that_never_ends_times_out(#[case] first: &'static str, #[case] again: &'static [u8]) {
    let (receiver, mut gone) = repeating(first, again, Duration::from_millis(20)).await;
    let attempt = sender(SHORT).send(request(receiver.url())).await;
    assert_eq!(code(&attempt), FailureCode::TimedOut);
    assert!(attempt.timings.first_byte.is_some() && attempt.timings.total < 10 * SHORT);
    gone.recv().await.unwrap();
}

#[tokio::test]
async fn a_receiver_that_never_answers_times_out() {
    let receiver = Receiver::start(|mut stream| async move {
        read_request(&mut stream).await;
        std::future::pending().await
    })
    .await;
    let attempt = sender(SHORT).send(request(receiver.url())).await;
    assert_eq!(code(&attempt), FailureCode::TimedOut);
    assert!(attempt.timings.total >= SHORT && attempt.timings.total < 10 * SHORT);
}

#[tokio::test]
async fn a_receiver_that_does_not_read_is_left_at_the_deadline() {
    const BODY: usize = 64 * 1_024 * 1_024;
    let (go, ended) = watch::channel(false);
    let (count, mut counted) = mpsc::channel(1);
    let receiver = Receiver::start(move |mut stream| {
        let (mut ended, count) = (ended.clone(), count.clone());
        async move {
            ended.wait_for(|ended| *ended).await.unwrap();
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).await.ok();
            count.send(bytes.len()).await.unwrap();
        }
    })
    .await;
    let attempt = sender(SHORT).send(Request { body: vec![b'a'; BODY], ..request(receiver.url()) }).await;
    assert_eq!(code(&attempt), FailureCode::TimedOut);
    go.send(true).unwrap();
    // Only what was in the sockets' buffers arrives.
    assert!(counted.recv().await.unwrap() < BODY);
}

#[tokio::test]
async fn a_flood_of_headers_is_refused() {
    let header = format!("x-flood: {}\r\n", "a".repeat(8_000));
    let flood = format!("HTTP/1.1 200 OK\r\n{}\r\n", header.repeat(1_000));
    let attempt = patient_sender().send(request(answering(flood).await.url())).await;
    assert_eq!(code(&attempt), FailureCode::InvalidAnswer);

    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(1_000));
    let attempt = patient_sender().send(request(answering(many).await.url())).await;
    assert_eq!(code(&attempt), FailureCode::InvalidAnswer);
}

#[rstest]
#[case("<html>HTTP/0.9 has no head</html>")]
#[case("HTTP/1.1 abc X\r\n\r\n")]
#[case("SSH-2.0-OpenSSH_9.2\r\n")]
#[case("HTTP/2.0 200 OK\r\n\r\n")]
#[tokio::test]
async fn what_is_not_http_is_refused(#[case] answer: &'static str) {
    let attempt = patient_sender().send(request(answering(answer).await.url())).await;
    assert_eq!(code(&attempt), FailureCode::InvalidAnswer, "{answer}");
}

#[tokio::test]
async fn a_body_cut_short_is_an_answer_all_the_same() {
    let receiver = answering("HTTP/1.1 503 X\r\ncontent-length: 100\r\n\r\ncut").await;
    let attempt = patient_sender().send(request(receiver.url())).await;
    assert_eq!((attempt.status(), attempt.answer.as_slice()), (Some(503), b"cut".as_slice()));
}
