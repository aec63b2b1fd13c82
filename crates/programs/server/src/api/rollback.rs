//! Going back: an earlier version becomes the newest one, under a serial higher than all before it.

use bytes::Bytes;
use groundstate_common::one_line;
use groundstate_state_edit::OpenState;
use groundstate_states::Serial;
use groundstate_versioned::{Content, Head, Step, Version, VersionOptions};
use serde::Deserialize;
use utoipa::ToSchema;

use super::extract::{Json, StateAccess, StateParams, UnreadBody};
use super::item::VersionItem;
use super::load::{Opened, collect, unreadable};
use crate::auth::Role;
use crate::caller::Access;
use crate::content::{Inspection, StateNote, note_of, note_of_last};
use crate::policy::Policies;
use crate::problem::{Problem, ProblemDocument, ProblemType};
use crate::terraform::{Refusal, User, check_lock};

/// How often it is tried again when another client writes meanwhile.
const ROUNDS: usize = 5;

/// Where to go back to.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Rollback {
    /// The number of the version whose content comes back.
    version: u64,
    /// Why, for the audit log.
    #[serde(default)]
    reason: String,
    /// The id of the lock that the caller holds.
    lock_id: Option<String>,
    /// Whether a version of another lineage comes back too, and one whose serial cannot be raised because it is encrypted or is no
    /// state of format 4: such a content comes back as it is.
    #[serde(default)]
    force: bool,
}

/// What is stored.
enum Returned {
    /// The content with a higher serial.
    Raised(Content, StateNote),
    /// The very content.
    AsItIs,
}

