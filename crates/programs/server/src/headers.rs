//! Headers of requests: digests, conditions, ranges, encodings.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::header::{CONTENT_ENCODING, HeaderName, IF_MATCH, IF_NONE_MATCH, RANGE};
use http::{HeaderMap, HeaderValue};

use crate::problem::{Problem, ProblemType};

/// The MD5 of a body in base64, as Terraform sends it.
pub(crate) const CONTENT_MD5: HeaderName = HeaderName::from_static("content-md5");

/// The MD5 that the client has computed, if it sends one.
///
/// # Errors
///
/// If it is not the base64 of 16 bytes.
pub(crate) fn content_md5(headers: &HeaderMap) -> Result<Option<[u8; 16]>, Problem> {
    let Some(value) = headers.get(CONTENT_MD5) else { return Ok(None) };
    let bytes = BASE64.decode(value.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
    match bytes {
        Some(md5) => Ok(Some(md5)),
        None => Err(Problem::new(ProblemType::BadRequest, "Content-MD5 is not the base64 of 16 bytes")),
    }
}

/// A digest as the header has it.
pub(crate) fn md5_value(md5: &[u8]) -> HeaderValue {
    // Base64 has ASCII only, so this never is the empty value.
    HeaderValue::try_from(BASE64.encode(md5)).unwrap_or(HeaderValue::from_static(""))
}

/// Refuses bodies that are compressed: no client of the protocol sends any.
///
/// # Errors
///
/// For any coding but `identity`.
pub(crate) fn identity(headers: &HeaderMap) -> Result<(), Problem> {
    let mut codings = headers.get_all(CONTENT_ENCODING).iter();
    match codings.find(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        None => Ok(()),
        Some(_) => {
            let detail = "the body is compressed; send it as it is, without Content-Encoding";
            Err(Problem::new(ProblemType::UnsupportedMedia, detail))
        }
    }
}

/// `If-Match` and `If-None-Match`: which content the client expects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Conditions {
    matches: Option<Tags>,
    none_match: Option<Tags>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Tags {
    Any,
    /// The tags without their quotes, and whether each is weak.
    These(Vec<(String, bool)>),
}

impl Conditions {
    /// Reads the conditions.
    ///
    /// # Errors
    ///
    /// If one is neither `*` nor a list of entity tags.
    pub(crate) fn read(headers: &HeaderMap) -> Result<Self, Problem> {
        Ok(Self { matches: tags(headers, &IF_MATCH)?, none_match: tags(headers, &IF_NONE_MATCH)? })
    }

    /// Whether `If-Match` holds for what is stored. Weak tags never match here.
    pub(crate) fn matches(&self, stored: Option<&str>) -> bool {
        match (&self.matches, stored) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(Tags::Any), Some(_)) => true,
            (Some(Tags::These(tags)), Some(stored)) => tags.iter().any(|(tag, weak)| !weak && tag == stored),
        }
    }

    /// Whether `If-None-Match` holds for what is stored.
    pub(crate) fn none_match(&self, stored: Option<&str>) -> bool {
        match (&self.none_match, stored) {
            (None, _) | (Some(_), None) => true,
            (Some(Tags::Any), Some(_)) => false,
            (Some(Tags::These(tags)), Some(stored)) => tags.iter().all(|(tag, _)| tag != stored),
        }
    }
}

fn tags(headers: &HeaderMap, name: &HeaderName) -> Result<Option<Tags>, Problem> {
    let mut list = Vec::new();
    let mut any = false;
    let mut present = false;
    for value in headers.get_all(name) {
        present = true;
        let text = value.to_str().map_err(|_| wrong_tags(name))?;
        match text.trim() {
            "*" => any = true,
            text => push_tags(text, &mut list).ok_or_else(|| wrong_tags(name))?,
        }
    }
    if any && !list.is_empty() {
        return Err(wrong_tags(name));
    }
    Ok(present.then_some(if any { Tags::Any } else { Tags::These(list) }))
}

fn wrong_tags(name: &HeaderName) -> Problem {
    Problem::new(ProblemType::BadRequest, format!("{name} is neither * nor a list of entity tags"))
}

/// Adds the entity tags of a list. Their texts may have commas.
fn push_tags(text: &str, list: &mut Vec<(String, bool)>) -> Option<()> {
    let mut rest = text;
    loop {
        let (weak, quoted) = match rest.strip_prefix("W/") {
            Some(quoted) => (true, quoted),
            None => (false, rest),
        };
        let (tag, behind) = quoted.strip_prefix('"')?.split_once('"')?;
        if tag.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
            return None;
        }
        list.push((tag.to_owned(), weak));
        let behind = behind.trim_start();
        if behind.is_empty() {
            return Some(());
        }
        rest = behind.strip_prefix(',')?.trim_start();
    }
}

/// A range of bytes: from its first one to its last one, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteRange {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl ByteRange {
    /// How many bytes it has.
    pub(crate) fn size(self) -> u64 {
        self.last - self.first + 1
    }
}

/// What a `Range` asks for of a content of this size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RangeAnswer {
    /// The whole: there is no range, or one of a kind that the server may ignore, such as several at once.
    Whole,
    /// These bytes.
    Part(ByteRange),
    /// The range lies behind the end.
    Unsatisfiable,
}

