//! Lists over states: projects, states, locks.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::stream::{self, StreamExt, TryStreamExt};
use groundstate_blobs::BlobVersion;
use groundstate_versioned::{ErrorKind, Head, ListFilter, Name};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::extract::{Json, Query};
use super::item::{LockItem, StateItem};
use crate::app::App;
use crate::auth::Role;
use crate::caller::Caller;
use crate::names::{ProjectName, StatePath};
use crate::problem::{Problem, ProblemDocument, ProblemType};
use crate::terraform::Refusal;
use axum::extract::State;

/// How many states are read at a time.
const PARALLEL: usize = 16;

/// What is listed.
#[derive(Clone, Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Filter {
    /// The project; all if it is not given.
    project: Option<String>,
    /// Text that `PROJECT/STATE` or `PROJECT/STATE/WORKSPACE` has, in any case.
    search: Option<String>,
    /// `next` of the page before.
    after: Option<String>,
    /// How many are listed at most: 1 to 1000.
    limit: Option<usize>,
}

/// Whether deleted states are listed.
#[derive(Clone, Copy, Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub(super) struct Deleted {
    /// Whether states that were deleted are listed too.
    #[param(required = false)]
    deleted: bool,
}

/// What both say.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct StateFilter {
    project: Option<String>,
    search: Option<String>,
    after: Option<String>,
    limit: Option<usize>,
    deleted: bool,
}

/// States.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = States)]
pub(super) struct StateList {
    /// The states that the caller may read, by project, name and workspace. There are less than `limit` only on the last page.
    states: Vec<StateItem>,
    /// States that cannot be read; they may be locked or not. Absent if there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damaged: Vec<DamagedItem>,
    /// `after` of the next page. Absent if this is the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// A state that cannot be read.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DamagedState)]
pub(super) struct DamagedItem {
    /// The project.
    project: String,
    /// The name in the project.
    state: String,
    /// The workspace.
    workspace: String,
    /// Damage, in words.
    problem: String,
}

impl DamagedItem {
    fn new(path: &StatePath, problem: String) -> Self {
        let (project, state) = (path.project().to_string(), path.state().to_string());
        Self { project, state, workspace: path.workspace().to_string(), problem }
    }
}

/// Projects.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Projects)]
pub(super) struct ProjectList {
    /// The names of the projects with states that the caller may read, in order.
    projects: Vec<String>,
}

/// A state that is locked.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LockedState)]
pub(super) struct LockedItem {
    /// The project.
    project: String,
    /// The name in the project.
    state: String,
    /// The workspace.
    workspace: String,
    /// The lock.
    lock: LockItem,
}

/// Locks.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Locks)]
pub(super) struct LockList {
    /// The states that are locked. There are less than `limit` only on the last page.
    locks: Vec<LockedItem>,
    /// States that cannot be read; they may be locked or not. Absent if there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damaged: Vec<DamagedItem>,
    /// `after` of the next page. Absent if this is the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// The projects that have states.
#[utoipa::path(
    get,
    path = "/api/v1/projects",
    tag = "states",
    responses((status = 200, description = "The projects.", body = ProjectList)),
)]
pub(super) async fn projects(State(app): State<App>, caller: Caller) -> Result<Json<ProjectList>, Refusal> {
    let mut projects = BTreeSet::new();
    let mut filter = ListFilter::prefix(app.prefix(None));
    loop {
        // Names suffice: no state is read, however many there are.
        let page = app.documents().names(&filter).await?;
        let states = page.names.iter().filter_map(|name| app.path_of(name));
        let readable = states.filter(|path| may_read(&caller, path));
        projects.extend(readable.map(|path| path.project().to_string()));
        let Some(next) = page.next else { break };
        filter = filter.page(Some(next));
    }
    Ok(Json(ProjectList { projects: projects.into_iter().collect() }))
}

fn may_read(caller: &Caller, path: &StatePath) -> bool {
    caller.principal.may(Role::Read, path.project().as_str(), &path.in_project())
}

