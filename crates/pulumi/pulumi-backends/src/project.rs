//! The project file of a directory.

use std::path::{Path, PathBuf};

use groundstate_blobs::{Error, ErrorKind, Op, Result};
use groundstate_common::InvalidId;
use groundstate_pulumi_snapshot::ProjectName;
use serde::Deserialize;

use crate::small_file;
use crate::yaml::{self, ProjectText};

/// The names of project files, in the order in which the original looks for them in a folder.
const NAMES: [&str; 3] = ["Pulumi.json", "Pulumi.yaml", "Pulumi.yml"];

/// A project: its name, and the backend that its file names, if any.
#[derive(Clone, PartialEq, Eq)]
pub struct Project {
    path: PathBuf,
    name: ProjectName,
    backend: Option<String>,
    stack_config_dir: Option<String>,
}

impl Project {
    /// The path of the project file in this very folder, if there is one.
    pub fn file_in(folder: &Path) -> Option<PathBuf> {
        NAMES.iter().map(|name| folder.join(name)).find(|path| path.is_file())
    }

    /// Reads the project file of a directory, or the nearest one above it. The directory has to be absolute.
    ///
    /// # Errors
    ///
    /// `Corrupt` for a file that is no project, `Denied` and `Unavailable` for one that cannot be read.
    pub fn find(directory: &Path) -> Result<Option<Self>> {
        let path = directory.ancestors().find_map(Self::file_in);
        path.map(|path| Self::read(&path)).transpose()
    }

    fn read(path: &Path) -> Result<Self> {
        let wrong = |why: String| {
            Error::new(ErrorKind::Corrupt, Op::Other("use the project file"), path.display()).because(why)
        };
        let text = small_file::text(path)?.ok_or_else(|| wrong("it is gone".to_owned()))?;
        let is_json = path.extension().is_some_and(|extension| extension == "json");
        let found = if is_json { of_json(&text) } else { yaml::read(text.trim_start_matches('\u{feff}')) };
        let ProjectText { name, backend, stack_config_dir } = found.map_err(wrong)?;
        let name =
            name.filter(|name| !name.is_empty()).ok_or_else(|| wrong("it has no `name`".to_owned()))?;
        let name = ProjectName::parse(&name)
            .map_err(|error: InvalidId| wrong(format!("its name is not that of a project: {error}")))?;
        let backend = backend.filter(|url| !url.is_empty());
        Ok(Self { path: path.to_owned(), name, backend, stack_config_dir })
    }

    /// The project file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of the project file.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    /// The name of the project.
    pub fn name(&self) -> &ProjectName {
        &self.name
    }

    /// The folder of the configurations of its stacks.
    pub fn stack_config_folder(&self) -> PathBuf {
        self.stack_config_dir
            .as_deref()
            .map_or_else(|| self.folder().to_owned(), |dir| self.folder().join(dir))
    }

    /// The configuration of one of its stacks, by the name of the stack alone, whether there is such a file or not.
    pub fn stack_config(&self, stack: &str) -> PathBuf {
        let ending = self.path.extension().and_then(|ending| ending.to_str()).unwrap_or("yaml");
        self.stack_config_folder().join(format!("Pulumi.{stack}.{ending}"))
    }

    /// The backend URL in the project file. It may have secrets in it.
    pub fn backend(&self) -> Option<&str> {
        self.backend.as_deref()
    }
}

impl std::fmt::Debug for Project {
    /// Without the backend URL, which may have secrets in it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Project").field("path", &self.path).field("name", &self.name).finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct ProjectJson {
    name: Option<String>,
    backend: Option<BackendJson>,
    #[serde(rename = "stackConfigDir")]
    stack_config_dir: Option<String>,
}

#[derive(Deserialize)]
struct BackendJson {
    url: Option<String>,
}

fn of_json(text: &str) -> Result<ProjectText, String> {
    // The words of the parser may have parts of the content.
    let project: ProjectJson = serde_json::from_str(text)
        .map_err(|error| format!("it is not JSON of a project at line {}", error.line()))?;
    let backend = project.backend.and_then(|backend| backend.url);
    Ok(ProjectText { name: project.name, backend, stack_config_dir: project.stack_config_dir })
}
