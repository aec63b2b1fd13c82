//! Round trips of random snapshots.

use groundstate_pulumi_deployment::{
    DecodeOptions, DeploymentFile, EncodeOptions, Envelope, Layout, decode, encode,
};
use groundstate_pulumi_deployment::{Escapes, Secrets, decode_map, encode_map, open_secrets, seal_secrets};
use groundstate_pulumi_secrets::{Ciphertext, Plaintext};
use groundstate_pulumi_snapshot::{
    Number, Operation, OperationType, Properties, PropertyMap, PropertyValue as V, Resource, Snapshot, Urn,
};
use proptest::prelude::*;

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{0,4}", "[<>&\"\\\\\u{2028}\u{1}é😀 \n]{0,4}", Just("urn:pulumi:s::p::t::n".to_owned())]
}

/// Values that files have a form for.
fn values() -> impl Strategy<Value = V> {
    let leaf = prop_oneof![
        Just(V::Null),
        any::<bool>().prop_map(V::Bool),
        any::<f64>().prop_map(|number| V::Number(Number::new(number))),
        text().prop_map(V::from),
        prop::collection::vec(any::<u8>(), 0..4).prop_map(|bytes| V::bytes(&bytes)),
        Just(V::unknown()),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(V::Array),
            prop::collection::vec((text(), inner.clone()), 0..4)
                .prop_map(|m| V::Object(m.into_iter().collect())),
            inner.prop_map(V::into_secret),
        ]
    })
}

fn maps() -> impl Strategy<Value = PropertyMap> {
    prop::collection::vec((text(), values()), 0..4).prop_map(|entries| entries.into_iter().collect())
}

fn resources() -> impl Strategy<Value = Resource> {
    let names = || prop::collection::vec(text(), 0..3);
    let flags = prop::array::uniform8(any::<bool>());
    (text(), text(), maps(), names(), names(), flags).prop_map(
        |(urn, token, outputs, deps, others, flags)| {
            let mut made = Resource::new(urn, token);
            made.outputs = outputs.into();
            made.dependencies = deps.iter().map(|urn| Urn::from(urn.as_str())).collect();
            made.property_dependencies = others
                .iter()
                .map(|name| (name.as_str(), flags[0].then(|| made.dependencies.clone())))
                .collect();
            made.replace_with = others.iter().map(|urn| Urn::from(urn.as_str())).collect();
            made.init_errors = others.into_iter().map(Into::into).collect();
            [made.custom, made.delete, made.protect, made.taint] = [flags[1], flags[2], flags[3], flags[4]];
            [made.external, made.retain_on_delete, made.refresh_before_update] =
                [flags[5], flags[6], flags[7]];
            made
        },
    )
}

/// Seals what is open, by a text that says what it holds.
fn sealed(mut resource: Resource) -> Resource {
    if let Properties::Map(map) = &mut resource.outputs {
        seal_secrets(map, |text| Ok::<_, String>(Ciphertext::new(format!("sealed:{}", text.expose()))))
            .unwrap();
    }
    resource
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn snapshots_survive_both_envelopes_and_all_layouts(
        resources in prop::collection::vec(resources(), 0..4),
        indent in 0..5_u8,
        html in any::<bool>(),
        checkpoint in any::<bool>(),
    ) {
        let resources: Vec<Resource> = resources.into_iter().map(sealed).collect();
        let mut snapshot = Snapshot::new(resources.iter().cloned());
        snapshot.pending_operations.extend(
            resources.into_iter().map(|resource| Operation::new(resource, OperationType::Updating)),
        );
        let envelope = if checkpoint { Envelope::checkpoint("s") } else { Envelope::Deployment };
        let file = DeploymentFile::new(envelope, Some(snapshot));
        let escapes = if html { Escapes::Html } else { Escapes::Plain };
        let options = EncodeOptions::default().layout(Layout::indented(indent).with_escapes(escapes));
        let text = encode(&file, &options).unwrap();
        let read = decode(&text, &DecodeOptions::default()).unwrap();
        prop_assert_eq!(&read.notes, &[]);
        prop_assert_eq!(&read.envelope, &file.envelope);
        let again = encode(&read, &EncodeOptions::default()).unwrap();
        prop_assert_eq!(String::from_utf8(again).unwrap(), String::from_utf8(text).unwrap());
        let (old, new) = (file.snapshot.unwrap(), read.snapshot.unwrap());
        for (old, new) in old.resources.iter().zip(&new.resources) {
            let mut decoded = Resource::clone(new);
            decoded.outputs = match &new.outputs {
                Properties::Raw(raw) => Properties::Map(decode_map(raw).unwrap()),
                _ => PropertyMap::new().into(),
            };
            let mut expected = Resource::clone(old);
            if let Properties::Map(map) = &mut expected.outputs {
                forget_values(map);
            }
            prop_assert_eq!(decoded, expected);
        }
    }

    #[test]
    fn values_survive_sealing_and_opening(map in maps()) {
        let mut sealed = map.clone();
        seal_secrets(&mut sealed, |text| Ok::<_, String>(Ciphertext::new(format!("sealed:{}", text.expose())))).unwrap();
        let text = encode_map(&sealed, Escapes::Html, Secrets::Sealed).unwrap();
        let mut read = decode_map(&text).unwrap();
        open_secrets(&mut read, |ciphertext| {
            ciphertext.as_str().strip_prefix("sealed:").map(Plaintext::new).ok_or("foreign")
        })
        .unwrap();
        prop_assert_eq!(encode_map(&read, Escapes::Html, Secrets::Sealed).unwrap(), text);
        let shown = |map: &PropertyMap| encode_map(map, Escapes::Plain, Secrets::Shown).unwrap();
        prop_assert_eq!(shown(&read), shown(&map));
    }
}

/// Leaves of a sealed secret what a file says.
fn forget_values(map: &mut PropertyMap) {
    let text = encode_map(map, Escapes::Plain, Secrets::Sealed).unwrap();
    *map = decode_map(&text).unwrap();
}
