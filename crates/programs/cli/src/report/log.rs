//! `-v` and `--log-format`: what the libraries tell of their operations on stores, on standard error. Without these, their warnings.

use std::fmt;
use std::io::{self, Write};

use groundstate_common::one_line;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::args::LogFormat;
use crate::report::messages::Messages;
use crate::report::output::escaped_json;

/// What the targets of this project begin with. Others tell of addresses with their queries, so they are not heard.
const OWN: &str = "groundstate";

/// Shows operations from now on, if the command line asks for it, and else warnings alone; a server shows more in any case. No variable
/// of the environment does.
pub(crate) fn start(verbose: u8, format: Option<LogFormat>, is_server: bool) {
    let level = match (verbose, format) {
        (0, None) if is_server => LevelFilter::INFO,
        (0, None) => return warnings(),
        (0 | 1, _) => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let format = format.unwrap_or(LogFormat::Text);
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_span_events(FmtSpan::CLOSE)
        .with_writer(move || Lines(format))
        .log_internal_errors(false);
    let lines = match format {
        LogFormat::Text => lines.with_target(false).boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    let own = Targets::new().with_target(OWN, level);
    // There is no other subscriber in this process.
    drop(tracing_subscriber::registry().with(lines.with_filter(own)).try_init());
}

/// Shows what libraries warn of as this program shows its own warnings.
fn warnings() {
    let own = Targets::new().with_target(OWN, LevelFilter::WARN);
    // There is no other subscriber in this process.
    drop(tracing_subscriber::registry().with(Warnings.with_filter(own)).try_init());
}

struct Warnings;

impl<S: Subscriber> Layer<S> for Warnings {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut text = Text::default();
        event.record(&mut text);
        Messages::stderr().warning(&one_line(&format!("{}{}", text.message, text.fields)));
    }
}

/// The message of an event, and its fields behind it.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            name => self.fields.push_str(&format!(", {name}: {value:?}")),
        }
    }
}

/// Writes each event on one line, whatever other programs have put into the names in it; silent if standard error is closed.
struct Lines(LogFormat);

impl Write for Lines {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let line = match self.0 {
            LogFormat::Text => one_line(text),
            LogFormat::Json => escaped_json(text),
        };
        drop(io::stderr().write_all(format!("{line}\n").as_bytes()));
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
