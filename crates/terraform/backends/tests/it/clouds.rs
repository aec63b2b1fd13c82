//! Settings of the clouds: what is the backend's, what is the service's, and what is neither's.

use groundstate_backends::{Opened, PlaceUrl, Registry, Settings};
use groundstate_statemgr::Backend;
use serde_json::json;

use crate::support::{context, name};

fn open(settings: &Settings, variables: &[(&str, &str)]) -> Result<Opened, String> {
    Registry::standard().open(settings, &context(variables)).map_err(|error| {
        let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        format!("{error}: {source}")
    })
}

fn s3() -> Settings {
    let keys = Settings::new("s3").with("access_key", "a").with("secret_key", "hunter2");
    keys.with("bucket", "states").with("key", "team/app.tfstate").with("region", "eu-west-1")
}

fn store(opened: &Opened, workspace: &str) -> String {
    opened.backend.store(&name(workspace)).expect("the names make keys").to_string()
}

#[test]
fn addresses_are_the_settings_of_a_block() {
    let of = |url: &str| {
        let (settings, workspace) = Registry::standard().settings(&PlaceUrl::parse(url).unwrap()).unwrap();
        (settings.kind().to_owned(), json!(settings.options()), workspace.map(|name| name.to_string()))
    };
    let s3 =
        of("s3://states/team/app.tfstate?region=x&endpoints.s3=http://h:1&use_lockfile=true&workspace=dev");
    let options = json!({"bucket": "states", "key": "team/app.tfstate", "region": "x", "use_lockfile": "true",
        "endpoints": {"s3": "http://h:1"}});
    assert_eq!(s3, ("s3".into(), options, Some("dev".into())));
    let gcs = of("gs://states/team/app");
    assert_eq!(gcs, ("gcs".into(), json!({"bucket": "states", "prefix": "team/app"}), None));
    let gcs = of("gs://states/team/app/dev.tfstate");
    assert_eq!(gcs, ("gcs".into(), json!({"bucket": "states", "prefix": "team/app"}), Some("dev".into())));
    let azure = of("az://states/app.tfstate?storage_account_name=acme");
    let options = json!({"container_name": "states", "key": "app.tfstate", "storage_account_name": "acme"});
    assert_eq!(azure, ("azurerm".into(), options, None));
    for wrong in ["s3://states", "s3:///key", "gs:///x", "az://states", "az:///x"] {
        assert!(Registry::standard().settings(&PlaceUrl::parse(wrong).unwrap()).is_err(), "{wrong}");
    }
}

#[test]
fn workspaces_lie_where_terraform_keeps_them() {
    let opened = open(&s3(), &[]).unwrap();
    assert_eq!(store(&opened, "default"), "s3://states/team/app.tfstate");
    assert_eq!(store(&opened, "dev"), "s3://states/env:/dev/team/app.tfstate");
    let opened = open(&s3().with("workspace_key_prefix", "ws/x"), &[]).unwrap();
    assert_eq!(store(&opened, "dev"), "s3://states/ws/x/dev/team/app.tfstate");
    let opened = open(&s3().with("workspace_key_prefix", ""), &[]).unwrap();
    assert_eq!(store(&opened, "dev"), "s3://states/dev/team/app.tfstate");
    let gcs =
        Settings::new("gcs").with("bucket", "states").with("prefix", "/team/app/").with("access_token", "x");
    assert_eq!(store(&open(&gcs, &[]).unwrap(), "dev"), "gs://states/team/app/dev.tfstate");
}

#[test]
fn the_environment_stands_in_for_options() {
    let bare = Settings::new("s3").with("bucket", "states").with("key", "k");
    let keys = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")];
    let error = open(&bare, &keys).unwrap_err();
    assert!(error.contains("`region`") && error.contains("AWS_REGION"), "{error}");
    assert!(open(&bare, &[keys[0], keys[1], ("AWS_REGION", "eu-west-1")]).is_ok());
    let opened = open(&s3(), &[("GROUNDSTATE_HISTORY", "true"), ("GROUNDSTATE_HISTORY_KEEP", "3")]).unwrap();
    assert!(opened.keeps_history);
    assert!(!open(&s3().with("history", false), &[("GROUNDSTATE_HISTORY", "true")]).unwrap().keeps_history);
}

