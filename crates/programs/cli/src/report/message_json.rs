//! Messages on standard error as JSON, for programs that asked for JSON.

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

/// A message of one sentence, and what belongs to it.
pub(crate) fn of_text(severity: Severity, message: &str, details: &[String]) -> String {
    Json::document(|json| {
        json.inner("notice", |json| {
            json.text("severity", name(severity));
            json.text("message", &one_line(message));
            json.texts("help", None::<&str>);
            json.texts("details", details.iter().map(|line| one_line(line)));
        });
    })
}

/// A message about a place in a file.
pub(crate) fn of_diagnostic(diagnostic: &Diagnostic) -> String {
    Json::document(|json| {
        json.inner("notice", |json| {
            json.text("severity", name(diagnostic.severity));
            if let Some(code) = &diagnostic.code {
                json.text("code", code);
            }
            json.text("message", &one_line(&diagnostic.title));
            json.inner("place", |json| place(json, diagnostic));
            json.texts("help", diagnostic.help.iter().map(|help| one_line(help)));
            let detail = Some(&diagnostic.detail).filter(|detail| !detail.is_empty());
            json.texts("details", detail.into_iter().map(|line| one_line(line)));
        });
    })
}

/// Why a command ends.
pub(crate) fn of_failure(failure: &Failure) -> String {
    let first = failure.diagnostics.first();
    let message = match (failure.message.as_str(), first) {
        ("", Some(diagnostic)) => &diagnostic.title,
        (message, _) => message,
    };
    let own = first.and_then(|diagnostic| diagnostic.help.as_deref());
    let help = failure.hints.iter().map(String::as_str).chain(own);
    Json::document(|json| {
        json.inner("error", |json| {
            json.text("severity", name(Severity::Error));
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
                json.text("severity", name(diagnostic.severity));
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

fn name(severity: Severity) -> &'static str {
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

    use super::{is_asked_for, of_diagnostic, of_text};
    use crate::report::diagnostic::{Diagnostic, Severity};

    #[test]
    fn notices_are_one_line_with_what_belongs_to_them() {
        let note = of_text(Severity::Note, "one\ntwo", &["more".to_owned()]);
        let expected = r#"{"format_version":"1.0","notice":{"severity":"note","message":"one\\ntwo","help":[],"details":["more"]}}"#;
        assert_eq!(note, expected);
        let diagnostic = Diagnostic {
            code: Some("GS0102".to_owned()),
            detail: "it ends".to_owned(),
            address: Some("a.b".to_owned()),
            help: Some("salvage it".to_owned()),
            ..Diagnostic::new(Severity::Warning, "not JSON", "x.tfstate")
        };
        let expected = r#"{"format_version":"1.0","notice":{"severity":"warning","code":"GS0102","message":"not JSON","place":{"file":"x.tfstate","address":"a.b"},"help":["salvage it"],"details":["it ends"]}}"#;
        assert_eq!(of_diagnostic(&diagnostic), expected);
    }

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
