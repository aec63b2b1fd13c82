//! What differs in meaning between two versions of a state.

use groundstate_state_edit::{ChangeKind, Diff, DiffValue, Entry, FieldChange, SubjectNames};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::extract::{Json, Query, StateAccess, StateParams};
use super::load::{Opened, load};
use super::outputs::raw;
use crate::auth::Role;
use crate::problem::{Problem, ProblemDocument, ProblemType};
use crate::terraform::Refusal;

/// Which versions are compared.
#[derive(Clone, Copy, Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Versions {
    /// The number of the first version. The one before the second if it is not given.
    from: Option<u64>,
    /// The number of the second version. The present one if it is not given.
    to: Option<u64>,
    /// Whether sensitive values are shown. The audit log has each such request.
    #[serde(default)]
    #[param(required = false)]
    reveal: bool,
}

/// What differs.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Diff)]
pub(super) struct DiffItem {
    /// The number of the first version.
    from: u64,
    /// The number of the second version.
    to: u64,
    /// How many things differ.
    summary: Summary,
    /// What differs: the document, outputs, resources, check results.
    changes: Vec<Change>,
}

/// How many things differ.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DiffSummary)]
pub(super) struct Summary {
    /// How many things only the second version has.
    added: usize,
    /// How many things only the first version has.
    removed: usize,
    /// How many things differ.
    changed: usize,
}

/// One thing that differs.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DiffChange)]
pub(super) struct Change {
    /// What differs: `document`, `output`, `resource`, `instance`, `object`, `deposed_object` or `check`.
    kind: &'static str,
    /// The name of an output. Absent for other kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The address. Absent for documents and outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    /// The key of a deposed object. Absent for other kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    deposed_key: Option<String>,
    /// What happened to it: `added`, `removed` or `changed`.
    change: String,
    /// The members that differ.
    fields: Vec<Field>,
}

/// A member that differs.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DiffField)]
pub(super) struct Field {
    /// The path of the member.
    #[schema(example = "attributes.tags.Name")]
    path: String,
    /// The value of the first version; null if it is hidden. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    before: Option<Box<RawValue>>,
    /// Whether the first value is sensitive and hidden. Absent otherwise.
    #[serde(skip_serializing_if = "is_false")]
    before_sensitive: bool,
    /// The value of the second version; null if it is hidden. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    after: Option<Box<RawValue>>,
    /// Whether the second value is sensitive and hidden. Absent otherwise.
    #[serde(skip_serializing_if = "is_false")]
    after_sensitive: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// What differs in meaning between two versions: not bytes, but resources, values and metadata.
#[utoipa::path(
    get,
    path = "/api/v1/states/{project}/{state}/{workspace}/diff",
    tag = "history",
    params(StateParams, Versions),
    responses(
        (status = 200, description = "What differs.", body = DiffItem),
        (status = 404, description = "The history does not have one of them.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, description = "One of them cannot be read.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn diff(
    state: StateAccess,
    Query(query): Query<Versions>,
) -> Result<Json<DiffItem>, Refusal> {
    let (access, ()) = state.with(Role::Read, "history.diff")?;
    let opened = Opened::of(&access).await?;
    let to = opened.version(&access, query.to).await?;
    let Some(from) = query.from.or_else(|| to.number.checked_sub(1).filter(|number| *number > 0)) else {
        let detail = "there is no version before the first; say which one to compare with by from=";
        return Err(Problem::new(ProblemType::BadRequest, detail).into());
    };
    let from = opened.version(&access, Some(from)).await?;
    let before = load(&access, &opened.document, &from).await?;
    let after = load(&access, &opened.document, &to).await?;
    if query.reveal {
        access.record_first("history.reveal", format!("versions {} and {}", from.number, to.number)).await?;
    }
    // Both models are large, and so take long to drop too.
    let compared = tokio::task::spawn_blocking(move || {
        let found = groundstate_state_edit::diff(&before, &after);
        DiffItem::new(from.number, to.number, &found, query.reveal)
    });
    let item = compared.await;
    item.map(Json)
        .map_err(|_| Problem::new(ProblemType::Internal, "the versions could not be compared").into())
}

impl DiffItem {
    fn new(from: u64, to: u64, diff: &Diff, reveal: bool) -> Self {
        let summary = Summary {
            added: diff.count(ChangeKind::Added),
            removed: diff.count(ChangeKind::Removed),
            changed: diff.count(ChangeKind::Changed),
        };
        let changes = diff.entries.iter().map(|entry| Change::new(entry, reveal)).collect();
        Self { from, to, summary, changes }
    }
}

impl Change {
    fn new(entry: &Entry, reveal: bool) -> Self {
        let SubjectNames { kind, name, address, deposed_key, .. } = entry.subject.names();
        let fields = entry.fields.iter().map(|change| Field::new(change, reveal)).collect();
        Self { kind, name, address, deposed_key, change: entry.kind.to_string(), fields }
    }
}

impl Field {
    fn new(change: &FieldChange, reveal: bool) -> Self {
        let is_hidden =
            |value: &Option<DiffValue>| value.as_ref().is_some_and(|value| value.is_sensitive() && !reveal);
        let shown = |value: &Option<DiffValue>| {
            let value = value.as_ref()?;
            let text = if reveal { value.reveal() } else { value.plain().unwrap_or("null") };
            Some(raw(text.to_owned()))
        };
        Self {
            path: change.path.clone(),
            before: shown(&change.before),
            before_sensitive: is_hidden(&change.before),
            after: shown(&change.after),
            after_sensitive: is_hidden(&change.after),
        }
    }
}
