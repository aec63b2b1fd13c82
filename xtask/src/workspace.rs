//! The packages of the workspace, as `cargo metadata` tells of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::outcome::{Failure, Outcome, stdout};

/// The root of the workspace: the folder above this package.
pub(crate) fn root() -> PathBuf {
    // Worktrees may share a folder for what is built, and then also this program: its caller knows better.
    let now = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).filter(|dir| dir.ends_with("xtask"));
    let xtask = now.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
    xtask.parent().unwrap_or(&xtask).to_owned()
}

/// A call of the cargo that started this program, in the root of the workspace.
pub(crate) fn cargo<'a>(args: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(args);
    command
}

/// Where a package stands among the layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    /// In the layer of this number.
    In(u64),
    /// Beside them: it may use any, and is itself only ever a dev-dependency.
    Beside,
}

/// A package of the workspace.
#[derive(Clone, Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) description: String,
    /// The folder, from the root of the workspace.
    pub(crate) dir: String,
    pub(crate) published: bool,
    /// What `[package.metadata.groundstate] layer` says, if it says something known.
    pub(crate) layer: Option<Layer>,
    pub(crate) rust_version: Option<String>,
    pub(crate) features: Vec<String>,
    pub(crate) dependencies: Vec<Dependency>,
    /// The names of all packages that it is built with, dev-dependencies not counted.
    pub(crate) built_with: BTreeSet<String>,
}

/// A dependency as a manifest declares it.
#[derive(Clone, Debug)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) dev: bool,
    pub(crate) optional: bool,
    /// The features that the manifest asks for.
    pub(crate) features: Vec<String>,
}

/// Asks cargo for the packages of the workspace, by name.
pub(crate) fn packages() -> Outcome<Vec<Package>> {
    let text = stdout(&mut cargo(["metadata", "--format-version", "1"]))?;
    let metadata = serde_json::from_str(&text)
        .map_err(|error| Failure::Missing(format!("cannot read what `cargo metadata` printed: {error}")))?;
    parse(&metadata)
        .ok_or_else(|| Failure::Missing("`cargo metadata` printed another form than expected".to_owned()))
}

/// The folder for what is built, wherever it was moved to.
pub(crate) fn target() -> Outcome<PathBuf> {
    let text = stdout(&mut cargo(["metadata", "--format-version", "1", "--no-deps"]))?;
    let metadata: Option<Value> = serde_json::from_str(&text).ok();
    let folder = metadata.as_ref().and_then(|metadata| metadata["target_directory"].as_str());
    folder.map(PathBuf::from).ok_or_else(|| {
        Failure::Missing("`cargo metadata` does not say where the folder `target` is".to_owned())
    })
}

