//! Configurations: what they come to, and what is said of those that are wrong.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Duration;

use groundstate_server::auth::{Anonymous, AuthSettings};
use groundstate_server::config::{Config, ConfigError, DEFAULT_ADDRESS, Sources, StorePlace};
use groundstate_server::edge::EdgeLimits;
use groundstate_server::versioned::Retention;
use groundstate_server::{Limits, MaintenanceOptions, Policies};

fn home(name: &str) -> Option<String> {
    (name == "HOME").then(|| "/h".to_owned())
}

fn build(text: &str) -> Result<Config, ConfigError> {
    Sources::new().file(Path::new("/etc/groundstate/server.toml"), text)?.build(&home)
}

/// Everything that is wrong, a line each, and what to do.
fn wrong(error: &ConfigError) -> String {
    let line = |problem: &groundstate_server::config::Problem| match &problem.hint {
        Some(hint) => format!("{problem}\n  help: {hint}"),
        None => problem.to_string(),
    };
    error.problems().iter().map(line).collect::<Vec<_>>().join("\n")
}

fn refused(text: &str) -> String {
    wrong(&build(text).unwrap_err())
}

fn variables(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

#[test]
fn without_any_option_the_server_is_for_its_own_machine() {
    let config = build("").unwrap();
    assert_eq!(config.listen, [DEFAULT_ADDRESS]);
    assert_eq!(config.store, StorePlace::Directory("/h/.local/share/groundstate".into()));
    assert_eq!(
        (config.tls.as_ref(), config.metrics.as_ref(), config.public_url.as_ref()),
        (None, None, None)
    );
    // The options have the defaults of the types that they become.
    assert_eq!(config.limits, EdgeLimits::default());
    assert_eq!(config.requests, Limits::default());
    assert_eq!(config.policies, Policies::default());
    assert_eq!(config.auth, AuthSettings::default());
    assert_eq!(config.maintenance, MaintenanceOptions::default());
    config.check_authentication(false).unwrap();
}

#[test]
fn the_effective_configuration_is_a_configuration() {
    let text = build("store = \"s3://states/a?secret_key=hush\"\n").map(|config| config.to_string());
    assert!(text.is_err(), "a secret in a file is refused");
    let config = build("listen = [\"127.0.0.1:5000\"]\n[limits]\nstate = \"1GiB\"\n").unwrap();
    let shown = config.to_string();
    insta::assert_snapshot!(shown);
    assert_eq!(build(&shown).unwrap().limits, config.limits);
    assert_eq!(build(&shown).unwrap().requests, config.requests);
}

#[test]
fn arguments_win_over_the_environment_and_that_over_the_file() {
    let file = "listen = [\"127.0.0.1:1\"]\n[limits]\nstate = \"1MiB\"\nburst = 7\nidle_timeout = \"1m\"\n";
    let environment = variables(&[
        ("GROUNDSTATE_LISTEN", "127.0.0.1:2, 127.0.0.1:3"),
        ("GROUNDSTATE_LIMITS_STATE", "2MiB"),
        ("GROUNDSTATE_LIMITS_IDLE_TIMEOUT", "2m"),
        ("GROUNDSTATE_LIMITS_UPLOAD_RATE", "off"),
        // What others put there.
        ("GROUNDSTATE_PORT", "tcp://10.0.0.1:4778"),
        ("GROUNDSTATE_SERVICE_HOST", "10.0.0.1"),
        ("GROUNDSTATE_TRUST_DIRECTORY", "1"),
    ]);
    let config = Sources::new()
        .file(Path::new("server.toml"), file)
        .and_then(|sources| sources.environment(environment))
        .and_then(|sources| sources.argument("--listen", "listen", "127.0.0.1:4"))
        .and_then(|sources| sources.argument("--listen", "listen", "[::1]:5"))
        .and_then(|sources| sources.setting("--set", "limits.idle_timeout = 3m"))
        .and_then(|sources| sources.build(&home))
        .unwrap();
    assert_eq!(config.listen, ["127.0.0.1:4".parse().unwrap(), "[::1]:5".parse().unwrap()]);
    assert_eq!(config.requests.state_bytes, 2 << 20);
    assert_eq!((config.limits.burst, config.limits.upload_rate), (7, None));
    assert_eq!(config.limits.idle_timeout, Duration::from_secs(180));
}

#[test]
fn paths_of_a_file_begin_at_its_folder() {
    let config = build(
        "store = \"data\"\n[tls]\ncertificate = \"tls/server.crt\"\nkey = \"/run/keys/server.key\"\nclient_ca = \"clients.crt\"\n",
    )
    .unwrap();
    assert_eq!(config.store, StorePlace::Directory("/etc/groundstate/data".into()));
    let tls = config.tls.unwrap();
    assert_eq!(tls.certificate, Path::new("/etc/groundstate/tls/server.crt"));
    assert_eq!(tls.key, Path::new("/run/keys/server.key"));
    assert_eq!(tls.client_ca.unwrap().0, Path::new("/etc/groundstate/clients.crt"));
}

#[test]
fn everything_that_is_wrong_in_a_file_is_said_with_its_place() {
    insta::assert_snapshot!(refused(
        r#"
listen = "127.0.0.1:1, 127.0.0.1:2"
strore = "memory:"
insecure_plain_http = "yes"
limits.state = 5
limits.burst = 0
limits.idle_timeout = "1 fortnight"
limits.headers = 1.5
limits.header_bytes = """
32KiB"""
metrics = "strict"
polcy.check = "off"
tls.certificate = ["a"]
policy.force_unlock = "everyone"
proxy.trusted = ["10.0.0.0/8", 5]
"#
    ));
}

#[test]
fn a_file_that_is_no_toml_is_refused_at_the_place_of_the_error() {
    for text in [
        "listen = [\"127.0.0.1:1\"",
        "a = = b",
        "[limits]\nburst = 1\nburst = 2",
        "\u{0}",
        "limits = {burst = 1",
        "[limits\n",
    ] {
        let message = refused(text);
        assert!(message.starts_with("/etc/groundstate/server.toml:"), "{message}");
        assert!(message.contains("the file is not valid TOML: "), "{message}");
    }
    let long = format!("# {}\n", "x".repeat(2 << 20));
    assert!(refused(&long).contains("more than 1048576 bytes"));
    // The column counts characters.
    assert_eq!(
        refused("store = \"é\"\n\"ü\" = 1\n"),
        "/etc/groundstate/server.toml:2:1: there is no option `ü`\n  help: docs/deployment.md lists the options"
    );
}

#[test]
fn values_of_the_environment_and_of_arguments_are_named_and_not_shown() {
    let environment = variables(&[
        ("GROUNDSTATE_LISTEN", "hush"),
        ("GROUNDSTATE_LIMITS_STATE", "hush"),
        ("GROUNDSTATE_LIMITS_STAT", "hush"),
        ("GROUNDSTATE_STORE", "hush\nhush"),
    ]);
    let error = Sources::new().environment(environment).unwrap_err();
    insta::assert_snapshot!(wrong(&error));
    let error = |sources: Result<Sources, ConfigError>| {
        wrong(&sources.and_then(|sources| sources.build(&home)).unwrap_err())
    };
    insta::assert_snapshot!(
        [
            error(Sources::new().argument("--listen", "listen", "localhost:80")),
            error(Sources::new().argument("--listen", "listen", "127.0.0.1")),
            error(Sources::new().argument("--store", "store", "ftp://hush")),
            error(Sources::new().argument("--store", "store", "s3://b/?token=hush")),
            error(Sources::new().setting("--set", "hush")),
            error(Sources::new().setting("--set", "limits.brust=hush")),
            error(Sources::new().setting("--set", "limits.burst=hush")),
            error(Sources::new().setting("--set", "public_url=https://u:hush@h")),
        ]
        .join("\n")
    );
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    insta::assert_snapshot!(
        [
            refused("listen = [\"0.0.0.0:4778\"]\n"),
            refused("listen = []\n"),
            refused("[tls]\ncertificate = \"a\"\n"),
            refused("[tls]\nkey = \"a\"\n"),
            refused("[tls]\nclient_ca = \"a\"\n"),
            refused("store = \"memory:\"\nstore_file = \"a\"\n"),
            refused("store_file = \"does-not-exist\"\n"),
            refused("[metrics]\nlisten = \"0.0.0.0:9478\"\n"),
            wrong(&Sources::new().build(&|_| None).unwrap_err()),
        ]
        .join("\n")
    );
}

#[test]
fn an_address_that_others_reach_needs_authentication_or_the_word_of_its_owner() {
    let open = |more: &str| {
        build(&format!("listen = [\"192.0.2.1:443\"]\ninsecure_plain_http = true\n{more}")).unwrap()
    };
    open("").check_authentication(true).unwrap();
    open("insecure_no_authentication = true\n").check_authentication(false).unwrap();
    insta::assert_snapshot!(wrong(&open("").check_authentication(false).unwrap_err()));
}

#[test]
fn buckets_are_tables_of_the_file_and_every_mistake_has_its_place() {
    let text = "[[pulumi.buckets]]\norganization = \"team\"\nurl = \"s3://stacks/a?region=eu-west-1\"\n\n[[pulumi.buckets]]\norganization = \"old\"\nurl = \"file:///srv/stacks\"\n";
    let config = build(text).unwrap();
    let names: Vec<&str> = config.buckets.iter().map(|bucket| bucket.organization.as_str()).collect();
    assert_eq!(names, ["team", "old"]);
    let shown = config.to_string();
    assert!(
        shown.contains("[[pulumi.buckets]]\norganization = \"team\"\nurl = \"s3://stacks/a\"\n"),
        "{shown}"
    );
    assert_eq!(build(&shown).unwrap().buckets.len(), 2);
    assert_eq!(build("").unwrap().needs_restart(&config), ["pulumi.buckets"]);
    for (text, expected) in [
        ("[[pulumi.buckets]]\norganisation = \"team\"\n", "server.toml:2:1"),
        ("[[pulumi.buckets]]\norganization = \"team\"\n", "there is no `url`"),
        ("[pulumi]\nbuckets = 3\n", "`pulumi.buckets` is not valid"),
        ("[[pulumi.buckets]]\norganization = \"team\"\nurl = \"ftp://x\"\n", "team"),
        ("[[pulumi.buckets]]\norganization = \"team\"\nurl = \"postgres://u:hush@h/d\"\n", "url_file"),
    ] {
        let refused = refused(text);
        assert!(refused.contains(expected) && !refused.contains("hush"), "{refused}");
    }
}

#[test]
fn the_debug_text_of_a_configuration_has_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    for (name, url) in [
        ("store", "postgres://ci:hush@db.example.com/states"),
        ("raw", "postgres://ci:hu?sh@db.example.com/states"),
        ("bucket", "s3://stacks/a?region=eu-west-1&password=hush"),
    ] {
        fs::write(folder.path().join(name), url).unwrap();
    }
    let key = "hashivault://key?token=hush";
    for store in ["store", "raw"] {
        let text = format!(
            "store_file = \"{store}\"\n[pulumi]\nsecrets_key = \"{key}\"\n\
             [[pulumi.buckets]]\norganization = \"team\"\nurl_file = \"bucket\"\n"
        );
        let sources = Sources::new().file(&folder.path().join("server.toml"), &text).unwrap();
        let config = sources.build(&home).unwrap();
        assert_eq!((config.buckets.len(), config.secrets_key.as_deref()), (1, Some(key)));
        for shown in [format!("{config:?}"), format!("{config:#?}"), format!("{sources:?}")] {
            assert!(!shown.contains("hush") && !shown.contains("hu?"), "{shown}");
        }
    }
    // Also of one that is refused.
    let text = "store = \"postgres://ci:hush@h/d\"\n[[pulumi.buckets]]\norganization = \"team\"\nurl = \"postgres://u:hush@h/d\"\n";
    let sources = Sources::new().file(Path::new("server.toml"), text).unwrap();
    assert!(!format!("{sources:?}").contains("hush"), "{sources:?}");
    assert!(!format!("{:?}", sources.build(&home).unwrap_err()).contains("hush"));
}

