//! Examples of the commands on a server.

use super::{Examples, example};

pub(super) const EXAMPLES: &[Examples] = &[
    (
        "serve",
        [
            example(
                "Keep states in a directory, for clients of this machine",
                "groundstate serve --store states",
            ),
            example(
                "Check a configuration before it is used",
                "groundstate serve --config server.toml --check",
            ),
        ],
    ),
    (
        "token",
        [
            example(
                "Create a token for everything",
                "groundstate token create ops --role admin --store states",
            ),
            example("List the tokens of a server", "groundstate token list --store states"),
        ],
    ),
    (
        "token create",
        [
            example(
                "Create a token for the plans of one project",
                "groundstate token create plans --role lock --project web --store states",
            ),
            example(
                "Create one for the production states, for 90 days",
                "groundstate token create deploy --role write --state 'prod-*' --expires 90d --store states",
            ),
        ],
    ),
    (
        "token list",
        [
            example("List the tokens of a server", "groundstate token list --store states"),
            example("List them as JSON", "groundstate token list --store states --json"),
        ],
    ),
    (
        "token revoke",
        [
            example("Revoke a token by its name", "groundstate token revoke ci --store states"),
            example("Revoke it by its id", "groundstate token revoke 2c26b46b68ffc68f --store states"),
        ],
    ),
    (
        "audit",
        [
            example("Show what was done last", "groundstate audit show --store states"),
            example("Verify that nothing was changed", "groundstate audit verify --store states"),
        ],
    ),
    (
        "audit show",
        [
            example("Show who was refused", "groundstate audit show --outcome denied --store states"),
            example(
                "Show the last writes of production states",
                "groundstate audit show --action state.write --object 'web/prod-*' --last 10 --store states",
            ),
        ],
    ),
    (
        "audit verify",
        [
            example("Verify the log, and print a checkpoint", "groundstate audit verify --store states"),
            example(
                "Verify that it goes on from a checkpoint",
                "groundstate audit verify --since \"$(cat checkpoint.txt)\" --store states",
            ),
        ],
    ),
    (
        "store",
        [
            example("Check all that a server has stored", "groundstate store check --store states"),
            example("Show which heads can be made anew", "groundstate store repair --store states"),
        ],
    ),
    (
        "store check",
        [
            example("Check a store with all of its contents", "groundstate store check --store states"),
            example(
                "Check it without the contents of versions",
                "groundstate store check --quick --store states",
            ),
        ],
    ),
    (
        "store repair",
        [
            example("Show which heads can be made anew", "groundstate store repair --store states"),
            example("Make them anew", "groundstate store repair --yes --store states"),
        ],
    ),
];
