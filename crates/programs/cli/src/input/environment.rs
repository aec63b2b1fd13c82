//! What the environment and the command line say of directories and workspaces, for the whole run.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use groundstate_backends::{BackendsError, ConfigurationFile, Context, Purpose, Registry, Variables};
use groundstate_common::{OsIds, SystemClock};
use groundstate_durable::{Links, small_text};
use groundstate_statemgr::{TokioSleeper, WorkspaceName};

use crate::report::error::{Failure, Kind, Result};

/// What the command line says of the workspace; it holds for the whole run.
static CHOSEN: OnceLock<WorkspaceName> = OnceLock::new();

/// Whether the command line says that directories are trusted; it holds for the whole run.
static TRUSTED: OnceLock<bool> = OnceLock::new();

/// What the command line says of the Pulumi stack; it holds for the whole run.
static STACK: OnceLock<String> = OnceLock::new();

/// The backends that the program was built with; they hold for the whole run.
static REGISTRY: OnceLock<Registry> = OnceLock::new();

/// Values that the command line gives to variables of configurations; they hold for the whole run.
static GIVEN: OnceLock<GivenValues> = OnceLock::new();

/// Files with values, and values by name.
type GivenValues = (Vec<ConfigurationFile>, Vec<(String, String)>);

/// Largest size of a file that `--var-file` names, in bytes.
const LARGEST: u64 = 1 << 20;

/// Says the same as `--trust-directory`.
const TRUST: &str = "GROUNDSTATE_TRUST_DIRECTORY";

/// The servers that the user trusts with the credentials of the environment.
const SERVERS: &str = "GROUNDSTATE_HTTP_TRUSTED_SERVERS";

/// The most that is read of the file with these servers.
const MOST_SERVERS: u64 = 1 << 16;

/// The servers that the user's own configuration lists: `groundstate/trusted-servers` in `XDG_CONFIG_HOME` or `~/.config`, one a
/// line, with `#` for comments.
fn trusted_servers() -> Result<Option<String>> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")));
    // A relative path would lead into the directory that this is run in.
    let Some(folder) = folder.filter(|folder| folder.is_absolute()) else { return Ok(None) };
    let path = folder.join("groundstate").join("trusted-servers");
    let mut text = String::new();
    let read = File::open(&path).and_then(|file| file.take(MOST_SERVERS).read_to_string(&mut text));
    match read {
        // A home that belongs to another user, as under `sudo -u`, trusts no server.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(Failure::unreadable(&path, &error)),
        Ok(_) => {
            let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
            Ok(Some(lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(",")))
        }
    }
}

/// What the environment says; the products read the same variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    pub(crate) variables: Variables,
    /// The workspace that the command line names.
    pub(crate) chosen: Option<WorkspaceName>,
    /// Whether what directories record counts although their configuration does not say so.
    pub(crate) trusts: bool,
}

