//! The end of a line: the hash of the line before it, and its own.

use crate::hash::Hash;

const PREVIOUS: &str = ",\"previous\":\"";
const HASH: &str = "\",\"hash\":\"";
const END: &str = "\"}";
const DIGITS: usize = 64;

/// A JSON object as a line that is chained to the one with the hash `previous`, and the hash of the line.
///
/// The hash is that of the bytes of the line before `,"hash":`, so a shell can check it.
pub(crate) fn seal(object: &str, previous: Hash) -> (String, Hash) {
    let body = object.strip_suffix('}').unwrap_or(object);
    let mut line = format!("{body}{PREVIOUS}{previous}\"");
    let hash = Hash::of(line.as_bytes());
    line.push_str(&format!(",\"hash\":\"{hash}{END}"));
    (line, hash)
}

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sealed<'l> {
    /// The object without the brace at its end.
    pub(crate) body: &'l str,
    pub(crate) previous: Hash,
    /// As it is stated.
    pub(crate) hash: Hash,
    /// As it is.
    pub(crate) computed: Hash,
}

/// Takes the hashes off a line; nothing if it has none in the place where [`seal`] puts them.
pub(crate) fn unseal(line: &str) -> Option<Sealed<'_>> {
    let rest = line.strip_suffix(END)?;
    let (rest, hash) = rest.split_at_checked(rest.len().checked_sub(DIGITS)?)?;
    let rest = rest.strip_suffix(HASH)?;
    let (rest, previous) = rest.split_at_checked(rest.len().checked_sub(DIGITS)?)?;
    let body = rest.strip_suffix(PREVIOUS)?;
    let hashed = line.get(..body.len() + PREVIOUS.len() + DIGITS + 1)?;
    let (previous, hash) = (previous.parse().ok()?, hash.parse().ok()?);
    Some(Sealed { body, previous, hash, computed: Hash::of(hashed.as_bytes()) })
}

#[cfg(test)]
mod tests {
    use super::{seal, unseal};
    use crate::hash::Hash;

    #[test]
    fn lines_give_back_what_was_sealed_and_say_when_they_were_changed() {
        let (line, hash) = seal("{\"a\":\"é\"}", Hash::of(b"x"));
        let sealed = unseal(&line).unwrap();
        assert_eq!((sealed.body, sealed.previous), ("{\"a\":\"é\"", Hash::of(b"x")));
        assert_eq!((sealed.hash, sealed.computed), (hash, hash));
        assert!(serde_json::from_str::<serde_json::Value>(&line).is_ok());
        let changed = line.replace('é', "è");
        assert_ne!(unseal(&changed).unwrap().computed, hash);
        for cut in (0..line.len()).filter(|at| line.is_char_boundary(*at)) {
            assert_eq!(unseal(&line[..cut]), None, "{cut}");
            let is_whole = unseal(&line[cut..]).is_some_and(|sealed| sealed.computed == hash);
            assert_eq!(is_whole, cut == 0, "{cut}");
        }
    }
}
