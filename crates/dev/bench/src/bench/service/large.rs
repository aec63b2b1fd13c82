//! How much memory the server needs for a stack that is large.

use std::time::{Duration, Instant};

use serde_json::json;

use super::entries::{complete, resource, send, stack, started};
use crate::bench::Outcome;
use crate::bench::nodes::{Kind, Nodes, Place, Program};

/// Something that a client does at a server.
type Step<'s> = &'s dyn Fn(&Nodes) -> Outcome;

/// Imports a stack of so many megabytes, reads it, and changes it by an update with a journal and by one that sends the whole.
pub(super) fn measure(program: &Program, megabytes: usize) -> Outcome {
    println!("\n| a stack of {megabytes} MB, in a directory | time | peak memory, MB |");
    println!("| --- | ---: | ---: |");
    let Some(place) = Place::fresh(Kind::Directory)? else { return Ok(()) };
    let stack = stack(0);
    let deployment = deployment(&stack, megabytes * 1_000_000);
    let made = Nodes::start(program, &place, 1)?;
    send(&made, None, ("POST", "/api/stacks/admin/bench"), br#"{"stackName":"s0"}"#)?;
    let steps: [(&str, Step<'_>); 4] = [
        ("import", &|nodes| import(nodes, &stack, &deployment)),
        ("export", &|nodes| send(nodes, None, ("GET", &format!("{stack}/export")), b"").map(|_| ())),
        ("an update with a journal", &|nodes| journaled(nodes, &stack)),
        ("an update with a whole checkpoint", &|nodes| whole(nodes, &stack, &deployment)),
    ];
    drop(made);
    for (what, step) in steps {
        // A process of its own, because the most memory so far never falls.
        let nodes = Nodes::start(program, &place, 1)?;
        let start = Instant::now();
        step(&nodes)?;
        let time = start.elapsed();
        let peak = nodes.peak().map_or("not known".to_owned(), |bytes| format!("{:.1}", bytes as f64 / 1e6));
        println!("| {what} | {:.2} s | {peak} |", time.as_secs_f64());
    }
    Ok(())
}

/// An untyped deployment of about so many bytes.
fn deployment(stack: &str, bytes: usize) -> Vec<u8> {
    const RESOURCE: usize = 4000;
    let filler = "x".repeat(RESOURCE / 3);
    let resources: Vec<_> =
        (0..(bytes / RESOURCE) as u64).map(|number| resource(stack, number, &filler)).collect();
    let manifest = json!({ "time": "2026-01-01T00:00:00Z", "magic": "", "version": "v3.259.0" });
    json!({ "version": 3, "deployment": { "manifest": manifest, "resources": resources } })
        .to_string()
        .into_bytes()
}

fn import(nodes: &Nodes, stack: &str, deployment: &[u8]) -> Outcome {
    let answer = send(nodes, None, ("POST", &format!("{stack}/import")), deployment)?;
    let id = answer["updateId"].as_str().unwrap_or_default();
    loop {
        let status = send(nodes, None, ("GET", &format!("{stack}/update/{id}")), b"")?;
        if status["status"] == "succeeded" {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn journaled(nodes: &Nodes, stack: &str) -> Outcome {
    let update = started(nodes, stack, true)?;
    let changed = resource(stack, 0, "changed");
    let entry = json!({
        "version": 1, "kind": 1, "sequenceID": 1, "operationID": 1, "removeOld": 0, "removeNew": null, "state": changed,
    });
    let body = json!({ "entries": [entry] }).to_string();
    send(nodes, Some(&update.1), ("PATCH", &format!("{}/journalentries", update.0)), body.as_bytes())?;
    complete(nodes, &update)
}

fn whole(nodes: &Nodes, stack: &str, deployment: &[u8]) -> Outcome {
    let update = started(nodes, stack, false)?;
    let mut body = br#"{"isInvalid":false,"#.to_vec();
    // The rest of the object: `version` and `deployment`.
    body.extend_from_slice(deployment.get(1..).unwrap_or_default());
    send(nodes, Some(&update.1), ("PATCH", &format!("{}/checkpoint", update.0)), &body)?;
    complete(nodes, &update)
}

#[cfg(test)]
mod tests {
    use super::deployment;

    #[test]
    fn deployments_have_the_size_that_was_asked_for() {
        let bytes = deployment("/a/s0", 1_000_000).len();
        assert!((900_000..1_200_000).contains(&bytes), "{bytes}");
    }
}
