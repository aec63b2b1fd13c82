//! Examples of the commands that change and exchange states.

use super::{Examples, example};

pub(super) const EXAMPLES: &[Examples] = &[
    (
        "mv",
        [
            example("Rename a resource", "groundstate mv . random_id.suffix random_id.name"),
            example(
                "Show what moving a module to another state would change",
                "groundstate mv . module.network --to network.tfstate --dry-run",
            ),
        ],
    ),
    (
        "split",
        [
            example(
                "Move a module to a state of its own",
                "groundstate split . network.tfstate module.network",
            ),
            example(
                "See what a pattern would move",
                "groundstate split . store.tfstate 'aws_s3_*.*' --dry-run",
            ),
        ],
    ),
    (
        "rm",
        [
            example("Remove a module from the state", "groundstate rm . module.store"),
            example(
                "Remove a Pulumi resource and what depends on it",
                "groundstate rm stack.json assets --target-dependents",
            ),
        ],
    ),
    (
        "replace-provider",
        [
            example(
                "Use a provider from another registry",
                "groundstate replace-provider . hashicorp/aws registry.acme.com/acme/aws",
            ),
            example(
                "Show which resources would change",
                "groundstate replace-provider . hashicorp/aws acme/aws --dry-run",
            ),
        ],
    ),
    (
        "taint",
        [
            example("Let the next apply replace a resource", "groundstate taint . random_id.suffix"),
            example(
                "Let it replace one instance",
                "groundstate taint . 'module.store[\"de\"].aws_instance.web[0]'",
            ),
        ],
    ),
    (
        "untaint",
        [
            example(
                "Keep an instance that was to be replaced",
                "groundstate untaint . 'module.store[\"uk\"].aws_instance.web[0]'",
            ),
            example(
                "Show what would change",
                "groundstate untaint . 'module.store[\"uk\"].aws_instance.web[0]' --dry-run",
            ),
        ],
    ),
    (
        "protect",
        [
            example("Protect a resource by its name", "groundstate protect stack.json assets"),
            example(
                "Protect a resource by its URN",
                "groundstate protect stack.json urn:pulumi:dev::shop::t:t:Bucket::assets",
            ),
        ],
    ),
    (
        "unprotect",
        [
            example("Remove the protection of a resource", "groundstate unprotect stack.json logs"),
            example("Show what would change", "groundstate unprotect stack.json logs --dry-run"),
        ],
    ),
    (
        "repair",
        [
            example("Show a plan that repairs a deployment", "groundstate repair broken.json"),
            example(
                "Carry it out, and keep the broken file",
                "groundstate repair broken.json --yes -o repaired.json",
            ),
        ],
    ),
    (
        "pending",
        [
            example("List pending operations", "groundstate pending list stack.json"),
            example("Clear all of them", "groundstate pending clear stack.json"),
        ],
    ),
    (
        "pending list",
        [
            example("List pending operations", "groundstate pending list stack.json"),
            example("List them as JSON", "groundstate pending list stack.json --json"),
        ],
    ),
    (
        "pending clear",
        [
            example("Clear all pending operations", "groundstate pending clear stack.json"),
            example("Clear those of one resource", "groundstate pending clear stack.json queue"),
        ],
    ),
    (
        "pending resolve",
        [
            example(
                "Record that a creation has succeeded",
                "groundstate pending resolve stack.json queue queue-1a2b3c",
            ),
            example(
                "Show what would change",
                "groundstate pending resolve stack.json queue queue-1a2b3c --dry-run",
            ),
        ],
    ),
    (
        "journal",
        [
            example(
                "Show what the entries of a journal do",
                "groundstate journal inspect base.json journal.jsonl",
            ),
            example(
                "Write the deployment that they lead to",
                "groundstate journal replay base.json journal.jsonl -o result.json",
            ),
        ],
    ),
    (
        "journal replay",
        [
            example(
                "Print the deployment that entries lead to",
                "groundstate journal replay base.json journal.jsonl",
            ),
            example(
                "Write it to a file",
                "groundstate journal replay base.json journal.jsonl -o result.json",
            ),
        ],
    ),
    (
        "journal inspect",
        [
            example("Show what each entry does", "groundstate journal inspect base.json journal.jsonl"),
            example(
                "Read the entries from standard input, and print JSON",
                "groundstate journal inspect base.json - --json < journal.jsonl",
            ),
        ],
    ),
    (
        "journal compact",
        [
            example(
                "Write the base of the next journal",
                "groundstate journal compact base.json journal.jsonl -o next.json",
            ),
            example("Compact a journal directory in place", "groundstate journal compact journal.d"),
        ],
    ),
    (
        "journal verify",
        [
            example(
                "Check that base and entries fit together",
                "groundstate journal verify base.json journal.jsonl",
            ),
            example(
                "Check the deployment after each entry, too",
                "groundstate journal verify base.json journal.jsonl --every-prefix",
            ),
        ],
    ),
    (
        "change-secrets-provider",
        [
            example(
                "Give an exported stack another passphrase",
                "groundstate change-secrets-provider stack.json passphrase --new-passphrase-file token.txt",
            ),
            example(
                "Show what that would change, with the new passphrase on standard input",
                "groundstate change-secrets-provider stack.json passphrase --dry-run < token.txt",
            ),
        ],
    ),
    (
        "encrypt",
        [
            example("Encrypt a text for a state", "echo '\"swordfish\"' | groundstate encrypt stack.json"),
            example("Encrypt a file for a configuration", "groundstate encrypt stack.json < token.txt"),
        ],
    ),
    (
        "decrypt",
        [
            example("Decrypt a ciphertext", "groundstate decrypt stack.json < ciphertext.txt"),
            example(
                "Decrypt what was just encrypted",
                "groundstate encrypt stack.json < token.txt | groundstate decrypt stack.json",
            ),
        ],
    ),
    (
        "edit",
        [
            example("Show what a script would change", "groundstate edit . --script moves.txt --dry-run"),
            example(
                "Remove all resources of one type",
                "echo 'rm **.aws_instance.*' | groundstate edit . --script -",
            ),
        ],
    ),
    (
        "undo",
        [
            example("Restore the state before the last change", "groundstate undo ."),
            example(
                "Show what restoring another backup would change",
                "groundstate undo . --from older.tfstate --dry-run",
            ),
        ],
    ),
    (
        "log",
        [
            example("List what was done on this machine", "groundstate log"),
            example("List the last three operations on a state", "groundstate log . -n 3"),
        ],
    ),
    (
        "pull",
        [
            example("Print the state of this directory", "groundstate pull ."),
            example("Keep a copy of it", "groundstate pull . > copy.tfstate"),
        ],
    ),
    (
        "push",
        [
            example("Store a state that was edited", "groundstate push . new.tfstate"),
            example("Show what storing it would change", "groundstate push . new.tfstate --dry-run"),
        ],
    ),
    (
        "salvage",
        [
            example(
                "Write what is readable to a new state",
                "groundstate salvage damaged.tfstate -o rescued.tfstate",
            ),
            example(
                "List what was lost as JSON",
                "groundstate salvage damaged.tfstate -o rescued.tfstate --json",
            ),
        ],
    ),
    (
        "merge-errored",
        [
            example(
                "Merge the state that an apply could not store",
                "groundstate merge-errored . errored.tfstate",
            ),
            example(
                "Show what merging would change",
                "groundstate merge-errored . errored.tfstate --dry-run",
            ),
        ],
    ),
    (
        "recover",
        [
            example("Store the changes of an interrupted run", "groundstate recover ."),
            example("Look at them first", "groundstate recover . --export recovered.tfstate"),
        ],
    ),
];
