//! What a URL and the variables of the environment say about the server.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use groundstate_blobs::{Error, ErrorKind, Op, Result};
use groundstate_common::shell_command;
use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{SslMode, TargetSessionAttrs};
use url::Url;

use crate::passfile;

/// The words of a connection, and the variables that stand for them.
const WORDS: [(&str, Option<&str>); 20] = [
    ("application_name", Some("PGAPPNAME")),
    ("client_encoding", Some("PGCLIENTENCODING")),
    ("connect_timeout", Some("PGCONNECT_TIMEOUT")),
    ("dbname", Some("PGDATABASE")),
    ("fallback_application_name", None),
    ("host", Some("PGHOST")),
    ("options", Some("PGOPTIONS")),
    ("passfile", Some("PGPASSFILE")),
    ("password", Some("PGPASSWORD")),
    ("port", Some("PGPORT")),
    ("search_path", None),
    ("sslcert", Some("PGSSLCERT")),
    ("sslkey", Some("PGSSLKEY")),
    ("sslmode", Some("PGSSLMODE")),
    ("sslrootcert", Some("PGSSLROOTCERT")),
    ("table", None),
    ("target_session_attrs", Some("PGTARGETSESSIONATTRS")),
    ("timezone", Some("PGTZ")),
    ("user", Some("PGUSER")),
    ("home", Some("HOME")),
];

/// How long a connection is idle before the other side is asked whether it is there.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// How long what was sent may stay without an acknowledgement.
const SILENCE: Duration = Duration::from_secs(120);

/// Where the table is and how to get there: a URL `postgres://[user[:password]@]host[:port]/[database][?parameters]`, and for what it
/// leaves out the variables `PG*`.
///
/// Parameters: `table` (default `pulumi_state`, folded to lower case as the original's is), `sslmode` (`disable`, `allow`, `prefer`,
/// `require`, which is the default, `verify-ca`, `verify-full`), `sslrootcert` (a file, or `system`), `sslcert`, `sslkey`,
/// `connect_timeout` in seconds, `application_name`, `fallback_application_name`, `passfile`, `options`, `search_path`, `timezone`,
/// `target_session_attrs`, `client_encoding` (`UTF8`), `host`, `port`, `user`, `password` and `dbname`.
///
/// `Display` and `Debug` show no password.
#[derive(Clone)]
pub struct PostgresSettings {
    words: BTreeMap<&'static str, String>,
    prefix: String,
}

impl PostgresSettings {
    /// Reads a URL; `lookup` gives the variables of the environment.
    ///
    /// # Errors
    ///
    /// `Invalid` for what is no such URL, for unknown parameters, and for values that do not mean anything.
    pub fn from_url(url: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        // The URL itself may have a password, so errors do not show it.
        let parsed =
            Url::parse(url).map_err(|error| invalid("the URL of the database").with_source(error))?;
        if parsed.scheme() != "postgres" {
            let scheme = parsed.scheme();
            return Err(invalid(format!("the scheme {scheme}")).next_step("write postgres://HOST/DATABASE"));
        }
        let mut words: BTreeMap<&'static str, String> = BTreeMap::new();
        for (word, variable) in WORDS {
            if let Some(value) = variable.and_then(lookup).filter(|value| !value.is_empty()) {
                words.insert(word, value);
            }
        }
        if !words.contains_key("user") {
            let names = ["USER", "LOGNAME", "USERNAME"];
            words.extend(names.iter().find_map(|name| lookup(name)).map(|user| ("user", user)));
        }
        let database = decoded("dbname", parsed.path().trim_start_matches('/'))?;
        let host = parsed.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let parts = [
            ("dbname", database.clone()),
            ("host", decoded("host", host)?),
            ("user", decoded("user", parsed.username())?),
            ("password", decoded("password", parsed.password().unwrap_or_default())?),
            ("port", parsed.port().map(|port| port.to_string()).unwrap_or_default()),
        ];
        words.extend(parts.into_iter().filter(|(_, value)| !value.is_empty()));
        for (name, value) in parsed.query_pairs() {
            let known = WORDS.iter().find(|(word, _)| *word == name && name != "home");
            let Some((word, _)) = known else {
                let error = invalid(format!("the parameter {name}"));
                return Err(error
                    .because("it is unknown here")
                    .next_step("remove it from the URL; what is a setting of the server can go into `options=-c NAME=VALUE`"));
            };
            words.insert(word, value.into_owned());
        }
        let mut prefix = database;
        if !prefix.is_empty() && !prefix.ends_with('/') {
            prefix.push('/');
        }
        let mut settings = Self { words, prefix };
        settings.fold_table()?;
        settings.config()?;
        Ok(settings)
    }

    /// What the original puts before all of its keys for this URL: the path with a slash behind, or nothing where the URL has no path.
    /// So one database has two sets of keys if it is named in the URL once and in `PGDATABASE` another time.
    pub fn key_prefix(&self) -> &str {
        &self.prefix
    }

    /// The database, if the URL or a variable names one.
    pub fn database(&self) -> Option<&str> {
        self.word("dbname")
    }

    /// The name of the table, in lower case.
    pub fn table(&self) -> &str {
        self.word("table").unwrap_or("pulumi_state")
    }

