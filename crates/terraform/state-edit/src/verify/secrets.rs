//! What a secret looks like, by its name and by its value.

/// A kind of credential that can be told by its text.
struct Pattern {
    /// What it is, for messages.
    what: &'static str,
    /// How it begins.
    prefix: &'static str,
    /// How many more characters follow at least.
    length: usize,
    /// Which ones.
    class: fn(u8) -> bool,
}

const PATTERNS: &[Pattern] = &[
    Pattern { what: "an AWS access key id", prefix: "AKIA", length: 16, class: upper },
    Pattern { what: "an AWS access key id", prefix: "ASIA", length: 16, class: upper },
    Pattern { what: "a GitHub token", prefix: "ghp_", length: 36, class: word },
    Pattern { what: "a GitHub token", prefix: "gho_", length: 36, class: word },
    Pattern { what: "a GitHub token", prefix: "ghu_", length: 36, class: word },
    Pattern { what: "a GitHub token", prefix: "ghs_", length: 36, class: word },
    Pattern { what: "a GitHub token", prefix: "ghr_", length: 36, class: word },
    Pattern { what: "a GitHub token", prefix: "github_pat_", length: 22, class: word },
    Pattern { what: "a GitLab token", prefix: "glpat-", length: 20, class: dashed },
    Pattern { what: "a Slack token", prefix: "xoxa-", length: 10, class: dashed },
    Pattern { what: "a Slack token", prefix: "xoxb-", length: 10, class: dashed },
    Pattern { what: "a Slack token", prefix: "xoxp-", length: 10, class: dashed },
    Pattern { what: "a Slack token", prefix: "xoxr-", length: 10, class: dashed },
    Pattern { what: "a Slack token", prefix: "xoxs-", length: 10, class: dashed },
    Pattern { what: "a Stripe key", prefix: "sk_live_", length: 16, class: word },
    Pattern { what: "a Stripe key", prefix: "rk_live_", length: 16, class: word },
    Pattern { what: "a Stripe key", prefix: "sk_test_", length: 16, class: word },
    Pattern { what: "a Google API key", prefix: "AIza", length: 35, class: dashed },
    Pattern { what: "a Vault token", prefix: "hvs.", length: 24, class: dashed },
    Pattern { what: "an npm token", prefix: "npm_", length: 36, class: word },
    Pattern { what: "an Azure storage key", prefix: "AccountKey=", length: 40, class: base64 },
];

fn upper(b: u8) -> bool {
    b.is_ascii_uppercase() || b.is_ascii_digit()
}

fn word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

fn dashed(b: u8) -> bool {
    word(b) || b == b'-'
}

fn base64(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')
}

/// What kind of credential stands in the text, if one can be told.
pub(super) fn in_value(text: &str) -> Option<&'static str> {
    if text.contains("PRIVATE KEY") && text.contains("-----BEGIN ") {
        return Some("a private key");
    }
    if let Some(pattern) = PATTERNS.iter().find(|pattern| pattern.is_in(text)) {
        return Some(pattern.what);
    }
    if has_token(text) {
        return Some("a JSON web token");
    }
    has_password_in_url(text).then_some("a URL with a password")
}

impl Pattern {
    fn is_in(&self, text: &str) -> bool {
        text.match_indices(self.prefix).any(|(at, prefix)| {
            let bytes = text.as_bytes();
            let starts = at == 0 || bytes.get(at - 1).is_none_or(|b| !b.is_ascii_alphanumeric());
            let rest = bytes.get(at + prefix.len()..).unwrap_or_default();
            starts && rest.iter().take(self.length).filter(|b| (self.class)(**b)).count() == self.length
        })
    }
}

/// Three parts of base64, the first two of which are JSON objects.
fn has_token(text: &str) -> bool {
    text.match_indices("eyJ").any(|(at, _)| {
        let rest = text.get(at..).unwrap_or_default();
        let end = rest.bytes().position(|b| !dashed(b) && b != b'.').unwrap_or(rest.len());
        let mut parts = rest.get(..end).unwrap_or_default().split('.');
        let (first, second, third) = (parts.next(), parts.next(), parts.next());
        first.is_some_and(|part| part.len() >= 10)
            && second.is_some_and(|part| part.starts_with("eyJ"))
            && third.is_some_and(|part| part.len() >= 10)
    })
}

fn has_password_in_url(text: &str) -> bool {
    text.match_indices("://").any(|(at, separator)| {
        let scheme =
            text.get(..at).is_some_and(|before| before.ends_with(|c: char| c.is_ascii_alphanumeric()));
        let rest = text.get(at + separator.len()..).unwrap_or_default();
        let end = rest
            .find(|c: char| matches!(c, '/' | '?' | '#' | '"') || c.is_whitespace())
            .unwrap_or(rest.len());
        let user =
            rest.get(..end).unwrap_or_default().rsplit_once('@').and_then(|(user, _)| user.split_once(':'));
        scheme && user.is_some_and(|(_, password)| !password.is_empty() && !is_placeholder(password))
    })
}

/// What people write where a secret would stand.
fn is_placeholder(text: &str) -> bool {
    text.starts_with(['<', '$', '{', '*', '%']) || text.eq_ignore_ascii_case("redacted")
}

/// Words that say that something is a secret.
const SECRET: &[&str] = &[
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "secrets",
    "token",
    "tokens",
    "apikey",
    "privatekey",
    "credential",
    "credentials",
];

