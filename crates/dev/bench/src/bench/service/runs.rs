//! Whole runs of the real `pulumi up`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use groundstate_testkit::{PulumiPlace, PulumiProject, pulumi_takes_part};

use crate::bench::child::{Ended, measure_for};
use crate::bench::nodes::{Kind, Nodes, Place, Program};
use crate::bench::{Failure, Outcome};

/// How an update sends what it did.
struct Way {
    name: &'static str,
    /// Whether the CLI may send entries.
    journal: bool,
    /// The settings of the service; none for the CLI's own backend in a folder.
    service: Option<&'static [&'static str]>,
}

const WAYS: [Way; 4] = [
    Way { name: "the service, journal", journal: true, service: Some(&[]) },
    Way { name: "the service, differences", journal: false, service: Some(&["pulumi.deltas_from=1B"]) },
    Way { name: "the service, whole checkpoints", journal: false, service: Some(&[]) },
    Way { name: "the CLI's file backend", journal: true, service: None },
];

/// Runs an update of so many resources in each way; one that takes longer than there is patience is stopped.
pub(super) fn measure(program: &Program, resources: &[usize], patience: u64) -> Outcome {
    if !pulumi_takes_part() {
        return Ok(());
    }
    println!(
        "\n| `pulumi up` | resources | time | processor time of pulumi | peak of the server, MB | stored, MB |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for count in resources {
        for way in &WAYS {
            measure_way(program, way, *count, patience)?;
        }
    }
    Ok(())
}

fn measure_way(program: &Program, way: &Way, count: usize, patience: u64) -> Outcome {
    let Some(place) = Place::fresh(Kind::Directory)? else { return Ok(()) };
    let Place::Directory(folder) = &place else { return Ok(()) };
    let nodes = match way.service {
        Some(settings) => Some(Nodes::start_with(program, &place, 1, settings)?),
        None => None,
    };
    let at = match &nodes {
        Some(nodes) => PulumiPlace::service(&format!("http://{}", nodes.address()), "bench"),
        None => PulumiPlace::folder(folder.path()),
    };
    let mut project = PulumiProject::new(&at);
    if !way.journal {
        project.set("PULUMI_DISABLE_JOURNALING", "true");
    }
    project.program(&stashes(count));
    project.pulumi(&["stack", "init", "dev"]).succeeds();
    let arguments = ["up", "--yes", "--skip-preview", "--stack", "dev"];
    let command = project.prepared(Command::new("pulumi"), &arguments);
    let (cost, ended) = measure_for(&command, Duration::from_secs(patience))?;
    let time = match ended {
        Ended::ByItself => format!("{:.1} s", cost.wall.as_secs_f64()),
        Ended::Stopped => format!("stopped after {:.0} s", cost.wall.as_secs_f64()),
    };
    let peak = nodes.as_ref().and_then(Nodes::peak).map_or(String::new(), megabytes);
    println!(
        "| {} | {count} | {time} | {:.1} s | {peak} | {} |",
        way.name,
        cost.processor().as_secs_f64(),
        megabytes(stored(folder.path())?),
    );
    Ok(())
}

fn stashes(count: usize) -> String {
    let mut text = "resources:\n".to_owned();
    for number in 0..count {
        // Writing into a string cannot fail.
        let _written =
            writeln!(text, "  n{number}: {{ type: \"pulumi:Stash\", properties: {{ input: v{number} }} }}");
    }
    text
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}

/// What the files below a folder have in bytes.
fn stored(folder: &Path) -> Outcome<u64> {
    let failed = |source| Failure::Read { path: folder.to_owned(), source };
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let meta = entry.metadata().map_err(failed)?;
        bytes += if meta.is_dir() { stored(&entry.path())? } else { meta.len() };
    }
    Ok(bytes)
}
