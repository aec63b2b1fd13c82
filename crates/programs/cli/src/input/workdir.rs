//! Where Terraform and OpenTofu keep the state of a directory.

use std::fs;
use std::path::Path;

use groundstate_backends::{Purpose, Settings, WorkingDirectory, doubtful, local_path};
use groundstate_common::is_hidden;
use groundstate_statemgr::WorkspaceName;

use crate::input::backend::elsewhere;
use crate::input::environment::Environment;
use crate::input::remote::{Located, Remote, warn_once};
use crate::report::error::{Failure, Kind, Result};

/// Finds the state of the selected workspace. One in a file has to exist if `must_exist` says so.
pub(crate) fn locate(
    directory: &Path,
    environment: &Environment,
    must_exist: bool,
    purpose: Purpose,
) -> Result<Located> {
    let work = WorkingDirectory::read(directory, &environment.variables)?;
    let settings = work.settings();
    if settings.kind() != "local" {
        let place = Environment::registry()
            .of_directory(&work, environment.chosen(), &environment.context(purpose))
            .map_err(|error| elsewhere(directory, error))?;
        return Ok(Located::Remote(Box::new(Remote::new(place, &directory.display().to_string())?)));
    }
    work.check(purpose, environment.trusts).map_err(|error| elsewhere(directory, error))?;
    let workspace = environment.chosen().cloned().map_or_else(|| work.workspace(), Ok)?;
    let file = local_path(settings, &workspace, directory)?;
    if let Some(doubt) = work.doubt() {
        warn_once(&[doubtful(directory, doubt, &file.display().to_string())]);
    }
    if !must_exist || file.exists() {
        Ok(Located::File(file, Some(directory.to_owned())))
    } else {
        Err(missing(directory, settings, &workspace, &file))
    }
}

fn missing(directory: &Path, settings: &Settings, workspace: &WorkspaceName, file: &Path) -> Failure {
    let mut message = format!("{} has no state", directory.display());
    if !workspace.is_default() {
        message.push_str(&format!(" in the workspace {:?}", workspace.as_str()));
    }
    let failure = Failure::new(Kind::NoState, format!("{message}: {} does not exist", file.display()));
    let folder = settings.text("workspace_dir").ok().flatten().unwrap_or("terraform.tfstate.d");
    match others(&directory.join(folder)) {
        names if names.is_empty() && !workspace.is_default() => {
            failure.hint("`groundstate workspaces list` shows the workspaces of a directory")
        }
        names if names.is_empty() => failure.hint("name a state file, or run `terraform apply` there first"),
        names => failure.hint(format!(
            "these workspaces have a state: {}; name one with `--workspace`",
            names.join(", ")
        )),
    }
}

