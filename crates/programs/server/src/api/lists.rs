//! Lists over states: projects, states, locks.

use std::collections::BTreeSet;

use groundstate_blobs::PageToken;
use groundstate_versioned::{Head, ListFilter, Name};
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

/// How many pages of the store are read for one answer at most.
const PAGES: usize = 20;

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
    /// The states that the caller may read, by project, name and workspace. There may be less than `limit`, even none, and yet more to come.
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
    /// What is wrong with it.
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
    /// The states that are locked. There may be less than `limit`, even none, and yet more to come.
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
    let (found, next) = listing.page(filter.limit, is_listed).await?;
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
    let (found, next) = listing.page(limit, |head| head.lock().is_some()).await?;
    let locked = |(path, head): &(StatePath, Head)| {
        let lock = LockItem::new(head.lock()?, head.time());
        let (project, state) = (path.project().to_string(), path.state().to_string());
        Some(LockedItem { project, state, workspace: path.workspace().to_string(), lock })
    };
    let locks = found.iter().filter_map(locked).collect();
    Ok(Json(LockList { locks, damaged: listing.damaged, next }))
}

/// A walk over the states that the caller may read.
struct Listing<'a> {
    app: &'a App,
    caller: &'a Caller,
    search: String,
    filter: ListFilter,
    is_over: bool,
    /// What was found on the way and cannot be read.
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
        let page = filter.after.as_deref().map(PageToken::new);
        let search = filter.search.as_deref().unwrap_or_default().to_lowercase();
        Ok(Self {
            app,
            caller,
            search,
            filter: ListFilter::prefix(prefix).with_absent().page(page),
            is_over: false,
            damaged: Vec::new(),
        })
    }

    /// The states of the next page of the store that are asked for; none behind the last page.
    async fn next(&mut self, limit: usize) -> Result<Option<Vec<(StatePath, Head)>>, Refusal> {
        if self.is_over {
            return Ok(None);
        }
        self.filter.limit = Some(limit);
        let page = self.app.documents().list(&self.filter).await?;
        self.is_over = page.next.is_none();
        self.filter.page = page.next;
        for damaged in page.damaged {
            if let Some(path) = self.wanted(&damaged.name) {
                self.damaged.push(DamagedItem::new(&path, damaged.reason));
            }
        }
        let states =
            page.documents.into_iter().filter_map(|listed| Some((self.wanted(&listed.name)?, listed.head)));
        Ok(Some(states.collect()))
    }

    /// The path of a document, if it is a state that is listed for this caller.
    fn wanted(&self, name: &Name) -> Option<StatePath> {
        let path = self.app.path_of(name)?;
        let matches = self.search.is_empty() || path.to_string().to_lowercase().contains(&self.search);
        (may_read(self.caller, &path) && matches).then_some(path)
    }

    /// A page of an answer, and where the next one begins.
    async fn page(
        &mut self,
        limit: Option<usize>,
        is_listed: impl Fn(&Head) -> bool,
    ) -> Result<(Vec<(StatePath, Head)>, Option<String>), Refusal> {
        let limit = limit.unwrap_or(100).clamp(1, self.app.limits().page);
        let mut found = Vec::new();
        for _ in 0..PAGES {
            // No page of the store has more than fit, so that the next one begins at its end.
            let Some(states) = self.next(limit - found.len()).await? else { break };
            found.extend(states.into_iter().filter(|(_, head)| is_listed(head)));
            if found.len() >= limit {
                break;
            }
        }
        let next = self.filter.page.as_ref().filter(|_| !self.is_over).map(|page| page.as_str().to_owned());
        Ok((found, next))
    }
}
