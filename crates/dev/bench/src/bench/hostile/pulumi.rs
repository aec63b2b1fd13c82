//! Hostile Pulumi deployments.

use std::io;
use std::path::Path;

use super::shape::{Shape, ending, file, shape};

const STATE: &str = "deployment.json";

/// The deployments, each with what was slow or large once, and with its neighbours.
pub(super) const SHAPES: &[Shape] = &[
    shape("pulumi graph: a chain of parents, dot", 10_000, parents, &["graph", STATE]),
    shape("pulumi graph: a chain of parents, mermaid", 10_000, parents, &["graph", STATE, "-f", "mermaid"]),
    shape("pulumi graph: a chain of parents, json", 10_000, parents, &["graph", STATE, "-f", "json"]),
    ending(1, shape("pulumi check: a chain of parents", 10_000, parents, &["check", STATE])),
    shape("pulumi repair: a chain of parents, turned round", 10_000, turned, &["repair", STATE, "--dry-run"]),
    shape("pulumi show: a chain of parents", 10_000, parents, &["show", STATE]),
    shape("pulumi rm: a chain of parents", 10_000, parents, &["rm", STATE, "last", "--dry-run"]),
    shape("pulumi order destroy: a chain of parents", 10_000, parents, &["order", "destroy", STATE]),
    shape(
        "pulumi order destroy: a component's children and dependents, text",
        2_500,
        component,
        &["order", "destroy", STATE],
    ),
    shape(
        "pulumi order destroy: a component's children and dependents, json",
        2_500,
        component,
        &["order", "destroy", STATE, "-f", "json"],
    ),
    shape("pulumi check: one resource that needs all", 10_000, wide, &["check", STATE]),
    shape(
        "pulumi repair: one resource that needs what is missing",
        10_000,
        missing,
        &["repair", STATE, "--dry-run"],
    ),
    shape("pulumi diff: one resource that needs all", 10_000, wide, &["diff", STATE, STATE]),
    ending(1, shape("pulumi check: duplicates", 10_000, duplicates, &["check", STATE])),
    shape("pulumi repair: duplicates", 2_500, duplicates, &["repair", STATE, "--dry-run"]),
    shape("pulumi diff: duplicates", 10_000, duplicates, &["diff", STATE, STATE]),
    shape("pulumi check: copies that wait for their deletion", 10_000, copies, &["check", STATE]),
    shape(
        "pulumi order destroy: copies that wait for their deletion",
        10_000,
        copies,
        &["order", "destroy", STATE],
    ),
    shape("pulumi check: aliases", 10_000, aliases, &["check", STATE]),
    ending(1, shape("pulumi check: values that cannot be loaded", 10_000, values, &["check", STATE])),
    shape("pulumi repair: values that cannot be loaded", 10_000, values, &["repair", STATE, "--dry-run"]),
    ending(1, shape("pulumi show: values that cannot be loaded", 10_000, values, &["show", STATE])),
];

fn deployment(folder: &Path, resources: &[String]) -> io::Result<u64> {
    let head = r#"{"version":3,"deployment":{"manifest":{"time":"2024-05-06T07:08:09Z","magic":"","version":""},"resources":["#;
    file(folder, STATE, &format!("{head}{}],\"metadata\":{{}}}}}}\n", resources.join(",")))
}

fn urn(name: &str) -> String {
    format!("urn:pulumi:dev::shop::t:t:T::{name}")
}

fn resource(name: &str, members: &str) -> String {
    format!(r#"{{"urn":"{}","custom":true,"id":"1","type":"t:t:T"{members}}}"#, urn(name))
}

/// A component, which has no identifier.
fn group(name: &str, members: &str) -> String {
    format!(r#"{{"urn":"{}","custom":false,"type":"t:t:T"{members}}}"#, urn(name))
}

/// As many components, each inside the one before; the last is called so.
fn chain(size: usize) -> Vec<String> {
    let name = |at: usize| if at + 1 == size { "last".to_owned() } else { format!("r{at}") };
    let parent = |at: usize| match at.checked_sub(1) {
        Some(before) => format!(r#","parent":"{}""#, urn(&name(before))),
        None => String::new(),
    };
    (0..size).map(|at| group(&name(at), &parent(at))).collect()
}

fn parents(folder: &Path, size: usize) -> io::Result<u64> {
    deployment(folder, &chain(size))
}

/// The same from the innermost to the outermost.
fn turned(folder: &Path, size: usize) -> io::Result<u64> {
    let mut all = chain(size);
    all.reverse();
    deployment(folder, &all)
}

/// A component with as many children, and as many resources that depend on it.
fn component(folder: &Path, size: usize) -> io::Result<u64> {
    let child = |at: usize| resource(&format!("c{at}"), &format!(r#","parent":"{}""#, urn("all")));
    let dependent =
        |at: usize| resource(&format!("d{at}"), &format!(r#","dependencies":["{}"]"#, urn("all")));
    let mut resources = vec![group("all", "")];
    resources.extend((0..size).map(child));
    resources.extend((0..size).map(dependent));
    deployment(folder, &resources)
}

/// As many resources, and one that depends on all of them, also by its properties.
fn wide(folder: &Path, size: usize) -> io::Result<u64> {
    let mut resources: Vec<String> = (0..size).map(|at| resource(&format!("r{at}"), "")).collect();
    resources.push(needs(size));
    deployment(folder, &resources)
}

/// That one alone.
fn missing(folder: &Path, size: usize) -> io::Result<u64> {
    deployment(folder, &[needs(size)])
}

fn needs(size: usize) -> String {
    let all: Vec<String> = (0..size).map(|at| format!("\"{}\"", urn(&format!("r{at}")))).collect();
    let by_property: Vec<String> =
        all.iter().enumerate().map(|(at, urn)| format!(r#""p{at}":[{urn}]"#)).collect();
    let members = format!(
        r#","dependencies":[{}],"propertyDependencies":{{{}}}"#,
        all.join(","),
        by_property.join(",")
    );
    resource("last", &members)
}

/// As many resources of one name, all of them live.
fn duplicates(folder: &Path, size: usize) -> io::Result<u64> {
    deployment(folder, &vec![resource("same", ""); size])
}

/// As many copies of one name that wait for their deletion, and a live one.
fn copies(folder: &Path, size: usize) -> io::Result<u64> {
    let mut resources = vec![resource("same", r#","delete":true"#); size];
    resources.push(resource("same", ""));
    deployment(folder, &resources)
}

/// A resource with as many aliases.
fn aliases(folder: &Path, size: usize) -> io::Result<u64> {
    let all: Vec<String> = (0..size).map(|at| format!("\"{}\"", urn(&format!("old{at}")))).collect();
    deployment(folder, &[resource("new", &format!(r#","aliases":[{}]"#, all.join(",")))])
}

/// As many resources with a value of an unknown kind.
fn values(folder: &Path, size: usize) -> io::Result<u64> {
    let inputs = r#","inputs":{"a":[{"4dabf18193072939515e22adb298388d":"foobar"}],"b":1.50}"#;
    let resources: Vec<String> = (0..size).map(|at| resource(&format!("r{at}"), inputs)).collect();
    deployment(folder, &resources)
}
