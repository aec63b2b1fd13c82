//! Pulumi stacks: where Pulumi's own backends keep them, in a directory, a bucket or a database, or in a service.

use std::path::Path;
use std::sync::Arc;

use groundstate_backends::{Location, Opened, Settings};
use groundstate_blobs::{Context as BlobContext, Error as BlobError};
use groundstate_common::{OsIds, SystemClock};
use groundstate_pulumi_backends::{
    BackendChoice, ChosenBackend, OpenContext, OpenedStore, Project, PulumiHome, ServiceChoice,
    selected_stack,
};
use groundstate_pulumi_diy::{Options, StackRef};
use groundstate_statemgr::{TokioSleeper, WorkspaceName};

use crate::input::environment::Environment;
use crate::input::found_stack::{FoundPlace, FoundStack};
use crate::input::remote::{Remote, RemoteStack, shown_options};
#[cfg(feature = "http")]
use crate::input::service::FoundService;
use crate::input::stack_store::{StackBackend, StackPlace};
use crate::report::error::{Failure, Kind, Result};

/// What addresses of Pulumi backends begin with.
const PREFIX: &str = "pulumi+";

/// What such places are called among backends.
const KIND: &str = "pulumi";

/// What tells that a directory is Terraform's, too.
const TERRAFORM: [&str; 2] = [".terraform", "terraform.tfstate"];

/// How the names of configurations end.
const TERRAFORM_ENDINGS: [&str; 4] = [".tf", ".tf.json", ".tofu", ".tofu.json"];

/// The address of a Pulumi backend, with the stack behind `#`.
pub(crate) fn address(argument: &Path) -> Option<&str> {
    argument.to_str().and_then(|text| text.strip_prefix(PREFIX)).filter(|rest| rest.contains("://"))
}

/// Whether an argument names a stack in a Pulumi backend.
pub(crate) fn is_stack(argument: &Path) -> Result<bool> {
    let names_project = || is_project(argument, &Environment::of_process());
    Ok(address(argument).is_some() || (argument.is_dir() && names_project()?))
}

/// Whether a directory is a Pulumi project and of nothing else, or the command line names a stack.
pub(crate) fn is_project(directory: &Path, environment: &Environment) -> Result<bool> {
    if environment.chosen().is_some() {
        return Ok(false);
    }
    if environment.stack().is_some() {
        return Ok(true);
    }
    if Project::file_in(directory).is_none() {
        return Ok(false);
    }
    if !has_terraform(directory) {
        return Ok(true);
    }
    let directory = directory.display();
    let message = format!("{directory} is both a Pulumi project and a Terraform directory");
    Err(Failure::new(Kind::Usage, message)
        .hint("`--stack NAME` means the Pulumi stack, `--workspace default` the state of Terraform"))
}

/// Whether a directory is a Pulumi project, and nothing in it is Terraform's.
pub(crate) fn is_only_project(directory: &Path) -> bool {
    Project::file_in(directory).is_some() && !has_terraform(directory)
}

fn has_terraform(directory: &Path) -> bool {
    let is_configuration = |entry: std::fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        TERRAFORM_ENDINGS.iter().any(|ending| name.ends_with(ending))
    };
    TERRAFORM.iter().any(|name| directory.join(name).exists())
        || std::fs::read_dir(directory).is_ok_and(|entries| entries.flatten().any(is_configuration))
}

/// The stack that an address means: the text behind `pulumi+`.
pub(crate) fn of_address(text: &str, environment: &Environment) -> Result<Remote> {
    remote(found_at_address(text, environment)?, None)
}