fn parse(metadata: &Value) -> Option<Vec<Package>> {
    let root = metadata["workspace_root"].as_str()?;
    let members: BTreeSet<&str> =
        metadata["workspace_members"].as_array()?.iter().filter_map(Value::as_str).collect();
    let all = metadata["packages"].as_array()?;
    let names: BTreeMap<&str, &str> =
        all.iter().filter_map(|package| Some((package["id"].as_str()?, package["name"].as_str()?))).collect();
    let edges = edges(&metadata["resolve"]["nodes"])?;
    let mut packages = all
        .iter()
        .filter(|package| package["id"].as_str().is_some_and(|id| members.contains(id)))
        .map(|package| {
            let reached = reach(package["id"].as_str()?, &edges);
            let built_with = reached.iter().filter_map(|id| names.get(id)).map(ToString::to_string).collect();
            parse_package(package, root, built_with)
        })
        .collect::<Option<Vec<_>>>()?;
    packages.sort_by(|one, two| one.name.cmp(&two.name));
    Some(packages)
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn parse_package(package: &Value, root: &str, built_with: BTreeSet<String>) -> Option<Package> {
    let manifest = Path::new(package["manifest_path"].as_str()?);
    let dir = manifest.parent()?.strip_prefix(root).ok()?;
    let layer = &package["metadata"]["groundstate"]["layer"];
    Some(Package {
        name: package["name"].as_str()?.to_owned(),
        description: package["description"].as_str().unwrap_or_default().to_owned(),
        dir: dir.to_str()?.replace('\\', "/"),
        published: package["publish"].as_array().is_none_or(|registries| !registries.is_empty()),
        layer: layer.as_u64().map(Layer::In).or_else(|| (layer == "beside").then_some(Layer::Beside)),
        rust_version: package["rust_version"].as_str().map(str::to_owned),
        features: package["features"].as_object()?.keys().cloned().collect(),
        dependencies: package["dependencies"]
            .as_array()?
            .iter()
            .map(parse_dependency)
            .collect::<Option<_>>()?,
        built_with,
    })
}

fn parse_dependency(dependency: &Value) -> Option<Dependency> {
    Some(Dependency {
        name: dependency["name"].as_str()?.to_owned(),
        dev: dependency["kind"] == "dev",
        optional: dependency["optional"].as_bool()?,
        features: dependency["features"].as_array().into_iter().flatten().filter_map(text).collect(),
    })
}

/// For each package the packages it is built with directly, by id.
fn edges(nodes: &Value) -> Option<BTreeMap<&str, Vec<&str>>> {
    let mut edges = BTreeMap::new();
    for node in nodes.as_array()? {
        let targets = node["deps"]
            .as_array()?
            .iter()
            .filter(|dep| {
                dep["dep_kinds"].as_array().is_some_and(|kinds| kinds.iter().any(|k| k["kind"] != "dev"))
            })
            .filter_map(|dep| dep["pkg"].as_str())
            .collect();
        edges.insert(node["id"].as_str()?, targets);
    }
    Some(edges)
}

fn reach<'a>(start: &'a str, edges: &BTreeMap<&'a str, Vec<&'a str>>) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        for &to in edges.get(at).into_iter().flatten() {
            if seen.insert(to) {
                open.push(to);
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::{Layer, parse};

    #[test]
    fn packages_are_read_with_everything_they_are_built_with() {
        let metadata = serde_json::json!({
            "workspace_root": "/ws",
            "workspace_members": ["a", "x"],
            "packages": [
                {"id": "x", "name": "xtask", "manifest_path": "/ws/xtask/Cargo.toml", "publish": [], "features": {},
                 "dependencies": [], "metadata": null, "description": null},
                {"id": "a", "name": "a", "manifest_path": "/ws/crates/a/Cargo.toml", "publish": null,
                 "features": {"default": ["os"], "os": []}, "metadata": {"groundstate": {"layer": 2}}, "description": "does a",
                 "dependencies": [{"name": "b", "kind": null, "optional": true},
                                  {"name": "d", "kind": "dev", "optional": false, "features": ["x"]}]},
                {"id": "b", "name": "b"}, {"id": "c", "name": "c"}, {"id": "d", "name": "d"},
            ],
            "resolve": {"nodes": [
                {"id": "a", "deps": [{"pkg": "b", "dep_kinds": [{"kind": null}]},
                                     {"pkg": "d", "dep_kinds": [{"kind": "dev"}]}]},
                {"id": "b", "deps": [{"pkg": "c", "dep_kinds": [{"kind": "dev"}, {"kind": "build"}]}]},
            ]},
        });
        let packages = parse(&metadata).unwrap();
        let [a, xtask] = packages.as_slice() else { panic!("two members, found {packages:?}") };
        assert_eq!((a.dir.as_str(), a.published, a.layer), ("crates/a", true, Some(Layer::In(2))));
        assert_eq!((&*a.features.join(" "), &*a.description), ("default os", "does a"));
        assert_eq!(a.built_with.iter().collect::<Vec<_>>(), ["b", "c"]);
        assert_eq!(
            a.dependencies.iter().map(|d| (d.dev, d.optional, d.features.len())).collect::<Vec<_>>(),
            [(false, true, 0), (true, false, 1)]
        );
        assert_eq!((xtask.dir.as_str(), xtask.published, xtask.layer), ("xtask", false, None));
    }
}
