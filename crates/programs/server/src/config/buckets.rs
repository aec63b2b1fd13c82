//! The tables `[[pulumi.buckets]]` of a file: buckets of the Pulumi CLI whose stacks are served.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use groundstate_pulumi_backends::BackendUrl;
use groundstate_pulumi_service::StackPath;
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::url_secrets::has_password;

/// The list of tables.
pub(crate) const NAME: &str = "pulumi.buckets";

/// A bucket whose stacks are served. `Debug` shows neither user info nor parameters of its URL.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BucketSettings {
    /// The organization that its stacks belong to.
    pub organization: String,
    /// Where it is, as `pulumi login` takes it.
    pub url: BackendUrl,
}

/// A table as it is written. `Debug` shows no URL.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    organization: String,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    url_file: Option<PathBuf>,
}

/// The tables, and the offset of the first.
type Found = Option<(Vec<Table>, usize)>;

/// Reads the tables of a document, with the offset of the first; or says what is wrong, and at which offset.
pub(crate) fn tables(document: &DeTable<'_>) -> Result<Found, (usize, String)> {
    let Some(DeValue::Table(pulumi)) = document.get("pulumi").map(Spanned::get_ref) else { return Ok(None) };
    let Some(tables) = pulumi.get("buckets") else { return Ok(None) };
    let offset = tables.span().start;
    match Vec::<Table>::deserialize(ValueDeserializer::from(tables.clone())) {
        Ok(tables) => Ok(Some((tables, offset))),
        Err(error) => {
            let offset = error.span().map_or(offset, |span| span.start);
            // What the error quotes may be a secret.
            let form =
                "each has an `organization`, and a `url` or a `url_file`, which are texts, and nothing else";
            Err((offset, format!("`{NAME}` is not valid: {form}")))
        }
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("organization", &self.organization)
            .field("has_url", &self.url.is_some())
            .field("url_file", &self.url_file)
            .finish()
    }
}

impl Table {
    /// Makes the path of a file begin at a folder.
    pub(crate) fn below(&mut self, folder: &Path) {
        self.url_file = self.url_file.take().map(|path| folder.join(path));
    }
}

/// Checks the tables. `line` reads the one line of a file.
pub(crate) fn settings(
    tables: &[Table],
    line: impl Fn(&Path) -> Result<String, String>,
) -> Result<Vec<BucketSettings>, String> {
    let mut names = BTreeSet::new();
    let mut settings = Vec::new();
    for Table { organization, url, url_file } in tables {
        let wrong = |why: String| format!("`{NAME}` of {organization:?}: {why}");
        if let Err(error) = StackPath::new(organization, "project", "stack") {
            return Err(wrong(error.to_string()));
        }
        if !names.insert(organization) {
            return Err(wrong("the organization is configured twice".to_owned()));
        }
        let (text, is_secret) = match (url, url_file) {
            (Some(_), Some(_)) => {
                return Err(wrong("there are a `url` and a `url_file`; give one".to_owned()));
            }
            (None, None) => return Err(wrong("there is no `url`".to_owned())),
            (Some(url), None) => (url.clone(), false),
            (None, Some(path)) => {
                let read = line(path);
                (read.map_err(|why| wrong(format!("cannot read {}: {why}", path.display())))?, true)
            }
        };
        let url = BackendUrl::parse(&text).map_err(|error| wrong(error.to_string()))?;
        if !is_secret && has_password(&text) {
            let step = "write it into a file that only the server reads, and name that by `url_file`";
            return Err(wrong(format!("the URL has a password; {step}")));
        }
        let folder = text.strip_prefix("file://");
        if folder.is_some_and(|folder| !folder.starts_with(['/', '~']) && !Path::new(folder).is_absolute()) {
            return Err(wrong("the directory is not absolute; write file:///DIRECTORY".to_owned()));
        }
        settings.push(BucketSettings { organization: organization.clone(), url });
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::{Table, settings};

    fn table(organization: &str, url: &str) -> Table {
        Table { organization: organization.to_owned(), url: Some(url.to_owned()), url_file: None }
    }

    #[test]
    fn buckets_that_cannot_be_served_are_refused_by_name_and_without_their_secrets() {
        let none = |_: &std::path::Path| Err("it is not there".to_owned());
        let refused = |tables: &[Table]| settings(tables, none).unwrap_err();
        assert!(refused(&[table("a/b", "s3://x")]).contains("a/b"));
        assert!(refused(&[table("a", "s3://x"), table("a", "s3://y")]).contains("twice"));
        assert!(refused(&[table("a", "https://x")]).contains("\"a\""));
        assert!(refused(&[table("a", "file://x")]).contains("absolute"));
        let secret = refused(&[table("a", "postgres://u:hunter2@h/d")]);
        assert!(secret.contains("url_file") && !secret.contains("hunter2"), "{secret}");
        let raw = refused(&[table("a", "postgres://u:hun?ter2@h/d")]);
        assert!(raw.contains("%3F") && !raw.contains("hun"), "{raw}");
        let file = Table { organization: "a".to_owned(), url: None, url_file: Some("f".into()) };
        assert!(refused(std::slice::from_ref(&file)).contains("it is not there"));
        for raw in ["postgres://u:hun?ter2@h/d", "postgres://u:hun/ter2@h/d"] {
            let why = settings(std::slice::from_ref(&file), |_| Ok(raw.to_owned())).unwrap_err();
            assert!(why.contains("%3F") && !why.contains("hun"), "{why}");
        }
        let read = settings(&[file], |_| Ok("postgres://u:hunter2@h/d".to_owned())).unwrap();
        assert!(!format!("{read:?}").contains("hunter2"), "{read:?}");
    }
}
