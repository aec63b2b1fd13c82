//! One resource instance with the members of its objects.

use groundstate_state_edit::{Member, members};
use groundstate_states::addr::AbsResourceInstance;
use groundstate_states::{Generation, ObjectSrc, ObjectStatus};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::extract::{Json, Query, StateAccess, StateParams};
use super::load::{Opened, load};
use super::outputs::raw;
use super::resources::ResourceItem;
use crate::auth::Role;
use crate::problem::{Problem, ProblemDocument, ProblemType};
use crate::terraform::Refusal;

/// Which resource instance is shown.
#[derive(Clone, Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Shown {
    /// Its address.
    #[param(example = "module.net.aws_instance.web[0]")]
    address: String,
    /// The number of a version, instead of the present one.
    version: Option<u64>,
    /// Whether sensitive values are shown. The audit log has each such request.
    #[serde(default)]
    #[param(required = false)]
    reveal: bool,
}

/// A resource instance with its objects.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ResourceInstance)]
pub(super) struct InstanceItem {
    /// The number of the version that it is of.
    version: u64,
    /// Its address.
    resource: ResourceItem,
    /// The configuration of its provider.
    #[schema(example = "provider[\"registry.terraform.io/hashicorp/aws\"]")]
    provider: String,
    /// The current object, if there is one, and those that wait to be destroyed.
    objects: Vec<ObjectItem>,
}

/// The record of one remote object.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ResourceObject)]
pub(super) struct ObjectItem {
    /// The key of a deposed object. Absent for the current one.
    #[serde(skip_serializing_if = "Option::is_none")]
    deposed_key: Option<String>,
    /// `ready`, `tainted` or `planned`.
    status: &'static str,
    /// The version of the schema of its attributes.
    schema_version: u64,
    /// Whether a replacement is created before it is destroyed.
    create_before_destroy: bool,
    /// Its attributes, one by one, and its other members that have a value.
    members: Vec<MemberItem>,
}

/// A member of an object.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ResourceMember)]
pub(super) struct MemberItem {
    /// The path of the member.
    #[schema(example = "attributes.tags")]
    path: String,
    /// Whether it, or a part of it, is sensitive. What the provider keeps for itself always is.
    sensitive: bool,
    /// Its value. Absent if it is sensitive and `reveal` is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    value: Option<Box<RawValue>>,
}

/// A resource instance with the values of its objects. Sensitive values are hidden unless `reveal` is given.
#[utoipa::path(
    get,
    path = "/api/v1/states/{project}/{state}/{workspace}/resource",
    tag = "states",
    params(StateParams, Shown),
    responses(
        (status = 200, description = "The resource instance.", body = InstanceItem),
        (status = 400, description = "The address is not valid.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 404, description = "There is no such instance, or no state.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, description = "The state cannot be read.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn resource(
    state: StateAccess,
    Query(query): Query<Shown>,
) -> Result<Json<InstanceItem>, Refusal> {
    let (access, ()) = state.with(Role::Read, "resources.show")?;
    let address = AbsResourceInstance::parse(&query.address).map_err(|error| {
        Problem::new(ProblemType::BadRequest, format!("address: {error}; give the address of an instance"))
    })?;
    let opened = Opened::of(&access).await?;
    let version = opened.version(&access, query.version).await?;
    let file = load(&access, &opened.document, &version).await?;
    let resource = file.state.resource(&address.resource);
    let Some((resource, instance)) = resource.and_then(|it| Some((it, it.instances.get(&address.key)?)))
    else {
        let detail = format!("version {} of {} has no {address}", version.number, access.path);
        return Err(Problem::new(ProblemType::NotFound, detail).into());
    };
    let objects: Vec<ObjectItem> = instance
        .objects()
        .map(|(generation, object)| ObjectItem::new(&generation, object, query.reveal))
        .collect();
    let has_secrets = objects.iter().flat_map(|object| &object.members).any(|member| member.sensitive);
    if query.reveal && has_secrets {
        access.record_first("resources.reveal", format!("version {}: {address}", version.number)).await?;
    }
    let provider = resource.provider.to_string();
    let resource = ResourceItem::new(&address);
    Ok(Json(InstanceItem { version: version.number, resource, provider, objects }))
}

impl ObjectItem {
    fn new(generation: &Generation, object: &ObjectSrc, reveal: bool) -> Self {
        let deposed_key = match generation {
            Generation::Deposed(key) => Some(key.as_str().to_owned()),
            Generation::Current => None,
        };
        let status = match object.status {
            ObjectStatus::Ready => "ready",
            ObjectStatus::Tainted => "tainted",
            ObjectStatus::Planned => "planned",
        };
        Self {
            deposed_key,
            status,
            schema_version: object.schema_version,
            create_before_destroy: object.create_before_destroy,
            members: members(object).iter().map(|member| MemberItem::new(member, reveal)).collect(),
        }
    }
}

impl MemberItem {
    fn new(member: &Member, reveal: bool) -> Self {
        let text = if reveal { Some(member.value.reveal()) } else { member.value.plain() };
        Self {
            path: member.path.clone(),
            sensitive: member.value.is_sensitive(),
            value: text.map(|text| raw(text.to_owned())),
        }
    }
}
