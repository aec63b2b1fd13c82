//! `groundstate history` of a stack of a service: its versions.

use groundstate_pulumi_backends::pulumi_http::HistoryEntry;
use groundstate_pulumi_backends::pulumi_http::protocol::UpdateInfo;

use super::history::{Entry, Known, Page, wanted};
use crate::args::HistoryArgs;
use crate::input::runtime::runtime;
use crate::input::service::FoundService;
use crate::input::service_store::updates;
use crate::report::error::{Failure, Result};

pub(super) fn history(args: &HistoryArgs, found: &FoundService) -> Result {
    let (number, size) = wanted(args);
    let (name, page) = runtime()?.block_on(async {
        let stack = found.stack().await.map_err(|error| found.failure(&error))?;
        let known = match stack.get().await {
            Ok(known) => known,
            Err(error) => return Err(found.failed(&error, stack).await),
        };
        let read = match size {
            0 => updates(stack).await,
            size => stack.history(number, size).await,
        };
        let mut read = read.map_err(|error| found.failure(&error))?;
        if size == 0 && number > 1 {
            read.clear();
        }
        let entries: Vec<Entry> = read.into_iter().map(entry).collect();
        // The number of the newest version, unless the service counts in another way.
        let total = usize::try_from(known.version).unwrap_or(usize::MAX).max(entries.len());
        let page = Page { number, size, entries, total, copies: Vec::new(), copies_total: 0 };
        Ok::<_, Failure>((stack.to_string(), page))
    })?;
    page.show(args, &name)
}

fn entry(entry: HistoryEntry) -> Entry {
    let number = entry.version.unwrap_or_default();
    Entry {
        number,
        id: entry.version.map(|version| version.to_string()),
        update: entry.update.map(known).map_err(|error| format!("version {number} cannot be read: {error}")),
    }
}

fn known(update: UpdateInfo) -> Known {
    let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let changes = update.resource_changes;
    Known {
        kind: update.kind.to_string(),
        result: update.result.to_string(),
        started: update.start_time,
        ended: update.end_time,
        message: update.message,
        changes: changes
            .map(|changes| changes.into_iter().map(|(kind, number)| (kind, count(number))).collect()),
    }
}
