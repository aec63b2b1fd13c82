//! `groundstate journal verify`: whether entries go together, and whether what they lead to is sound.

use groundstate_common::Severity;
use groundstate_pulumi_integrity::{Finding, VerifyOptions, verify};
use groundstate_pulumi_journal::SequenceId;
use groundstate_pulumi_snapshot::{Manifest, Snapshot};

use super::input::Journal;
use crate::args::VerifyArgs;
use crate::report::error::{Kind, Outcome, Result};
use crate::report::json::Json;
use crate::report::output::Output;
use crate::report::text::count;

/// What is wrong after an entry; `None` is before the first.
#[derive(Debug)]
struct Wrong {
    after: Option<SequenceId>,
    code: Option<String>,
    message: String,
    urn: Option<String>,
}

/// Checks a journal.
pub(super) fn run(args: &VerifyArgs) -> Result {
    let mut journal = Journal::read(&args.entries)?;
    journal.entries.sort_by_key(|entry| entry.sequence);
    let wrong = check(&journal, args.every_prefix)?;
    let remarks: Vec<String> = journal.torn.iter().cloned().chain(gaps(&journal)).collect();
    let mut out = Output::stdout();
    if args.json {
        out.json(&json(&journal, &wrong, &remarks))?;
    } else {
        text(&journal, &wrong, &remarks, &mut out)?;
    }
    out.finish()?;
    Ok(if wrong.is_empty() { Outcome::Clean } else { Outcome::Found(Kind::Findings) })
}

fn check(journal: &Journal, every_prefix: bool) -> Result<Vec<Wrong>> {
    let mut replayer = journal.replayer()?;
    let mut wrong = Vec::new();
    let refused = |error: groundstate_pulumi_journal::ReplayError, after| Wrong {
        after,
        code: None,
        message: error.to_string(),
        urn: None,
    };
    if every_prefix {
        wrong.extend(broken(replayer.base(), None));
    }
    let mut after = None;
    for entry in &journal.entries {
        after = Some(entry.sequence);
        if let Err(error) = replayer.apply(entry.clone()) {
            wrong.push(refused(error, after));
            continue;
        }
        if every_prefix {
            match replayer.snapshot(Manifest::default()) {
                Ok(replayed) => wrong.extend(broken(&replayed.snapshot, after)),
                Err(error) => wrong.push(refused(error, after)),
            }
        }
    }
    if every_prefix {
        return Ok(wrong);
    }
    match replayer.snapshot(Manifest::default()) {
        Ok(replayed) => {
            wrong.extend(broken(&replayed.snapshot, after));
            let passed_over = replayed.remarks.iter().map(|remark| Wrong {
                after,
                code: None,
                message: remark.to_string(),
                urn: None,
            });
            wrong.extend(passed_over);
        }
        Err(error) => wrong.push(refused(error, after)),
    }
    Ok(wrong)
}

fn broken(snapshot: &Snapshot, after: Option<SequenceId>) -> Vec<Wrong> {
    // The manifest of an intermediate snapshot belongs to no file.
    let snapshot = Snapshot { manifest: Manifest::default(), ..snapshot.clone() };
    let report = verify(&snapshot, &VerifyOptions::default());
    let errors = report.findings.into_iter().filter(|finding| finding.severity == Severity::Error);
    let wrong = |finding: Finding| Wrong {
        after,
        code: Some(finding.rule.id()),
        message: finding.message,
        urn: finding.urn.map(|urn| urn.to_string()),
    };
    errors.map(wrong).collect()
}

/// Numbers that are missing, which is allowed: entries may be on their way, or were never sent.
fn gaps(journal: &Journal) -> Option<String> {
    let numbers: Vec<u64> = journal.entries.iter().map(|entry| entry.sequence.get()).collect();
    let missing: u64 = numbers
        .windows(2)
        .map(|pair| match pair {
            [one, next] => next.saturating_sub(*one).saturating_sub(1),
            _ => 0,
        })
        .sum();
    let missing = usize::try_from(missing).unwrap_or(usize::MAX);
    let verb = if missing == 1 { "is" } else { "are" };
    (missing > 0)
        .then(|| format!("{} between the first and the last {verb} missing", count(missing, "entry")))
}

fn text(journal: &Journal, wrong: &[Wrong], remarks: &[String], out: &mut Output) -> Result<()> {
    for remark in remarks {
        out.line(&format!("note: {remark}"))?;
    }
    for wrong in wrong {
        let place = wrong.after.map_or_else(|| "base".to_owned(), |after| format!("entry {after}"));
        let code = wrong.code.as_ref().map(|code| format!(" [{code}]")).unwrap_or_default();
        let urn = wrong.urn.as_ref().map(|urn| format!("{urn}: ")).unwrap_or_default();
        out.line(&format!("{place}: {urn}{}{code}", wrong.message))?;
    }
    let entries = count(journal.entries.len(), "entry");
    let verdict = match wrong.len() {
        0 => "nothing is wrong".to_owned(),
        1 => "one thing is wrong".to_owned(),
        number => format!("{number} things are wrong"),
    };
    Ok(out.line(&format!("{}: {entries}, {verdict}", journal.name))?)
}

fn json(journal: &Journal, wrong: &[Wrong], remarks: &[String]) -> String {
    Json::document(|json| {
        json.raw("entries", journal.entries.len());
        json.raw("valid", wrong.is_empty());
        json.objects("findings", wrong, |json, wrong| {
            if let Some(after) = wrong.after {
                json.raw("after", after);
            }
            if let Some(code) = &wrong.code {
                json.text("code", code);
            }
            json.text("message", &wrong.message);
            if let Some(urn) = &wrong.urn {
                json.text("urn", urn);
            }
        });
        json.texts("remarks", remarks);
    })
}