/// States with their present versions and locks.
#[utoipa::path(
    get,
    path = "/api/v1/states",
    tag = "states",
    params(Filter, Deleted),
    responses(
        (status = 200, description = "The states.", body = StateList),
        (status = 400, description = "The filter is not valid.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn states(
    State(app): State<App>,
    caller: Caller,
    Query(filter): Query<StateFilter>,
) -> Result<Json<StateList>, Refusal> {
    let mut listing = Listing::new(&app, &caller, &filter)?;
    let is_listed = |head: &Head| head.current().is_some() || filter.deleted && head.number() > 0;
    let (found, next) = listing.page(filter.limit, None, is_listed).await?;
    let states = found.iter().map(|(path, head)| StateItem::new(path, head)).collect();
    Ok(Json(StateList { states, damaged: listing.damaged, next }))
}

/// The locks of all states.
#[utoipa::path(
    get,
    path = "/api/v1/locks",
    tag = "locks",
    params(Filter),
    responses(
        (status = 200, description = "The locks.", body = LockList),
        (status = 400, description = "The filter is not valid.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn locks(
    State(app): State<App>,
    caller: Caller,
    Query(filter): Query<Filter>,
) -> Result<Json<LockList>, Refusal> {
    let Filter { project, search, after, limit } = filter;
    let filter = StateFilter { project, search, after, limit, deleted: false };
    let mut listing = Listing::new(&app, &caller, &filter)?;
    // Of states that had no lock when they were read last, and have not changed since, no head is read.
    let free = Some(app.free_states());
    let (found, next) = listing.page(limit, free, |head| head.lock().is_some()).await?;
    let locked = |(path, head): &(StatePath, Head)| {
        let lock = LockItem::new(head.lock()?, head.time());
        let (project, state) = (path.project().to_string(), path.state().to_string());
        Some(LockedItem { project, state, workspace: path.workspace().to_string(), lock })
    };
    let locks = found.iter().filter_map(locked).collect();
    Ok(Json(LockList { locks, damaged: listing.damaged, next }))
}

/// States without a lock, by the version of their heads: lists of locks pass over them until they change.
#[derive(Debug, Default)]
pub(crate) struct FreeStates(Mutex<HashMap<Name, BlobVersion>>);

impl FreeStates {
    /// How many are known at most.
    const MOST: usize = 1_000_000;

    fn known(&self) -> MutexGuard<'_, HashMap<Name, BlobVersion>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has(&self, name: &Name, version: &BlobVersion) -> bool {
        self.known().get(name).is_some_and(|known| known == version)
    }

    fn keep(&self, name: &Name, version: BlobVersion) {
        let mut known = self.known();
        if known.len() >= Self::MOST {
            known.clear();
        }
        known.insert(name.clone(), version);
    }
}

/// A walk over the states that the caller may read.
struct Listing<'a> {
    app: &'a App,
    caller: &'a Caller,
    search: String,
    prefix: String,
    /// The name of the last state of the page before.
    after: Option<String>,
    /// Documents on the way that cannot be read.
    damaged: Vec<DamagedItem>,
}

impl<'a> Listing<'a> {
    fn new(app: &'a App, caller: &'a Caller, filter: &StateFilter) -> Result<Self, Problem> {
        let prefix = match &filter.project {
            Some(project) => {
                let project = ProjectName::parse(project)
                    .map_err(|error| Problem::new(ProblemType::InvalidName, error.to_string()))?;
                app.prefix(Some(&project))
            }
            None => app.prefix(None),
        };
        let search = filter.search.as_deref().unwrap_or_default().to_lowercase();
        Ok(Self { app, caller, search, prefix, after: filter.after.clone(), damaged: Vec::new() })
    }

    /// The names behind the page before that match; no state is read for them.
    async fn names(&self) -> Result<Vec<(StatePath, Name, BlobVersion)>, Refusal> {
        let (mut names, mut page) = (Vec::new(), None);
        loop {
            let listed = self.app.documents().names(&ListFilter::prefix(&*self.prefix).page(page)).await?;
            for (name, version) in listed.names.into_iter().zip(listed.versions) {
                let is_behind = self.after.as_deref().is_none_or(|after| name.as_str() > after);
                if let Some(path) = self.app.path_of(&name).filter(|path| is_behind && self.matches(path)) {
                    names.push((path, name, version));
                }
            }
            page = listed.next;
            if page.is_none() {
                names.sort_by(|(_, one, _), (_, other, _)| one.as_str().cmp(other.as_str()));
                return Ok(names);
            }
        }
    }

    fn matches(&self, path: &StatePath) -> bool {
        let is_found = self.search.is_empty() || path.to_string().to_lowercase().contains(&self.search);
        is_found && may_read(self.caller, path)
    }

    /// A page of an answer, and where the next one begins: it is full, or the last one.
    async fn page(
        &mut self,
        limit: Option<usize>,
        free: Option<&FreeStates>,
        is_listed: impl Fn(&Head) -> bool,
    ) -> Result<(Vec<(StatePath, Head)>, Option<String>), Refusal> {
        let limit = limit.unwrap_or(100).clamp(1, self.app.limits().page);
        let mut names = self.names().await?;
        if let Some(free) = free {
            names.retain(|(_, name, version)| !free.has(name, version));
        }
        let documents = self.app.documents();
        let heads = stream::iter(names).map(|(path, name, version)| async move {
            let head = match documents.document(&name).head().await {
                Ok(head) => Ok(head),
                Err(error) if matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported) => {
                    Err(error.message().to_owned())
                }
                Err(error) => return Err(Refusal::from(error)),
            };
            Ok::<_, Refusal>((path, name, version, head))
        });
        let mut heads = heads.buffered(PARALLEL);
        let (mut found, mut last) = (Vec::new(), String::new());
        while let Some((path, name, version, head)) = heads.try_next().await? {
            let head = match head {
                Ok(head) => head,
                Err(problem) => {
                    self.damaged.push(DamagedItem::new(&path, problem));
                    continue;
                }
            };
            if let Some(free) = free.filter(|_| head.recorded_lock().is_none()) {
                free.keep(&name, version);
            }
            if !is_listed(&head) {
                continue;
            }
            if found.len() == limit {
                return Ok((found, Some(last)));
            }
            last = name.as_str().to_owned();
            found.push((path, head));
        }
        Ok((found, None))
    }
}
