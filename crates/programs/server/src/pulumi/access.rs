//! Who asks, and for which stack.

use groundstate_audit::Outcome;
use groundstate_pulumi_protocol::{self as protocol, ErrorBody};
use groundstate_pulumi_service::{ErrorKind, LeaseToken, Stack, StackPath};
use http::HeaderMap;
use http::header::{AUTHORIZATION, USER_AGENT};
use http::request::Parts;
use tracing::{error, warn};

use super::bucket::is_of_bucket;
use crate::app::App;
use crate::auth::{Principal, Role};
use crate::budget::Account;
use crate::caller::Caller;
use crate::problem::{Problem, ProblemType};

/// A user of the service.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) app: App,
    pub(super) caller: Caller,
}

/// A user and a stack that it may use.
#[derive(Debug)]
pub(super) struct Access {
    pub(super) client: Client,
    pub(super) stack: Stack,
}

impl Client {
    /// The user of a request.
    ///
    /// # Errors
    ///
    /// If the request has no principal.
    pub(super) fn of(app: &App, parts: &Parts) -> Result<Self, Problem> {
        Ok(Self { app: app.clone(), caller: Caller::of(parts)? })
    }

    /// The memory of the request.
    pub(super) fn account(&self) -> &Account {
        self.caller.account()
    }

    pub(super) fn name(&self) -> &str {
        self.caller.name()
    }

    /// The name of the user as the CLI takes it: it is an owner of stacks.
    pub(super) fn login(&self) -> String {
        login(&self.caller.principal)
    }

    /// Whether the user has a role on a stack: grants have its owner as the project, and `PROJECT/STACK` as the state.
    pub(super) fn may(&self, role: Role, path: &StackPath) -> bool {
        let state = format!("{}/{}", path.project(), path.stack());
        self.caller.principal.may(role, path.owner(), &state)
    }

    /// Checks that the user has a role on a stack.
    ///
    /// # Errors
    ///
    /// If it has not; that is recorded.
    pub(super) fn check(&self, action: &'static str, role: Role, path: &StackPath) -> Result<(), Problem> {
        if self.may(role, path) {
            return Ok(());
        }
        let object = object(path);
        let reason = format!("the role {role} is needed");
        self.caller.note(&self.app, action, &object, Outcome::Denied, reason);
        let detail = format!("{} does not have the role {role} on {object}", self.name());
        Err(Problem::new(ProblemType::Forbidden, detail))
    }

    /// Checks that the user has a role on some stack of a project: which one is meant, the body says, which is read behind this.
    ///
    /// # Errors
    ///
    /// If it has not; that is recorded.
    pub(super) fn check_any(
        &self,
        action: &'static str,
        role: Role,
        path: &protocol::ProjectPath,
    ) -> Result<(), Problem> {
        let protocol::ProjectPath { owner, project } = path;
        if self.caller.principal.may_below(role, owner, &format!("{project}/")) {
            return Ok(());
        }
        let object = format!("stacks of {owner}/{project}");
        let reason = format!("the role {role} is needed");
        self.caller.note(&self.app, action, &object, Outcome::Denied, reason);
        let detail = format!("{} does not have the role {role} on {object}", self.name());
        Err(Problem::new(ProblemType::Forbidden, detail))
    }

    /// Whether a change can be recorded.
    ///
    /// # Errors
    ///
    /// If it cannot: a server whose audit log does not work makes none.
    pub(super) fn check_audit(&self) -> Result<(), Problem> {
        self.caller.check_audit(&self.app)
    }

    /// A stack that the user has a role on.
    ///
    /// # Errors
    ///
    /// If there is none, or it has not.
    pub(super) async fn stack(
        &self,
        action: &'static str,
        role: Role,
        path: &protocol::StackPath,
    ) -> Result<Access, Problem> {
        let name = name(path)?;
        self.check(action, role, &name)?;
        if role > Role::Read {
            self.check_audit()?;
        }
        let stack = self.app.stacks().stack(&name).await.map_err(|error| problem(&error))?;
        Ok(Access { client: self.clone(), stack })
    }

