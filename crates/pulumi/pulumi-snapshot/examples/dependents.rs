//! Who could not stay if a resource went: `cargo run -p groundstate-pulumi-snapshot --example dependents`.

#![expect(clippy::print_stdout, reason = "it is a program")]

use groundstate_pulumi_snapshot::{DependencyGraph, GraphError, Resource, Snapshot, Urn};

fn main() -> Result<(), GraphError> {
    let urn = |name: &str| Urn::build("prod", "shop", "", "pkg:index:Thing", name);
    let edges = [("network", &[][..]), ("database", &["network"]), ("app", &["database"]), ("bucket", &[])];
    let resources = edges.map(|(name, needs)| {
        let mut resource = Resource::new(urn(name), "pkg:index:Thing");
        resource.dependencies = needs.iter().map(|need| urn(need)).collect();
        resource
    });
    let snapshot = Snapshot::new(resources);
    let graph = DependencyGraph::new(&snapshot.resources)?;
    for (index, resource) in snapshot.indexed() {
        let others = graph.only_depends_on(index);
        let others: Vec<&str> =
            others.iter().filter_map(|at| snapshot.resource(*at)).map(|other| other.urn.name()).collect();
        println!("without {}: {}", resource.urn.name(), others.join(", "));
    }
    Ok(())
}
