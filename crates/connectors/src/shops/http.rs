//! The HTTP client of the platforms. Every exchange has a deadline and a longest answer, and goes where it was sent:
//! through no proxy, and after no redirect.

use std::time::Duration;

use domain::{instants, shops::ShopError};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, header::HeaderMap};
use serde::de::DeserializeOwned;
use time::OffsetDateTime;
use url::Url;

use super::calls;

/// The whole exchange, from connecting to the last byte; for a file, from one byte to the next.
const DEADLINE: Duration = Duration::from_secs(30);
/// A whole file, with the pauses in which what was read of it is stored.
const FILE_DEADLINE: Duration = Duration::from_secs(4 * 3600);
/// Bytes of the longest answer that is read.
const MAX_ANSWER: usize = 16 << 20;
/// Bytes of the longest line of a file.
const MAX_LINE: usize = 1 << 20;

/// The longest pause that is believed.
const LONGEST_PAUSE: time::Duration = time::Duration::DAY;

/// The client; cloning shares its connections.
#[derive(Debug, Clone)]
pub struct Http(Client);

/// An answer, read to its end, whatever its status.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub body: Vec<u8>,
    headers: HeaderMap,
}

impl Http {
    /// # Errors
    /// When the client cannot be set up.
    pub fn new(user_agent: &str) -> Result<Self, ShopError> {
        let client = Client::builder()
            .user_agent(user_agent)
            .connect_timeout(DEADLINE)
            .read_timeout(DEADLINE)
            .timeout(DEADLINE)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .map_err(unavailable)?;
        Ok(Self(client))
    }

    /// A request to be completed and given to [`send`] or [`lines`].
    pub fn request(&self, method: Method, url: Url) -> RequestBuilder {
        self.0.request(method, url)
    }
}

/// Sends a request and reads the answer.
///
/// # Errors
/// [`ShopError::Unavailable`] when there is no whole answer in time; a status is no error.
pub async fn send(request: RequestBuilder) -> Result<Answer, ShopError> {
    calls::sent();
    let mut response = request.send().await.map_err(unavailable)?;
    let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unavailable)? {
        if body.len() + chunk.len() > MAX_ANSWER {
            return Err(ShopError::Malformed("the answer is too long".to_owned()));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Answer { status, body, headers })
}

impl Answer {
    /// An answer for tests.
    #[cfg(test)]
    pub fn example(status: u16, headers: &[(&'static str, &str)], body: &str) -> Self {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        Self { status: StatusCode::from_u16(status).unwrap(), body: body.into(), headers }
    }

    /// The value of a header, if it is visible ASCII.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The platform's present, by the `Date` header (RFC 9110, 6.6.1).
    pub fn date(&self) -> Option<OffsetDateTime> {
        instants::check(instants::parse_http(self.header("date")?)?).ok()
    }

    /// The end of the pause that `Retry-After` asks for, at most a day from `now`: in seconds or as a date (RFC 9110, 10.2.3).
    pub fn retry_after(&self, now: OffsetDateTime) -> Option<OffsetDateTime> {
        let value = self.header("retry-after")?;
        let seconds = value.parse::<f64>().ok().filter(|seconds| *seconds >= 0.0);
        let pause = seconds.map(|seconds| time::Duration::seconds_f64(seconds.min(86_400.0)));
        let until = pause.map(|pause| now + pause).or_else(|| instants::parse_http(value));
        until.map(|until| until.min(now + LONGEST_PAUSE))
    }

    /// The body as JSON.
    ///
    /// # Errors
    /// [`ShopError::Malformed`] with the place, and without what stands there.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, ShopError> {
        serde_json::from_slice(&self.body).map_err(|error| malformed(&error))
    }

    /// The same, of what others can do without if it has another form.
    ///
    /// # Errors
    /// [`ShopError::Malformed`] for that form alone. What is no JSON, or not all of it, is not the platform's answer:
    /// [`ShopError::Unavailable`].
    pub fn detail<T: DeserializeOwned>(&self) -> Result<T, ShopError> {
        serde_json::from_slice(&self.body).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => malformed(&error),
            _ => ShopError::Unavailable("the answer is not JSON, or breaks off".to_owned()),
        })
    }
}

/// What was wrong with JSON, in words that quote nothing of it.
pub fn malformed(error: &serde_json::Error) -> ShopError {
    let what = match error.classify() {
        serde_json::error::Category::Data => "another form than expected",
        serde_json::error::Category::Eof => "it ends too early",
        _ => "no JSON",
    };
    ShopError::Malformed(format!("{what}, line {} column {}", error.line(), error.column()))
}

/// The lines of a file, without holding more than one of them.
#[derive(Debug)]
pub struct Lines {
    response: Response,
    buffer: Vec<u8>,
    /// Where the next line begins in the buffer.
    start: usize,
    /// Up to where it was searched for its end.
    searched: usize,
    /// Bytes read so far, and at most.
    read: u64,
    max: u64,
}