/// The workspaces that have a state, a few of them.
fn others(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let with_state = entries.flatten().filter(|entry| entry.path().join("terraform.tfstate").exists());
    let mut names: Vec<String> = with_state
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.chars().any(is_hidden))
        .collect();
    names.sort();
    names.truncate(10);
    names
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use groundstate_backends::Purpose;

    use super::locate;
    use crate::input::environment::Environment;
    use crate::input::remote::Located;
    use crate::report::error::{Failure, Kind, Result};

    fn state_file(directory: &Path, environment: &Environment) -> Result<PathBuf> {
        match locate(directory, environment, true, Purpose::Change)? {
            Located::File(path, _) => Ok(path),
            Located::Remote(remote) => Err(Failure::new(Kind::Usage, remote.name)),
        }
    }

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Environment { variables: variables.collect(), ..Environment::default() }
    }

    /// Makes a directory with these files.
    fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        dir
    }

    #[track_caller]
    fn finds(files: &[(&str, &str)], expected: &str) {
        let dir = directory(files);
        let found = state_file(dir.path(), &Environment::default()).unwrap();
        assert_eq!(found, dir.path().join(expected));
    }

    #[track_caller]
    fn refuses(files: &[(&str, &str)]) -> Failure {
        let dir = directory(files);
        state_file(dir.path(), &Environment::default()).unwrap_err()
    }

    #[test]
    fn takes_the_file_of_the_default_workspace() {
        finds(&[("terraform.tfstate", "{}")], "terraform.tfstate");
        finds(&[("terraform.tfstate", "{}"), (".terraform/environment", "default\n")], "terraform.tfstate");
        finds(&[("terraform.tfstate", "{}"), (".terraform/environment", "\n")], "terraform.tfstate");
    }

    #[test]
    fn takes_the_file_of_the_selected_workspace() {
        let files = [
            ("terraform.tfstate", ""),
            ("terraform.tfstate.d/dev/terraform.tfstate", ""),
            (".terraform/environment", "dev"),
        ];
        finds(&files, "terraform.tfstate.d/dev/terraform.tfstate");
    }

    #[test]
    fn follows_the_settings_of_a_local_backend() {
        let backend = r#"{"version": 3, "backend": {"type": "local", "config": {"path": "s/x.tfstate", "workspace_dir": "ws"}}}"#;
        let block = "terraform {\n  backend \"local\" {\n    path = \"s/x.tfstate\"\n    workspace_dir = \"ws\"\n  }\n}\n";
        let initialised = (".terraform/terraform.tfstate", backend);
        finds(&[initialised, ("main.tf", block), ("s/x.tfstate", "")], "s/x.tfstate");
        let files = [
            initialised,
            ("main.tf", block),
            (".terraform/environment", "w"),
            ("ws/w/terraform.tfstate", ""),
        ];
        finds(&files, "ws/w/terraform.tfstate");
        let empty = r#"{"version": 3, "backend": {"type": "local", "config": {"path": null, "workspace_dir": null}}}"#;
        let block = ("main.tf", "terraform {\n  backend \"local\" {}\n}\n");
        finds(
            &[(".terraform/terraform.tfstate", empty), block, ("terraform.tfstate", "")],
            "terraform.tfstate",
        );
    }

    #[test]
    fn names_a_remote_backend_and_the_next_step_but_no_setting() {
        let backend =
            r#"{"version": 3, "backend": {"type": "consul", "config": {"access_token": "hunter2"}}}"#;
        let failure = refuses(&[(".terraform/terraform.tfstate", backend), ("terraform.tfstate", "")]);
        assert_eq!(failure.kind, Kind::NoState);
        assert!(failure.message.contains("\"consul\""), "{failure}");
        assert!(failure.hints[0].contains("state pull > FILE"), "{failure:?}");
        assert!(!format!("{failure:?}").contains("hunter2"));
    }

    #[test]
    fn says_what_is_missing() {
        let failure = refuses(&[("main.tf", "")]);
        assert_eq!(failure.kind, Kind::NoState);
        assert!(failure.message.ends_with("terraform.tfstate does not exist"), "{failure}");
        let failure =
            refuses(&[("terraform.tfstate.d/dev/terraform.tfstate", ""), ("terraform.tfstate.d/b/x", "")]);
        assert!(failure.hints[0].starts_with("these workspaces have a state: dev;"), "{failure:?}");
        let failure = refuses(&[(".terraform/environment", "prod")]);
        assert!(failure.message.contains("in the workspace \"prod\""), "{failure}");
    }

    #[test]
    fn refuses_workspaces_that_lead_elsewhere() {
        for name in ["..", "a/b", "/etc", "."] {
            let failure = refuses(&[(".terraform/environment", name)]);
            assert_eq!(failure.kind, Kind::Usage, "{name}");
        }
    }

    #[test]
    fn refuses_settings_that_are_not_json() {
        let failure = refuses(&[(".terraform/terraform.tfstate", "{"), ("terraform.tfstate", "")]);
        assert_eq!(failure.kind, Kind::NotState);
    }

    #[test]
    fn follows_the_environment() {
        let dir = directory(&[("terraform.tfstate.d/e/terraform.tfstate", ""), ("data/environment", "x")]);
        let chosen = environment(&[("TF_WORKSPACE", "e")]);
        assert_eq!(relative(&dir, &chosen), Path::new("terraform.tfstate.d/e/terraform.tfstate"));
        let moved = environment(&[("TF_DATA_DIR", "data")]);
        let failure = state_file(dir.path(), &moved).unwrap_err();
        assert!(failure.message.contains("in the workspace \"x\""), "{failure}");
    }

    #[test]
    fn the_command_line_overrules_the_environment() {
        let dir = directory(&[("terraform.tfstate.d/e/terraform.tfstate", ""), ("terraform.tfstate", "")]);
        let chosen = groundstate_statemgr::WorkspaceName::default_name();
        let both = Environment { chosen: Some(chosen), ..environment(&[("TF_WORKSPACE", "e")]) };
        assert_eq!(relative(&dir, &both), Path::new("terraform.tfstate"));
    }

    fn relative(dir: &tempfile::TempDir, environment: &Environment) -> PathBuf {
        let found = state_file(dir.path(), environment).unwrap();
        found.strip_prefix(dir.path()).unwrap().to_path_buf()
    }
}
