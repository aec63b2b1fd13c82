//! Programs that are run to be measured.
//!
//! The kernel tells the most memory of all children a process has waited for, and counts what the child shares with
//! its parent before it becomes another program. So each is started by a fresh process of this program, which is
//! small and has no other children.

use std::ffi::OsString;
use std::io::Write;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use clap::Args;

use super::{Failure, Outcome};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Pass on what the program prints, instead of dropping it
    #[arg(long)]
    keep: bool,
    /// The exit code that the program ends with
    #[arg(long, default_value_t = 0)]
    code: i32,
    /// Seconds of the processor after which the program is stopped
    #[arg(long)]
    seconds: Option<u64>,
    /// Bytes of addresses that the program may have
    #[arg(long)]
    memory: Option<u64>,
    /// Seconds after which the program is stopped, whatever it waits for
    #[arg(long)]
    patience: Option<u64>,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

/// What a program may take, and how it ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The exit code that says that it did what it was run for.
    pub(crate) code: i32,
    /// Seconds of the processor.
    pub(crate) seconds: u64,
    /// Bytes of addresses.
    pub(crate) memory: u64,
}

/// The name under which a cost has the time of the processor.
const PROCESSOR: &str = "processor";

/// The name under which a cost says that the program was stopped.
const STOPPED: &str = "stopped";

/// What a run cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    /// From the start of the program to its end.
    pub(crate) wall: Duration,
    /// The most memory it had, in bytes.
    pub(crate) peak: u64,
    /// Times that the program itself told, by name.
    pub(crate) told: Vec<(String, Duration)>,
}

impl Cost {
    /// How long processors worked for it, which depends less on other programs; the time that passed where that is not known.
    pub(crate) fn processor(&self) -> Duration {
        Some(self.told(PROCESSOR)).filter(|time| !time.is_zero()).unwrap_or(self.wall)
    }

    pub(crate) fn told(&self, name: &str) -> Duration {
        self.told.iter().find(|(known, _)| known == name).map_or(Duration::ZERO, |(_, time)| *time)
    }
}

/// Runs the program and prints its cost as the last line.
pub(crate) fn run(options: &Options) -> Outcome {
    let Some((program, arguments)) = options.command.split_first() else {
        return Err(Failure::Missing("name a program to run".to_owned()));
    };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    command.stdout(if options.keep { Stdio::inherit() } else { Stdio::null() });
    let name = program.to_string_lossy().into_owned();
    confine(options).map_err(|source| Failure::Start { program: name.clone(), source })?;
    let start = Instant::now();
    let started = |source| Failure::Start { program: name.clone(), source };
    let mut child = command.spawn().map_err(started)?;
    let status = match options.patience {
        None => Some(child.wait().map_err(started)?),
        Some(seconds) => wait_for(&mut child, Duration::from_secs(seconds)).map_err(started)?,
    };
    let wall = start.elapsed();
    let Some(status) = status else {
        println!("{}", line(STOPPED, wall, 0));
        println!("{}", line("cost", wall, peak_of_children()));
        return Ok(());
    };
    if status.code() != Some(options.code) {
        return Err(Failure::Child { command: name, status: status.to_string(), stderr: String::new() });
    }
    println!("{}", line(PROCESSOR, processor_of_children(), 0));
    println!("{}", line("cost", wall, peak_of_children()));
    Ok(())
}

