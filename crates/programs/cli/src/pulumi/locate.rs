//! Where findings stand in a text: paths in the deployment, followed into the file around it.

use std::collections::HashMap;

use groundstate_json::{Cursor, Kind, Stop, places};
use groundstate_pulumi_deployment::{Offsets, Place};

/// The place of each path such as `resources[3].dependencies[0]`, or of as much of it as is there.
///
/// Files of old versions are checked as what they upgrade to, of which not all stands in them.
pub(super) fn locate<'p>(text: &[u8], paths: impl Iterator<Item = &'p str>) -> Vec<Place> {
    let known = Offsets::find(text).unwrap_or_default();
    let body = body(&mut Cursor::new(text), 0).ok().flatten().unwrap_or(0);
    let paths: Vec<&str> = paths.collect();
    let starts: Vec<usize> = paths.iter().map(|path| begin(body, &known, path).0).collect();
    let mut order: Vec<usize> = (0..paths.len()).collect();
    order.sort_by_key(|index| starts.get(*index));
    let mut offsets = starts.clone();
    // One start after the other, since what is wanted of all at once takes many times the text.
    for group in order.chunk_by(|one, other| starts.get(*one) == starts.get(*other)) {
        let mut wanted = Wanted::default();
        for index in group {
            if let Some(path) = paths.get(*index) {
                wanted.add(begin(body, &known, path).1, *index);
            }
        }
        if let Some(start) = group.first().and_then(|index| starts.get(*index)) {
            // What cannot be followed to its end is found as far as it leads.
            let _ended = wanted.find(&mut Cursor::at(text, *start, 0), &mut offsets);
        }
    }
    places(text, &offsets)
}

/// Paths from one value inwards, so that all are followed in one pass over the text.
#[derive(Default)]
struct Wanted {
    /// Which paths end here.
    ends: Vec<usize>,
    names: HashMap<String, Self>,
    indexes: HashMap<usize, Self>,
}

impl Wanted {
    fn add(&mut self, steps: Vec<Step>, path: usize) {
        let mut at = self;
        for step in steps {
            at = match step {
                Step::Name(name) => at.names.entry(name).or_default(),
                Step::Index(index) => at.indexes.entry(index).or_default(),
            };
        }
        at.ends.push(path);
    }

    /// Everything in here begins at this place, unless it is found further inside.
    fn mark(&self, offset: usize, offsets: &mut [usize]) {
        let mut open = vec![self];
        while let Some(wanted) = open.pop() {
            for path in &wanted.ends {
                if let Some(place) = offsets.get_mut(*path) {
                    *place = offset;
                }
            }
            open.extend(wanted.names.values().chain(wanted.indexes.values()));
        }
    }

    /// Follows the paths from the value at the cursor. Of members of one name the last counts.
    fn find(&self, cursor: &mut Cursor<'_>, offsets: &mut [usize]) -> Result<(), Stop> {
        let mut first = true;
        match cursor.kind()? {
            Kind::Object if !self.names.is_empty() => {
                cursor.open(b'{')?;
                while let Some(name) = cursor.member(&mut first)? {
                    cursor.kind()?;
                    match self.names.get(&*name.decode()) {
                        Some(inside) => {
                            inside.mark(cursor.offset(), offsets);
                            inside.find(cursor, offsets)?;
                        }
                        None => cursor.skip()?,
                    }
                }
                Ok(())
            }
            Kind::Array if !self.indexes.is_empty() => {
                cursor.open(b'[')?;
                let mut index = 0;
                while cursor.element(&mut first)? {
                    cursor.kind()?;
                    match self.indexes.get(&index) {
                        Some(inside) => {
                            inside.mark(cursor.offset(), offsets);
                            inside.find(cursor, offsets)?;
                        }
                        None => cursor.skip()?,
                    }
                    index += 1;
                }
                Ok(())
            }
            _ => cursor.skip(),
        }
    }
}

