//! What the names of objects say: to which stack they belong, and as what.

use groundstate_pulumi_snapshot::{project_name, stack_name};

use crate::names::stack_of_file;
use crate::stack::time_of;
use crate::{Layout, ORGANIZATION, StackRef};

/// What a file in the folder of stacks is to its stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Checkpoint,
    Copy,
    Tags,
    /// A killed write left it, whatever it was to become.
    Temporary,
}

/// The stack of a key in the folder of stacks, in either layout, and what the object is to it.
pub(super) fn of_stacks(key: &str) -> Option<(StackRef, Part)> {
    let below = key.strip_prefix(Layout::STACKS)?;
    let (project, file) =
        below.split_once('/').map_or((None, below), |(project, file)| (Some(project), file));
    let (stack, part) = of_file(file)?;
    let reference = match project {
        Some(project) => StackRef::new(project_name(project).ok()?, stack),
        None => StackRef::flat(stack),
    };
    Some((reference, part))
}

fn of_file(file: &str) -> Option<(groundstate_pulumi_snapshot::StackName, Part)> {
    if let Some(stack) = stack_of_file(file) {
        return Some((stack, Part::Checkpoint));
    }
    if let Some(stack) = file.strip_suffix(".pulumi-tags") {
        return Some((stack_name(stack).ok()?, Part::Tags));
    }
    let (target, ending) = file.rsplit_once('.')?;
    match ending {
        "bak" => Some((stack_of_file(target)?, Part::Copy)),
        // `<target>.<hexadecimal>.tmp`
        "tmp" => of_file(target.rsplit_once('.')?.0).map(|(stack, _)| (stack, Part::Temporary)),
        _ => time_of(ending).and_then(|_| Some((stack_of_file(target)?, Part::Copy))),
    }
}

/// The stack of a key in a folder of locks, leases or marks, of which `root` is the beginning, and the name of the object.
pub(super) fn of_lock<'k>(root: &str, key: &'k str) -> Option<(StackRef, &'k str)> {
    let (folder, file) = key.strip_prefix(root)?.rsplit_once('/')?;
    // The folder of all projects is that of a stack only if it has a lock.
    let is_of_projects = folder == ORGANIZATION && file.is_empty();
    if is_of_projects { None } else { Some((reference(folder)?, file)) }
}

/// The stack whose full name is in front of `.json` behind `root`.
pub(super) fn of_json(root: &str, key: &str) -> Option<StackRef> {
    reference(key.strip_prefix(root)?.strip_suffix(".json")?)
}

/// The stack of a full name, in either layout.
fn reference(name: &str) -> Option<StackRef> {
    match name.strip_prefix(ORGANIZATION).and_then(|rest| rest.strip_prefix('/')) {
        Some(_) => StackRef::parse(name, None).ok(),
        None => StackRef::legacy(name).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_object_in_the_folder_of_stacks_has_its_stack() {
        for (file, expected) in [
            ("p/s.json", Some(("organization/p/s", Part::Checkpoint))),
            ("p/s.json.zst", Some(("organization/p/s", Part::Checkpoint))),
            ("p/s.json.json", Some(("organization/p/s.json", Part::Checkpoint))),
            ("p/s.json.bak", Some(("organization/p/s", Part::Copy))),
            ("p/s.json.gz.bak", Some(("organization/p/s", Part::Copy))),
            ("p/s.json.1700000000000000000", Some(("organization/p/s", Part::Copy))),
            ("p/s.pulumi-tags", Some(("organization/p/s", Part::Tags))),
            ("p/s.json.17ab.tmp", Some(("organization/p/s", Part::Temporary))),
            ("p/s.json.bak.17ab.tmp", Some(("organization/p/s", Part::Temporary))),
            ("p/s.pulumi-tags.17ab.tmp", Some(("organization/p/s", Part::Temporary))),
            ("old.json", Some(("old", Part::Checkpoint))),
            ("old.json.bak", Some(("old", Part::Copy))),
            ("p/deep/er.json", None),
            ("p/notes.txt", None),
            ("p/s.json.old", None),
            ("../s.json", None),
            ("p/..json", None),
            ("p/...json", None),
            ("ü.json", None),
        ] {
            let found = of_stacks(&format!("{}{file}", Layout::STACKS));
            let found = found.as_ref().map(|(stack, part)| (stack.to_string(), *part));
            assert_eq!(found, expected.map(|(stack, part)| (stack.to_owned(), part)), "{file}");
        }
    }

    #[test]
    fn locks_are_told_by_the_folder_that_they_are_in() {
        let stack = |key: &str| of_lock(Layout::LOCKS, key).map(|(stack, file)| format!("{stack} {file}"));
        assert_eq!(stack(".pulumi/locks/organization/p/s/1.json"), Some("organization/p/s 1.json".into()));
        assert_eq!(stack(".pulumi/locks/s/1.json"), Some("s 1.json".into()));
        assert_eq!(stack(".pulumi/locks/organization/1.json"), Some("organization 1.json".into()));
        assert_eq!(stack(".pulumi/locks/organization/"), None);
        assert_eq!(stack(".pulumi/locks/1.json"), None);
        assert_eq!(stack(".pulumi/locks/organization/p/../1.json"), None);
        let lease = |key: &str| of_json(Layout::LEASES, key).map(|stack| stack.to_string());
        assert_eq!(lease(".pulumi/groundstate/locks/organization/p/s.json"), Some("organization/p/s".into()));
        assert_eq!(lease(".pulumi/groundstate/locks/s.json"), Some("s".into()));
        assert_eq!(lease(".pulumi/groundstate/locks/s"), None);
    }
}
