//! Files that OpenTofu wrote, and what tells them from Terraform's.

use std::fs;
use std::path::{Path, PathBuf};

use groundstate_statefile::{
    Code, DecodeOptions, Dialect, Document, EncodeOptions, ReadError, decode, encode,
};

use crate::files::files;

fn written_by_opentofu() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/opentofu");
    files(&dir, &|name| name.ends_with(".tfstate") && name != "other.tfstate")
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).expect("the fixture can be read")
}

fn is_encrypted(path: &Path) -> bool {
    path.ends_with("encrypted.tfstate")
}

/// Reads and writes by the rules of `dialect`, or by those found in the text.
fn again(text: &[u8], dialect: Option<Dialect>) -> String {
    let mut options = DecodeOptions::default();
    options.dialect = dialect;
    let file = decode(text, &options).expect("a state");
    String::from_utf8(encode(&file, &EncodeOptions::default()).expect("nothing is lost")).expect("UTF-8")
}

/// A document with one instance of a provider, with `members` behind its attributes.
fn document(provider: &str, members: &str) -> String {
    format!(
        r#"{{"version":4,"terraform_version":"1.12.2","serial":1,"lineage":"a","outputs":{{}},"resources":[{{"mode":"managed","type":"a","name":"b","provider":"provider[\"{provider}\"]","instances":[{{"schema_version":0,"attributes":{{}},"sensitive_attributes":[]{members}}}]}}],"check_results":null}}
"#
    )
}

#[track_caller]
fn dialect_of(text: &str) -> Dialect {
    let file = decode(text.as_bytes(), &DecodeOptions::default()).expect("a state");
    let document = Document::open(text.as_bytes().to_vec()).expect("a state");
    assert_eq!(file.dialect, document.dialect(), "{text}");
    file.dialect
}

#[test]
fn files_of_opentofu_are_written_again_byte_for_byte() {
    let written = written_by_opentofu();
    assert!(written.len() >= 14, "{}", written.len());
    for path in written.iter().filter(|path| !is_encrypted(path)) {
        let text = read(path);
        for dialect in [None, Some(Dialect::OpenTofu)] {
            assert_eq!(again(&text, dialect).as_bytes(), text, "{} as {dialect:?}", path.display());
        }
    }
}

#[test]
fn files_with_members_of_opentofu_are_told_from_terraforms() {
    for path in written_by_opentofu().iter().filter(|path| !is_encrypted(path)) {
        // After a destroy nothing is left that only one product writes.
        let expected =
            if path.ends_with("destroyed.tfstate") { Dialect::Terraform } else { Dialect::OpenTofu };
        let text = String::from_utf8(read(path)).expect("UTF-8");
        assert_eq!(dialect_of(&text), expected, "{}", path.display());
    }
}

#[test]
fn encrypted_files_are_recognised_in_either_layout() {
    let encrypted: Vec<_> = written_by_opentofu().into_iter().filter(|path| is_encrypted(path)).collect();
    assert_eq!(encrypted.len(), 2);
    for path in encrypted {
        match decode(&read(&path), &DecodeOptions::default()) {
            Err(ReadError::NotState(problems)) => {
                assert!(problems.iter().any(|problem| problem.code == Code::Encrypted), "{}", path.display());
            }
            other => panic!("{}: {other:?}", path.display()),
        }
    }
}

#[test]
fn members_and_their_order_tell_the_product_before_the_registry_does() {
    let (terraform, opentofu) = ("registry.terraform.io/a/b", "registry.opentofu.org/a/b");
    let cases = [
        (terraform, "", Dialect::Terraform),
        (opentofu, "", Dialect::OpenTofu),
        (terraform, r#","identity_schema_version":0"#, Dialect::Terraform),
        (opentofu, r#","identity_schema_version":0"#, Dialect::Terraform),
        (opentofu, r#","identity_schema_version":0,"identity":{"a":1}"#, Dialect::Terraform),
        (terraform, r#","identity":{"a":1},"identity_schema_version":0"#, Dialect::OpenTofu),
        (terraform, r#","identity":{"a":1}"#, Dialect::OpenTofu),
        (terraform, r#","skip_destroy":true"#, Dialect::OpenTofu),
    ];
    for (provider, members, expected) in cases {
        let text = document(provider, members);
        assert_eq!(dialect_of(&text), expected, "{text}");
        assert_eq!(again(text.as_bytes(), None), text);
    }
}

#[test]
fn the_layout_is_kept_unless_another_one_is_chosen() {
    for provider in ["registry.terraform.io/a/b", "registry.opentofu.org/a/b"] {
        let plain = document(provider, "");
        let pulled = format!("{plain}\n");
        let file = decode(plain.as_bytes(), &DecodeOptions::default()).expect("a state");
        let indented = encode(&file, &EncodeOptions::default().indented(true)).expect("nothing is lost");
        let indented = String::from_utf8(indented).expect("UTF-8");
        for text in [&plain, &pulled, &indented, &format!("{indented}\n")] {
            assert_eq!(&again(text.as_bytes(), None), text);
        }
        let file = decode(pulled.as_bytes(), &DecodeOptions::default()).expect("a state");
        let chosen = encode(&file, &EncodeOptions::default().indented(false)).expect("nothing is lost");
        assert_eq!(String::from_utf8(chosen).expect("UTF-8"), plain);
    }
}

#[test]
fn new_objects_get_empty_lists_of_sensitive_attributes_as_the_file_has_them() {
    let with = document("registry.terraform.io/a/b", "");
    let without = with.replace(r#","sensitive_attributes":[]"#, "");
    assert_eq!(again(without.as_bytes(), None), without);
    // Terraform 1.11 certainly wrote them, so this one was changed by hand.
    let older = without.replace("1.12.2", "1.11.4");
    assert_eq!(again(older.as_bytes(), None), with.replace("1.12.2", "1.11.4"));
}
