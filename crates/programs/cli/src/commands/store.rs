//! `groundstate store`: what a server has stored, compared with its checksums and mended.

use std::sync::Arc;

use groundstate_common::one_line;
use groundstate_server::versioned::{Error, Name, Rebuilt, VersionId};
use groundstate_server::{StoreCheck, StoreCheckError, StoreChecked, StoreProblem};

use crate::args::{StoreCheckArgs, StoreCommand, StoreRepairArgs};
use crate::input::runtime::runtime;
use crate::report::error::{Failure, Kind, Outcome, Result, chain};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::session::server_store::ServerStore;

/// Maximum number of problems in a JSON document; all of them are counted.
const MOST: usize = 10_000;

pub(super) fn run(command: &StoreCommand) -> Result {
    match command {
        StoreCommand::Check(args) => check(args),
        StoreCommand::Repair(args) => repair(args),
    }
}

fn check(args: &StoreCheckArgs) -> Result {
    let (opened, mark) = ServerStore::open_damaged(&args.server)?;
    let store = open(&opened)?;
    let mark = mark.map(StoreProblem::of_mark);
    let total = match args.json {
        true => check_as_json(args, &opened, &store, mark)?,
        false => check_as_text(args, &store, mark)?,
    };
    Ok(if total == 0 { Outcome::Clean } else { Outcome::Found(Kind::Findings) })
}

/// Prints each problem when it is found, and gives how many there are.
fn check_as_text(args: &StoreCheckArgs, store: &StoreCheck, mark: Option<StoreProblem>) -> Result<u64> {
    let (mut out, mut written, mut problems) = (Output::stdout(), Ok(()), 0_u64);
    let mut report = |problem: StoreProblem| {
        problems += 1;
        if written.is_ok() {
            written = out.line(&one_line(&problem.to_string()));
        }
    };
    mark.into_iter().for_each(&mut report);
    let checked = compared(store, !args.quick, &mut report)?;
    written?;
    let counted = format!(
        "{}, {}, {}",
        plural(checked.documents, "document", "documents"),
        plural(checked.versions, "version", "versions"),
        plural(checked.updates, "update of Pulumi stacks", "updates of Pulumi stacks")
    );
    out.line(&match problems {
        0 => format!("The store is whole: {counted}"),
        _ => format!("The store is damaged: {} in {counted}", plural(problems, "problem", "problems")),
    })?;
    out.finish()?;
    Ok(problems)
}

/// Prints a document with the first problems, and gives how many there are.
fn check_as_json(
    args: &StoreCheckArgs,
    opened: &ServerStore,
    store: &StoreCheck,
    mark: Option<StoreProblem>,
) -> Result<u64> {
    let (mut first, mut problems) = (Vec::new(), 0_u64);
    let mut report = |problem: StoreProblem| {
        problems += 1;
        if first.len() < MOST {
            first.push(problem);
        }
    };
    mark.into_iter().for_each(&mut report);
    let checked = compared(store, !args.quick, &mut report)?;
    let StoreChecked { documents, versions, updates, bytes, .. } = checked;
    let mut out = Output::stdout();
    out.json(&Json::document(|json| {
        json.text("store", &opened.place);
        json.raw("whole", problems == 0);
        json.raw("documents", documents);
        json.raw("versions", versions);
        json.raw("updates", updates);
        json.raw("bytes", bytes);
        json.raw("problems_total", problems);
        json.objects("problems", &first, describe);
    }))?;
    out.finish()?;
    Ok(problems)
}

fn compared(
    store: &StoreCheck,
    contents: bool,
    report: &mut dyn FnMut(StoreProblem),
) -> Result<StoreChecked> {
    runtime()?.block_on(store.run(contents, report)).map_err(|error| failed(&error))
}

fn describe(json: &mut Json, problem: &StoreProblem) {
    if let Some(document) = &problem.document {
        json.text("document", document.as_str());
    }
    if let Some(stack) = &problem.stack {
        json.text("stack", stack);
    }
    json.text("place", &problem.place);
    json.text("problem", &problem.problem);
    json.raw("repairable", problem.is_of_head);
}

/// Result of a repair.
#[derive(Default)]
struct Repaired {
    /// The problem of the mark of the store, and the id that it was marked with.
    mark: Option<(String, Option<String>)>,
    heads: Vec<(Name, Rebuilt)>,
    refused: Vec<(Name, Error)>,
}

impl Repaired {
    /// Returns `true` if nothing is left to be done.
    fn is_done(&self, yes: bool) -> bool {
        self.refused.is_empty() && (yes || self.mark.is_none() && self.heads.is_empty())
    }
}

fn repair(args: &StoreRepairArgs) -> Result {
    let (opened, mark) = ServerStore::open_damaged(&args.server)?;
    let mut repaired = Repaired::default();
    let ended = repairing(args, &opened, mark, &mut repaired);
    // Repairs before a failure are shown too.
    print_repaired(args, &opened, &repaired, ended.is_ok() && repaired.is_done(false))?;
    ended?;
    repaired.refused.iter().for_each(|(_, error)| Messages::stderr().warning(&chain(error)));
    if !args.yes && (repaired.mark.is_some() || !repaired.heads.is_empty()) {
        Messages::stderr().note("nothing was changed; `--yes` carries it out");
    }
    Ok(if repaired.is_done(args.yes) { Outcome::Clean } else { Outcome::Found(Kind::Findings) })
}