/// The same, for commands on the stack as a whole.
pub(crate) fn found_at_address(text: &str, environment: &Environment) -> Result<FoundPlace> {
    let (url, stack) = text.split_once('#').map_or((text, None), |(url, stack)| (url, Some(stack)));
    let variable = |name: &str| environment.variables.get(name).map(str::to_owned);
    let chosen = ChosenBackend::of_user(url).map_err(|error| refused(&error))?;
    let stack = stack.map(str::to_owned).or_else(|| environment.stack().map(str::to_owned));
    let stack = stack.filter(|stack| !stack.is_empty()).ok_or_else(|| {
        let message = format!("{chosen} names no stack");
        let hint = "write it behind a `#`, as in 'pulumi+s3://BUCKET#organization/PROJECT/STACK', or with `--stack`; \
                    `groundstate stacks list` shows the stacks";
        Failure::new(Kind::Usage, message).hint(hint)
    })?;
    let argument = format!("{}#{stack}", shown(&chosen, url));
    match chosen {
        ChosenBackend::Bucket(choice) => {
            let opened = Arc::new(open(&choice, Path::new("."), &variable)?);
            let place = place(stack, None, &variable)?;
            Ok(FoundPlace::Bucket(FoundStack { opened, place, argument, is_named: false }))
        }
        #[cfg(feature = "http")]
        ChosenBackend::Service(choice) => service(&choice, &variable, |service| {
            FoundPlace::of_service(service, stack, None, argument, false)
        }),
        #[cfg(not(feature = "http"))]
        ChosenBackend::Service(choice) => Err(no_client(&choice)),
    }
}

/// The address of a backend, as commands name it, without options that may be secrets.
fn shown(chosen: &ChosenBackend, text: &str) -> String {
    format!("{PREFIX}{chosen}{}", shown_options(text))
}

/// That this build has no client for services.
#[cfg(not(feature = "http"))]
fn no_client(choice: &ServiceChoice) -> Failure {
    let message = format!("{} is a Pulumi service, and this build has no client for services", choice.url);
    Failure::new(Kind::Usage, message).hint("use a build with the feature `http`")
}

/// A service, with what `then` makes of it.
#[cfg(feature = "http")]
fn service<T>(
    choice: &ServiceChoice,
    variable: &dyn Fn(&str) -> Option<String>,
    then: impl FnOnce(groundstate_pulumi_backends::pulumi_http::Service) -> T,
) -> Result<T> {
    Ok(then(crate::input::service::open(choice, variable)?))
}

/// The stack that is selected in a project directory, or named on the command line.
pub(crate) fn of_directory(directory: &Path, environment: &Environment) -> Result<Remote> {
    remote(found_in_directory(directory, environment)?, Some(directory))
}

/// The same, for commands on the stack as a whole.
pub(crate) fn found_in_directory(directory: &Path, environment: &Environment) -> Result<FoundPlace> {
    let (chosen, project, variable) = choose(directory, environment)?;
    let home = PulumiHome::of(&variable);
    let stack = match environment.stack() {
        Some(stack) => stack.to_owned(),
        None => selected_stack(&home, project.as_ref(), chosen.secret_text(), &variable)
            .map_err(|error| refused(&error))?
            .ok_or_else(|| {
                let message = format!("no stack is selected in {}", directory.display());
                Failure::new(Kind::NoState, message).hint(
                    "name one with `--stack`, or select it with `pulumi stack select`; `groundstate stacks list` shows the stacks",
                )
            })?,
    };
    let (argument, is_named) = (directory.display().to_string(), environment.stack().is_some());
    match chosen {
        ChosenBackend::Bucket(choice) => {
            let opened = Arc::new(open(&choice, directory, &variable)?);
            let place = place(stack, project.as_ref(), &variable)?;
            Ok(FoundPlace::Bucket(FoundStack { opened, place, argument, is_named }))
        }
        #[cfg(feature = "http")]
        ChosenBackend::Service(choice) => service(&choice, &variable, |service| {
            let project = project.map(|project| project.name().clone());
            FoundPlace::of_service(service, stack, project, argument, is_named)
        }),
        #[cfg(not(feature = "http"))]
        ChosenBackend::Service(choice) => Err(no_client(&choice)),
    }
}

/// The backend of an address or a project directory, for commands on all of its stacks.
pub(crate) struct FoundBackend {
    pub(crate) opened: Arc<OpenedStore>,
    pub(crate) options: Options,
    /// The backend as messages name it.
    pub(crate) name: String,
    /// The directory or the address that names it in a command.
    argument: String,
    is_directory: bool,
}

