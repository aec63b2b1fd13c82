//! Which state file Terraform and OpenTofu use in a directory.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use crate::error::{Failure, Kind, Result};

/// The name of the workspace that every directory has.
const DEFAULT: &str = "default";

/// What the environment says; the products read the same variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    /// `TF_DATA_DIR`: where `.terraform` is instead.
    pub(crate) data_dir: Option<PathBuf>,
    /// `TF_WORKSPACE`: which workspace is selected.
    pub(crate) workspace: Option<String>,
}

impl Environment {
    pub(crate) fn of_process() -> Self {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        Self {
            data_dir: set("TF_DATA_DIR").map(PathBuf::from),
            workspace: set("TF_WORKSPACE").and_then(|name| name.into_string().ok()),
        }
    }
}

/// Finds the state file of the selected workspace, which has to exist.
pub(crate) fn state_file(directory: &Path, environment: &Environment) -> Result<PathBuf> {
    find(directory, environment, true)
}

/// Finds out where the state of the selected workspace is, or is going to be.
pub(crate) fn state_path(directory: &Path, environment: &Environment) -> Result<PathBuf> {
    find(directory, environment, false)
}

fn find(directory: &Path, environment: &Environment, must_exist: bool) -> Result<PathBuf> {
    let data = directory.join(environment.data_dir.as_deref().unwrap_or(Path::new(".terraform")));
    let local = backend(directory, &data.join("terraform.tfstate"))?;
    let workspace = match &environment.workspace {
        Some(name) => name.clone(),
        None => selected(&data.join("environment"))?,
    };
    check_name(&workspace)?;
    let file = if workspace == DEFAULT {
        directory.join(&local.path)
    } else {
        directory.join(&local.workspaces).join(&workspace).join("terraform.tfstate")
    };
    if !must_exist || file.exists() { Ok(file) } else { Err(missing(directory, &local, &workspace, &file)) }
}

/// The settings of the `local` backend.
#[derive(Debug)]
struct Local {
    path: PathBuf,
    workspaces: PathBuf,
}

/// Reads the backend that `init` chose; without one it is the local one. Its settings may hold credentials, so
/// nothing but its type gets into messages.
fn backend(directory: &Path, file: &Path) -> Result<Local> {
    let mut local = Local { path: "terraform.tfstate".into(), workspaces: "terraform.tfstate.d".into() };
    let text = match fs::read(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(local),
        Err(error) => return Err(Failure::unreadable(file, &error)),
    };
    let Ok(settings) = serde_json::from_slice::<Value>(&text) else {
        let message =
            format!("{} is not JSON, so the backend of {} is unknown", file.display(), directory.display());
        return Err(
            Failure::new(Kind::NotState, message).hint("run `terraform init` there, or name a state file")
        );
    };
    // Before 0.9 the remote storage stood in a member of its own.
    let backend = ["backend", "remote"].iter().find_map(|name| settings.get(name).filter(|b| b.is_object()));
    let Some(backend) = backend else { return Ok(local) };
    match backend.get("type").and_then(Value::as_str) {
        None | Some("" | "local") => {}
        Some(remote) => return Err(remote_backend(directory, remote)),
    }
    let setting = |name: &str| {
        let text = backend.get("config").and_then(|config| config.get(name)).and_then(Value::as_str);
        text.filter(|text| !text.is_empty()).map(PathBuf::from)
    };
    local.path = setting("path").unwrap_or(local.path);
    local.workspaces = setting("workspace_dir").unwrap_or(local.workspaces);
    Ok(local)
}

fn remote_backend(directory: &Path, kind: &str) -> Failure {
    let shown = directory.display();
    Failure::new(
        Kind::NoState,
        format!("the state of {shown} is kept by the backend {kind:?}, not in a file"),
    )
    .hint(format!("fetch it with `terraform -chdir={shown} state pull > FILE` and name FILE instead"))
}

fn selected(file: &Path) -> Result<String> {
    match fs::read_to_string(file) {
        Ok(text) if text.trim().is_empty() => Ok(DEFAULT.to_owned()),
        Ok(text) => Ok(text.trim().to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(DEFAULT.to_owned()),
        Err(error) => Err(Failure::unreadable(file, &error)),
    }
}

/// A workspace is one directory below the others; anything else would lead out of there.
fn check_name(workspace: &str) -> Result<()> {
    let mut parts = Path::new(workspace).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(name)), None) if name == workspace => Ok(()),
        _ => Err(Failure::new(Kind::Usage, format!("{workspace:?} is not the name of a workspace"))
            .hint("select another one with `terraform workspace select`, or name a state file")),
    }
}

fn missing(directory: &Path, local: &Local, workspace: &str, file: &Path) -> Failure {
    let mut message = format!("{} has no state", directory.display());
    if workspace != DEFAULT {
        message.push_str(&format!(" in the workspace {workspace:?}"));
    }
    let failure = Failure::new(Kind::NoState, format!("{message}: {} does not exist", file.display()));
    let workspaces = directory.join(&local.workspaces);
    match others(&workspaces) {
        names if names.is_empty() => failure.hint("name a state file, or run `terraform apply` there first"),
        names => failure.hint(format!(
            "these workspaces have a state: {}; name one as {}",
            names.join(", "),
            workspaces.join("NAME/terraform.tfstate").display()
        )),
    }
}

/// The workspaces that have a state, a few of them.
fn others(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let with_state = entries.flatten().filter(|entry| entry.path().join("terraform.tfstate").exists());
    let mut names: Vec<String> =
        with_state.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names.truncate(10);
    names
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::{Environment, state_file};
    use crate::error::{Failure, Kind};

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
        finds(&[(".terraform/terraform.tfstate", backend), ("s/x.tfstate", "")], "s/x.tfstate");
        let files = [
            (".terraform/terraform.tfstate", backend),
            (".terraform/environment", "w"),
            ("ws/w/terraform.tfstate", ""),
        ];
        finds(&files, "ws/w/terraform.tfstate");
        let empty = r#"{"version": 3, "backend": {"type": "local", "config": {"path": null, "workspace_dir": null}}}"#;
        finds(&[(".terraform/terraform.tfstate", empty), ("terraform.tfstate", "")], "terraform.tfstate");
    }

    #[test]
    fn names_a_remote_backend_and_the_next_step_but_no_setting() {
        let backend = r#"{"version": 3, "backend": {"type": "s3", "config": {"secret_key": "hunter2"}}}"#;
        let failure = refuses(&[(".terraform/terraform.tfstate", backend), ("terraform.tfstate", "")]);
        assert_eq!(failure.kind, Kind::NoState);
        assert!(failure.message.contains("\"s3\""), "{failure}");
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
        let environment = Environment { data_dir: None, workspace: Some("e".into()) };
        assert_eq!(relative(&dir, &environment), Path::new("terraform.tfstate.d/e/terraform.tfstate"));
        let environment = Environment { data_dir: Some("data".into()), workspace: None };
        let failure = state_file(dir.path(), &environment).unwrap_err();
        assert!(failure.message.contains("in the workspace \"x\""), "{failure}");
    }

    fn relative(dir: &tempfile::TempDir, environment: &Environment) -> PathBuf {
        let found = state_file(dir.path(), environment).unwrap();
        found.strip_prefix(dir.path()).unwrap().to_path_buf()
    }
}
