//! What killed and foreign processes left of Pulumi stacks, as findings.

use std::path::Path;

use groundstate_common::Severity;
use groundstate_pulumi_diy::{Leftover, Leftovers};

use crate::input::found_stack::{FoundPlace, FoundStack, stack_failure};
use crate::input::runtime::runtime;
use crate::input::stack;
use crate::report::error::{Result, chain};
use crate::report::findings::ShownFinding;
use crate::report::json::Json;
use crate::report::messages::Messages;

/// How many of them are named in a text.
const MAX_NAMED: usize = 20;

/// What was left of the stack that an argument names; nothing for what is no stack in a Pulumi backend.
pub(crate) fn of_stack(argument: &Path) -> Result<Vec<ShownFinding>> {
    if !stack::is_stack(argument)? {
        return Ok(Vec::new());
    }
    // What processes left in a service is the service's.
    match FoundPlace::at(argument)? {
        FoundPlace::Bucket(found) => in_bucket(&found),
        #[cfg(feature = "http")]
        FoundPlace::Service(_) => Ok(Vec::new()),
    }
}

fn in_bucket(found: &FoundStack) -> Result<Vec<ShownFinding>> {
    let leftovers = runtime()?
        .block_on(async { found.open().await?.leftovers().await.map_err(|error| stack_failure(&error)) })?;
    warn_of_failed(&leftovers);
    Ok(leftovers.found.iter().map(finding).collect())
}

fn finding(leftover: &Leftover) -> ShownFinding {
    ShownFinding {
        code: Some(leftover.kind.id()),
        severity: leftover.kind.severity(),
        title: leftover.kind.title().into(),
        message: leftover.to_string(),
        help: Some(leftover.kind.help()),
        address: leftover.stack.as_ref().map(ToString::to_string),
        original: None,
        place: None,
    }
}

/// Says which folders and locks could not be looked at.
pub(crate) fn warn_of_failed(leftovers: &Leftovers) {
    for error in &leftovers.failed {
        Messages::stderr().warning(&format!("what was left there is not known: {}", chain(error)));
    }
}

/// Names what was left in a backend, beside the list of its stacks.
pub(crate) fn say(leftovers: &Leftovers) {
    for leftover in leftovers.found.iter().take(MAX_NAMED) {
        let kind = leftover.kind;
        let text = format!("{} ({kind}): {leftover}; {}", kind.title(), kind.help());
        match kind.severity() {
            Severity::Info => Messages::stderr().note(&text),
            _ => Messages::stderr().warning(&text),
        }
    }
    let more = leftovers.found.len().saturating_sub(MAX_NAMED);
    if more > 0 {
        Messages::stderr().note(&format!("{more} more were left there; `--json` names all of them"));
    }
}

/// The same for programs.
pub(crate) fn json(json: &mut Json, leftover: &Leftover) {
    json.text("code", &leftover.kind.id());
    json.text("severity", leftover.kind.severity().as_str());
    json.text("title", leftover.kind.title());
    json.text("message", &leftover.to_string());
    json.text("help", leftover.kind.help());
    if let Some(stack) = &leftover.stack {
        json.text("stack", &stack.to_string());
    }
    json.text("key", &leftover.key);
    json.raw("objects", leftover.objects);
    json.raw("bytes", leftover.size);
    if let Some(modified) = leftover.modified {
        json.text("modified", &modified.to_string());
    }
}