#[test]
fn identities_are_tables_of_the_file() {
    let text = r#"
[auth]
anonymous = "never"

[[auth.issuer]]
name = "github"
issuer = "https://token.actions.githubusercontent.com"
audiences = ["https://states.example.com"]

[[auth.issuer.rules]]
claims = { repository = "acme/*" }
grants = [{ role = "write", project = "web", state = "prod-*" }]

[[auth.certificate]]
dns = "*.ci.example.com"
grants = [{ role = "read", project = "*", state = "*" }]
"#;
    let config = build(text).unwrap();
    assert_eq!((config.auth.issuers.len(), config.auth.certificates.len()), (1, 1));
    assert_eq!(config.auth.anonymous, Anonymous::Never);
    // The same as what the types read by themselves.
    let alone = text.replace("[auth]\n", "").replace("auth.", "");
    assert_eq!(config.auth, AuthSettings::parse(&alone).unwrap());
    insta::assert_snapshot!(
        [
            refused(&text.replace("audiences = [\"https://states.example.com\"]", "audiences = \"hush\"")),
            refused(&text.replace("name = \"github\"", "nmae = \"hush\"")),
            refused(&text.replace("\"write\"", "\"hush\"")),
            refused(&text.replace("dns = \"*.ci.example.com\"", "")),
            refused("auth = 5\n"),
            refused("[auth]\nissuer = \"hush\"\n"),
            refused("[auth]\ntokens = [\"hush\"]\n"),
        ]
        .join("\n")
    );
    let open = build("insecure_no_authentication = true\n").unwrap();
    assert_eq!(open.auth.anonymous, Anonymous::Everywhere);
}

