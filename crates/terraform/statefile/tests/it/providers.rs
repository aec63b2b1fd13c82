//! Provider addresses without a registry, and those that a product cannot read.

use groundstate_statefile::{DecodeOptions, Dialect, Document, EncodeOptions, decode, encode, unread_by};
use groundstate_states::addr::AbsResource;

use crate::support::{again, read};

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

#[test]
fn a_short_address_is_written_as_it_is_spelled() {
    let text = with_providers(&[TOFU, SHORT, LEGACY]);
    let file = read(&text);
    let host = Dialect::OpenTofu.default_registry();
    assert!(file.state.all_resources().all(|(_, _, resource)| resource.provider.source.host() == host));
    let written = again(&text);
    assert!(written.contains(r#""provider":"provider[\"reg/t\"]""#), "{written}");
    assert!(written.contains(r#""provider":"provider.t""#), "{written}");

    let document = Document::open(text.into_bytes()).unwrap();
    let mut edit = document.edit();
    let mut resource = document.resource(&at("t.b")).unwrap().unwrap();
    resource.instances.clear();
    edit.resource(at("t.b"), Some(resource));
    let written = String::from_utf8(edit.to_vec().unwrap()).unwrap();
    assert!(written.contains(r#""provider[\"reg/t\"]""#), "{written}");
}

#[test]
fn keys_of_another_provider_do_not_stay_with_its_instances() {
    let keyed = r#"{"mode":"managed","type":"t","name":"a","instances":[{"index_key":0,"provider":"provider[\"a/t\"].by[\"k\"]"}]}"#;
    let plain = r#"{"mode":"managed","type":"t","name":"a","provider":"provider[\"a/t\"]","instances":[{"index_key":1}]}"#;
    let text = format!(r#"{{"version":4,"serial":1,"lineage":"a","resources":[{keyed},{plain}]}}"#);
    let file = read(&text);
    assert!(encode(&file, &EncodeOptions::default()).is_err(), "one of the providers would be lost");
    let written = encode(&file, &EncodeOptions::default().allow_loss(true)).unwrap();
    let again = decode(&written, &DecodeOptions::default().dialect(file.dialect)).unwrap();
    assert_eq!(again.state, file.state);
}

#[test]
fn resources_that_a_product_drops_are_listed() {
    let file = read(with_providers(&[
        ("a", r#"provider["registry.opentofu.org/-/t"]"#),
        ("b", r#"provider["registry.terraform.io/-/t"]"#),
        ("c", "provider.t"),
        ("d", r#"provider["a/opentofu-t"]"#),
    ]));
    let listed = |dialect| -> Vec<String> {
        let losses = unread_by(&file, dialect);
        losses.iter().map(|loss| loss.to_string().split(',').next().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(listed(Dialect::Terraform), ["t.a"]);
    assert_eq!(listed(Dialect::OpenTofu), ["t.b", "t.d"]);
}
