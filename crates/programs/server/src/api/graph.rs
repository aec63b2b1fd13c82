//! The dependencies of a state as a picture.

use std::collections::{BTreeMap, BTreeSet};

use axum::response::Response;
use groundstate_schedule::WaitGraph;
use groundstate_schedule::drawing::{Arrow, Figure, Frame, MAX_GROUP_DEPTH, Picture};
use groundstate_states::State;
use groundstate_states::addr::{ConfigResource, Module};
use http::HeaderValue;
use http::header::{CONTENT_SECURITY_POLICY, X_CONTENT_TYPE_OPTIONS};
use serde::Deserialize;

use super::document;
use super::extract::{Query, StateAccess, StateParams};
use super::load::{Opened, load};
use crate::auth::Role;
use crate::problem::{Problem, ProblemDocument, ProblemType};
use crate::scan::aside;
use crate::terraform::Refusal;

/// Which version is drawn.
#[derive(Clone, Copy, Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Drawn {
    /// The number of the version. The present one if it is not given.
    version: Option<u64>,
}

/// The resources of a state and what each needs, as an SVG picture.
#[utoipa::path(
    get,
    path = "/api/v1/states/{project}/{state}/{workspace}/graph.svg",
    tag = "states",
    params(StateParams, Drawn),
    responses(
        (status = 200, description = "The picture.", body = String, content_type = "image/svg+xml"),
        (status = 404, description = "There is no state.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, description = "The state cannot be read.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn graph(state: StateAccess, Query(query): Query<Drawn>) -> Result<Response, Refusal> {
    let (access, ()) = state.with(Role::Read, "state.graph")?;
    let opened = Opened::of(&access).await?;
    let version = opened.version(&access, query.version).await?;
    let file = load(&access, &opened.document, &version).await?;
    // The model is large, and so takes long to drop too.
    let needs = aside(move || needs(&file.state)).await?;
    let (most, count) = (access.app.limits().drawn_resources, needs.len());
    if count > most {
        let detail =
            format!("the state has {count} resources, and at most {most} are drawn; use groundstate graph");
        return Err(Problem::new(ProblemType::TooLarge, detail).into());
    }
    let drawn = tokio::task::spawn_blocking(move || picture(&needs).to_svg()).await;
    let svg = drawn.map_err(|_| Problem::new(ProblemType::Internal, "the picture could not be drawn"))?;
    let mut response = document("image/svg+xml", svg);
    let headers = response.headers_mut();
    // Names come from states: a browser that opens the picture runs nothing in it.
    let policy = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox");
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Ok(response)
}

/// What each resource needs, without the keys of instances and modules, because recorded dependencies have none.
type Needs = BTreeMap<ConfigResource, BTreeSet<ConfigResource>>;

fn needs(state: &State) -> Needs {
    let mut needs = Needs::new();
    for (module, name, resource) in state.all_resources() {
        let from = name.clone().absolute(module.clone()).to_config();
        let known = needs.entry(from).or_default();
        for (_, object) in resource.instances.values().flat_map(|instance| instance.objects()) {
            known.extend(object.dependencies.iter().cloned());
            known.extend(object.depends_on.iter().map(|instance| instance.resource.to_config()));
        }
    }
    needs
}

fn picture(needs: &Needs) -> Picture {
    let missing: BTreeSet<&ConfigResource> =
        needs.values().flatten().filter(|needed| !needs.contains_key(*needed)).collect();
    let names: Vec<&ConfigResource> = needs.keys().chain(missing).collect();
    let positions: BTreeMap<&ConfigResource, u32> = (0..).zip(&names).map(|(at, name)| (*name, at)).collect();
    let mut groups = Groups::default();
    let figure = |name: &&ConfigResource| {
        let text = name.resource.to_string();
        let short = text.rsplit_once('.').unwrap_or(("", &text));
        let figure = Figure::existing(&name.to_string(), short, !needs.contains_key(*name));
        Figure { group: groups.of(&name.module), ..figure }
    };
    let figures = names.iter().map(figure).collect();
    let edges = needs.iter().flat_map(|(from, needed)| needed.iter().map(move |to| (from, to)));
    let edges = edges.filter_map(|(from, to)| Some((*positions.get(from)?, *positions.get(to)?, ())));
    let graph = WaitGraph::new(names.len(), names.len(), edges.collect());
    let reduced = graph.reduced_beside_cycles();
    let arrow = |(first, then, ())| Arrow { first, then, dashed: false, on_cycle: false };
    let arrows = reduced.edges().map(arrow).collect();
    let notes = vec!["arrows lead from what needs something to what it needs".to_owned()];
    Picture { figures, groups: groups.frames, arrows, points: 0, notes }
}

/// Modules as groups; those that lie too deep are drawn as a part of the one around them.
#[derive(Default)]
struct Groups {
    frames: Vec<Frame>,
    known: BTreeMap<String, usize>,
}

impl Groups {
    /// The group of a module, which is made with all around it if there is none yet.
    fn of(&mut self, module: &Module) -> Option<usize> {
        let (mut outer, mut name) = (None, String::new());
        for step in module.steps().iter().take(MAX_GROUP_DEPTH) {
            name.push_str(if name.is_empty() { "module." } else { ".module." });
            name.push_str(step);
            let index = self.known.get(&name).copied().unwrap_or_else(|| {
                self.frames.push((name.clone(), outer));
                self.frames.len() - 1
            });
            self.known.insert(name.clone(), index);
            outer = Some(index);
        }
        outer
    }
}
