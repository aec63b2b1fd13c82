//! Which backend a directory means.

use std::fmt;
use std::path::Path;

use groundstate_blobs::{Error, ErrorKind, Op, Result};
use groundstate_common::Origin;

use crate::home::PulumiHome;
use crate::project::Project;
use crate::url::BackendUrl;

/// Where a backend URL comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UrlSource {
    /// The command line.
    CommandLine,
    /// `PULUMI_BACKEND_URL`.
    Variable,
    /// `backend.url` in the project file.
    Project,
    /// The stored login.
    Login,
}

impl fmt::Display for UrlSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CommandLine => "the command line",
            Self::Variable => "PULUMI_BACKEND_URL",
            Self::Project => "the project file",
            Self::Login => "the stored login",
        })
    }
}

/// A backend URL, and who decided it.
///
/// A project file may have been written by a stranger. Its URL counts as the user's if the user has logged in to that very URL,
/// or trusts the directory; until then it decides no more than the bucket, its region and the path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackendChoice {
    /// The URL.
    pub url: BackendUrl,
    /// Where it comes from.
    pub source: UrlSource,
    /// Whether the user decided it, for the settings of stores.
    pub origin: Origin,
}

impl BackendChoice {
    /// The URL of the command line.
    pub fn of_user(url: BackendUrl) -> Self {
        Self { url, source: UrlSource::CommandLine, origin: Origin::CommandLine }
    }

    /// The backend that the `pulumi` command would use in this directory: `PULUMI_BACKEND_URL`, that of the project file, or the
    /// stored login.
    ///
    /// # Errors
    ///
    /// `NotFound` where none of them says; those of [`BackendUrl::parse`], and of reading the stored login.
    pub fn of_directory(
        directory: &Path,
        project: Option<&Project>,
        home: &PulumiHome,
        trusts_directory: bool,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self> {
        let choose = |text: &str, source, origin| {
            let url = BackendUrl::parse(text).map_err(|error| from(source, error))?;
            Ok(Self { url, source, origin })
        };
        if let Some(text) = variable("PULUMI_BACKEND_URL").filter(|text| !text.is_empty()) {
            return choose(&text, UrlSource::Variable, Origin::Environment);
        }
        if let Some(text) = project.and_then(Project::backend) {
            // A login that cannot be read confirms nothing.
            let is_users = trusts_directory || home.logins().is_ok_and(|logins| logins.knows(text));
            let origin = if is_users { Origin::Environment } else { Origin::Block };
            return choose(text, UrlSource::Project, origin);
        }
        let logins = home.logins()?;
        if logins.current.is_empty() {
            let place = directory.display();
            return Err(Error::new(ErrorKind::NotFound, Op::Other("find the Pulumi backend of"), place)
                .because("neither PULUMI_BACKEND_URL nor the project file names one, and no login is stored")
                .next_step("set PULUMI_BACKEND_URL, or log in with `pulumi login URL`"));
        }
        choose(&logins.current, UrlSource::Login, Origin::Environment)
    }
}

/// The same error, with where the URL comes from in it.
fn from(source: UrlSource, error: Error) -> Error {
    let named = Error::new(error.kind(), error.op(), format_args!("{} of {source}", error.target()));
    let named = named.because(error.message());
    match error.step() {
        Some(step) => named.next_step(step.to_owned()),
        None => named,
    }
}
