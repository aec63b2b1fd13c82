//! Which backends there are, and how one is made from an address or from settings.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groundstate_common::{Clock, IdSource, Sleeper};
use groundstate_statemgr::{Backend, WorkspaceName};
use tracing::debug;

use crate::error::BackendsError;
use crate::maintenance::LockMaintenance;
use crate::outputs::Outputs;
use crate::settings::Settings;
use crate::url::PlaceUrl;
use crate::workdir::{Disagreement, Purpose, Variables, WorkingDirectory};

/// The warning about a state that is read although the block of its directory cannot be evaluated.
///
/// ```
/// use std::path::Path;
///
/// use groundstate_backends::{Disagreement, doubtful};
///
/// let doubt = Disagreement::NotEvaluated {
///     option: "key".to_owned(),
///     why: "the function `lower` is not evaluated here".to_owned(),
///     leads_elsewhere: false,
/// };
/// assert!(doubtful(Path::new("network"), &doubt, "s3://b/net.tfstate").ends_with("reading s3://b/net.tfstate, which the last `init` recorded"));
/// ```
pub fn doubtful(directory: &Path, doubt: &Disagreement, state: &str) -> String {
    format!("{}: {doubt}; reading {state}, which the last `init` recorded", directory.display())
}

/// Types of Terraform and OpenTofu that nothing here opens.
const FOREIGN: [&str; 20] = [
    "artifactory",
    "atlas",
    "azurerm",
    "cloud",
    "consul",
    "cos",
    "etcd",
    "etcdv3",
    "gcs",
    "http",
    "inmem",
    "kubernetes",
    "manta",
    "oci",
    "oss",
    "pg",
    "remote",
    "s3",
    "swift",
    "vault",
];

/// What makes backends of one type.
///
/// Making one neither connects nor writes.
pub trait Factory: fmt::Debug + Send + Sync + 'static {
    /// The type, as a `backend` block names it.
    fn kind(&self) -> &'static str;

    /// What addresses of such backends begin with, such as `s3`.
    fn schemes(&self) -> &'static [&'static str];

    /// The settings that an address stands for, and the workspace if it names one.
    ///
    /// # Errors
    ///
    /// [`BackendsError::Url`] when it names no place.
    fn settings(&self, url: &PlaceUrl) -> Result<(Settings, Option<WorkspaceName>), BackendsError>;

    /// A client of the backend with these settings.
    ///
    /// # Errors
    ///
    /// [`BackendsError::Option`] for an option that cannot be used, [`BackendsError::Backend`].
    fn open(&self, settings: &Settings, context: &Context) -> Result<Opened, BackendsError>;
}

/// What backends are made with beside their settings.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Context {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// What waits between attempts.
    pub sleeper: Arc<dyn Sleeper>,
    /// Randomness.
    pub ids: Arc<dyn IdSource>,
    /// The environment, for credentials and for options that are not given.
    pub variables: Variables,
    /// What relative paths begin at.
    pub directory: PathBuf,
    /// Where `.terraform` is, as seen from there; the local backend keeps its selection in it.
    pub data: PathBuf,
    /// What places are opened for.
    pub purpose: Purpose,
    /// Whether what a directory records counts although its configuration does not say so.
    pub trusts_directories: bool,
}

impl Context {
    /// Without an environment, in the present directory.
    pub fn new(clock: Arc<dyn Clock>, sleeper: Arc<dyn Sleeper>, ids: Arc<dyn IdSource>) -> Self {
        Self {
            clock,
            sleeper,
            ids,
            variables: Variables::none(),
            directory: PathBuf::new(),
            data: PathBuf::from(".terraform"),
            purpose: Purpose::Change,
            trusts_directories: false,
        }
    }

    /// For this purpose; without it, for changes.
    #[must_use]
    pub fn purpose(mut self, purpose: Purpose) -> Self {
        self.purpose = purpose;
        self
    }

    /// With directories that are trusted, as [`WorkingDirectory::check`] describes.
    #[must_use]
    pub fn trusts_directories(mut self, yes: bool) -> Self {
        self.trusts_directories = yes;
        self
    }

    /// With this environment.
    #[must_use]
    pub fn variables(mut self, variables: Variables) -> Self {
        self.variables = variables;
        self
    }

    /// With relative paths that begin here.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = directory.into();
        self
    }
}

/// A client of a backend, and what only some of them have.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Opened {
    /// The backend.
    pub backend: Arc<dyn Backend>,
    /// What looks after digests and second locks.
    pub maintenance: Option<Arc<dyn LockMaintenance>>,
    /// What reads outputs without the rest of a state.
    pub outputs: Option<Arc<dyn Outputs>>,
    /// Whether every state that this client stores is kept in the history.
    pub keeps_history: bool,
    /// What a user should know of its settings, one line each: a program shows them.
    pub warnings: Vec<String>,
}

