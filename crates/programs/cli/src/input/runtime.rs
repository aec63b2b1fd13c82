//! The runtime of the waiting parts of a command.

use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};

use crate::report::error::{Failure, Kind, Result};

/// What runs the waiting parts of a command. There is one, because connections belong to the one that made them.
pub(crate) fn runtime() -> Result<&'static Runtime> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let runtime = Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(|error| Failure::new(Kind::Unreachable, format!("the command cannot start: {error}")))?;
    Ok(RUNTIME.get_or_init(|| runtime))
}
