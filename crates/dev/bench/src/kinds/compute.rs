//! Servers, functions, and what they may do.

use crate::json::{Json, list, object, sorted};
use crate::rng::Rng;
use crate::text::{self, NOTE, REGIONS, base64, date, resource_name, tags};

pub(super) fn server(rng: &mut Rng, name: &str) -> Vec<(&'static str, Json)> {
    let id = format!("srv-{}", rng.hex(17));
    let tags = tags(rng, name);
    let disk = sorted([
        ("delete_on_termination", true.into()),
        ("device", "/dev/disk0".into()),
        ("encrypted", true.into()),
        ("iops", 3000_usize.into()),
        ("key", resource_name(rng, "keys", "key/4711").into()),
        ("size_gb", rng.between(8, 400).into()),
        ("tags", object([])),
        ("throughput", 125_usize.into()),
        ("volume_id", format!("vol-{}", rng.hex(17)).into()),
    ]);
    let address = format!("10.{}.{}.{}", rng.below(256), rng.below(256), rng.below(256));
    let firewalls = rng.between(1, 3);
    vec![
        ("address_private", address.into()),
        ("address_public", "".into()),
        ("boot_disk", list([disk])),
        ("cores", rng.between(1, 16).into()),
        ("credit", list([object([("mode", "unlimited".into())])])),
        ("data_disks", list([false; 0])),
        ("ephemeral_disks", list([false; 0])),
        ("firewall_ids", list((0..firewalls).map(|_| format!("fw-{}", rng.hex(17))).collect::<Vec<_>>())),
        ("host_id", Json::Null),
        ("id", id.as_str().into()),
        ("image", format!("img-{}", rng.hex(17)).into()),
        ("ipv6_addresses", list([false; 0])),
        ("key_name", "".into()),
        ("metadata_options", list([object([("endpoint", "enabled".into()), ("hops", 2_usize.into())])])),
        ("monitoring", false.into()),
        ("profile", name.into()),
        ("region", rng.pick(&REGIONS).into()),
        ("resource_name", resource_name(rng, "compute", &format!("server/{id}")).into()),
        ("shape", format!("m{}.large", rng.between(1, 9)).into()),
        ("source_check", true.into()),
        ("state", "running".into()),
        ("subnet_id", format!("net-{}", rng.hex(17)).into()),
        ("tags", tags.clone()),
        ("tags_all", tags),
        ("timeouts", Json::Null),
        ("user_data", rng.hex(40).into()),
        ("user_data_base64", Json::Null),
    ]
}

pub(super) fn role(rng: &mut Rng, name: &str) -> Vec<(&'static str, Json)> {
    let tags = tags(rng, name);
    let inline = object([("name", "inline".into()), ("policy", text::policy(rng, 1).into())]);
    vec![
        ("created", date(rng).into()),
        ("description", "".into()),
        ("force_detach", false.into()),
        ("id", name.into()),
        ("inline_policy", list([inline])),
        ("managed_policies", list([resource_name(rng, "access", "policy/base-instance")])),
        ("max_session_seconds", 3600_usize.into()),
        ("name", name.into()),
        ("name_prefix", "".into()),
        ("path", "/".into()),
        ("permissions_boundary", "".into()),
        ("resource_name", resource_name(rng, "access", &format!("role/{name}")).into()),
        ("tags", tags.clone()),
        ("tags_all", tags),
        ("trust", text::policy(rng, 1).into()),
        ("unique_id", format!("RID{}", rng.hex(18).to_uppercase()).into()),
    ]
}

pub(super) fn policy(rng: &mut Rng, name: &str) -> Vec<(&'static str, Json)> {
    let resource_name = resource_name(rng, "access", &format!("policy/{name}"));
    let statements = rng.between(2, 6);
    vec![
        ("attachments", rng.below(5).into()),
        ("description", if rng.chance(300) { NOTE } else { "" }.into()),
        ("id", resource_name.as_str().into()),
        ("name", name.into()),
        ("name_prefix", "".into()),
        ("path", "/".into()),
        ("policy", text::policy(rng, statements).into()),
        ("policy_id", format!("PID{}", rng.hex(18).to_uppercase()).into()),
        ("resource_name", resource_name.into()),
        ("tags", Json::Null),
        ("tags_all", object([])),
    ]
}

pub(super) fn role_binding(rng: &mut Rng, name: &str) -> Vec<(&'static str, Json)> {
    vec![
        ("id", format!("{name}-{}", rng.hex(20)).into()),
        ("policy", resource_name(rng, "access", &format!("policy/{name}")).into()),
        ("role", name.into()),
    ]
}

pub(super) fn function(rng: &mut Rng, name: &str) -> Vec<(&'static str, Json)> {
    let tags = tags(rng, name);
    let flags = object([("beta", rng.chance(500).into()), ("verbose", rng.chance(500).into())]).compact();
    let variables = sorted([
        ("DB_URL", format!("postgres://app:{}@db.internal:5432/{name}?sslmode=require", rng.hex(20)).into()),
        ("FLAGS", flags.into()),
        ("LOG_LEVEL", "info".into()),
    ]);
    let log = sorted([
        ("format", "text".into()),
        ("group", format!("/functions/{name}").into()),
        ("level", "".into()),
    ]);
    let resource_name = resource_name(rng, "functions", &format!("function/{name}"));
    vec![
        ("architectures", list(["arm64"])),
        ("concurrency", Json::Number("-1".to_owned())),
        ("dead_letter", list([false; 0])),
        ("description", if rng.chance(300) { NOTE } else { "" }.into()),
        ("environment", list([object([("variables", variables)])])),
        ("handler", "index.handler".into()),
        ("id", name.into()),
        ("image", "".into()),
        ("layers", list([false; 0])),
        ("logging", list([log])),
        ("memory_mb", 256_usize.into()),
        ("modified", date(rng).into()),
        ("name", name.into()),
        ("package", format!("build/{name}.zip").into()),
        ("publish", false.into()),
        ("resource_name", resource_name.into()),
        ("runtime", "native-3".into()),
        ("scratch", list([object([("size_mb", 512_usize.into())])])),
        ("source_hash", base64(rng, 32).into()),
        ("source_size", rng.below(10_000_000).into()),
        ("tags", tags.clone()),
        ("tags_all", tags),
        ("timeout", 30_usize.into()),
        ("timeouts", Json::Null),
        ("tracing", list([object([("mode", "pass".into())])])),
        ("version", "$LATEST".into()),
    ]
}
