//! Providers without a registry, and those that a product cannot read, in edited states.

use groundstate_state_edit::{Editor, MoveOptions, ReplaceProviderError, Transfer, diff};
use groundstate_statefile::{DecodeOptions, Dialect, Document, File};
use groundstate_states::addr::{AbsResource, ProviderSource};

use crate::support::{at as target, instance, operate, read};

/// A document with resources of type `t` that have these names and providers.
fn with_providers(resources: &[(&str, &str)]) -> String {
    let resources: Vec<String> = resources
        .iter()
        .map(|(name, provider)| {
            let provider = provider.replace('"', "\\\"");
            format!(
                r#"{{"mode":"managed","type":"t","name":"{name}","provider":"{provider}","instances":[{{"schema_version":0,"attributes":{{}}}}]}}"#
            )
        })
        .collect();
    format!(r#"{{"version":4,"serial":1,"lineage":"a","resources":[{}]}}"#, resources.join(","))
}

const TOFU: (&str, &str) = ("a", r#"provider["registry.opentofu.org/reg/t"]"#);
const SHORT: (&str, &str) = ("b", r#"provider["reg/t"]"#);
const LEGACY: (&str, &str) = ("c", "provider.t");

fn at(text: &str) -> AbsResource {
    AbsResource::parse(text).unwrap()
}

/// Takes `t.a` out.
fn without_a(document: &Document) -> Vec<u8> {
    let mut edit = document.edit();
    edit.resource(at("t.a"), None);
    edit.to_vec().unwrap()
}

#[test]
fn a_short_address_keeps_its_meaning_when_the_rest_of_the_file_changes() {
    let document = Document::open(with_providers(&[TOFU, SHORT, LEGACY]).into_bytes()).unwrap();
    assert_eq!(document.dialect(), Dialect::OpenTofu);
    let provider = document.resource(&at("t.b")).unwrap().unwrap().provider.to_string();
    assert_eq!(provider, r#"provider["registry.opentofu.org/reg/t"]"#);
    let written = without_a(&document);
    let changed =
        Document::open_with(written.clone(), &DecodeOptions::default().dialect(document.dialect())).unwrap();
    for name in ["t.b", "t.c"] {
        assert_eq!(changed.resource(&at(name)), document.resource(&at(name)), "{name}");
    }
    // Read for itself it looks like a file of Terraform, but nothing in it has another address than before.
    let (before, after) = (document.to_file().unwrap(), read(&written));
    assert_eq!(after.dialect, Dialect::Terraform);
    let changes: Vec<String> = diff(&before, &after).entries.iter().map(|e| e.subject.to_string()).collect();
    assert_eq!(changes, ["t.a"]);
}

#[test]
fn replacing_a_short_provider_finds_that_of_either_registry() {
    let text = with_providers(&[
        TOFU,
        ("d", r#"provider["registry.terraform.io/acme/u"]"#),
        ("e", r#"provider["registry.terraform.io/reg/t"].x"#),
        ("f", r#"provider["registry.terraform.io/acme/v"]"#),
    ]);
    let document = Document::open(text.into_bytes()).unwrap();
    let source = |text| ProviderSource::parse(text, document.dialect().default_registry()).unwrap();
    let replaced = |from, to| {
        let mut editor = Editor::on_document(&document);
        editor.replace_provider(&source(from), &source(to)).map(|summary| {
            let file = editor.to_file().unwrap();
            let all = file.state.all_resources().map(|(_, name, r)| format!("{name} {}", r.provider));
            (summary.len(), all.collect::<Vec<_>>())
        })
    };
    // The file counts as OpenTofu's, and the provider is there from Terraform's registry only: it stays there.
    let (count, all) = replaced("acme/u", "other/u").unwrap();
    assert_eq!(count, 1);
    assert_eq!(all[1], r#"t.d provider["registry.terraform.io/other/u"]"#);
    let (count, all) = replaced("reg/t", "other/t").unwrap();
    assert_eq!(count, 2);
    assert_eq!(all[0], r#"t.a provider["registry.opentofu.org/other/t"]"#);
    assert_eq!(all[2], r#"t.e provider["registry.terraform.io/other/t"].x"#);
    let (count, all) = replaced("reg/t", "registry.terraform.io/reg/t").unwrap();
    assert_eq!((count, all[0].as_str()), (1, r#"t.a provider["registry.terraform.io/reg/t"]"#));
    let nothing = replaced("no/such", "other/t").unwrap_err();
    assert_eq!(
        nothing.to_string(),
        "nothing to replace: no resource has the provider registry.opentofu.org/no/such or \
         registry.terraform.io/no/such"
    );
    // The same name means each registry's own provider, so nothing is left to replace.
    assert!(matches!(replaced("reg/t", "reg/t"), Err(ReplaceProviderError::Same { .. })));
}

#[test]
fn a_provider_is_found_however_its_name_is_spelled_and_wherever_it_stands() {
    let of_resource =
        |name: &str| with_providers(&[("a", &format!(r#"provider["registry.terraform.io/acme/{name}"]"#))]);
    let of_instance = r#"{"version":4,"serial":1,"lineage":"a","resources":[{"mode":"managed","type":"t","name":"a","instances":[
        {"provider":"provider[\"registry.terraform.io/acme/test\"]","schema_version":0,"attributes":{}}]}]}"#;
    // The last is an escape of the address, not of JSON.
    let texts = ["test", "TEST", "\u{ff54}est", "\\\\u0074est"].map(of_resource);
    for text in texts.into_iter().chain([of_instance.to_owned()]) {
        let document = Document::open(text.clone().into_bytes()).unwrap();
        let source = |text| ProviderSource::parse(text, document.dialect().default_registry()).unwrap();
        let after = operate(&document, |editor| {
            let summary = editor.replace_provider(&source("acme/test"), &source("other/test"));
            assert_eq!(summary.map(|summary| summary.len()), Ok(1), "{text}");
        });
        let provider = after.state.resource(&at("t.a")).unwrap().provider.to_string();
        assert_eq!(provider, r#"provider["registry.terraform.io/other/test"]"#, "{text}");
    }
}

#[test]
fn an_instance_keeps_the_key_of_its_provider_with_that_provider_alone() {
    let object = |key: u8, region: &str| {
        format!(
            r#"{{"index_key":{key},"provider":"provider[\"registry.opentofu.org/acme/t\"].by[\"{region}\"]","attributes":{{}}}}"#
        )
    };
    let text = format!(
        r#"{{"version":4,"serial":1,"lineage":"a","resources":[{{"mode":"managed","type":"t","name":"a","instances":[{},{}]}},
        {{"mode":"managed","type":"t","name":"b","provider":"provider[\"registry.opentofu.org/acme/t\"]","instances":[{{"index_key":0,"attributes":{{}}}}]}}]}}"#,
        object(0, "eu"),
        object(1, "us")
    );
    let document = Document::open(text.into_bytes()).unwrap();
    let after = operate(&document, |editor| {
        for (from, to) in [("t.a[0]", "t.c"), ("t.a[1]", "t.b[1]")] {
            editor.move_address(&target(from), &target(to), MoveOptions::default()).unwrap();
        }
    });
    let key = |file: &File, address: &str| {
        file.state.resource_instance(&instance(address)).unwrap().provider_key.to_string()
    };
    assert_eq!((key(&after, "t.c"), key(&after, "t.b[1]")), (r#"["eu"]"#.to_owned(), String::new()));
    // Another state is no different.
    let other = with_providers(&[("b", r#"provider["registry.opentofu.org/acme/t"].west"#)]);
    let other = Document::open(other.into_bytes()).unwrap();
    let mut joined = Editor::on_document(&other);
    let pairs = [("t.a[0]", "t.c"), ("t.a[1]", "t.b[1]")].map(|(from, to)| (target(from), target(to)));
    Transfer::plan(&Editor::on_document(&document), &pairs).unwrap().add_to(&mut joined).unwrap();
    let joined = joined.to_file().unwrap();
    assert_eq!((key(&joined, "t.c"), key(&joined, "t.b[1]")), (r#"["eu"]"#.to_owned(), String::new()));
}

#[test]
fn no_resource_gets_a_provider_that_its_product_drops() {
    let legacy = |host| ProviderSource::parse(&format!("{host}/-/t"), host).unwrap();
    for (text, other) in [
        (with_providers(&[("a", r#"provider["registry.terraform.io/reg/t"]"#)]), Dialect::OpenTofu),
        (with_providers(&[TOFU]), Dialect::Terraform),
    ] {
        let document = Document::open(text.into_bytes()).unwrap();
        let own = document.dialect();
        let from = ProviderSource::parse("reg/t", own.default_registry()).unwrap();
        let mut editor = Editor::on_document(&document);
        let refused = editor.replace_provider(&from, &legacy(other.default_registry()));
        assert!(matches!(refused, Err(ReplaceProviderError::Unread { .. })), "{refused:?}");
        assert!(!editor.is_changed().unwrap());
        editor.replace_provider(&from, &legacy(own.default_registry())).unwrap();
    }
}
