//! A state file as a run of JSON tokens, with what is known of each: may its value be shown?
//!
//! Values are shown only where names, versions and addresses stand, so this knows the members of all formats. Text that
//! is no JSON is a run of tokens too.

use std::ops::Range;

use groundstate_common::one_line;
use groundstate_json::{Cursor, lexeme_end};

/// Containers whose members are told apart; what nests deeper is hidden anyway.
const MAX_FRAMES: usize = 32;

/// Members whose values tell nothing but how the state is built, sorted. Whatever stands in other members is hidden.
const OPEN: [&str; 54] = [
    "backend",
    "check_results",
    "checkpoint",
    "config_addr",
    "create_before_destroy",
    "custom",
    "customTimeouts",
    "delete",
    "deletedWith",
    "dependencies",
    "depends_on",
    "deployment",
    "deposed",
    "each",
    "external",
    "features",
    "identity_schema_version",
    "index_key",
    "instances",
    "latest",
    "lineage",
    "magic",
    "manifest",
    "mode",
    "module",
    "modules",
    "name",
    "object_addr",
    "object_kind",
    "objects",
    "parent",
    "path",
    "pending_operations",
    "plugins",
    "primary",
    "propertyDependencies",
    "protect",
    "provider",
    "replaceWith",
    "resource",
    "resources",
    "schema_version",
    "secrets_providers",
    "sensitive",
    "serial",
    "skip_destroy",
    "stack",
    "status",
    "tainted",
    "terraform_version",
    "type",
    "urn",
    "version",
    "viewOf",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Punctuation and white space.
    Plain,
    /// The name of a member.
    Name,
    /// A string, number or keyword.
    Value,
    /// Bytes that belong to no JSON document.
    Stray,
}

#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Range<usize>,
}

/// What may be shown inside a container, or inside a member's value.
#[derive(Clone, Copy, Debug)]
struct Frame {
    object: bool,
    /// What stands in it may be shown.
    open: bool,
    /// It may be shown itself if it is a string or number.
    scalar: bool,
    /// Its members are named by users, as outputs are, so their names decide nothing.
    named: bool,
    /// The names of its members may be shown. Below attributes they are keys of maps, which may be secrets.
    names: bool,
    /// It lies in a resource, where outputs are those of Pulumi: values, and nothing about them.
    resource: bool,
}

/// The rules of a whole document.
const DOCUMENT: Frame =
    Frame { object: true, open: true, scalar: false, named: false, names: true, resource: false };

/// Whether a string that ends here is the name of a member: in a damaged file a value may stand in its place.
fn is_name(text: &[u8], end: usize) -> bool {
    let rest = text.get(end..).unwrap_or_default();
    let next = rest.iter().find(|byte| !b" \t\r\n".contains(byte));
    next.is_none_or(|byte| *byte == b':')
}

/// Elements of lists that are skipped as a whole stand in no more containers than this; so an unfinished one is read but
/// a few times.
const MAX_SKIPPED: usize = 8;

/// Calls `each` with the tokens that begin before `end`, and whether each may be shown. `each` gives the place that matters
/// next; elements of lists that end before it are left out.
pub(crate) fn walk(text: &[u8], end: usize, mut each: impl FnMut(Token, bool) -> usize) {
    let mut wanted = 0;
    let hidden_value = Frame { open: false, names: false, ..DOCUMENT };
    let mut frames: Vec<Frame> = Vec::new();
    let mut hidden = 0_usize;
    let mut member = DOCUMENT;
    let mut expects_name = false;
    let mut at = 0;
    while at < end {
        let in_list = frames.last().is_some_and(|frame| !frame.object) && frames.len() <= MAX_SKIPPED;
        if in_list && let Some(behind) = container_end(text.get(..wanted).unwrap_or(text), at) {
            at = behind;
            continue;
        }
        let stop = lexeme_end(text, at);
        let token = text.get(at..stop).unwrap_or_default();
        let (mut open, mut kind) = (hidden == 0 && member.open && member.scalar, TokenKind::Plain);
        match token.first() {
            Some(b'{' | b'[') if frames.len() >= MAX_FRAMES => hidden += 1,
            Some(b'{') => {
                frames.push(Frame { object: true, ..member });
                expects_name = true;
            }
            Some(b'[') => frames.push(Frame { object: false, named: false, ..member }),
            Some(b'}' | b']') if hidden > 0 => hidden -= 1,
            Some(b'}' | b']') => {
                frames.pop();
                expects_name = false;
            }
            Some(b',') => expects_name = frames.last().is_some_and(|frame| frame.object),
            Some(b':') if expects_name => {
                // The name is missing, so nothing is known of the value.
                (member, expects_name) = (hidden_value, false);
            }
            Some(b':' | b' ' | b'\t' | b'\n' | b'\r') => {}
            Some(b'"') if expects_name && hidden == 0 && !is_name(text, stop) => {
                kind = TokenKind::Value;
                (member, open, expects_name) = (hidden_value, false, false);
            }
            Some(b'"') if expects_name && hidden == 0 => {
                kind = TokenKind::Name;
                open = frames.last().is_none_or(|frame| frame.names);
                let name = token.get(1..token.len().saturating_sub(1)).unwrap_or_default();
                member = inside(frames.last().copied().unwrap_or(DOCUMENT), name);
                expects_name = false;
            }
            _ => kind = if is_value(token) { TokenKind::Value } else { TokenKind::Stray },
        }
        // Elements of an array share the rules of the array itself, and nothing follows a document.
        match frames.last() {
            Some(frame) if !frame.object => member = *frame,
            None => member = DOCUMENT,
            Some(_) => {}
        }
        wanted = each(Token { kind, span: at..stop }, open);
        at = stop;
    }
}

