//! Names of files that are checkpoints.

use groundstate_pulumi_snapshot::StackName;
use groundstate_pulumi_snapshot::stack_name;

use crate::Compression;

/// Whether a file is called as checkpoints are, whatever the name of the stack.
pub(crate) fn is_checkpoint_file(file: &str) -> bool {
    let name = Compression::strip(file);
    [".json", ".yaml", ".yml"].into_iter().any(|ending| name.ends_with(ending))
}

/// The stack whose checkpoint a file is called after. Copies, tags and leftovers are not called so.
pub(crate) fn stack_of_file(file: &str) -> Option<StackName> {
    let name = Compression::strip(file);
    let stem = [".json", ".yaml", ".yml"].into_iter().find_map(|ending| name.strip_suffix(ending))?;
    stack_name(stem).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_checkpoints_are_called_after_a_stack() {
        for (file, expected) in [
            ("s.json", Some("s")),
            ("s.json.gz", Some("s")),
            ("s.json.zst", Some("s")),
            ("s.yaml", Some("s")),
            ("a.b.json", Some("a.b")),
            ("s.json.bak", None),
            ("s.json.gz.bak", None),
            ("s.json.gz.gz", None),
            ("s.json.1700000000000000000", None),
            ("s.json.17ab.tmp", None),
            ("s.json.attrs", None),
            ("s.pulumi-tags", None),
            (".json", None),
            ("..json", None),
            ("ü.json", None),
        ] {
            assert_eq!(stack_of_file(file).as_ref().map(StackName::as_str), expected, "{file}");
        }
    }
}
