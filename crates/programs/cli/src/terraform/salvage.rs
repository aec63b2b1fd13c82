//! `groundstate salvage`: what can be read of a damaged state.

use std::io::{self, Read};
use std::path::Path;

use groundstate_common::shell_command;
use groundstate_statefile::{Lost, SalvageError, Salvaged, from_utf16, salvage};

use crate::args::SalvageArgs;
use crate::input::family::{Family, is_packed};
use crate::input::foreign;
use crate::input::locate::is_standard;
use crate::input::location::StateLocation;
use crate::input::packed;
use crate::input::paths;
use crate::input::paths::is_same_file;
use crate::input::state::not_theirs;
use crate::input::terraform;
use crate::report::diagnostic::{Diagnostic, Severity};
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::json::Json;
use crate::report::line_span::LineSpan;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::report::text::count;
use crate::session::locked::unlocked;
use crate::session::managed_state::ManagedState;
use crate::session::save;

/// What to do with damaged Pulumi files instead.
const NO_SALVAGE: &str =
    "`groundstate undo --force` brings a backup back, `groundstate repair` mends what can be read";

/// Losses that are printed one by one; the rest is counted.
const MAX_PRINTED: usize = 50;

pub(crate) fn run(args: &SalvageArgs) -> Result {
    // The damaged file may be the only one of its kind, and more may still be found in it.
    if args.output.as_deref().is_some_and(|path| is_same_file(path, &args.file)) {
        let message =
            format!("{} would be overwritten, and it is what is to be salvaged", args.file.display());
        return Err(Failure::new(Kind::Usage, message).hint("name another file with `--output`"));
    }
    if args.json && args.output.as_deref().is_some_and(is_standard) {
        let message = "standard output cannot hold both the salvaged state and what `--json` prints";
        return Err(Failure::new(Kind::Usage, message).hint("name a file with `--output`"));
    }
    let (name, stored) = read(&args.file)?;
    let text = unpacked(&name, stored)?;
    if let Some(failure) = foreign::recognise(&name, &text).or_else(|| foreign::backend_record(&name, &text))
    {
        return Err(failure);
    }
    let salvaged = salvage(&text).map_err(|error| match error {
        SalvageError::Read(error) => terraform::failure(&error, &name, &text),
        error => Failure::new(Kind::NotState, format!("{name}: {error}")),
    })?;
    let state = salvaged.to_vec().map_err(|error| Failure::new(Kind::Unusable, error.to_string()))?;
    if args.json {
        write(args, &state)?;
        let mut out = Output::stdout();
        out.json(&json(&salvaged, &name))?;
        out.finish()?;
    } else {
        print(&salvaged, &name, &text);
        write(args, &state)?;
    }
    if salvaged.conflicts > 0 {
        let message = format!("{name} has merge conflicts, and both sides may be needed whole:");
        Messages::stderr().note_about(&message, &merge_by_version_control(&args.file));
    }
    Ok(if salvaged.lost.is_empty() { Outcome::Clean } else { Outcome::Found(Kind::Findings) })
}

/// Reads everything, whatever it looks like.
fn read(path: &Path) -> Result<(String, Vec<u8>)> {
    if is_standard(path) {
        let mut text = Vec::new();
        io::stdin().lock().read_to_end(&mut text).map_err(|error| {
            Failure::new(Kind::of_io(&error), format!("cannot read standard input: {error}"))
        })?;
        return Ok(("<stdin>".to_owned(), text));
    }
    let opened = ManagedState::open(StateLocation::to_read(path)?, None, false)?;
    // What a journal can finish is no damage. Where that fails, the bytes are taken as they are.
    match unlocked(&opened, async |manager| Ok(manager.store().read().await?)) {
        Ok(Some(stored)) => return Ok((opened.name, stored.bytes)),
        Err(failure) if opened.backup_store.is_some() => return Err(failure),
        Ok(None) if opened.backup_store.is_some() => {
            return Err(Failure::new(Kind::NoState, format!("no state is stored in {}", opened.name)));
        }
        _ => {}
    }
    let path = &opened.argument;
    let text = paths::read(path).map_err(|error| Failure::unreadable(path, &error))?;
    Ok((opened.name, text))
}

