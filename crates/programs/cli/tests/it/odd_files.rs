//! Odd and damaged files, and Terraform's verdict on each of them.

use std::fs;

use serde_json::Value;

use super::support::{groundstate, shared_fixtures};

/// Where we decide otherwise; `docs/differences.md` gives the reasons.
const DIFFERENT: [(&str, i32, &[&str]); 10] = [
    ("bad-provider", 5, &[]),
    ("provider-module-key", 5, &[]),
    ("opentofu-provider-key", 5, &[]),
    ("opentofu-provider-per-instance", 0, &["null_resource.a[\"a\"]", "null_resource.kept"]),
    ("index-float", 5, &[]),
    ("index-negative", 5, &[]),
    ("index-2-53", 0, &["null_resource.a[9007199254740993]"]),
    ("invalid-utf8", 4, &[]),
    ("v1-tainted-only", 0, &["a_b.c", "a_b.d"]),
    ("empty-file", 3, &[]),
];

#[test]
fn decides_as_terraform_does_but_for_the_documented_differences() {
    let Some(root) = shared_fixtures() else { return };
    let root = root.join("terraform-1.11/odd-files");
    let cases: Vec<Value> = serde_json::from_slice(&fs::read(root.join("cases.json")).unwrap()).unwrap();
    let mut tried = 0;
    for case in &cases {
        let name = case["case"].as_str().unwrap();
        let path = root.join(format!("{name}.in"));
        // One input is too large to be kept, and stands in a test of its own.
        if !path.exists() {
            assert_eq!(name, "too-deep-nesting");
            continue;
        }
        let run = groundstate(&["list", path.to_str().unwrap()]);
        let listed: Vec<&str> = run.stdout.lines().collect();
        match DIFFERENT.iter().find(|(known, ..)| *known == name) {
            Some((_, code, expected)) => assert_eq!((run.code, &*listed), (*code, *expected), "{name}"),
            None => {
                let expected: Vec<&str> =
                    case["list"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
                let refused = case["list_exit"] != 0;
                assert_eq!((run.code != 0, listed), (refused, expected), "{name}: {}", run.stderr);
                assert!([0, 4, 5].contains(&run.code), "{name}: {}", run.code);
            }
        }
        tried += 1;
    }
    assert_eq!(tried, 131);
}

#[test]
fn documents_every_difference() {
    let text = fs::read_to_string(super::support::workspace().join("docs/differences.md")).unwrap();
    for (name, ..) in DIFFERENT {
        assert!(text.contains(&format!("`{name}`")), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_variable_that_is_not_text_does_not_count_as_unset() {
    use std::os::unix::ffi::OsStrExt;
    let value = std::ffi::OsStr::from_bytes(b"hush-\xe9");
    let run = |name: &str| {
        let mut command = super::support::command(&["list", "webshop-v4-terraform.tfstate"]);
        super::support::Run::of(command.env(name, value).output().unwrap())
    };
    for name in [
        "PULUMI_BACKEND_URL",
        "TF_WORKSPACE",
        "TF_ENCRYPTION",
        "TF_VAR_key",
        "AWS_ENDPOINT_URL_S3",
        "PGHOST",
        "https_proxy",
    ] {
        let refused = run(name).failed(2);
        assert!(refused.contains(&format!("the variable {name} is not valid UTF-8")), "{refused}");
        assert!(!refused.contains("hush"), "{refused}");
    }
    for name in ["LESSOPEN", "PULUMI_CONFIG_PASSPHRASE", "GROUNDSTATE_CONFIG"] {
        run(name).clean();
    }
}