/// Begins to read a file of at most `max` bytes line by line.
///
/// # Errors
/// [`ShopError::NotFound`] when it is not there (any more), [`ShopError::Unavailable`] for other trouble.
pub async fn lines(request: RequestBuilder, max: u64) -> Result<Lines, ShopError> {
    calls::sent();
    let response = request.timeout(FILE_DEADLINE).send().await.map_err(unavailable)?;
    match response.status() {
        StatusCode::OK => Ok(Lines { response, buffer: Vec::new(), start: 0, searched: 0, read: 0, max }),
        StatusCode::NOT_FOUND | StatusCode::FORBIDDEN | StatusCode::GONE => Err(ShopError::NotFound),
        status => Err(ShopError::Unavailable(format!("a file was answered with {status}"))),
    }
}

impl Lines {
    /// The next line that is not empty, without its end. The last one may lack a line feed.
    ///
    /// # Errors
    /// [`ShopError::Unavailable`] when the file breaks off, [`ShopError::Malformed`] when it or a line is too long.
    pub async fn next(&mut self) -> Result<Option<&[u8]>, ShopError> {
        let (from, to) = loop {
            let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
            if let Some(length) = memchr::memchr(b'\n', unsearched) {
                let (from, to) = (self.start, self.searched + length);
                (self.start, self.searched) = (to + 1, to + 1);
                if from < to {
                    break (from, to);
                }
            } else if !self.fill().await? {
                let (from, to) = (self.start, self.buffer.len());
                (self.start, self.searched) = (to, to);
                if from == to {
                    return Ok(None);
                }
                break (from, to);
            }
        };
        Ok(self.buffer.get(from..to))
    }

    /// Reads on; false at the file's end.
    async fn fill(&mut self) -> Result<bool, ShopError> {
        self.searched = self.buffer.len();
        let Some(chunk) = self.response.chunk().await.map_err(unavailable)? else { return Ok(false) };
        self.read += chunk.len() as u64;
        if self.read > self.max {
            return Err(ShopError::Malformed("the file is too long".to_owned()));
        }
        self.buffer.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        if self.buffer.len() > MAX_LINE {
            return Err(ShopError::Malformed("a line of the file is too long".to_owned()));
        }
        self.buffer.extend_from_slice(&chunk);
        Ok(true)
    }
}

/// The address may hold what no log should: only what went wrong is kept.
#[expect(clippy::needless_pass_by_value, reason = "as `map_err` gives it")]
fn unavailable(error: reqwest::Error) -> ShopError {
    let what = if error.is_timeout() {
        "no answer in time"
    } else if error.is_connect() {
        "no connection"
    } else if error.is_builder() {
        "the request cannot be made"
    } else {
        "the connection broke off"
    };
    ShopError::Unavailable(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    fn answer(name: &'static str, value: &str) -> Answer {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        Answer { status: StatusCode::OK, body: Vec::new(), headers }
    }

    #[test]
    fn the_present_is_read_from_the_date() {
        let date = answer("date", "Tue, 24 Nov 2026 06:08:13 GMT").date();
        assert_eq!(date, Some(datetime!(2026-11-24 06:08:13 UTC)));
        assert_eq!(answer("date", "yesterday").date(), None);
        assert_eq!(answer("date", "Fri, 31 Dec 9999 23:59:59 GMT").date(), None);
    }

    #[test]
    fn a_pause_is_asked_for_in_seconds_or_as_a_date() {
        let now = datetime!(2026-11-24 06:00 UTC);
        let until = |value: &str| answer("retry-after", value).retry_after(now);
        assert_eq!(until("2"), Some(datetime!(2026-11-24 06:00:02 UTC)));
        assert_eq!(until("1.5"), Some(datetime!(2026-11-24 06:00:01.5 UTC)));
        for date in ["Tue, 24 Nov 2026 06:08:13 GMT", "Tuesday, 24-Nov-26 06:08:13 GMT", "Tue Nov 24 06:08:13 2026"] {
            assert_eq!(until(date), Some(datetime!(2026-11-24 06:08:13 UTC)), "{date}");
        }
        assert_eq!(until("Fri, 31 Dec 9999 23:59:59 GMT"), Some(datetime!(2026-11-25 06:00 UTC)), "at most a day");
        assert_eq!(until("86401"), Some(datetime!(2026-11-25 06:00 UTC)), "at most a day");
        assert_eq!(until("-1"), None);
        assert_eq!(until("NaN"), None);
    }

    #[tokio::test]
    async fn lines_come_one_by_one_and_the_last_needs_no_end() {
        let response = Response::from(http::Response::new("{\"a\":1}\n\n{\"b\":2}\n3"));
        let mut lines = Lines { response, buffer: Vec::new(), start: 0, searched: 0, read: 0, max: 1 << 10 };
        let mut read = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            read.push(String::from_utf8(line.to_vec()).unwrap());
        }
        assert_eq!(read, ["{\"a\":1}", "{\"b\":2}", "3"]);
    }

    #[tokio::test]
    async fn a_file_is_read_up_to_its_limit_only() {
        let response = Response::from(http::Response::new("12345\n"));
        let mut lines = Lines { response, buffer: Vec::new(), start: 0, searched: 0, read: 0, max: 5 };
        assert!(matches!(lines.next().await, Err(ShopError::Malformed(_))));
    }
}
