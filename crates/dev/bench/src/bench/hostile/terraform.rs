//! Hostile states of Terraform.

use std::fmt::Write;
use std::io;
use std::path::Path;

use super::shape::{Shape, ending, file, shape};

const STATE: &str = "state.json";
const PROVIDER: &str = r#""provider":"provider[\"registry.terraform.io/hashicorp/null\"]""#;

/// The states, each with what was slow or large once, and with its neighbours.
pub(super) const SHAPES: &[Shape] = &[
    shape("graph: a module nested deeply, dot", 5_000, nested, &["graph", STATE]),
    shape("graph: a module nested deeply, mermaid", 5_000, nested, &["graph", STATE, "-f", "mermaid"]),
    shape("graph: a module nested deeply, json", 5_000, nested, &["graph", STATE, "-f", "json"]),
    shape("list: a module nested deeply", 5_000, nested, &["list", STATE]),
    shape("check: a module nested deeply", 5_000, nested, &["check", STATE]),
    shape("order destroy: groups and groups, text", 2_000, groups, &["order", "destroy", STATE]),
    shape(
        "order destroy: groups and groups, json",
        2_000,
        groups,
        &["order", "destroy", STATE, "-f", "json"],
    ),
    shape("order destroy: groups and groups, dot", 2_000, groups, &["order", "destroy", STATE, "-f", "dot"]),
    shape("order waves: groups and groups, json", 2_000, groups, &["order", "waves", STATE, "-f", "json"]),
    ending(5, shape("order destroy: groups in a cycle, text", 2_000, cycle, &["order", "destroy", STATE])),
    ending(
        5,
        shape(
            "order destroy: groups in a cycle, json",
            2_000,
            cycle,
            &["order", "destroy", STATE, "-f", "json"],
        ),
    ),
    shape("show: sensitive paths, text", 10_000, sensitive, &["show", STATE]),
    shape("show: sensitive paths, json", 10_000, sensitive, &["show", STATE, "--json"]),
    shape("diff: sensitive paths", 10_000, sensitive, &["diff", STATE, STATE]),
    ending(1, shape("salvage: duplicates", 6_000, duplicates, &["salvage", STATE, "-o", "out.tfstate"])),
    shape("edit: globs and resources", 500, globs, &["edit", STATE, "--script", "script.gs", "--dry-run"]),
    shape(
        "edit: globs that match nothing",
        500,
        misses,
        &["edit", STATE, "--script", "script.gs", "--dry-run", "--skip-missing"],
    ),
];

/// A state of these entries of `resources`.
fn state(folder: &Path, resources: &str) -> io::Result<u64> {
    let head =
        r#"{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"b1f0","outputs":{},"resources":["#;
    file(folder, STATE, &format!("{head}{resources}],\"check_results\":null}}\n"))
}

/// An entry with the members of its instances.
fn resource(name: &str, instances: &str) -> String {
    format!(
        r#"{{"mode":"managed","type":"null_resource","name":"{name}",{PROVIDER},"instances":[{instances}]}}"#
    )
}

/// `count` instances that depend on a resource, if one is named.
fn counted(name: &str, count: usize, needs: Option<&str>) -> String {
    let needs = needs.map_or(String::new(), |needs| format!(r#","dependencies":["null_resource.{needs}"]"#));
    let instances: Vec<String> = (0..count)
        .map(|at| format!(r#"{{"index_key":{at},"schema_version":0,"attributes":{{"id":"{at}"}}{needs}}}"#))
        .collect();
    resource(name, &instances.join(","))
}

/// One resource in as many modules, each inside the one before.
fn nested(folder: &Path, size: usize) -> io::Result<u64> {
    let module = vec!["module.a"; size].join(".");
    let instance = r#"{"schema_version":0,"attributes":{"id":"1"}}"#;
    let entry = resource("deep", instance);
    state(folder, &format!(r#"{{"module":"{module}",{}"#, entry.trim_start_matches('{')))
}

/// Four resources with as many instances, each of which depends on all of the resource before.
fn groups(folder: &Path, size: usize) -> io::Result<u64> {
    let all = [("a", None), ("b", Some("a")), ("c", Some("b")), ("d", Some("c"))];
    state(folder, &all.map(|(name, needs)| counted(name, size, needs)).join(","))
}

/// Two resources with as many instances, which depend on each other.
fn cycle(folder: &Path, size: usize) -> io::Result<u64> {
    state(
        folder,
        &[("a", Some("b")), ("b", Some("a"))].map(|(name, needs)| counted(name, size, needs)).join(","),
    )
}

/// An instance with as many attributes, all of them sensitive.
fn sensitive(folder: &Path, size: usize) -> io::Result<u64> {
    let (mut attributes, mut paths) = (String::new(), String::new());
    for at in 0..size {
        let comma = if at == 0 { "" } else { "," };
        // Writing into a string does not fail.
        let _ = write!(attributes, r#"{comma}"a{at}":"v{at}""#);
        let _ = write!(paths, r#"{comma}[{{"type":"get_attr","value":"a{at}"}}]"#);
    }
    let instance =
        format!(r#"{{"schema_version":0,"attributes":{{{attributes}}},"sensitive_attributes":[{paths}]}}"#);
    state(folder, &resource("secrets", &instance))
}

/// As many entries for one resource.
fn duplicates(folder: &Path, size: usize) -> io::Result<u64> {
    let entry = resource("same", r#"{"schema_version":0,"attributes":{"id":"1"}}"#);
    state(folder, &vec![entry; size].join(","))
}

/// As many resources, and as many globs that match one of them each.
fn globs(folder: &Path, size: usize) -> io::Result<u64> {
    script(folder, size, "taint null_resource.r", "_*")
}

/// As many resources, and as many globs that match none.
fn misses(folder: &Path, size: usize) -> io::Result<u64> {
    script(folder, size, "rm null_resource.*_missing", "")
}

fn script(folder: &Path, size: usize, before: &str, after: &str) -> io::Result<u64> {
    let instance = r#"{"schema_version":0,"attributes":{"id":"1"}}"#;
    let resources: Vec<String> = (0..size).map(|at| resource(&format!("r{at}_x"), instance)).collect();
    let lines: String = (0..size).map(|at| format!("{before}{at}{after}\n")).collect();
    Ok(state(folder, &resources.join(","))? + file(folder, "script.gs", &lines)?)
}
