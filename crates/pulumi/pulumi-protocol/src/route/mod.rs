//! Calls of the protocol: what a method and a path ask for, and the other way.

mod calls;
mod segments;

pub use calls::{Authorization, StackCall, UpdateCall};

use calls::{stack_tail, update_tail};
use segments::{push_segment, segments};

use crate::CreateKind;

/// One call of the protocol. Calls that a service need not have are not among them.
///
/// ```
/// use groundstate_pulumi_protocol::{Route, StackCall};
///
/// let route = Route::parse("GET", "/api/stacks/acme/shop/prod/export/7");
/// let Some(Route::Stack { stack, call: StackCall::ExportVersion(7) }) = &route else { panic!("{route:?}") };
/// assert_eq!((&*stack.owner, &*stack.project, &*stack.stack), ("acme", "shop", "prod"));
/// assert_eq!(Route::parse("GET", "/api/esc/environments"), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Route {
    /// `GET /api/user`
    User,
    /// `GET /api/user/organizations/default`
    DefaultOrganization,
    /// `GET /api/user/stacks`
    ListStacks,
    /// `GET /api/capabilities`
    Capabilities,
    /// `GET /api/cli/version`
    CliVersion,
    /// `HEAD /api/stacks/{owner}/{project}`
    HasProject(ProjectPath),
    /// `POST /api/stacks/{owner}/{project}`
    CreateStack(ProjectPath),
    /// A call on a stack.
    Stack {
        /// Which stack.
        stack: StackPath,
        /// What is asked for.
        call: StackCall,
    },
    /// A call on an update.
    Update {
        /// The stack, as the path names it.
        stack: StackPath,
        /// The id of the update.
        update: String,
        /// What is asked for.
        call: UpdateCall,
    },
}

/// A project in a path. The names are decoded, not empty, and not checked otherwise.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectPath {
    /// The owner.
    pub owner: String,
    /// The project.
    pub project: String,
}

/// A stack in a path. The names are decoded, not empty, and not checked otherwise.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackPath {
    /// The owner.
    pub owner: String,
    /// The project.
    pub project: String,
    /// The stack.
    pub stack: String,
}

impl Route {
    /// What a request asks for; `None` for calls that are not of the protocol. The path has no query, and begins with `/api/`.
    ///
    /// After its creation an update is called under `update`; the other three words are taken too.
    pub fn parse(method: &str, path: &str) -> Option<Self> {
        let segments = segments(path.strip_prefix("/api/")?)?;
        let segments: Vec<&str> = segments.iter().map(AsRef::as_ref).collect();
        match (method, segments.as_slice()) {
            ("GET", ["user"]) => Some(Self::User),
            ("GET", ["user", "organizations", "default"]) => Some(Self::DefaultOrganization),
            ("GET", ["user", "stacks"]) => Some(Self::ListStacks),
            ("GET", ["capabilities"]) => Some(Self::Capabilities),
            ("GET", ["cli", "version"]) => Some(Self::CliVersion),
            ("HEAD", ["stacks", owner, project]) => {
                Some(Self::HasProject(ProjectPath::new(*owner, *project)))
            }
            ("POST", ["stacks", owner, project]) => {
                Some(Self::CreateStack(ProjectPath::new(*owner, *project)))
            }
            (_, ["stacks", owner, project, stack, tail @ ..]) => {
                let stack = StackPath::new(*owner, *project, *stack);
                match tail {
                    [kind, update, tail @ ..] if CreateKind::parse(kind).is_some() => {
                        let call = UpdateCall::parse(method, tail)?;
                        Some(Self::Update { stack, update: (*update).to_owned(), call })
                    }
                    _ => Some(Self::Stack { stack, call: StackCall::parse(method, tail)? }),
                }
            }
            _ => None,
        }
    }

    /// The method of the request.
    pub fn method(&self) -> &'static str {
        match self {
            Self::HasProject(_) => "HEAD",
            Self::CreateStack(_) => "POST",
            Self::Stack { call, .. } => call.method(),
            Self::Update { call, .. } => call.method(),
            Self::User
            | Self::DefaultOrganization
            | Self::ListStacks
            | Self::Capabilities
            | Self::CliVersion => "GET",
        }
    }

    /// The path of the request, with each name percent-encoded. [`parse`](Self::parse) reads it back.
    ///
    /// Names `.` and `..` make a path that URL parsers change; [`stack_name`](crate::stack_name) and
    /// [`project_name`](crate::project_name) refuse them.
    pub fn path(&self) -> String {
        let fixed = |path: &str| format!("/api/{path}");
        match self {
            Self::User => fixed("user"),
            Self::DefaultOrganization => fixed("user/organizations/default"),
            Self::ListStacks => fixed("user/stacks"),
            Self::Capabilities => fixed("capabilities"),
            Self::CliVersion => fixed("cli/version"),
            Self::HasProject(project) | Self::CreateStack(project) => {
                below_stacks(&[&project.owner, &project.project])
            }
            Self::Stack { stack, call } => stack.path() + &stack_tail(*call),
            Self::Update { stack, update, call } => {
                let mut path = stack.path();
                path.push_str("/update");
                push_segment(&mut path, update);
                path + update_tail(*call)
            }
        }
    }

    /// What the request has to bring in its header `Authorization`.
    pub fn authorization(&self) -> Authorization {
        match self {
            Self::CliVersion => Authorization::Anonymous,
            Self::Update { call, .. } => call.authorization(),
            _ => Authorization::Token,
        }
    }
}

impl ProjectPath {
    /// A project of this owner.
    pub fn new(owner: impl Into<String>, project: impl Into<String>) -> Self {
        Self { owner: owner.into(), project: project.into() }
    }
}

impl StackPath {
    /// A stack of this owner and project.
    pub fn new(owner: impl Into<String>, project: impl Into<String>, stack: impl Into<String>) -> Self {
        Self { owner: owner.into(), project: project.into(), stack: stack.into() }
    }

    fn path(&self) -> String {
        below_stacks(&[&self.owner, &self.project, &self.stack])
    }
}

impl std::fmt::Display for StackPath {
    /// The reference `OWNER/PROJECT/STACK`, control characters escaped.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = format!("{}/{}/{}", self.owner, self.project, self.stack);
        f.write_str(&groundstate_common::one_line(&shown))
    }
}

fn below_stacks(names: &[&String]) -> String {
    let mut path = "/api/stacks".to_owned();
    names.iter().for_each(|name| push_segment(&mut path, name));
    path
}
