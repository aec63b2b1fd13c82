//! What a test's own thread traces.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, Once, PoisonError};

use tracing::level_filters::LevelFilter;
use tracing::subscriber::{DefaultGuard, set_default, set_global_default};
use tracing_subscriber::fmt::format::FmtSpan;

/// What the thread traces from now on, until it is asked for: every level, a line each.
///
/// Other tests of the process run beside it. A place in the code that traces is asked once, by the thread that comes there first, whether anybody
/// listens, so a subscriber of one thread alone may hear nothing of what another thread came to first. Hence one that takes everything, and keeps
/// nothing, stands behind those of all threads.
#[must_use = "nothing is traced after it is dropped"]
pub struct Traced {
    lines: Lines,
    subscribed: DefaultGuard,
}

impl Traced {
    /// Begins to listen to events, as text.
    pub fn events() -> Self {
        Self::listen(|lines| {
            let text = tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE).with_ansi(false);
            set_default(text.with_writer(move || lines.clone()).finish())
        })
    }

    /// Begins to listen to events and to the ends of spans, each an object in JSON.
    pub fn spans() -> Self {
        Self::listen(|lines| {
            let json = tracing_subscriber::fmt().json().with_max_level(LevelFilter::TRACE);
            let json = json.with_span_events(FmtSpan::CLOSE);
            set_default(json.with_writer(move || lines.clone()).finish())
        })
    }

    fn listen(subscribe: impl FnOnce(Lines) -> DefaultGuard) -> Self {
        static BEHIND: Once = Once::new();
        BEHIND.call_once(|| {
            // A program that has set one hears everything already.
            let _ = set_global_default(tracing_subscriber::registry());
        });
        let lines = Lines::default();
        Self { subscribed: subscribe(lines.clone()), lines }
    }

    /// What was traced.
    pub fn text(self) -> String {
        drop(self.subscribed);
        let lines = self.lines.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&lines).into_owned()
    }
}

impl fmt::Debug for Traced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Traced").finish_non_exhaustive()
    }
}

/// Where events are written.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
