//! Outputs of a state. The role `outputs` suffices.

use groundstate_statefile::{outputs_within, type_json, value_json};
use groundstate_states::OutputValue;
use groundstate_versioned::Version;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::extract::{Json, Query, StateAccess, StateParams};
use super::load::{Opened, load};
use crate::auth::Role;
use crate::caller::Access;
use crate::problem::{Problem, ProblemDocument, ProblemType};
use crate::scan::{Input, Kept, aside, defect, scan};
use crate::terraform::Refusal;

/// Whether secrets are shown.
#[derive(Clone, Copy, Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub(super) struct Reveal {
    /// Whether sensitive values are shown. The audit log has each such request.
    #[param(required = false)]
    pub(super) reveal: bool,
}

/// An output.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Output)]
pub(super) struct OutputItem {
    /// The name of the output.
    name: String,
    /// Whether it is sensitive.
    sensitive: bool,
    /// The message of a deprecated output. Absent for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    deprecated: Option<String>,
    /// Its type, as states have it.
    #[serde(rename = "type")]
    #[schema(value_type = serde_json::Value, example = "string")]
    value_type: Box<RawValue>,
    /// Its value. Absent if it is sensitive and `reveal` is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    value: Option<Box<RawValue>>,
}

/// The outputs of a state.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Outputs)]
pub(super) struct OutputList {
    /// The number of the version that they are of.
    version: u64,
    /// The outputs, by name.
    outputs: Vec<OutputItem>,
}

/// The outputs of the present version. Sensitive values are hidden unless `reveal` is given.
#[utoipa::path(
    get,
    path = "/api/v1/states/{project}/{state}/{workspace}/outputs",
    tag = "states",
    params(StateParams, Reveal),
    responses(
        (status = 200, description = "The outputs.", body = OutputList),
        (status = 404, description = "There is no state.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, description = "The state cannot be read.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn outputs(
    state: StateAccess,
    Query(query): Query<Reveal>,
) -> Result<Json<OutputList>, Refusal> {
    let (access, ()) = state.with(Role::Outputs, "outputs.read")?;
    let (version, found) = read(&access, None).await?;
    record(&access, query, &found, version.number).await?;
    // Outputs may be large, and then take long to write and to drop.
    let outputs =
        aside(move || found.iter().map(|(name, output)| OutputItem::new(name, output, query)).collect());
    let outputs = outputs.await?;
    Ok(Json(OutputList { version: version.number, outputs }))
}

/// One output of the present version.
#[utoipa::path(
    get,
    path = "/api/v1/states/{project}/{state}/{workspace}/outputs/{name}",
    tag = "states",
    params(StateParams, ("name" = String, Path, description = "The name of the output."), Reveal),
    responses(
        (status = 200, description = "The output.", body = OutputItem),
        (status = 404, description = "There is no such output, or no state.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, description = "The state cannot be read.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn output(
    state: StateAccess<String>,
    Query(query): Query<Reveal>,
) -> Result<Json<OutputItem>, Refusal> {
    let (access, name) = state.with(Role::Outputs, "outputs.read")?;
    let (version, found) = read(&access, Some(name.clone())).await?;
    if found.is_empty() {
        let detail = format!("version {} of {} has no output {name:?}", version.number, access.path);
        return Err(Problem::new(ProblemType::NotFound, detail).into());
    }
    record(&access, query, &found, version.number).await?;
    let item = aside(move || found.first().map(|(name, output)| OutputItem::new(name, output, query)));
    Ok(Json(item.await?.ok_or_else(defect)?))
}

/// Records that secrets are shown, before they are.
async fn record(
    access: &Access,
    query: Reveal,
    found: &[(String, OutputValue)],
    number: u64,
) -> Result<(), Problem> {
    let secrets: Vec<&str> =
        found.iter().filter(|(_, output)| output.sensitive).map(|(name, _)| name.as_str()).collect();
    if !query.reveal || secrets.is_empty() {
        return Ok(());
    }
    access.record_first("outputs.reveal", format!("version {number}: {}", secrets.join(", "))).await
}

/// The outputs of the present version, or the one of this name.
async fn read(
    access: &Access,
    name: Option<String>,
) -> Result<(Version, Vec<(String, OutputValue)>), Refusal> {
    let opened = Opened::of(access).await?;
    let version = opened.version(access, None).await?;
    let wanted = name.clone();
    let reader = opened.document.open(&version).await?;
    let kept = Kept { per_byte: 0, per_brace: 0 };
    // Each output is charged before it is decoded, however large the state is.
    let read = move |input: &mut Input| {
        let meter = input.meter();
        outputs_within(input, wanted.as_deref(), &|text| meter.admit(text))
    };
    match scan(&access.app, access.caller.account(), reader, kept, read).await? {
        Ok(found) => Ok((version, found)),
        // It is of an older format, or something is wrong with it: the whole of it says what.
        Err(_) => {
            let loaded = load(access, &opened.document, &version).await?;
            let all = loaded
                .state
                .outputs()
                .iter()
                .map(|(name, output)| (name.to_string(), OutputValue::clone(output)));
            Ok((version, all.filter(|(found, _)| name.as_ref().is_none_or(|name| name == found)).collect()))
        }
    }
}

impl OutputItem {
    fn new(name: &str, output: &OutputValue, query: Reveal) -> Self {
        let shown = !output.sensitive || query.reveal;
        Self {
            name: name.to_owned(),
            sensitive: output.sensitive,
            deprecated: output.deprecated.as_deref().map(str::to_owned),
            value_type: raw(type_json(&output.value_type)),
            value: value_json(output).filter(|_| shown).map(raw),
        }
    }
}

/// A text that a writer of JSON has made, as JSON.
pub(super) fn raw(text: String) -> Box<RawValue> {
    RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
