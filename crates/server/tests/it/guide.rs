//! The receivers of docs/webhooks.md, run as they are printed there, with the vector that is printed there.

mod receiver;

use std::{path::Path, process::Command};

use domain::{
    DeliveryId,
    events::{Event, EventKind},
    webhooks::signature::{Envelope, Secret},
};
use time::OffsetDateTime;

const GUIDE: &str = include_str!("../../../../docs/webhooks.md");
const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const SENT_AT: i64 = 1_767_225_600;

/// What stands between the fence of a language and the next one.
fn block(language: &str) -> &'static str {
    let (_, rest) = GUIDE.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

/// The printed request: headers and body.
fn request() -> (Headers, &'static str) {
    let (head, body) = block("http").split_once("\n\n").unwrap();
    (head.lines().filter_map(|line| line.split_once(": ")).collect(), body.trim_end())
}

type Headers = Vec<(&'static str, &'static str)>;

/// Requests (headers, body, time of receipt) and whether they are right: the printed one, one with another body, an old
/// one, one that is right by the replaced secret, and one without signatures.
fn cases() -> Vec<(Headers, String, i64, bool)> {
    let (headers, body) = request();
    let renamed =
        |(name, value)| if name == "x-svc-signature" { ("x-svc-signature-previous", value) } else { (name, value) };
    vec![
        (headers.clone(), body.to_owned(), SENT_AT + 300, true),
        (headers.clone(), body.replace("84", "85"), SENT_AT, false),
        (headers.clone(), body.to_owned(), SENT_AT + 301, false),
        (headers.clone().into_iter().map(renamed).collect(), body.to_owned(), SENT_AT, true),
        (
            headers.into_iter().filter(|(name, _)| !name.contains("signature")).collect(),
            body.to_owned(),
            SENT_AT,
            false,
        ),
    ]
}

/// Runs a program text that prints what its `verify` says of a case, which is JSON on the command line.
fn run(program: &str, file: &str, text: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(file);
    std::fs::write(&file, text).unwrap();
    judge_cases(Path::new(program), &[&file]);
}

/// Runs a program that prints what its `verify` says of a case, which is the last word of its command line.
fn judge_cases(program: &Path, arguments: &[&Path]) {
    for (headers, body, now, right) in cases() {
        let headers: serde_json::Map<_, _> =
            headers.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        let case = serde_json::json!({ "secret": SECRET, "headers": headers, "body": body, "now": now });
        let output = Command::new(program).args(arguments).arg(case.to_string()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).trim().to_lowercase();
        assert_eq!(said, right.to_string(), "{program:?}, {case}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

fn is_installed(program: &str) -> bool {
    let question = if program == "go" { "version" } else { "--version" };
    Command::new(program).arg(question).output().is_ok_and(|output| output.status.success())
}

/// What the code sends as a sample, with the secret and the time of the guide.
#[test]
fn the_printed_request_is_what_is_sent() {
    let (headers, body) = request();
    let sample = Event::sample(EventKind::CreditsLow).body().unwrap();
    assert_eq!(body, String::from_utf8(sample).unwrap());
    let value = |name: &str| headers.iter().find(|(known, _)| *known == name).unwrap().1;
    let envelope = Envelope {
        delivery_id: DeliveryId(value("x-svc-delivery-id").parse().unwrap()),
        event_id: value("x-svc-event-id"),
        attempt: 1,
        now: OffsetDateTime::from_unix_timestamp(SENT_AT).unwrap(),
        secret: &Secret::parse(SECRET).unwrap(),
        previous: None,
        body: body.as_bytes(),
    };
    let mut sent = envelope.headers();
    let mut printed: Vec<_> = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    sent.sort_unstable();
    printed.sort_unstable();
    assert_eq!(sent, printed);
}

#[test]
fn the_receiver_in_python_verifies_the_vector() {
    if is_installed("python3") {
        let call = "import json, sys\ncase = json.loads(sys.argv[1])\nprint(verify(case['secret'], case['headers'], case['body'].encode(), case['now']))\n";
        run("python3", "receiver.py", &format!("{}\n{call}", block("python")));
    }
}

#[test]
fn the_receiver_in_node_verifies_the_vector() {
    if is_installed("node") {
        let call = "const given = JSON.parse(process.argv[2]);\nconsole.log(verify(given.secret, given.headers, given.body, given.now));\n";
        run("node", "receiver.js", &format!("{}\n{call}", block("js")));
    }
}

#[test]
fn the_receiver_in_php_verifies_the_vector() {
    if is_installed("php") {
        let call = "$case = json_decode($argv[1], true);\n\
            echo var_export(verify($case['secret'], $case['headers'], $case['body'], $case['now']), true);\n";
        run("php", "receiver.php", &format!("<?php\n{}\n{call}", block("php")));
    }
}

const GO_PROGRAM: &str = r#"package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	var given struct {
		Secret, Body string
		Headers      map[string]string
		Now          int64
	}
	if err := json.Unmarshal([]byte(os.Args[1]), &given); err != nil {
		panic(err)
	}
	headers := http.Header{}
	for name, value := range given.Headers {
		headers.Set(name, value)
	}
	fmt.Println(verify(given.Secret, headers, []byte(given.Body), time.Unix(given.Now, 0)))
}
"#;

#[test]
fn the_receiver_in_go_verifies_the_vector() {
    if is_installed("go") {
        let folder = tempfile::tempdir().unwrap();
        let (source, program) = (folder.path().join("receiver.go"), folder.path().join("receiver"));
        std::fs::write(&source, format!("{GO_PROGRAM}\n{}", block("go"))).unwrap();
        let mut build = Command::new("go");
        build
            .args(["build", "-o"])
            .args([&program, &source])
            .env("GOCACHE", concat!(env!("CARGO_TARGET_TMPDIR"), "/go"));
        let built = build.env("GO111MODULE", "off").env("CGO_ENABLED", "0").output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        judge_cases(&program, &[]);
    }
}

#[test]
fn the_receiver_in_rust_verifies_the_vector() {
    assert_eq!(block("rust"), include_str!("guide/receiver.rs"), "the guide and the receiver that is run differ");
    for (headers, body, now, right) in cases() {
        let header = |name: &str| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        assert_eq!(receiver::verify(SECRET, header, body.as_bytes(), now), right);
    }
}
