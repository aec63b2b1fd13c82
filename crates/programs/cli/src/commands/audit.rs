//! `groundstate audit`: the audit log of a server.

use groundstate_server::audit::{Finding, Reader, Record, Report, verify};
use groundstate_server::auth::Pattern;

use crate::args::{AuditCommand, AuditShowArgs, AuditVerifyArgs};
use crate::input::runtime::runtime;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::session::server_store::{ServerStore, of_audit_log};

pub(super) fn run(command: &AuditCommand) -> Result {
    match command {
        AuditCommand::Show(args) => show(args),
        AuditCommand::Verify(args) => verified(args),
    }
}

fn show(args: &AuditShowArgs) -> Result {
    let opened = ServerStore::open(&args.server)?;
    let is_wanted = |record: &Record| {
        let matches = |pattern: &Option<Pattern>, text: &str| {
            pattern.as_ref().is_none_or(|pattern| pattern.matches(text))
        };
        matches(&args.actor, &record.actor)
            && matches(&args.action, &record.action)
            && matches(&args.object, &record.object)
            && args.outcome.is_none_or(|outcome| record.outcome == outcome.into())
    };
    let reader = Reader::new(opened.audit_log()?);
    let found = runtime()?.block_on(reader.newest(args.last, &is_wanted));
    let found = found.map_err(|error| of_audit_log(&error))?;
    let printed = if args.json {
        print(&Json::document(|json| {
            json.text("store", &opened.place);
            json.raw("unreadable", found.unreadable);
            json.objects("entries", &found.records, |json, (sequence, record)| {
                describe(json, *sequence, record);
            });
        }))
    } else {
        print_lines(&found.records)
    };
    if found.unreadable > 0 {
        let count = plural(found.unreadable, "line", "lines");
        let text = format!("{count} of the audit log cannot be read; `groundstate audit verify` names them");
        Messages::stderr().warning(&text);
    }
    outcome(found.unreadable == 0, printed)
}

fn print_lines(records: &[(Option<u64>, Record)]) -> Result<()> {
    let mut out = Output::stdout();
    let numbers: Vec<String> = records
        .iter()
        .map(|(sequence, _)| sequence.map_or("-".to_owned(), |number| number.to_string()))
        .collect();
    let width = numbers.iter().map(String::len).max().unwrap_or_default();
    for (number, (_, record)) in numbers.iter().zip(records) {
        let Record { time, actor, action, object, .. } = record;
        let outcome = record.outcome.as_str();
        let mut line = format!("{number:>width$}  {time}  {outcome:7}  {actor}  {action}  {object}");
        record.reason.iter().for_each(|reason| line.push_str(&format!("  {reason}")));
        record.remote.iter().for_each(|remote| line.push_str(&format!("  from {remote}")));
        out.line(&line)?;
    }
    Ok(out.finish()?)
}

fn verified(args: &AuditVerifyArgs) -> Result {
    let opened = ServerStore::open(&args.server)?;
    let location = opened.audit_log()?;
    let report = runtime()?.block_on(verify(&location, args.since)).map_err(|error| of_audit_log(&error))?;
    // Each server that starts records it, so nothing at all is as it should not be.
    if report.is_intact() && report.segments == 0 && report.waiting == 0 {
        let message =
            format!("{} has no audit log: nothing was recorded, or all of it was removed", opened.place);
        return Err(Failure::new(Kind::NoState, message)
            .hint("a server records its start; `--since CHECKPOINT` says what there was before"));
    }
    let printed = match args.json {
        true => print(&document(&opened.place, &report)),
        false => print_report(&report),
    };
    outcome(report.is_intact(), printed)
}

fn document(place: &str, report: &Report) -> String {
    Json::document(|json| {
        json.text("store", place);
        json.raw("intact", report.is_intact());
        json.raw("segments", report.segments);
        json.raw("entries", report.entries);
        json.raw("waiting", report.waiting);
        json.raw("removed", report.start.count);
        if report.is_intact() {
            json.text("checkpoint", &report.checkpoint.to_string());
        }
        json.objects("findings", &report.findings, finding);
    })
}

fn print_report(report: &Report) -> Result<()> {
    let mut out = Output::stdout();
    for finding in &report.findings {
        out.line(&finding.to_string())?;
    }
    let entries = plural(report.entries, "entry", "entries");
    let segments = plural(report.segments, "segment", "segments");
    if report.is_intact() {
        let waiting = plural(report.waiting, "waits", "wait");
        out.line(&format!("The audit log is intact: {entries} in {segments}, {waiting} to be chained"))?;
        out.line(&format!("checkpoint {}", report.checkpoint))?;
    } else {
        out.line(&format!("The audit log is not intact: {entries} in {segments} could be read"))?;
    }
    Ok(out.finish()?)
}

fn print(document: &str) -> Result<()> {
    let mut out = Output::stdout();
    out.json(document)?;
    Ok(out.finish()?)
}

/// What is wrong with a log is the outcome also if the reader of standard output has gone.
fn outcome(is_good: bool, printed: Result<()>) -> Result {
    match printed {
        Err(failure) if is_good || !failure.quiet => Err(failure),
        _ if is_good => Ok(Outcome::Clean),
        _ => Ok(Outcome::Found(Kind::Findings)),
    }
}

fn describe(json: &mut Json, sequence: Option<u64>, record: &Record) {
    if let Some(sequence) = sequence {
        json.raw("sequence", sequence);
    }
    json.text("time", &record.time.to_string());
    json.text("node", &record.node);
    json.text("process", &record.run);
    json.raw("number", record.number);
    json.text("actor", &record.actor);
    json.text("action", &record.action);
    json.text("object", &record.object);
    json.text("outcome", record.outcome.as_str());
    for (name, text) in [("request", &record.request), ("remote", &record.remote), ("reason", &record.reason)]
    {
        if let Some(text) = text {
            json.text(name, text);
        }
    }
}

fn finding(json: &mut Json, finding: &Finding) {
    json.text("rule", finding.rule.as_str());
    json.text("object", &finding.object);
    if let Some(line) = finding.line {
        json.raw("line", line);
    }
    if let Some(sequence) = finding.sequence {
        json.raw("sequence", sequence);
    }
    json.text("message", &finding.message);
}

fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
