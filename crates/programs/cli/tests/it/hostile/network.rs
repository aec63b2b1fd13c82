//! Servers that lead elsewhere or send without end, while the command holds a lock.

use groundstate_testkit::{Answer, Fault, Recorder};

use crate::remote::everywhere;

/// An answer that promises a tebibyte, and sends as much of it as anybody takes.
fn tebibyte() -> Answer {
    Answer::new(200).header("etag", "\"1\"").body(vec![b' '; 1 << 16]).declaring(1 << 40).endless()
}

#[test]
fn a_redirect_takes_nothing_elsewhere() {
    for work in everywhere() {
        for (method, pattern) in [("GET", "*.tfstate"), ("PUT", "*.tfstate"), ("PUT", "*.tflock")] {
            work.push(&["one", "two"]);
            let before = work.stored();
            let thief =
                Recorder::start(Answer::new(200).header("etag", "\"1\"").header("x-goog-generation", "1"));
            let server = work.place.server().expect("it is a server of the test kit");
            let elsewhere = Answer::new(307).header("location", format!("{}/x", thief.endpoint()));
            server.clear_requests();
            server.fault(Fault::instead(elsewhere).on(method, pattern));
            let run = work.run(&["rm", ".", "a.one"]);
            server.clear_faults();
            // Places that lock in a table alone have no object to lock.
            let was_met = server.requests().iter().any(|request| request.status == Some(307));
            assert!(was_met || pattern == "*.tflock", "{method} {pattern}");
            if was_met {
                assert!((1..10).contains(&run.code), "{method} {pattern}: {} {}", run.code, run.stderr);
                assert_eq!(work.stored(), before, "{method} {pattern}");
            }
            assert_eq!(thief.requests().len(), 0, "{method} {pattern}");
            assert_eq!(work.place.locks().len(), 0, "{method} {pattern}: {}", run.stderr);
        }
    }
}

#[test]
fn an_answer_without_end_leaves_no_lock() {
    for work in everywhere() {
        work.push(&["one", "two"]);
        let server = work.place.server().expect("it is a server of the test kit");
        server.fault(Fault::instead(tebibyte()).on("GET", "*.tfstate"));
        let run = work.run(&["rm", ".", "a.one"]);
        server.clear_faults();
        assert!((1..=12).contains(&run.code), "{} {}", run.code, run.stderr);
        assert!(run.stderr.contains("GROUNDSTATE_MAX_STATE_SIZE"), "{}", run.stderr);
        assert_eq!(work.place.locks().len(), 0, "{}", run.stderr);
        server.fault(Fault::instead(tebibyte()).on("PUT", "*.tfstate"));
        let run = work.run(&["rm", ".", "a.one"]);
        server.clear_faults();
        assert!((1..=12).contains(&run.code), "{} {}", run.code, run.stderr);
        assert_eq!(work.place.locks().len(), 0, "{}", run.stderr);
    }
}

#[test]
fn a_limit_of_the_user_counts() {
    for work in everywhere() {
        work.push(&["one", "two"]);
        let size = work.stored().expect("it was pushed").len();
        for (limit, code) in [(size, 0), (size - 1, 5)] {
            let run = work.run_with(&["list", "."], &[("GROUNDSTATE_MAX_STATE_SIZE", &limit.to_string())]);
            assert_eq!(run.code, code, "{}", run.stderr);
        }
    }
}
