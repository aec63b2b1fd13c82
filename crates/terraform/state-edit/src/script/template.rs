//! Destinations: addresses into which captures are put.

use groundstate_states::addr::{InstanceKey, ModuleInstance, Target, is_identifier};

use super::error::ScriptFault;
use super::pattern::{Capture, CaptureKind, plain};
use super::steps::{Index, Step, fault, steps, unquote, without_escape};
use super::words::{Misplaced, Word};

/// An address with references to captures, `$1` or `${1}`.
#[derive(Clone, Debug)]
pub(super) enum Template {
    /// There are none.
    Plain(Target),
    Steps(Vec<TemplateStep>),
}

#[derive(Clone, Debug)]
pub(super) enum TemplateStep {
    /// A path of modules, which may be empty.
    Path(usize),
    Name(Vec<Piece>, TemplateIndex),
}

#[derive(Clone, Debug)]
pub(super) enum TemplateIndex {
    None,
    /// A number, as it is written.
    Number(String),
    /// A whole captured key.
    Key(usize),
    Text(Vec<Piece>),
}

#[derive(Clone, Debug)]
pub(super) enum Piece {
    Text(String),
    /// Position of a capture.
    Capture(usize),
}

/// Reads a destination whose references are to captures of these kinds.
struct Reader<'w, 's> {
    word: &'w Word<'s>,
    kinds: &'w [CaptureKind],
}

impl Template {
    pub(super) fn parse(word: &Word<'_>, kinds: &[CaptureKind]) -> Result<Self, Misplaced> {
        if references(word.text).is_empty() {
            if let Some(star) = stray_star(word) {
                return Err(fault(
                    word,
                    star,
                    "a destination has no wildcards; write `$1` for what the first one matched",
                ));
            }
            return plain(word, &without_escape(word.text, '$')).map(Self::Plain);
        }
        let reader = Reader { word, kinds };
        steps(word)?.iter().map(|step| reader.step(step)).collect::<Result<_, _>>().map(Self::Steps)
    }

    /// The address with the captures of one match.
    pub(super) fn expand(&self, source: &Target, captures: &[Capture]) -> Result<Target, ScriptFault> {
        let steps = match self {
            Self::Plain(target) => return Ok(target.clone()),
            Self::Steps(steps) => steps,
        };
        let unfit = |text: String, wanted| ScriptFault::Unfit { address: source.to_string(), text, wanted };
        let mut out = Vec::new();
        for step in steps {
            match step {
                TemplateStep::Path(at) => {
                    if let Some(Capture::Path(path)) = captures.get(*at) {
                        let module: ModuleInstance = path.iter().cloned().collect();
                        out.extend((!module.is_root()).then(|| module.to_string()));
                    }
                }
                TemplateStep::Name(pieces, index) => {
                    let name = fill(pieces, captures);
                    if !is_identifier(&name) {
                        return Err(unfit(name, "a name"));
                    }
                    let key = index.expand(captures).map_err(|text| unfit(text, "a whole number"))?;
                    out.push(format!("{name}{key}"));
                }
            }
        }
        Target::parse_argument(&out.join(".")).map_err(ScriptFault::Address)
    }
}

impl TemplateIndex {
    /// The brackets with their key; the text that should be a number and is not.
    fn expand(&self, captures: &[Capture]) -> Result<String, String> {
        match self {
            Self::None => Ok(String::new()),
            Self::Number(number) => Ok(format!("[{number}]")),
            Self::Text(pieces) => Ok(InstanceKey::string(&fill(pieces, captures)).to_string()),
            Self::Key(at) => match captures.get(*at) {
                Some(Capture::Key(key)) => Ok(key.to_string()),
                Some(Capture::Text(text)) => match text.parse().ok().and_then(InstanceKey::int) {
                    Some(key) => Ok(key.to_string()),
                    None => Err(text.clone()),
                },
                _ => Ok(String::new()),
            },
        }
    }
}

fn fill(pieces: &[Piece], captures: &[Capture]) -> String {
    let mut out = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Capture(at) => match captures.get(*at) {
                Some(Capture::Text(text)) => out.push_str(text),
                Some(Capture::Key(InstanceKey::Int(index))) => out.push_str(&index.to_string()),
                Some(Capture::Key(InstanceKey::String(key))) => out.push_str(key),
                // Paths are refused when the template is read, and keys are there.
                _ => {}
            },
        }
    }
    out
}

