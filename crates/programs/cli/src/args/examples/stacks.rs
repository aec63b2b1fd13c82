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
    (
        "stacks create",
        [
            example(
                "Create a stack",
                "groundstate stacks create 'pulumi+file://bucket#organization/shop/prod'",
            ),
            example(
                "Create a stack, and wait for its lock",
                "groundstate stacks create pulumi+file://bucket --stack organization/shop/test --lock-timeout 1m",
            ),
        ],
    ),
    (
        "stacks remove",
        [
            example(
                "Show what forgetting a stack and its resources would remove",
                "groundstate stacks remove 'pulumi+file://bucket#organization/shop/dev' --force --dry-run",
            ),
            example(
                "Remove a stack that has no resources, with all copies of its state",
                "groundstate stacks remove 'pulumi+file://bucket#organization/shop/old' --backups --yes",
            ),
        ],
    ),
    (
        "stacks tags",
        [
            example(
                "Show the tags of a stack",
                "groundstate stacks tags 'pulumi+file://bucket#organization/shop/dev'",
            ),
            example(
                "Say who looks after a stack",
                "groundstate stacks tags 'pulumi+file://bucket#organization/shop/dev' --set owner=ana",
            ),
        ],
    ),
    (
        "stacks prune",
        [
            example(
                "Show which updates and copies are older than a month",
                "groundstate stacks prune 'pulumi+file://bucket#organization/shop/dev' --older-than 30d --dry-run",
            ),
            example(
                "Keep the last ten updates of every stack",
                "groundstate stacks prune pulumi+file://bucket --all-stacks --kind history --keep 10 --yes",
            ),
        ],
    ),
    (
        "stacks rename",
        [
            example(
                "Show what renaming a stack would change",
                "groundstate stacks rename 'pulumi+file://bucket#organization/shop/dev' test --dry-run",
            ),
            example(
                "Give a stack another project",
                "groundstate stacks rename 'pulumi+file://bucket#organization/shop/dev' organization/store/dev",
            ),
        ],
    ),
    (
        "stacks migrate",
        [
            example(
                "Copy a stack to another backend",
                "groundstate stacks migrate 'pulumi+file://bucket#organization/shop/dev' pulumi+file://other",
            ),
            example(
                "Move all stacks there",
                "groundstate stacks migrate pulumi+file://bucket pulumi+file://other --all-stacks --remove --yes",
            ),
        ],
    ),
    (
        "stacks upgrade",
        [
            example(
                "Show which project each stack would get",
                "groundstate stacks upgrade pulumi+file://legacy --project empty=shop --dry-run",
            ),
            example(
                "Upgrade a backend, with a project for a stack that has no resources",
                "groundstate stacks upgrade pulumi+file://legacy --project empty=shop --yes",
            ),
        ],
    ),
];
