//! The backend `local`: states in files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use groundstate_statemgr::WorkspaceName;
use groundstate_statemgr_fs::{FsOptions, FsWorkspaces};

use crate::error::BackendsError;
use crate::registry::{Context, Factory, Opened};
use crate::settings::Settings;
use crate::url::PlaceUrl;

/// Makes backends of the type `local`, with the options `path` and `workspace_dir`.
///
/// Addresses are `file:///srv/prod.tfstate`; an option there is written as `?workspace_dir=…`.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalFactory;

impl Factory for LocalFactory {
    fn kind(&self) -> &'static str {
        "local"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["file"]
    }

    fn settings(&self, url: &PlaceUrl) -> Result<(Settings, Option<WorkspaceName>), BackendsError> {
        if !matches!(url.authority(), "" | "localhost") {
            return Err(url.wrong("it names another host, write file:/// with three slashes"));
        }
        if url.path().is_empty() {
            return Err(url.wrong("it names no file, write file:///srv/prod.tfstate"));
        }
        let path = format!("/{}", url.path());
        let (settings, workspace) = crate::query::apply(Settings::new(self.kind()), url)?;
        // The folder of the other workspaces is beside the state, not where the program happens to run.
        let folder = Path::new(&path).parent().unwrap_or(Path::new("/")).join("terraform.tfstate.d");
        let folder = settings
            .text("workspace_dir")?
            .map_or_else(|| folder.to_string_lossy().into_owned(), ToOwned::to_owned);
        Ok((settings.with("path", path).with("workspace_dir", folder), workspace))
    }

    fn open(&self, settings: &Settings, context: &Context) -> Result<Opened, BackendsError> {
        settings.only(&["path", "workspace_dir"])?;
        // Versions are digests of the bytes there, so every write can expect one: tokens would add nothing but a file.
        let options = FsOptions::new().fencing(false);
        let mut all = FsWorkspaces::new(&context.directory, Arc::clone(&context.clock))
            .data_dir(&context.data)
            .options(options);
        if let Some(path) = settings.text("path")? {
            all = all.state_path(path);
        }
        if let Some(folder) = settings.text("workspace_dir")? {
            all = all.workspace_dir(folder);
        }
        Ok(Opened::new(Arc::new(all)))
    }
}

/// Where the state of a workspace lies that settings of the type `local` describe, in or below `directory`.
///
/// ```
/// use std::path::Path;
///
/// use groundstate_backends::{Settings, local_path};
/// use groundstate_statemgr::WorkspaceName;
///
/// let settings = Settings::new("local").with("path", "prod.tfstate");
/// let path = local_path(&settings, &WorkspaceName::default_name(), Path::new("network"))?;
/// assert_eq!(path, Path::new("network/prod.tfstate"));
/// # Ok::<(), groundstate_backends::BackendsError>(())
/// ```
///
/// # Errors
///
/// [`BackendsError::Option`] when an option is not text.
pub fn local_path(
    settings: &Settings,
    workspace: &WorkspaceName,
    directory: &Path,
) -> Result<PathBuf, BackendsError> {
    if workspace.is_default() {
        return Ok(directory.join(settings.text("path")?.unwrap_or("terraform.tfstate")));
    }
    let folder = settings.text("workspace_dir")?.unwrap_or("terraform.tfstate.d");
    Ok(directory.join(folder).join(workspace.as_str()).join("terraform.tfstate"))
}