/// Where the object or list ends that begins here, if one does and the text holds all of it.
fn container_end(text: &[u8], at: usize) -> Option<usize> {
    if !matches!(text.get(at), Some(b'{' | b'[')) {
        return None;
    }
    let mut cursor = Cursor::at(text, at, 0);
    cursor.skip().ok()?;
    Some(cursor.offset())
}

/// The path of a value, as readers write it, with `…` for names that may be secrets. Hidden characters become escapes.
pub(crate) fn shown_path(path: &str) -> String {
    let mut frame = DOCUMENT;
    let mut shown = String::with_capacity(path.len());
    let mut rest = path;
    while !rest.is_empty() {
        let length = step_length(rest);
        let (step, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        rest = after;
        if step == "." || step.starts_with('[') {
            // Elements of a list have no names.
            frame.named &= step == ".";
            shown.push_str(step);
            continue;
        }
        let name = step.strip_prefix('"').and_then(|step| step.strip_suffix('"')).unwrap_or(step);
        shown.push_str(if frame.names { step } else { "…" });
        frame = inside(frame, name.as_bytes());
    }
    one_line(&shown).into_owned()
}

/// How many bytes the first step of a path takes: a point, the place in a list, or a name.
fn step_length(path: &str) -> usize {
    match path.as_bytes().first() {
        Some(b'.') => 1,
        Some(b'[') => path.find(']').map_or(path.len(), |end| end + 1),
        Some(b'"') => lexeme_end(path.as_bytes(), 0),
        _ => path.find(['.', '[']).unwrap_or(path.len()),
    }
}

/// The rules inside the member of a container that has this name.
fn inside(outer: Frame, name: &[u8]) -> Frame {
    if outer.named {
        // Formats before 3 keep the values of outputs right here.
        return Frame { scalar: false, named: false, ..outer };
    }
    let is_value = outer.resource && name == b"outputs";
    let named = (name == b"outputs" && !is_value) || name == b"resources";
    let open = outer.open
        && !is_value
        && (named || OPEN.binary_search_by(|known| known.as_bytes().cmp(name)).is_ok());
    let resource = outer.resource || name == b"resources" || name == b"resource";
    // What the schema of a provider names, and the steps of paths.
    let schema =
        outer.open && (is_value || [&b"attributes"[..], b"inputs", b"sensitive_attributes"].contains(&name));
    Frame { object: true, open, scalar: true, named, names: open || schema, resource }
}

/// Whether a token is a string, a number or a keyword of JSON.
fn is_value(token: &[u8]) -> bool {
    let number = |token: &[u8]| token.iter().all(|byte| b"+-.0123456789eE".contains(byte));
    token.starts_with(b"\"") || [&b"true"[..], b"false", b"null"].contains(&token) || number(token)
}

#[cfg(test)]
mod tests {
    use super::{OPEN, shown_path};

    #[test]
    fn open_members_are_sorted_to_be_found() {
        assert!(OPEN.is_sorted());
    }

    #[test]
    fn paths_show_no_name_that_excerpts_hide() {
        for (path, shown) in [
            ("lineage", "lineage"),
            ("resources[3].instances[0].schema_version", "resources[3].instances[0].schema_version"),
            ("outputs.db.type[0]", "outputs.db.type[0]"),
            ("outputs.db.value.hunter2", "outputs.db.value.…"),
            ("outputs.\"a.b\".value.\"hunter2\\n\"[7]", "outputs.\"a.b\".value.…[7]"),
            ("resources[0].instances[0].attributes.tags", "resources[0].instances[0].attributes.tags"),
            (
                "resources[0].instances[0].attributes.tags.hunter2.x",
                "resources[0].instances[0].attributes.tags.….…",
            ),
            ("deployment.resources[1].inputs.tags.\"a\\\"].b\"", "deployment.resources[1].inputs.tags.…"),
            ("deployment.resources[1].outputs.kept.hunter2", "deployment.resources[1].outputs.kept.…"),
            ("checkpoint.latest.resources[0].urn", "checkpoint.latest.resources[0].urn"),
            ("backend.config.secret_key", "backend.config.…"),
            (
                "deployment.pending_operations[0].resource.outputs.a.b",
                "deployment.pending_operations[0].resource.outputs.a.…",
            ),
            (
                "deployment.resources[0].propertyDependencies.a[0]",
                "deployment.resources[0].propertyDependencies.a[0]",
            ),
            ("deployment.secrets_providers.state.salt", "deployment.secrets_providers.state.…"),
            (
                "resources[0].instances[0].sensitive_attributes[0][1].value.value",
                "resources[0].instances[0].sensitive_attributes[0][1].value.…",
            ),
            ("\"a\u{202e}b\"", "\"a\\u202eb\""),
            ("\"", "\""),
            ("[", "["),
        ] {
            assert_eq!(shown_path(path), shown, "{path}");
        }
    }
}
