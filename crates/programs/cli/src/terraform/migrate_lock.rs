//! `groundstate migrate-lock`: locks from a table of DynamoDB to objects.

use std::io;

use groundstate_backends::{Location, LockMove, Purpose};
use groundstate_statemgr::{Backend, WorkspaceName};

use crate::args::MigrateLockArgs;
use crate::input::backend::{backend, maintenance, refused};
use crate::input::runtime::runtime;
use crate::report::error::{Outcome, Result};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::session::locked::{lock_document, retried, uninterrupted};

pub(crate) fn run(args: &MigrateLockArgs) -> Result {
    let place = backend(&args.at.place, Purpose::Change)?;
    let maintenance = maintenance(&place, "has no locks in a table")?;
    let workspaces = match args.all_workspaces {
        true => runtime()?.block_on(place.opened.backend.list()).map_err(|error| refused(&error))?,
        false => vec![place.workspace.clone()],
    };
    let mut all = Vec::new();
    let one = |workspace: &WorkspaceName| {
        let info = lock_document("lock migration")?;
        uninterrupted(async |interrupts| {
            interrupts.check()?;
            let attempt = async || maintenance.migrate_lock(workspace, &info, args.dry_run).await;
            retried(args.wait.lock_timeout, interrupts, attempt).await
        })
    };
    let ended: Result<()> = workspaces.into_iter().try_for_each(|workspace| {
        all.push((one(&workspace)?, workspace));
        Ok(())
    });
    // What was moved is said even if the next one fails.
    let mut out = Output::stdout();
    print(&all, args, &place, &mut out)?;
    out.finish()?;
    ended?;
    if !args.dry_run {
        Messages::stderr().note(
            "now take `dynamodb_table` out of the backend block, set `use_lockfile = true`, and run `terraform init -reconfigure` \
             everywhere; the table can go when no state uses it",
        );
    }
    Ok(Outcome::Clean)
}

fn print(
    all: &[(LockMove, WorkspaceName)],
    args: &MigrateLockArgs,
    place: &Location,
    out: &mut Output,
) -> io::Result<()> {
    if args.json {
        return out.json(&Json::document(|json| {
            json.text("place", &place.opened.backend.to_string());
            json.raw("dry_run", args.dry_run);
            json.objects("workspaces", all, |json, (moved, workspace)| {
                json.text("workspace", workspace.as_str());
                json.text("lock", &moved.lock);
                if let Some(digest) = &moved.digest {
                    json.text("digest", digest);
                }
            });
        }));
    }
    for (moved, workspace) in all {
        let digest = match (&moved.digest, args.dry_run) {
            (Some(digest), true) => format!(", its digest {digest} would be removed from the table"),
            (Some(digest), false) => format!(", its digest {digest} is removed from the table"),
            (None, _) => ", the table has no digest of it".to_owned(),
        };
        let verb = if args.dry_run { "would be locked" } else { "is locked" };
        out.line(&format!("{workspace}: {verb} by {}{digest}", moved.lock))?;
    }
    Ok(())
}
