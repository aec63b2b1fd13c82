//! States at servers of Terraform's HTTP protocol: addresses, options and variables, and who gets credentials.

use std::path::Path;

use groundstate_backends::{BackendsError, Opened, PlaceUrl, Purpose, Registry, Settings};
use groundstate_statemgr::bytes::Bytes;
use groundstate_statemgr::{Backend, StateStore, WorkspaceName, WriteOptions};
use groundstate_testkit::HttpStateServer;
use serde_json::{Value, json};

use crate::support::{context, directory, name};

const SECRET: &str = "hunter2hunter2";
const ADDRESS: &str = "https://state.example.com/network/prod";

fn open(settings: &Settings, variables: &[(&str, &str)]) -> Result<Opened, String> {
    let opened = Registry::standard().open(settings, &context(variables));
    opened.map_err(|error| error.to_string()).inspect_err(|error| assert!(!error.contains(SECRET), "{error}"))
}

fn locks(opened: &Opened) -> (bool, String) {
    let store = opened.backend.store(&WorkspaceName::default_name()).expect("there is the default one");
    (store.capabilities().locking, store.lock_name())
}

#[test]
fn an_address_is_locked_where_it_is_unless_it_says_otherwise() {
    let of = |url: &str| {
        let (settings, workspace) = Registry::standard().settings(&PlaceUrl::parse(url).unwrap()).unwrap();
        assert_eq!((settings.kind(), workspace), ("http", None));
        json!(settings.options())
    };
    let plain = json!({"address": ADDRESS, "lock_address": ADDRESS, "unlock_address": ADDRESS,
        "update_method": "POST", "lock_method": "LOCK", "unlock_method": "UNLOCK"});
    assert_eq!(of(ADDRESS), plain);
    let with_query = of("http://h/a%2Fb?x=%20y&workspace=dev&retry_max=0&headers.X-Token=t");
    assert_eq!(with_query["address"], "http://h/a%2Fb?x=%20y&workspace=dev");
    assert_eq!(with_query["lock_address"], with_query["address"]);
    assert_eq!((&with_query["retry_max"], &with_query["headers"]["X-Token"]), (&json!("0"), &json!("t")));
    let gitlab = of(
        "https://ana@h/s?lock_address=https://h/s/lock&lock_method=POST&unlock_address=https://h/s/lock&unlock_method=DELETE",
    );
    assert_eq!((&gitlab["username"], &gitlab["lock_method"]), (&json!("ana"), &json!("POST")));
    assert_eq!(of("http://h")["address"], "http://h/");
    for wrong in ["http://", "https:///x", "https://h/s?address=x"] {
        assert!(Registry::standard().settings(&PlaceUrl::parse(wrong).unwrap()).is_err(), "{wrong}");
    }
}

#[test]
fn an_address_does_without_a_lock_if_it_says_so() {
    for (query, locking) in [("", true), ("?lock_address=&unlock_address=", false)] {
        let (settings, _) =
            Registry::standard().settings(&PlaceUrl::parse(&format!("{ADDRESS}{query}")).unwrap()).unwrap();
        // Verbs and addresses of the environment are about another state.
        let variables = [
            ("TF_HTTP_ADDRESS", "https://other.example.com/"),
            ("TF_HTTP_LOCK_ADDRESS", "https://other.example.com/"),
            ("TF_HTTP_UNLOCK_ADDRESS", "https://other.example.com/"),
            ("TF_HTTP_LOCK_METHOD", "POST"),
        ];
        let opened = open(&settings, &variables).unwrap();
        assert_eq!(locks(&opened).0, locking, "{query}");
        assert_eq!(opened.backend.to_string(), ADDRESS);
        assert_eq!(opened.warnings.iter().any(|line| line.contains("no lock_address")), !locking);
    }
    let reading = context(&[]).purpose(Purpose::Read);
    let unlocked = Settings::new("http").with("address", ADDRESS);
    assert_eq!(Registry::standard().open(&unlocked, &reading).unwrap().warnings, [""; 0]);
}

