//! Logs and metrics.

use std::{
    borrow::Cow,
    io::{self, IsTerminal, StderrLock, Write},
    os::fd::AsFd,
    panic::{self, PanicHookInfo},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
};
use tracing::span::Record;
use tracing_subscriber::{
    EnvFilter,
    field::RecordFields,
    filter::LevelFilter,
    fmt::{
        FormatFields, FormattedFields, SubscriberBuilder,
        format::{Compact, DefaultFields, Format, Json, JsonFields, Writer},
    },
    util::SubscriberInitExt,
};

use crate::commands::Misconfigured;

/// Bounds of the latency histograms, seconds.
const LATENCY_BUCKETS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// What libraries say about their own threads, and Postgres about its migrations, is of no use to an operator. A filter that
/// names them has them say it.
const QUIET: &str = "actix_server=warn,tokio_postgres=warn";
/// The HTTP library logs as an error what is no HTTP, which any client can send, in any number and without a key.
const NOT_HTTP: &str = "actix_http=off";

/// Starts logging on standard error, so that standard output stays a command's result: lines for people on a terminal, else
/// one JSON object a line. A service does without a line that nobody takes; the log of a command that ends waits for its reader.
pub fn init_logs(filter: &str, is_service: bool) -> anyhow::Result<()> {
    let filter = filter_of(filter)?;
    let writer = move || StandardError { may_skip: is_service };
    let started = if io::stderr().is_terminal() {
        for_people(filter).with_writer(writer).finish().try_init()
    } else {
        json(filter).with_writer(writer).finish().try_init()
    };
    started.map_err(|error| anyhow::anyhow!("cannot start logging: {error}"))?;
    panic::set_hook(Box::new(log_panic));
    Ok(())
}

/// How long a line waits for a reader of standard error, in milliseconds, where none was missing before.
const READER_WAITED_FOR_MS: u16 = 1_000;
/// What a pipe takes without waiting as soon as it takes anything.
const AT_ONCE: usize = 4_096;

/// Whether standard error did not take the last line.
static IS_STUCK: AtomicBool = AtomicBool::new(false);
/// Whether a line that standard error took in part has no end.
static IS_CUT: AtomicBool = AtomicBool::new(false);

/// Standard error. A reader that hangs, such as a collector of logs or a terminal that is held, would hold up everything that is
/// logged about, and the end of the process.
struct StandardError {
    may_skip: bool,
}

impl Write for StandardError {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.write_all(line)?;
        Ok(line.len())
    }

    /// A line, which no other comes in between.
    fn write_all(&mut self, line: &[u8]) -> io::Result<()> {
        let may_skip = self.may_skip;
        write_line(&mut io::stderr().lock(), line, &IS_CUT, |stderr| !may_skip || takes_more(stderr))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a line as far as it is taken. One that was cut off is ended first, or this one would be read as its rest.
fn write_line<W: Write>(
    out: &mut W,
    line: &[u8],
    is_cut: &AtomicBool,
    mut takes_more: impl FnMut(&W) -> bool,
) -> io::Result<()> {
    let line: Cow<'_, [u8]> =
        if is_cut.load(Ordering::Relaxed) { [b"\n".as_slice(), line].concat().into() } else { line.into() };
    for (place, part) in line.chunks(AT_ONCE).enumerate() {
        if !takes_more(&*out) {
            metrics::counter!("log_lines_skipped_total").increment(1);
            is_cut.fetch_or(place > 0, Ordering::Relaxed);
            return Ok(());
        }
        out.write_all(part)?;
    }
    is_cut.store(false, Ordering::Relaxed);
    Ok(())
}

fn takes_more(stderr: &StderrLock<'_>) -> bool {
    let is_stuck = IS_STUCK.load(Ordering::Relaxed);
    let wait = if is_stuck { PollTimeout::ZERO } else { PollTimeout::from(READER_WAITED_FOR_MS) };
    let mut asked = [PollFd::new(stderr.as_fd(), PollFlags::POLLOUT)];
    // A wait that a signal cut short was one, too.
    let is_stuck = matches!(poll(&mut asked, wait), Ok(0) | Err(Errno::EINTR));
    IS_STUCK.store(is_stuck, Ordering::Relaxed);
    !is_stuck
}

/// A panic is a line of the log as well, within the spans that it happened in.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let at = panic.location().map(ToString::to_string);
    tracing::error!(at, panic = panic.payload_as_str(), "a thread panicked");
}

