//! Requests and answers: the members that the CLI sends and expects, and what may be missing.

use std::collections::BTreeMap;

use groundstate_pulumi_protocol::{
    AppendVersion, AppendedVersion, Capabilities, Capability, CliVersion, CompleteUpdate, ConfigValue,
    CreateKind, CreateUpdate, CreatedStack, CreatedUpdate, CurrentOperation, DefaultOrganization,
    DocumentError, ErrorBody, JsonText, LatestUpdate, LeaseToken, Message, MessageSeverity, Preview,
    Previews, RenameStack, RenewLease, RenewedLease, RequestedBy, Stack, StackList, StackSummary,
    StartUpdate, StartedUpdate, Tags, TokenInfo, UpdateInfo, UpdateKind, UpdateList, UpdateProgress,
    UpdateResult, UpdateState, UpdateStatus, User, VersionSource, decode, encode,
};

/// The document is written as this text, and read from it.
#[track_caller]
fn check<T>(document: &T, text: &str)
where
    T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
{
    assert_eq!(String::from_utf8(encode(document).unwrap()).unwrap(), text);
    assert_eq!(decode::<T>(text.as_bytes()).as_ref(), Ok(document));
}

fn info() -> UpdateInfo {
    UpdateInfo {
        kind: UpdateKind::ResourceImport,
        start_time: 1,
        message: "m".to_owned(),
        environment: [("git.head".to_owned(), "abc".to_owned())].into(),
        config: [("p:k".to_owned(), ConfigValue { string: "v".to_owned(), secret: true, object: false })]
            .into(),
        result: UpdateResult::InProgress,
        end_time: 2,
        version: 3,
        deployment: None,
        resource_changes: Some([("create".to_owned(), 1)].into()),
        resource_count: Some(4),
        update_id: None,
        requested_by: None,
        source: None,
    }
}

