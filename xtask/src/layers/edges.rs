//! Which package may depend on which.

use super::PURE;
use crate::finding::Finding;
use crate::workspace::{Layer, Package};

const HIGHEST: u64 = 6;
/// The families, and those that each may be built with.
const FAMILIES: [(&str, &[&str]); 5] = [
    ("base", &["base"]),
    ("storage", &["base", "storage"]),
    ("terraform", &["base", "storage", "terraform"]),
    ("pulumi", &["base", "storage", "pulumi"]),
    ("programs", &["base", "storage", "terraform", "pulumi", "programs"]),
];
/// What nothing in the pure layers is built with, however far down.
const NOT_BUILT_WITH: [&str; 2] = ["async-trait", "tokio"];
/// What no crate of the pure layers names, unless behind a feature.
const NOT_NAMED: [&str; 2] = ["getrandom", "rand"];

pub(super) fn check(packages: &[Package]) -> Vec<Finding> {
    packages.iter().flat_map(|package| check_package(package, packages)).collect()
}

fn check_package(package: &Package, packages: &[Package]) -> Vec<Finding> {
    let path = format!("{}/Cargo.toml", package.dir);
    let mut findings = Vec::new();
    let mut find = |rule, message: String| findings.push(Finding::new(&path, rule, message));
    if package.dir.starts_with("crates/") && !package.layer.is_some_and(is_known) {
        find(
            "layer",
            format!(
                "`[package.metadata.groundstate] layer` is none of 0 to {HIGHEST} and \"beside\", add it"
            ),
        );
    }
    for dependency in package.dependencies.iter().filter(|dependency| !dependency.dev) {
        if let Some(target) = packages.iter().find(|other| other.name == dependency.name) {
            if let Some(message) = wrong_edge(package, target) {
                find("edge", message);
            }
            if let Some(message) = wrong_family(package, target) {
                find("family", message);
            }
        } else if is_pure(package) && !dependency.optional && NOT_NAMED.contains(&dependency.name.as_str()) {
            find(
                "dependency",
                format!("`{}` brings randomness into a pure layer, put it behind a feature", dependency.name),
            );
        }
    }
    for name in
        NOT_BUILT_WITH.into_iter().filter(|name| is_pure(package) && package.built_with.contains(*name))
    {
        find("dependency", format!("it is built with `{name}`, but layers 0 to {PURE} are not asynchronous"));
    }
    findings
}

/// What is wrong about one package being built with another.
fn wrong_edge(from: &Package, to: &Package) -> Option<String> {
    let allowed = match (from.layer, to.layer) {
        // Programs for development may use each other: they are not published, so no user builds one with the other.
        (Some(Layer::Beside), Some(Layer::Beside)) => !from.published,
        (_, Some(Layer::Beside) | None) => false,
        // Cargo keeps the edges inside a layer free of circles.
        (Some(Layer::In(above)), Some(Layer::In(below))) => below <= above,
        // The tests of the workspace and what is beside the layers may use all of them; xtask builds alone.
        (Some(Layer::Beside) | None, Some(Layer::In(_))) => from.name != "xtask",
    };
    let layer = |package: &Package| match package.layer {
        Some(Layer::In(number)) => format!("layer {number}"),
        Some(Layer::Beside) => "beside the layers".to_owned(),
        None => "no layer".to_owned(),
    };
    (!allowed).then(|| {
        format!("it depends on `{}` ({}) from {}, but no edge points up", to.name, layer(to), layer(from))
    })
}

/// What is wrong about a crate of one family being built with one of another.
fn wrong_family(from: &Package, to: &Package) -> Option<String> {
    let (above, below) = (family(from)?, family(to)?);
    let (_, allowed) = FAMILIES.iter().find(|(name, _)| *name == above)?;
    (!allowed.contains(&below)).then(|| {
        format!(
            "it depends on `{}` of {below}, but {above} is built with {} only",
            to.name,
            allowed.join(", ")
        )
    })
}

/// The folder below `crates` that a package lies in.
fn family(package: &Package) -> Option<&str> {
    package.dir.strip_prefix("crates/")?.split_once('/').map(|(family, _)| family)
}

fn is_known(layer: Layer) -> bool {
    !matches!(layer, Layer::In(number) if number > HIGHEST)
}