impl FoundBackend {
    /// One of its stacks.
    pub(crate) fn stack(&self, reference: &StackRef) -> FoundStack {
        self.named(&reference.to_string())
    }

    /// The same by its full name.
    pub(crate) fn named(&self, name: &str) -> FoundStack {
        let stack = name.to_owned();
        let place = StackPlace {
            stack: stack.clone(),
            project: None,
            options: self.options.clone(),
            keeps_compression: true,
        };
        let argument = match self.is_directory {
            true => self.argument.clone(),
            false => format!("{}#{stack}", self.argument),
        };
        FoundStack { opened: Arc::clone(&self.opened), place, argument, is_named: self.is_directory }
    }
}

/// Where all stacks of an argument are.
pub(crate) enum FoundBackends {
    Bucket(FoundBackend),
    #[cfg(feature = "http")]
    Service(FoundAccount),
}

/// A service, for commands on all of its stacks.
#[cfg(feature = "http")]
pub(crate) struct FoundAccount {
    pub(crate) service: groundstate_pulumi_backends::pulumi_http::Service,
    /// The directory or the address that names it in a command.
    argument: String,
    is_directory: bool,
}

#[cfg(feature = "http")]
impl FoundAccount {
    /// One of its stacks, by its full name.
    pub(crate) fn stack(&self, name: &str) -> FoundService {
        let argument = match self.is_directory {
            true => self.argument.clone(),
            false => format!("{}#{name}", self.argument),
        };
        FoundService::new(self.service.clone(), name.to_owned(), None, argument).named(self.is_directory)
    }
}

impl FoundBackends {
    /// The bucket, where only one has what `command` is for; `instead` says what to do with a service.
    #[cfg_attr(
        not(feature = "http"),
        expect(unused_variables, reason = "without services all are in buckets")
    )]
    pub(crate) fn bucket(self, command: &str, instead: &str) -> Result<FoundBackend> {
        match self {
            Self::Bucket(found) => Ok(found),
            #[cfg(feature = "http")]
            Self::Service(found) => Err(for_buckets(&found.service, command, instead)),
        }
    }
}

/// That a command is for stacks in buckets.
#[cfg(feature = "http")]
pub(crate) fn for_buckets(place: &dyn std::fmt::Display, command: &str, instead: &str) -> Failure {
    let message =
        format!("`{command}` is for stacks in directories, buckets and databases, and {place} is a service");
    Failure::new(Kind::Usage, message).hint(instead)
}

/// The bucket of an argument, for commands on all of its stacks that only one has.
pub(crate) fn bucket(argument: &Path, command: &str, instead: &str) -> Result<FoundBackend> {
    backend(argument)?.bucket(command, instead)
}

pub(crate) fn backend(argument: &Path) -> Result<FoundBackends> {
    let environment = Environment::of_process();
    let variable = |name: &str| environment.variables.get(name).map(str::to_owned);
    if let Some(text) = address(argument) {
        let url = text.split_once('#').map_or(text, |(url, _)| url);
        let chosen = ChosenBackend::of_user(url).map_err(|error| refused(&error))?;
        let argument = shown(&chosen, url);
        return found_backend(&chosen, Path::new("."), argument, false, &variable);
    }
    if !argument.is_dir() {
        let message = format!("{} is neither a directory nor the address of a backend", argument.display());
        return Err(Failure::new(Kind::Usage, message)
            .hint("name a directory with a Pulumi.yaml, or write pulumi+ before the URL of `pulumi login`"));
    }
    let (chosen, _, variable) = choose(argument, &environment)?;
    found_backend(&chosen, argument, argument.display().to_string(), true, &variable)
}

