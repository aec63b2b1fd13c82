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
