//! `groundstate upgrade`: any version in, canonical version 4 out.

use std::io;
use std::path::Path;

use groundstate_statefile::{
    Dialect, EncodeError, EncodeOptions, File, Loss, Note, NoteKind, Style, encode_to, losses_in, unread_by,
};

use crate::args::UpgradeArgs;
use crate::input::locate::is_standard;
use crate::input::packed;
use crate::input::terraform::{Loaded, TerraformState, load_upgraded};
use crate::input::threads::threads;
use crate::report::diagnostic::{Diagnostic, Severity};
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::line_span::LineSpan;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::report::text::count;
use crate::session::save;

/// Notes and losses that are printed one by one; the rest is counted.
const MAX_PRINTED: usize = 50;

/// Writes the current version.
pub(crate) fn upgrade(args: &UpgradeArgs, source: &TerraformState) -> Result {
    let asked = args.dialect.map(Dialect::from);
    let mut loaded = load_upgraded(source, asked)?;
    print_notes(&loaded, source);
    if let Some(dialect) = asked.filter(|dialect| *dialect == loaded.file.dialect) {
        let losses = unread_by(&loaded.file, dialect);
        if !args.lossy && !losses.is_empty() {
            return Err(refusal(&losses, &format!("{dialect} would drop resources of {}", source.name)));
        }
        print_losses(&losses, &format!("{dialect} drops"));
    }
    if let Some(dialect) = asked.filter(|dialect| *dialect != loaded.file.dialect) {
        let losses = losses_in(&loaded.file, dialect);
        if !args.lossy && !losses.is_empty() {
            return Err(refusal(&losses, &format!("{dialect} would drop parts of {}", source.name)));
        }
        print_losses(&losses, &format!("{dialect} drops"));
        adopt(&mut loaded.file, dialect);
    } else if args.lossy {
        print_losses(&own_losses(&loaded.file), "lost");
    }
    if asked.is_some() {
        // The named product decides which registry is meant.
        loaded.file.state.write_out_providers();
    }
    write(&loaded, args, source)?;
    Ok(Outcome::Clean)
}

/// Takes over the manner of the other product, as far as one shows in a file.
fn adopt(file: &mut File, dialect: Dialect) {
    let by_release = Style::of(dialect, file.terraform_version.as_ref());
    file.style.empty_sensitive = by_release.empty_sensitive;
    file.style.empty_checks = by_release.empty_checks;
    file.style.indented |= dialect == Dialect::Terraform;
    file.style.second_line_break &= dialect == Dialect::OpenTofu;
    file.dialect = dialect;
    file.state.complete_providers(dialect.default_registry());
}

/// What writing the file in its own dialect loses.
fn own_losses(file: &File) -> Vec<Loss> {
    match encode_to(file, &EncodeOptions::default(), io::sink()) {
        Err(EncodeError::Loss(losses)) => losses,
        _ => Vec::new(),
    }
}

fn write(loaded: &Loaded<'_>, args: &UpgradeArgs, source: &TerraformState) -> Result<()> {
    let options = EncodeOptions::default().allow_loss(args.lossy).threads(threads());
    let Some(path) = args.output.as_deref().filter(|path| !is_standard(path)) else {
        let mut out = Output::stdout();
        return match out.streamed(|out| encode_to(&loaded.file, &options, out).map(drop)) {
            Ok(()) => Ok(out.finish()?),
            Err(EncodeError::Io(error)) => Err(error.into()),
            Err(error) => Err(refused(error, source)),
        };
    };
    write_file(loaded, &options, path, source)
}

fn write_file(
    loaded: &Loaded<'_>,
    options: &EncodeOptions,
    path: &Path,
    source: &TerraformState,
) -> Result<()> {
    let mut reason = None;
    // In its own place the new state is that of the bytes that were read, and of no newer ones; and it is compressed if
    // they are.
    let own = source.is_in(path);
    let expected = own.then(|| source.packed().unwrap_or(&loaded.text));
    let mut encode = |out: &mut dyn io::Write| match encode_to(&loaded.file, options, out) {
        Ok(_) => Ok(()),
        Err(EncodeError::Io(error)) => Err(error),
        Err(error) => {
            reason = Some(error);
            Err(io::Error::other("the state was refused"))
        }
    };
    let written = save::replace(path, expected, |out| {
        if !own || source.packed().is_none() {
            return encode(out);
        }
        let mut text = Vec::new();
        encode(&mut text)?;
        out.write_all(&packed::pack(&text)?)
    });
    match (reason, written) {
        (Some(error), _) => Err(refused(error, source)),
        (None, written) => written,
    }
}

fn refused(error: EncodeError, source: &TerraformState) -> Failure {
    match error {
        EncodeError::Loss(losses) => refusal(&losses, &format!("parts of {} would be lost", source.name)),
        other => Failure::new(Kind::Unusable, other.to_string()),
    }
}

fn refusal(losses: &[Loss], message: &str) -> Failure {
    let lines = lines(losses).map(|line| format!("- {line}"));
    let message = format!("{message}, so nothing was written:");
    Failure::new(Kind::Loss, message).details(lines).hint("write it nevertheless with `--lossy`")
}

fn print_losses(losses: &[Loss], verb: &str) {
    let mut messages = Messages::stderr();
    lines(losses).for_each(|line| messages.warning(&format!("{verb}: {line}")));
}

fn lines(losses: &[Loss]) -> impl Iterator<Item = String> {
    let more = losses.len().saturating_sub(MAX_PRINTED);
    let rest = (more > 0).then(|| format!("{more} more"));
    losses.iter().take(MAX_PRINTED).map(ToString::to_string).chain(rest)
}

fn print_notes(loaded: &Loaded<'_>, source: &TerraformState) {
    let mut messages = Messages::stderr();
    let notes = &loaded.file.notes;
    let printed: Vec<&Note> = notes.iter().take(MAX_PRINTED).collect();
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
