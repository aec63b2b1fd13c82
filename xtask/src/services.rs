//! `cargo xtask services`: servers for tests, installed into `target/services` and started on free ports of this machine,
//! and programs for tests and checks, built once per machine.

mod account;
mod definition;
mod install;
mod process;
pub(crate) mod programs;
mod running;

use std::path::{Path, PathBuf};

use definition::Service;
use install::{lacks, lacks_venv};
use process::Process;
use running::{Running, make, write};

use crate::outcome::{Failure, Outcome};
use crate::workspace::target;

/// Names the peers that are up, for `GROUNDSTATE_REQUIRE`.
const PEERS: &str = "GROUNDSTATE_PEERS";

/// Runs one of the commands of the usage text.
pub(crate) fn run(args: &[String]) -> Outcome {
    let usage =
        || Failure::Usage("say `services up [NAME...]`, `down [NAME...]`, `status` or `env`".to_owned());
    let (command, names) = args.split_first().ok_or_else(usage)?;
    if command == "install" {
        return programs::install(names);
    }
    let services = definition::all()?;
    if let Some(name) = names.iter().find(|name| services.iter().all(|service| service.name != **name)) {
        let known: Vec<&str> = services.iter().map(|service| service.name.as_str()).collect();
        return Err(Failure::Usage(format!("there is no service `{name}`, but {}", known.join(", "))));
    }
    let named = |service: &&Service| names.contains(&service.name);
    let root = || target().map(|target| target.join("services"));
    match (command.as_str(), names) {
        ("up", []) => up(&root()?, &services, services.iter().filter(|service| service.by_default)),
        ("up", _) => up(&root()?, &services, services.iter().filter(named)),
        ("down", []) => down(&root()?, &services, services.iter()),
        ("down", _) => down(&root()?, &services, services.iter().filter(named)),
        ("status", []) => {
            print!("{}", table(&root()?, &services));
            Ok(())
        }
        ("env", []) => {
            print!("{}", environment(&root()?, &services));
            println!("export PATH={}", quoted(&programs::path()?.to_string_lossy()));
            Ok(())
        }
        _ => Err(usage()),
    }
}

/// Starts services that do not run. What cannot be had on this machine is no failure, what does not start is.
fn up<'a>(root: &Path, all: &[Service], wanted: impl Iterator<Item = &'a Service>) -> Outcome {
    make(root)?;
    let _turn = Turn::take(root)?;
    let mut failed = Vec::new();
    for service in wanted {
        let name = &service.name;
        match start(root, service) {
            Ok((running, verb)) => println!("{name}: {verb} on port {}", running.port),
            Err(Failure::Missing(why)) => println!("{name}: not started: {why}"),
            Err(failure) => {
                println!("{name}: FAILED: {failure}");
                failed.push(name.as_str());
            }
        }
    }
    write(&root.join("env"), &environment(root, all))?;
    if failed.is_empty() { Ok(()) } else { Err(Failure::Check(format!("failed: {}", failed.join(", ")))) }
}

fn start(root: &Path, service: &Service) -> Outcome<(Running, &'static str)> {
    if let Some(running) = Running::find(service, root) {
        if running.is_healthy(service) {
            return Ok((running, "runs already"));
        }
        running.stop(service, root)?;
    }
    if let Some(why) = lacks(service) {
        return Err(Failure::Missing(why));
    }
    if lacks_venv(service) {
        return Err(Failure::Missing("Python's module `venv` is not installed".to_owned()));
    }
    Ok((Running::start(service, root)?, "started"))
}

/// Stops what earlier calls have started, also if they never came to their end.
fn down<'a>(root: &Path, all: &[Service], wanted: impl Iterator<Item = &'a Service>) -> Outcome {
    if !root.exists() {
        return Ok(());
    }
    let _turn = Turn::take(root)?;
    for service in wanted {
        if let Some(running) = Running::find(service, root) {
            running.stop(service, root)?;
            println!("{}: stopped", service.name);
        }
    }
    write(&root.join("env"), &environment(root, all))
}

fn table(root: &Path, services: &[Service]) -> String {
    let mut text = format!("{:<16} {:<10} {:>6} {:>8}  WHERE\n", "SERVICE", "STATE", "PORT", "PROCESS");
    for service in services {
        let name = &service.name;
        let line = match Running::find(service, root) {
            None => match lacks(service) {
                None => format!("{name:<16} down"),
                Some(why) => format!("{name:<16} {:<10} {:>6} {:>8}  {why}", "absent", "", ""),
            },
            Some(running) => {
                let (alive, healthy) = (running.process.is_alive(), running.is_healthy(service));
                let state = if healthy {
                    "up"
                } else if alive {
                    "silent"
                } else {
                    "died"
                };
                let place = if healthy { exports(&running, service) } else { log(root, service) };
                format!("{name:<16} {state:<10} {:>6} {:>8}  {place}", running.port, running.process.id)
            }
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn exports(running: &Running, service: &Service) -> String {
    let pairs = running.exports(service).into_iter().map(|(name, value)| format!("{name}={value}"));
    pairs.collect::<Vec<_>>().join(" ")
}

fn log(root: &Path, service: &Service) -> String {
    format!("see {}", root.join(&service.name).join("log").display())
}

/// What a shell has to evaluate so that tests find the services that are up.
fn environment(root: &Path, services: &[Service]) -> String {
    let mut peers: Vec<&str> = Vec::new();
    let mut text = String::new();
    for service in services {
        let Some(running) = Running::find(service, root).filter(|running| running.is_healthy(service)) else {
            continue;
        };
        if !peers.contains(&service.peer.as_str()) {
            peers.push(&service.peer);
        }
        for (name, value) in running.exports(service) {
            text.push_str(&format!("export {name}={}\n", quoted(&value)));
        }
    }
    text.push_str(&format!("export {PEERS}={}\n", quoted(&peers.join(","))));
    text
}

/// A word as a shell takes it literally.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The right to start and stop: two calls at once would start everything twice.
#[derive(Debug)]
struct Turn(PathBuf);

impl Turn {
    fn take(root: &Path) -> Outcome<Self> {
        let path = root.join("turn");
        if let Some(other) = std::fs::read_to_string(&path).ok().and_then(|text| Process::from_text(&text))
            && other.is_alive()
        {
            let message = format!("process {} is starting or stopping services, wait for it", other.id);
            return Err(Failure::Check(message));
        }
        write(&path, &Process::current().to_text())?;
        Ok(Self(path))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // What stays behind names a process that is gone, and counts for nothing.
        let _removed = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::{Turn, quoted, run};
    use crate::outcome::Failure;

    #[test]
    fn wrong_usage_is_told_before_anything_starts() {
        for args in [&[][..], &["sideways"], &["up", "no-such-service"], &["env", "moto"], &["status", "gcs"]]
        {
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            assert!(matches!(run(&args), Err(Failure::Usage(_))), "{args:?}");
        }
    }

    #[test]
    fn words_are_quoted_for_shells() {
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }

    #[test]
    fn one_call_at_a_time_starts_and_stops() {
        let root = std::env::temp_dir().join(format!("groundstate-xtask-turn-{}", std::process::id()));
        std::fs::create_dir_all(&root).unwrap();
        let turn = Turn::take(&root).unwrap();
        assert!(matches!(Turn::take(&root), Err(Failure::Check(_))));
        drop(turn);
        // What a killed call left behind blocks no later call.
        std::fs::write(root.join("turn"), format!("{} 1", std::process::id())).unwrap();
        drop(Turn::take(&root).unwrap());
        std::fs::remove_dir_all(root).unwrap();
    }
}