/// What is logged.
///
/// # Errors
/// [`Misconfigured`] when the text is no filter, or none with a level.
pub fn filter_of(filter: &str) -> Result<EnvFilter, Misconfigured> {
    // A word that is no level, such as `warning`, is the name of a target: of nothing else would there be a log.
    let has_level = |part: &str| part.contains(['=', '[']) || part.parse::<LevelFilter>().is_ok();
    if !filter.split(',').any(|part| has_level(part.trim())) {
        return Err(Misconfigured(format!(
            "log: `{filter}` names no level: error, warn, info, debug, trace or off, or a filter such as info,store=debug"
        )));
    }
    let parse = |filter: &str| {
        EnvFilter::try_new(filter).map_err(|error| Misconfigured(format!("log: not a log filter: {error}")))
    };
    let asked = parse(&format!("{NOT_HTTP},{filter}"))?;
    // Where less than warnings is asked for, those of libraries are not wanted either.
    if asked.max_level_hint().is_some_and(|most| most < LevelFilter::WARN) {
        return Ok(asked);
    }
    parse(&format!("{NOT_HTTP},{QUIET},{filter}"))
}

/// Time, level, message and fields, those of the spans last.
///
/// That a line could not be written would itself be written to standard error, with a panic where that fails: on a full disk,
/// or without a reader, every line would end its thread. So errors of writing are passed over, here and in [`json`].
fn for_people(filter: EnvFilter) -> SubscriberBuilder<DefaultFields, Format<Compact>, EnvFilter> {
    tracing_subscriber::fmt().compact().with_target(false).log_internal_errors(false).with_env_filter(filter)
}

/// The spans that a line belongs to are in its list `spans`, outermost first.
fn json(filter: EnvFilter) -> SubscriberBuilder<AppendedFields, Format<Json>, EnvFilter> {
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(true)
        .log_internal_errors(false)
        .fmt_fields(AppendedFields(JsonFields::new()))
        .with_env_filter(filter)
}

/// The fields of a span as JSON. Those that are recorded later, as a request's account is, are appended: [`JsonFields`]
/// would parse and write the whole object again, with every request.
struct AppendedFields(JsonFields);

impl<'writer> FormatFields<'writer> for AppendedFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'writer>, fields: R) -> std::fmt::Result {
        self.0.format_fields(writer, fields)
    }

    fn add_fields(&self, current: &'writer mut FormattedFields<Self>, fields: &Record<'_>) -> std::fmt::Result {
        let mut added = FormattedFields::<JsonFields>::new(String::new());
        self.0.format_fields(added.as_writer(), fields)?;
        let (object, added) = (&mut current.fields, added.fields.trim_start_matches('{'));
        let _ = object.pop();
        if object.len() > 1 && added.len() > 1 {
            object.push(',');
        }
        object.push_str(added);
        Ok(())
    }
}

/// How often what was measured is summed up. Until then every single value of a histogram is kept, scraped or not.
const SUM_UP_EVERY: Duration = Duration::from_secs(5);

/// Starts collecting metrics; the handle renders them for Prometheus. [`upkeep`] is to run beside it.
pub fn init_metrics() -> anyhow::Result<PrometheusHandle> {
    Ok(builder()?.install_recorder()?)
}

/// Sums up what was measured, again and again; never ends.
pub async fn upkeep(handle: PrometheusHandle) {
    sum_up(handle, SUM_UP_EVERY).await;
}

fn builder() -> anyhow::Result<PrometheusBuilder> {
    Ok(PrometheusBuilder::new().set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &LATENCY_BUCKETS)?)
}

