//! Deployments, their configuration, and alarms.

use crate::json::{Json, list, object, sorted};
use crate::rng::Rng;
use crate::text::{NOTE, WORDS, resource_name, tags};

pub(super) fn deployment(rng: &mut Rng, name: &str) -> Vec<(&'static str, Json)> {
    let containers = rng.between(1, 2);
    let pod = sorted([
        ("account", name.into()),
        ("container", list((0..containers).map(|at| container(rng, name, at)).collect::<Vec<_>>())),
        ("dns_policy", "ClusterFirst".into()),
        ("restart_policy", "Always".into()),
    ]);
    let rolling = sorted([("max_surge", "25%".into()), ("max_unavailable", "25%".into())]);
    let spec = sorted([
        ("replicas", rng.between(1, 9).to_string().into()),
        ("revision_limit", 10_usize.into()),
        ("strategy", list([sorted([("rolling", list([rolling])), ("type", "RollingUpdate".into())])])),
        ("template", list([object([("spec", list([pod]))])])),
    ]);
    vec![
        ("id", format!("default/{name}").into()),
        ("metadata", list([metadata(rng, name, NOTE)])),
        ("spec", list([spec])),
        ("timeouts", Json::Null),
        ("wait_for_rollout", true.into()),
    ]
}

fn container(rng: &mut Rng, name: &str, at: usize) -> Json {
    let variable = |rng: &mut Rng| {
        let name = rng.pick(&WORDS).to_uppercase();
        sorted([("name", name.into()), ("value", rng.hex(12).into()), ("value_from", list([false; 0]))])
    };
    let variables = rng.between(2, 5);
    let limits = |cpu: &str, memory: &str| object([("cpu", cpu.into()), ("memory", memory.into())]);
    let resources = object([("limits", limits("500m", "512Mi")), ("requests", limits("50m", "128Mi"))]);
    let mount = sorted([("name", "cfg".into()), ("path", "/etc/cfg".into()), ("read_only", true.into())]);
    sorted([
        ("args", list([format!("--port={}", 8000 + at), "--log-level=info".to_owned()])),
        ("command", list([false; 0])),
        ("env", list((0..variables).map(|_| variable(rng)).collect::<Vec<_>>())),
        ("image", format!("images.example.test/{name}@sha256:{}", rng.hex(64)).into()),
        ("mount", list([mount])),
        ("name", format!("c{at}").into()),
        ("pull_policy", "IfNotPresent".into()),
        ("resources", list([resources])),
    ])
}

fn metadata(rng: &mut Rng, name: &str, note: &str) -> Json {
    sorted([
        ("annotations", object([("orchard.example.test/note", note.into())])),
        ("generation", rng.below(50).into()),
        ("labels", object([("app", name.into())])),
        ("name", name.into()),
        ("namespace", "default".into()),
        ("resource_version", rng.below(1_000_000_000).to_string().into()),
        ("uid", rng.uuid().into()),
    ])
}

pub(super) fn config(rng: &mut Rng, name: &str) -> Vec<(&'static str, Json)> {
    let lines = rng.between(6, 16);
    let section = |rng: &mut Rng| {
        format!("{}:\n  {}: {}\n  # <a> & \"b\"\n", rng.pick(&WORDS), rng.pick(&WORDS), rng.below(1000))
    };
    let yaml: String = (0..lines).map(|_| section(rng)).collect();
    let flags = object([("ratio", Json::Number("0.125".to_owned())), ("on", true.into())]).compact();
    vec![
        ("binary_data", object([])),
        ("data", sorted([("app.yaml", yaml.into()), ("flags.json", flags.into())])),
        ("id", format!("default/{name}").into()),
        ("immutable", false.into()),
        ("metadata", list([metadata(rng, name, "")])),
    ]
}

pub(super) fn alarm(rng: &mut Rng, name: &str) -> Vec<(&'static str, Json)> {
    let tags = tags(rng, name);
    let threshold = format!("{}.{}", rng.between(1, 99), rng.between(1, 9));
    vec![
        ("actions_enabled", true.into()),
        ("alarm_actions", list([resource_name(rng, "topics", "alerts")])),
        ("comparison", "GreaterThanOrEqualToThreshold".into()),
        ("description", NOTE.into()),
        ("dimensions", object([("server", format!("srv-{}", rng.hex(17)).into())])),
        ("id", name.into()),
        ("insufficient_data_actions", Json::Null),
        ("metric", "CpuUsage".into()),
        ("metric_query", list([false; 0])),
        ("name", name.into()),
        ("ok_actions", list([false; 0])),
        ("period", 60_usize.into()),
        ("periods", 3_usize.into()),
        ("resource_name", resource_name(rng, "watch", &format!("alarm/{name}")).into()),
        ("statistic", "Average".into()),
        ("tags", tags.clone()),
        ("tags_all", tags),
        ("threshold", Json::Number(threshold)),
        ("treat_missing_data", "missing".into()),
        ("unit", "".into()),
    ]
}
