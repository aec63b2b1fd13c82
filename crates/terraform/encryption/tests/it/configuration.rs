//! What a configuration says, in both syntaxes, alone and merged.

use groundstate_encryption::{Configuration, ConfigurationError, Scope, Target, Value};

use crate::support::{STATE, configuration, open, seal};

const JSON: &str = r#"
    {
      "//": "a comment",
      "key_provider": {"pbkdf2": {"main": {"passphrase": "correct-${var.word}-battery", "iterations": 200000}}},
      "method": [{"aes_gcm": {"m": {"keys": "${key_provider.pbkdf2.main}", "aad": [1]}}}, {"unencrypted": {"u": {}}}],
      "state": {"method": "method.aes_gcm.m", "fallback": {"method": "method.unencrypted.u"}},
      "remote_state_data_sources": {
        "default": {"method": "method.unencrypted.u"},
        "remote_state_data_source": {"net[0]": {"method": "method.aes_gcm.m"}}
      }
    }
"#;

fn horse() -> Scope {
    Scope::new().variable("word", Value::text("horse"))
}

fn parse(text: &str) -> Result<Option<Configuration>, ConfigurationError> {
    Configuration::parse("TF_ENCRYPTION", text, &Scope::new())
}

/// The error of a text, or of the chain of its states.
fn error(text: &str) -> String {
    match parse(text) {
        Ok(configuration) => configuration.unwrap().chain(&Target::State).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    }
}

fn methods(configuration: &Configuration, target: &Target) -> Vec<String> {
    let chain = configuration.chain(target).unwrap();
    chain
        .iter()
        .flat_map(groundstate_encryption::Chain::methods)
        .map(|method| method.id().to_string())
        .collect()
}

#[test]
fn both_syntaxes_say_the_same() {
    let native = r#"
        # a comment
        key_provider "pbkdf2" "main" {
          passphrase = "correct-${var.word}-battery"
          iterations = 2e5
        }
        method "aes_gcm" "m" {
          keys = key_provider.pbkdf2.main
          aad  = [1]
        }
        method "unencrypted" "u" {}
        state {
          method = method.aes_gcm.m
          fallback {
            method = method.unencrypted.u
          }
        }
        remote_state_data_sources {
          default {
            method = method.unencrypted.u
          }
          remote_state_data_source "net[0]" {
            method = method.aes_gcm.m
          }
        }
    "#;
    let read = |text: &str| Configuration::parse("TF_ENCRYPTION", text, &horse()).unwrap().unwrap();
    let (native, json) = (read(native), read(JSON));
    for target in [
        Target::State,
        Target::Plan,
        Target::RemoteState("net[0]".to_owned()),
        Target::RemoteState("other".to_owned()),
    ] {
        assert_eq!(native.chain(&target).unwrap(), json.chain(&target).unwrap(), "{target:?}");
    }
    assert_eq!(methods(&json, &Target::State), ["method.aes_gcm.m", "method.unencrypted.u"]);
    assert_eq!(methods(&json, &Target::RemoteState("net[0]".to_owned())), ["method.aes_gcm.m"]);
    assert_eq!(methods(&json, &Target::RemoteState("other".to_owned())), ["method.unencrypted.u"]);
    assert!(json.chain(&Target::Plan).unwrap().is_none());
}

#[test]
fn blank_text_is_no_configuration() {
    assert_eq!(parse(""), Ok(None));
    assert_eq!(parse(" \n\t"), Ok(None));
}

