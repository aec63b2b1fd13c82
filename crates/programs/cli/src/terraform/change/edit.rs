//! `groundstate edit`: many changes from a script.

use std::io::{self, Read};

use groundstate_state_edit::{MoveOptions, Script, ScriptError, ScriptOptions, ScriptReport, Summary};

use super::meant;
use super::run::{Work, run as operate};
use crate::args::EditArgs;
use crate::input::locate::is_standard;
use crate::input::location::StateLocation;
use crate::input::paths;
use crate::report::diagnostic::{Diagnostic, Severity};
use crate::report::error::{Failure, Kind, Result};
use crate::report::excerpt::Excerpt;
use crate::report::line_span::LineSpan;
use crate::report::text::count;
use crate::session::state_error::of_script;

/// Characters of a script's line that are shown, at most.
const MAX_LINE: usize = 160;

pub(crate) fn run(args: &EditArgs, found: StateLocation) -> Result {
    let (name, text) = read(args)?;
    let explain = |error: &ScriptError| explain(error, &name, &text);
    let script = Script::parse(&text).map_err(|error| explain(&error))?;
    let options = ScriptOptions::default()
        .moves(MoveOptions::default().compat(args.compat))
        .skip_missing(args.skip_missing);
    let success = |number| format!("Successfully made {}.", count(number, "change"));
    operate(found, &args.change, "state-edit", success, |editor| match editor.run(&script, &options) {
        Ok(report) => Ok(work(report, &name)),
        Err(error) => Err(meant::by_script(explain(&error), editor, &error.fault)),
    })
}

fn read(args: &EditArgs) -> Result<(String, String)> {
    let path = &args.script;
    let (name, bytes) = match is_standard(path) {
        true => {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes).map_err(|error| {
                Failure::new(
                    Kind::of_io(&error),
                    format!("cannot read the script from standard input: {error}"),
                )
            })?;
            ("<stdin>".to_owned(), bytes)
        }
        false => {
            let bytes = paths::read(path).map_err(|error| Failure::unreadable(path, &error))?;
            (path.display().to_string(), bytes)
        }
    };
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let message = format!("the script {name} is not valid UTF-8 from byte {} on", at + 1);
        Failure::new(Kind::Usage, message).hint("write it in UTF-8; nothing was changed")
    })?;
    Ok((name, text))
}

/// All statements as one piece of work.
fn work(report: ScriptReport, name: &str) -> Work {
    let mut all = Summary::default();
    let mut warnings = Vec::new();
    for done in report.statements {
        if let Some(fault) = done.skipped {
            warnings.push(format!("{name}:{}: passed over: {fault}", done.line));
        }
        all.changes.extend(done.summary.changes);
        all.missing.extend(done.summary.missing);
        all.providers.extend(done.summary.providers);
        for dependent in done.summary.dependents {
            if !all.dependents.contains(&dependent) {
                all.dependents.push(dependent);
            }
        }
    }
    Work { summary: all, warnings }
}

/// Points into the script. It is the user's own text, so it is shown as it is.
fn explain(error: &ScriptError, name: &str, text: &str) -> Failure {
    let line = text.lines().nth(error.line.saturating_sub(1)).unwrap_or_default();
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    let shown: String = line.chars().take(MAX_LINE).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let offset = |count: usize| shown.char_indices().nth(count).map_or(shown.len(), |(at, _)| at);
    let begin = error.column.saturating_sub(1);
    let word = line.chars().skip(begin).take_while(|c| !c.is_whitespace()).count().max(1);
    let mark = offset(begin)..offset(begin + word);
    let excerpt = Some(Excerpt { text: shown, mark });
    let place = LineSpan { line: error.line, column: error.column, path: String::new(), excerpt };
    let diagnostic = Diagnostic::new(Severity::Error, error.fault.to_string(), name);
    let kind = of_script(&error.fault);
    Failure::of(kind, vec![Diagnostic { place: Some(place), ..diagnostic }])
        .hint("nothing was changed: a script is carried out as a whole")
}