async fn sum_up(handle: PrometheusHandle, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        handle.run_upkeep();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Logs an error in the span of a request.
    fn log_error() {
        let span = tracing::error_span!("request", request_id = "some-request", account_id = tracing::field::Empty);
        span.record("account_id", 7);
        span.in_scope(|| tracing::error!(cause = "the reason", "request failed"));
    }

    #[test]
    fn a_line_after_one_that_was_cut_off_is_whole() {
        let (mut out, is_cut) = (Vec::new(), AtomicBool::new(false));
        let mut write = |line: &[u8], mut parts_taken: i32| {
            let takes_more = |_: &Vec<u8>| {
                parts_taken -= 1;
                parts_taken >= 0
            };
            write_line(&mut out, line, &is_cut, takes_more).unwrap();
        };
        write(&[b'a'; AT_ONCE + 1], 1);
        write(b"skipped\n", 0);
        write(b"b\n", 1);
        write(b"c\n", 1);
        assert_eq!(&out[AT_ONCE..], b"\nb\nc\n");
    }

    #[test]
    fn no_more_is_logged_than_was_asked_for() {
        for (filter, most) in [
            ("off", LevelFilter::OFF),
            ("error", LevelFilter::ERROR),
            ("warn", LevelFilter::WARN),
            ("store=debug", LevelFilter::DEBUG),
        ] {
            assert_eq!(filter_of(filter).unwrap().max_level_hint(), Some(most), "{filter}");
        }
    }

    #[test]
    fn a_filter_that_would_end_the_log_is_refused() {
        for filter in ["warning", "inf", "store", "store, web"] {
            let Misconfigured(said) = filter_of(filter).unwrap_err();
            assert!(said.contains(filter) && said.contains("error, warn, info"), "{said}");
        }
        for filter in ["WARN", "3", "info,store=debug", "store,off", "[request]=debug"] {
            assert!(filter_of(filter).is_ok(), "{filter}");
        }
    }

    #[test]
    fn what_is_no_http_is_no_error_of_the_service() {
        for (filter, logged) in [("info", false), ("error", false), ("info,actix_http=error", true)] {
            let lines = Lines::default();
            let writer = lines.clone();
            let subscriber = json(filter_of(filter).unwrap()).with_writer(move || writer.clone()).finish();
            tracing::subscriber::with_default(subscriber, || {
                tracing::error!(target: "actix_http::h1::dispatcher", "stream error: request parse error");
            });
            assert_eq!(!lines.0.lock().unwrap().is_empty(), logged, "{filter}");
        }
    }

    #[test]
    fn a_line_of_json_lists_its_spans() {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = json(EnvFilter::new("error")).with_writer(move || writer.clone()).finish();
        tracing::subscriber::with_default(subscriber, log_error);
        let line: serde_json::Value = serde_json::from_slice(&lines.0.lock().unwrap()).unwrap();
        assert_eq!([&line["level"], &line["message"], &line["cause"]], ["ERROR", "request failed", "the reason"]);
        let request = serde_json::json!({"name": "request", "request_id": "some-request", "account_id": 7});
        assert_eq!(line["spans"], serde_json::json!([request]));
    }

    #[test]
    fn fields_that_are_recorded_one_by_one_are_one_object() {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = json(EnvFilter::new("error")).with_writer(move || writer.clone()).finish();
        tracing::subscriber::with_default(subscriber, || {
            let span = tracing::error_span!("job", claim = tracing::field::Empty, until = tracing::field::Empty);
            span.record("claim", 3);
            span.record("until", "{\"noon\"}");
            span.in_scope(|| tracing::error!("job failed"));
        });
        let line: serde_json::Value = serde_json::from_slice(&lines.0.lock().unwrap()).unwrap();
        assert_eq!(line["spans"], serde_json::json!([{"name": "job", "claim": 3, "until": "{\"noon\"}"}]));
    }

    #[test]
    fn a_panic_is_a_line_with_its_spans() {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = json(EnvFilter::new("error")).with_writer(move || writer.clone()).finish();
        let before = panic::take_hook();
        panic::set_hook(Box::new(log_panic));
        let ended = panic::catch_unwind(panic::AssertUnwindSafe(|| {
            tracing::subscriber::with_default(subscriber, || {
                tracing::error_span!("job", account_id = 7).in_scope(|| panic!("on purpose"));
            });
        }));
        panic::set_hook(before);
        assert!(ended.is_err());
        let line: serde_json::Value = serde_json::from_slice(&lines.0.lock().unwrap()).unwrap();
        assert_eq!(line["panic"], "on purpose");
        assert!(line["at"].as_str().unwrap().contains("telemetry.rs:"), "{line}");
        assert_eq!(line["spans"], serde_json::json!([{"name": "job", "account_id": 7}]));
    }

    #[test]
    fn a_line_for_people_says_when_how_bad_what_and_of_which_request() {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = for_people(EnvFilter::new("error")).with_ansi(false).with_writer(move || writer.clone());
        tracing::subscriber::with_default(subscriber.finish(), log_error);
        let line = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        let (time, said) = line.split_once(' ').unwrap();
        assert!(time.ends_with('Z') && time.contains('T'), "{line}");
        assert_eq!(said.split_whitespace().next(), Some("ERROR"), "{line}");
        assert!(said.contains("request failed cause=\"the reason\""), "{line}");
        assert!(said.contains("request_id=\"some-request\" account_id=7"), "{line}");
    }

    #[tokio::test]
    async fn values_are_summed_up_though_nobody_asks_for_them() {
        let recorder = builder().unwrap().build_recorder();
        let handle = recorder.handle();
        metrics::with_local_recorder(&recorder, || {
            (0..1_000).for_each(|_| metrics::histogram!("wait_seconds").record(0.3));
        });
        // What renders the metrics would sum them up as well.
        let summed_up = || format!("{handle:?}").contains("count: 1000");
        assert!(!summed_up());
        let task = tokio::spawn(sum_up(handle.clone(), Duration::from_millis(1)));
        let began = std::time::Instant::now();
        while !summed_up() {
            assert!(began.elapsed() < Duration::from_secs(60), "{handle:?}");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        task.abort();
    }
}
