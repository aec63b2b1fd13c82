//! What a connection string and the variables of the environment say about the server and the table.

use std::fmt;

use groundstate_blobs::Result;
use groundstate_postgres::Settings;

use crate::error::of_settings;
use crate::settings::{invalid, is_plain_name};

/// The longest name whose sequence has room for its ending.
const LONGEST_NAME: usize = 55;
const CONNECTIONS: usize = 8;
const MOST_CONNECTIONS: usize = 1000;

/// Where the table is and how to get there: a URL `postgres://…` or pairs `word=value`, with the words of
/// [`Settings`], and
///
/// - `table`: the name of the table, by default `groundstate_blobs`;
/// - `schema`: its schema, by default the one that the server's `search_path` leads to;
/// - `connections`: how many a client opens at most, by default 8.
///
/// Both names are of lower-case letters, digits and underscores. `Display` and `Debug` show no password.
#[derive(Clone)]
pub struct TableSettings {
    connection: Settings,
    table: String,
    schema: Option<String>,
    connections: usize,
}

impl TableSettings {
    /// Reads a connection string; `lookup` gives the variables of the environment.
    ///
    /// # Errors
    ///
    /// `Invalid` for what is no connection string, for words that cannot be honoured, and for values that do not mean anything.
    pub fn parse(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let own = ["table", "schema", "connections"];
        let connection = Settings::parse(text, &own, lookup).map_err(of_settings)?;
        let table = plain("table", connection.own("table").unwrap_or("groundstate_blobs"))?;
        let schema = connection.own("schema").map(|schema| plain("schema", schema)).transpose()?;
        let connections = match connection.own("connections") {
            None => CONNECTIONS,
            Some(text) => {
                text.parse().ok().filter(|count| (1..=MOST_CONNECTIONS).contains(count)).ok_or_else(|| {
                    invalid(format!("connections={text:?}"))
                        .next_step(format!("set connections to a number from 1 to {MOST_CONNECTIONS}"))
                })?
            }
        };
        Ok(Self { connection, table, schema, connections })
    }

    /// The name of the table.
    pub fn table(&self) -> &str {
        &self.table
    }

    /// The schema that is named.
    pub fn schema(&self) -> Option<&str> {
        self.schema.as_deref()
    }

    pub(crate) fn connection(&self) -> &Settings {
        &self.connection
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections
    }
}

fn plain(word: &str, name: &str) -> Result<String> {
    if is_plain_name(name) && name.len() <= LONGEST_NAME {
        return Ok(name.to_owned());
    }
    Err(invalid(format!("the {word} {name:?}"))
        .because(format!(
            "it is not a name of up to {LONGEST_NAME} lower-case letters, digits and underscores"
        ))
        .next_step(format!("choose another {word}")))
}

impl fmt::Display for TableSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}?", self.connection)?;
        if let Some(schema) = &self.schema {
            write!(f, "schema={schema}&")?;
        }
        write!(f, "table={}", self.table)
    }
}

impl fmt::Debug for TableSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TableSettings({self})")
    }
}