/// The same, in two words.
const SECRET_PAIRS: &[(&str, &str)] =
    &[("private", "key"), ("api", "key"), ("access", "key"), ("secret", "key"), ("connection", "string")];

/// Last words that say that something is about a secret, and not the secret.
const ABOUT: &[&str] = &[
    "arn",
    "id",
    "ids",
    "name",
    "names",
    "path",
    "paths",
    "version",
    "versions",
    "length",
    "ttl",
    "expiry",
    "expires",
    "expiration",
    "url",
    "uri",
    "endpoint",
    "type",
    "count",
    "enabled",
    "policy",
    "rotation",
    "file",
    "store",
    "hint",
    "namespace",
    "ref",
    "reference",
    "issuer",
    "audience",
    "algorithm",
    "fingerprint",
    "hash",
    "status",
    "at",
    "in",
];

/// Whether the name says that the text beside it is a secret.
pub(super) fn named(name: &str) -> bool {
    let words = words(name);
    let about = words.last().is_some_and(|last| ABOUT.contains(&last.as_str()));
    let is_secret = |word: &String| SECRET.contains(&word.as_str());
    let pairs = || words.windows(2).any(|pair| matches!(pair, [a, b] if SECRET_PAIRS.contains(&(a, b))));
    !about && (words.iter().any(is_secret) || pairs())
}

/// Whether the text beside such a name tells where the secret is, or that there is none.
pub(super) fn is_reference(text: &str) -> bool {
    text.is_empty()
        || text.starts_with("arn:")
        || is_placeholder(text)
        || matches!(text, "true" | "false" | "null")
}

/// The words of a name, in lower case: `dbPassword2` and `DB_PASSWORD_2` have the same.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut in_word = false;
    let mut after_lower = false;
    for c in name.chars() {
        if !c.is_alphabetic() {
            in_word = false;
            continue;
        }
        let starts = !in_word || (c.is_uppercase() && after_lower);
        after_lower = c.is_lowercase();
        in_word = true;
        if starts {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Secrets are put together here, so that scanners of source code do not take them for real ones.
    fn made(prefix: &str, fill: &str, count: usize) -> String {
        format!("{prefix}{}", fill.repeat(count))
    }

    #[test]
    fn tells_credentials_by_their_text() {
        let cases = [
            (made("AKIA", "Z", 16), "an AWS access key id"),
            (made("key=ASIA", "7", 16), "an AWS access key id"),
            (made("ghp_", "a", 36), "a GitHub token"),
            (made("ghs_", "B_9", 12), "a GitHub token"),
            (made("github_pat_", "a1", 20), "a GitHub token"),
            (made("glpat-", "x", 20), "a GitLab token"),
            (made("xoxb-", "12-", 6), "a Slack token"),
            (made("sk_live_", "9", 24), "a Stripe key"),
            (made("AIza", "b", 35), "a Google API key"),
            (made("AccountName=x;AccountKey=", "A", 86), "an Azure storage key"),
            (format!("{}\nMII", made("-----BEGIN RSA PRIVATE KEY", "-", 5)), "a private key"),
            (
                format!("{}.{}.{}", made("eyJ", "h", 20), made("eyJ", "b", 9), made("", "c", 43)),
                "a JSON web token",
            ),
            (format!("postgres://app:{}@db:5432/x", made("", "p", 9)), "a URL with a password"),
        ];
        for (text, what) in cases {
            assert_eq!(in_value(&text), Some(what), "{text}");
        }
    }

    #[test]
    fn leaves_other_text_alone() {
        for text in [
            "",
            "AKIA",
            "XAKIAZZZZZZZZZZZZZZZZ",
            "ghp_short",
            "-----BEGIN CERTIFICATE-----",
            "-----BEGIN PUBLIC KEY-----",
            "eyJhbGciOiJub25lIn0.only.two",
            "https://example.com/a:b@c",
            "https://user@example.com",
            "postgres://app:${PASSWORD}@db/x",
            "eyJhbGciOiJub25lIn0.other.0123456789",
            "eyJhbGci.eyJhbGciOiJub25lIn0.0123456789",
            "://app:x@db",
            "-://app:x@db",
            "arn:aws:iam::123456789012:role/x",
        ] {
            assert_eq!(in_value(text), None, "{text}");
        }
        for (prefix, odd) in
            [("AKIA", "Aa"), ("ghp_", "a-"), ("sk_live_", "a."), ("glpat-", "a."), ("AccountKey=", "a-")]
        {
            let text = made(prefix, odd, 30);
            assert_eq!(in_value(&text), None, "{text}");
        }
    }

    #[test]
    fn names_tell_secrets() {
        for name in [
            "password",
            "db_password_2",
            "dbPassword",
            "CLIENT_SECRET",
            "api_key",
            "private-key",
            "tokens",
            "secret.value",
        ] {
            assert!(named(name), "{name}");
        }
        for name in [
            "secret_arn",
            "token_endpoint",
            "access_key_id",
            "password_length",
            "tokenizer",
            "monkey",
            "key",
            "",
            "é",
        ] {
            assert!(!named(name), "{name}");
        }
    }

    #[test]
    fn references_are_no_secrets() {
        for text in
            ["", "arn:aws:secretsmanager:eu-west-1:1:secret:x", "${var.x}", "<redacted>", "***", "true"]
        {
            assert!(is_reference(text), "{text}");
        }
        assert!(!is_reference("hunter2"));
    }
}
