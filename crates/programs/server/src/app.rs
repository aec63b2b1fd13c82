//! What every request works on, and the service made of it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use groundstate_audit::AuditLog;
use groundstate_blobs::{BlobStore, Context, Retry, RetryPolicy};
use groundstate_common::{OsIds, SystemClock};
use groundstate_pulumi_service::{Options, ServiceKey, StackBucket, Stacks};
use groundstate_statemgr::TokioSleeper;
use groundstate_versioned::{Document, Documents, Error, Name, Settings};
use http::{Method, Uri};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::block_in_place;

use crate::budget::{Budget, RETRY_AFTER, StackRoom, default_memory, with_account};
use crate::limits::Limits;
use crate::names::{ProjectName, StatePath};
use crate::policy::Policies;
use crate::problem::{Problem, ProblemType};
use crate::{api, page, pulumi, terraform};

/// What the keys of the audit log begin with, in the container that has everything else too.
pub const AUDIT_PREFIX: &str = "audit/";
/// The folder of the container that has the documents.
pub(crate) const ROOT: &str = "documents";
/// Prefix of the keys of the documents.
pub(crate) const DOCUMENTS: &str = "documents/";
/// What the names of the documents of Terraform's states begin with.
const TERRAFORM: &str = "terraform";

/// How long a request waits for its turn to analyse a state, and for a thread.
const TURN_WAIT: Duration = Duration::from_secs(10);

/// What an [`App`] is made of.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Parts {
    /// The container that everything is kept in. It is asked again when it does not answer.
    pub blobs: Arc<dyn BlobStore>,
    /// Time and ids.
    pub context: Context,
    /// Where changes, refusals and looks at secrets are recorded; nowhere, if there is none.
    pub audit: Option<AuditLog>,
    /// How contents are stored.
    pub settings: Settings,
    /// How often the store is asked.
    pub retries: RetryPolicy,
    /// What is refused.
    pub policies: Policies,
    /// How much a request may cost.
    pub limits: Limits,
    /// What wraps the keys by which secrets of Pulumi stacks are encrypted; without it the service encrypts none.
    pub secrets_key: Option<Arc<dyn ServiceKey>>,
    /// Buckets whose stacks are served, each under the name of an owner; every node needs the same.
    pub buckets: Vec<(String, Arc<dyn StackBucket>)>,
}

impl Parts {
    /// A container with the clock and the ids of the machine and tokio's timer, the policies and limits that are the default,
    /// and no audit log.
    pub fn new(blobs: Arc<dyn BlobStore>) -> Self {
        Self {
            blobs,
            context: Context::new(Arc::new(SystemClock), Arc::new(TokioSleeper), Arc::new(OsIds)),
            audit: None,
            settings: Settings::default(),
            retries: RetryPolicy::default(),
            policies: Policies::default(),
            limits: Limits::default(),
            secrets_key: None,
            buckets: Vec::new(),
        }
    }
}

/// What every request works on. Clones share it.
#[derive(Clone)]
pub struct App(Arc<Inner>);

struct Inner {
    documents: Documents,
    stacks: Stacks,
    context: Context,
    audit: Option<AuditLog>,
    policies: Policies,
    limits: Limits,
    /// One permit for each analysis that may run.
    analyses: Arc<Semaphore>,
    /// One permit for each request that may be worked on by a thread of its own.
    workers: Arc<Semaphore>,
    budget: Budget,
    free_states: api::FreeStates,
}

impl App {
    /// The app of these parts.
    ///
    /// # Errors
    ///
    /// `Unsupported` for a container without conditional writes.
    pub fn open(parts: Parts) -> Result<Self, Error> {
        let retry: Arc<dyn BlobStore> =
            Arc::new(Retry::new(parts.blobs, parts.retries, parts.context.clone()));
        let documents =
            Documents::open(Arc::clone(&retry), parts.context.clone(), parts.settings.root(ROOT))?;
        let mut options = Options::default();
        options.state_bytes = usize::try_from(parts.limits.state_bytes).unwrap_or(usize::MAX);
        let budget = Budget::new(parts.limits.memory.unwrap_or_else(default_memory));
        let mut stacks = Stacks::new(documents.clone(), retry, parts.context.clone()).with_options(options);
        stacks = stacks.with_room(Arc::new(StackRoom(budget.clone())));
        if let Some(key) = parts.secrets_key {
            stacks = stacks.with_key(key);
        }
        for (owner, bucket) in parts.buckets {
            stacks = stacks.with_bucket(owner, bucket);
        }
        let (audit, policies, limits) = (parts.audit, parts.policies, parts.limits);
        let analyses = Arc::new(Semaphore::new(limits.analyses.max(1)));
        let workers = Arc::new(Semaphore::new(limits.workers.max(1)));
        Ok(Self(Arc::new(Inner {
            documents,
            stacks,
            context: parts.context,
            audit,
            policies,
            limits,
            analyses,
            workers,
            budget,
            free_states: api::FreeStates::default(),
        })))
    }