    pub(crate) fn word(&self, word: &str) -> Option<&str> {
        self.words.get(word).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The original writes the name without quotes, so the server folds it.
    fn fold_table(&mut self) -> Result<()> {
        let table = self.table().to_ascii_lowercase();
        let is_first = |c: char| c.is_ascii_lowercase() || c == '_';
        let is_plain = |c: char| is_first(c) || c.is_ascii_digit() || c == '$';
        if !(table.starts_with(is_first) && table.chars().all(is_plain) && table.len() <= 63) {
            return Err(invalid(format!("the table {table:?}"))
                .because("it is not a plain name of up to 63 letters, digits and underscores")
                .next_step("name the schema with search_path=SCHEMA instead"));
        }
        self.words.insert("table", table);
        Ok(())
    }

    /// The same for the driver.
    pub(crate) fn config(&self) -> Result<Config> {
        let mut config = Config::new();
        let host = self.word("host").unwrap_or("localhost");
        config.host(host);
        config.port(self.number("port", 5432)?);
        config.connect_timeout(Duration::from_secs(self.number("connect_timeout", 30)?));
        // A network that swallows packets ends the connection, and with it the operation, in about two minutes.
        config.keepalives_idle(KEEPALIVE).keepalives_interval(KEEPALIVE).keepalives_retries(3);
        config.tcp_user_timeout(SILENCE);
        if let Some(user) = self.word("user") {
            config.user(user);
        }
        if let Some(database) = self.word("dbname") {
            config.dbname(database);
        }
        config.ssl_mode(match self.word("sslmode").unwrap_or("require") {
            "disable" => SslMode::Disable,
            "allow" | "prefer" => SslMode::Prefer,
            "require" | "verify-ca" | "verify-full" => SslMode::Require,
            other => {
                return Err(unknown("sslmode", other, "disable, prefer, require, verify-ca or verify-full"));
            }
        });
        if let Some(encoding) =
            self.word("client_encoding").filter(|it| !it.replace('-', "").eq_ignore_ascii_case("utf8"))
        {
            return Err(unknown("client_encoding", encoding, "UTF8"));
        }
        config.target_session_attrs(match self.word("target_session_attrs").unwrap_or("any") {
            "any" => TargetSessionAttrs::Any,
            "read-write" => TargetSessionAttrs::ReadWrite,
            "read-only" => TargetSessionAttrs::ReadOnly,
            other => return Err(unknown("target_session_attrs", other, "any, read-write or read-only")),
        });
        let name = self.word("application_name").or(self.word("fallback_application_name"));
        config.application_name(name.unwrap_or("groundstate"));
        let mut options = self.word("options").unwrap_or_default().to_owned();
        for setting in ["search_path", "timezone"] {
            if let Some(value) = self.word(setting) {
                let value = value.replace('\\', "\\\\").replace(' ', "\\ ");
                options.push_str(&format!(" -c {setting}={value}"));
            }
        }
        if !options.is_empty() {
            config.options(options.trim());
        }
        Ok(config)
    }

    /// The password, which may be in a file. A file that others may read is not used: by custom without a word where it is
    /// the one in the home directory, with an error where it was named.
    pub(crate) fn password(&self) -> Result<Option<String>> {
        if let Some(password) = self.word("password") {
            return Ok(Some(password.to_owned()));
        }
        let user = self.word("user").unwrap_or_default();
        let connection = [
            self.word("host").unwrap_or("localhost"),
            self.word("port").unwrap_or("5432"),
            self.word("dbname").unwrap_or(user),
            user,
        ];
        match (self.word("passfile"), self.word("home")) {
            (Some(file), _) if passfile::is_open_to_others(Path::new(file)) => {
                let error = Error::new(ErrorKind::Denied, Op::Use, format_args!("the password file {file}"));
                Err(error
                    .because("others may read it")
                    .next_step(format!("run `{}`", shell_command("chmod 600", &[file]))))
            }
            (Some(file), _) => Ok(passfile::password(Path::new(file), connection)),
            (None, Some(home)) => Ok(passfile::password(&Path::new(home).join(".pgpass"), connection)),
            (None, None) => Ok(None),
        }
    }

    fn number<T: std::str::FromStr>(&self, word: &'static str, default: T) -> Result<T> {
        match self.word(word) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| unknown(word, text, "a number")),
        }
    }
}

fn invalid(target: impl fmt::Display) -> Error {
    Error::new(ErrorKind::Invalid, Op::Use, target)
}

fn unknown(word: &str, value: &str, wanted: &str) -> Error {
    invalid(format!("{word}={value}")).next_step(format!("set {word} to {wanted}"))
}

fn decoded(word: &str, text: &str) -> Result<String> {
    let decoded = percent_decode_str(text).decode_utf8();
    // The error shows the text, and this may be the password.
    decoded
        .map(|text| text.into_owned())
        .map_err(|_| invalid(format!("the {word} of the URL")).because("it is not UTF-8"))
}

impl fmt::Display for PostgresSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        if let Some(user) = self.word("user") {
            write!(f, "{user}@")?;
        }
        f.write_str(self.word("host").unwrap_or("localhost"))?;
        if let Some(port) = self.word("port") {
            write!(f, ":{port}")?;
        }
        write!(f, "/{}?table={}", self.word("dbname").unwrap_or_default(), self.table())
    }
}

impl fmt::Debug for PostgresSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresSettings({self})")
    }
}
