//! What happened, before it has a number and a place in the chain.

use std::borrow::Cow;

use groundstate_common::shortened;
use serde::{Deserialize, Serialize};

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Outcome {
    /// It was carried out.
    Done,
    /// The actor may not do it, or could not say who it is.
    Denied,
    /// It was allowed and does not fit: another holder, another version.
    Refused,
    /// It failed, and nothing has changed.
    Failed,
    /// It is not known whether it was carried out.
    Unknown,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Done, Self::Denied, Self::Refused, Self::Failed, Self::Unknown];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Denied => "denied",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

/// What to record: names and an outcome, never a value.
///
/// Texts are cut where they get long, and words in them that look like a token are cut behind their first letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub(crate) actor: String,
    pub(crate) action: Cow<'static, str>,
    pub(crate) object: String,
    pub(crate) outcome: Outcome,
    pub(crate) request: Option<String>,
    pub(crate) remote: Option<String>,
    pub(crate) reason: Option<String>,
}

/// How long the texts may be, in characters.
const SHORT: usize = 256;
const LONG: usize = 1024;

impl Event {
    /// An attempt of `actor`, such as `token:ci`, at `action`, such as `state.write`, on `object`, such as `web/prod`.
    pub fn new(
        actor: impl Into<String>,
        action: &'static str,
        object: impl Into<String>,
        outcome: Outcome,
    ) -> Self {
        Self {
            actor: clean(actor.into(), SHORT),
            action: Cow::Borrowed(action),
            object: clean(object.into(), LONG),
            outcome,
            request: None,
            remote: None,
            reason: None,
        }
    }

    /// The id of the request, by which other logs name it too.
    #[must_use]
    pub fn request(mut self, id: impl Into<String>) -> Self {
        self.request = Some(clean(id.into(), SHORT));
        self
    }

    /// The address from which it came.
    #[must_use]
    pub fn remote(mut self, address: impl Into<String>) -> Self {
        self.remote = Some(clean(address.into(), SHORT));
        self
    }

    /// Why it ended so, or what else identifies it, such as `serial 7`.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(clean(reason.into(), LONG));
        self
    }
}

/// The text without what looks like a token, and not too long.
pub(crate) fn clean(text: String, most: usize) -> String {
    let text = if BEGINNINGS.iter().any(|beginning| text.contains(beginning)) {
        without_tokens(&text)
    } else {
        text
    };
    match shortened(&text, most) {
        Cow::Borrowed(_) => text,
        Cow::Owned(short) => short,
    }
}

/// How tokens of this project, and JSON Web Tokens, begin.
const BEGINNINGS: [&str; 2] = ["gs_", "eyJ"];
/// From how many characters on a word is taken for a token.
const TOKEN_CHARACTERS: usize = 20;

fn without_tokens(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = BEGINNINGS.iter().filter_map(|beginning| rest.find(beginning)).min() {
        let (before, word) = rest.split_at(at);
        out.push_str(before);
        let is_inside =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '/' | '=' | '%');
        let end = word.find(|c| !is_inside(c)).unwrap_or(word.len());
        // Both beginnings have three bytes.
        let (kept, cut) = word.split_at(3);
        out.push_str(kept);
        if end >= TOKEN_CHARACTERS {
            out.push('…');
            rest = word.get(end..).unwrap_or_default();
        } else {
            rest = cut;
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::{Event, Outcome, clean};

    #[test]
    fn words_that_look_like_tokens_are_cut_off() {
        let secret = "A1b2C3d4E5f6G7h8I9j0";
        for (text, expected) in [
            (format!("gs_{secret}"), "gs_…".to_owned()),
            (format!("/states/gs_{secret}?x=1"), "/states/gs_…?x=1".to_owned()),
            (format!("a eyJhbGciOi.{secret}.{secret} b"), "a eyJ… b".to_owned()),
            (format!("gs_{secret} gs_{secret}"), "gs_… gs_…".to_owned()),
            ("logs_and eyJ gs_x".to_owned(), "logs_and eyJ gs_x".to_owned()),
            ("gs_gs_gs_".to_owned(), "gs_gs_gs_".to_owned()),
        ] {
            assert_eq!(clean(text.clone(), 1000), expected, "{text}");
        }
    }

    #[test]
    fn long_texts_are_cut() {
        let event =
            Event::new("ü".repeat(300), "a", "o".repeat(2000), Outcome::Done).reason("r".repeat(2000));
        assert_eq!(event.actor.chars().count(), 257);
        assert_eq!(event.object.chars().count(), 1025);
        assert_eq!(event.reason.unwrap().chars().count(), 1025);
    }
}
