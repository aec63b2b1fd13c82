//! What goes over the wire, and what is read of an answer.

use std::collections::BTreeMap;

use groundstate_pulumi_http::protocol::{AppendVersion, JsonText, StackPath, UpdateKind};
use groundstate_pulumi_http::{ErrorKind, StackFilter};
use groundstate_testkit::{Answer, Fault, Recorder};

use crate::support::{TOKEN, sent, service, stack};

#[tokio::test]
async fn every_call_brings_the_token_and_says_which_protocol_it_speaks() {
    let server = Recorder::start(Answer::new(200).body(r#"{"githubLogin":"ana","organizations":null}"#));
    assert_eq!(service(&server).user().await.unwrap().github_login, "ana");
    let requests = server.requests();
    assert_eq!(requests[0].header("authorization"), Some(format!("token {TOKEN}").as_str()));
    assert_eq!(requests[0].header("accept"), Some("application/vnd.pulumi+9"));
    assert_eq!(sent(&server), ["GET /api/user"]);
    assert!(!format!("{:?}", service(&server)).contains(TOKEN));
}

#[tokio::test]
async fn stacks_are_listed_page_by_page_by_all_filters() {
    let server = Recorder::answering(|request| match request.parameter("continuationToken").as_deref() {
        None => Answer::new(200).body(r#"{"stacks":[{"stackName":"a"}],"continuationToken":"x&y"}"#),
        Some("x&y") => Answer::new(200).body(r#"{"stacks":[{"stackName":"b","lastUpdate":0}]}"#),
        Some(_) => Answer::new(400),
    });
    let filter =
        StackFilter::default().organization("acme").project("shop").tag("team", Some("a b".to_owned()));
    let found = service(&server).stacks(&filter).await.unwrap();
    assert_eq!(found.iter().map(|stack| &*stack.stack_name).collect::<Vec<_>>(), ["a", "b"]);
    let first = "GET /api/user/stacks?organization=acme&project=shop&tagName=team&tagValue=a+b";
    assert_eq!(sent(&server), [first.to_owned(), format!("{first}&continuationToken=x%26y")]);
}

#[tokio::test]
async fn pages_that_do_not_end_are_refused() {
    let server = Recorder::start(Answer::new(200).body(r#"{"stacks":[],"continuationToken":"again"}"#));
    let error = service(&server).stacks(&StackFilter::default()).await.unwrap_err();
    assert_eq!((error.kind(), server.requests().len()), (ErrorKind::NotService, 2), "{error}");
}

#[tokio::test]
async fn stacks_are_made_renamed_tagged_and_removed_by_the_requests_of_pulumi() {
    let server = Recorder::start(Answer::new(200).body("{}"));
    let stack = service(&server).stack(StackPath::new("acme", "my shop", "prod"));
    let tags = BTreeMap::from([("team".to_owned(), "a".to_owned())]);
    stack.create(tags.clone(), None).await.unwrap();
    stack.set_tags(&tags).await.unwrap();
    let renamed = stack.rename("live", None).await.unwrap();
    assert_eq!(renamed.path(), &StackPath::new("acme", "my shop", "live"));
    renamed.remove(true).await.unwrap();
    stack.cancel("u-1").await.unwrap();
    assert_eq!(
        sent(&server),
        [
            "POST /api/stacks/acme/my-shop",
            "PATCH /api/stacks/acme/my-shop/prod/tags",
            "POST /api/stacks/acme/my-shop/prod/rename",
            "DELETE /api/stacks/acme/my-shop/live?force=true",
            "POST /api/stacks/acme/my-shop/prod/update/u-1/cancel",
        ]
    );
    let bodies: Vec<String> =
        server.requests().iter().map(|request| String::from_utf8_lossy(&request.body).into_owned()).collect();
    assert_eq!(bodies[0], r#"{"stackName":"prod","tags":{"team":"a"}}"#);
    assert_eq!(bodies[2], r#"{"newName":"live","newProject":"my shop"}"#);
    let wrong = BTreeMap::from([("a b".to_owned(), String::new())]);
    assert_eq!(stack.set_tags(&wrong).await.unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(server.requests().len(), 5, "what breaks the rules is not sent");
}

#[tokio::test]
async fn states_of_any_version_are_the_bytes_of_the_service() {
    let server = Recorder::answering(|request| {
        let version = request.path().rsplit('/').next().unwrap_or_default().to_owned();
        Answer::new(200)
            .body(format!(r#"{{ "version": 3, "x": "{version}", "deployment": {{ "a": 1.0 }} }}"#))
    });
    let stack = stack(&server);
    assert!(stack.export().await.unwrap().starts_with(br#"{ "version": 3, "x": "export","#));
    assert!(stack.export_version(7).await.unwrap().starts_with(br#"{ "version": 3, "x": "7","#));
}

#[tokio::test]
async fn a_history_keeps_entries_of_kinds_that_are_not_known() {
    let server = Recorder::start(Answer::new(200).body(
        r#"{"updates":[
            {"kind":"teleport","result":"succeeded","version":3,"updateID":"u-3","requestedBy":{"githubLogin":"ana"}},
            {"kind":"update","result":"failed","version":2,"startTime":5,"resourceChanges":{"create":2}}]}"#,
    ));
    let entries = stack(&server).history(2, 10).await.unwrap();
    assert_eq!(sent(&server), ["GET /api/stacks/acme/shop/prod/updates?pageSize=10&page=2"]);
    assert!(entries[0].update.is_err());
    assert_eq!((entries[0].version, entries[0].update_id.as_deref()), (Some(3), Some("u-3")));
    assert_eq!(entries[0].author.as_deref(), Some("ana"));
    assert_eq!(entries[1].update.as_ref().unwrap().kind, UpdateKind::Update);
}

#[tokio::test]
async fn one_odd_member_of_an_entry_hides_no_other() {
    let server = Recorder::start(Answer::new(200).body(
        r#"{"updates":[
            {"kind":"update","result":"succeeded","version":3,"updateID":"u-3","requestedBy":{"name":"Ana","githubLogin":null}},
            {"kind":"update","result":"succeeded","version":2,"updateID":null,"requestedBy":{"name":7,"githubLogin":"ana"}},
            {"kind":"update","result":"succeeded","version":"1","updateID":"u-1","requestedBy":"ana"}]}"#,
    ));
    let entries = stack(&server).history(1, 10).await.unwrap();
    let seen =
        entries.iter().map(|entry| (entry.version, entry.update_id.as_deref(), entry.author.as_deref()));
    let expected =
        [(Some(3), Some("u-3"), Some("Ana")), (Some(2), None, Some("ana")), (None, Some("u-1"), None)];
    assert_eq!(seen.collect::<Vec<_>>(), expected);
    let is_read = entries.iter().map(|entry| entry.update.is_ok());
    assert_eq!(is_read.collect::<Vec<_>>(), [true, false, false], "what cannot be read is said");
}

#[tokio::test]
async fn refusals_are_told_apart() {
    for (status, message, expected) in [
        (401, "no", ErrorKind::NotLoggedIn),
        (403, "no", ErrorKind::Denied),
        (404, "no such stack", ErrorKind::NotFound),
        (409, "Conflict: Another update is currently in progress.", ErrorKind::Running),
        (400, "Bad Request: Stack still contains resources.", ErrorKind::HasResources),
        (400, "Bad Request: no", ErrorKind::Invalid),
        (413, "no", ErrorKind::TooLarge),
    ] {
        let body = format!(r#"{{"code":{status},"message":"{message}"}}"#);
        let server = Recorder::start(Answer::new(status).body(body));
        let error = stack(&server).remove(false).await.unwrap_err();
        assert_eq!((error.kind(), error.status()), (expected, Some(status)), "{error}");
        assert!(error.to_string().contains(message), "{error}");
        assert_eq!(server.requests().len(), 1);
    }
    let taken = Recorder::start(Answer::new(409).body(r#"{"code":409,"message":"already exists"}"#));
    let error = stack(&taken).create(BTreeMap::new(), None).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Exists);
}

#[tokio::test]
async fn a_service_without_capabilities_or_default_organisation_has_none() {
    let server = Recorder::answering(|request| match request.path().as_str() {
        "/api/user" => Answer::new(200).body(r#"{"githubLogin":"ana"}"#),
        _ => Answer::new(404).text("404 page not found"),
    });
    let service = service(&server);
    assert!(service.capabilities().await.unwrap().capabilities.is_empty());
    service.capabilities().await.unwrap();
    assert_eq!(service.default_organization().await.unwrap(), "ana");
    let asked = sent(&server).iter().filter(|line| line.ends_with("capabilities")).count();
    assert_eq!(asked, 1, "it is asked once");
}

#[tokio::test]
async fn versions_of_other_histories_are_appended_where_the_service_takes_them() {
    let text = r#"{"kind":"update","result":"succeeded","version":12,"startTime":5,"endTime":6}"#;
    let info = JsonText::parse(text).unwrap().read().unwrap();
    let version = AppendVersion { key: "k".to_owned(), info };
    let other = Recorder::start(Answer::new(404).body(r#"{"code":404,"message":"no"}"#));
    let error = stack(&other).append_version(&version).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(sent(&other), ["GET /api/capabilities"], "nothing else is asked");

    let server = Recorder::answering(|request| match request.path().as_str() {
        "/api/capabilities" => {
            Answer::new(200).body(r#"{"capabilities":[{"capability":"groundstate-append-versions"}]}"#)
        }
        _ => Answer::new(200).body(r#"{"version":3,"updateID":"u","appended":true}"#),
    });
    // The key tells it from all others, so a lost answer is no doubt.
    server.fault(Fault::drop_after_commit().on("POST", "*").times(1));
    let appended = stack(&server).append_version(&version).await.unwrap();
    assert_eq!((appended.version, appended.appended), (3, true));
    assert_eq!(sent(&server)[1..], ["POST /api/stacks/acme/shop/prod/versions"; 2]);
}

#[tokio::test]
async fn a_lock_is_asked_for_under_its_id_and_a_lost_one_is_told_from_a_denied_one() {
    let server = Recorder::answering(|request| match (request.method(), request.path().as_str()) {
        (_, "/api/capabilities") => {
            Answer::new(200).body(r#"{"capabilities":[{"capability":"groundstate-stack-locks"}]}"#)
        }
        ("POST", _) => Answer::new(200).body(r#"{"expires":300}"#),
        ("PATCH", _) => Answer::new(412).body(r#"{"code":412,"message":"bob ended the lock"}"#),
        _ => Answer::new(403).body(r#"{"code":403,"message":"no role"}"#),
    });
    let stack = stack(&server);
    assert!(stack.service().can_lock_stacks().await.unwrap());
    assert_eq!(stack.lock("l-1").await.unwrap().expires, 300);
    let lost = stack.renew_lock("l-1").await.unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::LockLost);
    assert!(lost.to_string().contains("bob ended the lock"), "{lost}");
    assert_eq!(stack.unlock("l-1").await.unwrap_err().kind(), ErrorKind::Denied);
    assert!(sent(&server).iter().filter(|line| line.contains("/lock")).all(|line| line.contains("id=l-1")));

    let busy = Recorder::start(Answer::new(409).body(r#"{"code":409,"message":"busy"}"#));
    assert_eq!(self::stack(&busy).lock("l-2").await.unwrap_err().kind(), ErrorKind::Running);
    let other = Recorder::start(Answer::new(404).text("404 page not found"));
    assert!(!service(&other).can_lock_stacks().await.unwrap());
}
