//! What every request works on, and the service made of it.

use std::fmt;
use std::sync::Arc;

use axum::Router;
use groundstate_blobs::BlobStore;
use groundstate_common::{Clock, IdSource, OsIds, SystemClock};
use http::Uri;

use crate::limits::Limits;
use crate::policy::Policies;
use crate::problem::{Problem, ProblemType};

/// What an [`App`] is made of.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Parts {
    /// The container that everything is kept in.
    pub blobs: Arc<dyn BlobStore>,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// Where ids come from.
    pub ids: Arc<dyn IdSource>,
    /// What is refused.
    pub policies: Policies,
    /// How much a request may cost.
    pub limits: Limits,
}

impl Parts {
    /// A container with the clock and the ids of the machine, and the policies and limits that are the default.
    pub fn new(blobs: Arc<dyn BlobStore>) -> Self {
        Self {
            blobs,
            clock: Arc::new(SystemClock),
            ids: Arc::new(OsIds),
            policies: Policies::default(),
            limits: Limits::default(),
        }
    }
}

/// What every request works on. Clones share it.
#[derive(Clone)]
pub struct App(Arc<Parts>);

impl App {
    /// The app of these parts.
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// What is refused.
    pub fn policies(&self) -> &Policies {
        &self.0.policies
    }

    /// How much a request may cost.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App").field("blobs", &self.0.blobs.to_string()).finish_non_exhaustive()
    }
}

/// The service: Terraform's protocol and the JSON API, without sockets, credentials and limits of connections.
///
/// Requests carry an [`auth::Principal`](crate::auth::Principal) as an extension.
pub fn router(app: App) -> Router {
    Router::new().fallback(no_such_route).with_state(app)
}

async fn no_such_route(uri: Uri) -> Problem {
    Problem::new(ProblemType::NoSuchRoute, format!("there is nothing at {}", uri.path()))
}
