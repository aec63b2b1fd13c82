//! What a `backend "pg"` block and the environment say.

use std::fmt;

use groundstate_common::one_line;
use groundstate_postgres::Settings;
use groundstate_statemgr::{Error, ErrorKind, Op, Result};

use crate::failure::failed;

/// The server cuts longer names off, so two of them could be one.
const LONGEST_NAME: usize = 63;

/// Where the states are, by the names of Terraform's options.
///
/// ```
/// use groundstate_statemgr_pg::PgSettings;
///
/// let settings = PgSettings::new("postgres://ci@db.example.com/terraform", &|_| None)?.schema_name("network")?;
/// assert_eq!(settings.to_string(), "pg://ci@db.example.com/terraform/network.states");
/// # Ok::<(), groundstate_statemgr_pg::statemgr::Error>(())
/// ```
///
/// `Display` and `Debug` show no password.
#[derive(Clone)]
pub struct PgSettings {
    pub(crate) connection: Settings,
    pub(crate) schema: String,
    pub(crate) table: String,
    pub(crate) index: String,
    pub(crate) skip_schema: bool,
    pub(crate) skip_table: bool,
    pub(crate) skip_index: bool,
}

impl PgSettings {
    /// The schema `terraform_remote_state` of the database that a connection string names: a URL or `keyword=value` pairs, and for what
    /// they leave out the variables `PG*`, which `lookup` gives.
    ///
    /// # Errors
    ///
    /// `Invalid` for what is no connection string, and for words that cannot be honoured.
    pub fn new(conn_str: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let connection = Settings::parse(conn_str, &[], lookup).map_err(|error| {
            let target = error.target().to_owned();
            failed(Op::Other("use"), target, error)
        })?;
        Ok(Self {
            connection,
            schema: "terraform_remote_state".to_owned(),
            table: "states".to_owned(),
            index: "states_by_name".to_owned(),
            skip_schema: false,
            skip_table: false,
            skip_index: false,
        })
    }

    /// Says that a stranger may have written the connection string, as one of a cloned repository: see
    /// [`Settings::guard_password`].
    #[must_use]
    pub fn guard_password(mut self) -> Self {
        self.connection = self.connection.guard_password();
        self
    }

    /// Another schema.
    ///
    /// # Errors
    ///
    /// `Invalid` for an empty name, and for one that the server would cut off.
    pub fn schema_name(mut self, name: &str) -> Result<Self> {
        self.schema = checked("schema_name", name)?;
        Ok(self)
    }

    /// Another table, as OpenTofu from 1.10 on has it.
    ///
    /// # Errors
    ///
    /// Those of [`schema_name`](Self::schema_name).
    pub fn table_name(mut self, name: &str) -> Result<Self> {
        self.table = checked("table_name", name)?;
        Ok(self)
    }

    /// Another name of the index, as OpenTofu from 1.10 on has it.
    ///
    /// # Errors
    ///
    /// Those of [`schema_name`](Self::schema_name).
    pub fn index_name(mut self, name: &str) -> Result<Self> {
        self.index = checked("index_name", name)?;
        Ok(self)
    }

    /// Whether the schema is never created.
    #[must_use]
    pub fn skip_schema_creation(mut self, yes: bool) -> Self {
        self.skip_schema = yes;
        self
    }

    /// Whether no table is ever created.
    #[must_use]
    pub fn skip_table_creation(mut self, yes: bool) -> Self {
        self.skip_table = yes;
        self
    }

    /// Whether the index is never created.
    #[must_use]
    pub fn skip_index_creation(mut self, yes: bool) -> Self {
        self.skip_index = yes;
        self
    }
}

fn checked(option: &str, name: &str) -> Result<String> {
    let why = match name {
        "" => "it is empty",
        name if name.len() > LONGEST_NAME => "it is longer than the 63 bytes of a name in PostgreSQL",
        name if name.contains('\0') => "it has a NUL character",
        name => return Ok(name.to_owned()),
    };
    let target = format!("{option}={}", one_line(name));
    Err(Error::new(ErrorKind::Invalid, Op::Other("use"), target).because(why))
}

impl fmt::Display for PgSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let connection = self.connection.to_string();
        let place = connection.strip_prefix("postgres://").unwrap_or(&connection);
        write!(f, "pg://{place}/{}.{}", one_line(&self.schema), one_line(&self.table))
    }
}

impl fmt::Debug for PgSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PgSettings({self})")
    }
}
