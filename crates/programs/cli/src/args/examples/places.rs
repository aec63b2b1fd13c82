//! Examples of the commands about locks, workspaces, places and histories.

use super::{Examples, example};

pub(super) const EXAMPLES: &[Examples] = &[
    (
        "lock",
        [
            example("Run a script under the lock of a state", "groundstate lock . -- ./deploy.sh"),
            example(
                "Wait up to five minutes for the lock",
                "groundstate lock . --lock-timeout 5m -- ./deploy.sh",
            ),
        ],
    ),
    (
        "unlock",
        [
            example("Release a lock whose process no longer runs", "groundstate unlock . --if-stale"),
            example("Release a lock by its id", "groundstate unlock . 2b6c1f4e-9c3d-4a53-8d0e-5f5c9a7e1b20"),
        ],
    ),
    (
        "locks",
        [
            example("Show who holds the lock of the state in this directory", "groundstate locks ."),
            example("Show the locks of several states as JSON", "groundstate locks . new.tfstate --json"),
        ],
    ),
    (
        "workspaces",
        [
            example("List the workspaces of this directory", "groundstate workspaces list ."),
            example("Create one", "groundstate workspaces new . staging"),
        ],
    ),
    (
        "workspaces list",
        [
            example("List the workspaces of this directory", "groundstate workspaces list ."),
            example("List them as JSON", "groundstate workspaces list . --json"),
        ],
    ),
    (
        "workspaces new",
        [
            example("Create a workspace", "groundstate workspaces new . staging"),
            example("Create one with another name", "groundstate workspaces new . dev"),
        ],
    ),
    (
        "workspaces delete",
        [
            example("Delete a workspace without resources", "groundstate workspaces delete . empty"),
            example("Delete a workspace with its resources", "groundstate workspaces delete . old --force"),
        ],
    ),
    (
        "migrate",
        [
            example("Show what would be copied", "groundstate migrate . new --dry-run"),
            example("Copy all workspaces to another directory", "groundstate migrate . new --all-workspaces"),
        ],
    ),
    (
        "encryption",
        [
            example("Show whether the state in this directory is encrypted", "groundstate encryption status"),
            example(
                "Encrypt states that a fallback opens with the primary method",
                "groundstate encryption rotate . --encryption encryption.hcl",
            ),
        ],
    ),
    (
        "encryption status",
        [
            example("Look at the state in this directory", "groundstate encryption status"),
            example(
                "Look at all states of a list, as JSON",
                "groundstate encryption status --list states.txt --json",
            ),
        ],
    ),
    (
        "encryption encrypt",
        [
            example(
                "Encrypt a state as a file says",
                "groundstate encryption encrypt . --encryption encryption.hcl",
            ),
            example(
                "Show which workspaces would be encrypted",
                "groundstate encryption encrypt . --all-workspaces --dry-run --encryption encryption.hcl",
            ),
        ],
    ),
    (
        "encryption decrypt",
        [
            example(
                "Write a state in the clear again",
                "groundstate encryption decrypt . --encryption encryption.hcl",
            ),
            example(
                "Decrypt a plan for `tofu show`",
                "groundstate encryption decrypt tfplan --target plan -o plain.tfplan --encryption encryption.hcl",
            ),
        ],
    ),
    (
        "encryption rotate",
        [
            example(
                "Encrypt all states of a list with the primary method",
                "groundstate encryption rotate --list states.txt --encryption encryption.hcl",
            ),
            example(
                "Give a state a new key in any case",
                "groundstate encryption rotate . --renew --encryption encryption.hcl",
            ),
        ],
    ),
    (
        "migrate-lock",
        [
            example("Show what would be done", "groundstate migrate-lock . --dry-run"),
            example("Move the locks of all workspaces", "groundstate migrate-lock . --all-workspaces"),
        ],
    ),
    (
        "repair-digest",
        [
            example("Repair the digest of the selected workspace", "groundstate repair-digest ."),
            example("Wait up to a minute for the lock", "groundstate repair-digest . --lock-timeout 1m"),
        ],
    ),
    (
        "history",
        [
            example("List the earlier snapshots of a state", "groundstate history ."),
            example("List them as JSON", "groundstate history . --json"),
        ],
    ),
    (
        "rollback",
        [
            example(
                "Show what restoring a snapshot would change",
                "groundstate rollback . --to 20261121T2015 --dry-run",
            ),
            example("Restore it", "groundstate rollback . --to 20261121T2015"),
        ],
    ),
];
