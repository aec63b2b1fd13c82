//! Which backend a directory means.

use std::fmt;
use std::path::Path;

use groundstate_blobs::{Error, ErrorKind, Op, Result};
use groundstate_common::Origin;

use crate::home::PulumiHome;
use crate::project::Project;
use crate::service_url::ServiceUrl;
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
    /// Nothing: it is where `pulumi` goes with a token alone.
    Default,
}

impl fmt::Display for UrlSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CommandLine => "the command line",
            Self::Variable => "PULUMI_BACKEND_URL",
            Self::Project => "the project file",
            Self::Login => "the stored login",
            Self::Default => "Pulumi Cloud",
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
}

/// A Pulumi service, and who decided it.
///
/// A token is sent only to the address of the user's login, wherever the address comes from: that is checked when it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServiceChoice {
    /// Its address.
    pub url: ServiceUrl,
    /// Where it comes from.
    pub source: UrlSource,
}

/// Where stacks are: in a bucket that Pulumi's own backends keep, or in a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChosenBackend {
    /// A directory, a bucket or a database.
    Bucket(BackendChoice),
    /// A service.
    Service(ServiceChoice),
}

impl ChosenBackend {
    /// What a URL of the command line means.
    ///
    /// # Errors
    ///
    /// Those of [`BackendUrl::parse`] and [`ServiceUrl::parse`].
    pub fn of_user(text: &str) -> Result<Self> {
        Self::parse(text, UrlSource::CommandLine, Origin::CommandLine)
    }

    /// The backend that the `pulumi` command would use in this directory: `PULUMI_BACKEND_URL`, that of the project file, the
    /// stored login, or, with a token in `PULUMI_ACCESS_TOKEN` alone, `https://api.pulumi.com`.
    ///
    /// # Errors
    ///
    /// `NotFound` where none of them says; those of [`of_user`](Self::of_user), and of reading the stored login.
    pub fn of_directory(
        directory: &Path,
        project: Option<&Project>,
        home: &PulumiHome,
        trusts_directory: bool,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self> {
        let choose = |text: &str, source, origin| {
            Self::parse(text, source, origin).map_err(|error| from(source, error))
        };
        let given = |name: &str| variable(name).filter(|text| !text.is_empty());
        if let Some(text) = given("PULUMI_BACKEND_URL") {
            return choose(&text, UrlSource::Variable, Origin::Environment);
        }
        if let Some(text) = project.and_then(Project::backend) {
            // A login that cannot be read confirms nothing.
            let is_users = trusts_directory || home.logins().is_ok_and(|logins| logins.knows(text));
            let origin = if is_users { Origin::Environment } else { Origin::Block };
            return choose(text, UrlSource::Project, origin);
        }
        let logins = home.logins()?;
        if !logins.current.is_empty() {
            return choose(&logins.current, UrlSource::Login, Origin::Environment);
        }
        if given("PULUMI_ACCESS_TOKEN").is_some() {
            return choose(ServiceUrl::DEFAULT, UrlSource::Default, Origin::Environment);
        }
        let place = directory.display();
        Err(Error::new(ErrorKind::NotFound, Op::Other("find the Pulumi backend of"), place)
            .because("neither PULUMI_BACKEND_URL nor the project file names one, and no login is stored")
            .next_step("set PULUMI_BACKEND_URL, or log in with `pulumi login URL`"))
    }

    fn parse(text: &str, source: UrlSource, origin: Origin) -> Result<Self> {
        match ServiceUrl::is_service(text) {
            true => Ok(Self::Service(ServiceChoice { url: ServiceUrl::parse(text)?, source })),
            false => Ok(Self::Bucket(BackendChoice { url: BackendUrl::parse(text)?, source, origin })),
        }
    }

    /// The bucket, where only stacks in one have what is asked for.
    ///
    /// # Errors
    ///
    /// `Unsupported` for a service.
    pub fn bucket(self) -> Result<BackendChoice> {
        match self {
            Self::Bucket(choice) => Ok(choice),
            Self::Service(choice) => Err(choice.url.no_bucket()),
        }
    }

    /// What the user wrote, secrets included: logins and selections are stored under it. Not for messages.
    pub fn secret_text(&self) -> &str {
        match self {
            Self::Bucket(choice) => choice.url.secret_text(),
            Self::Service(choice) => choice.url.as_str(),
        }
    }

    /// Where it comes from.
    pub fn source(&self) -> UrlSource {
        match self {
            Self::Bucket(choice) => choice.source,
            Self::Service(choice) => choice.source,
        }
    }
}

impl fmt::Display for ChosenBackend {
    /// Without user info and query.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bucket(choice) => choice.url.fmt(f),
            Self::Service(choice) => choice.url.fmt(f),
        }
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
