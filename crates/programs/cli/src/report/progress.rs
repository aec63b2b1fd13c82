//! A bar on standard error while a large state is read.

use std::io::{self, IsTerminal, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shorter reads need no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often a spinner turns.
const TICK: Duration = Duration::from_millis(100);

/// How many bytes all readers of one input have read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Count(Arc<AtomicU64>);

/// How much there is to read, and whether this reader shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Another reader of the same input shows the progress of all.
    ShownElsewhere,
    /// A pipe, which does not tell.
    Unknown,
    /// So many bytes.
    Bytes(u64),
}

/// Shows that work is under way once it takes its time, until this is dropped.
#[derive(Debug)]
pub(crate) struct Working {
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Work that is shown by this word, if standard error is a terminal.
pub(crate) fn working(what: &'static str) -> Working {
    if !io::stderr().is_terminal() {
        return Working { done: None, thread: None };
    }
    let (done, ended) = channel();
    let show = move || {
        if ended.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{msg} {spinner} {elapsed}") {
            bar.set_style(style);
        }
        bar.set_message(what);
        bar.enable_steady_tick(TICK);
        // It ends when the sender is dropped.
        let _ended = ended.recv();
        bar.finish_and_clear();
    };
    // Without a thread nothing is shown.
    let thread = std::thread::Builder::new().name("progress".to_owned()).spawn(show).ok();
    Working { done: Some(done), thread }
}

impl Drop for Working {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Counts what is read, and shows it once reading takes its time.
#[derive(Debug)]
pub(crate) struct Progress<R> {
    input: R,
    extent: Extent,
    count: Count,
    started: Instant,
    bar: Option<ProgressBar>,
    /// A progress bar may be shown.
    wanted: bool,
}

impl<R: Read> Progress<R> {
    /// Reads on behalf of everybody who shares the count.
    pub(crate) fn new(input: R, extent: Extent, count: Count) -> Self {
        let wanted = extent != Extent::ShownElsewhere && io::stderr().is_terminal();
        Self { input, extent, count, started: Instant::now(), bar: None, wanted }
    }

    fn show(&mut self, position: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(position);
        } else if self.started.elapsed() >= PATIENCE {
            self.bar = Some(bar(self.extent, position));
        }
    }
}

fn bar(extent: Extent, position: u64) -> ProgressBar {
    let (total, layout) = match extent {
        Extent::Bytes(total) => (Some(total), "reading {wide_bar} {bytes} of {total_bytes}"),
        _ => (None, "reading {spinner} {bytes}"),
    };
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template(layout) {
        bar.set_style(style);
    }
    bar.set_position(position);
    bar
}

impl<R: Read> Read for Progress<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        let position = self.count.0.fetch_add(read as u64, Ordering::Relaxed) + read as u64;
        if self.wanted {
            self.show(position);
        }
        Ok(read)
    }
}

impl<R> Drop for Progress<R> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
