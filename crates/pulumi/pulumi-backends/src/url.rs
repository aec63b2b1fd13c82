//! Backend URLs, as `pulumi login` takes them.

use std::fmt;

use groundstate_blobs::{Error, ErrorKind, Key, Op, Result};

use crate::query::{Query, decode};
use crate::service_url::ServiceUrl;

/// The schemes of stores that this crate knows, in the order in which messages name them.
const SCHEMES: [&str; 5] = ["azblob", "file", "gs", "postgres", "s3"];

/// The longest text that is looked at, in bytes.
const LONGEST: usize = 8 << 10;

/// The URL of a backend: `file://`, `s3://`, `gs://`, `azblob://` or `postgres://`.
///
/// User info and parameters may be secrets, so `Display` and `Debug` leave them out, and so does every error.
#[derive(Clone, PartialEq, Eq)]
pub struct BackendUrl {
    /// What the user wrote; selections and logins are stored under it.
    text: String,
    scheme: &'static str,
    /// What stands before the `@`, encoded as it is.
    user_info: Option<String>,
    /// The bucket, container or host, with the port.
    container: String,
    /// What follows the container, from its slash on, decoded. For `file` all that stands behind `//`.
    path: String,
    query: Query,
}

impl BackendUrl {
    /// Whether a text has the scheme of a backend that keeps stacks in a store or in a service.
    pub fn is_backend(text: &str) -> bool {
        let Some((scheme, _)) = text.split_once("://") else { return false };
        SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme)) || ServiceUrl::is_service(text)
    }

    /// Reads a backend URL.
    ///
    /// # Errors
    ///
    /// `Invalid` for what is none, `Unsupported` for services, which [`ServiceUrl`] reads.
    pub fn parse(text: &str) -> Result<Self> {
        let (scheme, rest) = text.split_once("://").ok_or_else(|| {
            wrong("the text", "it has no scheme such as s3://")
                .next_step("write a backend URL as `pulumi login` takes it")
        })?;
        // Nothing behind the scheme is shown before it is known to be no credential.
        if ServiceUrl::is_service(text) {
            return Err(ServiceUrl::parse(text)?.no_bucket());
        }
        if scheme.eq_ignore_ascii_case("postgresql") {
            return Err(wrong("postgresql://…", "Pulumi knows this scheme as postgres")
                .next_step("write postgres://"));
        }
        let known = SCHEMES.iter().find(|known| known.eq_ignore_ascii_case(scheme));
        let Some(scheme) = known.copied() else {
            let why = format!("its scheme is none of {}", SCHEMES.join(", "));
            return Err(wrong("the text", &why).next_step("write a backend URL as `pulumi login` takes it"));
        };
        let shown = format!("{scheme}://…");
        let wrong = |why: &str| wrong(&shown, why);
        if text.len() > LONGEST {
            return Err(wrong("it is longer than 8 KiB"));
        }
        if text.chars().any(char::is_control) {
            return Err(wrong("it has a control character"));
        }
        if rest.contains('#') {
            return Err(wrong("it has a `#`").next_step("write # as %23"));
        }
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (first, behind) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        // What comes first may be the beginning of a password, and neither a host nor a bucket.
        let is_cut = scheme == "postgres" || scheme != "file" && first.contains(':');
        if is_cut && behind.contains('@') {
            return Err(wrong("it has an `@` behind a `/` or a `?`")
                .next_step("in a user, a password or a parameter, write / as %2F, ? as %3F and @ as %40"));
        }
        let encoding = || wrong("it has a % that no two hexadecimal digits follow, or is not UTF-8");
        let query = Query::parse(query).ok_or_else(encoding)?;
        let decoded = |text: &str| decode(text).ok_or_else(encoding);
        let (authority, path) = match scheme {
            "file" => ("", place),
            _ => place.split_at(place.find('/').unwrap_or(place.len())),
        };
        let (user_info, container) = match authority.rsplit_once('@') {
            Some((user, container)) => (Some(user.to_owned()), container),
            None => (None, authority),
        };
        let (container, path) = (decoded(container)?, decoded(path)?);
        if path.chars().chain(container.chars()).any(char::is_control) {
            return Err(wrong("it has a control character"));
        }
        let url = Self { text: text.to_owned(), scheme, user_info, container, path, query };
        match scheme {
            "file" if url.path.is_empty() => {
                Err(wrong("it names no directory").next_step("write file:///DIRECTORY or file://~"))
            }
            "s3" | "gs" | "azblob" if url.container.is_empty() => {
                Err(wrong("it names no bucket or container"))
            }
            _ => Ok(url),
        }
    }

    /// The scheme, in lower case: `file`, `s3`, `gs`, `azblob` or `postgres`.
    pub fn scheme(&self) -> &'static str {
        self.scheme
    }

    /// The bucket, the container, or the host with its port; empty for `file`.
    pub fn container(&self) -> &str {
        &self.container
    }

    /// What stands behind the container, from its slash on.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// What the user wrote, secrets included: logins and selections are stored under it. Not for messages.
    pub fn secret_text(&self) -> &str {
        &self.text
    }

    /// Whether there is something before an `@`.
    pub(crate) fn has_user_info(&self) -> bool {
        self.user_info.is_some()
    }

    pub(crate) fn query(&self) -> &Query {
        &self.query
    }

    /// What every key of this backend begins with: `prefix` of the query, then the path with a slash at its end.
    ///
    /// # Errors
    ///
    /// `Invalid` for a prefix whose keys would not pass every store unchanged.
    pub fn key_prefix(&self) -> Result<String> {
        if self.scheme == "file" {
            return Ok(String::new());
        }
        let path = self.path.trim_start_matches('/');
        let slash = if path.is_empty() || path.ends_with('/') { "" } else { "/" };
        let prefix = format!("{}{path}{slash}", self.query.get("prefix").unwrap_or_default());
        match Key::parse(&format!("{prefix}x")) {
            Ok(_) => Ok(prefix),
            Err(error) => Err(self.wrong(format!("keys cannot begin with its path: {}", error.message()))),
        }
    }

    /// That this URL cannot be used.
    pub(crate) fn wrong(&self, why: impl Into<String>) -> Error {
        Error::new(ErrorKind::Invalid, Op::Use, format_args!("the backend URL {self}")).because(why)
    }

    /// That a parameter of this URL cannot be used.
    pub(crate) fn parameter(&self, name: &str, why: &str) -> Error {
        self.wrong(format!("the parameter `{name}` {why}"))
    }

    /// That a parameter is known, and cannot be honoured here.
    pub(crate) fn unsupported(&self, name: &str, why: &str) -> Error {
        Error::unsupported(Op::Use, format_args!("the backend URL {self}"))
            .because(format!("the parameter `{name}` cannot be honoured: {why}"))
    }

    /// Refuses parameters that the original refuses, and `key`, which leaves nothing but one object.
    pub(crate) fn only(&self, known: &[&str]) -> Result<()> {
        if self.query.get("key").is_some() {
            return Err(self
                .unsupported("key", "it restricts the bucket to a single object")
                .next_step("remove it"));
        }
        match self.query.unknown(&[known, &["prefix"]].concat()) {
            None => Ok(()),
            Some(name) => {
                let name: String = name.chars().take(40).collect();
                let why = format!("is none of {}", known.join(", "));
                Err(self.parameter(&name, &why).next_step("remove it"))
            }
        }
    }
}

