//! Rules on members that no release writes.

use super::finding::Draft;
use super::rule::Rule;
use groundstate_json::{Cursor, Kind};
use groundstate_statefile::walk::INSTANCE_MEMBERS;

/// A level of the document, by the members that are known there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Document,
    Output,
    Resource,
    Instance,
}

impl Level {
    fn known(self) -> &'static [&'static str] {
        match self {
            Self::Document => &[
                "version",
                "terraform_version",
                "serial",
                "lineage",
                "outputs",
                "resources",
                "check_results",
            ],
            Self::Output => &["value", "type", "sensitive", "deprecated"],
            Self::Resource => &["module", "mode", "type", "name", "each", "provider", "instances"],
            Self::Instance => &INSTANCE_MEMBERS,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Document => "the document",
            Self::Output => "an output",
            Self::Resource => "a resource",
            Self::Instance => "an instance",
        }
    }
}

/// Judges a member that the reader does not know.
pub(super) fn unknown(level: Level, name: &str, offset: usize) -> Draft {
    let shown: String = name.chars().take(80).collect();
    match level.known().iter().find(|known| folds_alike(known, name)) {
        Some(known) => {
            let message =
                format!("member {shown:?} of {} is not {known:?}, but is taken for it", level.name());
            Draft::new(Rule::MemberCase, offset, message)
        }
        None => {
            let message = format!("no known release writes the member {shown:?} of {}", level.name());
            Draft::new(Rule::UnknownMember, offset, message)
        }
    }
}

/// Whether Go's decoder takes one name for the other: it folds ASCII letters, the long s and the sign for Kelvin.
fn folds_alike(known: &str, name: &str) -> bool {
    let fold = |c: char| match c {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    };
    known.chars().eq(name.chars().map(fold))
}

/// Where a part of the document stands in it.
pub(super) fn offset_in(text: &[u8], part: &[u8]) -> usize {
    // Parts are slices of the text, so the distance of their addresses is their offset.
    part.as_ptr().addr().wrapping_sub(text.as_ptr().addr())
}

/// Calls `each` with the name and place of every member of the object at `start` that the level does not know.
///
/// The object has been read before, so it ends where it should.
pub(super) fn unknown_in(text: &[u8], start: usize, level: Level, mut each: impl FnMut(&str, usize)) {
    members_of(text, start, |name, offset| {
        if !level.known().contains(&name) {
            each(name, offset);
        }
    });
}

/// Where the last member of this name in the object at `start` stands; the object itself if it has none.
pub(super) fn find(text: &[u8], start: usize, wanted: &str) -> usize {
    let mut found = start;
    members_of(text, start, |name, offset| {
        if name == wanted {
            found = offset;
        }
    });
    found
}

fn members_of(text: &[u8], start: usize, mut each: impl FnMut(&str, usize)) {
    let mut cursor = Cursor::at(text, start, 0);
    if cursor.kind() != Ok(Kind::Object) || cursor.open(b'{').is_err() {
        return;
    }
    let mut first = true;
    while let Ok(Some(name)) = cursor.member(&mut first) {
        each(&name.decode(), name.offset);
        if cursor.skip().is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_names_as_go_does() {
        for (known, name, alike) in [
            ("serial", "Serial", true),
            ("serial", "SERIAL", true),
            ("serial", "\u{17f}erial", true),
            ("check_results", "chec\u{212a}_results", true),
            ("serial", "serials", false),
            ("serial", "s\u{e9}rial", false),
        ] {
            assert_eq!(folds_alike(known, name), alike, "{name}");
        }
    }
}