/// Stores the content of an earlier version as the newest one, under a serial above all that the state has had.
///
/// The content comes back byte for byte except for its serial, so that clients take it for the newest. A state that was deleted comes
/// back too.
#[utoipa::path(
    post,
    path = "/api/v1/states/{project}/{state}/{workspace}/rollback",
    tag = "history",
    params(StateParams),
    request_body = Rollback,
    responses(
        (status = 200, description = "The new version.", body = VersionItem),
        (status = 404, description = "The history does not have the version.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, description = "The lineages differ, or the version is a deletion.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, description = "The serial of the version cannot be raised.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 423, description = "Another holder has the lock.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn rollback(state: StateAccess, body: UnreadBody) -> Result<Json<VersionItem>, Problem> {
    let (access, ()) = state.with(Role::Write, "state.rollback")?;
    access.check_audit()?;
    let body: Rollback = body.json(&access.app).await?;
    match roll_back(&access, &body).await {
        Ok(version) => {
            let reason = match body.reason.trim() {
                "" => String::new(),
                reason => format!(": {}", one_line(reason)),
            };
            let done =
                format!("version {} has the content of version {}{reason}", version.number, body.version);
            access.record("state.rollback", done).await;
            Ok(Json(VersionItem::new(&version)))
        }
        Err(refusal) => {
            access.refused("state.rollback", refusal.outcome(), refusal.reason());
            Err(refusal.into_problem())
        }
    }
}

async fn roll_back(access: &Access, body: &Rollback) -> Result<Version, Refusal> {
    for _ in 0..ROUNDS {
        let opened = Opened::of(access).await?;
        may_write(&opened.head, access, body)?;
        let earlier = opened.version(access, Some(body.version)).await?;
        if earlier.deleted {
            let detail = format!("version {} is a deletion; delete the state instead", body.version);
            return Err(Problem::new(ProblemType::Conflict, detail).into());
        }
        let note = note_of(&access.path, &earlier)?;
        check_lineage(access, &opened.head, &note, body)?;
        let returned = content(access, &opened, (&earlier, &note), body).await?;
        let seen = opened.head.number();
        let decide = |head: &Head| {
            let under = may_write(head, access, body)?;
            // Another client was faster; which serial is high enough has to be seen again.
            if head.number() != seen {
                return Ok(Step::nothing());
            }
            let mut options = VersionOptions::default().by(access.caller.name());
            if let Some(id) = under {
                options = options.lock(id);
            }
            Ok::<_, Refusal>(match &returned {
                Returned::Raised(content, note) => {
                    Step::write(content.clone(), options.note(note.to_note()?))
                }
                Returned::AsItIs => Step::restore(body.version, options.note(note.to_note()?)),
            })
        };
        let stepped = opened.document.step(decide).await??;
        if let Some(version) = stepped.version {
            return Ok(version);
        }
    }
    let detail = "other clients write the state all the time; lock it, and try again";
    Err(Problem::new(ProblemType::Unavailable, detail).with_retry_after(1).into())
}

/// Whether the lock lets the caller write. It needs none of its own: the store accepts the version only if nothing changed.
fn may_write(head: &Head, access: &Access, body: &Rollback) -> Result<Option<String>, Refusal> {
    let policies =
        Policies { require_lock: false, allow_unlocked_write: false, ..access.app.policies().clone() };
    check_lock(head, body.lock_id.as_deref(), User::of(access), &policies)
}

fn check_lineage(access: &Access, head: &Head, earlier: &StateNote, body: &Rollback) -> Result<(), Problem> {
    let (present, earlier) = (note_of_last(&access.path, head.current())?.lineage, &earlier.lineage);
    if body.force || present.is_empty() || earlier.is_empty() || present == *earlier {
        return Ok(());
    }
    let detail = format!(
        "version {} has the lineage {earlier}, and the present one {present}; force it if that is meant",
        body.version,
    );
    Err(Problem::new(ProblemType::Conflict, detail))
}

/// What is to be stored.
async fn content(
    access: &Access,
    opened: &Opened,
    (earlier, note): (&Version, &StateNote),
    body: &Rollback,
) -> Result<Returned, Refusal> {
    if note.encrypted {
        return as_it_is(body, "it is encrypted, and only OpenTofu can write another serial into it");
    }
    let bytes = collect(access, &opened.document, earlier).await?;
    let permit = access.app.analysis().await?;
    let last = note_of_last(&access.path, opened.head.last())?;
    let highest =
        [last.highest_serial, last.serial, note.serial].into_iter().flatten().max().unwrap_or_default();
    let Some(serial) = highest.checked_add(1) else {
        return as_it_is(body, "there is no serial above those that the state has had");
    };
    let number = earlier.number;
    let raised = tokio::task::spawn_blocking(move || {
        let raised = with_serial(number, &bytes, Serial::new(serial));
        drop(permit);
        raised.map(|raised| {
            let mut inspection = Inspection::new();
            inspection.push(&raised);
            (raised, inspection.finish().into_note())
        })
    });
    let raised =
        raised.await.map_err(|_| Problem::new(ProblemType::Internal, "the version could not be read"))?;
    let (raised, note) = match raised {
        Ok(raised) => raised,
        Err(problem) if body.force => {
            tracing::warn!(state = %access.path, "{}", problem.detail());
            return Ok(Returned::AsItIs);
        }
        Err(problem) => return Err(problem.into()),
    };
    let note = StateNote {
        highest_serial: Some(serial),
        rolled_back_to: Some(number),
        written_under: body.lock_id.clone(),
        ..note
    };
    let stored = access.app.carry_out(opened.document.content(raised)).await??;
    Ok(Returned::Raised(stored, note))
}

fn as_it_is(body: &Rollback, why: &str) -> Result<Returned, Refusal> {
    if body.force {
        return Ok(Returned::AsItIs);
    }
    let detail = format!("version {}: {why}; force it to get the very bytes back", body.version);
    Err(Problem::new(ProblemType::Unreadable, detail).into())
}

/// The content with another serial and every other byte as it is; an older format is written as the current one.
fn with_serial(number: u64, bytes: &Bytes, serial: Serial) -> Result<Bytes, Problem> {
    let state = OpenState::open(bytes.to_vec()).map_err(|error| unreadable(number, &error))?;
    let rewrite = state.editor().rewrite(serial).map_err(|error| {
        let detail = format!("version {number} cannot be written with another serial: {error}");
        Problem::new(ProblemType::Unreadable, detail)
    })?;
    Ok(Bytes::from(rewrite.into_text(state)))
}
