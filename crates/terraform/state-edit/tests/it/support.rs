//! States for editor, in few words.

use groundstate_state_edit::{Editor, MoveOptions};
use groundstate_statefile::{DecodeOptions, Document, EncodeOptions, File, decode, encode};
use groundstate_states::addr::{AbsResourceInstance, Target};

pub(crate) const PROVIDER: &str = r#"provider[\"registry.terraform.io/hashicorp/test\"]"#;

/// Reads a state of any version.
#[track_caller]
pub(crate) fn read(text: impl AsRef<[u8]>) -> File {
    decode(text.as_ref(), &DecodeOptions::default()).unwrap()
}

/// Reads an address.
#[track_caller]
pub(crate) fn at(text: &str) -> Target {
    Target::parse(text).unwrap()
}

#[track_caller]
pub(crate) fn instance(text: &str) -> AbsResourceInstance {
    AbsResourceInstance::parse(text).unwrap()
}

/// A document of one object for each line: an instance and, behind a colon, what it depends on. The lines have to
/// be in the order of files.
#[track_caller]
pub(crate) fn document(lines: &[&str]) -> Document {
    let mut resources: Vec<(String, Vec<String>)> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let (address, dependencies) = line.split_once(':').unwrap_or((line, ""));
        let AbsResourceInstance { resource, key } = instance(address.trim());
        let dependencies: Vec<String> =
            dependencies.split_whitespace().map(|text| serde_json::to_string(text).unwrap()).collect();
        let list = match dependencies.as_slice() {
            [] => String::new(),
            list => format!(r#","dependencies":[{}]"#, list.join(",")),
        };
        let key = key.to_string();
        let key = match key.trim_matches(['[', ']']) {
            "" => String::new(),
            key => format!(r#""index_key":{key},"#),
        };
        let object = format!(r#"{{{key}"schema_version":0,"attributes":{{"id":"i-{number}"}}{list}}}"#);
        let module = match resource.module.is_root() {
            true => String::new(),
            false => format!(r#""module":{},"#, serde_json::to_string(&resource.module.to_string()).unwrap()),
        };
        let head = format!(
            r#"{{{module}"mode":"{}","type":"{}","name":"{}","provider":"{PROVIDER}","instances":["#,
            resource.resource.mode, resource.resource.type_name, resource.resource.name
        );
        match resources.last_mut().filter(|(known, _)| *known == head) {
            Some((_, objects)) => objects.push(object),
            None => resources.push((head, vec![object])),
        }
    }
    let resources: Vec<_> =
        resources.iter().map(|(head, objects)| format!("{head}{}]}}", objects.join(","))).collect();
    let text = format!(
        r#"{{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"l","resources":[{}]}}"#,
        resources.join(",")
    );
    let file = decode(text.as_bytes(), &DecodeOptions::default()).unwrap();
    Document::open(encode(&file, &EncodeOptions::default()).unwrap()).unwrap()
}

/// The lines that [`document`] would take for this state.
pub(crate) fn lines(file: &File) -> Vec<String> {
    let object = |(address, _, object): (AbsResourceInstance, _, &groundstate_states::ObjectSrc)| {
        let dependencies: Vec<_> = object.dependencies.iter().map(ToString::to_string).collect();
        match dependencies.as_slice() {
            [] => address.to_string(),
            list => format!("{address}: {}", list.join(" ")),
        }
    };
    file.state.objects().map(object).collect()
}

/// The state after the editor, proven to be the same whether it works on the document or on the model, and that the
/// changed document is what the model says.
#[track_caller]
pub(crate) fn operate(document: &Document, operation: impl Fn(&mut Editor<'_>)) -> File {
    let mut on_document = Editor::on_document(document);
    operation(&mut on_document);
    let file = document.to_file().unwrap();
    let mut on_file = Editor::on_file(&file);
    operation(&mut on_file);
    let after = on_file.to_file().unwrap();
    assert!(on_file.edit().unwrap().is_none());
    assert_eq!(on_document.to_file().unwrap().state, after.state);
    assert_eq!(on_document.preview().unwrap(), on_file.preview().unwrap());
    let written = on_document.edit().unwrap().unwrap().to_vec().unwrap();
    assert_eq!(decode(&written, &DecodeOptions::default()).unwrap().state, after.state);
    assert_eq!(on_document.preview().unwrap(), groundstate_state_edit::diff(&file, &after));
    assert_eq!(on_document.is_changed().unwrap(), after.state != file.state);
    after
}

/// Moves and gives the lines after it.
#[track_caller]
pub(crate) fn moved(before: &[&str], from: &str, to: &str, options: MoveOptions) -> Vec<String> {
    let after = operate(&document(before), |editor| {
        editor.move_address(&at(from), &at(to), options).unwrap();
    });
    lines(&after)
}

/// Why a move is refused; nothing may have changed.
#[track_caller]
pub(crate) fn refused(before: &[&str], from: &str, to: &str) -> String {
    let document = document(before);
    let mut editor = Editor::on_document(&document);
    let error = editor.move_address(&at(from), &at(to), MoveOptions::default()).unwrap_err();
    assert!(!editor.is_changed().unwrap());
    error.to_string()
}
