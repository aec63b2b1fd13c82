//! Examples of the commands on a server.

use super::{Examples, example};

pub(super) const EXAMPLES: &[Examples] = &[(
    "serve",
    [
        example(
            "Keep states in a directory, for clients of this machine",
            "groundstate serve --store states",
        ),
        example("Check a configuration before it is used", "groundstate serve --config server.toml --check"),
    ],
)];