/// The text of what was compressed, as far as it can be unpacked.
fn unpacked(name: &str, stored: Vec<u8>) -> Result<Vec<u8>> {
    let text = match is_packed(&stored) {
        true => {
            let (text, damage) = packed::unpack_damaged(&stored);
            if let Some(error) = damage {
                let warning = format!(
                    "{name} is compressed by gzip and is damaged after {} bytes: {error}",
                    text.len()
                );
                Messages::stderr().warning(&warning);
            }
            text
        }
        false => stored,
    };
    let text = match from_utf16(&text) {
        Some(converted) => {
            Messages::stderr().note(&format!("{name} is in UTF-16; places are those of its text in UTF-8"));
            converted
        }
        None => text,
    };
    if Family::sniff(&text) == Some(Family::Pulumi) {
        return Err(not_theirs(name, "salvage", NO_SALVAGE));
    }
    Ok(text)
}

fn write(args: &SalvageArgs, state: &[u8]) -> Result<()> {
    match args.output.as_deref().filter(|path| !is_standard(path)) {
        Some(path) => save::replace(path, None, |out| out.write_all(state)),
        None => {
            let mut out = Output::stdout();
            out.document(state)?;
            Ok(out.finish()?)
        }
    }
}

fn print(salvaged: &Salvaged, name: &str, text: &[u8]) {
    let Salvaged { file, lost, .. } = salvaged;
    let mut messages = Messages::stderr();
    let shown = &lost.get(..lost.len().min(MAX_PRINTED)).unwrap_or_default();
    let spans = LineSpan::of_places(text, shown.iter().map(|lost| &lost.place));
    for (lost, span) in shown.iter().zip(spans) {
        let what = lost.what.as_deref().map(|what| format!("a part of {what}"));
        let title = format!("lost: {}", what.as_deref().unwrap_or("a part of the file"));
        let diagnostic = Diagnostic::new(Severity::Warning, title, name);
        messages.diagnostic(&Diagnostic { place: Some(span), detail: lost.reason.clone(), ..diagnostic });
    }
    if let Some(more @ 1..) = lost.len().checked_sub(MAX_PRINTED) {
        let verb = if more == 1 { "was" } else { "were" };
        messages.warning(&format!("{} of {name} {verb} lost", count(more, "more part")));
    }
    let objects = file.state.objects().count();
    let outputs = file.state.outputs().len();
    let (objects, outputs) = (count(objects, "object"), count(outputs, "output"));
    messages.note(&format!("{objects} and {outputs} of {name} can be read"));
}

/// The commands that merge the sides of a conflict as a whole, since the ancestor of both is known.
fn merge_by_version_control(file: &Path) -> Vec<String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let git = match file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => shell_command("git -C", &[&folder.to_string_lossy(), "show"]),
        None => "git show".to_owned(),
    };
    let show =
        |stage: usize, to: &str| format!("{} > {to}", shell_command(&git, &[&format!(":{stage}:./{name}")]));
    vec![
        show(1, "base.tfstate"),
        show(2, "ours.tfstate"),
        show(3, "theirs.tfstate"),
        "groundstate merge-errored ours.tfstate theirs.tfstate --base base.tfstate".to_owned(),
    ]
}

fn json(salvaged: &Salvaged, name: &str) -> String {
    Json::document(|json| {
        json.text("file", name);
        json.raw("objects", salvaged.file.state.objects().count());
        json.raw("outputs", salvaged.file.state.outputs().len());
        json.objects("lost", &salvaged.lost, |json, Lost { range, place, what, reason, .. }| {
            if let Some(what) = what {
                json.text("what", what);
            }
            json.text("reason", reason);
            json.raw("offset", range.start);
            json.raw("length", range.len());
            json.raw("line", place.line);
            json.raw("column", place.column);
        });
    })
}
