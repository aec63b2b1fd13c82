//! Resources of a state.

use groundstate_statefile::list;
use groundstate_states::addr::{AbsResourceInstance, ResourceMode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::extract::{Json, Query, StateAccess, StateParams};
use super::load::{Opened, load};
use crate::auth::Role;
use crate::caller::Access;
use crate::problem::ProblemDocument;
use crate::scan::{Kept, scan};
use crate::terraform::Refusal;

/// Which resources are listed.
#[derive(Clone, Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Filter {
    /// Text that addresses have, in any case.
    search: Option<String>,
    /// The number of a version, instead of the present one.
    version: Option<u64>,
    /// How many addresses to leave out from the beginning.
    #[param(required = false)]
    offset: usize,
    /// How many are listed at most: 1 to 1000.
    limit: Option<usize>,
}

/// A resource instance.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Resource)]
pub(super) struct ResourceItem {
    /// The address.
    #[schema(example = "module.net.aws_instance.web[0]")]
    address: String,
    /// The module instance. Absent for the root module.
    #[serde(skip_serializing_if = "Option::is_none")]
    module: Option<String>,
    /// `managed` or `data`.
    mode: &'static str,
    /// The type.
    #[serde(rename = "type")]
    type_name: String,
    /// The name within its module and type.
    name: String,
}

/// Resource instances of a state.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Resources)]
pub(super) struct ResourceList {
    /// The number of the version that they are of.
    version: u64,
    /// How many match.
    total: usize,
    /// Those that are listed, in the order of `terraform state list`.
    resources: Vec<ResourceItem>,
}

/// The resource instances of a version, without their values.
#[utoipa::path(
    get,
    path = "/api/v1/states/{project}/{state}/{workspace}/resources",
    tag = "states",
    params(StateParams, Filter),
    responses(
        (status = 200, description = "The resources.", body = ResourceList),
        (status = 404, description = "There is no state.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, description = "The state cannot be read.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn resources(
    state: StateAccess,
    Query(filter): Query<Filter>,
) -> Result<Json<ResourceList>, Refusal> {
    let (access, ()) = state.with(Role::Read, "resources.list")?;
    let limit = filter.limit.unwrap_or(100).clamp(1, access.app.limits().page);
    let (version, mut found) = read(&access, filter.version).await?;
    if let Some(search) = filter.search.as_deref().filter(|search| !search.is_empty()) {
        let search = search.to_lowercase();
        found.retain(|address| address.to_string().to_lowercase().contains(&search));
    }
    let resources = found.iter().skip(filter.offset).take(limit).map(ResourceItem::new).collect();
    Ok(Json(ResourceList { version, total: found.len(), resources }))
}

async fn read(access: &Access, number: Option<u64>) -> Result<(u64, Vec<AbsResourceInstance>), Refusal> {
    let opened = Opened::of(access).await?;
    let version = opened.version(access, number).await?;
    let reader = opened.document.open(&version).await?;
    let kept = Kept { per_byte: 0, per_brace: 256 };
    let listed = scan(&access.app, access.caller.account(), reader, kept, |input| {
        list(input, false).map(|listing| listing.iter().map(|listed| listed.address()).collect::<Vec<_>>())
    });
    if let Ok(found) = listed.await? {
        return Ok((version.number, found));
    }
    // It is of an older format, or something is wrong with it: the whole of it says what.
    let file = load(access, &opened.document, &version).await?;
    let mut found = Vec::new();
    for (module, name, resource) in file.state.all_resources() {
        let resource_address = name.clone().absolute(module.clone());
        found.extend(resource.instances.keys().map(|key| resource_address.instance(key.clone())));
    }
    Ok((version.number, found))
}

impl ResourceItem {
    pub(super) fn new(address: &AbsResourceInstance) -> Self {
        let resource = &address.resource.resource;
        let module = address.module();
        Self {
            address: address.to_string(),
            module: (!module.is_root()).then(|| module.to_string()),
            mode: match resource.mode {
                ResourceMode::Managed => "managed",
                ResourceMode::Data => "data",
                _ => "other",
            },
            type_name: resource.type_name.to_string(),
            name: resource.name.to_string(),
        }
    }
}
