//! Where findings stand in a text: paths in the deployment, followed into the file around it.

use groundstate_json::{Cursor, Kind, PathStep, Stop, follow_paths, path_steps, places};
use groundstate_pulumi_deployment::{Offsets, SourcePos};

/// The place of each path such as `resources[3].dependencies[0]`, or of as much of it as is there.
///
/// Files of old versions are checked as what they upgrade to, of which not all stands in them.
pub(super) fn locate<'p>(text: &[u8], paths: impl Iterator<Item = &'p str>) -> Vec<SourcePos> {
    let mut paths = paths.peekable();
    if paths.peek().is_none() {
        // A file without findings is not read twice more.
        return Vec::new();
    }
    let known = Offsets::find(text).unwrap_or_default();
    let body = body(&mut Cursor::new(text), 0).ok().flatten().unwrap_or(0);
    let begun: Vec<(usize, Vec<PathStep>)> = paths.map(|path| begin(body, &known, path)).collect();
    let mut order: Vec<usize> = (0..begun.len()).collect();
    order.sort_by_key(|index| begun.get(*index).map(|(start, _)| *start));
    let mut offsets = vec![0; begun.len()];
    // One start after the other, since what is wanted of all at once takes many times the text.
    let start_of = |index: usize| begun.get(index).map_or(body, |(start, _)| *start);
    for group in order.chunk_by(|one, other| start_of(*one) == start_of(*other)) {
        let steps = group.iter().filter_map(|index| Some(begun.get(*index)?.1.as_slice()));
        let found = follow_paths(text, group.first().map_or(body, |index| start_of(*index)), steps);
        for (index, offset) in group.iter().zip(found) {
            if let Some(place) = offsets.get_mut(*index) {
                *place = offset;
            }
        }
    }
    places(text, &offsets)
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
fn begin(body: usize, known: &Offsets, path: &str) -> (usize, Vec<PathStep>) {
    let mut steps = path_steps(path);
    let start = match (steps.first(), steps.get(1)) {
        (Some(PathStep::Name(name)), Some(PathStep::Index(index))) => {
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