    /// What is refused.
    pub fn policies(&self) -> &Policies {
        &self.0.policies
    }

    /// How much a request may cost.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// Time and ids.
    pub(crate) fn context(&self) -> &Context {
        &self.0.context
    }

    /// Where changes are recorded.
    pub(crate) fn audit(&self) -> Option<&AuditLog> {
        self.0.audit.as_ref()
    }

    /// Every document.
    pub(crate) fn documents(&self) -> &Documents {
        &self.0.documents
    }

    /// The Pulumi stacks.
    pub(crate) fn stacks(&self) -> &Stacks {
        &self.0.stacks
    }

    /// The document of a state.
    pub(crate) fn document(&self, path: &StatePath) -> Document {
        self.0.documents.document(&document_name(path))
    }

    /// What the names of the documents of states begin with, of one project or of all.
    pub(crate) fn prefix(&self, project: Option<&ProjectName>) -> String {
        match project {
            Some(project) => format!("{TERRAFORM}/{project}/"),
            None => format!("{TERRAFORM}/"),
        }
    }

    /// The state whose document has this name; none for another document.
    pub(crate) fn path_of(&self, name: &Name) -> Option<StatePath> {
        StatePath::parse(name.as_str().strip_prefix(TERRAFORM)?).ok()
    }

    /// The states that had no lock when they were read last.
    pub(crate) fn free_states(&self) -> &api::FreeStates {
        &self.0.free_states
    }

    /// The memory of requests.
    pub(crate) fn budget(&self) -> &Budget {
        &self.0.budget
    }

    /// Waits until a state may be analysed.
    ///
    /// # Errors
    ///
    /// If too many requests wait for too long.
    pub(crate) async fn analysis(&self) -> Result<OwnedSemaphorePermit, Problem> {
        turn(&self.0.analyses).await
    }

    /// Does work that takes long, such as decoding, where it holds up no other request.
    ///
    /// # Errors
    ///
    /// If too many requests wait for too long.
    pub(crate) async fn apart<T>(&self, work: impl FnOnce() -> T) -> Result<T, Problem> {
        let _permit = turn(&self.0.workers).await?;
        Ok(match has_threads() {
            true => block_in_place(work),
            false => work(),
        })
    }

    /// Runs work that asks the store in between.
    ///
    /// # Errors
    ///
    /// If too many requests wait for too long.
    pub(crate) async fn carry_out<T>(&self, work: impl Future<Output = T>) -> Result<T, Problem> {
        let _permit = turn(&self.0.workers).await?;
        Ok(match has_threads() {
            true => block_in_place(|| Handle::current().block_on(work)),
            false => work.await,
        })
    }
}

/// Waits for a permit.
async fn turn(permits: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, Problem> {
    let permit = Arc::clone(permits).acquire_owned();
    match tokio::time::timeout(TURN_WAIT, permit).await {
        Ok(Ok(permit)) => Ok(permit),
        _ => {
            let detail = "too many large requests are worked on at the moment; try again";
            Err(Problem::new(ProblemType::Unavailable, detail).with_retry_after(RETRY_AFTER))
        }
    }
}

/// Returns `true` if the runtime has other threads that go on with other requests.
fn has_threads() -> bool {
    Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread
}

/// The name of the document of a state.
fn document_name(path: &StatePath) -> Name {
    let name = format!("{TERRAFORM}/{}/{}/{}", path.project(), path.state(), path.workspace());
    Name::parse(&name).expect("parts of a path have no slash, no dot at an end, and at most 100 bytes each")
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App").field("documents", &self.0.documents.to_string()).finish_non_exhaustive()
    }
}

/// The service: Terraform's protocol, the JSON API and the page for browsers, without sockets, credentials and limits of connections.
///
/// Layers around it insert extensions into requests: an [`auth::Principal`](crate::auth::Principal), without which nothing is
/// served, and an [`Origin`](crate::Origin) for logs.
pub fn router(app: App) -> Router {
    let states = any(terraform::serve);
    let service = Router::new()
        .merge(api::routes())
        .merge(page::routes())
        .merge(pulumi::routes())
        .route("/tf/{*state}", states);
    let service = service
        .fallback(no_such_route)
        .layer(from_fn_with_state(app.clone(), with_account))
        .layer(from_fn(page::refuse_cross_site))
        .with_state(app);
    with_codes(service)
}

/// The service with the errors of the Pulumi service protocol as its clients read them, also those that layers around it answer with.
pub(crate) fn with_codes(service: Router) -> Router {
    service.layer(from_fn(async |request: Request, next: Next| {
        let path = request.uri().path().to_owned();
        pulumi::with_codes(&path, next.run(request).await)
    }))
}

async fn no_such_route(method: Method, uri: Uri) -> Response {
    if matches!(method, Method::GET | Method::HEAD)
        && let Some(redirect) = page::redirect(uri.path())
    {
        return redirect;
    }
    Problem::new(ProblemType::NoSuchRoute, format!("there is nothing at {}", uri.path())).into_response()
}
