//! Signals: the first that asks the server to end lets requests finish, the second does not; SIGHUP reads the configuration again.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use groundstate_server::config::Config;
use groundstate_server::edge::{Control, Reloader, Server, Stage};

use super::{configuration, tell_manager};
use crate::args::ServeArgs;
use crate::report::error::{Failure, Kind, Result, chain};
use crate::report::messages::Messages;

/// What has been heard.
#[derive(Clone, Debug, Default)]
pub(super) struct Signals {
    last: Arc<AtomicI32>,
}

impl Signals {
    /// The last signal that asked the server to end; 0 if there was none.
    pub(super) fn seen(&self) -> i32 {
        self.last.load(Ordering::Acquire)
    }

    /// Tells the server to stop, and says so.
    fn stop(&self, signal: i32, control: &Control) {
        self.last.store(signal, Ordering::Release);
        let is_first = control.stage() == Stage::Running;
        control.stop();
        if is_first {
            tell_manager("STOPPING=1");
            Messages::stderr()
                .note("finishing the requests that have begun; another signal ends the server at once");
        }
    }
}

/// Begins to listen.
#[cfg(unix)]
pub(super) fn listen(args: &ServeArgs, config: Config, server: &Server) -> Result<Signals> {
    use tokio::signal::unix::{SignalKind, signal};
    let failed =
        |error: io::Error| Failure::new(Kind::Unreachable, format!("cannot listen for signals: {error}"));
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut hang_up = signal(SignalKind::hangup()).map_err(failed)?;
    let signals = Signals::default();
    let (heard, control, reloader) = (signals.clone(), server.control(), server.reloader());
    let args = args.clone();
    drop(tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = terminate.recv() => heard.stop(SignalKind::terminate().as_raw_value(), &control),
                _ = interrupt.recv() => heard.stop(SignalKind::interrupt().as_raw_value(), &control),
                _ = hang_up.recv() => reload(&args, &config, &reloader),
            }
        }
    }));
    Ok(signals)
}

/// Begins to listen for the key that interrupts.
#[cfg(not(unix))]
pub(super) fn listen(_: &ServeArgs, _: Config, server: &Server) -> Result<Signals> {
    const INTERRUPT: i32 = 2;
    let signals = Signals::default();
    let (heard, control) = (signals.clone(), server.control());
    drop(tokio::spawn(async move {
        while tokio::signal::ctrl_c().await.is_ok() {
            heard.stop(INTERRUPT, &control);
        }
    }));
    Ok(signals)
}

/// Reads the configuration again; `config` is that with which the server started. What is wrong with it is said, and the server goes on as before.
#[cfg(unix)]
fn reload(args: &ServeArgs, config: &Config, reloader: &Reloader) {
    tell_manager("RELOADING=1");
    let read = configuration(args).and_then(|read| match reloader.reload(&read) {
        Ok(()) => Ok(read),
        Err(error) => Err(Failure::new(Kind::NoState, chain(&error))),
    });
    match read {
        Ok(read) => {
            Messages::stderr().note("the configuration was read again");
            for name in config.needs_restart(&read) {
                let message = format!("the new value of `{name}` counts once the server starts again");
                Messages::stderr().warning(&message);
            }
        }
        Err(failure) => {
            Messages::stderr()
                .warning("the configuration was not read again, and the server goes on as before");
            Messages::stderr().failure(&failure);
        }
    }
    tell_manager("READY=1");
}