fn repairing(
    args: &StoreRepairArgs,
    opened: &ServerStore,
    mark: Option<String>,
    repaired: &mut Repaired,
) -> Result<()> {
    let store = open(opened)?;
    if let Some(problem) = mark.filter(|_| args.document.is_none()) {
        let id = match args.yes {
            true => {
                let id = opened.mark_anew(&args.server)?;
                opened.record("store.mark", "store", "")?;
                Some(id.to_string())
            }
            false => None,
        };
        repaired.mark = Some((problem, id));
    }
    let names = match &args.document {
        Some(name) => vec![name.clone()],
        None => damaged_heads(&store)?,
    };
    for name in names {
        match rebuild(&store, &name, args.last.as_ref(), args.yes)? {
            Ok(rebuilt) => {
                if args.yes {
                    opened.record("store.repair", name.as_str(), "its head was made anew")?;
                }
                repaired.heads.push((name, rebuilt));
            }
            Err(error) => repaired.refused.push((name, error)),
        }
    }
    Ok(())
}

fn print_repaired(
    args: &StoreRepairArgs,
    opened: &ServerStore,
    repaired: &Repaired,
    is_whole: bool,
) -> Result<()> {
    let mut out = Output::stdout();
    if args.json {
        out.json(&document(args.yes, &opened.place, repaired))?;
        return Ok(out.finish()?);
    }
    if let Some((problem, id)) = &repaired.mark {
        out.line(&one_line(problem))?;
        if let Some(id) = id {
            out.line(&format!("  marked anew with the id {id}"))?;
        }
    }
    for (name, rebuilt) in &repaired.heads {
        write_rebuilt(&mut out, name, rebuilt, args.yes)?;
    }
    if is_whole {
        out.line("No head is damaged")?;
    }
    Ok(out.finish()?)
}

fn document(done: bool, place: &str, repaired: &Repaired) -> String {
    Json::document(|json| {
        json.text("store", place);
        json.raw("done", done);
        if let Some((problem, id)) = &repaired.mark {
            json.inner("mark", |json| {
                json.text("problem", problem);
                if let Some(id) = id {
                    json.text("id", id);
                }
            });
        }
        json.objects("heads", &repaired.heads, |json, (name, rebuilt)| {
            json.text("document", name.as_str());
            if let Some(last) = rebuilt.head.last() {
                json.inner("last", |json| {
                    json.raw("number", last.number);
                    json.text("id", last.id.as_str());
                    json.text("time", &last.time.to_string());
                    json.raw("deleted", last.deleted);
                });
            }
            json.raw("records", rebuilt.records);
            json.raw("oldest", rebuilt.head.oldest());
            if let Some(copy) = &rebuilt.copy {
                json.text("kept_as", copy);
            }
        });
        json.objects("refused", &repaired.refused, |json, (name, error)| {
            json.text("document", name.as_str());
            json.text("problem", &chain(error));
        });
    })
}

/// The documents whose heads are damaged, missing or were put back.
fn damaged_heads(store: &StoreCheck) -> Result<Vec<Name>> {
    let mut names = Vec::new();
    let mut report = |problem: StoreProblem| {
        names.extend(problem.document.filter(|_| problem.is_of_head));
    };
    compared(store, false, &mut report)?;
    Ok(names)
}

fn rebuild(
    store: &StoreCheck,
    name: &Name,
    last: Option<&VersionId>,
    yes: bool,
) -> Result<std::result::Result<Rebuilt, Error>> {
    let document = store.document(name);
    Ok(runtime()?.block_on(async {
        match yes {
            true => document.rebuild(last).await,
            false => document.plan_rebuild(last).await,
        }
    }))
}

fn write_rebuilt(out: &mut Output, name: &Name, rebuilt: &Rebuilt, yes: bool) -> Result<()> {
    let verb = if yes { "made anew" } else { "to be made anew" };
    out.line(&one_line(&format!("{name}: its head is {verb}")))?;
    match rebuilt.head.last() {
        Some(last) => {
            let deleted = if last.deleted { ", a deletion" } else { "" };
            let (number, time, id) = (last.number, last.time, &last.id);
            out.line(&format!("  last version {number} of {time} with the id {id}{deleted}"))?;
        }
        None => out.line("  without any version")?,
    }
    out.line(&format!("  {} from {}", plural(rebuilt.records, "record", "records"), rebuilt.head.oldest()))?;
    if let Some(copy) = &rebuilt.copy {
        out.line(&one_line(&format!("  what lay in its place is kept as {copy}")))?;
    }
    Ok(())
}

fn open(opened: &ServerStore) -> Result<StoreCheck> {
    StoreCheck::open(Arc::clone(&opened.store), &opened.context).map_err(|error| failed(&error))
}

fn failed(error: &StoreCheckError) -> Failure {
    Failure::new(Kind::of_cause(error).unwrap_or(Kind::NoState), chain(error))
}

fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
