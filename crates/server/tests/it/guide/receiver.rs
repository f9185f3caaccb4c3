use ring::hmac;

/// `header` gives the value of a header by its lower-case name; `now` is the Unix time.
pub fn verify<'a>(secret: &str, header: impl Fn(&str) -> Option<&'a str>, body: &[u8], now: i64) -> bool {
    let Some(timestamp) = header("x-svc-timestamp") else { return false };
    if timestamp.parse::<i64>().map_or(true, |sent| (now - sent).abs() > 300) {
        return false;
    }
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.trim_start_matches("whsec_").as_bytes());
    let message = [timestamp.as_bytes(), b".", body].concat();
    ["x-svc-signature", "x-svc-signature-previous"].iter().any(|name| {
        let signature = header(name).and_then(|value| hex::decode(value).ok());
        signature.is_some_and(|signature| hmac::verify(&key, &message, &signature).is_ok())
    })
}
