//! The workspaces of a folder, laid out as Terraform's local backend does.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use groundstate_common::Clock;
use groundstate_durable::{absent_is_none, offload};
use groundstate_statemgr::{
    Backend, CreateWorkspace, DeleteWorkspace, Error, ErrorKind, History, Op, Result, StateStore,
    WorkspaceName, holds_resources, traced,
};

use crate::client::Client;
use crate::failure::failed;
use crate::files::{create_folder, read_text};
use crate::openers::{Openers, openers};
use crate::options::FsOptions;
use crate::replace::put_readable;
use crate::state_path::StatePath;
use crate::store::FsStore;
use crate::wanted::{Caller, Wanted};

/// The states of a working directory: one for each workspace.
///
/// The default workspace has `terraform.tfstate`, each other one a folder in `terraform.tfstate.d`; which of them is
/// selected stands in `.terraform/environment`. `TF_WORKSPACE` is for programs to read.
///
/// ```
/// use std::sync::Arc;
///
/// use groundstate_common::SystemClock;
/// use groundstate_statemgr::{StateStore, WriteOptions};
/// use groundstate_statemgr_fs::{FsWorkspaces, WorkspaceName};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let workspaces = FsWorkspaces::new(folder.path(), Arc::new(SystemClock));
/// let staging = WorkspaceName::parse("staging")?;
/// workspaces.create(&staging).await?;
/// workspaces.select(&staging).await?;
/// workspaces.store(&staging)?.write("{\"version\":4}".into(), &WriteOptions::any()).await?;
/// assert_eq!(workspaces.list().await?, [WorkspaceName::default_name(), staging]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct FsWorkspaces {
    root: PathBuf,
    state: PathBuf,
    folder: PathBuf,
    data: PathBuf,
    options: FsOptions,
    clock: Arc<dyn Clock>,
}

impl FsWorkspaces {
    /// The workspaces of the working directory `root`, which need not exist.
    pub fn new(root: impl Into<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        Self {
            root: root.into(),
            state: PathBuf::from("terraform.tfstate"),
            folder: PathBuf::from("terraform.tfstate.d"),
            data: PathBuf::from(".terraform"),
            options: FsOptions::new(),
            clock,
        }
    }

    /// Sets the state of the default workspace: the backend's option `path`.
    #[must_use]
    pub fn state_path(mut self, path: impl Into<PathBuf>) -> Self {
        self.state = path.into();
        self
    }

