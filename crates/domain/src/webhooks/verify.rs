//! Checking a delivery as it was received: which of its signatures are right, and what is wrong with the others.

use time::OffsetDateTime;

use super::signature::{Secret, VerifyFault};

/// The headers that hold signatures, in the order in which they are judged.
const SVC_SIGNATURES: [&str; 2] = ["x-svc-signature", "x-svc-signature-previous"];
const STANDARD_SIGNATURE: &str = "webhook-signature";

/// What one signature of a delivery is worth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The name of its header, in lower case.
    pub header: &'static str,
    /// What is wrong; `None` when nothing is.
    pub problem: Option<Problem>,
}

/// What is wrong with a signature.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("the header {0} is missing")]
    Missing(&'static str),
    #[error(transparent)]
    Wrong(#[from] VerifyFault),
}

/// A verdict for each kind of signature among the headers; none at all when there is no signature. `header` gives the
/// value of a header by its lower-case name.
///
/// During a rotation one of the two `x-svc-…` signatures is by the other secret: that one is passed over when its
/// companion is right.
pub fn verdicts<'a>(
    secret: &Secret,
    header: impl Fn(&'static str) -> Option<&'a str>,
    body: &[u8],
    now: OffsetDateTime,
) -> Vec<Verdict> {
    let there = |name| header(name).ok_or(Problem::Missing(name));
    let mut verdicts = Vec::new();
    for name in SVC_SIGNATURES {
        let Some(signature) = header(name) else { continue };
        let checked = there("x-svc-timestamp").and_then(|at| Ok(secret.verify(at, signature, body, now)?));
        verdicts.push(Verdict { header: name, problem: checked.err() });
    }
    if verdicts.iter().any(|verdict| verdict.problem.is_none()) {
        verdicts.retain(|verdict| verdict.problem.is_none());
    }
    if let Some(signatures) = header(STANDARD_SIGNATURE) {
        let checked = there("webhook-id").and_then(|id| {
            let at = there("webhook-timestamp")?;
            Ok(secret.verify_standard(id, at, signatures, body, now)?)
        });
        verdicts.push(Verdict { header: STANDARD_SIGNATURE, problem: checked.err() });
    }
    verdicts
}

/// Whether there is a signature and every one that was judged is right.
pub fn is_valid(verdicts: &[Verdict]) -> bool {
    !verdicts.is_empty() && verdicts.iter().all(|verdict| verdict.problem.is_none())
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-05-01 12:00 UTC);
    const BODY: &[u8] = b"{}";

    fn judge(headers: &[(&'static str, String)], secret: &Secret) -> Vec<Verdict> {
        let header = |name| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
        verdicts(secret, header, BODY, NOW)
    }

    #[test]
    fn either_secret_of_a_rotation_is_right() {
        let (new, old) = (Secret::generate([1; 32]), Secret::generate([2; 32]));
        let at = NOW.unix_timestamp().to_string();
        let standard = [&new, &old].map(|secret| secret.sign_standard("msg", &at, BODY)).join(" ");
        let headers = [
            ("x-svc-timestamp", at.clone()),
            ("x-svc-signature", new.sign(&at, BODY)),
            ("x-svc-signature-previous", old.sign(&at, BODY)),
            ("webhook-id", "msg".to_owned()),
            ("webhook-timestamp", at),
            ("webhook-signature", standard),
        ];
        for (secret, right) in [(&new, "x-svc-signature"), (&old, "x-svc-signature-previous")] {
            let judged = judge(&headers, secret);
            assert!(is_valid(&judged));
            assert_eq!(judged.iter().map(|verdict| verdict.header).collect::<Vec<_>>(), [right, STANDARD_SIGNATURE]);
        }
        let unrelated = judge(&headers, &Secret::generate([3; 32]));
        assert_eq!(unrelated.len(), 3);
        assert!(unrelated.iter().all(|verdict| verdict.problem == Some(VerifyFault::Mismatch.into())));
    }

    #[test]
    fn what_is_missing_is_named() {
        let secret = Secret::generate([1; 32]);
        assert!(!is_valid(&judge(&[], &secret)));
        let judged = judge(&[("x-svc-signature", "0".repeat(64))], &secret);
        assert_eq!(judged, [Verdict { header: "x-svc-signature", problem: Some(Problem::Missing("x-svc-timestamp")) }]);
    }
}