#[test]
fn variables_stand_in_for_options() {
    let lock = format!("{ADDRESS}/lock");
    let variables = [
        ("TF_HTTP_ADDRESS", ADDRESS),
        ("TF_HTTP_LOCK_ADDRESS", lock.as_str()),
        ("TF_HTTP_UNLOCK_ADDRESS", lock.as_str()),
        ("TF_HTTP_LOCK_METHOD", "POST"),
        ("TF_HTTP_UNLOCK_METHOD", "DELETE"),
        ("TF_HTTP_UPDATE_METHOD", "PUT"),
        ("TF_HTTP_USERNAME", "ana"),
        ("TF_HTTP_PASSWORD", SECRET),
        ("TF_HTTP_RETRY_MAX", "5"),
        ("TF_HTTP_RETRY_WAIT_MIN", "2"),
        ("TF_HTTP_RETRY_WAIT_MAX", "60"),
    ];
    let opened = open(&Settings::new("http"), &variables).unwrap();
    assert_eq!((opened.backend.to_string().as_str(), locks(&opened)), (ADDRESS, (true, lock.clone())));
    // An option that is empty is none, whatever the variable says.
    let unlocked = Settings::new("http").with("lock_address", "").with("unlock_address", "");
    assert!(!locks(&open(&unlocked, &variables).unwrap()).0);
    let none = open(&Settings::new("http"), &[]).unwrap_err();
    assert!(none.contains("TF_HTTP_ADDRESS"), "{none}");
}

#[test]
fn what_cannot_be_used_is_named_without_its_value() {
    let with = |name: &str, value: Value| Settings::new("http").with("address", ADDRESS).with(name, value);
    for (name, value) in [
        ("address", json!(format!("ftp://{SECRET}"))),
        ("lock_address", json!(ADDRESS)),
        ("unlock_address", json!(ADDRESS)),
        ("update_method", json!(format!("{SECRET} x"))),
        ("retry_max", json!(SECRET)),
        ("retry_wait_min", json!("-1")),
        ("headers", json!([SECRET])),
        ("headers", json!({"X-A": {"b": SECRET}})),
        ("headers", json!({"Content-Type": SECRET})),
        ("password", json!({"a": SECRET})),
        ("skip_cert_verification", json!(SECRET)),
        ("client_ca_certificate_pem", json!(SECRET)),
        ("client_private_key_pem", json!(SECRET)),
        ("max_state_size", json!(SECRET)),
        ("request_timeout", json!(0)),
        ("bukket", json!(SECRET)),
    ] {
        let error = open(&with(name, value), &[]).unwrap_err();
        assert!(error.contains("\"http\"") && error.contains("cannot be used"), "{name}: {error}");
    }
    // As a block has it, and as a variable would.
    for value in [json!(3), json!("3")] {
        assert!(open(&with("retry_max", value), &[]).is_ok());
    }
    assert!(open(&with("skip_cert_verification", json!(true)), &[]).is_ok());
    assert!(open(&with("headers", json!({"X-A": "b", "X-C": null})), &[]).is_ok());
}

/// A directory whose block and record have these options.
fn initialised(config: &Value) -> tempfile::TempDir {
    let record = json!({"version": 3, "backend": {"type": "http", "config": config, "hash": 1}}).to_string();
    let block = json!({"terraform": {"backend": {"http": config}}}).to_string();
    directory(&[(".terraform/terraform.tfstate", &record), ("main.tf.json", &block)])
}

fn of_directory(dir: &Path, variables: &[(&str, &str)], trust: bool) -> Result<(), BackendsError> {
    let context = context(variables).trusts_directories(trust);
    Registry::standard().place(dir.to_str().expect("it is text"), None, &context).map(drop)
}

#[test]
fn a_directory_does_not_say_who_gets_the_credentials_of_the_environment() {
    let plain = json!({"address": ADDRESS, "lock_address": ADDRESS, "unlock_address": ADDRESS});
    let basic = [("TF_HTTP_USERNAME", "ana"), ("TF_HTTP_PASSWORD", SECRET)];
    let with = |more: Value| {
        let mut config = plain.clone();
        more.as_object().unwrap().iter().for_each(|(name, value)| config[name] = value.clone());
        config
    };
    let here = ("GROUNDSTATE_HTTP_TRUSTED_SERVERS", "https://a.example.com, https://state.example.com/");
    for (config, variables) in [
        (plain.clone(), &basic[..]),
        (with(json!({"username": "x"})), &basic[1..]),
        (with(json!({"password": "x"})), &basic[..1]),
        // Another port, another scheme, and only one of the addresses.
        (
            plain.clone(),
            &[basic[0], basic[1], ("TF_HTTP_ADDRESS", "https://state.example.com:8443/network/prod")],
        ),
        (
            plain.clone(),
            &[basic[0], basic[1], ("GROUNDSTATE_HTTP_TRUSTED_SERVERS", "http://state.example.com")],
        ),
        (
            with(json!({"lock_address": "https://evil.example/", "unlock_address": "https://evil.example/"})),
            &[basic[0], basic[1], ("TF_HTTP_ADDRESS", ADDRESS)],
        ),
        (with(json!({"skip_cert_verification": true})), &[basic[0], basic[1], here]),
    ] {
        for trust in [false, true] {
            let error = of_directory(initialised(&config).path(), variables, trust).unwrap_err().to_string();
            assert!(error.contains("a directory does not decide"), "{config} {variables:?}: {error}");
            assert!(!error.contains(SECRET), "{error}");
        }
    }
    for (config, variables) in [
        (plain.clone(), &[][..]),
        (plain.clone(), &basic[1..]),
        (with(json!({"username": "x", "password": "y"})), &[]),
        (plain.clone(), &[basic[0], basic[1], ("TF_HTTP_ADDRESS", ADDRESS)]),
        (plain.clone(), &[basic[0], basic[1], here]),
        (
            with(json!({"skip_cert_verification": true})),
            &[basic[0], basic[1], here, ("GROUNDSTATE_HTTP_SKIP_CERT_VERIFICATION", "true")],
        ),
    ] {
        let opened = of_directory(initialised(&config).path(), variables, false);
        assert!(opened.is_ok(), "{config} {variables:?}: {opened:?}");
    }
}

