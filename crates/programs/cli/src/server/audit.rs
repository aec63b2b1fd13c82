//! `groundstate audit`: the audit log of a server.

use groundstate_audit::{Finding, Reader, Record, verify};

use super::store::{ServerStore, Use};
use crate::args::{AuditCommand, AuditShowArgs, AuditVerifyArgs};
use crate::input::runtime::runtime;
use crate::report::error::{Failure, Kind, Outcome, Result, chain};
use crate::report::json::Json;
use crate::report::output::Output;

pub(crate) fn run(command: &AuditCommand) -> Result {
    match command {
        AuditCommand::Show(args) => show(args),
        AuditCommand::Verify(args) => verified(args),
    }
}

fn show(args: &AuditShowArgs) -> Result {
    let opened = ServerStore::open(&args.at, Use::Read)?;
    let is_wanted = |record: &Record| {
        let matches = |pattern: &Option<groundstate_server::auth::Pattern>, text: &str| {
            pattern.as_ref().is_none_or(|pattern| pattern.matches(text))
        };
        matches(&args.actor, &record.actor)
            && matches(&args.action, &record.action)
            && matches(&args.object, &record.object)
            && args.outcome.is_none_or(|outcome| record.outcome == outcome.into())
    };
    let reader = Reader::new(opened.audit()?);
    let found = runtime()?.block_on(reader.newest(args.last, &is_wanted)).map_err(|error| refused(&error))?;
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("store", &opened.place);
            json.objects("entries", &found, |json, (sequence, record)| describe(json, *sequence, record));
        }))?;
    } else {
        let numbers: Vec<String> =
            found.iter().map(|(sequence, _)| sequence.map_or("-".to_owned(), |number| number.to_string())).collect();
        let width = numbers.iter().map(String::len).max().unwrap_or_default();
        for (number, (_, record)) in numbers.iter().zip(&found) {
            let Record { time, actor, action, object, .. } = record;
            let mut line = format!("{number:>width$}  {time}  {:7}  {actor}  {action}  {object}", record.outcome.as_str());
            record.reason.iter().for_each(|reason| line.push_str(&format!("  {reason}")));
            record.remote.iter().for_each(|remote| line.push_str(&format!("  from {remote}")));
            out.line(&line)?;
        }
    }
    out.finish()?;
    Ok(Outcome::Clean)
}

fn verified(args: &AuditVerifyArgs) -> Result {
    let opened = ServerStore::open(&args.at, Use::Read)?;
    let location = opened.audit()?;
    let report = runtime()?.block_on(verify(&location, args.since)).map_err(|error| refused(&error))?;
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("store", &opened.place);
            json.raw("intact", report.is_intact());
            json.raw("segments", report.segments);
            json.raw("entries", report.entries);
            json.raw("waiting", report.waiting);
            json.raw("removed", report.start.count);
            if report.is_intact() {
                json.text("checkpoint", &report.checkpoint.to_string());
            }
            json.objects("findings", &report.findings, finding);
        }))?;
    } else {
        for finding in &report.findings {
            out.line(&finding.to_string())?;
        }
        let entries = plural(report.entries, "entry", "entries");
        let segments = plural(report.segments, "segment", "segments");
        let waiting = plural(report.waiting, "waits", "wait");
        match report.is_intact() {
            true => {
                out.line(&format!("{entries} in {segments} are intact, {waiting} to be chained"))?;
                out.line(&format!("checkpoint {}", report.checkpoint))?;
            }
            false => out.line(&format!("The audit log is not intact: {entries} in {segments} were read"))?,
        }
    }
    out.finish()?;
    Ok(if report.is_intact() { Outcome::Clean } else { Outcome::Found(Kind::Findings) })
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
    for (name, text) in [("request", &record.request), ("remote", &record.remote), ("reason", &record.reason)] {
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

fn refused(error: &groundstate_audit::Error) -> Failure {
    Failure::new(Kind::NoState, chain(error))
}
