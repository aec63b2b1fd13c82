//! Where everything is kept: a directory, memory, a bucket.

use std::fmt;
use std::path::{Path, PathBuf};

use groundstate_blobs::Key;
use groundstate_blobs_cloud::BlobUrl;

use super::url_secrets::{has_password, shown_place};

/// What a store is, before it is opened. `Display` and `Debug` show no secrets.
///
/// ```
/// use groundstate_server::config::StorePlace;
///
/// let place = StorePlace::parse("s3://states/team-a?region=eu-west-1")?;
/// assert_eq!(place.to_string(), "s3://states/team-a");
/// assert!(matches!(StorePlace::parse("/var/lib/groundstate")?, StorePlace::Directory(_)));
/// # Ok::<(), groundstate_server::config::InvalidStore>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StorePlace {
    /// A directory, which is made if it is not there.
    Directory(PathBuf),
    /// The memory of the process: nothing survives it.
    Memory,
    /// A bucket, or the part of one whose keys begin with the path of the URL.
    Bucket(BlobUrl),
    /// A table of a PostgreSQL database.
    Postgres(PostgresUrl),
}

/// The URL of a PostgreSQL database, which may have a password.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresUrl(String);

impl PostgresUrl {
    /// The whole URL, with its password.
    #[cfg(feature = "postgres")]
    pub(crate) fn secret_text(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresUrl({self})")
    }
}

impl fmt::Display for PostgresUrl {
    /// Without user, password and parameters; without a host if that may be a part of the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "postgres://{}", shown_place(&self.0).unwrap_or("…"))
    }
}

/// Why a text names no store; it shows none of the text that may be secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct InvalidStore {
    reason: String,
    hint: Option<&'static str>,
}

const FORMS: &str =
    "write it as a path, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, azblob://CONTAINER/PREFIX or memory:";

/// Schemes of the URLs of stores.
const SCHEMES: [&str; 9] = ["file", "s3", "gs", "gcs", "az", "azblob", "postgres", "postgresql", "memory"];

impl InvalidStore {
    fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), hint: Some(FORMS) }
    }

    /// What to write instead.
    pub fn hint(&self) -> Option<&'static str> {
        self.hint
    }
}

impl StorePlace {
    /// Reads a path or a URL.
    ///
    /// # Errors
    ///
    /// For the schemes of no store, and URLs that are not valid.
    pub fn parse(text: &str) -> Result<Self, InvalidStore> {
        if matches!(text, "memory:" | "memory://") {
            return Ok(Self::Memory);
        }
        let Some((scheme, _)) = text.split_once("://") else {
            let word = text.split(':').next().unwrap_or_default().to_ascii_lowercase();
            return match text {
                "" => Err(InvalidStore::new("it is empty")),
                _ if word == "memory" => Err(InvalidStore {
                    reason: "it is a directory called memory as it is written".to_owned(),
                    hint: Some("write memory: to keep everything in memory, or ./memory for the directory"),
                }),
                _ if SCHEMES.contains(&&*word) => Err(InvalidStore {
                    reason: format!("it is a directory as it is written, and begins like a URL of {word}"),
                    hint: Some("write the URL with ://, or the directory with ./ in front"),
                }),
                path => Ok(Self::Directory(path.into())),
            };
        };
        match scheme.to_ascii_lowercase().as_str() {
            "file" => {
                let url = BlobUrl::parse(text).map_err(|error| of_url(&error))?;
                match url.options().next() {
                    None => Ok(Self::Directory(url.container().into())),
                    Some(_) => Err(InvalidStore::new("the URL of a directory has no parameters")),
                }
            }
            "s3" | "gs" | "gcs" | "az" | "azblob" => {
                // The path is a folder, with a slash at its end or without.
                let (place, query) = text.split_at(text.find('?').unwrap_or(text.len()));
                let url = format!("{}{query}", place.trim_end_matches('/'));
                Ok(Self::Bucket(BlobUrl::parse(&url).map_err(|error| of_url(&error))?))
            }
            "postgres" | "postgresql" => Ok(Self::Postgres(PostgresUrl(text.to_owned()))),
            "memory" => Err(InvalidStore::new("memory has no name and no parameters")),
            "http" | "https" => Err(InvalidStore::new("a server over HTTP is no store")),
            _ => Err(InvalidStore::new("its scheme is that of no store")),
        }
    }

    /// The same place, where relative paths begin at a directory.
    #[must_use]
    pub fn below(self, directory: &Path) -> Self {
        match self {
            Self::Directory(path) => Self::Directory(directory.join(path)),
            other => other,
        }
    }

