//! The query of a backend URL, with the rules of Go's `net/url`.

use percent_encoding::percent_decode_str;

/// Parameters in the order in which they are given; the first of a name counts, as in the original.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads `a=1&b`; nothing if a `%` is not followed by two hexadecimal digits, or the text is not UTF-8.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let decoded = |text: &str| decode(&text.replace('+', " "));
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(name)?, decoded(value)?))
        });
        Some(Self(pairs.collect::<Option<_>>()?))
    }

    /// The first value of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The names and values that are given.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The first name that is none of these.
    pub(crate) fn unknown(&self, known: &[&str]) -> Option<&str> {
        self.iter().map(|(name, _)| name).find(|name| !known.contains(name))
    }

    /// The first name that is given twice.
    #[cfg(any(feature = "azblob", test))]
    pub(crate) fn repeated(&self) -> Option<&str> {
        let names = || self.iter().map(|(name, _)| name);
        names()
            .enumerate()
            .find(|(at, name)| names().take(*at).any(|before| before == *name))
            .map(|(_, name)| name)
    }
}

/// Replaces `%41` by what it stands for.
pub(crate) fn decode(text: &str) -> Option<String> {
    let is_encoded = |rest: &str| rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    let is_whole = text.split('%').skip(1).all(is_encoded);
    is_whole.then(|| percent_decode_str(text).decode_utf8().ok())?.map(Into::into)
}

/// A boolean as Go's `strconv.ParseBool` reads it.
pub(crate) fn flag(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Query;

    #[test]
    fn reads_what_go_reads() {
        let query = Query::parse("a=1&&b&a=2&c=x%26y+z").unwrap();
        assert_eq!(query.get("a"), Some("1"));
        assert_eq!(query.get("b"), Some(""));
        assert_eq!(query.get("c"), Some("x&y z"));
        assert_eq!(query.repeated(), Some("a"));
        assert_eq!(query.unknown(&["a", "b"]), Some("c"));
        assert!(Query::parse("a=%zz").is_none() && Query::parse("a=%ff").is_none());
    }
}
