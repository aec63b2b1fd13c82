//! Addresses of places: a scheme, a name, a path, and options as a query.

use std::borrow::Cow;
use std::fmt;

use percent_encoding::percent_decode_str;

use crate::error::BackendsError;

/// An address such as `s3://bucket/prod/network.tfstate?region=eu-central-1`.
///
/// Options may hold credentials, so `Display` and `Debug` leave them out.
///
/// ```
/// use groundstate_backends::PlaceUrl;
///
/// let url = PlaceUrl::parse("s3://bucket/a%20b.tfstate?region=eu-central-1")?;
/// assert_eq!((url.scheme(), url.authority(), url.path()), ("s3", "bucket", "a b.tfstate"));
/// assert_eq!(url.options(), [("region".to_owned(), "eu-central-1".to_owned())]);
/// assert_eq!(url.to_string(), "s3://bucket/a b.tfstate");
/// # Ok::<(), groundstate_backends::BackendsError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct PlaceUrl {
    scheme: String,
    authority: String,
    path: String,
    options: Vec<(String, String)>,
    /// What stands before an `@`, where addresses of the scheme may have that.
    user: Option<String>,
    /// Scheme, authority and path as they were written, without the user.
    raw_place: String,
    /// The options as they were written.
    raw_options: Vec<String>,
}

impl PlaceUrl {
    /// Whether a text is meant to be such an address.
    pub fn is_url(text: &str) -> bool {
        text.split_once("://").is_some_and(|(scheme, _)| is_scheme(scheme))
    }

    /// Reads an address.
    ///
    /// # Errors
    ///
    /// [`BackendsError::Url`] when it is none, or has a password, or a user in another address than of `http` or `https`.
    pub fn parse(text: &str) -> Result<Self, BackendsError> {
        let wrong =
            |shown: &str, why: &str| BackendsError::Url { url: shown.to_owned(), why: why.to_owned() };
        let (scheme, rest) = text
            .split_once("://")
            .filter(|(scheme, _)| is_scheme(scheme))
            .ok_or_else(|| wrong("the text", "it has no scheme such as s3://"))?;
        // Nothing behind the scheme is shown before it is known to be no credential.
        let shown = format!("{scheme}://…");
        let wrong = |why: &str| wrong(&shown, why);
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        if rest.contains('#') {
            return Err(wrong("it has a fragment, write # as %23"));
        }
        let (authority, path) = place.split_once('/').unwrap_or((place, ""));
        let scheme = scheme.to_ascii_lowercase();
        let is_http = matches!(scheme.as_str(), "http" | "https");
        let (user, authority) = match authority.rsplit_once('@') {
            None => (None, authority),
            Some((user, _)) if is_http && user.contains(':') => {
                return Err(wrong(
                    "it has a password, which other users of the machine can see; set TF_HTTP_PASSWORD",
                ));
            }
            Some((user, authority)) if is_http => (Some(user), authority),
            Some(_) => {
                return Err(wrong("it has a user or a password, use the environment or a profile for those"));
            }
        };
        let decode = |text: &str| {
            decoded(text).ok_or_else(|| wrong("it has a % that no two hexadecimal digits follow"))
        };
        let option = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, "true"));
            Ok::<_, BackendsError>((decode(name)?, decode(value)?))
        };
        let pairs: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty()).collect();
        Ok(Self {
            authority: decode(authority)?,
            path: decode(path)?,
            options: pairs.iter().map(|pair| option(pair)).collect::<Result<_, _>>()?,
            user: user.map(decode).transpose()?,
            raw_place: format!("{scheme}://{authority}/{path}"),
            raw_options: pairs.into_iter().map(str::to_owned).collect(),
            scheme,
        })
    }

    /// What stands before the `://`, in lower case.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// What stands between `://` and the next slash: a bucket or a container.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// What follows, without the slash in front and without the options.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The options, in the order in which they are given. One without a value is `true`.
    pub fn options(&self) -> &[(String, String)] {
        &self.options
    }

    /// The user, in an address of `http` or `https`.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// Scheme, authority and path as they were written, with a slash behind the authority and without a user: what is to be sent and not
    /// looked up.
    pub fn raw_place(&self) -> &str {
        &self.raw_place
    }

    /// The options as they were written, in the order of [`options`](Self::options).
    pub fn raw_options(&self) -> &[String] {
        &self.raw_options
    }

    /// That the address names no place, and why.
    pub fn wrong(&self, why: impl Into<String>) -> BackendsError {
        BackendsError::Url { url: self.to_string(), why: why.into() }
    }
}

impl fmt::Display for PlaceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scheme, authority, path, .. } = self;
        write!(f, "{scheme}://{authority}/{path}")
    }
}

impl fmt::Debug for PlaceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PlaceUrl").field(&self.to_string()).finish()
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// Replaces `%41` by what it stands for; `+` stands for itself.
fn decoded(text: &str) -> Option<String> {
    let is_encoded = |rest: &str| rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    let is_whole = text.split('%').skip(1).all(is_encoded);
    is_whole.then(|| percent_decode_str(text).decode_utf8().ok())?.map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::PlaceUrl;

    #[test]
    fn takes_addresses_apart() {
        for (text, scheme, authority, path) in [
            ("s3://b/k", "s3", "b", "k"),
            ("S3://b", "s3", "b", ""),
            ("gs://b/", "gs", "b", ""),
            ("az://c/a%2Fb/c%25.tfstate", "az", "c", "a/b/c%.tfstate"),
            ("file:///srv/x.tfstate", "file", "", "srv/x.tfstate"),
            ("s3://b/a+b?x", "s3", "b", "a+b"),
        ] {
            let url = PlaceUrl::parse(text).unwrap();
            assert_eq!((url.scheme(), url.authority(), url.path()), (scheme, authority, path), "{text}");
        }
        let url = PlaceUrl::parse("s3://b/k?a=1&&b=x%3Dy&c&a=2").unwrap();
        let options: Vec<String> =
            url.options().iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(options, ["a=1", "b=x=y", "c=true", "a=2"]);
    }

    #[test]
    fn what_is_sent_is_kept_as_it_was_written() {
        let url = PlaceUrl::parse("HTTPS://an%61@h:8443/a%2Fb/?x=%20y&lock_method=POST").unwrap();
        assert_eq!((url.user(), url.authority(), url.path()), (Some("ana"), "h:8443", "a/b/"));
        assert_eq!(url.raw_place(), "https://h:8443/a%2Fb/");
        assert_eq!(url.raw_options(), ["x=%20y", "lock_method=POST"]);
        assert_eq!(url.to_string(), "https://h:8443/a/b/");
    }

    #[test]
    fn tells_addresses_from_paths() {
        for (text, is_url) in [
            ("s3://b/k", true),
            ("nope://", true),
            ("a/b.tfstate", false),
            ("./s3://b", false),
            ("://b", false),
            ("3s://b", false),
            ("C:\\x", false),
        ] {
            assert_eq!(PlaceUrl::is_url(text), is_url, "{text}");
        }
    }

    #[test]
    fn refuses_what_names_no_place_and_shows_no_secret() {
        for text in [
            "s3://AK:hunter2@b/k",
            "s3://hunter2@b/k",
            "https://ana:hunter2@h/s",
            "s3://b/k?secret_key=hunter2%",
            "s3://b/hunter2#x",
            "hunter2",
        ] {
            let error = PlaceUrl::parse(text).unwrap_err().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
        let url = PlaceUrl::parse("s3://b/k?secret_key=hunter2").unwrap();
        assert!(!format!("{url} {url:?}").contains("hunter2"));
    }
}