impl Environment {
    pub(crate) fn of_process() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let mut variables: BTreeMap<String, String> = std::env::vars_os().filter_map(text).collect();
        // What cannot be read was refused by `check`.
        if let Some(servers) = trusted_servers().ok().flatten() {
            let listed = variables.entry(SERVERS.to_owned()).or_default();
            *listed = [listed.as_str(), &servers].join(",");
        }
        let variables: Variables = variables.into_iter().collect();
        let (files, values) = GIVEN.get().cloned().unwrap_or_default();
        let variables = files.into_iter().fold(variables, Variables::with_file);
        let variables =
            values.into_iter().fold(variables, |known, (name, value)| known.with_value(name, value));
        let trusts = TRUSTED.get().copied().unwrap_or_default()
            || variables.get(TRUST).is_some_and(|text| matches!(text, "true" | "1"));
        Self { variables, chosen: CHOSEN.get().cloned(), trusts }
    }

    /// Fails if a variable that a command may read is not UTF-8: without it another backend, workspace or stack might be meant,
    /// or no encryption. Called once, before anything is looked at.
    pub(crate) fn check() -> Result<()> {
        let refused = |name: &str| {
            let failure = Failure::new(Kind::Usage, format!("the variable {name} is not valid UTF-8"));
            failure.hint("set it to UTF-8 text, or unset it")
        };
        let is_read = |name: &&str| {
            // These are bytes and paths, which need not be text.
            let is_text = !matches!(*name, "PULUMI_CONFIG_PASSPHRASE" | "PULUMI_CONFIG_PASSPHRASE_FILE");
            is_text && (name.starts_with("PULUMI_") || *name == "XDG_DATA_HOME")
        };
        for (name, value) in std::env::vars_os() {
            if let Some(name) = name.to_str().filter(is_read).filter(|_| value.to_str().is_none()) {
                return Err(refused(name));
            }
        }
        trusted_servers()?;
        // The path of the configuration of a server need not be text either.
        let variables = std::env::vars_os().filter(|(name, _)| name != "GROUNDSTATE_CONFIG");
        match Variables::of_environment(variables) {
            Err(BackendsError::Variable { name }) => Err(refused(&name)),
            _ => Ok(()),
        }
    }

    /// Gives variables of configurations these values in this run: those of the files, and over them the single ones.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read, or is larger than 1 MiB.
    pub(crate) fn give(paths: Vec<PathBuf>, values: Vec<(String, String)>) -> Result<()> {
        let read = |path: PathBuf| {
            let text = small_text(&path, LARGEST, Links::Follow);
            let text = text.map_err(|error| Failure::unreadable(&path, &error))?;
            let missing = || Failure::new(Kind::NoState, format!("{} does not exist", path.display()));
            Ok(ConfigurationFile { text: text.ok_or_else(missing)?, path })
        };
        let files = paths.into_iter().map(read).collect::<Result<Vec<_>>>()?;
        let parsed = files.iter().cloned().fold(Variables::none(), Variables::with_file).scope();
        parsed.map_err(|error| Failure::new(Kind::Usage, format!("cannot read the variables: {error}")))?;
        // Set once; later calls are ignored.
        GIVEN.get_or_init(|| (files, values));
        Ok(())
    }

    /// Has directories of this run count although their configuration does not confirm them.
    pub(crate) fn trust_directories() {
        TRUSTED.get_or_init(|| true);
    }

    /// The same without the workspace of the command line.
    #[must_use]
    pub(crate) fn without_workspace(self) -> Self {
        Self { chosen: None, ..self }
    }

    /// Has every place of this run mean this workspace.
    pub(crate) fn choose(workspace: WorkspaceName) {
        // Set once; later calls are ignored.
        CHOSEN.get_or_init(|| workspace);
    }

    /// Has every Pulumi project of this run mean this stack.
    pub(crate) fn choose_stack(stack: String) {
        STACK.get_or_init(|| stack);
    }

    /// The stack that the command line names.
    #[expect(clippy::unused_self, reason = "it is a part of the environment, as the workspace is")]
    pub(crate) fn stack(&self) -> Option<&'static str> {
        STACK.get().map(String::as_str)
    }

    /// Has addresses and directories of this run opened with these backends.
    pub(crate) fn open_with(registry: Registry) {
        REGISTRY.get_or_init(|| registry);
    }

    /// The backends of this run.
    pub(crate) fn registry() -> &'static Registry {
        REGISTRY.get_or_init(Registry::standard)
    }

    /// The workspace that the command line names.
    pub(crate) fn chosen(&self) -> Option<&WorkspaceName> {
        self.chosen.as_ref()
    }

    /// What backends are made with.
    pub(crate) fn context(&self, purpose: Purpose) -> Context {
        Context::new(Arc::new(SystemClock), Arc::new(TokioSleeper), Arc::new(OsIds))
            .variables(self.variables.clone())
            .purpose(purpose)
            .trusts_directories(self.trusts)
    }
}
