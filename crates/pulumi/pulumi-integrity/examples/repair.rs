//! What is wrong with a snapshot, and what to do about it: `cargo run -p groundstate-pulumi-integrity --example repair`.

#![expect(clippy::print_stdout, reason = "it is a program")]

use groundstate_pulumi_integrity::{RepairOptions, VerifyOptions, repair, verify};
use groundstate_pulumi_snapshot::{Resource, Snapshot, Urn};

fn main() {
    let urn = |name: &str| Urn::build("prod", "shop", "", "pkg:index:Thing", name);
    let edges = [
        ("app", &["database", "queue"][..]),
        ("network", &[]),
        ("database", &["network", "app"]),
        ("network", &[]),
    ];
    let resources = edges.map(|(name, needs)| {
        let mut resource = Resource::new(urn(name), "pkg:index:Thing");
        resource.dependencies = needs.iter().map(|need| urn(need)).collect();
        resource
    });
    let snapshot = Snapshot::new(resources);

    for finding in verify(&snapshot, &VerifyOptions::default()).findings {
        println!("{finding}");
    }
    let plan = repair(&snapshot, &RepairOptions::default());
    for question in &plan.questions {
        println!("\n{}", question.text);
        for (number, choice) in question.choices.iter().enumerate() {
            let mark = if number == question.chosen { '>' } else { ' ' };
            println!("{mark} {choice}");
        }
    }
    println!();
    for step in &plan.steps {
        println!("{step}");
    }
    println!("\n{} errors are left", plan.after.of_severity(groundstate_pulumi_integrity::Severity::Error));
}
