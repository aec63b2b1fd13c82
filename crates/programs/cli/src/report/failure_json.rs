//! Failures as JSON, for programs that asked for JSON.

use std::ffi::OsString;

use groundstate_common::one_line;

use crate::report::diagnostic::{Diagnostic, Severity};
use crate::report::error::Failure;
use crate::report::json::Json;

/// Whether the words of a command line ask for JSON. What follows `--` belongs to another command.
pub(crate) fn is_asked_for(words: &[OsString]) -> bool {
    let own: Vec<&str> =
        words.iter().take_while(|word| *word != "--").map(|word| word.to_str().unwrap_or_default()).collect();
    let format = |pair: &[&str]| matches!(pair, ["-f" | "--format", "json"]);
    own.iter().any(|word| matches!(*word, "--json" | "--format=json" | "-fjson" | "-f=json"))
        || own.windows(2).any(format)
}

/// The document: `format_version`, and the `error`.
pub(crate) fn document(failure: &Failure) -> String {
    let first = failure.diagnostics.first();
    let message = match (failure.message.as_str(), first) {
        ("", Some(diagnostic)) => &diagnostic.title,
        (message, _) => message,
    };
    let own = first.and_then(|diagnostic| diagnostic.help.as_deref());
    let help = failure.hints.iter().map(String::as_str).chain(own);
    Json::object(|json| {
        json.text("format_version", "1.0");
        json.inner("error", |json| {
            json.text("kind", failure.kind.name());
            json.raw("exit_code", failure.kind.code());
            if let Some(code) = first.and_then(|diagnostic| diagnostic.code.as_deref()) {
                json.text("code", code);
            }
            json.text("message", &one_line(message));
            if let Some(diagnostic) = first {
                json.inner("place", |json| place(json, diagnostic));
            }
            json.texts("help", help.map(one_line));
            json.texts("details", failure.details.iter().map(|line| one_line(line)));
            json.objects("diagnostics", &failure.diagnostics, |json, diagnostic| {
                json.text("severity", severity(diagnostic.severity));
                if let Some(code) = &diagnostic.code {
                    json.text("code", code);
                }
                json.text("title", &one_line(&diagnostic.title));
                json.text("detail", &one_line(&diagnostic.detail));
                json.inner("place", |json| place(json, diagnostic));
                if let Some(help) = &diagnostic.help {
                    json.text("help", &one_line(help));
                }
            });
        });
    })
}

fn place(json: &mut Json, diagnostic: &Diagnostic) {
    json.text("file", &one_line(&diagnostic.file));
    if let Some(span) = &diagnostic.place {
        json.raw("line", span.line);
        json.raw("column", span.column);
        if !span.path.is_empty() {
            json.text("path", &one_line(&span.path));
        }
    }
    if let Some(address) = &diagnostic.address {
        json.text("address", &one_line(address));
    }
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::is_asked_for;

    #[test]
    fn json_is_asked_for_by_the_own_words_only() {
        for (words, expected) in [
            ("list . --json", true),
            ("order destroy . -f json", true),
            ("graph . --format=json", true),
            ("graph . --format dot", false),
            ("lock . -- jq --json", false),
            ("show . json", false),
        ] {
            let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
            assert_eq!(is_asked_for(&words), expected, "{words:?}");
        }
    }
}
