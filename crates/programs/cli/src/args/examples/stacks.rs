//! Examples of the commands on the stacks of a Pulumi backend.

use super::{Examples, example};

pub(super) const EXAMPLES: &[Examples] = &[
    (
        "stacks",
        [
            example("List the stacks in a directory", "groundstate stacks list pulumi+file://bucket"),
            example("Read every stack", "groundstate stacks list pulumi+file://bucket --long"),
        ],
    ),
    (
        "stacks list",
        [
            example("List the stacks in a directory", "groundstate stacks list pulumi+file://bucket"),
            example(
                "Read every stack of a project",
                "groundstate stacks list pulumi+file://bucket --project shop --long",
            ),
        ],
    ),
];