impl Opened {
    /// A backend without anything else.
    pub fn new(backend: Arc<dyn Backend>) -> Self {
        Self { backend, maintenance: None, outputs: None, keeps_history: false, warnings: Vec::new() }
    }

    /// Adds what reads outputs without the rest of a state.
    #[must_use]
    pub fn outputs(mut self, outputs: Arc<dyn Outputs>) -> Self {
        self.outputs = Some(outputs);
        self
    }

    /// Whether every state that this client stores is kept.
    #[must_use]
    pub fn keeps_history(mut self, yes: bool) -> Self {
        self.keeps_history = yes;
        self
    }

    /// Adds what a user should know of the settings.
    #[must_use]
    pub fn warnings(mut self, warnings: &[String]) -> Self {
        self.warnings = warnings.to_vec();
        self
    }

    /// Adds what looks after digests and second locks.
    #[must_use]
    pub fn maintenance(mut self, maintenance: Arc<dyn LockMaintenance>) -> Self {
        self.maintenance = Some(maintenance);
        self
    }
}

/// A workspace in an opened backend.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Location {
    /// The backend.
    pub opened: Opened,
    /// Its settings.
    pub settings: Settings,
    /// The workspace that is meant.
    pub workspace: WorkspaceName,
    /// Whether the argument itself names the workspace, rather than a selection.
    pub is_named: bool,
    /// The working directory whose backend it is, if it was named by one.
    pub directory: Option<PathBuf>,
}

impl Location {
    /// A workspace of a backend that was opened without a registry.
    pub fn new(opened: Opened, settings: Settings, workspace: WorkspaceName) -> Self {
        Self { opened, settings, workspace, is_named: true, directory: None }
    }

    /// Another workspace of the same backend.
    #[must_use]
    pub fn with_workspace(mut self, workspace: WorkspaceName) -> Self {
        self.workspace = workspace;
        self
    }
}

/// Backends by type and by scheme. A program composes it; one with a backend of its own adds that.
///
/// ```
/// use std::sync::Arc;
///
/// use groundstate_backends::{Context, Registry};
/// use groundstate_common::{FixedClock, OsIds, Timestamp};
///
/// # let folder = tempfile::tempdir()?;
/// let registry = Registry::standard();
/// // A program has the system's clock, and what its runtime sleeps with.
/// let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
/// let context = Context::new(clock.clone(), clock, Arc::new(OsIds));
/// let place = registry.place(folder.path().as_os_str().to_str().unwrap_or("."), None, &context)?;
/// assert_eq!(place.settings.kind(), "local");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Registry {
    factories: BTreeMap<&'static str, Arc<dyn Factory>>,
}

impl Registry {
    /// None at all.
    pub fn empty() -> Self {
        Self { factories: BTreeMap::new() }
    }

    /// All that the features of this crate have.
    pub fn standard() -> Self {
        let registry = Self::empty().with(Arc::new(crate::local::LocalFactory));
        #[cfg(feature = "s3")]
        let registry = registry.with(Arc::new(crate::s3::S3Factory));
        #[cfg(feature = "azurerm")]
        let registry = registry.with(Arc::new(crate::azurerm::AzureFactory));
        #[cfg(feature = "gcs")]
        let registry = registry.with(Arc::new(crate::gcs::GcsFactory));
        #[cfg(feature = "pg")]
        let registry = registry.with(Arc::new(crate::pg::PgFactory));
        #[cfg(feature = "http")]
        let registry = registry.with(Arc::new(crate::http::HttpFactory));
        registry
    }

    /// Adds one; of two with the same type the last one counts.
    #[must_use]
    pub fn with(mut self, factory: Arc<dyn Factory>) -> Self {
        self.factories.insert(factory.kind(), factory);
        self
    }

