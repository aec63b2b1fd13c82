//! Words, and texts made of them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::json::{Json, list, object, sorted};
use crate::rng::Rng;

/// Names of things; also of resources, modules and keys.
pub(crate) const WORDS: [&str; 48] = [
    "account", "archive", "audit", "backup", "billing", "broker", "cache", "catalog", "cellar", "checkout",
    "cluster", "courier", "depot", "digest", "edge", "exchange", "forge", "gateway", "harbor", "index",
    "inbox", "journal", "kiosk", "ledger", "lobby", "market", "mirror", "notary", "orders", "parcel",
    "payments", "press", "quarry", "queue", "relay", "replica", "search", "session", "shelf", "signal",
    "station", "tariff", "ticket", "tracker", "uplink", "vault", "warden", "worker",
];

pub(crate) const REGIONS: [&str; 4] = ["north-1", "south-2", "east-1", "west-3"];
const STAGES: [&str; 4] = ["production", "staging", "test", "recovery"];
const TEAMS: [&str; 6] = ["core", "data & reports", "größe", "検索基盤", "logística", "<unassigned>"];
const ACTORS: [&str; 5] = ["store", "queue", "ledger", "vault", "mail"];
const VERBS: [&str; 6] = ["Read", "Write", "List*", "Delete", "Decrypt", "Describe*"];

/// A paragraph with everything that JSON has to escape and much that it must not.
pub(crate) const NOTE: &str = "Created from a template; manual changes are reverted & reported to <platform@example.test>. \
    Grüße, naïve façade, 東京, Ελληνικά, an emoji 🚀, a \"quote\", a back\\slash\nand a second line.";

pub(crate) fn base64(rng: &mut Rng, bytes: usize) -> String {
    STANDARD.encode(rng.bytes(bytes))
}

pub(crate) fn encode_base64(text: &str) -> String {
    STANDARD.encode(text)
}

/// The name of a remote object, in the manner of large clouds.
pub(crate) fn resource_name(rng: &mut Rng, service: &str, rest: &str) -> String {
    let account = 100_000_000_000 + rng.next() % 900_000_000_000;
    format!("xrn:cloud:{service}:{}:{account}:{rest}", rng.pick(&REGIONS))
}

pub(crate) fn tags(rng: &mut Rng, name: &str) -> Json {
    let mut tags = vec![
        ("Name", name.into()),
        ("Stage", rng.pick(&STAGES).into()),
        ("Team", rng.pick(&TEAMS).into()),
        ("ManagedBy", "terraform".into()),
    ];
    if rng.chance(400) {
        tags.push(("CostCenter", format!("cc-{:04}", rng.below(10_000)).into()));
    }
    if rng.chance(150) {
        tags.push(("Note", NOTE.into()));
    }
    sorted(tags)
}

/// A policy document, as text, the way providers keep it in one attribute.
pub(crate) fn policy(rng: &mut Rng, statements: usize) -> String {
    let statement = |at| {
        let actor = rng.pick(&ACTORS);
        let actions: Vec<String> =
            (0..rng.between(1, 4)).map(|_| format!("{}:{}", rng.pick(&ACTORS), rng.pick(&VERBS))).collect();
        let target = rng.hex(10);
        object([
            ("Sid", format!("S{at}{}", rng.hex(6)).into()),
            ("Effect", if rng.chance(800) { "Allow" } else { "Deny" }.into()),
            ("Action", list(actions)),
            ("Resource", resource_name(rng, actor, &format!("{target}/*")).into()),
            ("Condition", object([("StringLike", object([("principal", "role/<any> & \"x\"".into())]))])),
        ])
    };
    let statements: Vec<Json> = (0..statements).map(statement).collect();
    object([("Version", "2020-01-01".into()), ("Statement", Json::List(statements))]).compact()
}

/// Random text in the shape of a key or certificate.
pub(crate) fn pem(rng: &mut Rng, label: &str, bytes: usize) -> String {
    let body = base64(rng, bytes);
    let mut text = format!("-----BEGIN {label}-----\n");
    for start in (0..body.len()).step_by(64) {
        text.push_str(&body[start..body.len().min(start + 64)]);
        text.push('\n');
    }
    text.push_str(&format!("-----END {label}-----\n"));
    text
}

/// A date of the year 2026.
pub(crate) fn date(rng: &mut Rng) -> String {
    format!(
        "2026-{:02}-{:02}T{:02}:00:0{}Z",
        rng.between(1, 12),
        rng.between(1, 28),
        rng.below(24),
        rng.below(10)
    )
}
