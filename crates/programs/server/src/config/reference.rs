//! The options as a table of Markdown, for the documentation.

use super::options::OPTIONS;
use super::value::Kind;

/// A row for each option: its name in a file, what it takes, its default, and what it does. The documentation shows this table, and
/// a test compares them.
pub fn reference() -> String {
    let mut out = String::from("| option | takes | default | |\n| --- | --- | --- | --- |\n");
    for spec in OPTIONS {
        let default = match spec.default {
            None => "none".to_owned(),
            Some("") => "empty".to_owned(),
            Some(text) => format!("`{text}`"),
        };
        let takes = match spec.kind {
            Kind::Path => "a path".to_owned(),
            kind => kind.noun(),
        };
        let live = if spec.reloads { " \u{21bb}" } else { "" };
        out.push_str(&format!("| `{}`{live} | {takes} | {default} | {} |\n", spec.name, spec.help));
    }
    out
}