fn wrong(shown: &str, why: &str) -> Error {
    Error::new(ErrorKind::Invalid, Op::Use, format_args!("the backend URL {shown}")).because(why)
}

impl fmt::Display for BackendUrl {
    /// Without user info and query.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.container, self.path.trim_end_matches('/'))
    }
}

impl fmt::Debug for BackendUrl {
    /// Without user info and query.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BackendUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::BackendUrl;

    #[test]
    fn paths_and_prefixes_become_the_beginning_of_keys() {
        for (text, prefix) in [
            ("s3://b", ""),
            ("s3://b/", ""),
            ("s3://b/a/b", "a/b/"),
            ("s3://b/a/b/?region=x", "a/b/"),
            ("gs://b?prefix=p-", "p-"),
            ("azblob://c/a?prefix=p/", "p/a/"),
            ("postgres://u@h/mydb?table=t", "mydb/"),
            ("postgres://h", ""),
            ("file:///srv/stacks", ""),
            ("S3://b/a%20b", "a b/"),
        ] {
            assert_eq!(BackendUrl::parse(text).unwrap().key_prefix().unwrap(), prefix, "{text}");
        }
        for text in ["s3://b/a//b", "s3://b/../x", "s3://b?prefix=/a"] {
            assert!(BackendUrl::parse(text).unwrap().key_prefix().is_err(), "{text}");
        }
    }

    #[test]
    fn no_message_shows_users_or_parameters() {
        for (text, why) in [
            ("hush", "no scheme"),
            ("ftp://hush", "none of azblob"),
            ("postgresql://hush@h/d", "postgres://"),
            ("https://ana:hush@app.example/x?hush", "app.example"),
            ("https://app.example/x", "app.example"),
            ("s3://b?token=hush%", "hexadecimal"),
            ("s3://b/hush#x", "%23"),
            ("s3://?hush=hush", "names no bucket"),
            ("file://?hush=hush", "names no directory"),
            ("postgres://ana:hush?hush@h/d", "%3F"),
            ("postgres://ana:hush/hush@h/d", "%2F"),
            ("s3://ana:hush?x=y@b/k", "%3F"),
            ("s3://ana:hush/hush@b/k", "%2F"),
            ("s3://b/hush\n", "control character"),
            ("s3://b/hush%0a", "control character"),
        ] {
            let error = BackendUrl::parse(text).unwrap_err();
            let text = format!("{error} {error:?}");
            assert!(text.contains(why) && !text.contains("hush"), "{text}");
        }
        let url = BackendUrl::parse("postgres://ana:hush@h:5/d?password=hush").unwrap();
        let shown = format!("{url} {url:?} {} {}", url.only(&[]).unwrap_err(), url.unsupported("x", "y"));
        assert!(!shown.contains("hush") && shown.contains("postgres://h:5/d"), "{shown}");
    }
}