#[test]
fn a_version_that_is_appended_has_a_key_and_says_what_it_was() {
    let deployment = JsonText::parse(r#"{"version":3,"deployment":{}}"#).unwrap();
    let ann = RequestedBy { name: "ann".to_owned(), github_login: String::new() };
    let info = UpdateInfo {
        kind: UpdateKind::Destroy,
        config: [].into(),
        result: UpdateResult::Failed,
        deployment: Some(deployment),
        requested_by: Some(ann.clone()),
        ..info()
    };
    check(
        &AppendVersion { key: "k".to_owned(), info: info.clone() },
        r#"{"key":"k","info":{"kind":"destroy","startTime":1,"message":"m","environment":{"git.head":"abc"},"config":{},"result":"failed","endTime":2,"version":3,"deployment":{"version":3,"deployment":{}},"resourceChanges":{"create":1},"resourceCount":4,"requestedBy":{"name":"ann"}}}"#,
    );
    check(
        &AppendedVersion { version: 7, update_id: "u".to_owned(), appended: true },
        r#"{"version":7,"updateID":"u","appended":true}"#,
    );
    let source = Some(VersionSource { version: 3, requested_by: Some(ann) });
    let info = UpdateInfo { deployment: None, requested_by: None, source, ..info };
    let text = String::from_utf8(encode(&info).unwrap()).unwrap();
    assert!(text.ends_with(r#""source":{"version":3,"requestedBy":{"name":"ann"}}}"#), "{text}");
}

#[test]
fn a_user_has_every_member_that_the_cli_reads() {
    let user = User::named("self", ["acme".to_owned()]);
    check(
        &user,
        r#"{"id":"self","githubLogin":"self","name":"self","email":"","avatarUrl":"","organizations":[{"githubLogin":"acme","name":"acme","avatarUrl":""}],"identities":["self"]}"#,
    );
    let token_info = TokenInfo { name: "ci".to_owned(), ..TokenInfo::default() };
    let user = User { site_admin: Some(false), token_info: Some(token_info), ..User::default() };
    check(
        &user,
        r#"{"id":"","githubLogin":"","name":"","email":"","avatarUrl":"","organizations":[],"identities":[],"siteAdmin":false,"tokenInfo":{"name":"ci"}}"#,
    );
}

#[test]
fn the_default_organization_has_capital_letters() {
    let message = Message { severity: MessageSeverity::Info, message: "hello".to_owned() };
    let answer = DefaultOrganization { github_login: "acme".to_owned(), messages: vec![message] };
    check(&answer, r#"{"GitHubLogin":"acme","Messages":[{"severity":"info","message":"hello"}]}"#);
}

#[test]
fn served_capabilities_leave_out_deltas_unless_they_are_asked_for() {
    let served = Capabilities::served(None);
    let text = r#"{"capabilities":[{"capability":"batch-encrypt"},{"capability":"deployment-schema-version","version":1,"configuration":{"version":4}},{"capability":"groundstate-append-versions","version":1},{"capability":"groundstate-conditional-import","version":1},{"capability":"groundstate-stack-locks","version":1}]}"#;
    check(&served, text);
    assert_eq!((served.deployment_schema_version(), served.delta_cutoff()), (Some(4), None));

    let served = Capabilities::served(Some(0));
    let delta = r#",{"capability":"delta-checkpoint-uploads-v2","version":2,"configuration":{"checkpointCutoffSizeBytes":0}}]}"#;
    check(&served, &text.replace("]}", delta));
    assert_eq!(served.delta_cutoff(), Some(0));
    assert!(served.get(Capability::BATCH_ENCRYPT).is_some() && served.get("copilot").is_none());
}

#[test]
fn the_version_check_names_three_versions() {
    let text =
        r#"{"latestVersion":"3.259.0","oldestWithoutWarning":"3.200.0","latestDevVersion":"3.260.0-a"}"#;
    let version: CliVersion = decode(text.as_bytes()).unwrap();
    assert_eq!((&*version.latest_version, &*version.latest_dev_version), ("3.259.0", "3.260.0-a"));
    check(&version, text);
}

#[test]
fn lists_of_stacks_leave_out_what_is_not_known() {
    let mut list = StackList { stacks: vec![StackSummary::default()], continuation_token: None };
    check(
        &list,
        r#"{"stacks":[{"id":"","orgName":"","projectName":"","stackName":"","links":{"self":""}}]}"#,
    );
    list.stacks[0].last_update = Some(0);
    list.stacks[0].resource_count = Some(2);
    list.continuation_token = Some("t".to_owned());
    check(
        &list,
        r#"{"stacks":[{"id":"","orgName":"","projectName":"","stackName":"","lastUpdate":0,"resourceCount":2,"links":{"self":""}}],"continuationToken":"t"}"#,
    );
}

#[test]
fn a_stack_shows_its_operation_only_while_one_runs() {
    let mut stack = Stack { stack_name: "dev".to_owned(), version: 7, ..Stack::default() };
    check(
        &stack,
        r#"{"id":"","orgName":"","projectName":"","stackName":"dev","activeUpdate":"","version":7}"#,
    );
    stack.active_update = "u-1".to_owned();
    stack.tags = [("a".to_owned(), "b".to_owned())].into();
    stack.current_operation =
        Some(CurrentOperation { kind: UpdateKind::Destroy, author: "self".to_owned(), started: 5 });
    check(
        &stack,
        r#"{"id":"","orgName":"","projectName":"","stackName":"dev","currentOperation":{"kind":"destroy","author":"self","started":5},"activeUpdate":"u-1","tags":{"a":"b"},"version":7}"#,
    );
    check(&CreatedStack::default(), "{}");
}

#[test]
fn renames_and_tags_are_read() {
    let rename: RenameStack = decode(br#"{"newName":"prod","newProject":""}"#).unwrap();
    assert_eq!((&*rename.new_name, &*rename.new_project), ("prod", ""));
    let tags: Tags = decode(br#"{"pulumi:project":"p"}"#).unwrap();
    assert_eq!(tags["pulumi:project"], "p");
}

#[test]
fn an_update_is_created_with_what_the_cli_sends() {
    let body = r#"{"name":"shop","runtime":"yaml","main":"","description":"d","options":{"localPolicyPackPaths":null,"color":"raw","dryRun":true,"parallel":16,"showConfig":false,"showReplacementSteps":false,"showNames":false,"summary":false,"debug":false},"config":{"aws:region":{"string":"eu","secret":false,"object":false}},"metadata":{"message":"m","environment":{"exec.kind":"cli"}}}"#;
    let create: CreateUpdate = decode(body.as_bytes()).unwrap();
    assert_eq!((&*create.name, create.options.parallel, &*create.metadata.message), ("shop", 16, "m"));
    assert_eq!(create.config["aws:region"].string, "eu");
    check(&create, body);
}

#[test]
fn an_update_is_a_preview_by_its_path_or_by_its_option() {
    for (kind, dry_run, expected) in [
        (CreateKind::Update, false, false),
        (CreateKind::Update, true, true),
        (CreateKind::Preview, false, true),
        (CreateKind::Destroy, true, true),
        (CreateKind::Refresh, false, false),
    ] {
        let body = format!(r#"{{"options":{{"dryRun":{dry_run}}}}}"#);
        let create: CreateUpdate = decode(body.as_bytes()).unwrap();
        assert_eq!(create.is_preview(kind), expected, "{kind} {dry_run}");
    }
}

#[test]
fn answers_to_new_updates_have_an_id_and_no_model() {
    check(&CreatedUpdate::new("u-1"), r#"{"updateID":"u-1","aiSettings":{"copilotIsEnabled":false}}"#);
}

#[test]
fn journals_are_agreed_on_when_an_update_starts() {
    let request: StartUpdate = decode(br#"{"tags":{"a":"b"},"journalVersion":1}"#).unwrap();
    assert_eq!((request.journal_version, request.tags.map(|tags| tags.len())), (Some(1), Some(1)));
    assert_eq!(decode::<StartUpdate>(b"{}"), Ok(StartUpdate::default()));
    let mut answer = StartedUpdate { version: 3, token: LeaseToken::new("t"), ..StartedUpdate::default() };
    check(&answer, r#"{"version":3,"token":"t"}"#);
    answer.token_expiration = Some(9);
    answer.journal_version = Some(1);
    check(&answer, r#"{"version":3,"token":"t","tokenExpiration":9,"journalVersion":1}"#);
}

#[test]
fn leases_are_renewed_and_completed() {
    let renew: RenewLease = decode(br#"{"token":"","duration":300}"#).unwrap();
    assert_eq!((renew.token.expose(), renew.duration), ("", 300));
    check(
        &RenewedLease { token: LeaseToken::new("t"), token_expiration: Some(9) },
        r#"{"token":"t","tokenExpiration":9}"#,
    );
    check(&CompleteUpdate { status: UpdateState::Failed }, r#"{"status":"failed"}"#);
    for body in [r#"{}"#, r#"{"status":""}"#, r#"{"status":"done"}"#, r#"{"status":null}"#] {
        assert!(decode::<CompleteUpdate>(body.as_bytes()).is_err(), "{body}");
    }
}

#[test]
fn a_status_ends_the_polling_by_null() {
    check(
        &UpdateStatus::last(UpdateState::Succeeded),
        r#"{"status":"succeeded","events":[],"continuationToken":null}"#,
    );
    let mut status = UpdateStatus::last(UpdateState::NotStarted);
    status.events.push(UpdateProgress {
        index: "1".to_owned(),
        kind: "stdout".to_owned(),
        ..Default::default()
    });
    check(
        &status,
        r#"{"status":"not started","events":[{"index":"1","kind":"stdout","fields":{"text":""}}],"continuationToken":null}"#,
    );
}

#[test]
fn histories_have_the_members_of_updates() {
    let text = r#"{"kind":"resource-import","startTime":1,"message":"m","environment":{"git.head":"abc"},"config":{"p:k":{"string":"v","secret":true,"object":false}},"result":"in-progress","endTime":2,"version":3,"resourceChanges":{"create":1},"resourceCount":4}"#;
    check(&UpdateList { updates: vec![info()] }, &format!(r#"{{"updates":[{text}]}}"#));
    check(&LatestUpdate { info: info() }, &format!(r#"{{"info":{text}}}"#));
    check(&UpdateList::default(), r#"{"updates":[]}"#);
    let previews = Previews { updates: vec![Preview { update_id: "u".to_owned() }] };
    check(&previews, r#"{"updates":[{"updateID":"u"}]}"#);
}

#[test]
fn errors_say_their_status() {
    let error = ErrorBody::new(409, ErrorBody::UPDATE_IN_PROGRESS);
    check(&error, r#"{"code":409,"message":"Conflict: Another update is currently in progress."}"#);
    assert_eq!(error.to_string(), "[409] Conflict: Another update is currently in progress.");
    assert_eq!(decode::<ErrorBody>(b"{}").unwrap().code, 0);
}

#[test]
fn absent_members_null_and_unknown_members_are_read_as_go_reads_them() {
    for body in ["{}", r#"{"name":null,"options":null,"config":null,"metadata":null}"#, r#"{"new":[{}]}"#] {
        assert_eq!(decode::<CreateUpdate>(body.as_bytes()), Ok(CreateUpdate::default()), "{body}");
    }
    let body = br#"{"options":{"dryRun":null,"localPolicyPackPaths":[]},"metadata":{"environment":null}}"#;
    let create: CreateUpdate = decode(body).unwrap();
    assert_eq!(create.options.local_policy_pack_paths, Some(Vec::new()));
    assert_eq!(create.metadata.environment, BTreeMap::new());
    let stack: Stack =
        decode(br#"{"currentOperation":null,"tags":null,"config":null,"version":null}"#).unwrap();
    assert_eq!(stack, Stack::default());
}

#[test]
fn documents_that_are_none_are_refused_with_their_place() {
    for (body, expected) in [
        ("", DocumentError::Syntax { line: 1, column: 0 }),
        ("{", DocumentError::Syntax { line: 1, column: 1 }),
        ("{}x", DocumentError::Syntax { line: 1, column: 3 }),
        ("{\n \"name\": 7}", DocumentError::Shape { line: 2, column: 10 }),
        ("{\"name\":\"\",\"name\":\"\"}", DocumentError::Shape { line: 1, column: 17 }),
        ("[\"shop\"]", DocumentError::NoObject),
        ("null", DocumentError::Shape { line: 1, column: 4 }),
    ] {
        assert_eq!(decode::<CreateUpdate>(body.as_bytes()), Err(expected), "{body}");
    }
}

#[test]
fn words_are_those_of_the_protocol() {
    let words = |all: Vec<&str>| all.join(" | ");
    assert_eq!(
        words(UpdateKind::ALL.iter().map(|kind| kind.as_str()).collect()),
        "update | preview | refresh | destroy | import | resource-import | rename | lock"
    );
    assert_eq!(
        words(UpdateResult::ALL.iter().map(|result| result.as_str()).collect()),
        "not-started | in-progress | succeeded | failed"
    );
    assert_eq!(
        words(UpdateState::ALL.iter().map(|state| state.as_str()).collect()),
        "not started | requested | running | failed | succeeded | cancelled"
    );
    for state in UpdateState::ALL {
        assert_eq!(UpdateState::parse(state.as_str()), Some(*state));
        let is_open =
            matches!(state, UpdateState::NotStarted | UpdateState::Requested | UpdateState::Running);
        assert_eq!(state.is_final(), !is_open, "{state}");
    }
    for kind in CreateKind::ALL {
        assert_eq!(UpdateKind::from(*kind).as_str(), kind.as_str());
    }
    assert_eq!(UpdateKind::parse("Update"), None);
}

#[test]
fn tokens_configuration_and_texts_are_not_shown() {
    let started = StartedUpdate { token: LeaseToken::new("hunter2"), ..StartedUpdate::default() };
    let value = ConfigValue { string: "hunter2".to_owned(), secret: true, object: false };
    let text = JsonText::parse(r#""hunter2""#).unwrap();
    let shown = format!("{started:?} {value:?} {text:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("7 bytes"), "{shown}");
    let error = decode::<StartedUpdate>(br#"{"version":"hunter2"}"#).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hunter2"));
}