#[test]
fn retention_is_by_number_and_by_age() {
    let retention = |text: &str| build(&format!("[retention]\n{text}")).unwrap().maintenance.retention;
    let day = Duration::from_secs(86_400);
    assert_eq!(retention(""), Retention::Everything);
    assert_eq!(retention("versions = 10\n"), Retention::Newest { count: 10, younger: None });
    assert_eq!(
        retention("versions = 10\nage = \"1d\"\n"),
        Retention::Newest { count: 10, younger: Some(day) }
    );
    assert_eq!(retention("age = \"1d\"\n"), Retention::Newest { count: 1, younger: Some(day) });
    let updates = |text: &str| build(&format!("[retention]\n{text}")).unwrap().maintenance.updates;
    assert_eq!(updates("versions = 10\n"), Retention::Everything);
    let both = "updates = 50\nupdates_age = \"1d\"\n";
    assert_eq!(updates(both), Retention::Newest { count: 50, younger: Some(day) });
    assert_eq!(retention(both), Retention::Everything);
}

#[test]
fn the_url_of_the_store_may_be_in_a_file_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("url");
    let with = |text: &str| {
        fs::write(&path, text).unwrap();
        let sources = Sources::new().argument("--set", "store_file", path.to_str().unwrap()).unwrap();
        sources.build(&home)
    };
    let config = with("s3://states/a?secret_key=hush\n").unwrap();
    assert_eq!(config.store.to_string(), "s3://states/a");
    assert!(!format!("{config} {config:?}").contains("hush"));
    for (text, why) in [("", "it is empty"), ("\n", "it is empty"), ("s3://hush\nx\n", "more than one line")]
    {
        let message = wrong(&with(text).unwrap_err());
        assert!(message.contains(why) && !message.contains("hush"), "{message}");
    }
}

#[test]
fn what_a_reload_cannot_change_is_named() {
    let before = build("[limits]\nburst = 1\n").unwrap();
    let after =
        build("listen = [\"127.0.0.1:1\"]\n[limits]\nburst = 2\n[policy]\ncheck = \"off\"\n").unwrap();
    assert_eq!(before.needs_restart(&after), ["listen", "policy.check"]);
    assert_eq!(before.needs_restart(&before), [""; 0]);
}

#[test]
fn the_documentation_lists_every_option() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/deployment.md");
    let text = fs::read_to_string(&path).unwrap();
    let (begin, end) = ("<!-- options -->\n", "<!-- end of options -->\n");
    let (before, rest) = text.split_once(begin).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    let expected = format!("{before}{begin}{}{end}{after}", groundstate_server::config::reference());
    if std::env::var_os("GROUNDSTATE_UPDATE_DOCS").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    assert!(
        text == expected,
        "docs/deployment.md is out of date: run this test with GROUNDSTATE_UPDATE_DOCS=1"
    );
}
