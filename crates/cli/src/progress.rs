//! A bar on standard error while a large state is read.

use std::io::{self, IsTerminal, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shorter reads need no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// How many bytes all readers of one input have read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Count(Arc<AtomicU64>);

/// Counts what is read, and shows it once reading takes its time.
#[derive(Debug)]
pub(crate) struct Progress<R> {
    input: R,
    total: Option<u64>,
    count: Count,
    started: Instant,
    bar: Option<ProgressBar>,
    /// Somebody may see a bar.
    wanted: bool,
}

impl<R: Read> Progress<R> {
    /// Shows the count of all readers if the total is known; other readers only count.
    pub(crate) fn new(input: R, total: Option<u64>, count: Count) -> Self {
        let wanted = total.is_some() && io::stderr().is_terminal();
        Self { input, total, count, started: Instant::now(), bar: None, wanted }
    }

    fn show(&mut self, position: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(position);
        } else if self.started.elapsed() >= PATIENCE {
            self.bar = Some(bar(self.total, position));
        }
    }
}

fn bar(total: Option<u64>, position: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("reading {wide_bar} {bytes} of {total_bytes}") {
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