    /// Sets the folder of the other workspaces: the backend's option `workspace_dir`.
    #[must_use]
    pub fn workspace_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.folder = path.into();
        self
    }

    /// Sets the folder where the selection is kept: `TF_DATA_DIR`.
    #[must_use]
    pub fn data_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.data = path.into();
        self
    }

    /// Sets how the states are read and written.
    #[must_use]
    pub fn options(mut self, options: FsOptions) -> Self {
        self.options = options;
        self
    }

    /// The names: the default one first, the others sorted. Folders whose names are no workspace names are left out.
    ///
    /// # Errors
    ///
    /// `Denied` and `Unavailable` when the folder cannot be read.
    pub async fn list(&self) -> Result<Vec<WorkspaceName>> {
        self.run(Op::ListWorkspaces, |all, _| all.names()).await
    }

    /// The selected workspace; the default one if none is.
    ///
    /// # Errors
    ///
    /// `Corrupt` when what is selected is no name, `Denied`, `Unavailable`.
    pub async fn selected(&self) -> Result<WorkspaceName> {
        self.run(Op::Other("find the selected workspace in"), |all, _| all.selection()).await
    }

    /// Selects a workspace for Terraform's commands to come.
    ///
    /// # Errors
    ///
    /// `NotFound` when it does not exist, `Denied`, `Unavailable`.
    pub async fn select(&self, name: &WorkspaceName) -> Result<()> {
        let name = name.clone();
        self.run(Op::Other("select a workspace in"), move |all, _| {
            all.must_exist(Op::Other("select"), &name)?;
            let environment = all.environment();
            put_readable(&environment, name.as_str().as_bytes())
                .map_err(|error| failed(Op::Other("select the workspace in"), environment.display(), error))
        })
        .await
    }

    /// Makes a workspace. It has no state yet, and is not selected.
    ///
    /// # Errors
    ///
    /// `Conflict` when it exists, `Denied`, `Unavailable`.
    pub async fn create(&self, name: &WorkspaceName) -> Result<()> {
        let name = name.clone();
        self.run(Op::Other("create a workspace in"), move |all, _| {
            if all.exists(&name)? {
                let error = Error::new(ErrorKind::Conflict, Op::CreateWorkspace, &name);
                return Err(error.because("it exists already"));
            }
            create_folder(&all.home(&name)).map_err(|error| failed(Op::CreateWorkspace, &name, error))
        })
        .await
    }

    /// Deletes a workspace with its folder, under its lock. Without `force` it must have no resources, and the folder
    /// nothing that is none of the state's.
    ///
    /// # Errors
    ///
    /// `Invalid` for the default workspace, the selected one, and what needs `force`; `NotFound`; `Locked` also while
    /// another process has the state open, since that may wait for the lock and write later; `Corrupt` when it is not
    /// known whether there are resources.
    pub async fn delete(&self, name: &WorkspaceName, force: bool) -> Result<()> {
        let name = name.clone();
        self.run(Op::Other("delete a workspace in"), move |all, wanted| all.remove(&name, force, wanted))
            .await
    }

    /// A client of a workspace's state. The workspace exists once it is created or something is written.
    ///
    /// # Errors
    ///
    /// `Invalid` when a path names no file.
    pub fn store(&self, name: &WorkspaceName) -> Result<FsStore> {
        let clock = Arc::clone(&self.clock);
        FsStore::with_options(self.path(name), self.options.clone(), clock)
    }

    async fn run<T, F>(&self, op: Op, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Self, &Wanted) -> Result<T> + Send + 'static,
    {
        let (all, caller) = (self.clone(), Caller::new());
        let wanted = caller.wanted();
        let outcome = offload(op, &self.to_string(), move || work(&all, &wanted)).await;
        drop(caller);
        outcome
    }

    /// The folder of a workspace that is not the default one.
    fn home(&self, name: &WorkspaceName) -> PathBuf {
        self.root.join(&self.folder).join(name.as_str())
    }

    fn path(&self, name: &WorkspaceName) -> PathBuf {
        if name.is_default() {
            self.root.join(&self.state)
        } else {
            self.home(name).join("terraform.tfstate")
        }
    }

    fn environment(&self) -> PathBuf {
        self.root.join(&self.data).join("environment")
    }

    fn names(&self) -> Result<Vec<WorkspaceName>> {
        let folder = self.root.join(&self.folder);
        let fail = |error| failed(Op::ListWorkspaces, folder.display(), error);
        let mut names = Vec::new();
        if let Some(entries) = absent_is_none(fs::read_dir(&folder)).map_err(fail)? {
            for entry in entries {
                let entry = entry.map_err(fail)?;
                let is_folder = entry.file_type().map_err(fail)?.is_dir();
                let name = entry.file_name().to_str().and_then(|name| WorkspaceName::parse(name).ok());
                names.extend(name.filter(|name| is_folder && !name.is_default()));
            }
        }
        names.sort();
        names.insert(0, WorkspaceName::default_name());
        Ok(names)
    }

    fn selection(&self) -> Result<WorkspaceName> {
        let path = self.environment();
        let fail = |error| failed(Op::Read, path.display(), error);
        let corrupt = |why: &str| Error::new(ErrorKind::Corrupt, Op::Read, path.display()).because(why);
        // A link may lead to any file of the user, and a pipe waits for ever.
        if absent_is_none(fs::symlink_metadata(&path)).map_err(fail)?.is_some_and(|meta| !meta.is_file()) {
            return Err(corrupt("it is not a regular file"));
        }
        let text = read_text(&path).map_err(fail)?.unwrap_or_default();
        match text.trim() {
            "" => Ok(WorkspaceName::default_name()),
            // What stands there instead is not shown.
            name => WorkspaceName::parse(name)
                .map_err(|_| corrupt("it does not have the name of a workspace, select one")),
        }
    }

    fn exists(&self, name: &WorkspaceName) -> Result<bool> {
        if name.is_default() {
            return Ok(true);
        }
        match fs::symlink_metadata(self.home(name)) {
            Ok(meta) => Ok(meta.is_dir()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(failed(Op::Other("look for the workspace"), name, error)),
        }
    }

    fn must_exist(&self, op: Op, name: &WorkspaceName) -> Result<()> {
        if self.exists(name)? {
            return Ok(());
        }
        Err(Error::new(ErrorKind::NotFound, op, name).because("there is no such workspace, create it first"))
    }

    fn remove(&self, name: &WorkspaceName, force: bool, wanted: &Wanted) -> Result<()> {
        const OP: Op = Op::DeleteWorkspace;
        let invalid = |why: &str| Err(Error::new(ErrorKind::Invalid, OP, name).because(why));
        if name.is_default() {
            return invalid("the default workspace cannot be deleted");
        }
        self.must_exist(OP, name)?;
        if self.selection()? == *name {
            return invalid("it is the selected one, select another before");
        }
        let fail = |error| failed(OP, name, error);
        let path = self.path(name);
        let place = StatePath::new(&path).map_err(fail)?;
        let client =
            Client::new(place.clone(), self.options.clone(), Arc::clone(&self.clock)).map_err(fail)?;
        let held_lock = client.brief(OP, wanted)?;
        crate::recovery::recover(&place, held_lock.file()).map_err(fail)?;
        if !force {
            if holds_resources(&fs::read(&path).map_err(fail)?, name)? {
                return invalid("it has resources, destroy them before or force it");
            }
            if let Some(other) = foreign(&self.home(name)).map_err(fail)? {
                return invalid(&format!("its folder also has {other:?}, remove that before or force it"));
            }
        }
        if openers(held_lock.file()) == Openers::Some {
            let why = "another process has its state open and may write it later, end that or wait";
            return Err(Error::locked(OP, name, None).because(why));
        }
        fs::remove_dir_all(self.home(name)).map_err(fail)
    }
}

