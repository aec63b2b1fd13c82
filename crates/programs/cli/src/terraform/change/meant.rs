//! What may have been meant by addresses and providers that a state does not have.

use groundstate_common::is_hidden;
use groundstate_state_edit::{Editor, MoveError, RemoveError, ReplaceProviderError, ScriptFault, TaintError};
use groundstate_states::addr::{ProviderSource, Target};

use crate::report::error::{Failure, Kind};
use crate::report::text::{did_you_mean, similar};
use crate::terraform::select;

/// Providers that are named, at most.
const MOST_PROVIDERS: usize = 10;

/// Adds what may have been meant by addresses that match nothing.
pub(super) fn by_addresses(failure: Failure, editor: &Editor<'_>, targets: &[&Target]) -> Failure {
    if failure.kind != Kind::NotFound {
        return failure;
    }
    let Ok(file) = editor.to_file() else { return failure };
    let missing = targets.iter().filter(|target| !select::exists(&file.state, target));
    missing.filter_map(|target| select::meant(&file.state, target)).fold(failure, Failure::hint)
}

/// Adds what may have been meant by a provider that no resource has: similar ones, or those that there are.
pub(super) fn by_provider(failure: Failure, editor: &Editor<'_>, error: &ReplaceProviderError) -> Failure {
    let ReplaceProviderError::NothingMatched { providers } = error else { return failure };
    let Ok(file) = editor.to_file() else { return failure };
    let resources = file.state.all_resources();
    let mut known: Vec<String> =
        resources.map(|(_, _, resource)| resource.provider.source.to_string()).collect();
    known.sort_unstable();
    known.dedup();
    known.retain(|name| !name.chars().any(is_hidden));
    let close = |wanted: &ProviderSource| similar(&wanted.to_string(), known.iter().cloned());
    let mut close: Vec<String> = providers.iter().flat_map(close).collect();
    close.dedup();
    let more = if known.len() > MOST_PROVIDERS { ", …" } else { "" };
    known.truncate(MOST_PROVIDERS);
    let there = (!known.is_empty()).then(|| format!("the providers in it are {}{more}", known.join(", ")));
    did_you_mean(&close).or(there).into_iter().fold(failure, Failure::hint)
}

/// Adds what may have been meant by the statement of a script that finds nothing.
pub(super) fn by_script(failure: Failure, editor: &Editor<'_>, fault: &ScriptFault) -> Failure {
    let targets: Vec<Target> = match fault {
        ScriptFault::ReplaceProvider(error) => return by_provider(failure, editor, error),
        ScriptFault::NothingMatched { pattern: text }
        | ScriptFault::Move(MoveError::SourceMissing { from: text }) => {
            Target::parse_argument(text).into_iter().collect()
        }
        ScriptFault::Remove(RemoveError::NothingMatched { targets }) => targets.clone(),
        ScriptFault::Taint(TaintError::Missing { instance }) => vec![Target::Instance(instance.clone())],
        _ => Vec::new(),
    };
    by_addresses(failure, editor, &targets.iter().collect::<Vec<_>>())
}
