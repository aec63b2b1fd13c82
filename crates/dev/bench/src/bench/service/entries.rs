//! Clients that send entries of an update, a batch after the other.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use groundstate_testkit::ask;
use serde_json::{Value, json};

use crate::bench::nodes::Nodes;
use crate::bench::server::Cycles;
use crate::bench::{Failure, Outcome};

/// What a client sends that needs no credentials.
const USER: &str = "Authorization: token bench";

/// Batches: how many were taken, and how long each took.
pub(super) type Rate = Cycles;

/// A stack at the server, under the only user there is.
pub(super) fn stack(number: usize) -> String {
    format!("/api/stacks/admin/bench/s{number}")
}

/// Sends a request of a user, or of an update by its token.
pub(super) fn send(
    nodes: &Nodes,
    token: Option<&str>,
    (method, path): (&str, &str),
    body: &[u8],
) -> Outcome<Value> {
    let failed = |why: String| Failure::Step(format!("{method} {path} at {}: {why}", nodes.name()));
    let authorization = token.map(|token| format!("Authorization: update-token {token}"));
    let headers = [authorization.as_deref().unwrap_or(USER), "Content-Type: application/json"];
    let answer = ask(nodes.address(), method, path, &headers, body);
    match answer.map_err(|error| failed(error.to_string()))? {
        // Some answers have no content.
        answer if (200..300).contains(&answer.status) => {
            Ok(serde_json::from_slice(&answer.body).unwrap_or(Value::Null))
        }
        answer => Err(failed(format!("{} {}", answer.status, String::from_utf8_lossy(&answer.body)))),
    }
}

/// An update that runs: the path below which its requests go, and its token.
pub(super) fn started(nodes: &Nodes, stack: &str, journal: bool) -> Outcome<(String, String)> {
    let missing = |what: &str| Failure::Step(format!("the server gave no {what} for {stack}"));
    let created = send(nodes, None, ("POST", &format!("{stack}/update")), b"{}")?;
    let id = created["updateID"].as_str().ok_or_else(|| missing("update"))?;
    let path = format!("{stack}/update/{id}");
    let start = if journal { json!({ "journalVersion": 1 }) } else { json!({}) };
    let started = send(nodes, None, ("POST", &path), start.to_string().as_bytes())?;
    let token = started["token"].as_str().ok_or_else(|| missing("token"))?;
    Ok((path, token.to_owned()))
}

/// Ends an update.
pub(super) fn complete(nodes: &Nodes, (path, token): &(String, String)) -> Outcome {
    let body = br#"{"status":"succeeded"}"#;
    send(nodes, Some(token), ("POST", &format!("{path}/complete")), body).map(|_| ())
}

/// The resource that an operation makes.
pub(super) fn resource(stack: &str, number: u64, filler: &str) -> Value {
    let name = stack.rsplit('/').next().unwrap_or_default();
    json!({
        "urn": format!("urn:pulumi:{name}::bench::pulumi:index:Stash::n{number}"),
        "custom": true,
        "id": format!("{number:08}-0000-4000-8000-000000000000"),
        "type": "pulumi:index:Stash",
        "inputs": { "input": filler },
        "outputs": { "input": filler, "output": filler },
    })
}

/// Entries of resources that are made, two for each, from this operation on.
fn entries(stack: &str, first: u64, count: u64, filler: &str) -> Vec<u8> {
    let common = |entry: u64, kind: u64, operation: u64| json!({ "version": 1, "kind": kind, "sequenceID": entry, "operationID": operation, "removeOld": null, "removeNew": null });
    let entries: Vec<Value> = (first..first + count)
        .flat_map(|operation| {
            let resource = resource(stack, operation, filler);
            let mut begin = common(2 * operation - 1, 0, operation);
            begin["operation"] = json!({ "resource": resource, "type": "creating" });
            let mut success = common(2 * operation, 1, operation);
            success["state"] = resource;
            [begin, success]
        })
        .collect();
    json!({ "entries": entries }).to_string().into_bytes()
}

/// Lets so many updates send entries for so many seconds. Each is that of a stack of its own, which is there when the time begins.
pub(super) fn run_updates(nodes: &Nodes, updates: usize, batch: usize, seconds: u64) -> Outcome<Rate> {
    let (ready, time) = (Barrier::new(updates + 1), Duration::from_secs(seconds));
    let operations = (batch as u64 / 2).max(1);
    let outcomes: Vec<Outcome<(Vec<f64>, Duration)>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..updates)
            .map(|number| {
                let ready = &ready;
                scope.spawn(move || {
                    let stack = stack(number);
                    let begun = begin(nodes, &stack, number);
                    ready.wait();
                    let update = begun?;
                    let (start, mut millis, mut first) = (Instant::now(), Vec::new(), 1);
                    while start.elapsed() < time {
                        let body = entries(&stack, first, operations, "a value of a usual length");
                        let sent = Instant::now();
                        let path = format!("{}/journalentries", update.0);
                        send(nodes, Some(&update.1), ("PATCH", &path), &body)?;
                        millis.push(sent.elapsed().as_secs_f64() * 1e3);
                        first += operations;
                    }
                    let elapsed = start.elapsed();
                    complete(nodes, &update)?;
                    check(nodes, &stack, first - 1)?;
                    Ok((millis, elapsed))
                })
            })
            .collect();
        ready.wait();
        let panicked = || Err(Failure::Step("a client panicked".to_owned()));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| panicked())).collect()
    });
    Cycles::of(outcomes)
}

fn begin(nodes: &Nodes, stack: &str, number: usize) -> Outcome<(String, String)> {
    let name = json!({ "stackName": format!("s{number}") }).to_string();
    send(nodes, None, ("POST", "/api/stacks/admin/bench"), name.as_bytes())?;
    started(nodes, stack, true)
}

/// What was acknowledged has to be in the state.
fn check(nodes: &Nodes, stack: &str, expected: u64) -> Outcome {
    let export = send(nodes, None, ("GET", &format!("{stack}/export")), b"")?;
    let found = export["deployment"]["resources"].as_array().map_or(0, Vec::len) as u64;
    if found == expected {
        return Ok(());
    }
    Err(Failure::Step(format!("{stack} has {found} resources, and {expected} were acknowledged")))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::entries;

    #[test]
    fn entries_have_a_number_each_and_a_resource_for_two() {
        let body: Value = serde_json::from_slice(&entries("/a/s7", 3, 2, "x")).unwrap();
        let numbers: Vec<u64> = body["entries"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["sequenceID"].as_u64().unwrap())
            .collect();
        assert_eq!(numbers, [5, 6, 7, 8]);
        assert_eq!(body["entries"][1]["state"]["urn"], "urn:pulumi:s7::bench::pulumi:index:Stash::n3");
    }
}
