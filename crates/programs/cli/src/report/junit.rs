//! Findings as JUnit XML, for the test reports of CI systems: a suite for each state, a case for each finding.

use groundstate_common::{Severity, one_line};

use crate::report::error::Failure;
use crate::report::findings::{Checked, ShownFinding};

/// What was found in all states. Findings from `fail_on` on are failures, others are cases that have passed.
pub(crate) fn junit(files: &[Checked], failures: &[(String, Failure)], fail_on: Severity) -> String {
    let mut suites = String::new();
    let (mut tests, mut failed) = (0, 0);
    for file in files {
        let cases = file.findings.len() + file.ignored.len();
        let failing = file.findings.iter().filter(|finding| finding.severity >= fail_on).count();
        tests += cases.max(1);
        failed += failing;
        suites.push_str(&format!(
            "  <testsuite name={} tests=\"{}\" failures=\"{failing}\" errors=\"0\" skipped=\"{}\">\n",
            quoted(&file.name),
            cases.max(1),
            file.ignored.len()
        ));
        for finding in &file.findings {
            let text = quoted(&format!("{}: {}", finding.title, finding.message));
            let body = match finding.severity >= fail_on {
                true => format!(
                    "<failure type={} message={text}>{}</failure>",
                    quoted(id(finding)),
                    escaped(&told(file, finding))
                ),
                false => format!("<system-out>{}</system-out>", escaped(&told(file, finding))),
            };
            suites.push_str(&case(&file.name, &name(finding), &body));
        }
        for (finding, by) in &file.ignored {
            let body = format!("<skipped message={}/>", quoted(&format!("ignored by {by}")));
            suites.push_str(&case(&file.name, &name(finding), &body));
        }
        if cases == 0 {
            suites.push_str(&case(&file.name, "no findings", ""));
        }
        suites.push_str("  </testsuite>\n");
    }
    for (state, failure) in failures {
        tests += 1;
        let body = format!("<error message={}/>", quoted(&failure.text()));
        suites.push_str(&format!(
            "  <testsuite name={} tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">\n{}  </testsuite>\n",
            quoted(state),
            case(state, "is read", &body)
        ));
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"groundstate check\" tests=\"{tests}\" \
         failures=\"{failed}\" errors=\"{}\">\n{suites}</testsuites>\n",
        failures.len()
    )
}

fn case(state: &str, name: &str, body: &str) -> String {
    format!("    <testcase classname={} name={}>{body}</testcase>\n", quoted(state), quoted(name))
}

fn id(finding: &ShownFinding) -> &str {
    finding.code.as_deref().unwrap_or("groundstate")
}

fn name(finding: &ShownFinding) -> String {
    let address = finding.address.as_ref().map(|address| format!(" ({address})")).unwrap_or_default();
    format!("{} {}{address}", id(finding), finding.title)
}

/// All that is known of a finding, with its place.
fn told(file: &Checked, finding: &ShownFinding) -> String {
    let place = finding.place.as_ref().map(|place| format!(":{}:{}", place.line, place.column));
    let mut text = format!("{}{}: {}", file.name, place.unwrap_or_default(), finding.message);
    if let Some(help) = finding.help {
        text.push_str("; ");
        text.push_str(help);
    }
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// Text as XML has it. Characters that XML forbids are among those that are shown as escapes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
