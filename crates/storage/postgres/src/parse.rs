//! The two forms of a connection string.

use percent_encoding::percent_decode_str;
use url::Url;

use crate::error::{Error, Result};
use crate::settings::invalid;

/// A connection string as words and their values, later ones before earlier ones.
#[derive(Default)]
pub(crate) struct Parsed {
    pub(crate) words: Vec<(String, String)>,
    /// The database that the path of a URL names.
    pub(crate) database: String,
}

/// `postgres://[user[:password]@]host[:port]/[database][?word=value&…]`.
pub(crate) fn url(text: &str) -> Result<Parsed> {
    // The text may have a password, so errors do not show it.
    let parsed = Url::parse(text).map_err(|error| invalid("the URL of the database").with_source(error))?;
    if !["postgres", "postgresql"].contains(&parsed.scheme()) {
        let scheme = parsed.scheme();
        return Err(invalid(format!("the scheme {scheme}")).next_step("write postgres://HOST/DATABASE"));
    }
    let database = decoded("dbname", parsed.path().trim_start_matches('/'))?;
    let host = parsed.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let parts = [
        ("dbname", database.clone()),
        ("host", decoded("host", host)?),
        ("user", decoded("user", parsed.username())?),
        ("password", decoded("password", parsed.password().unwrap_or_default())?),
        ("port", parsed.port().map(|port| port.to_string()).unwrap_or_default()),
    ];
    let parts = parts.into_iter().filter(|(_, value)| !value.is_empty());
    let parts = parts.map(|(word, value)| (word.to_owned(), value));
    let parameters = parsed.query_pairs().map(|(word, value)| (word.into_owned(), value.into_owned()));
    Ok(Parsed { words: parts.chain(parameters).collect(), database })
}

fn decoded(word: &str, text: &str) -> Result<String> {
    let decoded = percent_decode_str(text).decode_utf8();
    // The error shows the text, and this may be the password.
    decoded
        .map(|text| text.into_owned())
        .map_err(|_| invalid(format!("the {word} of the URL")).because("it is not UTF-8"))
}

/// `word=value word='other value'`: spaces around `=` do not count, and a backslash keeps the character behind it.
pub(crate) fn keywords(text: &str) -> Result<Parsed> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        let Some(behind) = behind.trim_start().strip_prefix('=') else {
            // It may be a part of a password with spaces.
            return Err(malformed("a word in it has no value"));
        };
        let (value, behind) = value(behind.trim_start())?;
        words.push((word.to_owned(), value));
        rest = behind.trim_start();
    }
    Ok(Parsed { words, database: String::new() })
}

/// The value at the beginning of a text, and what follows.
fn value(text: &str) -> Result<(String, &str)> {
    let (is_quoted, text) = match text.strip_prefix('\'') {
        Some(text) => (true, text),
        None => (false, text),
    };
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => match characters.next() {
                Some((_, escaped)) => value.push(escaped),
                None => return Err(malformed("it ends with a backslash")),
            },
            '\'' if is_quoted => return Ok((value, characters.as_str())),
            c if !is_quoted && c.is_whitespace() => return Ok((value, text.get(at..).unwrap_or_default())),
            c => value.push(c),
        }
    }
    if is_quoted { Err(malformed("a quote in it is not closed")) } else { Ok((value, "")) }
}

fn malformed(why: &str) -> Error {
    invalid("the connection string")
        .because(why)
        .next_step("write postgres://HOST/DATABASE, or host=HOST dbname=DATABASE")
}

#[cfg(test)]
mod tests {
    use super::keywords;

    fn pairs(text: &str) -> Vec<(String, String)> {
        keywords(text).unwrap().words
    }

    #[test]
    fn keywords_are_read_as_other_clients_read_them() {
        for (text, expected) in [
            ("", &[][..]),
            ("  ", &[]),
            ("host=h user=u", &[("host", "h"), ("user", "u")]),
            ("host = h\n\tport= 1", &[("host", "h"), ("port", "1")]),
            (r"password='it\'s a \\' user=u", &[("password", r"it's a \"), ("user", "u")]),
            (r"password=a\ b", &[("password", "a b")]),
            ("password='' user=u", &[("password", ""), ("user", "u")]),
            ("password=", &[("password", "")]),
        ] {
            let expected: Vec<_> = expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
            assert_eq!(pairs(text), expected, "{text}");
        }
    }

    #[test]
    fn damaged_strings_are_refused_without_showing_them() {
        for (text, why) in [
            ("host=h s3cret", "a word in it has no value"),
            ("s3cret", "a word in it has no value"),
            ("password='it''s3cret' user=u", "a word in it has no value"),
            ("password='s3cret", "a quote in it is not closed"),
            (r"password=s3cret\", "it ends with a backslash"),
        ] {
            let error = keywords(text).map(drop).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
            assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
        }
    }
}