/// Where the deployment begins.
fn body(cursor: &mut Cursor<'_>, depth: usize) -> Result<Option<usize>, Stop> {
    if cursor.kind()? != Kind::Object {
        return Ok(None);
    }
    cursor.open(b'{')?;
    let (mut first, mut found) = (true, None);
    while let Some(name) = cursor.member(&mut first)? {
        let kind = cursor.kind()?;
        let at = cursor.offset();
        match &*name.decode() {
            "deployment" if depth == 0 && kind == Kind::Object => found = Some(at),
            "latest" if kind == Kind::Object => found = Some(at),
            "checkpoint" if depth == 0 && kind == Kind::Object => {
                let mut inside = cursor.clone();
                found = body(&mut inside, 1)?.or(found);
            }
            _ => {}
        }
        cursor.skip()?;
    }
    Ok(found)
}

/// Where a path begins to be followed, and the steps from there.
fn begin(body: usize, known: &Offsets, path: &str) -> (usize, Vec<Step>) {
    let mut steps = steps(path);
    let start = match (steps.first(), steps.get(1)) {
        (Some(Step::Name(name)), Some(Step::Index(index))) => {
            let list = match name.as_str() {
                "resources" => known.resources.get(*index),
                "pending_operations" => known.pending_operations.get(*index),
                _ => None,
            };
            list.copied()
        }
        _ => None,
    };
    match start {
        Some(start) => (start, steps.split_off(2)),
        None => (body, steps),
    }
}

enum Step {
    Name(String),
    Index(usize),
}

/// The steps of a path; names that are no plain words stand in quotes.
fn steps(path: &str) -> Vec<Step> {
    let mut out = Vec::new();
    let mut rest = path;
    while let Some(first) = rest.chars().next() {
        match first {
            '.' => rest = rest.strip_prefix('.').unwrap_or_default(),
            '[' => {
                let end = rest.find(']').map_or(rest.len(), |at| at + 1);
                let (step, behind) = rest.split_at(end);
                out.extend(step.trim_matches(['[', ']']).parse().ok().map(Step::Index));
                rest = behind;
            }
            '"' => {
                let (name, length) = quoted(rest);
                out.push(Step::Name(name));
                rest = rest.get(length..).unwrap_or_default();
            }
            _ => {
                let (name, behind) = rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()));
                out.push(Step::Name(name.to_owned()));
                rest = behind;
            }
        }
    }
    out
}

/// The name in the quotes at the beginning of a text, and how many bytes it takes with them.
fn quoted(text: &str) -> (String, usize) {
    let (mut name, mut escaped) = (String::new(), false);
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return (name, at + 1),
            '\\' if !escaped => {
                escaped = true;
                continue;
            }
            c => name.push(c),
        }
        escaped = false;
    }
    (name, text.len())
}

#[cfg(test)]
mod tests {
    use super::locate;

    #[test]
    fn follows_paths_into_every_envelope() {
        let body = r#"{"manifest": {"magic": ""}, "resources": [{"urn": "a"},
            {"urn": "b", "dependencies": ["x", "y"], "propertyDependencies": {"a.b\"": ["z"]}}]}"#;
        for (before, after) in [
            ("{\"version\": 3, \"deployment\": ", "}"),
            ("{\"version\": 3, \"checkpoint\": {\"stack\": \"s\", \"latest\": ", "}}"),
            ("{\"latest\": ", "}"),
        ] {
            let text = format!("{before}{body}{after}");
            let paths = [
                ("manifest.magic", "\"\""),
                ("resources[1].dependencies[1]", "\"y\""),
                ("resources[1].propertyDependencies.\"a.b\\\"\"[0]", "\"z\""),
                ("resources[1]", "{\"urn\": \"b\""),
                ("resources[0].parent", "{\"urn\": \"a\""),
                ("snippets[0].uuid", "{\"manifest\""),
            ];
            let found = locate(text.as_bytes(), paths.iter().map(|(path, _)| *path));
            for ((path, expected), place) in paths.iter().zip(found) {
                assert!(text[place.offset..].starts_with(expected), "{path}: {}", &text[place.offset..]);
            }
        }
    }

    #[test]
    fn finds_something_in_every_text() {
        for text in ["", "{", "[]", "{\"deployment\": {\"resources\": [", "{\"checkpoint\": 7}"] {
            assert_eq!(locate(text.as_bytes(), ["resources[0].urn"].into_iter()).len(), 1, "{text}");
        }
    }
}
