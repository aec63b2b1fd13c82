//! `groundstate upgrade`: any version in, the current one out, in the envelope that was found.

use std::path::Path;

use groundstate_pulumi_deployment::{EncodeError, EncodeOptions, NoteKind, encode};

use crate::args::UpgradeArgs;
use crate::input::locate::is_standard;
use crate::input::packed;
use crate::input::pulumi::{Loaded, PulumiState, load};
use crate::report::diagnostic::{Diagnostic, Severity};
use crate::report::error::chain;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::line_span::LineSpan;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::report::text::count;
use crate::session::save;

/// Notes that are printed one by one; the rest is counted.
const MAX_PRINTED: usize = 50;

/// Writes the current version.
pub(crate) fn upgrade(args: &UpgradeArgs, source: &PulumiState) -> Result {
    if args.dialect.is_some() {
        let message = format!("{} is Pulumi's, which has no dialects", source.name);
        return Err(Failure::new(Kind::Usage, message).hint("leave out `--dialect`"));
    }
    let loaded = load(source)?;
    print_notes(&loaded, source);
    let options = EncodeOptions::default().allow_loss(args.lossy);
    let text = encode(&loaded.file, &options).map_err(|error| refused(&error, source, &loaded.text))?;
    match args.output.as_deref().filter(|path| !is_standard(path)) {
        Some(path) => write_file(&text, &loaded, path, source)?,
        None => {
            let mut out = Output::stdout();
            out.document(&text)?;
            out.finish()?;
        }
    }
    Ok(Outcome::Clean)
}

/// In its own place the new state is that of the bytes that were read, and of no newer ones; and it is compressed if they are.
fn write_file(text: &[u8], loaded: &Loaded<'_>, path: &Path, source: &PulumiState) -> Result<()> {
    let own = source.is_in(path);
    let stored = match source.packed() {
        Some(_) if own => Some(packed::pack(text).map_err(|error| Failure::unwritable(path, &error))?),
        _ => None,
    };
    let expected = own.then(|| source.packed().unwrap_or(&loaded.text));
    save::replace(path, expected, |out| out.write_all(stored.as_deref().unwrap_or(text)))
}

fn refused(error: &EncodeError, source: &PulumiState, text: &[u8]) -> Failure {
    let EncodeError::Loss { what, offset } = error else {
        return Failure::new(Kind::Unusable, chain(error));
    };
    let title = format!("writing {} would lose {what}, so nothing was written", source.name);
    let place = LineSpan::of_offsets(text, &[*offset]).pop();
    let diagnostic = Diagnostic { place, ..Diagnostic::new(Severity::Error, title, &source.name) };
    Failure::of(Kind::Loss, vec![diagnostic]).hint("write it nevertheless with `--lossy`")
}

fn print_notes(loaded: &Loaded<'_>, source: &PulumiState) {
    let mut messages = Messages::stderr();
    let notes = &loaded.file.notes;
    let printed: Vec<_> = notes.iter().take(MAX_PRINTED).collect();
    let offsets: Vec<usize> = printed.iter().map(|note| note.offset).collect();
    for (note, span) in printed.iter().zip(LineSpan::of_offsets(&loaded.text, &offsets)) {
        let severity = if note.kind == NoteKind::Lost { Severity::Warning } else { Severity::Note };
        let diagnostic = Diagnostic::new(severity, note.message.as_str(), &source.name);
        messages.diagnostic(&Diagnostic { place: Some(span), ..diagnostic });
    }
    if let Some(more @ 1..) = notes.len().checked_sub(MAX_PRINTED) {
        messages.note(&format!("{} on {}", count(more, "more note"), source.name));
    }
}