#[test]
fn advice_names_the_origin_of_the_server_as_it_has_to_be_listed() {
    let basic = [("TF_HTTP_USERNAME", "ana"), ("TF_HTTP_PASSWORD", SECRET)];
    for (address, server) in [
        ("http://127.0.0.1:8080/tf/a/b", "http://127.0.0.1:8080"),
        ("https://state.example.com/network/prod", "https://state.example.com"),
        ("https://state.example.com:8443/x", "https://state.example.com:8443"),
    ] {
        let config = json!({"address": address, "lock_address": address, "unlock_address": address});
        let directory = initialised(&config);
        let error = of_directory(directory.path(), &basic, false).unwrap_err().to_string();
        assert!(error.contains(&format!("list {server} in GROUNDSTATE_HTTP_TRUSTED_SERVERS")), "{error}");
        // What the advice says works.
        let listed = [basic[0], basic[1], ("GROUNDSTATE_HTTP_TRUSTED_SERVERS", server)];
        let opened = of_directory(directory.path(), &listed, false);
        assert!(opened.is_ok(), "{opened:?}");
    }
}

#[test]
fn what_only_init_recorded_decides_about_no_address() {
    let block = "terraform {\n  backend \"http\" {\n    address = \"https://state.example.com/network/prod\"\n  }\n}\n";
    let record = |more: Value| {
        let mut config = json!({"address": ADDRESS, "retry_max": null});
        more.as_object().unwrap().iter().for_each(|(name, value)| config[name] = value.clone());
        json!({"version": 3, "backend": {"type": "http", "config": config, "hash": 1}}).to_string()
    };
    for (more, agrees) in [
        (json!({}), true),
        (json!({"username": "ana", "password": SECRET, "headers": {"X-A": "b"}, "retry_max": 3}), true),
        (json!({"lock_address": ADDRESS, "unlock_address": ADDRESS}), false),
        (json!({"address": "https://evil.example/"}), false),
        (json!({"skip_cert_verification": true}), false),
        (json!({"client_ca_certificate_pem": "x"}), false),
    ] {
        let dir = directory(&[(".terraform/terraform.tfstate", &record(more.clone())), ("main.tf", block)]);
        let opened = of_directory(dir.path(), &[], false);
        assert_eq!(opened.is_ok(), agrees, "{more}: {opened:?}");
    }
    let own = json!({"address": ADDRESS, "conditional_write": true});
    let error = of_directory(initialised(&own).path(), &[], true).unwrap_err().to_string();
    assert!(error.contains("not from a directory"), "{error}");
}

#[tokio::test]
async fn a_state_is_opened_by_its_address_and_by_its_directory() {
    let server = HttpStateServer::start_blocking();
    let address = format!("{}/team/app", server.endpoint());
    let config = json!({"address": address, "lock_address": address, "unlock_address": address});
    let dir = initialised(&config);
    for argument in [address.as_str(), dir.path().to_str().unwrap()] {
        let place = Registry::standard().place(argument, None, &context(&[])).unwrap();
        let store = place.opened.backend.store(&place.workspace).unwrap();
        store.write(Bytes::from_static(b"{}"), &WriteOptions::any()).await.unwrap();
        assert_eq!(place.opened.backend.list().await.unwrap(), [WorkspaceName::default_name()]);
        assert_eq!(store.to_string(), address);
    }
    let dev = Registry::standard().place(&address, Some(&name("dev")), &context(&[])).unwrap();
    assert!(dev.opened.backend.store(&dev.workspace).is_err());
    assert_eq!(server.count("POST", "/team/app"), 2);
}
