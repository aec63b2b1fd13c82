//! Which resources a word on the command line stands for: a URN, or a name.

use groundstate_deployments::{Snapshot, Urn};
use groundstate_integrity::closest;

use crate::error::{Failure, Kind, Result};

/// The indexes of the resources that a word stands for; there is at least one.
pub(super) fn find(snapshot: &Snapshot, word: &str, source: &str) -> Result<Vec<usize>> {
    let is_urn = word.starts_with("urn:");
    if is_urn && !Urn::from(word).is_valid() {
        let message = format!("{word:?} is not a valid resource URN");
        return Err(Failure::new(Kind::Usage, message).hint(lists(source)));
    }
    let matches = |urn: &Urn| if is_urn { *urn == word } else { urn.name() == word };
    let found: Vec<usize> =
        snapshot.indexed().filter(|(_, resource)| matches(&resource.urn)).map(|(index, _)| index).collect();
    if found.is_empty() { Err(unknown(snapshot, word, source)) } else { Ok(found) }
}

fn lists(source: &str) -> String {
    format!("`groundstate list {source}` shows what there is")
}

fn unknown(snapshot: &Snapshot, word: &str, source: &str) -> Failure {
    let failure = Failure::new(Kind::NotFound, format!("{source} has no resource {word}"));
    let close: Vec<String> = closest(snapshot, word).iter().map(ToString::to_string).collect();
    if close.is_empty() {
        return failure.hint(lists(source));
    }
    failure.hint(format!("did you mean {}?", close.join(", or "))).hint(lists(source))
}
