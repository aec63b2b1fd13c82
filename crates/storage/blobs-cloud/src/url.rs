//! Addresses of containers and blobs.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

#[cfg(feature = "_cloud")]
use groundstate_blobs::Retry;
use groundstate_blobs::{BlobStore, Context, Error, ErrorKind, Key, MemoryBlobs, Op, Result};
use percent_encoding::percent_decode_str;

/// Where a container is, which of its blobs is meant, and how to get at them.
///
/// | address | store |
/// | --- | --- |
/// | `s3://BUCKET/KEY?region=..&endpoint=..` | S3 |
/// | `gs://BUCKET/KEY` | Google Cloud Storage |
/// | `az://CONTAINER/KEY?account=..`, also `azblob://` | Azure Blob Storage |
/// | `file:///DIRECTORY` | a directory; the whole path is the directory's |
/// | `memory://NAME/KEY` | memory, empty at first |
///
/// The query has the names of the store's settings. Keys are percent-encoded where they would not be read otherwise.
/// Whatever is wrong with an address, its query and anything before an `@` is shown in no message.
///
/// ```
/// use groundstate_blobs_cloud::BlobUrl;
///
/// let url = BlobUrl::parse("s3://states/env%3A/dev/a.tfstate?region=eu-west-1&secret_key=hidden")?;
/// assert_eq!((url.scheme(), url.container()), ("s3", "states"));
/// assert_eq!(url.key().map(|key| key.to_string()).as_deref(), Some("env:/dev/a.tfstate"));
/// assert_eq!(url.to_string(), "s3://states/env:/dev/a.tfstate");
/// # Ok::<(), groundstate_blobs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct BlobUrl {
    scheme: &'static str,
    container: String,
    key: Option<Key>,
    options: Vec<(String, String)>,
}

/// Looks up variables of the environment.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

const SCHEMES: [(&str, &str); 7] = [
    ("s3", "s3"),
    ("gs", "gs"),
    ("gcs", "gs"),
    ("az", "az"),
    ("azblob", "az"),
    ("file", "file"),
    ("memory", "memory"),
];

