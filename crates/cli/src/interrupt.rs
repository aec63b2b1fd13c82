//! Signals that ask the command to end, taken at moments when that is safe.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use tokio::sync::Notify;

use crate::error::{Failure, Kind};

/// Hears of signals. While it lives they end nothing by themselves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupts {
    seen: Arc<AtomicI32>,
    notify: Arc<Notify>,
}

impl Interrupts {
    /// Begins to listen.
    pub(crate) fn listen() -> io::Result<Self> {
        let interrupts = Self::default();
        #[cfg(unix)]
        interrupts.spawn()?;
        Ok(interrupts)
    }

    #[cfg(unix)]
    fn spawn(&self) -> io::Result<()> {
        let mut signals = signal_hook::iterator::Signals::new(ending())?;
        let Self { seen, notify } = self.clone();
        let listen = move || {
            for signal in signals.forever() {
                seen.store(signal, Ordering::Release);
                notify.notify_one();
            }
        };
        // The thread ends with the process.
        drop(std::thread::Builder::new().name("signals".to_owned()).spawn(listen)?);
        Ok(())
    }

    /// Waits until somebody asks the command to end.
    pub(crate) async fn wait(&self) -> Failure {
        loop {
            let heard = self.notify.notified();
            if let Err(failure) = self.check() {
                return failure;
            }
            heard.await;
        }
    }

    /// Fails if somebody has asked the command to end.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self.seen.load(Ordering::Acquire) {
            0 => Ok(()),
            signal => Err(Failure::new(Kind::Signal(signal), "interrupted, nothing was written")),
        }
    }
}

/// The signals that ask a program to end, but those that its parent has told it to ignore.
#[cfg(unix)]
pub(crate) fn ending() -> Vec<i32> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let ignored = ignored();
    [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0).collect()
}

/// The set of ignored signals, where the system tells it: nohup(1) makes use of it.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0)
}
