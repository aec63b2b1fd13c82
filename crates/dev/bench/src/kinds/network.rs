//! Firewalls and names.

use crate::json::{Json, list, object, sorted};
use crate::rng::Rng;
use crate::text::{NOTE, WORDS, resource_name, tags};

pub(super) fn firewall(rng: &mut Rng, name: &str) -> Vec<(&'static str, Json)> {
    let id = format!("fw-{}", rng.hex(17));
    let tags = tags(rng, name);
    let inward = rng.between(1, 4);
    vec![
        ("description", if rng.chance(100) { NOTE.to_owned() } else { format!("for {name}") }.into()),
        ("egress", list([rule(rng, 0)])),
        ("id", id.as_str().into()),
        ("ingress", list((1..=inward).map(|at| rule(rng, at)).collect::<Vec<_>>())),
        ("name", name.into()),
        ("name_prefix", "".into()),
        ("network_id", format!("net-{}", rng.hex(17)).into()),
        ("owner", rng.hex(12).into()),
        ("resource_name", resource_name(rng, "network", &format!("firewall/{id}")).into()),
        ("revoke_on_delete", false.into()),
        ("tags", tags.clone()),
        ("tags_all", tags),
        ("timeouts", Json::Null),
    ]
}

fn rule(rng: &mut Rng, at: usize) -> Json {
    let ranges = rng.between(1, 3);
    let description = format!("rule {at}: {} -> {}", rng.pick(&WORDS), rng.pick(&WORDS));
    sorted([
        ("description", description.into()),
        ("firewalls", list([false; 0])),
        ("from_port", [0_usize, 22, 443, 5432][rng.below(4)].into()),
        ("prefixes", list([false; 0])),
        ("protocol", rng.pick(&["tcp", "udp", "-1"]).into()),
        ("ranges", list((0..ranges).map(|_| format!("10.{}.0.0/16", rng.below(256))).collect::<Vec<_>>())),
        ("ranges_v6", list([false; 0])),
        ("self", rng.chance(200).into()),
        ("to_port", [22_usize, 443, 5432, 65535][rng.below(4)].into()),
    ])
}

pub(super) fn record(rng: &mut Rng, name: &str) -> Vec<(&'static str, Json)> {
    let zone = format!("Z{}", rng.hex(20).to_uppercase());
    let values = rng.between(1, 4);
    vec![
        ("alias", list([false; 0])),
        ("fqdn", format!("{name}.example.test").into()),
        ("health_check", "".into()),
        ("id", format!("{zone}_{name}_A").into()),
        ("latency_routing", list([false; 0])),
        ("multivalue", false.into()),
        ("name", format!("{name}.example.test").into()),
        ("overwrite", Json::Null),
        ("records", list((0..values).map(|_| format!("192.0.2.{}", rng.below(256))).collect::<Vec<_>>())),
        (
            "routing",
            list([object([("policy", "simple".into()), ("weight", Json::Number("0.25".to_owned()))])]),
        ),
        ("timeouts", Json::Null),
        ("ttl", 300_usize.into()),
        ("type", "A".into()),
        ("zone", zone.into()),
    ]
}