/// Reads `Range`, as RFC 9110 has it: what is not understood is ignored.
pub(crate) fn range(headers: &HeaderMap, size: u64) -> RangeAnswer {
    let mut values = headers.get_all(RANGE).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return RangeAnswer::Whole };
    let Some(range) = value.to_str().ok().and_then(|text| text.strip_prefix("bytes=")) else {
        return RangeAnswer::Whole;
    };
    let Some((first, last)) = range.trim().split_once('-') else { return RangeAnswer::Whole };
    let digits = |text: &str| match text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
        // More than any size: the end of the content.
        true => Some(text.parse().unwrap_or(u64::MAX)),
        false => None,
    };
    let (first, last) = match (digits(first), digits(last)) {
        (Some(first), Some(last)) if first <= last => (first, last),
        (Some(first), None) if last.is_empty() => (first, u64::MAX),
        (None, Some(0)) if first.is_empty() => return RangeAnswer::Unsatisfiable,
        (None, Some(suffix)) if first.is_empty() => (size.saturating_sub(suffix), u64::MAX),
        _ => return RangeAnswer::Whole,
    };
    match size.checked_sub(1) {
        Some(end) if first <= end => RangeAnswer::Part(ByteRange { first, last: last.min(end) }),
        _ => RangeAnswer::Unsatisfiable,
    }
}

#[cfg(test)]
mod tests {
    use http::header::{CONTENT_ENCODING, IF_MATCH, IF_NONE_MATCH, RANGE};
    use http::{HeaderMap, HeaderName, HeaderValue};

    use super::{ByteRange, CONTENT_MD5, Conditions, RangeAnswer, content_md5, identity, md5_value, range};

    fn with(name: &HeaderName, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        headers
    }

    #[test]
    fn a_digest_is_the_base64_of_16_bytes() {
        let empty = content_md5(&with(&CONTENT_MD5, "1B2M2Y8AsgTpgAmY7PhCfg==")).unwrap().unwrap();
        assert_eq!(md5_value(&empty), "1B2M2Y8AsgTpgAmY7PhCfg==");
        assert_eq!(content_md5(&HeaderMap::new()).unwrap(), None);
        for wrong in ["", "1B2M2Y8AsgTpgAmY7PhCfg", "d41d8cd98f00b204e9800998ecf8427e", "AAAA", "ü"] {
            assert!(content_md5(&with(&CONTENT_MD5, wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_bodies_without_a_coding_are_accepted() {
        assert!(identity(&HeaderMap::new()).is_ok());
        assert!(identity(&with(&CONTENT_ENCODING, "Identity")).is_ok());
        assert!(identity(&with(&CONTENT_ENCODING, "gzip")).is_err());
    }

    #[test]
    fn conditions_compare_with_what_is_stored() {
        let when = |name: &HeaderName, value: &str| Conditions::read(&with(name, value));
        let tag = when(&IF_MATCH, r#""a", "b,c""#).unwrap();
        assert!(
            tag.matches(Some("b,c")) && !tag.matches(Some("b")) && !tag.matches(None) && tag.none_match(None)
        );
        assert!(!when(&IF_MATCH, r#"W/"a""#).unwrap().matches(Some("a")));
        assert!(
            when(&IF_MATCH, "*").unwrap().matches(Some("a")) && !when(&IF_MATCH, "*").unwrap().matches(None)
        );
        let none = when(&IF_NONE_MATCH, r#"W/"a""#).unwrap();
        assert!(!none.none_match(Some("a")) && none.none_match(Some("b")) && none.none_match(None));
        let absent = when(&IF_NONE_MATCH, " * ").unwrap();
        assert!(absent.none_match(None) && !absent.none_match(Some("a")) && absent.matches(None));
        assert_eq!(Conditions::read(&HeaderMap::new()).unwrap(), Conditions::default());
        for wrong in ["", "a", "\"a", "\"a\" \"b\"", "\"a\",", "*, \"a\"", "\"a b\"", "w/\"a\""] {
            assert!(when(&IF_MATCH, wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_range_lies_within_the_content_and_what_is_not_understood_is_ignored() {
        let part = |first, last| RangeAnswer::Part(ByteRange { first, last });
        for (text, answer) in [
            ("bytes=0-0", part(0, 0)),
            ("bytes=2-", part(2, 9)),
            ("bytes=2-99", part(2, 9)),
            ("bytes=-3", part(7, 9)),
            ("bytes=-99", part(0, 9)),
            ("bytes=0-99999999999999999999999", part(0, 9)),
            ("bytes=10-", RangeAnswer::Unsatisfiable),
            ("bytes=99999999999999999999999-", RangeAnswer::Unsatisfiable),
            ("bytes=-0", RangeAnswer::Unsatisfiable),
            ("bytes=5-2", RangeAnswer::Whole),
            ("bytes=0-1,3-4", RangeAnswer::Whole),
            ("bytes=-", RangeAnswer::Whole),
            ("bytes=a-b", RangeAnswer::Whole),
            ("bytes=+1-2", RangeAnswer::Whole),
            ("lines=1-2", RangeAnswer::Whole),
        ] {
            assert_eq!(range(&with(&RANGE, text), 10), answer, "{text}");
        }
        assert_eq!(range(&with(&RANGE, "bytes=0-"), 0), RangeAnswer::Unsatisfiable);
        assert_eq!(range(&HeaderMap::new(), 10), RangeAnswer::Whole);
    }
}
