//! What handlers take from requests. Everything that is wrong with one is a problem document.

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::response::{IntoResponse, Response};
use groundstate_statemgr::WorkspaceName;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::request::Parts;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::auth::Role;
use crate::body::{drain, small};
use crate::caller::{Access, Caller};
use crate::headers::identity;
use crate::names::{ProjectName, StateName, StatePath};
use crate::problem::{Problem, ProblemType};

/// The parts of a URL that name a state.
#[derive(utoipa::IntoParams)]
#[into_params(names("project", "state", "workspace"), parameter_in = Path)]
#[expect(dead_code, reason = "it describes the parameters; requests are read by `StateAccess`")]
pub(crate) struct StateParams(
    /// The project.
    String,
    /// The state.
    String,
    /// The workspace, `default` for the one that always exists.
    String,
);

impl FromRequestParts<App> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        Self::of(parts)
    }
}

/// The state of a URL `…/states/PROJECT/STATE/WORKSPACE…`, what else the URL has, and who asks.
#[derive(Debug)]
pub(crate) struct StateAccess<R = ()> {
    pub(crate) access: Access,
    /// What the URL has behind the workspace.
    pub(crate) rest: R,
}

/// What a URL may have behind the workspace.
pub(crate) trait Rest: Sized {
    /// Reads the parts.
    fn read(parts: &[String]) -> Option<Self>;
}

impl Rest for () {
    fn read(parts: &[String]) -> Option<Self> {
        parts.is_empty().then_some(())
    }
}

impl Rest for String {
    fn read(parts: &[String]) -> Option<Self> {
        match parts {
            [text] => Some(text.clone()),
            _ => None,
        }
    }
}

/// The number of a version.
impl Rest for u64 {
    fn read(parts: &[String]) -> Option<Self> {
        match parts {
            [text] => text.parse().ok(),
            _ => None,
        }
    }
}

impl<R: Rest> FromRequestParts<App> for StateAccess<R> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let no_route =
            || Problem::new(ProblemType::NoSuchRoute, format!("there is nothing at {}", parts.uri.path()));
        let names = Path::<Vec<String>>::from_request_parts(&mut parts.clone(), app).await;
        let Path(names) = names.map_err(|_| no_route())?;
        let [project, state, workspace, rest @ ..] = names.as_slice() else { return Err(no_route()) };
        let path = state_path(project, state, workspace)
            .map_err(|error| Problem::new(ProblemType::InvalidName, error.to_string()))?;
        let rest = R::read(rest).ok_or_else(|| {
            Problem::new(ProblemType::InvalidName, "the number of a version is a whole number from 1 on")
        })?;
        Ok(Self { access: Access::new(app, parts, path)?, rest })
    }
}

fn state_path(
    project: &str,
    state: &str,
    workspace: &str,
) -> Result<StatePath, groundstate_common::InvalidId> {
    StatePath::new(ProjectName::parse(project)?, StateName::parse(state)?, WorkspaceName::parse(workspace)?)
}

impl<R> StateAccess<R> {
    /// The access, if the caller has the role.
    ///
    /// # Errors
    ///
    /// If it has not, which the audit log has then.
    pub(crate) fn with(self, role: Role, action: &'static str) -> Result<(Access, R), Problem> {
        match self.access.may(role) {
            true => Ok((self.access, self.rest)),
            false => Err(self.access.denied(action, role)),
        }
    }
}

/// The query of a request.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<App> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let query = axum::extract::Query::try_from_uri(&parts.uri);
        query.map(|query| Self(query.0)).map_err(|error| {
            let why =
                std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            Problem::new(ProblemType::BadRequest, format!("the query is not valid: {why}"))
        })
    }
}

/// A body that is not read yet: it is when the caller may do what it asks for.
#[derive(Debug)]
pub(crate) struct UnreadBody(Request);

impl FromRequest<App> for UnreadBody {
    type Rejection = std::convert::Infallible;

    async fn from_request(request: Request, _: &App) -> Result<Self, Self::Rejection> {
        Ok(Self(request))
    }
}

impl UnreadBody {
    /// Reads the body as JSON.
    ///
    /// # Errors
    ///
    /// If it is none, or is too large.
    pub(crate) async fn json<T: DeserializeOwned>(self, app: &App) -> Result<T, Problem> {
        let (parts, mut body) = self.0.into_parts();
        let read = read_json(&parts, &mut body, app).await;
        if read.is_err() {
            drain(&parts.headers, body, app.limits()).await;
        }
        read
    }
}

async fn read_json<T: DeserializeOwned>(parts: &Parts, body: &mut Body, app: &App) -> Result<T, Problem> {
    identity(&parts.headers)?;
    let is_json = parts.headers.get(CONTENT_TYPE).is_none_or(|kind| {
        let kind = kind.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default();
        kind.trim_ascii().eq_ignore_ascii_case(b"application/json")
    });
    if !is_json {
        return Err(Problem::new(ProblemType::UnsupportedMedia, "the body has to be application/json"));
    }
    let bytes = small(&parts.headers, body, app.limits().small_bytes).await?;
    serde_json::from_slice(&bytes)
        .map_err(|error| Problem::new(ProblemType::BadRequest, format!("the body is not valid: {error}")))
}

/// An answer that is JSON.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(body) => {
                let mut response = Response::new(body.into());
                let headers = response.headers_mut();
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
                response
            }
            Err(error) => {
                tracing::error!(error = %error, "an answer cannot be written");
                Problem::new(ProblemType::Internal, "the answer cannot be written").into_response()
            }
        }
    }
}
