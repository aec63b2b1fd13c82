//! Brings the programs of services into `target/services`, from the package registries.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::definition::{Install, Service};
use crate::outcome::{Failure, Outcome, status, stdout, works};
use crate::workspace::{cargo, packages};

/// Registries are far away: a download that breaks off is tried again.
const ATTEMPTS: u32 = 3;

/// Where the program of a service is, for the placeholder of that name in its file; nothing if none is installed.
pub(super) fn install(service: &Service, root: &Path) -> Outcome<Option<(&'static str, PathBuf)>> {
    let Some(install) = &service.install else { return Ok(None) };
    let placeholder = match install {
        Install::Pip(_) => ("pip", root.join("python/bin")),
        Install::Npm(_) => ("npm", root.join("node/node_modules/.bin")),
        Install::Go(_) => ("go", root.join("go/bin")),
        // Cargo knows by itself what is up to date.
        Install::Cargo(package, binary) => return Ok(Some(("cargo", build(package, binary)?))),
    };
    let note = root.join(&service.name).join("installed");
    let wanted = format!("{install:?}\n");
    if std::fs::read_to_string(&note).is_ok_and(|installed| installed == wanted) && placeholder.1.exists() {
        return Ok(Some(placeholder));
    }
    println!("{}: installing into {}", service.name, root.display());
    let mut attempt = 1;
    while let Err(failure) = download(install, root) {
        if attempt == ATTEMPTS {
            return Err(Failure::Missing(failure.to_string()));
        }
        attempt += 1;
    }
    let failed = |error| Failure::Missing(format!("cannot write {}: {error}", note.display()));
    std::fs::write(&note, wanted).map_err(failed)?;
    Ok(Some(placeholder))
}

fn download(install: &Install, root: &Path) -> Outcome {
    match install {
        Install::Pip(packages) => {
            let venv = root.join("python");
            if !venv.join("bin/pip").exists() {
                status(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
            }
            let quiet = ["install", "--quiet", "--disable-pip-version-check"];
            status(Command::new(venv.join("bin/pip")).args(quiet).args(packages))
        }
        Install::Npm(packages) => {
            let quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--prefix"];
            let mut command = Command::new("npm");
            status(command.arg("install").args(quiet).arg(root.join("node")).args(packages))
        }
        Install::Go(module) => {
            let mut command = Command::new("go");
            status(command.args(["install", module]).env("GOBIN", root.join("go/bin")).env("GOFLAGS", ""))
        }
        Install::Cargo(..) => Ok(()),
    }
}

/// Builds a binary of this workspace and says where it is.
fn build(package: &str, binary: &str) -> Outcome<PathBuf> {
    if !packages()?.iter().any(|member| member.name == package) {
        return Err(Failure::Missing(format!("the workspace has no package `{package}`")));
    }
    let format = "--message-format=json-render-diagnostics";
    let printed = stdout(&mut cargo(["build", "--quiet", "--package", package, "--bin", binary, format]))?;
    executable(&printed, binary)
        .ok_or_else(|| Failure::Missing(format!("cargo built no binary `{binary}` of `{package}`")))
}

/// The path of a binary among the messages of a build.
fn executable(messages: &str, binary: &str) -> Option<PathBuf> {
    messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(|message| {
        let path = message["executable"].as_str()?;
        (message["target"]["name"] == binary).then(|| PathBuf::from(path))
    })
}

/// A program by its name: on the path, or in the service's other folder.
pub(super) fn find(program: &str, service: &Service) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.extend(service.also_in.as_deref().and_then(expand));
    folders.into_iter().map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// Replaces the `*` of a folder's path by the last name there is.
fn expand(pattern: &str) -> Option<PathBuf> {
    let Some((before, after)) = pattern.split_once("/*/") else { return Some(PathBuf::from(pattern)) };
    let entries = std::fs::read_dir(before).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    entries.map(|folder| folder.join(after)).filter(|folder| folder.is_dir()).max()
}

/// Why a service cannot be had on this machine, if so.
pub(super) fn lacks(service: &Service) -> Option<String> {
    let lacking = service.needs.iter().find(|program| find(program, service).is_none())?;
    Some(format!("there is no `{lacking}` here"))
}

/// Python's packages need its module for virtual environments, which some distributions leave out.
pub(super) fn lacks_venv(service: &Service) -> bool {
    matches!(service.install, Some(Install::Pip(_))) && !works("python3", &["-c", "import venv, ensurepip"])
}

#[cfg(test)]
mod tests {
    use super::{executable, expand, find, lacks};
    use crate::services::definition::all;

    #[test]
    fn the_binary_is_found_among_the_messages_of_cargo() {
        let messages = "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"a\"},\"executable\":null}\n\
            not json\n{\"target\":{\"name\":\"b\"},\"executable\":\"/t/b\"}\n{\"reason\":\"build-finished\"}\n";
        assert_eq!(executable(messages, "b").unwrap().to_str(), Some("/t/b"));
        assert_eq!(executable(messages, "a"), None);
    }

    #[test]
    fn what_a_service_lacks_is_named() {
        let mut service = all().unwrap().remove(0);
        service.needs = vec!["sh".to_owned(), "no-such-program".to_owned()];
        assert!(find("sh", &service).is_some());
        assert_eq!(lacks(&service).as_deref(), Some("there is no `no-such-program` here"));
        assert_eq!(expand("/no-such-folder/*/bin"), None);
        assert_eq!(expand("/bin").unwrap().to_str(), Some("/bin"));
    }
}
