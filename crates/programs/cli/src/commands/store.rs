//! `groundstate store`: what a server has stored, compared with its checksums and mended.

use std::sync::Arc;

use groundstate_common::one_line;
use groundstate_server::versioned::{Error, Name, Rebuilt, VersionId};
use groundstate_server::{StoreCheck, StoreCheckError, StoreProblem};

use crate::args::{StoreCheckArgs, StoreCommand, StoreRepairArgs};
use crate::input::runtime::runtime;
use crate::report::error::{Failure, Kind, Outcome, Result, chain};
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::session::server_store::ServerStore;

pub(super) fn run(command: &StoreCommand) -> Result {
    match command {
        StoreCommand::Check(args) => check(args),
        StoreCommand::Repair(args) => repair(args),
    }
}

fn check(args: &StoreCheckArgs) -> Result {
    let (opened, mark) = ServerStore::open_damaged(&args.server)?;
    let store = open(&opened)?;
    let (mut out, mut written, mut problems) = (Output::stdout(), Ok(()), 0_u64);
    let mut line = |text: &str| {
        problems += 1;
        if written.is_ok() {
            written = out.line(&one_line(text));
        }
    };
    mark.iter().for_each(|problem| line(problem));
    let mut report = |problem: StoreProblem| line(&problem.to_string());
    let checked = runtime()?.block_on(store.run(!args.quick, &mut report)).map_err(|error| failed(&error))?;
    written?;
    let counted = format!(
        "{}, {}",
        plural(checked.documents, "document", "documents"),
        plural(checked.versions, "version", "versions")
    );
    out.line(&match problems {
        0 => format!("The store is whole: {counted}"),
        _ => format!("The store is damaged: {} in {counted}", plural(problems, "problem", "problems")),
    })?;
    out.finish()?;
    Ok(if problems == 0 { Outcome::Clean } else { Outcome::Found(Kind::Findings) })
}

fn repair(args: &StoreRepairArgs) -> Result {
    let (opened, mark) = ServerStore::open_damaged(&args.server)?;
    let store = open(&opened)?;
    let mut out = Output::stdout();
    let names = match &args.document {
        Some(name) => vec![name.clone()],
        None => damaged_heads(&store)?,
    };
    let (mut left, mut refused) = (0, Vec::new());
    if let Some(problem) = mark.filter(|_| args.document.is_none()) {
        out.line(&problem)?;
        match args.yes {
            true => {
                let id = opened.mark_anew(&args.server)?;
                opened.record("store.mark", "store", "")?;
                out.line(&format!("  marked anew with the id {id}"))?;
            }
            false => left += 1,
        }
    }
    for name in names {
        match rebuild(&store, &name, args.last.as_ref(), args.yes)? {
            Ok(rebuilt) => {
                write_rebuilt(&mut out, &name, &rebuilt, args.yes)?;
                if args.yes {
                    opened.record("store.repair", name.as_str(), "its head was made anew")?;
                } else {
                    left += 1;
                }
            }
            Err(error) => refused.push(error),
        }
    }
    if left == 0 && refused.is_empty() && !args.yes {
        out.line("No head is damaged")?;
    }
    out.finish()?;
    refused.iter().for_each(|error| Messages::stderr().warning(&chain(error)));
    if left > 0 {
        Messages::stderr().note("nothing was changed; `--yes` carries it out");
    }
    Ok(if left == 0 && refused.is_empty() { Outcome::Clean } else { Outcome::Found(Kind::Findings) })
}

/// The documents whose heads are damaged, missing or were put back.
fn damaged_heads(store: &StoreCheck) -> Result<Vec<Name>> {
    let mut names = Vec::new();
    let mut report = |problem: StoreProblem| {
        names.extend(problem.document.filter(|_| problem.is_of_head));
    };
    runtime()?.block_on(store.run(false, &mut report)).map_err(|error| failed(&error))?;
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
    Failure::new(Kind::NoState, chain(error))
}

fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
