//! What the URL of a Pulumi backend and the variables of the environment say about the server and the table.

use std::fmt;

use groundstate_blobs::{Error, ErrorKind, Op, Result};
use groundstate_postgres::Settings;

use crate::error::of_settings;

/// Where the table is and how to get there: a URL `postgres://[user[:password]@]host[:port]/[database][?parameters]`, and for what it
/// leaves out the variables `PG*`.
///
/// Parameters: `table` (default `pulumi_state`, folded to lower case as the original's is), and the words of
/// [`Settings`](groundstate_postgres::Settings), such as `sslmode` and `search_path`.
///
/// `Display` and `Debug` show no password.
#[derive(Clone)]
pub struct PostgresSettings {
    connection: Settings,
    table: String,
    prefix: String,
}

impl PostgresSettings {
    /// Reads a URL; `lookup` gives the variables of the environment.
    ///
    /// # Errors
    ///
    /// `Invalid` for what is no such URL, for unknown parameters, and for values that do not mean anything.
    pub fn from_url(url: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        if url.starts_with("postgresql:") {
            return Err(invalid("the scheme postgresql").next_step("write postgres://HOST/DATABASE"));
        }
        let connection = Settings::from_url(url, &["table"], lookup).map_err(of_settings)?;
        let mut prefix = connection.database_of_path().to_owned();
        if !prefix.is_empty() && !prefix.ends_with('/') {
            prefix.push('/');
        }
        let table = folded(connection.own("table").unwrap_or("pulumi_state"))?;
        Ok(Self { connection, table, prefix })
    }

    /// What the original puts before all of its keys for this URL: the path with a slash behind, or nothing where the URL has no path.
    /// So one database has two sets of keys if it is named in the URL once and in `PGDATABASE` another time.
    pub fn key_prefix(&self) -> &str {
        &self.prefix
    }

    /// The database, if the URL or a variable names one.
    pub fn database(&self) -> Option<&str> {
        self.connection.database()
    }

    /// The name of the table, in lower case.
    pub fn table(&self) -> &str {
        &self.table
    }

    pub(crate) fn connection(&self) -> &Settings {
        &self.connection
    }
}

/// The original writes the name without quotes, so the server folds it.
fn folded(table: &str) -> Result<String> {
    let table = table.to_ascii_lowercase();
    if is_plain_name(&table) {
        return Ok(table);
    }
    Err(invalid(format!("the table {table:?}"))
        .because("it is not a plain name of up to 63 letters, digits and underscores")
        .next_step("name the schema with search_path=SCHEMA instead"))
}

/// Whether the server takes a name in lower case without quotes, and as it is.
pub(crate) fn is_plain_name(name: &str) -> bool {
    let is_first = |c: char| c.is_ascii_lowercase() || c == '_';
    let is_plain = |c: char| is_first(c) || c.is_ascii_digit() || c == '$';
    name.starts_with(is_first) && name.chars().all(is_plain) && name.len() <= 63
}

pub(crate) fn invalid(target: impl fmt::Display) -> Error {
    Error::new(ErrorKind::Invalid, Op::Use, target)
}

impl fmt::Display for PostgresSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}?table={}", self.connection, self.table)
    }
}

impl fmt::Debug for PostgresSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresSettings({self})")
    }
}
