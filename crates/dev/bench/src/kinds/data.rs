//! Data sources.

use crate::json::{Json, list, sorted};
use crate::rng::Rng;
use crate::text::{date, policy, resource_name};

pub(super) fn image(rng: &mut Rng, name: &str) -> Vec<(&'static str, Json)> {
    let id = format!("img-{}", rng.hex(17));
    let filter = sorted([("name", "name".into()), ("values", list([format!("{name}-*")]))]);
    vec![
        ("architecture", "arm64".into()),
        ("created", date(rng).into()),
        ("filter", list([filter])),
        ("id", id.as_str().into()),
        ("most_recent", true.into()),
        ("name", name.into()),
        ("owners", list(["self"])),
        ("resource_name", resource_name(rng, "compute", &format!("image/{id}")).into()),
        ("root_device", "/dev/disk0".into()),
        ("timeouts", Json::Null),
    ]
}

pub(super) fn policy_document(rng: &mut Rng, _: &str) -> Vec<(&'static str, Json)> {
    let document = policy(rng, 2);
    vec![
        ("id", rng.below(10_000_000_000).to_string().into()),
        ("json", document.as_str().into()),
        ("json_minified", document.into()),
        ("override_documents", Json::Null),
        ("source_documents", Json::Null),
        ("version", "2020-01-01".into()),
    ]
}
