//! The manifest, which is the same in all versions.

use groundstate_json::{Cursor, Stop};
use groundstate_pulumi_snapshot::{Manifest, Plugin};

use crate::problem::Code;
use crate::reader::Reader;

pub(super) fn manifest(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<Manifest, Stop> {
    let mut out = Manifest::default();
    let extra = reader.object(cursor, |reader, name, cursor| {
        match name {
            b"time" => {
                out.time = reader.time(cursor)?.unwrap_or(out.time);
            }
            b"magic" => {
                out.magic = reader.text(cursor)?.unwrap_or_default();
            }
            b"version" => {
                out.version = reader.text(cursor)?.unwrap_or_default();
            }
            b"plugins" => {
                out.plugins.clear();
                reader.array(cursor, |reader, cursor| {
                    out.plugins.push(plugin(reader, cursor)?);
                    Ok(())
                })?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    out.extra = extra.unwrap_or_default();
    Ok(out)
}

fn plugin(reader: &mut Reader, cursor: &mut Cursor<'_>) -> Result<Plugin, Stop> {
    let mut out = Plugin::default();
    let extra = reader.object(cursor, |reader, name, cursor| {
        match name {
            b"name" => {
                out.name = reader.text(cursor)?.unwrap_or_default();
            }
            b"path" => {
                out.path = reader.text(cursor)?.unwrap_or_default();
            }
            b"type" => {
                out.kind = reader.text(cursor)?.unwrap_or_default();
            }
            b"version" => {
                cursor.kind()?;
                let offset = cursor.offset();
                out.version = reader.text(cursor)?.unwrap_or_default();
                if !is_tolerable_version(&out.version) {
                    let detail = "this is not a version as in 1.2.3, with or without a v in front";
                    reader.sink.problem(Code::PluginVersion, offset, detail);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    out.extra = extra.unwrap_or_default();
    Ok(out)
}

/// Whether the original accepts the version of a plugin: a semantic version that may have blanks around it, a `v` in front,
/// zeros before its numbers, and fewer than three of them. No version is none.
fn is_tolerable_version(text: &str) -> bool {
    if text.is_empty() {
        return true;
    }
    let text = text.trim();
    let text = text.strip_prefix('v').unwrap_or(text);
    let (numbers, rest) = text.split_at(text.find(['-', '+']).unwrap_or(text.len()));
    let parts: Vec<&str> = numbers.split('.').collect();
    if parts.len() > 3 || (parts.len() < 3 && !rest.is_empty()) {
        return false;
    }
    let number = |part: Option<&&str>| -> Option<String> {
        let digits = part.map_or("0", |digits| digits);
        let plain = digits.trim_start_matches('0');
        (!digits.is_empty()).then(|| if plain.is_empty() { "0".to_owned() } else { plain.to_owned() })
    };
    let full: Option<Vec<String>> = (0..3).map(|at| number(parts.get(at))).collect();
    full.is_some_and(|full| semver::Version::parse(&format!("{}{rest}", full.join("."))).is_ok())
}

#[cfg(test)]
mod tests {
    use super::is_tolerable_version;

    #[test]
    fn versions_of_plugins_are_taken_with_tolerance() {
        for (text, expected) in [
            ("", true),
            ("1.2.3", true),
            ("v1.2.3", true),
            (" v1.2.3 ", true),
            ("1.2", true),
            ("1", true),
            ("01.002.3", true),
            ("1.2.3-alpha.1+build", true),
            ("v0.0.0", true),
            ("1.2-alpha", false),
            ("1.2.3.4", false),
            ("one", false),
            ("1..3", false),
            ("v", false),
            ("1.2.3 4", false),
            ("-1.2.3", false),
        ] {
            assert_eq!(is_tolerable_version(text), expected, "{text:?}");
        }
    }
}
