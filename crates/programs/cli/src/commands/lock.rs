//! `groundstate lock`: holds the lock of a state while a command runs.

use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitStatus};

use groundstate_statemgr::Exclusion;

use crate::args::{LockArgs, LockCommandArgs};
use crate::input::location::StateLocation;
#[cfg(feature = "http")]
use crate::input::{remote::RemoteStack, runtime::runtime};
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::messages::Messages;
use crate::session::interrupt::Interrupts;
use crate::session::locked::{hold, lock_info};
use crate::session::managed_state::ManagedState;

pub(super) fn run(args: &LockCommandArgs) -> Result {
    let opened = ManagedState::open_raw(StateLocation::at(&args.state)?, None, true)?;
    must_exclude(&opened, args.without_lock)?;
    let mut info = lock_info(&opened, "lock")?;
    let program = args.command.first().cloned().unwrap_or_default();
    // Arguments may hold secrets; the name of the program does not.
    info.info = format!("running {}", program.to_string_lossy().replace(char::is_control, "?"));
    let lock = LockArgs { wait: args.wait.clone(), no_lock: false };
    let interrupts = Interrupts::listen()?;
    let command = args.command.clone();
    hold(&opened, &lock, info, &interrupts, async || {
        interrupts.check()?;
        let ran = tokio::task::spawn_blocking(move || spawn_and_wait(&command)).await;
        let status = ran.unwrap_or_else(|error| Err(io::Error::other(error)));
        match status {
            Ok(status) => Ok(Outcome::Ran(code(status))),
            Err(error) => Err(not_run(&program, &error).into()),
        }
    })
}

/// Refuses a place whose lock keeps no other client out, unless the command line asks for that.
fn must_exclude(opened: &ManagedState, without_lock: bool) -> Result<()> {
    ask_service(opened)?;
    if opened.raw.capabilities().exclusion > Exclusion::Look {
        return Ok(());
    }
    let name = &opened.name;
    if without_lock {
        Messages::stderr().warning(&format!("{name} has no lock, so other clients are not kept out"));
        return Ok(());
    }
    let failure = Failure::new(Kind::Usage, format!("cannot lock {name}: the place has no lock"));
    let remote = opened.backup_store.as_ref().map(|backup_store| backup_store.remote());
    let failure = match remote.map(|remote| (remote.is_stack(), remote.place.settings.kind())) {
        Some((true, _)) => failure.hint("this Pulumi service locks a stack for its own updates only"),
        Some((false, "s3")) => failure.hint("set `use_lockfile = true` for every client of the state"),
        Some((false, "http")) => failure.hint("set `lock_address` and `unlock_address`"),
        _ => failure,
    };
    Err(failure.hint("`--without-lock` runs the command without keeping other clients out"))
}

/// Makes the lock of a stack of a service keep other clients out, if the service can do that.
fn ask_service(opened: &ManagedState) -> Result<()> {
    #[cfg(feature = "http")]
    if let Some(RemoteStack::Service(found)) =
        opened.backup_store.as_ref().and_then(|store| store.remote().stack())
    {
        runtime()?.block_on(found.lock_out_others()).map_err(|error| found.failure(&error))?;
    }
    #[cfg(not(feature = "http"))]
    let _ = opened;
    Ok(())
}

/// What a shell would say of a command that ended so.
fn code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Kind::Signal(signal).code();
    }
    // Windows has larger codes than fit.
    status.code().map_or(1, |code| u8::try_from(code).unwrap_or(1))
}

fn not_run(program: &OsString, error: &io::Error) -> Failure {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => Kind::CommandNotFound,
        _ => Kind::CommandNotRun,
    };
    Failure::new(kind, format!("cannot run {}: {error}", program.to_string_lossy()))
}

#[cfg(not(unix))]
fn spawn_and_wait(command: &[OsString]) -> io::Result<ExitStatus> {
    prepared(command)?.status()
}

/// Runs the command, and passes on the signals that it does not get by itself.
#[cfg(unix)]
fn spawn_and_wait(command: &[OsString]) -> io::Result<ExitStatus> {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    use signal_hook::consts::{SIGCHLD, SIGINT};

    let mut watched = crate::session::interrupt::ending();
    watched.push(SIGCHLD);
    // Before the command starts, so that its end is not missed.
    let mut signals = signal_hook::iterator::Signals::new(watched)?;
    let mut child = prepared(command)?.spawn()?;
    let pid = i32::try_from(child.id()).map(Pid::from_raw).map_err(io::Error::other)?;
    loop {
        // A child that has ended keeps its number until it is waited for, and that happens on this thread only.
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        for signal in signals.wait() {
            let sent_to_both = signal == SIGINT && is_in_foreground();
            if signal != SIGCHLD && !sent_to_both {
                // It may have ended just now; then no process is left to signal.
                let _ = Signal::try_from(signal).and_then(|signal| kill(pid, signal));
            }
        }
    }
}

/// Whether the terminal sends its signals to this process and to the command alike.
#[cfg(unix)]
fn is_in_foreground() -> bool {
    let Ok(terminal) = std::fs::File::open("/dev/tty") else { return false };
    nix::unistd::tcgetpgrp(&terminal).is_ok_and(|group| group == nix::unistd::getpgrp())
}

fn prepared(command: &[OsString]) -> io::Result<Command> {
    let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut prepared = Command::new(program);
    prepared.args(arguments);
    Ok(prepared)
}
