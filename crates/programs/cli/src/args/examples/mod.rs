//! Two examples for each command. A test runs every one of them.

#[cfg(feature = "server")]
mod server;
mod stacks;

/// An example of a command.
#[derive(Debug)]
pub(super) struct Example {
    /// What it does.
    pub(super) what: &'static str,
    /// What to type.
    pub(super) line: &'static str,
}

const fn example(what: &'static str, line: &'static str) -> Example {
    Example { what, line }
}

/// The words that lead to a command, and its examples.
pub(super) type Examples = (&'static str, [Example; 2]);

/// The examples of each command.
pub(super) fn examples() -> impl Iterator<Item = &'static Examples> {
    let examples = EXAMPLES.iter().chain(stacks::EXAMPLES);
    #[cfg(feature = "server")]
    let examples = examples.chain(server::EXAMPLES);
    examples
}

const EXAMPLES: &[Examples] = &[
    (
        "list",
        [
            example("List all resource instances of the state in this directory", "groundstate list"),
            example("List those of one module", "groundstate list terraform.tfstate module.network"),
        ],
    ),
    (
        "show",
        [
            example("Show one resource", "groundstate show . module.network.aws_vpc.main"),
            example("Print the whole state as JSON", "groundstate show terraform.tfstate --json"),
        ],
    ),
    (
        "outputs",
        [
            example("Print all outputs as JSON", "groundstate outputs . --json"),
            example("Use one output in a script", "id=$(groundstate outputs . vpc_id --raw)"),
        ],
    ),
    (
        "upgrade",
        [
            example(
                "Write a state of Terraform 0.11 in the current format",
                "groundstate upgrade old.tfstate -o new.tfstate",
            ),
            example(
                "Write a state for OpenTofu",
                "groundstate upgrade old.tfstate --dialect opentofu > tofu.tfstate",
            ),
        ],
    ),
    (
        "check",
        [
            example("Check the state of this directory", "groundstate check ."),
            example(
                "Check several files, and print JSON",
                "groundstate check terraform.tfstate stack.json --json",
            ),
        ],
    ),
    (
        "diff",
        [
            example(
                "Show what has changed since the last backup",
                "groundstate diff terraform.tfstate.backup terraform.tfstate",
            ),
            example("Compare two Pulumi exports", "groundstate diff before.json stack.json"),
        ],
    ),
    (
        "graph",
        [
            example("Draw a state as a picture", "groundstate graph . -f svg -o graph.svg"),
            example("Draw a Pulumi stack for Mermaid", "groundstate graph stack.json -f mermaid"),
        ],
    ),
    (
        "order",
        [
            example("Show the order in which everything can be destroyed", "groundstate order destroy ."),
            example(
                "Show what must be destroyed along with a VPC",
                "groundstate order blast . module.network.aws_vpc.main",
            ),
        ],
    ),
    (
        "order destroy",
        [
            example("Show the order in which everything can be destroyed", "groundstate order destroy ."),
            example(
                "Draw the order for one module",
                "groundstate order destroy . --target module.network -f mermaid",
            ),
        ],
    ),
    (
        "order plan",
        [
            example("Show the order of the changes of a plan", "groundstate order plan plan.json"),
            example("Draw the order as a picture", "groundstate order plan plan.json -f svg -o order.svg"),
        ],
    ),
    (
        "order waves",
        [
            example("Show what can be destroyed in parallel", "groundstate order waves ."),
            example("Show which changes of a plan run in parallel", "groundstate order waves plan.json"),
        ],
    ),
    (
        "order why",
        [
            example(
                "Show why the VPC is destroyed after the security group",
                "groundstate order why . module.network.aws_vpc.main module.network.aws_security_group.web",
            ),
            example(
                "Show why a change of a plan waits for another",
                "groundstate order why plan.json 'terraform_data.subnet[\"a\"]' terraform_data.network",
            ),
        ],
    ),
    (
        "order blast",
        [
            example(
                "Show what must be destroyed along with a VPC",
                "groundstate order blast . module.network.aws_vpc.main",
            ),
            example("Show the same for a module, as JSON", "groundstate order blast . module.network --json"),
        ],
    ),
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
                "Show which states of a list would be decrypted",
                "groundstate encryption decrypt --list states.txt --dry-run --encryption encryption.hcl",
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
    (
        "help",
        [
            example("Explain a command", "groundstate help mv"),
            example("Explain one inside another", "groundstate help order waves"),
        ],
    ),
    (
        "version",
        [
            example("Print the version", "groundstate version"),
            example("Print the versions and formats as JSON", "groundstate version --json"),
        ],
    ),
    (
        "completions",
        [
            example("Write a completion script for bash", "groundstate completions bash > groundstate.bash"),
            example("Write one for fish", "groundstate completions fish > groundstate.fish"),
        ],
    ),
    (
        "man",
        [
            example("Write the manual page to a file", "groundstate man > groundstate.1"),
            example("Compress it as distributions do", "groundstate man | gzip > groundstate.1.gz"),
        ],
    ),
];
