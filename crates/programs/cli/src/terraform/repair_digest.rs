//! `groundstate repair-digest`: the digest of a state, as the state is.

use groundstate_backends::Purpose;

use crate::args::RepairDigestArgs;
use crate::input::backend::{backend, maintenance};
use crate::report::error::{Outcome, Result};
use crate::report::json::Json;
use crate::report::output::Output;
use crate::session::locked::{lock_document, retried, uninterrupted};

pub(crate) fn run(args: &RepairDigestArgs) -> Result {
    let place = backend(&args.at.place, Purpose::Change)?;
    let maintenance = maintenance(&place, "keeps no digests")?;
    let info = lock_document("repair-digest")?;
    let repaired = uninterrupted(async |interrupts| {
        interrupts.check()?;
        let attempt = async || maintenance.repair_digest(&place.workspace, &info).await;
        retried(args.wait.lock_timeout, interrupts, attempt).await
    })?;
    let shown = |digest: &Option<String>| digest.clone().unwrap_or_else(|| "nothing".to_owned());
    let (before, now) = (shown(&repaired.before), shown(&repaired.now));
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("place", &place.opened.backend.to_string());
            json.text("workspace", place.workspace.as_str());
            json.text("row", &repaired.row);
            json.raw("changed", repaired.before != repaired.now);
            for (name, digest) in [("before", &repaired.before), ("now", &repaired.now)] {
                if let Some(digest) = digest {
                    json.text(name, digest);
                }
            }
        }))?;
    } else {
        out.line(&match before == now {
            true => format!("Nothing to repair: {} is {now}, as the state is.", repaired.row),
            false => format!("{} was {before} and is {now} now, as the state is.", repaired.row),
        })?;
    }
    out.finish()?;
    Ok(Outcome::Clean)
}