/// Creating makes a folder and takes neither lock nor state, and deleting locks without a document: both are over before
/// anybody could read one.
#[async_trait]
impl Backend for FsWorkspaces {
    async fn list(&self) -> Result<Vec<WorkspaceName>> {
        traced::backend(Op::ListWorkspaces, self, None, self.list()).await
    }

    fn store(&self, name: &WorkspaceName) -> Result<Arc<dyn StateStore>> {
        Ok(Arc::new(self.store(name)?))
    }

    async fn create(&self, name: &WorkspaceName, _: &CreateWorkspace) -> Result<()> {
        traced::backend(Op::CreateWorkspace, self, Some(name), self.create(name)).await
    }

    async fn delete(&self, name: &WorkspaceName, options: &DeleteWorkspace) -> Result<()> {
        let work = self.delete(name, options.force);
        traced::backend(Op::DeleteWorkspace, self, Some(name), work).await
    }

    fn history(&self, _: &WorkspaceName) -> Result<Option<Arc<dyn History>>> {
        Ok(None)
    }
}

impl fmt::Display for FsWorkspaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The working directory has no name of its own.
        let root = if self.root.as_os_str().is_empty() { Path::new(".") } else { &self.root };
        write!(f, "{}", root.display())
    }
}

/// The first file in the folder that is none of a state's.
fn foreign(home: &Path) -> io::Result<Option<String>> {
    for entry in fs::read_dir(home)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let visible = name.strip_prefix('.').unwrap_or(&name);
        if visible != "terraform.tfstate" && !visible.starts_with("terraform.tfstate.") {
            return Ok(Some(name));
        }
    }
    Ok(None)
}
