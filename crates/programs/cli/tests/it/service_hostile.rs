//! What is no Pulumi service, and services that lie.

use std::net::TcpListener;

use groundstate_testkit::{Answer, Fault, Ran, Recorder, Request};

use super::support;

const STATE: &str = r#"{"version":3,"deployment":{"manifest":{"time":"2026-01-01T00:00:00Z","magic":"","version":""},"resources":[{"urn":"urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev","type":"pulumi:pulumi:Stack","custom":false,"outputs":{"x":"one"}}]}}"#;

/// Runs the command for a user who has logged in at this address.
fn run(url: &str, args: &[&str]) -> Ran {
    let mut command = support::command(args);
    // What cannot be stored is kept in the folder that the command runs in.
    let folder = tempfile::tempdir().unwrap();
    command.current_dir(folder.path());
    command.env("PULUMI_BACKEND_URL", url).env("PULUMI_ACCESS_TOKEN", "hush-token");
    Ran::of("groundstate", args, command.output().unwrap())
}

fn address(url: &str) -> String {
    format!("pulumi+{url}#acme/shop/dev")
}

/// A service with one stack, whose versions the number of its requests decides.
fn service(version: impl Fn(usize) -> u64 + Send + Sync + 'static) -> Recorder {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    Recorder::answering(move |request: &Request| {
        let path = request.path();
        match (request.method(), path.rsplit('/').next().unwrap_or_default()) {
            ("GET", "dev") => {
                let number = asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                Answer::new(200).body(format!(
                    r#"{{"id":"1","orgName":"acme","projectName":"shop","stackName":"dev","activeUpdate":"u","version":{}}}"#,
                    version(number)
                ))
            }
            ("GET", "export") => Answer::new(200).body(STATE),
            ("POST", "import") => Answer::new(200).body(r#"{"updateId":"u-1"}"#),
            ("GET", "u-1") => Answer::new(200).body(r#"{"status":"succeeded","continuationToken":null}"#),
            _ => Answer::new(404).body(r#"{"code":404,"message":"no such thing"}"#),
        }
    })
}

#[test]
fn what_is_no_service_is_said_and_no_token_is_shown() {
    let elsewhere = Recorder::start(Answer::new(200).body(STATE));
    for (answer, why) in [
        (Answer::new(200).header("content-type", "text/html").body("<html>"), "none of a Pulumi service"),
        (Answer::new(404).text("404 page not found"), "no document of a Pulumi service"),
        (Answer::new(401).body(r#"{"code":401,"message":"no\u001b[31m hush-token"}"#), "pulumi login"),
        (Answer::new(302).header("location", elsewhere.endpoint()), "redirects"),
        (Answer::new(200).body(vec![b' '; 1 << 12]).endless(), "more than"),
    ] {
        let server = Recorder::start(answer);
        for verb in [&["list"][..], &["history"], &["stacks", "tags"]] {
            let refused = run(&server.endpoint(), &[verb, &[&*address(&server.endpoint())]].concat());
            assert!(refused.stderr.contains(why), "{verb:?}: {refused}");
            assert!(!refused.stderr.contains("hush") && !refused.stderr.contains('\u{1b}'), "{refused}");
        }
    }
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn no_token_goes_to_an_address_that_the_user_has_not_logged_in_to() {
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    stranger.set_nonblocking(true).unwrap();
    let url = format!("http://{}", stranger.local_addr().unwrap());
    let refused = run("https://pulumi.example", &["list", &address(&url)]).fails_with(11);
    assert!(
        refused.contains("there is no access token") && refused.contains(&format!("pulumi login {url}")),
        "{refused}"
    );
    // Nor does a project file decide it.
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("Pulumi.yaml"),
        format!("name: shop\nruntime: yaml\nbackend: {{ url: '{url}' }}\n"),
    )
    .unwrap();
    let place = folder.path().to_str().unwrap();
    let mut command = support::command(&["list", place, "--stack", "dev", "--trust-directory"]);
    let output = command.env("PULUMI_ACCESS_TOKEN", "hush-token").env("HOME", place).output().unwrap();
    let refused = Ran::of("groundstate", &["list"], output).fails();
    assert!(refused.contains("there is no access token"), "{refused}");
    assert!(stranger.accept().is_err(), "nothing was sent");
    for text in ["pulumi+https://ana:hush@h#o/p/s", "pulumi+https://h?hush#o/p/s"] {
        let refused = run(&url, &["list", text]).fails_with(2);
        assert!(!refused.contains("hush"), "{refused}");
    }
}

#[test]
fn a_version_that_changes_between_reading_and_writing_is_not_overwritten() {
    let edit = |server: &Recorder| {
        let url = server.endpoint();
        run(&url, &["rm", &address(&url), "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev"])
    };
    let steady = service(|_| 7);
    edit(&steady).succeeds();
    assert!(steady.requests().iter().any(|request| request.path.ends_with("/import")));
    // The lock looks first, then the read; the write sees another version.
    let moving = service(|asked| if asked < 2 { 7 } else { 8 });
    let refused = edit(&moving).fails_with(9);
    assert!(refused.contains("it has version 8 now, and version 7 was read"), "{refused}");
    assert!(!moving.requests().iter().any(|request| request.path.ends_with("/import")));
}

#[test]
fn an_import_whose_answer_is_lost_is_looked_up_and_not_sent_again() {
    let server = service(|_| 7);
    server.fault(Fault::drop_after_commit().on("POST", "*").times(1));
    let url = server.endpoint();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("state.json"), STATE.replace("one", "two")).unwrap();
    let place = address(&url);
    let args = ["push", &*place, "state.json"];
    let mut command = support::command(&args);
    command
        .current_dir(folder.path())
        .env("PULUMI_BACKEND_URL", &url)
        .env("PULUMI_ACCESS_TOKEN", "hush-token");
    let doubt = Ran::of("groundstate", &args, command.output().unwrap()).fails();
    assert!(doubt.contains("shows what is stored"), "{doubt}");
    let saved = std::fs::read_to_string(folder.path().join("errored.tfstate")).unwrap();
    assert!(saved.contains("two"), "{saved}");
    assert_eq!(server.requests().iter().filter(|request| request.method == "POST").count(), 1);
}

/// A service with one stack and this history.
fn with_history(updates: &'static str) -> Recorder {
    Recorder::answering(move |request: &Request| {
        let path = request.path();
        let body = match (request.method(), path.rsplit('/').next().unwrap_or_default()) {
            ("GET", "dev") => {
                r#"{"id":"1","orgName":"acme","projectName":"shop","stackName":"dev","activeUpdate":"","version":2}"#
                    .to_owned()
            }
            ("GET", "updates") => format!(r#"{{"updates":[{updates}]}}"#),
            ("GET", "export" | "1" | "2") => STATE.to_owned(),
            _ => return Answer::new(404).body(r#"{"code":404,"message":"no such thing"}"#),
        };
        Answer::new(200).body(body)
    })
}

#[test]
fn updates_that_cannot_be_read_are_not_left_out_of_the_history() {
    const FIRST: &str = r#"{"kind":"update","startTime":1,"message":"","environment":{},"config":{},"result":"succeeded","endTime":2,"version":1}"#;
    const NEW_KIND: &str = r#"{"kind":"hereafter","startTime":3,"message":"","environment":{},"config":{},"result":"succeeded","endTime":4,"version":2}"#;
    const NO_NUMBER: &str = r#"{"kind":"update","startTime":3,"message":"","environment":{},"config":{},"result":"succeeded","endTime":4}"#;
    const NO_TIME: &str = r#"{"kind":"hereafter","startTime":3,"version":2}"#;
    let at = |updates: &'static str, id: &str| {
        let server = with_history(updates);
        run(&server.endpoint(), &["show", &address(&server.endpoint()), "--at", id])
    };
    let both = |second: &str| -> &'static str { format!("{second},{FIRST}").leak() };
    for id in ["1", "2"] {
        assert!(at(both(NEW_KIND), id).succeeds().contains("shop-dev"), "of a kind that is not known");
        let refused = at(both(NO_NUMBER), id).fails();
        assert!(refused.contains("has no number"), "{refused}");
        let refused = at(both(NO_TIME), id).fails();
        assert!(refused.contains("version 2 cannot be read"), "{refused}");
    }
}

#[test]
fn a_history_with_an_update_that_cannot_be_read_is_no_copy_that_was_cut_off() {
    const OTHER: &str = r#"{"kind":"hereafter","startTime":3,"endTime":4,"version":1}"#;
    let server = with_history(OTHER);
    let folder = tempfile::tempdir().unwrap();
    let from = format!("pulumi+file://{}#organization/shop/dev", folder.path().display());
    let file = folder.path().join("state.json");
    std::fs::write(&file, STATE.replace("\"one\"", "\"two\"")).unwrap();
    let url = server.endpoint();
    run(&url, &["stacks", "create", &from]).succeeds();
    run(&url, &["push", &from, file.to_str().unwrap()]).succeeds();
    let refused = run(&url, &["stacks", "migrate", &from, &address(&url)]).fails_with(5);
    assert!(refused.contains("cannot be read, so nothing was written"), "{refused}");
}