    /// The types that there are, sorted.
    pub fn kinds(&self) -> impl Iterator<Item = &'static str> {
        self.factories.keys().copied()
    }

    /// Opens the backend that a `backend` block describes.
    ///
    /// # Errors
    ///
    /// [`BackendsError::Unknown`], [`BackendsError::NotBuiltIn`], and those of [`Factory::open`].
    pub fn open(&self, settings: &Settings, context: &Context) -> Result<Opened, BackendsError> {
        let factory = self.must_have(settings.kind())?;
        let opened = factory.open(settings, context)?;
        // Settings have credentials, so the backend itself says where it is.
        debug!(kind = factory.kind(), place = opened.backend.to_string(), "opened a backend");
        Ok(opened)
    }

    fn must_have(&self, kind: &str) -> Result<&Arc<dyn Factory>, BackendsError> {
        self.factories.get(kind).ok_or_else(|| {
            let is_foreign = FOREIGN.contains(&kind);
            let (kind, known) = (kind.to_owned(), self.kinds().collect::<Vec<_>>().join(", "));
            match is_foreign {
                true => BackendsError::NotBuiltIn { kind, known },
                false => BackendsError::Unknown { kind, known },
            }
        })
    }

    /// The settings that an address stands for.
    ///
    /// # Errors
    ///
    /// [`BackendsError::Scheme`], and those of [`Factory::settings`].
    pub fn settings(&self, url: &PlaceUrl) -> Result<(Settings, Option<WorkspaceName>), BackendsError> {
        let factory = self.factories.values().find(|factory| factory.schemes().contains(&url.scheme()));
        let Some(factory) = factory else {
            let known: Vec<String> = self
                .factories
                .values()
                .flat_map(|factory| factory.schemes())
                .map(|scheme| format!("{scheme}://"))
                .collect();
            return Err(BackendsError::Scheme { scheme: url.scheme().to_owned(), known: known.join(", ") });
        };
        factory.settings(url)
    }

    /// Opens what a user names: an address, a working directory, or the path of a state.
    ///
    /// `workspace` overrules what is selected.
    ///
    /// # Errors
    ///
    /// Those of [`settings`](Self::settings), [`open`](Self::open) and [`WorkingDirectory::read`];
    /// [`BackendsError::NoWorkspaces`] for a workspace of a file.
    pub fn place(
        &self,
        argument: &str,
        workspace: Option<&WorkspaceName>,
        context: &Context,
    ) -> Result<Location, BackendsError> {
        if PlaceUrl::is_url(argument) {
            let url = PlaceUrl::parse(argument)?;
            let (settings, named) = self.settings(&url)?;
            let is_named = named.is_some();
            let workspace = workspace.cloned().or(named).unwrap_or_else(WorkspaceName::default_name);
            let opened = self.open(&settings, context)?;
            return Ok(Location { opened, settings, workspace, is_named, directory: None });
        }
        let path = context.directory.join(argument);
        if path.is_dir() {
            let directory = WorkingDirectory::read(&path, &context.variables)?;
            return self.of_directory(&directory, workspace, context);
        }
        if let Some(workspace) = workspace.filter(|workspace| !workspace.is_default()) {
            let (place, workspace) = (argument.to_owned(), workspace.to_string());
            return Err(BackendsError::NoWorkspaces { place, workspace });
        }
        self.of_file(&path, context)
    }

    /// Opens the backend of a working directory.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open), [`WorkingDirectory::check`] and [`WorkingDirectory::workspace`].
    pub fn of_directory(
        &self,
        directory: &WorkingDirectory,
        workspace: Option<&WorkspaceName>,
        context: &Context,
    ) -> Result<Location, BackendsError> {
        if directory.is_known() {
            self.must_have(directory.settings().kind())?;
        }
        directory.check(context.purpose, context.trusts_directories)?;
        let workspace = workspace.cloned().map_or_else(|| directory.workspace(), Ok)?;
        let settings = directory.settings().clone();
        let root = directory.root().display().to_string();
        debug!(
            directory = root,
            kind = settings.kind(),
            workspace = workspace.as_str(),
            "resolved a directory"
        );
        let context = Context { data: directory.data().to_owned(), ..context.clone() };
        let mut opened = self.open(&settings, &context.directory(directory.root()))?;
        if let Some(doubt) = directory.doubt() {
            let store = opened.backend.store(&workspace)?;
            opened.warnings.push(doubtful(directory.root(), doubt, &store.to_string()));
        }
        let directory = Some(directory.root().to_owned());
        Ok(Location { opened, settings, workspace, is_named: false, directory })
    }

    fn of_file(&self, path: &Path, context: &Context) -> Result<Location, BackendsError> {
        let folder = path.parent().unwrap_or(Path::new(""));
        // Relative paths begin at the directory, of which this one is part already.
        let settings = Settings::new("local")
            .with("path", path.to_string_lossy())
            .with("workspace_dir", folder.join("terraform.tfstate.d").to_string_lossy());
        let context = Context { data: folder.join(".terraform"), ..context.clone() }.directory("");
        let opened = self.open(&settings, &context)?;
        let workspace = WorkspaceName::default_name();
        Ok(Location { opened, settings, workspace, is_named: true, directory: None })
    }
}