#[test]
fn what_cannot_be_used_is_named_without_its_value() {
    for (settings, expected) in [
        (s3().with("bukket", "hunter2"), "bukket"),
        (s3().with("key", "/hunter2/"), "key"),
        (s3().with("key", ""), "\"key\""),
        (s3().with("use_lockfile", "hunter2"), "\"use_lockfile\""),
        (s3().with("history_keep", "0"), "\"history_keep\""),
        (s3().with("history_max_age", "hunter2"), "write it as 90d"),
        (Settings::new("azurerm").with("key", "k"), "storage_account_name"),
        (Settings::new("gcs").with("prefix", "k"), "`bucket`"),
    ] {
        let error = open(&settings, &[]).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    for settings in [s3().with("bukket", "hunter2"), s3().with("use_lockfile", "hunter2")] {
        let error = open(&settings, &[]).unwrap_err();
        assert!(!error.contains("hunter2"), "{error}");
    }
}

#[test]
fn what_init_of_real_releases_left_is_opened() {
    let above = || {
        let mut parents = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        parents.find_map(|parent| Some(parent.join("shared/fixtures")).filter(|path| path.is_dir()))
    };
    let Some(root) = std::env::var_os("GROUNDSTATE_FIXTURES").map(Into::into).or_else(above) else {
        eprintln!("not run: shared fixtures not present");
        return;
    };
    let variables = [
        ("AWS_ACCESS_KEY_ID", "a"),
        ("AWS_SECRET_ACCESS_KEY", "b"),
        ("GOOGLE_OAUTH_ACCESS_TOKEN", "y"),
        ("ARM_SAS_TOKEN", "sv=1"),
    ];
    for kind in ["azurerm", "gcs", "s3"] {
        let text =
            std::fs::read_to_string(root.join("terraform-1.11/backend-config").join(format!("{kind}.json")));
        let text = text.unwrap();
        let recorded: serde_json::Value = serde_json::from_str(&text).unwrap();
        let block = json!({"terraform": {"backend": {kind: recorded["backend"]["config"]}}}).to_string();
        let dir =
            crate::support::directory(&[(".terraform/terraform.tfstate", &text), ("main.tf.json", &block)]);
        let place = Registry::standard().place(dir.path().to_str().unwrap(), None, &context(&variables));
        let place =
            place.unwrap_or_else(|error| panic!("{kind}: {error} {:?}", std::error::Error::source(&error)));
        assert_eq!(place.settings.kind(), kind);
        assert!(place.opened.backend.to_string().contains("://"), "{}", place.opened.backend);
    }
}

#[test]
fn blocks_with_roles_and_accounts_are_opened_as_terraform_records_them() {
    let block = json!({
        "bucket": "states", "key": "k", "region": "us-east-1", "use_path_style": true, "profile": null,
        "allowed_account_ids": ["210987654321", "123456789012"], "forbidden_account_ids": null,
        "assume_role": {
            "duration": "30m", "external_id": null, "policy": null,
            "policy_arns": ["arn:aws:iam::aws:policy/ReadOnlyAccess", "arn:aws:iam::aws:policy/SecurityAudit"],
            "role_arn": "arn:aws:iam::210987654321:role/states", "session_name": null, "source_identity": null,
            "tags": {"Team": "a,b", "k.x": "y"}, "transitive_tag_keys": ["Team", "k.x"],
        },
        "assume_role_with_web_identity": null, "endpoints": null, "http_proxy": null,
    });
    let serde_json::Value::Object(block) = block else { unreachable!("it is an object") };
    let keys = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")];
    let settings = Settings::new("s3").with_all(&block);
    assert_eq!(store(&open(&settings, &keys).unwrap(), "default"), "s3://states/k");
    // An account that is not text is not dropped: without it, every account would do.
    let error =
        open(&settings.clone().with("allowed_account_ids", json!([["1"], {"a": 1}])), &keys).unwrap_err();
    assert!(error.contains("allowed_account_ids"), "{error}");
    let error = open(&settings.with("allowed_account_ids", json!([12])), &keys).unwrap_err();
    assert!(error.contains("12 digits"), "{error}");
}
