//! Buckets, databases and secrets.

use crate::json::{Json, list, object, sorted};
use crate::rng::Rng;
use crate::text::{REGIONS, base64, pem, policy, resource_name, tags};

pub(super) fn bucket(rng: &mut Rng, name: &str) -> Vec<(&'static str, Json)> {
    let bucket = format!("{name}-{}", rng.hex(8));
    let tags = tags(rng, name);
    let grant = sorted([
        ("id", rng.hex(64).into()),
        ("permissions", list(["FULL"])),
        ("type", "user".into()),
        ("uri", "".into()),
    ]);
    let lifecycle = sorted([
        ("abort_upload_days", 7_usize.into()),
        ("enabled", true.into()),
        (
            "expiration",
            list([sorted([("date", "".into()), ("days", 365_usize.into()), ("marker", false.into())])]),
        ),
        ("id", "expire".into()),
        ("old_versions", list([object([("days", 90_usize.into())])])),
        ("prefix", "".into()),
        ("tags", object([])),
        ("transition", list([sorted([("class", "cold".into()), ("days", 30_usize.into())])])),
    ]);
    let encryption = object([("rule", list([sorted([("algorithm", "AES256".into()), ("key", "".into())])]))]);
    vec![
        ("acceleration", "".into()),
        ("acl", Json::Null),
        ("bucket", bucket.as_str().into()),
        ("cors", list([false; 0])),
        ("domain", format!("{bucket}.store.example.test").into()),
        ("encryption", list([encryption])),
        ("force_destroy", false.into()),
        ("grant", list([grant])),
        ("id", bucket.as_str().into()),
        ("lifecycle", if rng.chance(500) { list([lifecycle]) } else { list([false; 0]) }),
        ("logging", list([false; 0])),
        ("object_lock", false.into()),
        ("policy", policy(rng, 2).into()),
        ("region", rng.pick(&REGIONS).into()),
        ("replication", list([false; 0])),
        ("request_payer", "owner".into()),
        ("resource_name", resource_name(rng, "store", &bucket).into()),
        ("tags", tags.clone()),
        ("tags_all", tags),
        ("timeouts", Json::Null),
        ("versioning", list([sorted([("enabled", true.into()), ("lock_delete", false.into())])])),
        ("website", list([false; 0])),
    ]
}

pub(super) fn database(rng: &mut Rng, name: &str) -> Vec<(&'static str, Json)> {
    let tags = tags(rng, name);
    let host = format!("{name}.{}.db.example.test", rng.hex(12));
    let id = format!("db-{}", rng.hex(26).to_uppercase());
    vec![
        ("address", host.as_str().into()),
        ("backup_days", 14_usize.into()),
        ("certificate", "root-rsa2048-1".into()),
        ("database", name.replace('-', "_").into()),
        ("deletion_protection", true.into()),
        ("domain_servers", Json::Null),
        ("endpoint", format!("{host}:5432").into()),
        ("engine", "postgres".into()),
        ("engine_version", "16.3".into()),
        ("exported_logs", list(["postgresql", "upgrade"])),
        ("id", id.as_str().into()),
        ("identifier", name.into()),
        ("iops", 3000_usize.into()),
        ("key", resource_name(rng, "keys", "key/0815").into()),
        ("maintenance", "sun:04:00-sun:05:00".into()),
        ("multi_zone", true.into()),
        ("parameter_group", "default.postgres16".into()),
        ("password", base64(rng, 24).into()),
        ("port", 5432_usize.into()),
        ("public", false.into()),
        ("resource_id", id.into()),
        ("resource_name", resource_name(rng, "db", name).into()),
        ("shape", "db.r6.large".into()),
        ("storage_gb", rng.between(20, 1000).into()),
        ("storage_max_gb", 0_usize.into()),
        ("storage_type", "fast".into()),
        ("tags", tags.clone()),
        ("tags_all", tags),
        ("timeouts", Json::Null),
        ("user", "app".into()),
    ]
}

pub(super) fn keypair(rng: &mut Rng, _: &str) -> Vec<(&'static str, Json)> {
    vec![
        ("algorithm", "RSA".into()),
        ("bits", 2048_usize.into()),
        ("fingerprint", format!("SHA256:{}", base64(rng, 32)).into()),
        ("id", rng.hex(40).into()),
        ("private_key", pem(rng, "INVENTED PRIVATE KEY", 900).into()),
        ("private_key_legacy", pem(rng, "INVENTED LEGACY KEY", 700).into()),
        ("public_key", format!("ssh-rsa {}\n", base64(rng, 279)).into()),
    ]
}

pub(super) fn password(rng: &mut Rng, _: &str) -> Vec<(&'static str, Json)> {
    vec![
        ("id", "none".into()),
        ("keepers", object([("rotation", rng.hex(4).into())])),
        ("length", 32_usize.into()),
        ("lower", true.into()),
        ("minimum_lower", 0_usize.into()),
        ("numeric", true.into()),
        ("override_special", "!#$%&*()-_=+[]{}<>:?".into()),
        ("result", format!("<&{}>?", base64(rng, 24)).into()),
        ("serial", Json::Number(format!("{}{}", u64::MAX, rng.below(1000)))),
        ("special", true.into()),
        ("upper", true.into()),
    ]
}
