//! What `-v`, `-vv` and `--log-format` show of operations on stores.

use groundstate_testkit::{Answer, Fault, S3Locks, TestBackend};
use serde_json::Value;

use super::remote::{Work, everywhere};
use super::support::{Run, command, groundstate, resource, state, with_resources};

/// The lines of a run that are events.
pub(crate) fn events(run: &Run) -> Vec<&str> {
    let is_event =
        |line: &&str| line.starts_with('{') || line.contains(" DEBUG ") || line.contains(" TRACE ");
    run.stderr.lines().filter(is_event).collect()
}

/// The events of a run with `--log-format json`, which are all that it says.
#[track_caller]
fn objects(run: &Run) -> Vec<Value> {
    let object = |line: &str| {
        let value: Value = serde_json::from_str(line)
            .unwrap_or_else(|error| panic!("{error} in {line:?} of {}", run.stderr));
        assert!(value.is_object(), "{line}");
        value
    };
    run.stderr.lines().map(object).collect()
}

/// The spans of this name that have ended, with their fields.
fn ended<'o>(objects: &'o [Value], name: &str) -> Vec<&'o Value> {
    let is_end = |object: &&Value| object["message"] == "close" && object["span"]["name"] == name;
    objects.iter().filter(is_end).map(|object| &object["span"]).collect()
}

fn one_resource() -> String {
    with_resources(&resource("a", "one", "{}"))
}

#[test]
fn nothing_is_shown_unless_it_is_asked_for() {
    let file = state(one_resource());
    let mut quiet = command(&["mv", &file.path, "a.one", "a.two"]);
    let quiet = Run::of(quiet.env("RUST_LOG", "trace").output().unwrap());
    assert_eq!((quiet.code, &*quiet.stderr), (0, ""));
}

#[test]
fn shows_each_operation_on_a_file_and_leaves_the_result_alone() {
    let (file, other) = (state(one_resource()), state(one_resource()));
    let expected = groundstate(&["mv", &other.path, "a.one", "a.two"]).clean();
    let run = groundstate(&["mv", &file.path, "a.one", "a.two", "-v"]);
    assert_eq!((run.code, file.mask(&run.stdout)), (0, other.mask(&expected)));
    let lines = events(&run);
    assert_eq!(lines.len(), run.stderr.lines().count(), "{}", run.stderr);
    let place = format!("place={:?}", file.path);
    for op in ["lock", "read", "write", "unlock"] {
        let line = lines.iter().find(|line| line.contains(&format!("state{{op={op:?} {place}")));
        assert!(line.is_some_and(|line| line.contains("time.busy=")), "{op}: {}", run.stderr);
    }
    let change =
        lines.iter().find(|line| line.contains("manager{op=\"change\"") && line.contains(" serial="));
    assert!(change.is_some_and(|line| line.contains(&place)), "{}", run.stderr);
    assert!(!lines.iter().any(|line| line.contains(" TRACE ")), "{}", run.stderr);
}