    /// Records that the user is about to see secrets of a stack, before it does.
    pub(super) async fn record_first(
        &self,
        action: &'static str,
        path: &StackPath,
        reason: String,
    ) -> Result<(), Problem> {
        self.caller.record_first(&self.app, action, &object(path), reason).await
    }

    /// Records what the user did to a stack.
    pub(super) async fn record(&self, action: &'static str, path: &StackPath, reason: String) {
        self.caller.record(&self.app, action, &object(path), reason).await;
    }
}

impl Access {
    pub(super) async fn record(&self, action: &'static str, reason: String) {
        self.client.record(action, self.stack.path(), reason).await;
    }

    /// Passes an error on, and records what was refused.
    pub(super) fn refused(&self, action: &'static str, error: &groundstate_pulumi_service::Error) -> Problem {
        let problem = problem(error);
        let object = object(self.stack.path());
        let reason = problem.detail().to_owned();
        self.client.caller.note(&self.client.app, action, &object, problem.outcome(), reason);
        problem
    }
}

/// A stack as the audit log names it.
fn object(path: &StackPath) -> String {
    format!("stack {path}")
}

/// The name of a stack, if it is one; stacks of other names do not exist.
pub(super) fn name(path: &protocol::StackPath) -> Result<StackPath, Problem> {
    StackPath::new(&path.owner, &path.project, &path.stack).map_err(|_| no_stack(path))
}

pub(super) fn no_stack(path: impl std::fmt::Display) -> Problem {
    Problem::new(ProblemType::NotFound, format!("Not Found: there is no stack {path}"))
}

/// The name of a principal as the CLI takes it: letters, digits, `-` and `_`, at least three.
fn login(principal: &Principal) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' };
    let name: String = principal.name().chars().map(allowed).take(40).collect();
    let name = name.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    if name.len() < 3 { format!("user-{name}").trim_end_matches('-').to_owned() } else { name.to_owned() }
}

/// The lease token of a request.
pub(crate) fn lease_token(headers: &HeaderMap) -> Option<LeaseToken> {
    /// Tokens have 64 characters.
    const LONGEST: usize = 256;
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let text = values.next()?.to_str().ok()?;
    let (scheme, token) = text.split_once(' ')?;
    let is_one = values.next().is_none() && text.len() <= LONGEST;
    (is_one && scheme.eq_ignore_ascii_case("update-token")).then(|| LeaseToken::new(token.trim()))
}

/// The version of the engine that a client says it is of, such as `v3.259.0`; empty if it does not say.
pub(super) fn engine(headers: &HeaderMap) -> String {
    let agent = headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
    let version =
        agent.split_once('(').and_then(|(_, rest)| rest.split([';', ')']).next()).unwrap_or_default().trim();
    let is_version = version.starts_with('v')
        && version.len() <= 64
        && version[1..].starts_with(|c: char| c.is_ascii_digit())
        && version.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+'));
    if is_version { version.to_owned() } else { String::new() }
}