/// Waits so long, and then stops the program: then there is no status.
fn wait_for(child: &mut Child, patience: Duration) -> std::io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() >= patience {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Prints a time that a step took, for [`measure`] to read.
pub(crate) fn tell(name: &str, time: Duration) {
    println!("{}", line(name, time, 0));
    // A step that is short of memory may be killed; what it told before counts.
    let _flushed = std::io::stdout().flush();
}

fn line(name: &str, time: Duration, peak: u64) -> String {
    format!("{name} {} {peak}", time.as_nanos())
}

/// Runs a program in a child of a child, and reads what it cost.
pub(crate) fn measure(command: &Command, keep: bool) -> Outcome<Cost> {
    measured(command, keep, &[])
}

/// Runs a program that may take so much and no more; what it prints is dropped.
pub(crate) fn measure_within(command: &Command, limits: &Limits) -> Outcome<Cost> {
    let Limits { code, seconds, memory } = limits;
    let options = [format!("--code={code}"), format!("--seconds={seconds}"), format!("--memory={memory}")];
    measured(command, false, &options)
}

/// Runs a program and reads what it cost; what it prints is dropped. The cost is that until then if the program is stopped when
/// its time is over.
pub(crate) fn measure_for(command: &Command, patience: Duration) -> Outcome<(Cost, Ended)> {
    let cost = measured(command, false, &[format!("--patience={}", patience.as_secs())])?;
    let ended = if cost.told(STOPPED).is_zero() { Ended::ByItself } else { Ended::Stopped };
    Ok((cost, ended))
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    ByItself,
    Stopped,
}

fn measured(command: &Command, keep: bool, options: &[String]) -> Outcome<Cost> {
    let program = command.get_program().to_string_lossy().into_owned();
    let start = |source| Failure::Start { program: program.clone(), source };
    let mut helper = Command::new(std::env::current_exe().map_err(start)?);
    helper
        .arg("child")
        .args(keep.then_some("--keep"))
        .args(options)
        .arg("--")
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => helper.env(name, value),
            None => helper.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        helper.current_dir(folder);
    }
    let output = helper.stdin(Stdio::null()).output().map_err(start)?;
    if !output.status.success() {
        let arguments: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy()).collect();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let command = format!("{program} {}", arguments.join(" "));
        return Err(Failure::Child { command, status: output.status.to_string(), stderr });
    }
    parse(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| Failure::Step(format!("`{program}` told no cost")))
}

fn parse(text: &str) -> Option<Cost> {
    let mut cost = Cost::default();
    for line in text.lines() {
        let mut parts = line.split(' ');
        let (Some(name), Some(nanos), Some(peak)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let (Ok(nanos), Ok(peak)) = (nanos.parse(), peak.parse()) else { continue };
        let time = Duration::from_nanos(nanos);
        if name == "cost" {
            cost.wall = time;
            cost.peak = peak;
        } else {
            cost.told.push((name.to_owned(), time));
        }
    }
    (cost.wall > Duration::ZERO).then_some(cost)
}

/// Limits this process, whose children inherit the limits.
#[cfg(unix)]
fn confine(options: &Options) -> std::io::Result<()> {
    use nix::sys::resource::{Resource, setrlimit};
    if let Some(seconds) = options.seconds {
        setrlimit(Resource::RLIMIT_CPU, seconds, seconds)?;
    }
    if let Some(memory) = options.memory {
        setrlimit(Resource::RLIMIT_AS, memory, memory)?;
    }
    Ok(())
}

/// Not known here: a run ends when it ends.
#[cfg(not(unix))]
fn confine(_options: &Options) -> std::io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn peak_of_children() -> u64 {
    use nix::sys::resource::{UsageWho, getrusage};
    // Linux counts in KiB, macOS in bytes.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    getrusage(UsageWho::RUSAGE_CHILDREN).map_or(0, |usage| usage.max_rss().unsigned_abs() * unit)
}

/// Not known here: no limit of memory is judged.
#[cfg(not(unix))]
fn peak_of_children() -> u64 {
    0
}

#[cfg(unix)]
fn processor_of_children() -> Duration {
    use nix::sys::resource::{UsageWho, getrusage};
    let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return Duration::ZERO };
    let micros = |time: nix::sys::time::TimeVal| {
        let seconds = Duration::from_secs(time.tv_sec().unsigned_abs());
        seconds + Duration::from_micros(time.tv_usec().unsigned_abs())
    };
    micros(usage.user_time()) + micros(usage.system_time())
}

/// Not known here.
#[cfg(not(unix))]
fn processor_of_children() -> Duration {
    Duration::ZERO
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Cost, line, parse};

    #[test]
    fn what_is_told_is_read_back() {
        let time = Duration::from_nanos;
        let text = format!("noise\n{}\n{}\n", line("decode", time(5), 0), line("cost", time(9), 4096));
        let expected = Cost { wall: time(9), peak: 4096, told: vec![("decode".to_owned(), time(5))] };
        assert_eq!(parse(&text), Some(expected));
        assert_eq!(parse("decode 5 0\n"), None);
    }
}