#[test]
fn each_line_is_an_object_with_json() {
    let file = state(one_resource());
    for args in [&["--log-format", "json"][..], &["-v", "--log-format=json"], &["-vv", "--log-format=json"]] {
        let run = groundstate(&[&["taint", &file.path, "a.one"], args].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        let objects = objects(&run);
        let states = ended(&objects, "state");
        let of = |op: &str| *states.iter().find(|span| span["op"] == op).unwrap_or_else(|| panic!("{op}"));
        assert!(states.iter().all(|span| span["place"] == *file.path), "{states:?}");
        let id = of("lock")["lock"].as_str().expect("a lock has an id");
        assert_eq!((id.len(), of("unlock")["lock"].as_str()), (36, Some(id)), "{states:?}");
        assert!(of("read")["version"].is_string() && of("write")["version"].is_string(), "{states:?}");
        assert_ne!(of("read")["version"], of("write")["version"]);
        let manager = ended(&objects, "manager");
        assert!(manager.iter().any(|span| span["serial"].is_u64() && span["lock"] == id), "{manager:?}");
        assert_eq!(groundstate(&["untaint", &file.path, "a.one"]).code, 0);
    }
}

#[test]
fn failures_have_their_kind() {
    let file = state(one_resource());
    let program = env!("CARGO_BIN_EXE_groundstate");
    let inner = [program, "rm", &file.path, "a.one", "-v"];
    let run = groundstate(&[&["lock", &file.path, "--"], &inner[..]].concat());
    assert_eq!(run.code, 8, "{}", run.stderr);
    let lines = events(&run);
    assert!(
        lines.iter().any(|line| line.contains("op=\"lock\"") && line.contains("error=Locked")),
        "{}",
        run.stderr
    );
}

#[test]
fn shows_operations_and_requests_in_every_store() {
    for work in everywhere().into_iter().chain([Work::new(TestBackend::azurerm_here())]) {
        work.push(&["one"]);
        let kind = work.place.kind();
        let run = work.run(&["taint", ".", "a.one", "--log-format", "json", "-vv", "--backup", "-"]);
        assert_eq!(run.code, 0, "{kind}: {}", run.stderr);
        let objects = objects(&run);
        let opened = objects.iter().find(|object| object["message"] == "opened a backend");
        assert_eq!(opened.expect("a backend is opened")["kind"], kind);
        let states = ended(&objects, "state");
        for op in ["lock", "read", "write", "unlock"] {
            assert!(states.iter().any(|span| span["op"] == op), "{kind} {op}: {}", run.stderr);
        }
        let blobs = ended(&objects, "blob");
        assert!(blobs.iter().any(|span| span["op"] == "write" && span["version"].is_string()), "{blobs:?}");
        let requests = ended(&objects, "request");
        assert!(!requests.is_empty(), "{kind}");
        for request in &requests {
            let has_all = ["method", "host"].iter().all(|field| request[field].is_string());
            assert!(has_all && request["status"].is_u64(), "{kind}: {request}");
        }
        let quieter = work.run(&["untaint", ".", "a.one", "-v", "--backup", "-"]);
        let lines = events(&quieter);
        assert!(
            quieter.code == 0 && lines.iter().any(|line| line.contains("blob{op=")),
            "{}",
            quieter.stderr
        );
        assert!(!quieter.stderr.contains("request{"), "{}", quieter.stderr);
    }
}

#[test]
fn a_request_that_is_repeated_has_its_attempts() {
    for work in [Work::new(TestBackend::s3_here(S3Locks::File)), Work::new(TestBackend::gcs_here())] {
        work.push(&["one"]);
        let server = work.place.server().expect("a server of the test kit");
        server.fault(Fault::refuse(503, "SlowDown", None).on("GET", "*.tfstate*").times(2));
        let run = work.run(&["pull", ".", "-vv", "--log-format", "json"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let objects = objects(&run);
        let waits: Vec<(u64, bool)> = objects
            .iter()
            .filter(|object| object["message"] == "waiting before another attempt")
            .map(|wait| (wait["attempt"].as_u64().unwrap_or(0), wait["delay"].is_number()))
            .collect();
        assert_eq!(waits, [(2, true), (3, true)], "{}", run.stderr);
        let reads = ended(&objects, "blob");
        assert!(reads.iter().any(|span| span["op"] == "read" && span["attempt"] == 3), "{reads:?}");
        let inside = |attempt: &Value, status: u64| {
            objects.iter().any(|object| {
                object["span"]["name"] == "request"
                    && object["span"]["status"] == status
                    && object["spans"].as_array().is_some_and(|spans| {
                        spans.iter().any(|span| span["name"] == "blob" && span["attempt"] == *attempt)
                    })
            })
        };
        let [first, second, third] = [Value::Null, 2.into(), 3.into()];
        assert!(inside(&first, 503) && inside(&second, 503) && inside(&third, 200), "{}", run.stderr);
    }
}

#[test]
fn names_of_other_programs_forge_no_line() {
    let forged = "x\n2026-01-01T00:00:00.000000Z DEBUG state{op=\"forged\"}\r\u{1b}[2K\u{85}\u{202e}\u{2028}";
    let file = state(one_resource());
    let work = Work::new(TestBackend::s3_here(S3Locks::File));
    work.push(&["one"]);
    // The document of a lock is another program's.
    let document = serde_json::json!({"ID": forged, "Operation": forged, "Info": forged, "Who": forged,
        "Version": "1", "Created": "2026-01-01T00:00:00Z", "Path": forged});
    let shown = Answer::new(200).header("etag", "\"1\"").text(&document.to_string());
    let server = work.place.server().expect("a server of the test kit");
    server.fault(Fault::instead(shown).on("GET", "*.tflock"));
    server.fault(Fault::refuse(412, "PreconditionFailed", None).on("PUT", "*.tflock"));
    for format in ["text", "json"] {
        let options = ["-vv", "--log-format", format];
        let runs = [
            groundstate(&[&["unlock", &file.path, forged], &options[..]].concat()),
            work.run(&[&["unlock", ".", &format!("{forged}!")], &options[..]].concat()),
            work.run(&[&["locks", "."], &options[..]].concat()),
            work.run(&[&["rm", ".", "a.one"], &options[..]].concat()),
        ];
        for run in &runs {
            assert!(!run.stderr.lines().any(|line| line.starts_with("2026-01-01")), "{:?}", run.stderr);
            let hidden = |c: char| c != '\n' && (c.is_control() || "\u{202e}\u{2028}".contains(c));
            assert!(!run.stderr.contains(hidden), "{:?}", run.stderr);
        }
        let told = runs.iter().filter(|run| events(run).iter().any(|line| line.contains("forged"))).count();
        assert!(told >= 2, "{format}: the id is in events");
    }
}
