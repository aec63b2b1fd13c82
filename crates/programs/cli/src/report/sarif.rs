//! Findings as SARIF 2.1.0, for code scanning.

use groundstate_common::Severity;
use serde_json::{Value, json};

use crate::report::error::Failure;
use crate::report::findings::{Checked, ShownFinding};
use crate::report::tokens::shown_path;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
const HOME: &str = env!("CARGO_PKG_REPOSITORY");

/// The rule of what has no code of its own.
const UNNAMED: &str = "groundstate";

/// What was found in all states. States that cannot be read are notifications of a run that has failed.
pub(crate) fn sarif(files: &[Checked], failures: &[(String, Failure)]) -> String {
    let mut rules: Vec<&ShownFinding> = Vec::new();
    let ignored = files.iter().flat_map(|file| file.ignored.iter().map(|(finding, _)| finding));
    for finding in files.iter().flat_map(|file| &file.findings).chain(ignored) {
        if !rules.iter().any(|known| id(known) == id(finding)) {
            rules.push(finding);
        }
    }
    rules.sort_by(|a, b| id(a).cmp(id(b)));
    let at = |finding: &ShownFinding| rules.iter().position(|rule| id(rule) == id(finding));
    let mut results = Vec::new();
    for file in files {
        results.extend(file.findings.iter().map(|finding| result(file, finding, at(finding), None)));
        let ignored = file.ignored.iter();
        results.extend(ignored.map(|(finding, by)| result(file, finding, at(finding), Some(by))));
    }
    let notifications: Vec<Value> = failures
        .iter()
        .map(|(state, failure)| {
            json!({
                "level": "error",
                "message": {"text": failure.text()},
                "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri(state)}}}],
            })
        })
        .collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "groundstate",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": HOME,
                "rules": rules.iter().map(|finding| rule(finding)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": failures.is_empty(),
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    })
    .to_string()
}

fn id(finding: &ShownFinding) -> &str {
    finding.code.as_deref().unwrap_or(UNNAMED)
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        _ => "note",
    }
}

fn rule(finding: &ShownFinding) -> Value {
    let mut rule = json!({
        "id": id(finding),
        "shortDescription": {"text": finding.title},
        "defaultConfiguration": {"level": level(finding.severity)},
    });
    if let Some(help) = finding.help {
        rule["help"] = json!({"text": help});
    }
    rule
}

fn result(file: &Checked, finding: &ShownFinding, rule: Option<usize>, ignored_by: Option<&String>) -> Value {
    let mut location = json!({"physicalLocation": {"artifactLocation": {"uri": uri(&file.name)}}});
    if let Some(place) = &finding.place {
        location["physicalLocation"]["region"] = json!({
            "startLine": place.line,
            "startColumn": place.column,
            "byteOffset": place.offset,
        });
        let path = shown_path(&place.path);
        if !path.is_empty() {
            location["logicalLocations"] = json!([{"fullyQualifiedName": path, "kind": "member"}]);
        }
    }
    if let Some(address) = &finding.address {
        location["message"] = json!({"text": address});
    }
    let mut result = json!({
        "ruleId": id(finding),
        "level": level(finding.severity),
        "message": {"text": format!("{}: {}", finding.title, finding.message)},
        "locations": [location],
    });
    if let Some(rule) = rule {
        result["ruleIndex"] = json!(rule);
    }
    if let Some(by) = ignored_by {
        result["suppressions"] = json!([{"kind": "external", "justification": format!("ignored by {by}")}]);
    }
    result
}

/// The name of a state as a reference that URIs allow.
fn uri(name: &str) -> String {
    let relative = name.strip_prefix("./").unwrap_or(name);
    let mut out = String::from(if relative.starts_with('/') { "file://" } else { "" });
    for byte in relative.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte))
            }
            b':' if relative.contains("://") => out.push(':'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn names_become_references() {
        for (name, expected) in [
            ("./a b.tfstate", "a%20b.tfstate"),
            ("/x/é", "file:///x/%C3%A9"),
            ("<stdin>", "%3Cstdin%3E"),
            ("s3://bucket/key", "s3://bucket/key"),
            ("a:b", "a%3Ab"),
        ] {
            assert_eq!(uri(name), expected);
        }
    }
}