/// What the service did not do, as an answer with the words that the CLI knows.
pub(super) fn problem(failed: &groundstate_pulumi_service::Error) -> Problem {
    /// How long to wait before the next attempt, in seconds.
    const RETRY_AFTER: u64 = 2;
    let (kind, detail) = match failed.kind() {
        ErrorKind::NotFound => (ProblemType::NotFound, format!("Not Found: {}", failed.reason())),
        ErrorKind::Exists => (ProblemType::Conflict, format!("Conflict: {}", failed.reason())),
        ErrorKind::Running => (ProblemType::Conflict, ErrorBody::UPDATE_IN_PROGRESS.to_owned()),
        ErrorKind::Locked => {
            let words = ErrorBody::UPDATE_IN_PROGRESS.trim_end_matches('.');
            (ProblemType::Conflict, format!("{words}: {}", failed.reason()))
        }
        ErrorKind::NoBucket => (ProblemType::Unavailable, failed.reason()),
        ErrorKind::LeaseLost => (ProblemType::Forbidden, failed.reason()),
        ErrorKind::Conflict => (ProblemType::Conflict, format!("Conflict: {}", failed.reason())),
        ErrorKind::Changed => {
            (ProblemType::PreconditionFailed, format!("Precondition Failed: {}", failed.reason()))
        }
        ErrorKind::HasResources => (ProblemType::BadRequest, ErrorBody::STILL_HAS_RESOURCES.to_owned()),
        ErrorKind::Invalid => (ProblemType::BadRequest, format!("Bad Request: {}", failed.reason())),
        ErrorKind::NoKey => {
            let option = "the server's option `pulumi.secrets_key_file` or `pulumi.secrets_key` names a key";
            (ProblemType::BadRequest, format!("Bad Request: {}; {option}", failed.reason()))
        }
        ErrorKind::TooLarge => (ProblemType::TooLarge, failed.reason()),
        ErrorKind::Unavailable => (ProblemType::Unavailable, format!("{}; try again", failed.message())),
        ErrorKind::Corrupt if is_of_bucket(failed) => {
            (ProblemType::Conflict, format!("Conflict: {}", failed.reason()))
        }
        ErrorKind::Corrupt => {
            (ProblemType::Damaged, format!("{}; see `groundstate store check`", failed.reason()))
        }
        ErrorKind::Unusable => (
            ProblemType::StoreUnusable,
            "the store of the server has gone, refuses it or is read-only; the log of the server says which"
                .to_owned(),
        ),
        _ => (ProblemType::Internal, "the server failed; the log of the server says why".to_owned()),
    };
    let cause = std::error::Error::source(failed).map(ToString::to_string).unwrap_or_default();
    match kind {
        ProblemType::Internal | ProblemType::Damaged | ProblemType::StoreUnusable => {
            error!(error = %failed, cause, "a stack failed")
        }
        ProblemType::Unavailable => warn!(error = %failed, cause, "the store did not do it"),
        _ => {}
    }
    let problem = Problem::new(kind, detail);
    if kind == ProblemType::Unavailable { problem.with_retry_after(RETRY_AFTER) } else { problem }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::{engine, lease_token, login};
    use crate::auth::{Principal, PrincipalKind};

    #[test]
    fn logins_are_names_that_the_cli_takes() {
        for (name, expected) in [
            ("local", "local"),
            ("repo:acme/shop:ref:refs/heads/main", "repo-acme-shop-ref-refs-heads-main"),
            ("a", "user-a"),
            ("", "user"),
            ("é..é", "user"),
        ] {
            assert_eq!(login(&Principal::new(name, PrincipalKind::Token, Vec::new())), expected);
        }
    }

    #[test]
    fn the_engine_is_read_from_the_agent_and_nothing_else_is() {
        let of = |agent: &str| {
            engine(&HeaderMap::from_iter([(http::header::USER_AGENT, HeaderValue::from_str(agent).unwrap())]))
        };
        assert_eq!(of("pulumi-cli/1 (v3.259.0; linux; cmd=up)"), "v3.259.0");
        assert_eq!(of("pulumi-cli/1 (v3.0.0-dev.0; linux)"), "v3.0.0-dev.0");
        for other in ["", "curl/8", "pulumi-cli/1 (3.259.0; x)", "x (v\"<script>; y)", "x (v"] {
            assert_eq!(of(other), "", "{other}");
        }
    }

    #[test]
    fn one_lease_is_read_and_shown_nowhere() {
        let of = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append("authorization", HeaderValue::from_str(value).unwrap());
            }
            lease_token(&headers)
        };
        assert_eq!(of(&["update-token hunter2"]).unwrap().expose(), "hunter2");
        assert!(!format!("{:?}", of(&["update-token hunter2"])).contains("hunter2"));
        assert!(of(&["token hunter2"]).is_none() && of(&["update-token a", "update-token b"]).is_none());
    }
}