#[test]
fn the_environment_changes_options_and_targets_of_the_files() {
    let files = configuration(
        r#"
        key_provider "pbkdf2" "main" {
          passphrase               = "of-the-files-of-the-files"
          iterations               = 200000
          encrypted_metadata_alias = "kept"
        }
        method "aes_gcm" "main" { keys = key_provider.pbkdf2.main }
        method "unencrypted" "plain" {}
        state {
          method = method.aes_gcm.main
          fallback { method = method.unencrypted.plain }
        }
        "#,
    );
    assert_eq!(methods(&files, &Target::State).len(), 2);
    let environment = configuration(
        r#"{
          "key_provider": {"pbkdf2": {"main": {"passphrase": "of-the-environment-of-it", "encrypted_metadata_alias": "ignored"}}},
          "method": {"aes_gcm": {"second": {"keys": "key_provider.pbkdf2.main"}}},
          "state": {"method": "method.aes_gcm.second", "enforced": true}
        }"#,
    );
    let merged = files.clone().merged(environment);
    // The fallback of the files is still there, and now forbidden.
    assert!(matches!(merged.chain(&Target::State), Err(ConfigurationError::Forbidden { .. })));
    let merged = files.merged(configuration(
        r#"
        key_provider "pbkdf2" "main" { passphrase = "of-the-environment-of-it" }
        state {
          fallback { method = method.aes_gcm.main }
        }
        plan { method = method.aes_gcm.main }
        "#,
    ));
    assert_eq!(methods(&merged, &Target::State), ["method.aes_gcm.main", "method.aes_gcm.main"]);
    let chain = merged.chain(&Target::State).unwrap().unwrap();
    let provider = chain.primary().key_provider().unwrap();
    assert_eq!(provider.metadata_key(), "kept");
    let alone = configuration(
        r#"
        key_provider "pbkdf2" "other" {
          passphrase               = "of-the-environment-of-it"
          encrypted_metadata_alias = "kept"
        }
        method "aes_gcm" "main" { keys = key_provider.pbkdf2.other }
        state { method = method.aes_gcm.main }
        "#,
    );
    let alone = alone.chain(&Target::State).unwrap().unwrap();
    assert_eq!(open(&alone, &seal(&chain, STATE)).unwrap().plaintext.expose(), STATE);
}

#[test]
fn what_is_not_evaluated_is_an_error_only_where_it_is_needed() {
    let text = |passphrase: &str| {
        format!(
            r#"
            key_provider "pbkdf2" "main" {{
              passphrase = {passphrase}
            }}
            key_provider "pbkdf2" "unused" {{ passphrase = file("nowhere") }}
            method "aes_gcm" "main" {{ keys = key_provider.pbkdf2.main }}
            state {{ method = method.aes_gcm.main }}
            "#
        )
    };
    for (passphrase, expected) in [
        ("var.passphrase", "the variable `passphrase` has no value; set TF_VAR_passphrase"),
        ("\"x-${local.y}\"", "the local `y` is not known"),
        ("file(\"secret.txt\")", "the function `file` is not evaluated here"),
        ("true ? \"a\" : \"b\"", "a condition is not evaluated here"),
        ("data.vault.secret", "`data.vault.secret` is not evaluated here"),
        ("[1]", "it has to be a text, and is a list"),
        ("\"short\"", "it is too short, and has to have 16 bytes at least"),
        ("null", "it has to be given, or `chain`"),
    ] {
        let error = error(&text(passphrase));
        assert!(error.contains(expected), "{passphrase}: {error}");
        let is_absent = passphrase == "null";
        let place = if is_absent {
            "TF_ENCRYPTION, line "
        } else {
            "TF_ENCRYPTION, line 3: option `passphrase` of key_provider.pbkdf2.main: "
        };
        assert!(error.starts_with(place), "{error}");
    }
}

