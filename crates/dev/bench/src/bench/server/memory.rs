//! How much memory a server needs for large states that come and go at once.

use std::thread;
use std::time::{Duration, Instant};

use groundstate_testkit::ask_into;

use super::cycles::state;
use crate::bench::nodes::{Kind, Nodes, Place, Program};
use crate::bench::{Failure, Outcome};

/// Lets each program take and give so many states at once, in a directory, and prints the most memory that it had.
pub(super) fn measure(programs: &[Program], states: usize, megabytes: usize) -> Outcome {
    println!("\n| {states} states of {megabytes} MB at once, in a directory | time | peak memory, MB |");
    println!("| --- | ---: | ---: |");
    let body = state(0, 1, megabytes * 1_000_000).into_bytes();
    for program in programs {
        let Some(place) = Place::fresh(Kind::Directory)? else { continue };
        let nodes = Nodes::start(program, &place, 1)?;
        for (what, method) in [("written", "POST"), ("read", "GET")] {
            let time = match at_once(&nodes, method, states, if method == "POST" { &body } else { &[] }) {
                Ok(time) => time,
                Err(failure) if matches!(program, Program::Peer(_)) => {
                    println!("| {program}: {what} | failed: {failure} | |");
                    break;
                }
                Err(failure) => return Err(failure),
            };
            let peak =
                nodes.peak().map_or("not known".to_owned(), |bytes| format!("{:.1}", bytes as f64 / 1e6));
            println!("| {program}: {what} | {:.1} s | {peak} |", time.as_secs_f64());
        }
    }
    Ok(())
}

fn at_once(nodes: &Nodes, method: &str, states: usize, body: &[u8]) -> Outcome<Duration> {
    let start = Instant::now();
    let outcomes: Vec<Outcome> = thread::scope(|scope| {
        let ask = |number: usize| {
            let path = nodes.path(number);
            let failed = |why: String| Failure::Step(format!("{method} {path} at {}: {why}", nodes.name()));
            let send = |method, path: &str, body: &[u8]| {
                let mut nowhere = std::io::sink();
                let status = ask_into(nodes.address(), method, path, nodes.headers(), body, &mut nowhere);
                match status.map_err(|error| failed(error.to_string()))? {
                    200..300 => Ok(()),
                    status => Err(failed(status.to_string())),
                }
            };
            if method != "POST" {
                return send(method, &path, body);
            }
            // The peer takes no state without a lock.
            let id = format!("{number:08}-0000-4000-8000-000000000000");
            send("LOCK", &path, format!(r#"{{"ID":"{id}","Who":"bench@bench"}}"#).as_bytes())?;
            send(method, &format!("{path}?ID={id}"), body)
        };
        let threads: Vec<_> = (0..states).map(|number| scope.spawn(move || ask(number))).collect();
        let panicked = || Err(Failure::Step("a client panicked".to_owned()));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| panicked())).collect()
    });
    outcomes.into_iter().collect::<Outcome>()?;
    Ok(start.elapsed())
}
