//! The options in the query of an address.

use groundstate_statemgr::WorkspaceName;

use crate::error::BackendsError;
use crate::settings::Settings;
use crate::url::PlaceUrl;

/// Adds the options of an address to settings. `workspace` is none of the backend's: it says which state is meant.
pub(crate) fn apply(
    mut settings: Settings,
    url: &PlaceUrl,
) -> Result<(Settings, Option<WorkspaceName>), BackendsError> {
    let mut workspace = None;
    for (name, value) in url.options() {
        if name == "workspace" {
            workspace = Some(WorkspaceName::parse(value)?);
        } else {
            settings = settings.with_path(name, value.as_str());
        }
    }
    Ok((settings, workspace))
}