/// Tells whether the package lies in a layer of pure logic.
pub(super) fn is_pure(package: &Package) -> bool {
    matches!(package.layer, Some(Layer::In(number)) if number <= PURE)
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::layers::example::package;
    use crate::workspace::{Layer, Package};

    fn in_layer(name: &str, layer: u64, dependencies: &[&str]) -> Package {
        package(name, Some(Layer::In(layer)), dependencies)
    }

    fn found(packages: &[Package]) -> Vec<String> {
        check(packages).iter().map(|finding| format!("{} {}", finding.rule, finding.path)).collect()
    }

    #[test]
    fn edges_that_point_up_are_found() {
        let low = in_layer("low", 1, &[]);
        for (layer, dependency, expected) in [
            (1, "groundstate-low", &[][..]),
            (6, "groundstate-low", &[]),
            (0, "groundstate-low", &["edge crates/top/Cargo.toml"]),
            (0, "optional groundstate-low", &["edge crates/top/Cargo.toml"]),
            (0, "dev groundstate-low", &[]),
        ] {
            assert_eq!(
                found(&[low.clone(), in_layer("top", layer, &[dependency])]),
                expected,
                "{layer} {dependency}"
            );
        }
        let up = [in_layer("low", 0, &["groundstate-top"]), in_layer("top", 3, &[])];
        assert_eq!(found(&up), ["edge crates/low/Cargo.toml"]);
    }

    #[test]
    fn edges_between_families_are_found() {
        let member_of = |family: &str, mut package: Package| {
            package.dir = format!("crates/{family}/{}", package.name);
            package
        };
        for (above, below, is_allowed) in [
            ("terraform", "pulumi", false),
            ("pulumi", "terraform", false),
            ("base", "terraform", false),
            ("storage", "pulumi", false),
            ("base", "storage", false),
            ("terraform", "storage", true),
            ("pulumi", "base", true),
            ("programs", "pulumi", true),
        ] {
            let low = member_of(below, in_layer("low", 1, &[]));
            let top = member_of(above, in_layer("top", 2, &["groundstate-low"]));
            assert_eq!(found(&[low, top]).is_empty(), is_allowed, "{above} {below}");
        }
    }

    #[test]
    fn crates_without_a_known_layer_are_found() {
        for (layer, expected) in [
            (None, &["layer crates/a/Cargo.toml"][..]),
            (Some(Layer::In(7)), &["layer crates/a/Cargo.toml"]),
            (Some(Layer::In(6)), &[]),
            (Some(Layer::Beside), &[]),
        ] {
            assert_eq!(found(&[package("a", layer, &[])]), expected, "{layer:?}");
        }
    }

    #[test]
    fn what_is_beside_the_layers_is_only_a_dev_dependency() {
        let beside = package("testkit", Some(Layer::Beside), &["groundstate-low"]);
        let low = in_layer("low", 0, &[]);
        let program =
            Package { published: false, ..package("bench", Some(Layer::Beside), &["groundstate-testkit"]) };
        assert_eq!(found(&[beside.clone(), low.clone(), program.clone()]), [""; 0]);
        let library = Package { published: true, ..program };
        assert_eq!(found(&[beside.clone(), low.clone(), library]).len(), 1);
        let dev = in_layer("top", 6, &["dev groundstate-testkit"]);
        let normal = in_layer("top", 6, &["groundstate-testkit"]);
        assert_eq!(found(&[beside.clone(), low.clone(), dev]), [""; 0]);
        assert_eq!(found(&[beside, low, normal]), ["edge crates/top/Cargo.toml"]);
    }

    #[test]
    fn xtask_is_built_alone() {
        let mut xtask = package("x", None, &["groundstate-low"]);
        xtask.name = "xtask".to_owned();
        xtask.dir = "xtask".to_owned();
        assert_eq!(found(&[xtask, in_layer("low", 0, &[])]), ["edge xtask/Cargo.toml"]);
    }

    #[test]
    fn pure_layers_are_built_without_a_runtime_and_without_randomness() {
        for (layer, built_with, dependency, expected) in [
            (2, "tokio", "serde", &["dependency crates/a/Cargo.toml"][..]),
            (0, "async-trait", "serde", &["dependency crates/a/Cargo.toml"]),
            (3, "tokio", "rand", &[]),
            (2, "serde", "rand", &["dependency crates/a/Cargo.toml"]),
            (0, "serde", "optional getrandom", &[]),
            (0, "serde", "dev rand", &[]),
        ] {
            let mut package = in_layer("a", layer, &[dependency]);
            package.built_with.insert(built_with.to_owned());
            assert_eq!(found(&[package]), expected, "{layer} {built_with} {dependency}");
        }
    }
}
