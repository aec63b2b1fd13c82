//! The example states for newcomers.

use std::fs;
use std::path::{Path, PathBuf};

use groundstate_statefile::{DecodeOptions, Dialect, EncodeOptions, File, decode, encode};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/states").join(name)
}

fn read(name: &str) -> (Vec<u8>, File) {
    let text = fs::read(example(name)).unwrap();
    let file = decode(&text, &DecodeOptions::default()).unwrap();
    (text, file)
}

fn instances(file: &File) -> usize {
    let resources = file.state.modules().flat_map(|(_, module)| module.resources.values());
    resources.map(|resource| resource.instances.len()).sum()
}

#[test]
fn current_examples_keep_every_byte() {
    for (name, dialect) in [
        ("webshop-v4-terraform.tfstate", Dialect::Terraform),
        ("webshop-v4-opentofu.tfstate", Dialect::OpenTofu),
    ] {
        let (text, file) = read(name);
        assert_eq!(file.dialect, dialect, "{name}");
        assert_eq!(file.notes, [], "{name}");
        let written = encode(&file, &EncodeOptions::default()).unwrap();
        assert_eq!(String::from_utf8(written), String::from_utf8(text), "{name}");
    }
}

#[test]
fn old_examples_upgrade_without_loss() {
    for (name, version, count) in
        [("webshop-v1.tfstate", 1, 18), ("webshop-v2.tfstate", 2, 19), ("webshop-v3.tfstate", 3, 19)]
    {
        let (_, file) = read(name);
        assert_eq!((file.style.source_version, instances(&file)), (version, count), "{name}");
        let written = encode(&file, &EncodeOptions::default()).unwrap();
        let again = decode(&written, &DecodeOptions::default()).unwrap();
        assert_eq!(again.state, file.state, "{name}");
    }
}
