//! Which operation a request asks for.

use super::error::{Refused, Result};
use super::{Name, State, batch, blocks, container, lease_operations, list, read, snapshot, write};
use crate::http::{Answer, Request, decode};

/// Where a request goes: a container, and a blob in it.
pub(super) struct Target {
    pub(super) container: String,
    pub(super) blob: String,
}

impl Target {
    pub(super) fn of(request: &Request) -> Self {
        let mut path = request.raw_path().trim_start_matches('/');
        // Where the host does not name the account, the path does.
        if !request.header("host").is_some_and(|host| host.contains(".blob.")) {
            path = path.split_once('/').map_or("", |(_, path)| path);
        }
        let (container, blob) = path.split_once('/').unwrap_or((path, ""));
        Self { container: decode(container), blob: decode(blob) }
    }

    pub(super) fn name(&self) -> Name {
        (self.container.clone(), self.blob.clone())
    }

    pub(super) fn borrowed(&self) -> (&str, &str) {
        (&self.container, &self.blob)
    }
}

pub(super) fn answer(state: &mut State, request: &Request) -> Result<Answer> {
    let target = Target::of(request);
    let component = request.parameter("comp").unwrap_or_default();
    if target.container.is_empty() {
        return match (request.method.as_str(), component.as_str()) {
            ("GET", "list") => Ok(container::list(state)),
            ("POST", "batch") => batch::answer(state, request, None),
            ("GET", "properties") => Ok(Answer::new(200).xml("<StorageServiceProperties/>")),
            _ => Err(unsupported()),
        };
    }
    if request.method == "PUT" && target.blob.is_empty() && component.is_empty() {
        return container::create(state, &target.container);
    }
    if !state.store.buckets.contains_key(&target.container) {
        return Err(Refused::no_container());
    }
    if target.blob.is_empty() {
        return match (request.method.as_str(), component.as_str()) {
            ("GET", "list") => list::answer(state, request, &target),
            ("POST", "batch") => batch::answer(state, request, Some(&target.container)),
            ("GET" | "HEAD", "" | "acl" | "metadata") => Ok(container::describe()),
            ("DELETE", "") => Ok(container::delete(state, &target.container)),
            _ => Err(unsupported()),
        };
    }
    on_blob(state, request, &target, &component)
}

/// Carries out what is asked of a blob.
pub(super) fn on_blob(
    state: &mut State,
    request: &Request,
    target: &Target,
    component: &str,
) -> Result<Answer> {
    match (request.method.as_str(), component) {
        ("GET" | "HEAD", "" | "metadata") => read::answer(state, request, target),
        ("GET", "blocklist") => blocks::list(state, target),
        ("PUT", "") if request.header("x-ms-copy-source").is_some() => write::copy(state, request, target),
        ("PUT", "") => write::put(state, request, target),
        ("PUT", "metadata") => write::set_metadata(state, request, target),
        ("PUT", "properties") => write::set_properties(state, request, target),
        ("PUT", "lease") => lease_operations::answer(state, request, target),
        ("PUT", "snapshot") => snapshot::take(state, request, target),
        ("PUT", "block") => blocks::put(state, request, target),
        ("PUT", "blocklist") => blocks::commit(state, request, target),
        ("DELETE", "") => write::delete(state, request, target),
        _ => Err(unsupported()),
    }
}

fn unsupported() -> Refused {
    Refused::new(405, "UnsupportedHttpVerb", "The resource doesn't support specified Http Verb.")
}
