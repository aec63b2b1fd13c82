//! What stands against an order of operations, line by line, and the edits that give it one.

use std::collections::BTreeSet;

use groundstate_common::{shell_command, shell_word};
use groundstate_ordering::{BuildError, BuildErrors, CutEdit, CycleReport, NodeKey, OperationGraph};

use crate::report::error::Failure;
use crate::report::order::no_order;

/// More lines of a script than these are no command line any more.
const MOST: usize = 8;

/// Warning of what an edit of recorded dependencies costs.
const TRUE_DEPENDENCY: &str = "`rm-dependency` removes a dependency that the objects may really have: until an apply records \
    it again, one may be destroyed while the other still needs it, and the provider may refuse or leave it half deleted";

/// Says everything that stands against an order of operations. `state` is the state that an edit changes, if it is known.
/// Cycles that are in doubt get no advice.
pub(super) fn refused(
    errors: &BuildErrors,
    name: &str,
    state: Option<&str>,
    is_doubtful: impl Fn(&CycleReport<NodeKey>) -> bool,
) -> Failure {
    let failure = no_order(&errors.errors, name, |error| lines_of(error, errors.cyclic.as_deref()));
    let mut script: BTreeSet<String> = BTreeSet::new();
    let mut references: BTreeSet<String> = BTreeSet::new();
    for error in &errors.errors {
        if let BuildError::Cycle(report) = error
            && !is_doubtful(report)
        {
            edits(report, &mut script, &mut references);
        }
    }
    let mut failure = failure;
    for reference in references.into_iter().take(MOST) {
        failure = failure.hint(reference);
    }
    if script.is_empty() {
        return failure;
    }
    let edit = shell_command("groundstate edit", &[state.unwrap_or(".")]);
    let command = match script.len() <= MOST {
        true => {
            let words: Vec<String> = script.iter().map(|line| shell_word(line).into_owned()).collect();
            format!("printf '%s\\n' {} | {edit} --script -", words.join(" "))
        }
        false => {
            failure = failure.details(["edits of the state that break the cycles:".to_owned()]);
            failure = failure.details(script.into_iter().map(|line| format!("  {line}")));
            format!("{edit} --script FILE` with the lines above in `FILE")
        }
    };
    let then = if state.is_some() { "" } else { ", and make the plan again" };
    failure
        .hint(format!("the state records what closes the cycle; remove it with `{command}`{then}"))
        .hint(TRUE_DEPENDENCY)
}

/// The edits that break a cycle: lines of a script for the state, and sentences for the configuration. None where an edge of
/// the cut can be removed by neither.
fn edits(report: &CycleReport<NodeKey>, script: &mut BTreeSet<String>, references: &mut BTreeSet<String>) {
    let edits: Option<Vec<_>> = report.smallest_cut.iter().map(|step| step.edits()).collect();
    for edit in edits.into_iter().flatten().flatten() {
        match edit {
            CutEdit::State { dependent, dependency } => {
                if let (Some(dependent), Some(dependency)) = (dependent.addr(), dependency.addr()) {
                    let words = [dependent.to_string(), dependency.resource.to_config().to_string()];
                    script.insert(format!("rm-dependency {} {}", words[0], words[1]));
                }
            }
            CutEdit::Configuration { dependent, dependency } => {
                let [dependent, dependency] = [dependent, dependency].map(resource);
                references.insert(format!(
                    "in the configuration, remove the reference to {dependency} from {dependent}, then run `terraform plan` again"
                ));
            }
            _ => {}
        }
    }
}

/// What a block of configuration is called.
fn resource(key: &NodeKey) -> String {
    key.addr().map_or_else(|| key.to_string(), |addr| addr.resource.to_config().to_string())
}

/// An error line by line. Only a cycle has several, and it escapes what it takes from a file.
fn lines_of(error: &BuildError, cyclic: Option<&OperationGraph>) -> Vec<String> {
    let text = match (error, cyclic) {
        (BuildError::Cycle(report), Some(graph)) => report.map(|key| graph.label_of(key)).to_string(),
        _ => error.to_string(),
    };
    match error {
        BuildError::ConfigCycle(_) | BuildError::Cycle(_) => text.lines().map(str::to_owned).collect(),
        _ => vec![text],
    }
}
