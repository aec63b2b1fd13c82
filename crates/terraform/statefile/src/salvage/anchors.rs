//! Places behind damage where reading can go on.

use crate::json::{Cursor, Kind};

/// Where something begins that can be read by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    /// A known member of the document, at its name.
    Member(usize),
    /// An output, at its name.
    Output(usize),
    /// A resource, at its brace.
    Resource(usize),
    /// A check result, at its brace.
    Check(usize),
}

/// The section in which the damage is, or behind which it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reached {
    Header,
    Outputs,
    Resources,
    Checks,
}

const TOP: [&str; 7] =
    ["version", "terraform_version", "serial", "lineage", "outputs", "resources", "check_results"];
/// Known members of a resource.
pub(super) const RESOURCE: [&str; 7] = ["module", "mode", "type", "name", "provider", "each", "instances"];
/// Known members of a check result.
pub(super) const CHECK: [&str; 4] = ["object_kind", "config_addr", "status", "objects"];
/// Known members of an output.
pub(super) const OUTPUT: [&str; 4] = ["value", "type", "sensitive", "deprecated"];

/// The members in front of all sections, and how long they can be together.
const HEADER_NAMES: [&str; 3] = ["terraform_version", "serial", "lineage"];
const HEADER: usize = 1024;

impl Anchor {
    pub(super) fn offset(self) -> usize {
        match self {
            Self::Member(at) | Self::Output(at) | Self::Resource(at) | Self::Check(at) => at,
        }
    }
}

/// Whether the text is laid out as the writers indent it: then the layout tells how deep a line stands.
pub(super) fn is_indented(text: &[u8]) -> bool {
    [&b"\n  \"version\":"[..], b"\n    {\n      \"mode\":", b"\n    {\n      \"module\":"]
        .iter()
        .any(|needle| memchr::memmem::find(text, needle).is_some())
}

/// The first anchor behind `from` in an indented text.
pub(super) fn by_layout(text: &[u8], from: usize, reached: Reached) -> Option<Anchor> {
    let lines = memchr::memchr_iter(b'\n', text.get(from..)?).map(|at| from + at + 1);
    lines.into_iter().find_map(|line| anchor_of_line(text, line, reached))
}

fn anchor_of_line(text: &[u8], line: usize, reached: Reached) -> Option<Anchor> {
    let rest = text.get(line..)?;
    let blanks = rest.iter().take(5).take_while(|b| **b == b' ').count();
    let at = line + blanks;
    match (blanks, rest.get(blanks)?) {
        (2, b'"') => TOP.contains(&name_at(text, at)?).then_some(Anchor::Member(at)),
        (4, b'{') => {
            let first = name_at(text, on_next_line(text, at + 1)?)?;
            if RESOURCE.contains(&first) {
                return Some(Anchor::Resource(at));
            }
            (CHECK.contains(&first) && reached >= Reached::Resources).then_some(Anchor::Check(at))
        }
        (4, b'"') if reached <= Reached::Outputs => {
            let mut cursor = Cursor::at(text, at, 2);
            cursor.member(&mut true).ok()??;
            cursor.open(b'{').ok()?;
            let first = name_at(text, on_next_line(text, cursor.offset())?)?;
            OUTPUT.contains(&first).then_some(Anchor::Output(at))
        }
        _ => None,
    }
}

/// Where the next line's text begins, if it is indented by six and nothing else stands in between.
fn on_next_line(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let rest = rest.strip_prefix(b"\r").unwrap_or(rest);
    rest.starts_with(b"\n      \"").then(|| text.len() - rest.len() + 7)
}

/// The name of the member that begins here.
fn name_at(text: &[u8], at: usize) -> Option<&str> {
    let mut cursor = Cursor::at(text, at, 1);
    let name = cursor.member(&mut true).ok()??;
    str::from_utf8(name.raw).ok()
}

/// The first anchor behind `from` in a text without the usual layout: only what no other place of a state looks like.
pub(super) fn by_shape(text: &[u8], from: usize, reached: Reached) -> Option<Anchor> {
    let marks = memchr::memchr2_iter(b'{', b'"', text.get(from..)?);
    let mut flat = reached == Reached::Header;
    marks.map(|at| from + at).find_map(|at| match text.get(at)? {
        b'{' => {
            flat = false;
            element_at(text, at, reached)
        }
        // Only the first members of the document come before any brace but its own.
        _ if flat && at < HEADER && HEADER_NAMES.contains(&name_at(text, at)?) => Some(Anchor::Member(at)),
        _ => section_at(text, at, reached),
    })
}

/// A resource or check result that begins with the member that writers put first.
fn element_at(text: &[u8], at: usize, reached: Reached) -> Option<Anchor> {
    // Behind anything else it may be the rest of something that has lost its head.
    let before = text.get(..at)?.iter().rev().find(|b| !b.is_ascii_whitespace());
    if !matches!(before, Some(b',' | b'[')) {
        return None;
    }
    let mut cursor = Cursor::at(text, at, 2);
    cursor.open(b'{').ok()?;
    cursor.space();
    if cursor.kind() != Ok(Kind::String) {
        return None;
    }
    let name = cursor.member(&mut true).ok()??;
    if !matches!(name.raw, b"mode" | b"module" | b"object_kind") {
        return None;
    }
    let value = cursor.string().ok()?;
    match name.raw {
        b"mode" => matches!(value.raw, b"managed" | b"data").then_some(Anchor::Resource(at)),
        b"module" => value.raw.starts_with(b"module.").then_some(Anchor::Resource(at)),
        _ => (reached == Reached::Checks).then_some(Anchor::Check(at)),
    }
}

/// A section that has not been reached yet.
fn section_at(text: &[u8], at: usize, reached: Reached) -> Option<Anchor> {
    let rest = text.get(at + 1..)?;
    let section = match rest {
        _ if rest.starts_with(b"outputs\"") => Reached::Outputs,
        _ if rest.starts_with(b"resources\"") => Reached::Resources,
        _ if rest.starts_with(b"check_results\"") => Reached::Checks,
        _ => return None,
    };
    let mut cursor = Cursor::at(text, at, 1);
    cursor.member(&mut true).ok()??;
    // The list's own items tell it from an attribute of that name.
    let sure = match (section, cursor.kind().ok()?) {
        (Reached::Outputs, Kind::Object) => reached == Reached::Header,
        (Reached::Resources | Reached::Checks, Kind::Array) => {
            cursor.open(b'[').ok()?;
            cursor.space();
            element_at(text, cursor.offset(), section).is_some()
        }
        _ => false,
    };
    (sure && section > reached).then_some(Anchor::Member(at))
}
