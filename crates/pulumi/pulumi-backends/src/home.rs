//! The folder `~/.pulumi`: the stored login, and which stack is selected.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use groundstate_blobs::{Error, ErrorKind, Op, Result};
use groundstate_common::hex;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use sha1::{Digest, Sha1};

use crate::project::Project;
use crate::small_file;

/// Where Pulumi keeps logins and selections of this user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PulumiHome {
    folder: Option<PathBuf>,
    credentials: Option<PathBuf>,
}

/// What is read of `credentials.json`: tokens are passed over.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Logins {
    /// The backend that the user is logged in to. It may have secrets in it.
    #[serde(default)]
    pub(crate) current: String,
    #[serde(default)]
    accounts: Option<BTreeMap<String, IgnoredAny>>,
}

/// Whether `credentials.json` is encrypted.
#[derive(Deserialize)]
struct Envelope {
    #[serde(default, rename = "$pulumiSecureStore")]
    encrypted: Option<IgnoredAny>,
}

impl Logins {
    /// Whether the user has logged in to this very URL.
    pub(crate) fn knows(&self, url: &str) -> bool {
        self.current == url || self.accounts.as_ref().is_some_and(|accounts| accounts.contains_key(url))
    }
}

/// What is read of a selection.
#[derive(Debug, Default, Deserialize)]
struct Selection {
    #[serde(default)]
    stack: String,
    #[serde(default)]
    stacks: Option<BTreeMap<String, String>>,
}

impl PulumiHome {
    /// By `PULUMI_HOME`, `PULUMI_CREDENTIALS_PATH` and the home directory.
    pub fn of(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let given = |name: &str| variable(name).filter(|text| !text.is_empty()).map(PathBuf::from);
        let home = given("HOME").or_else(|| given("USERPROFILE")).map(|home| home.join(".pulumi"));
        let folder = given("PULUMI_HOME").or(home);
        Self { credentials: given("PULUMI_CREDENTIALS_PATH").or_else(|| folder.clone()), folder }
    }

    /// The stored logins; none before the first login.
    pub(crate) fn logins(&self) -> Result<Logins> {
        self.credentials()
    }

    /// What `credentials.json` has, which may be tokens; the default before the first login.
    pub(crate) fn credentials<T: Default + DeserializeOwned>(&self) -> Result<T> {
        let Some(path) = self.credentials.as_ref().map(|folder| folder.join("credentials.json")) else {
            return Ok(T::default());
        };
        let Some(text) = small_file::text(&path)? else { return Ok(T::default()) };
        let wrong = |why: String| {
            Error::new(ErrorKind::Corrupt, Op::Other("use the stored login in"), path.display())
                .because(why)
                .next_step("set PULUMI_BACKEND_URL, or log in again with `pulumi login URL`")
        };
        if text.trim().is_empty() {
            return Ok(T::default());
        }
        let unread =
            |error: serde_json::Error| wrong(format!("it is not JSON of logins at line {}", error.line()));
        let envelope: Envelope = serde_json::from_str(&text).map_err(unread)?;
        if envelope.encrypted.is_some() {
            return Err(wrong("Pulumi has encrypted it with a key of the system's store".to_owned()));
        }
        serde_json::from_str(&text).map_err(unread)
    }

    /// Where the selection of a project is kept: the file name has the SHA-1 of the path of the project file.
    fn selection(&self, project: &Project, file: &Path) -> Option<PathBuf> {
        let hash = hex(&Sha1::digest(file.to_string_lossy().as_bytes()));
        let name = format!("{}-{hash}-workspace.json", project.name());
        Some(self.folder.as_ref()?.join("workspaces").join(name))
    }
}

/// The stack that is selected: `PULUMI_STACK`, or what `pulumi stack select` has stored for this project and backend, whose URL has
/// to be as the user wrote it ([`ChosenBackend::secret_text`](crate::ChosenBackend::secret_text)).
///
/// # Errors
///
/// Those of reading the selection: `Corrupt`, `Denied`, `Unavailable`.
pub fn selected_stack(
    home: &PulumiHome,
    project: Option<&Project>,
    backend: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<String>> {
    if let Some(stack) = variable("PULUMI_STACK") {
        return Ok(Some(stack).filter(|stack| !stack.is_empty()));
    }
    let Some(project) = project else { return Ok(None) };
    // The original hashes the path as its shell has it; with links in it that is not the canonical one.
    let canonical = std::fs::canonicalize(project.path()).ok();
    for file in [Some(project.path()), canonical.as_deref()].into_iter().flatten() {
        let Some(path) = home.selection(project, file) else { continue };
        let Some(text) = small_file::text(&path)? else { continue };
        let selection: Selection = serde_json::from_str(&text).map_err(|error| {
            Error::new(ErrorKind::Corrupt, Op::Other("use the selection in"), path.display())
                .because(format!("it is not JSON of a selection at line {}", error.line()))
                .next_step("name the stack with `--stack`, or select one with `pulumi stack select`")
        })?;
        let of_backend = selection.stacks.as_ref().and_then(|stacks| stacks.get(backend));
        let stack = of_backend.cloned().unwrap_or(selection.stack);
        return Ok(Some(stack).filter(|stack| !stack.is_empty()));
    }
    Ok(None)
}
