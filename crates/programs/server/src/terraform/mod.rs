//! Terraform's HTTP protocol.
//!
//! A state has the URL `/tf/PROJECT/STATE` or `/tf/PROJECT/STATE/WORKSPACE`, which is that of its lock too. `…/lock` is the lock
//! alone, for clients that are set up with other methods.

mod conflict;
mod delete;
mod lock;
mod query;
mod read;
mod rules;
mod unlock;
mod write;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::Method;

use crate::app::App;
use crate::auth::Role;
use crate::body::drain;
use crate::caller::Access;
use crate::names::{InvalidTarget, Target};
use crate::problem::{Problem, ProblemType};

pub(crate) use conflict::Refusal;
pub(crate) use delete::delete_state;
pub(crate) use query::lock_id;
pub(crate) use read::described;
pub(crate) use rules::{User, check_lock};

/// What the URLs of the protocol begin with.
pub(crate) const PREFIX: &str = "/tf";

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Read,
    Write,
    Lock,
    Unlock,
    Delete,
}

impl Action {
    /// What a method means at a URL; none if it means nothing there.
    fn of(method: &Method, is_lock: bool) -> Option<Self> {
        match (method.as_str(), is_lock) {
            ("GET" | "HEAD", false) => Some(Self::Read),
            ("POST" | "PUT", false) => Some(Self::Write),
            ("DELETE", false) => Some(Self::Delete),
            ("LOCK", _) | ("POST" | "PUT", true) => Some(Self::Lock),
            ("UNLOCK", _) | ("DELETE", true) => Some(Self::Unlock),
            _ => None,
        }
    }

    /// The methods of a URL.
    fn methods(is_lock: bool) -> &'static str {
        match is_lock {
            true => "POST, PUT, DELETE, LOCK, UNLOCK",
            false => "GET, HEAD, POST, PUT, DELETE, LOCK, UNLOCK",
        }
    }

    fn role(self) -> Role {
        match self {
            Self::Read => Role::Read,
            Self::Lock | Self::Unlock => Role::Lock,
            Self::Write | Self::Delete => Role::Write,
        }
    }

    /// Its name in the audit log.
    fn name(self) -> &'static str {
        match self {
            Self::Read => "state.read",
            Self::Write => "state.write",
            Self::Lock => "state.lock",
            Self::Unlock => "state.unlock",
            Self::Delete => "state.delete",
        }
    }
}

/// Answers every request below the prefix. Methods are matched by their text, since LOCK and UNLOCK have no names in HTTP.
pub(crate) async fn serve(State(app): State<App>, request: Request) -> Response {
    let (parts, mut body) = request.into_parts();
    let answer = answer(&app, &parts, &mut body).await;
    let response = answer.unwrap_or_else(IntoResponse::into_response);
    if response.status().is_client_error() || response.status().is_server_error() {
        drain(&parts.headers, body, app.limits()).await;
    }
    response
}

async fn answer(app: &App, parts: &http::request::Parts, body: &mut Body) -> Result<Response, Refusal> {
    let path = parts.uri.path();
    let target = Target::parse(path.strip_prefix(PREFIX).unwrap_or(path)).map_err(invalid)?;
    let Some(action) = Action::of(&parts.method, target.is_lock) else {
        let detail = "LOCK and UNLOCK, or POST and DELETE of its /lock, are for the lock, GET, POST and DELETE for the state";
        let problem = Problem::new(ProblemType::MethodNotAllowed, detail);
        return Err(problem.with_allow(Action::methods(target.is_lock)).into());
    };
    let access = Access::new(app, parts, target.state)?;
    if !access.may(action.role()) {
        return Err(access.denied(action.name(), action.role()).into());
    }
    if action != Action::Read {
        access.check_audit()?;
    }
    let answer = match action {
        Action::Read => read::read(&access, parts).await,
        Action::Write => write::write(&access, parts, body).await,
        Action::Lock => lock::lock(&access, parts, body).await,
        Action::Unlock => unlock::unlock(&access, parts, body).await,
        Action::Delete => delete::delete(&access, parts).await,
    };
    if let Err(refusal) = &answer
        && !(action == Action::Read && refusal.is_not_found())
    {
        access.refused(action.name(), refusal.outcome(), refusal.reason());
    }
    answer
}

fn invalid(error: InvalidTarget) -> Problem {
    let kind = match error {
        InvalidTarget::Form => ProblemType::NoSuchRoute,
        _ => ProblemType::InvalidName,
    };
    Problem::new(kind, error.to_string())
}

/// The answer to what succeeded: 200 with nothing in it, since Terraform takes no other status for LOCK and UNLOCK.
fn done() -> Response {
    ([(http::header::CACHE_CONTROL, "no-store")], Body::empty()).into_response()
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::Action;

    #[test]
    fn methods_are_matched_by_their_text() {
        let of = |method: &str, is_lock| Action::of(&Method::from_bytes(method.as_bytes()).unwrap(), is_lock);
        for (method, state, lock) in [
            ("GET", Some(Action::Read), None),
            ("HEAD", Some(Action::Read), None),
            ("POST", Some(Action::Write), Some(Action::Lock)),
            ("PUT", Some(Action::Write), Some(Action::Lock)),
            ("DELETE", Some(Action::Delete), Some(Action::Unlock)),
            ("LOCK", Some(Action::Lock), Some(Action::Lock)),
            ("UNLOCK", Some(Action::Unlock), Some(Action::Unlock)),
            ("lock", None, None),
            ("PATCH", None, None),
            ("OPTIONS", None, None),
        ] {
            assert_eq!((of(method, false), of(method, true)), (state, lock), "{method}");
        }
    }
}