impl BlobUrl {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// `Invalid` for another scheme, user names, fragments and text that is wrongly encoded; `InvalidKey`.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |why: &str| {
            Error::new(ErrorKind::Invalid, Op::Use, format_args!("the address {}", harmless(text)))
                .because(why)
                .next_step("write it as s3://BUCKET/KEY, gs://BUCKET/KEY, az://CONTAINER/KEY?account=NAME, file:///DIRECTORY or memory://NAME")
        };
        let (scheme, rest) = text.split_once("://").ok_or_else(|| wrong("it has no scheme"))?;
        let known = SCHEMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(scheme));
        let (_, scheme) = *known.ok_or_else(|| wrong("its scheme is not that of a store"))?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        if place.contains('#') || query.contains('#') {
            return Err(wrong("it has a `#`, which has to be written as %23"));
        }
        let decoded = |text: &str| decode(text).ok_or_else(|| wrong("it is not percent-encoded correctly"));
        let (container, key) = match scheme {
            "file" => (place.strip_prefix("localhost").unwrap_or(place), ""),
            _ => place.split_once('/').unwrap_or((place, "")),
        };
        // The beginning of a password with a `?` in it looks like the end of a container.
        let is_cut = container.contains(':') && query.contains('@');
        if scheme != "file" && (container.contains('@') || is_cut) {
            return Err(wrong("it has a user name; credentials go into settings or the environment"));
        }
        if scheme == "file" && !container.starts_with('/') {
            return Err(wrong("the path of a file has to begin with a slash"));
        }
        if container.is_empty() {
            return Err(wrong("it names no container"));
        }
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let options = pairs.map(|pair| {
            let (name, value) =
                pair.split_once('=').ok_or_else(|| wrong("its query has an option without a value"))?;
            Ok((decoded(name)?, decoded(value)?))
        });
        let key = decoded(key)?;
        Ok(Self {
            scheme,
            container: decoded(container)?,
            key: if key.is_empty() { None } else { Some(Key::parse(&key)?) },
            options: options.collect::<Result<_>>()?,
        })
    }

    /// `s3`, `gs`, `az`, `file` or `memory`.
    pub fn scheme(&self) -> &'static str {
        self.scheme
    }

    /// The bucket, container or directory.
    pub fn container(&self) -> &str {
        &self.container
    }

    /// The blob, if one is named.
    pub fn key(&self) -> Option<&Key> {
        self.key.as_ref()
    }

    /// The options of the query by their names. They may be secrets.
    pub fn options(&self) -> impl Iterator<Item = (&str, &str)> {
        self.options.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Takes an option out of the query, for those who have some of their own.
    pub fn take(&mut self, name: &str) -> Option<String> {
        let at = self.options.iter().position(|(other, _)| other == name)?;
        Some(self.options.remove(at).1)
    }

    /// Opens the container, with retries; `variable` looks up variables of the environment.
    ///
    /// # Errors
    ///
    /// `Unsupported` for a store that this build does not have, and those of the store's own `open`.
    pub fn open(
        &self,
        context: &Context,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Arc<dyn BlobStore>> {
        match self.scheme {
            #[cfg(feature = "aws")]
            "s3" => {
                let settings = self.settings(crate::S3Settings::new(), "bucket", crate::S3Settings::set)?;
                let store = crate::S3Blobs::open(&settings.or_from(variable)?, context)?;
                let policy = store.retry_policy();
                Ok(Arc::new(Retry::new(store, policy, context.clone())))
            }
            #[cfg(feature = "gcp")]
            "gs" => {
                let settings = self.settings(crate::GcsSettings::new(), "bucket", crate::GcsSettings::set)?;
                let store = crate::GcsBlobs::open(&settings.or_from(variable)?)?;
                let policy = store.retry_policy();
                Ok(Arc::new(Retry::new(store, policy, context.clone())))
            }
            #[cfg(feature = "azure")]
            "az" => {
                let settings =
                    self.settings(crate::AzureSettings::new(), "container_name", crate::AzureSettings::set)?;
                let store = crate::AzureBlobs::open(&settings.or_from(variable)?)?;
                let policy = store.retry_policy();
                Ok(Arc::new(Retry::new(store, policy, context.clone())))
            }
            #[cfg(feature = "fs")]
            "file" => self
                .without_options()
                .and_then(|()| Ok(Arc::new(groundstate_blobs_fs::FileBlobs::open(&self.container)?) as _)),
            "memory" => {
                self.without_options()?;
                Ok(Arc::new(MemoryBlobs::with_clock(&self.container, Arc::clone(&context.clock))))
            }
            _ => {
                // Without a cloud, nothing asks for it.
                let _: Lookup<'_> = variable;
                Err(Error::unsupported(Op::Open, self)
                    .because(format!("this build has no store for {}", self.scheme))
                    .next_step("use a build with it"))
            }
        }
    }

    #[cfg(feature = "_cloud")]
    fn settings<T>(
        &self,
        mut settings: T,
        container: &str,
        set: fn(&mut T, &str, &str) -> Result<()>,
    ) -> Result<T> {
        set(&mut settings, container, &self.container)?;
        self.options().try_for_each(|(name, value)| set(&mut settings, name, value))?;
        Ok(settings)
    }

    fn without_options(&self) -> Result<()> {
        match self.options.first() {
            None => Ok(()),
            Some((name, _)) => Err(Error::new(ErrorKind::Invalid, Op::Open, self)
                .because(format!("the store has no option `{name}`"))
                .next_step("remove it")),
        }
    }
}

/// The address without query, fragment and user.
fn harmless(text: &str) -> String {
    let (scheme, rest) = text.split_once("://").map_or(("", text), |(scheme, rest)| (scheme, rest));
    // A password may have `?` and `#` in it, so the user ends before the rest does.
    let place = rest.rfind('@').and_then(|at| rest.get(at + 1..)).unwrap_or(rest);
    let place = place.split(['?', '#']).next().unwrap_or_default();
    if scheme.is_empty() { place.to_owned() } else { format!("{scheme}://{place}") }
}

/// Replaces `%41` by what it stands for; `+` stands for itself.
fn decode(text: &str) -> Option<String> {
    let is_encoded = |rest: &str| rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    let is_whole = text.split('%').skip(1).all(is_encoded);
    is_whole.then(|| percent_decode_str(text).decode_utf8().ok())?.map(Cow::into_owned)
}

impl fmt::Display for BlobUrl {
    /// Without the query.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.container)?;
        match &self.key {
            Some(key) => write!(f, "/{key}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for BlobUrl {
    /// Without the query.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BlobUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::BlobUrl;

    #[test]
    fn addresses_are_taken_apart() {
        for (text, shown, key, options) in [
            ("s3://b/k", "s3://b/k", Some("k"), vec![]),
            ("S3://b", "s3://b", None, vec![]),
            ("s3://b/", "s3://b", None, vec![]),
            ("gs://b/a%20b/c%2Bd+e", "gs://b/a b/c+d+e", Some("a b/c+d+e"), vec![]),
            ("azblob://c/k?account=acc", "az://c/k", Some("k"), vec![("account", "acc")]),
            ("file:///var/lib/x", "file:///var/lib/x", None, vec![]),
            ("memory://m/k", "memory://m/k", Some("k"), vec![]),
            (
                "s3://b/k?endpoints.s3=http%3A%2F%2F127.0.0.1%3A5&region=x",
                "s3://b/k",
                Some("k"),
                vec![("endpoints.s3", "http://127.0.0.1:5"), ("region", "x")],
            ),
        ] {
            let url = BlobUrl::parse(text).unwrap();
            assert_eq!(url.to_string(), shown);
            assert_eq!(url.key().map(|key| key.as_str()), key, "{text}");
            assert_eq!(url.options().collect::<Vec<_>>(), options, "{text}");
        }
    }

    #[test]
    fn no_message_shows_users_or_queries() {
        for (text, why) in [
            ("b/k?secret_key=hush", "no scheme"),
            ("ftp://hush@b/k", "scheme is not"),
            ("s3://hush:hush@b/k?token=hush", "user name"),
            ("s3://user:hush#hush@b/k", "%23"),
            ("s3://user:hush?hush@b/k", "user name"),
            ("s3://user:hush?x=hush@b/k", "user name"),
            ("hush:hush#hush@b/k", "no scheme"),
            ("s3://b/k?hush", "without a value"),
            ("s3://b/k?token=hush%", "percent-encoded"),
            ("s3://b/k?token=hush#", "%23"),
            ("s3:///k?token=hush", "no container"),
            ("file://x?token=hush", "slash"),
            ("s3://b/a%2F%2Fb?token=hush", "two slashes"),
        ] {
            let error = BlobUrl::parse(text).unwrap_err();
            let text = format!("{error} {error:?}");
            assert!(text.contains(why) && !text.contains("hush"), "{text}");
        }
        let url = BlobUrl::parse("s3://b/k?token=hush").unwrap();
        assert!(!format!("{url} {url:?}").contains("hush"));
    }
}
