//! The machine that the figures are from.

use std::fs;
use std::process::Command;

/// Processor, cores, memory and system in one line, as far as they are known.
pub(crate) fn line() -> String {
    let processor = field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = field("/proc/meminfo", "MemTotal").and_then(|text| {
        let kib: u64 = text.split(' ').next()?.parse().ok()?;
        Some(format!(", {} GiB", kib.div_ceil(1 << 20)))
    });
    format!("{processor}, {cores} cores{}, {}", memory.unwrap_or_default(), std::env::consts::OS)
}

/// The first line that a program prints about its version.
pub(crate) fn version_of(program: &str, argument: &str) -> Option<String> {
    let output = Command::new(program).arg(argument).env("CHECKPOINT_DISABLE", "1").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.lines().next().unwrap_or_default().trim().to_owned())
}

/// How many processes wanted to run, on average over 1, 5 and 15 minutes.
pub(crate) fn load() -> Option<String> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    Some(text.split(' ').take(3).collect::<Vec<_>>().join(", "))
}

fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
