//! What surrounds the compression of answers.

use actix_web::{
    Error,
    body::MessageBody,
    dev::{ServiceRequest, ServiceResponse},
    http::header::{self, AcceptEncoding, Encoding, Header, HeaderMap, HeaderValue},
    middleware::Next,
};

/// The codings that an answer may be sent in.
const CODINGS: [&str; 4] = ["gzip", "br", "zstd", "deflate"];

/// An `Accept-Encoding` that admits nothing we can send is no reason to send nothing, and a coded body has an entity
/// tag of its own.
pub async fn around(
    mut request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    if request.headers().contains_key(header::ACCEPT_ENCODING) && !is_satisfiable(&request) {
        request.headers_mut().remove(header::ACCEPT_ENCODING);
    }
    let mut response = next.call(request).await?;
    if response.headers().contains_key(header::CONTENT_ENCODING) {
        tag_coded(response.headers_mut());
        vary_once(response.headers_mut());
    }
    Ok(response)
}

fn is_satisfiable(request: &ServiceRequest) -> bool {
    let offered = [Encoding::identity(), Encoding::brotli(), Encoding::gzip(), Encoding::deflate(), Encoding::zstd()];
    AcceptEncoding::parse(request).is_ok_and(|wanted| wanted.negotiate(offered.iter()).is_some())
}

/// The bytes of a coded body differ from the plain ones, so must the tag.
fn tag_coded(headers: &mut HeaderMap) {
    let coded = headers.get(header::CONTENT_ENCODING).zip(headers.get(header::ETAG)).and_then(|(coding, tag)| {
        let plain = tag.to_str().ok()?.strip_suffix('"')?;
        HeaderValue::from_str(&format!("{plain}-{}\"", coding.to_str().ok()?)).ok()
    });
    if let Some(tag) = coded {
        headers.insert(header::ETAG, tag);
    }
}

/// An answer that may be coded says so whether it is or not; the compression adds the same to one that is.
fn vary_once(headers: &mut HeaderMap) {
    let mut is_said = false;
    headers.retain(|name, value| {
        let says_so = name.as_str() == "vary" && value.as_bytes().eq_ignore_ascii_case(b"accept-encoding");
        !(says_so && std::mem::replace(&mut is_said, true))
    });
}

/// The text of a tag as it is for the plain body.
pub fn plain_tag(text: &str) -> &str {
    let split = text.rsplit_once('-').filter(|(_, coding)| CODINGS.contains(coding));
    split.map_or(text, |(plain, _)| plain)
}
