//! Opening, keeping and losing connections.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::webhooks::attempt::{FailureCode, Sender};
use tokio::io::AsyncWriteExt;

use crate::receiver::{Receiver, code, failure, patient_sender, read_request, request};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

#[tokio::test]
async fn a_connection_is_kept_for_the_next_delivery() {
    let receiver = Receiver::start(|mut stream| async move {
        while read_request(&mut stream).await.is_some() {
            stream.write_all(OK).await.unwrap();
        }
    })
    .await;
    let sender = patient_sender();
    for i in 0..5 {
        let attempt = sender.send(request(receiver.url())).await;
        assert!(attempt.is_success());
        assert_eq!(attempt.timings.connect.is_some(), i == 0);
    }
    assert_eq!(receiver.accepted(), 1);
}

#[tokio::test]
async fn a_kept_connection_that_the_receiver_closed_is_replaced() {
    let receiver = Receiver::start(|mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(OK).await.unwrap();
    })
    .await;
    let sender = patient_sender();
    for _ in 0..5 {
        assert!(sender.send(request(receiver.url())).await.is_success());
    }
    assert_eq!(receiver.accepted(), 5);
}

#[tokio::test]
async fn a_kept_connection_that_is_reset_by_the_next_request_is_replaced() {
    let receiver = Receiver::start(|mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(OK).await.unwrap();
        read_request(&mut stream).await;
    })
    .await;
    let sender = patient_sender();
    assert!(sender.send(request(receiver.url())).await.is_success());
    assert!(sender.send(request(receiver.url())).await.is_success());
    assert_eq!(receiver.accepted(), 2);
}

#[tokio::test]
async fn a_receiver_that_wants_no_more_is_not_sent_more() {
    let receiver = Receiver::start(|mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        assert_eq!(read_request(&mut stream).await, None);
    })
    .await;
    let sender = patient_sender();
    for _ in 0..2 {
        assert!(sender.send(request(receiver.url())).await.is_success());
    }
    assert_eq!(receiver.accepted(), 2);
}

#[tokio::test]
async fn many_deliveries_at_once_do_not_mix() {
    let receiver = Receiver::start(|mut stream| async move {
        while let Some(request) = read_request(&mut stream).await {
            let (_, body) = request.split_once("\r\n\r\n").unwrap();
            let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    })
    .await;
    let sender = Arc::new(patient_sender());
    let done = Arc::new(AtomicUsize::new(0));
    let tasks = (0..200).map(|i| {
        let (sender, done, mut request) = (Arc::clone(&sender), Arc::clone(&done), request(receiver.url()));
        request.body = format!("body {i}").into_bytes();
        tokio::spawn(async move {
            let body = request.body.clone();
            assert_eq!(sender.send(request).await.answer, body);
            done.fetch_add(1, Ordering::SeqCst);
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    assert_eq!(done.load(Ordering::SeqCst), 200);
}

#[tokio::test]
async fn a_reset_after_the_request_is_one_failed_attempt() {
    let receiver = Receiver::start(|mut stream| async move {
        read_request(&mut stream).await;
        stream.set_zero_linger().unwrap();
    })
    .await;
    let attempt = patient_sender().send(request(receiver.url())).await;
    assert_eq!(code(&attempt), FailureCode::ConnectionClosed);
    assert_eq!(receiver.accepted(), 1);
}

#[tokio::test]
async fn nobody_listening_is_said_so() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let attempt = patient_sender().send(request(format!("http://{address}/"))).await;
    assert_eq!(code(&attempt), FailureCode::ConnectionRefused);
    assert_eq!(failure(&attempt).to_string(), format!("{address} refuses connections"));
}