    /// The directory that is used where none is named: `$XDG_DATA_HOME/groundstate`, which is `~/.local/share/groundstate`
    /// unless that is set, and `%LOCALAPPDATA%\groundstate` on Windows. The server, and every command on its store, begins here.
    ///
    /// # Errors
    ///
    /// When no variable says where the directories of the user are.
    pub fn default_of(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, InvalidStore> {
        // The standard for these variables has relative paths ignored.
        let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let data = absolute("XDG_DATA_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".local").join("share")))
            .or_else(|| absolute("LOCALAPPDATA"));
        match data {
            Some(data) => Ok(Self::Directory(data.join("groundstate"))),
            None => Err(InvalidStore {
                reason: "the home directory is not known, so there is no directory to keep anything in"
                    .to_owned(),
                hint: Some("name a directory with `--store DIRECTORY`, or set HOME"),
            }),
        }
    }

    /// Whether the text of the place has a secret in it: a password, a key, a token.
    pub fn has_secret(&self) -> bool {
        const SECRETS: [&str; 4] = ["secret", "token", "password", "credentials"];
        // Azure's keys are secrets; those of S3 and Google that are have such words in their names.
        let is_secret = |name: &str, scheme: &str| {
            // Switches and the places of files are none, though they speak of credentials.
            let is_plain = name.starts_with("skip_") || name.ends_with("_file") || name.ends_with("_files");
            (!is_plain && SECRETS.iter().any(|word| name.contains(word)))
                || (scheme == "az" && name == "access_key")
                || name == "encryption_key"
        };
        match self {
            Self::Bucket(url) => url.options().any(|(name, _)| is_secret(name, url.scheme())),
            Self::Postgres(url) => has_password(&url.0),
            Self::Directory(_) | Self::Memory => false,
        }
    }

    /// Whether nothing survives the process.
    pub fn is_volatile(&self) -> bool {
        matches!(self, Self::Memory)
    }
}

/// The prefix of the keys of a bucket: the path of its URL, as a folder.
pub(crate) fn key_prefix(url: &BlobUrl) -> String {
    url.key().map_or_else(String::new, |key: &Key| format!("{key}/"))
}

fn of_url(error: &groundstate_blobs::Error) -> InvalidStore {
    InvalidStore::new(error.message().to_owned())
}

impl fmt::Display for StorePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(path) => path.display().fmt(f),
            Self::Memory => f.write_str("memory:"),
            Self::Bucket(url) => url.fmt(f),
            Self::Postgres(url) => url.fmt(f),
        }
    }
}

impl fmt::Debug for StorePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StorePlace({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::{StorePlace, key_prefix};

    #[test]
    fn paths_and_urls_are_told_apart() {
        for (text, shown) in [
            ("/var/lib/groundstate", "/var/lib/groundstate"),
            ("states", "states"),
            ("file:///var/lib/groundstate", "/var/lib/groundstate"),
            ("memory:", "memory:"),
            ("memory://", "memory:"),
            ("S3://states/team%20a/?secret_key=hush", "s3://states/team a"),
            ("gs://states", "gs://states"),
            ("azblob://states/a/b?account=x", "az://states/a/b"),
            (
                "postgresql://ci:hush@db.example.com:5432/states?schema=hush",
                "postgres://db.example.com:5432/states",
            ),
            ("postgres:///states", "postgres:///states"),
            ("postgres://ci:hu?sh@db.example.com/states", "postgres://…"),
        ] {
            assert_eq!(
                StorePlace::parse(text).map(|place| place.to_string()).as_deref(),
                Ok(shown),
                "{text}"
            );
        }
        for text in ["memory", "Memory", "memory:states", "s3:states", "gs:/states", "postgres:states", "s3"]
        {
            assert!(
                StorePlace::parse(text).unwrap_err().hint().is_some_and(|hint| hint.contains("./")),
                "{text}"
            );
        }
        for path in ["./memory", "memories", "/var/lib/memory", "a:b", "s3states"] {
            assert!(matches!(StorePlace::parse(path), Ok(StorePlace::Directory(_))), "{path}");
        }
        for text in
            ["", "ftp://hush@h", "https://h/hush", "memory://hush", "file:///a?b=hush", "s3://hush:hush@b"]
        {
            let error = StorePlace::parse(text).unwrap_err();
            assert!(!format!("{error:?}").contains("hush") && error.hint().is_some(), "{error:?}");
        }
    }

    #[test]
    fn secrets_in_urls_are_known() {
        for (text, has_secret) in [
            ("s3://b?region=x&secret_key=y", true),
            ("s3://b?access_key=x", false),
            ("s3://b?region=x&skip_credentials_validation=true&skip_metadata_api_check=true", false),
            ("s3://b?shared_credentials_file=/etc/aws", false),
            ("s3://b?skip_credentials_validation=true&token=x", true),
            ("az://c?access_key=x", true),
            ("gs://b?encryption_key=x", true),
            ("postgres://ci@h/d", false),
            ("postgres://ci:x@h/d", true),
            ("postgres://h/d?user=ci&password=x", true),
            ("/var/lib/secret", false),
        ] {
            assert_eq!(StorePlace::parse(text).unwrap().has_secret(), has_secret, "{text}");
        }
    }

    #[test]
    fn the_path_of_a_bucket_is_a_folder() {
        for (text, prefix) in [("s3://b", ""), ("s3://b/a", "a/"), ("s3://b/a/b/", "a/b/")] {
            let StorePlace::Bucket(url) = StorePlace::parse(text).unwrap() else { panic!("{text}") };
            assert_eq!(key_prefix(&url), prefix);
        }
    }

    #[test]
    fn without_a_name_the_directory_is_one_of_the_user() {
        let of = |variables: &'static [(&str, &str)]| {
            let variable = move |name: &str| {
                variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
            };
            StorePlace::default_of(&variable).map(|place| place.to_string()).ok()
        };
        assert_eq!(of(&[("HOME", "/h")]).as_deref(), Some("/h/.local/share/groundstate"));
        assert_eq!(of(&[("HOME", "/h"), ("XDG_DATA_HOME", "/d")]).as_deref(), Some("/d/groundstate"));
        assert_eq!(
            of(&[("HOME", "/h"), ("XDG_DATA_HOME", "d")]).as_deref(),
            Some("/h/.local/share/groundstate")
        );
        assert_eq!(of(&[("HOME", "")]), None);
        assert_eq!(of(&[]), None);
    }
}