fn found_backend(
    chosen: &ChosenBackend,
    directory: &Path,
    argument: String,
    is_directory: bool,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<FoundBackends> {
    match chosen {
        ChosenBackend::Bucket(choice) => {
            let options = options(variable)?;
            let (opened, name) = (Arc::new(open(choice, directory, variable)?), choice.url.to_string());
            Ok(FoundBackends::Bucket(FoundBackend { opened, options, name, argument, is_directory }))
        }
        #[cfg(feature = "http")]
        ChosenBackend::Service(choice) => service(choice, variable, |service| {
            FoundBackends::Service(FoundAccount { service, argument, is_directory })
        }),
        #[cfg(not(feature = "http"))]
        ChosenBackend::Service(choice) => Err(no_client(choice)),
    }
}

type Variable<'e> = Box<dyn Fn(&str) -> Option<String> + 'e>;

fn choose<'e>(
    directory: &Path,
    environment: &'e Environment,
) -> Result<(ChosenBackend, Option<Project>, Variable<'e>)> {
    let variable: Variable<'e> = Box::new(|name| environment.variables.get(name).map(str::to_owned));
    // Selections are stored by the path of the project file.
    let directory =
        &*std::path::absolute(directory).map_err(|error| Failure::unreadable(directory, &error))?;
    let project = Project::find(directory).map_err(|error| refused(&error))?;
    let home = PulumiHome::of(&variable);
    let choice =
        ChosenBackend::of_directory(directory, project.as_ref(), &home, environment.trusts, &variable)
            .map_err(|error| refused(&error))?;
    Ok((choice, project, variable))
}

pub(crate) fn context() -> BlobContext {
    BlobContext::new(Arc::new(SystemClock), Arc::new(TokioSleeper), Arc::new(OsIds))
}

fn open(
    choice: &BackendChoice,
    directory: &Path,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<OpenedStore> {
    let directory = std::path::absolute(directory).map_err(|error| Failure::unreadable(directory, &error))?;
    let context = context();
    choice
        .open(OpenContext { context: &context, variable, directory: &directory })
        .map_err(|error| refused(&error))
}

fn options(variable: &dyn Fn(&str) -> Option<String>) -> Result<Options> {
    Options::from_variables(variable).map_err(|error| Failure::new(Kind::Usage, error.to_string()))
}

fn place(
    stack: String,
    project: Option<&Project>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<StackPlace> {
    let is_chosen = [
        "PULUMI_DIY_BACKEND_GZIP",
        "PULUMI_SELF_MANAGED_STATE_GZIP",
        "PULUMI_DIY_BACKEND_ZSTD",
        "PULUMI_SELF_MANAGED_STATE_ZSTD",
    ];
    Ok(StackPlace {
        stack,
        project: project.map(|project| project.name().clone()),
        options: options(variable)?,
        keeps_compression: !is_chosen.iter().any(|name| variable(name).is_some()),
    })
}

fn remote(found: FoundPlace, directory: Option<&Path>) -> Result<Remote> {
    let (argument, opened, stack) = match found {
        FoundPlace::Bucket(FoundStack { opened, place, argument, is_named }) => {
            let warnings = opened.notes.clone();
            let backend = StackBackend::new(opened, place).named(is_named);
            let opened = Opened::new(Arc::new(backend.clone())).warnings(&warnings);
            (argument, opened, RemoteStack::Bucket(backend))
        }
        #[cfg(feature = "http")]
        FoundPlace::Service(found) => {
            let backend = crate::input::service_store::ServiceBackend(found.clone());
            // The service keeps the state before as a version.
            let opened = Opened::new(Arc::new(backend)).keeps_history(true);
            (found.argument.clone(), opened, RemoteStack::Service(found))
        }
    };
    let mut location = Location::new(opened, Settings::new(KIND), WorkspaceName::default_name());
    location.directory = directory.map(Path::to_owned);
    Remote::of_stack(location, &argument, stack)
}

/// What a store of blobs says, as a failure of the command.
pub(crate) fn refused(error: &BlobError) -> Failure {
    use groundstate_blobs::ErrorKind as Blob;
    let kind = match error.kind() {
        Blob::Invalid | Blob::InvalidKey | Blob::Unsupported => Kind::Usage,
        kind => Kind::of_blobs(kind).unwrap_or(Kind::Unreachable),
    };
    Failure::new(kind, crate::report::error::chain(error))
}
