//! No secret passes into what `-vv` shows: verbs on every store, with secrets wherever there is room for one.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groundstate_common::OsIds;
use groundstate_testkit::{Answer, Fault, GcsServer, Recorder, S3Locks, S3Server, TestBackend};
use groundstate_wal::blobs::BlobJournal;
use groundstate_wal::fs::FsJournal;
use serde_json::{Value, json};

use super::journal::{base, entries, fill};
use super::log::events;
use super::remote::Work;
use super::support::{Run, command, resource, state, with_resources};

/// Values of a state: an attribute, what a provider keeps beside it, and an output.
const ATTRIBUTE: &str = "attribute-hunter2/+=";
const PRIVATE: &str = "private-hunter1/+=";
const OUTPUT: &str = "output-hunter3/+=";
/// Keys of customers: 32 bytes.
const CUSTOMER: &str = "customer-key-of-32-bytes-hunter4";
const FORMATS: [&str; 2] = ["text", "json"];

/// A state with values that only its owner should see.
fn sensitive() -> String {
    let private = STANDARD.encode(PRIVATE);
    let instance =
        format!(r#"{{"attributes": {{"id": "1", "password": "{ATTRIBUTE}"}}, "private": "{private}"}}"#);
    let resources = format!("{},{}", resource("a", "one", &instance), resource("a", "two", "{}"));
    with_resources(&resources).replacen(
        "\"outputs\": {}",
        &format!(r#""outputs": {{"o": {{"value": "{OUTPUT}", "type": "string", "sensitive": true}}}}"#),
        1,
    )
}

/// The forms in which a secret may be sent, and so may be shown.
fn forms(secret: &str) -> Vec<String> {
    let percent: String = secret
        .bytes()
        .map(|byte| match byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect();
    let encoded = STANDARD.encode(secret);
    // Base64 of a text in the middle of another has other characters at both ends, in three ways.
    let shifted = |by: usize| {
        let text = STANDARD.encode(format!("{}{secret}", "x".repeat(by)));
        text.trim_end_matches('=').chars().skip(4).take(encoded.len().saturating_sub(8)).collect::<String>()
    };
    let json = Value::from(secret).to_string();
    let mut forms = vec![
        secret.to_owned(),
        percent.to_ascii_lowercase(),
        percent,
        json.trim_matches('"').to_owned(),
        encoded.trim_end_matches('=').to_owned(),
    ];
    forms.extend((0..3).map(shifted).filter(|text| text.len() >= 8));
    forms
}

/// Asserts that a run has shown events and none of these secrets.
#[track_caller]
fn hides(run: &Run, secrets: &[&str]) {
    let said = run.stderr.to_ascii_lowercase();
    for secret in secrets {
        for form in forms(secret) {
            assert!(!said.contains(&form.to_ascii_lowercase()), "{form} of {secret} is in\n{}", run.stderr);
        }
    }
}

/// The verbs that a state in a store knows, on `place`; the first one stores it.
fn verbs(place: &str, file: &str) -> Vec<Vec<String>> {
    let verbs: [&[&str]; 17] = [
        &["push", place, file, "--force"],
        &["list", place],
        &["show", place],
        &["outputs", place],
        &["check", place],
        &["pull", place],
        &["mv", place, "a.two", "a.three"],
        &["taint", place, "a.one", "--backup", "-"],
        &["lock", place, "--", "true"],
        &["locks", place],
        &["unlock", place, "no-such-lock"],
        &["unlock", place, "--force"],
        &["workspaces", "list", place],
        &["workspaces", "new", place, "other"],
        &["workspaces", "delete", place, "other"],
        &["history", place],
        &["undo", place],
    ];
    verbs.iter().map(|verb| verb.iter().map(|&word| word.to_owned()).collect()).collect()
}

/// Runs verbs with every format, and asserts that the successful ones show events and none shows a secret.
#[track_caller]
fn all_hide(directory: &Path, verbs: &[Vec<String>], variables: &[(&str, &str)], secrets: &[&str]) -> usize {
    let mut shown = 0;
    for format in FORMATS {
        for verb in verbs {
            let split = verb.iter().position(|word| word == "--").unwrap_or(verb.len());
            let (before, after) = verb.split_at(split);
            let mut args: Vec<&str> = before.iter().map(String::as_str).collect();
            args.extend(["-vv", "--log-format", format]);
            args.extend(after.iter().map(String::as_str));
            let mut command = command(&args);
            command.current_dir(directory).stdin(Stdio::null()).envs(variables.iter().copied());
            let run = Run::of(command.output().expect("the program is there"));
            hides(&run, secrets);
            shown += usize::from(run.code == 0 && !events(&run).is_empty());
        }
    }
    shown
}

fn file_in(directory: &Path) -> String {
    let path = directory.join("new.tfstate");
    fs::write(&path, sensitive()).expect("it is a folder");
    path.to_str().expect("it is text").to_owned()
}

#[test]
fn forms_of_a_secret_are_found_where_they_are_shown() {
    let secret = "hunter2/+=hunter2";
    let inside = STANDARD.encode(format!("user:{secret}:x"));
    for said in [secret, "a=hunter2%2F%2B%3Dhunter2", &STANDARD.encode(secret), &inside] {
        let shows =
            forms(secret).iter().any(|form| said.to_ascii_lowercase().contains(&form.to_ascii_lowercase()));
        assert!(shows, "{said}");
    }
}

#[test]
fn values_of_states_in_files_are_hidden() {
    let folder = tempfile::tempdir().unwrap();
    let file = file_in(folder.path());
    let place = folder.path().join("terraform.tfstate").to_str().unwrap().to_owned();
    let shown = all_hide(folder.path(), &verbs(&place, &file), &[], &[ATTRIBUTE, PRIVATE, OUTPUT]);
    assert!(shown >= 10, "{shown}");
}

#[test]
fn keys_and_tokens_for_s3_are_hidden() {
    for locks in [S3Locks::File, S3Locks::Table, S3Locks::Both] {
        let work = Work::new(TestBackend::s3_here(locks));
        let customer = STANDARD.encode(CUSTOMER);
        let endpoint = work.place.server().unwrap().endpoint();
        let bucket = work.place.settings()["bucket"].as_str().unwrap().to_owned();
        let table = work.place.settings().get("dynamodb_table").and_then(Value::as_str);
        let mut url =
            format!("s3://{bucket}/team/app.tfstate?region=us-east-1&use_path_style=true&encrypt=true");
        url.push_str(&format!("&endpoints.s3={endpoint}&endpoints.dynamodb={endpoint}&use_lockfile=true"));
        table.iter().for_each(|table| url.push_str(&format!("&dynamodb_table={table}")));
        // In the address, and in the environment.
        let (key, secret, token) = ("AKIAHUNTER0000000005", "secret-hunter6/+=x", "session-hunter7/+=x");
        let named = format!(
            "{url}&secret_key=secret-hunter6%2F%2B%3Dx&access_key={key}&token=session-hunter7%2F%2B%3Dx"
        );
        let proxy = "http://proxy-user:proxy-hunter8@127.0.0.1:9";
        let secrets = [
            ATTRIBUTE,
            PRIVATE,
            OUTPUT,
            CUSTOMER,
            &customer,
            key,
            secret,
            token,
            "proxy-user",
            "proxy-hunter8",
        ];
        let variables = [
            ("AWS_ACCESS_KEY_ID", key),
            ("AWS_SECRET_ACCESS_KEY", secret),
            ("AWS_SESSION_TOKEN", token),
            ("AWS_SSE_CUSTOMER_KEY", customer.as_str()),
            ("HTTP_PROXY", proxy),
            ("HTTPS_PROXY", proxy),
            ("GROUNDSTATE_HISTORY", "true"),
        ];
        let file = file_in(work.path());
        let of_environment = all_hide(work.path(), &verbs(&url, &file), &variables, &secrets);
        let of_address = all_hide(work.path(), &verbs(&named, &file), &variables[3..], &secrets);
        assert!(of_environment >= 20 && of_address >= 20, "{locks:?}: {of_environment} {of_address}");
        // Failures say more.
        let server = work.place.server().unwrap();
        server.fault(Fault::refuse(403, "SignatureDoesNotMatch", None).on("*", "*"));
        all_hide(work.path(), &verbs(&named, &file)[..6], &variables, &secrets);
        let behind = named.replace(&endpoint, "http://user:address-hunter9@127.0.0.1:9");
        let secrets = [&secrets[..], &["address-hunter9"]].concat();
        all_hide(work.path(), &verbs(&behind, &file)[..3], &variables, &secrets);
    }
}

#[test]
fn credentials_of_containers_are_hidden() {
    let place = TestBackend::s3_here(S3Locks::File);
    let answer = json!({"AccessKeyId": "AKIAHUNTER0000000010", "SecretAccessKey": "container-hunter11",
        "Token": "container-hunter12", "Expiration": "2099-01-01T00:00:00Z"});
    let recorder = Recorder::start(Answer::new(200).text(&answer.to_string()));
    let uri = format!("{}/path-hunter13/credentials?query-hunter14", recorder.endpoint());
    let endpoint = place.server().unwrap().endpoint();
    let bucket = place.settings()["bucket"].as_str().unwrap();
    let url = format!(
        "s3://{bucket}/team/app.tfstate?region=us-east-1&use_path_style=true&endpoints.s3={endpoint}"
    );
    let variables = [
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", uri.as_str()),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "Bearer container-hunter15"),
        ("AWS_CONFIG_FILE", "/nonexistent"),
        ("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent"),
    ];
    let secrets = [
        ATTRIBUTE,
        PRIVATE,
        OUTPUT,
        "AKIAHUNTER0000000010",
        "container-hunter11",
        "container-hunter12",
        "path-hunter13",
        "query-hunter14",
        "container-hunter15",
    ];
    let folder = tempfile::tempdir().unwrap();
    let file = file_in(folder.path());
    let shown = all_hide(folder.path(), &verbs(&url, &file), &variables, &secrets);
    assert!(shown >= 10 && recorder.saw("container-hunter15"), "{shown}");
}

#[test]
fn tokens_for_google_are_hidden() {
    let customer = STANDARD.encode(CUSTOMER);
    let token = "ya29.token-hunter16";
    let answer = json!({"access_token": token, "expires_in": 3600, "token_type": "Bearer"});
    let recorder = Recorder::start(Answer::new(200).text(&answer.to_string()));
    let user = json!({"type": "authorized_user", "client_id": "id-hunter17", "client_secret": "client-hunter18",
        "refresh_token": "refresh-hunter19", "token_uri": format!("{}/token", recorder.endpoint())});
    let folder = tempfile::tempdir().unwrap();
    let (file, credentials) = (file_in(folder.path()), user.to_string());
    let secrets = [
        ATTRIBUTE,
        PRIVATE,
        OUTPUT,
        CUSTOMER,
        &customer,
        token,
        "id-hunter17",
        "client-hunter18",
        "refresh-hunter19",
    ];
    for (variable, value) in [("GOOGLE_OAUTH_ACCESS_TOKEN", token), ("GOOGLE_CREDENTIALS", &credentials)] {
        let server = GcsServer::start_blocking();
        server.create_bucket("states");
        let url = format!("gs://states/team/app?storage_custom_endpoint={}/storage/v1/", server.endpoint());
        let variables =
            [(variable, value), ("GOOGLE_ENCRYPTION_KEY", &*customer), ("GROUNDSTATE_HISTORY", "true")];
        let shown = all_hide(folder.path(), &verbs(&url, &file), &variables, &secrets);
        assert!(shown >= 20, "{variable}: {shown}");
    }
    assert!(recorder.saw("refresh-hunter19"));
}

#[test]
fn keys_and_signatures_for_azure_are_hidden() {
    let work = Work::new(TestBackend::azurerm_here());
    let key = work.place.settings()["access_key"].as_str().unwrap().to_owned();
    let file = file_in(work.path());
    let mut variables: Vec<(&str, &str)> =
        work.place.environment().iter().map(|(name, value)| (&**name, &**value)).collect();
    let secrets = [ATTRIBUTE, PRIVATE, OUTPUT, &key];
    let shown = all_hide(work.path(), &verbs(".", &file), &variables, &secrets);
    assert!(shown >= 20, "{shown}");
    // A shared access signature is in the query of each request.
    let settings = work.place.settings();
    let text = |name: &str| settings[name].as_str().unwrap();
    let (account, container, blob) = (text("storage_account_name"), text("container_name"), text("key"));
    let url = format!("az://{container}/{blob}?storage_account_name={account}");
    variables
        .push(("ARM_SAS_TOKEN", "sv=2021-08-06&ss=b&srt=sco&sp=rwdlac&sig=signature-hunter20%2F%2B%3Dx"));
    let secrets = [&secrets[..], &["signature-hunter20", "signature-hunter20/+=x", "rwdlac"]].concat();
    all_hide(work.path(), &verbs(&url, &file), &variables, &secrets);
    let requests = work.place.server().unwrap().requests();
    assert!(requests.iter().any(|request| request.query.contains("signature-hunter20")), "{requests:?}");
}

#[test]
fn journals_and_their_credentials_are_hidden() {
    let value = r#""inputs":{"n":"entry-hunter21"}"#;
    let entries: Vec<String> =
        entries().iter().map(|entry| entry.replace(r#""inputs":{"n":1.50}"#, value)).collect();
    assert!(entries.iter().any(|entry| entry.contains("entry-hunter21")));
    let base = base().replace(r#""id":"a1""#, r#""id":"base-hunter22""#);
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("journal");
    fill(&FsJournal::new(&directory), &base, &entries);
    let server = S3Server::start_blocking();
    server.create_bucket("stacks");
    let address = format!(
        "s3://stacks/shop/dev?region=us-east-1&endpoint={}&use_path_style=true&access_key=AKIAHUNTER0000000023\
         &secret_key=journal-hunter24&token=journal-hunter25",
        server.endpoint()
    );
    let context = context();
    let blobs = groundstate_blobs_cloud::BlobUrl::parse(&address).unwrap().open(&context, &|_| None).unwrap();
    fill(&BlobJournal::new(blobs, "shop/dev", Arc::new(OsIds)).unwrap(), &base, &entries);
    let secrets =
        ["entry-hunter21", "base-hunter22", "AKIAHUNTER0000000023", "journal-hunter24", "journal-hunter25"];
    for place in [directory.to_str().unwrap(), &address] {
        let verbs = ["replay", "inspect", "verify", "compact", "replay"]
            .map(|verb| ["journal", verb, place].map(str::to_owned).to_vec());
        let shown = all_hide(folder.path(), &verbs, &[], &secrets);
        assert!(shown >= 8, "{shown}");
    }
}

/// What journals in object stores are opened with.
fn context() -> groundstate_blobs::Context {
    groundstate_blobs::Context::new(
        Arc::new(groundstate_common::SystemClock),
        Arc::new(groundstate_statemgr::TokioSleeper),
        Arc::new(OsIds),
    )
}

#[test]
fn passphrases_and_secrets_of_pulumi_stacks_are_hidden() {
    let passphrase = "passphrase-hunter26";
    let file = state(base().replace(r#""id":"a1""#, r#""id":"plain-hunter29""#));
    let run = |args: &[&str], input: &str| {
        let mut command = command(args);
        command.current_dir(file.dir.path()).env("PULUMI_CONFIG_PASSPHRASE", passphrase);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
        Run::of(child.wait_with_output().unwrap())
    };
    for format in FORMATS {
        let options = ["-vv", "--log-format", format];
        for (verb, input) in [
            (&["encrypt", &file.path][..], "\"plain-hunter27\""),
            (&["decrypt", &file.path], "v1:nonsense:hunter28"),
            (&["show", &file.path, "--show-secrets"], ""),
            (&["outputs", &file.path, "--show-secrets"], ""),
            (&["protect", &file.path, "a"], ""),
            (&["undo", &file.path], ""),
        ] {
            let said = run(&[verb, &options[..]].concat(), input);
            hides(&said, &[passphrase, "plain-hunter27", "plain-hunter29"]);
            assert!(!events(&said).is_empty(), "{verb:?}: {}", said.stderr);
        }
    }
}
