//! Documents to test with, and the checks that many tests share.

use groundstate_statefile::{
    Code, DecodeOptions, Dialect, Document, EncodeOptions, File, NoteKind, ReadError, decode, encode, list,
};

/// A provider of Terraform's registry, as a JSON string.
pub(crate) const PROVIDER: &str = r#""provider[\"registry.terraform.io/hashicorp/test\"]""#;
/// A provider of OpenTofu's registry, as a JSON string.
pub(crate) const TOFU_PROVIDER: &str = r#""provider[\"registry.opentofu.org/hashicorp/test\"]""#;

/// A compact document of release 1.11.4 with these members behind its header.
pub(crate) fn document(members: &str) -> String {
    let comma = if members.is_empty() { "" } else { "," };
    format!(r#"{{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"l"{comma}{members}}}"#)
}

/// A document with one resource `test_a.b` that has these instances.
pub(crate) fn with_instances(instances: &str) -> String {
    with_resource(&format!(
        r#""mode":"managed","type":"test_a","name":"b","provider":{PROVIDER},"instances":[{instances}]"#
    ))
}

/// A document with one resource of these members.
pub(crate) fn with_resource(members: &str) -> String {
    document(&format!(r#""resources":[{{{members}}}]"#))
}

/// A document with one output `a` of these members.
pub(crate) fn with_output(members: &str) -> String {
    document(&format!(r#""outputs":{{"a":{{{members}}}}}"#))
}

#[track_caller]
pub(crate) fn read(text: impl AsRef<[u8]>) -> File {
    let text = text.as_ref();
    let read = decode(text, &DecodeOptions::default());
    assert!(read.is_ok(), "{:?}\n{}", read.err(), String::from_utf8_lossy(text));
    read.expect("checked above")
}

#[track_caller]
pub(crate) fn read_as(dialect: Dialect, text: impl AsRef<[u8]>) -> File {
    decode(text.as_ref(), &DecodeOptions::default().dialect(dialect)).expect("a readable document")
}

#[track_caller]
pub(crate) fn refused(text: impl AsRef<[u8]>) -> ReadError {
    let text = text.as_ref();
    let read = decode(text, &DecodeOptions::default());
    assert!(read.is_err(), "accepted: {}", String::from_utf8_lossy(text));
    read.expect_err("checked above")
}

/// Codes of the problems found in a document.
#[track_caller]
pub(crate) fn codes(text: impl AsRef<[u8]>) -> Vec<Code> {
    refused(text).problems().iter().map(|problem| problem.code).collect()
}

/// Kinds of the notes taken on a document.
#[track_caller]
pub(crate) fn note_kinds(text: impl AsRef<[u8]>) -> Vec<NoteKind> {
    read(text).notes.iter().map(|note| note.kind).collect()
}

#[track_caller]
pub(crate) fn write(file: &File) -> String {
    let written =
        encode(file, &EncodeOptions::default().allow_loss(true)).expect("a file that can be written");
    String::from_utf8(written).expect("files are UTF-8")
}

/// The document without white space, as it is written with nothing lost.
#[track_caller]
pub(crate) fn compact(file: &File) -> String {
    let written = encode(file, &EncodeOptions::default().indented(false)).expect("nothing would be lost");
    String::from_utf8(written).expect("files are UTF-8")
}

/// Reads and writes again, compactly.
#[track_caller]
pub(crate) fn again(text: impl AsRef<[u8]>) -> String {
    compact(&read(text))
}

/// The instances of the first resource, as [`again`] writes them.
#[track_caller]
pub(crate) fn instances_again(text: impl AsRef<[u8]>) -> String {
    let written = again(text);
    let (_, tail) = written.split_once(r#""instances":["#).expect("a resource");
    let (instances, _) = tail.split_once(r#"]}],"check_results""#).expect("the only resource");
    instances.to_owned()
}

/// The outputs, as [`again`] writes them.
#[track_caller]
pub(crate) fn outputs_again(text: impl AsRef<[u8]>) -> String {
    let written = again(text);
    let (_, tail) = written.split_once(r#""outputs":{"#).expect("outputs");
    let (outputs, _) = tail.split_once(r#"},"resources":"#).expect("resources");
    outputs.to_owned()
}

/// Whether the document is accepted; the reader of models, the index and the list have to agree.
#[track_caller]
pub(crate) fn verdict(text: &[u8]) -> bool {
    let model = decode(text, &DecodeOptions::default());
    let index = Document::open(text.to_vec());
    let listed = list(text, true);
    let shown = || String::from_utf8_lossy(text.get(..2000).unwrap_or(text)).into_owned();
    let refusals = (model.as_ref().err(), index.as_ref().err());
    assert_eq!(model.is_ok(), index.is_ok(), "model and index: {refusals:?}\n{}", shown());
    if let (Some(a), Some(b)) = refusals {
        assert_eq!(std::mem::discriminant(a), std::mem::discriminant(b), "{a}\n{b}\n{}", shown());
    }
    if let (Ok(file), Ok(document)) = (&model, &index) {
        assert_eq!(file.dialect, document.dialect(), "{}", shown());
        assert_eq!(file.serial, document.serial(), "{}", shown());
        assert_eq!(file.lineage, document.lineage(), "{}", shown());
    }
    if let (Ok(file), Ok(listed)) = (&model, &listed) {
        let expected = file.state.resource_instances().count();
        assert_eq!(listed.iter().len(), expected, "{}", shown());
    }
    assert!(model.is_ok() || listed.is_err(), "listed although refused: {}", shown());
    model.is_ok()
}

/// As [`verdict`], for documents that begin with their version: the list has to take what the others take.
#[track_caller]
pub(crate) fn strict_verdict(text: &[u8]) -> bool {
    let accepted = verdict(text);
    assert_eq!(accepted, list(text, false).is_ok(), "{}", String::from_utf8_lossy(text));
    accepted
}
