//! `groundstate history`: the earlier snapshots of a state.

use groundstate_common::one_line;
use groundstate_statemgr::HistoryEntry;

use crate::args::HistoryArgs;
use crate::input::history::StateHistory;
use crate::input::remote::Located;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;

pub(crate) fn run(args: &HistoryArgs, located: &Located) -> Result {
    let history = StateHistory::of_located(located)?;
    if args.page.or(args.page_size).is_some() {
        let message = format!("{} is no Pulumi stack, and only the history of one has pages", history.name);
        return Err(Failure::new(Kind::Usage, message).hint("leave out `--page` and `--page-size`"));
    }
    let entries = history.list()?;
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("state", &history.name);
            json.objects("snapshots", &entries, describe);
        }))?;
    } else {
        if entries.is_empty() {
            out.line(&format!("{} has no earlier snapshots", history.name))?;
        }
        let width = entries.iter().map(|entry| entry.id.as_str().len()).max().unwrap_or(0);
        entries.iter().flat_map(|entry| lines(entry, width)).try_for_each(|line| out.line(&line))?;
    }
    out.finish()?;
    let is_damaged = entries.iter().any(|entry| entry.unreadable.is_some());
    if is_damaged {
        Messages::stderr().warning(&format!(
            "versions of {} cannot be read; `groundstate store check` on the server says more",
            history.name
        ));
    }
    Ok(if is_damaged { Outcome::Found(Kind::Findings) } else { Outcome::Clean })
}

/// The snapshot, and below it what the place remarked when it was written.
fn lines(entry: &HistoryEntry, width: usize) -> Vec<String> {
    if let Some(reason) = &entry.unreadable {
        return vec![format!("{:width$}  cannot be read: {}", entry.id, one_line(reason))];
    }
    let serial = entry.serial.map_or_else(|| "?".to_owned(), |serial| serial.to_string());
    let by = entry.by.as_deref().map(|by| format!("  by {}", one_line(by))).unwrap_or_default();
    let line = format!("{:width$}  {}  serial {serial}  {} bytes{by}", entry.id, entry.stored_at, entry.size);
    let remark = |remark: &String| format!("{:width$}  warning: {}", "", one_line(remark));
    std::iter::once(line).chain(entry.remarks.iter().map(remark)).collect()
}

fn describe(json: &mut Json, entry: &HistoryEntry) {
    json.text("id", entry.id.as_str());
    if let Some(reason) = &entry.unreadable {
        json.text("unreadable", reason);
        return;
    }
    json.text("stored_at", &entry.stored_at.to_string());
    json.raw("bytes", entry.size);
    if let Some(serial) = &entry.serial {
        json.raw("serial", serial.get());
    }
    if let Some(lineage) = &entry.lineage {
        json.text("lineage", lineage.as_str());
    }
    if let Some(by) = &entry.by {
        json.text("by", by);
    }
    json.texts("remarks", &entry.remarks);
}