impl Reader<'_, '_> {
    fn step(&self, step: &Step<'_>) -> Result<TemplateStep, Misplaced> {
        let pieces = self.pieces(step.at, step.name, |_, text| Ok(text.to_owned()))?;
        if let ([Piece::Capture(at)], None) = (pieces.as_slice(), step.index)
            && self.kinds.get(*at) == Some(&CaptureKind::Path)
        {
            return Ok(TemplateStep::Path(*at));
        }
        self.no_path(step.at, &pieces)?;
        let index = step.index.as_ref().map_or(Ok(TemplateIndex::None), |index| self.index(index))?;
        Ok(TemplateStep::Name(pieces, index))
    }

    fn index(&self, index: &Index<'_>) -> Result<TemplateIndex, Misplaced> {
        if index.quoted {
            let unquoted = |at, text: &str| unquote(self.word, at, &without_escape(text, '$'));
            let pieces = self.pieces(index.at, index.text, unquoted)?;
            self.no_path(index.at, &pieces)?;
            return Ok(TemplateIndex::Text(pieces));
        }
        let pieces = self.pieces(index.at, index.text, |_, text| Ok(text.to_owned()))?;
        self.no_path(index.at, &pieces)?;
        match pieces.as_slice() {
            [Piece::Capture(at)] => Ok(TemplateIndex::Key(*at)),
            [Piece::Text(number)] if number.parse().ok().and_then(InstanceKey::int).is_some() => {
                Ok(TemplateIndex::Number(number.clone()))
            }
            _ => Err(fault(self.word, index.at, "a key is a whole number, a quoted text, or one reference")),
        }
    }

    /// Splits a text at its references.
    fn pieces(
        &self,
        at: usize,
        text: &str,
        read: impl Fn(usize, &str) -> Result<String, Misplaced>,
    ) -> Result<Vec<Piece>, Misplaced> {
        let mut pieces = Vec::new();
        let mut begin = 0;
        for (from, to, number) in references(text) {
            if begin < from {
                pieces.push(Piece::Text(read(at + begin, text.get(begin..from).unwrap_or_default())?));
            }
            let stars = self.kinds.len();
            if number == 0 || number > stars {
                return Err((self.word.column_of(at + from), ScriptFault::NoCapture { number, stars }));
            }
            pieces.push(Piece::Capture(number - 1));
            begin = to;
        }
        if begin < text.len() {
            pieces.push(Piece::Text(read(at + begin, text.get(begin..).unwrap_or_default())?));
        }
        Ok(pieces)
    }

    /// Refuses paths of modules where no path can stand.
    fn no_path(&self, at: usize, pieces: &[Piece]) -> Result<(), Misplaced> {
        let is_path = |piece: &Piece| matches!(piece, Piece::Capture(n) if self.kinds.get(*n) == Some(&CaptureKind::Path));
        if pieces.iter().any(is_path) {
            let why = "what `**` matched is a path of modules; it must be alone between dots";
            return Err(fault(self.word, at, why));
        }
        Ok(())
    }
}

/// A wildcard where none can stand. In quotes a star is a star.
fn stray_star(word: &Word<'_>) -> Option<usize> {
    let steps = steps(word).ok()?;
    steps.iter().find_map(|step| {
        let name = step.name.find('*').map(|at| step.at + at);
        let index = step.index.filter(|index| !index.quoted && index.text.contains('*'));
        name.or(index.map(|index| index.at))
    })
}

/// The references in a text: where they begin and end, and their numbers. `\$` is a dollar sign, and so is the first
/// of `$${`, which stands for `${` in addresses.
fn references(text: &str) -> Vec<(usize, usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(|rest| rest.find(['\\', '$'])) {
        let start = at + next;
        let rest = text.get(start..).unwrap_or_default();
        if let Some(escaped) = rest.strip_prefix('\\') {
            at = start + 1 + escaped.chars().next().map_or(0, char::len_utf8);
        } else if rest.starts_with("$${") {
            at = start + 3;
        } else if let Some((len, number)) = reference(rest) {
            at = start + len;
            found.push((start, at, number));
        } else {
            at = start + 1;
        }
    }
    found
}

/// The length and number of a reference that stands at the start of the text.
fn reference(text: &str) -> Option<(usize, usize)> {
    let rest = text.strip_prefix('$')?;
    let (inside, around) = match rest.strip_prefix('{') {
        Some(inside) => (inside.split_once('}')?.0, 3),
        None => (rest, 1),
    };
    let digits = inside.bytes().take_while(u8::is_ascii_digit).count();
    let braced_other = around == 3 && digits != inside.len();
    let number = inside.get(..digits).filter(|digits| !digits.is_empty() && !braced_other)?;
    // A number that is too large stands for nothing, as any that is above the count of wildcards.
    Some((around + digits, number.parse().unwrap_or(usize::MAX)))
}
