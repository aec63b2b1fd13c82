//! The error of every address parser, and the lighter form used while parsing.

use std::borrow::Cow;
use std::fmt;

/// How much of an offending address an error repeats.
const EXCERPT: usize = 200;

/// What is wrong with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AddrErrorKind {
    /// There is no text, or only spaces and comments.
    Empty,
    /// Not a sequence of names and keys: a stray character, a missing name, an unclosed bracket or comment.
    Syntax,
    /// A quoted key is wrong: not closed, an unknown escape, a line break, a template.
    QuotedText,
    /// A number in brackets is not a whole number of at most 63 bits.
    Index,
    /// The module path is wrong: no `module.` in front, or no name behind it.
    ModulePath,
    /// The type or the name of a resource is missing.
    Incomplete,
    /// A key stands where none may stand.
    KeyNotAllowed,
    /// A key is written without brackets.
    KeyWithoutBrackets,
    /// The address is complete, and then more follows.
    Trailing,
    /// A well-formed address of another kind, such as a module where a resource is needed.
    OtherKind,
    /// A provider configuration address is wrong.
    ProviderConfig,
    /// A provider source address is wrong.
    ProviderSource,
    /// The address of an output, check block or input variable is wrong.
    Checkable,
}

/// Says why a text is not an address of the wanted kind, where, and what to write instead.
#[derive(Clone, PartialEq, Eq)]
pub struct AddrError(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    wanted: &'static str,
    excerpt: String,
    fault: Fault,
}

/// An error without the text: what the parsers pass around.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    kind: AddrErrorKind,
    at: usize,
    reason: Cow<'static, str>,
    next: Cow<'static, str>,
}

impl AddrError {
    /// What is wrong, for callers that decide by it.
    pub fn kind(&self) -> AddrErrorKind {
        self.0.fault.kind
    }

    /// Where in the text, in bytes; the text's length if something is missing at the end.
    pub fn position(&self) -> usize {
        self.0.fault.at
    }

    /// The offending text, shortened if it is long and with control characters escaped.
    pub fn address(&self) -> &str {
        &self.0.excerpt
    }

    /// Why the text was refused.
    pub fn reason(&self) -> &str {
        &self.0.fault.reason
    }

    /// What to write instead.
    pub fn advice(&self) -> &str {
        &self.0.fault.next
    }
}

impl fmt::Display for AddrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { wanted, excerpt, fault } = &*self.0;
        write!(f, "invalid {wanted} `{excerpt}`: {} (at byte {}); {}", fault.reason, fault.at, fault.next)
    }
}

impl fmt::Debug for AddrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AddrError").field(&self.0.fault.kind).field(&self.to_string()).finish()
    }
}

impl std::error::Error for AddrError {}

impl Fault {
    pub(super) fn new(
        kind: AddrErrorKind,
        at: usize,
        reason: impl Into<Cow<'static, str>>,
        next: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { kind, at, reason: reason.into(), next: next.into() }
    }

    pub(super) fn syntax(at: usize, reason: &'static str, next: &'static str) -> Self {
        Self::new(AddrErrorKind::Syntax, at, reason, next)
    }

    /// The same fault in a text that begins `base` bytes into another one.
    pub(super) fn moved_by(mut self, base: usize) -> Self {
        self.at += base;
        self
    }

    pub(super) fn in_text(self, wanted: &'static str, text: &str) -> AddrError {
        AddrError(Box::new(Inner { wanted, excerpt: excerpt(text), fault: self }))
    }
}

/// Keeps one line of printable text: addresses come from files of any origin.
pub(super) fn excerpt(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if out.len() >= EXCERPT {
            out.push('…');
            break;
        }
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}