#[test]
fn what_encryption_does_not_have_is_refused_with_its_line() {
    for (text, expected) in [
        ("x = 1", "line 1: encryption has no attribute `x`"),
        ("state {\n  methods = 1\n}", "line 2: encryption has no attribute `methods`"),
        ("states {}", "line 1: encryption has no block `states`"),
        ("state {}\nstate {}", "line 2: this is the second state"),
        ("state {}", "line 1: the target has no method"),
        ("state {\n  method = aes_gcm\n}", "line 2: `method`: `aes_gcm` is not evaluated here"),
        ("state {\n  method = method.aes_gcm\n}", "line 2: `method` has to have the form method.TYPE.NAME"),
        (
            "state {\n  method = method.aes_gcm.m\n}",
            "line 2: there is no method.aes_gcm.m in the encryption block",
        ),
        (
            "method \"rot13\" \"m\" {}\nstate {\n  method = method.rot13.m\n}",
            "line 1: there is no method of the type `rot13`",
        ),
        ("method \"aes_gcm\" {}", "line 1: `method` has two labels"),
        ("method \"aes_gcm\" \"a.b\" {}", "line 1: a label is not a name"),
        (
            "method \"aes_gcm\" \"m\" {}\nmethod \"aes_gcm\" \"m\" {}",
            "line 2: this is the second method.aes_gcm.m",
        ),
        (
            "method \"aes_gcm\" \"m\" {}\nstate {\n  method = method.aes_gcm.m\n}",
            "line 1: option `keys` of method.aes_gcm.m: it has to be given",
        ),
        (
            "method \"aes_gcm\" \"m\" {\n  keys = key_provider.pbkdf2.x\n}\nstate {\n  method = method.aes_gcm.m\n}",
            "line 2: there is no key_provider.pbkdf2.x",
        ),
        ("state {\n  method = \"${", "cannot be parsed"),
        ("{\"state\": {\n\"method\": ]", "line 2: it cannot be parsed"),
        ("{\"state\": \"x\"}", "line 1: an object has to stand here"),
    ] {
        let error = error(text);
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn providers_that_are_chained_in_a_circle_are_refused() {
    let text = |a: &str, b: &str| {
        error(&format!(
            r#"
            key_provider "pbkdf2" "a" {{ chain = key_provider.pbkdf2.{a} }}
            key_provider "pbkdf2" "b" {{ chain = key_provider.pbkdf2.{b} }}
            method "aes_gcm" "m" {{ keys = key_provider.pbkdf2.a }}
            state {{ method = method.aes_gcm.m }}
            "#
        ))
    };
    assert!(text("a", "b").contains("key_provider.pbkdf2.a needs its own key"));
    assert!(text("b", "a").contains("key_provider.pbkdf2.a needs its own key"));
}

#[test]
fn chained_providers_need_metadata_keys_of_their_own() {
    let error = error(
        r#"
        key_provider "openbao" "a" { encrypted_metadata_alias = "same" }
        key_provider "pbkdf2" "b" {
          chain                    = key_provider.openbao.a
          encrypted_metadata_alias = "same"
        }
        method "aes_gcm" "m" { keys = key_provider.pbkdf2.b }
        state { method = method.aes_gcm.m }
        "#,
    );
    assert!(error.contains("its metadata key `same` is that of key_provider.openbao.a too"), "{error}");
}

#[test]
fn options_of_services_are_handed_to_the_caller() {
    let configuration = configuration(
        r#"
        key_provider "aws_kms" "k" {
          kms_key_id  = "alias/tofu"
          max_retries = "3"
          insecure    = true
          shared_credentials_files = ["a", "b"]
          endpoints {
            sts = "https://sts.example"
          }
          assume_role = { role_arn = "arn" }
        }
        method "aes_gcm" "m" { keys = key_provider.aws_kms.k }
        state { method = method.aes_gcm.m }
        "#,
    );
    let chain = configuration.chain(&Target::State).unwrap().unwrap();
    let options = chain.primary().key_provider().unwrap().options().unwrap();
    assert_eq!(options.text("kms_key_id").unwrap().map(|text| text.as_str()), Some("alias/tofu"));
    assert_eq!(options.number("max_retries"), Ok(Some(3)));
    assert_eq!(options.flag("insecure"), Ok(Some(true)));
    assert_eq!(options.texts("shared_credentials_files").unwrap().unwrap(), ["a", "b"]);
    let endpoints = options.members("endpoints").unwrap().unwrap();
    assert_eq!(endpoints.text("sts").unwrap().map(|text| text.as_str()), Some("https://sts.example"));
    assert!(options.members("assume_role").unwrap().is_some());
    assert_eq!(options.text("region"), Ok(None));
    let error = options.only(&["kms_key_id"]).unwrap_err().to_string();
    assert!(
        error.contains("option `max_retries` of key_provider.aws_kms.k: there is no such option"),
        "{error}"
    );
}

#[test]
fn deep_and_wide_configurations_end_in_errors() {
    let deep = "[".repeat(100_000);
    assert!(parse(&format!("{{\"state\": {deep}")).is_err());
    assert!(parse(&format!("state {{ method = {deep}")).is_err());
    let nots = "!".repeat(100_000);
    assert!(parse(&format!("state {{ method = {nots}true }}")).is_err());
    let fallbacks = format!("{}{}", "fallback {\n".repeat(60), "}\n".repeat(60));
    assert!(parse(&format!("state {{\n{fallbacks}}}")).is_err());
}

#[test]
fn what_accepts_plaintext_is_known_without_options() {
    let accepts = |state: &str| {
        let text = format!(
            "method \"aes_gcm\" \"m\" {{\nkeys = file(\"x\")\n}}\nmethod \"unencrypted\" \"u\" {{}}\n{state}"
        );
        parse(&text).unwrap().unwrap().accepts_plain(&Target::State)
    };
    assert!(accepts(""));
    assert!(accepts("state {\nmethod = method.unencrypted.u\n}"));
    let strict = "state {\nmethod = method.aes_gcm.m\n}";
    assert!(!accepts(strict));
    let fallback = "state {\nmethod = method.aes_gcm.m\nfallback {\nmethod = method.unencrypted.u\n}\n}";
    assert!(accepts(fallback));
    assert!(!accepts(&fallback.replace("fallback {", "enforced = true\nfallback {")));
    assert!(accepts(&strict.replace("state", "plan")));
}
