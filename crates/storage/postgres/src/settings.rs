//! What a connection string and the variables of the environment say about the server.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use groundstate_common::{one_line, shell_command};
use tokio_postgres::Config;
use tokio_postgres::config::{ChannelBinding, SslMode, TargetSessionAttrs};

use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;
use crate::parse::{self, Parsed};
use crate::passfile::{self, Password};

/// The words of a connection, and the variables that stand for them.
const WORDS: [(&str, Option<&str>); 17] = [
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
    ("sslcert", Some("PGSSLCERT")),
    ("sslkey", Some("PGSSLKEY")),
    ("sslmode", Some("PGSSLMODE")),
    ("sslrootcert", Some("PGSSLROOTCERT")),
    ("sslsni", Some("PGSSLSNI")),
    ("target_session_attrs", Some("PGTARGETSESSIONATTRS")),
    ("user", Some("PGUSER")),
];

/// Variables that stand for settings of the server.
const SERVER_VARIABLES: [(&str, &str); 3] =
    [("datestyle", "PGDATESTYLE"), ("geqo", "PGGEQO"), ("timezone", "PGTZ")];

/// Words of clients that say how statements are sent, which is always in the way that they ask for.
const MEANINGLESS: [&str; 2] = ["binary_parameters", "disable_prepared_binary_result"];

/// Words of other clients that would lead elsewhere, or to less security, if they were left out.
const NOT_HONOURED: [&str; 25] = [
    "channel_binding",
    "gssdelegation",
    "gssencmode",
    "gsslib",
    "hostaddr",
    "keepalives",
    "keepalives_count",
    "keepalives_idle",
    "keepalives_interval",
    "krbspn",
    "krbsrvname",
    "load_balance_hosts",
    "replication",
    "require_auth",
    "requirepeer",
    "service",
    "sslcompression",
    "sslcrl",
    "sslcrldir",
    "sslinline",
    "sslnegotiation",
    "sslpassword",
    "ssl_max_protocol_version",
    "ssl_min_protocol_version",
    "tcp_user_timeout",
];

/// Variables of the same kind, which `lib/pq` refuses too.
const VARIABLES_NOT_HONOURED: [&str; 6] =
    ["PGHOSTADDR", "PGREQUIREPEER", "PGREQUIRESSL", "PGSERVICE", "PGSERVICEFILE", "PGSSLCRL"];

/// How long a connection is idle before the other side is asked whether it is there.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// How long what was sent may stay without an acknowledgement.
const SILENCE: Duration = Duration::from_secs(120);

/// Where a database is and how to get there.
///
/// A connection string is a URL `postgres://[user[:password]@]host[:port]/[database][?word=value…]` or pairs `word=value`;
/// what it leaves out is in the variables `PG*`, or has a default.
///
/// Words: `host` (a name, an address, or a folder of sockets; default `localhost`), `port`, `user` (default: that of the
/// operating system), `password`, `passfile`, `dbname`, `sslmode` (`disable`, `allow`, `prefer`, `require`, which is the
/// default, `verify-ca`, `verify-full`), `sslrootcert` (a file, or `system`), `sslcert`, `sslkey`, `sslsni`,
/// `connect_timeout` in seconds, `application_name`, `fallback_application_name`, `client_encoding` (`UTF8`),
/// `target_session_attrs` and `options`. Every other word is a setting of the server, such as `search_path`, which refuses
/// what it does not know.
///
/// `Display` and `Debug` show no password.
#[derive(Clone)]
pub struct Settings {
    words: BTreeMap<String, String>,
    own: BTreeMap<String, String>,
    server: BTreeMap<String, String>,
    home: Option<String>,
    database: String,
    /// Whether the connection string has the password.
    has_own_password: bool,
    is_guarded: bool,
}

impl Settings {
    /// Reads a connection string of either form; an empty one leaves everything to the variables, which `lookup` gives. The
    /// words `own` are the caller's and no words of a connection.
    ///
    /// # Errors
    ///
    /// `Invalid` for text of neither form, for words that cannot be honoured, and for values that do not mean anything.
    pub fn parse(text: &str, own: &[&str], lookup: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let is_url = ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
        if is_url {
            return Self::from_url(text, own, lookup);
        }
        Self::new(parse::keywords(text)?, own, lookup)
    }

    /// The same of a URL alone.
    ///
    /// # Errors
    ///
    /// Those of [`parse`](Self::parse).
    pub fn from_url(text: &str, own: &[&str], lookup: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        Self::new(parse::url(text)?, own, lookup)
    }

    fn new(parsed: Parsed, own: &[&str], lookup: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let lookup = |name: &str| lookup(name).filter(|value| !value.is_empty());
        if let Some(name) = VARIABLES_NOT_HONOURED.into_iter().find(|name| lookup(name).is_some()) {
            return Err(invalid(format!("the variable {name}"))
                .because("it is not supported, and ignoring it could connect to another server")
                .next_step("unset it, and name the server with PGHOST or in the connection string"));
        }
        let from = |word: &str, variable: &str| lookup(variable).map(|value| (word.to_owned(), value));
        let mut settings = Self {
            words: WORDS.into_iter().filter_map(|(word, variable)| from(word, variable?)).collect(),
            own: BTreeMap::new(),
            server: SERVER_VARIABLES
                .into_iter()
                .filter_map(|(word, variable)| from(word, variable))
                .collect(),
            home: lookup("HOME"),
            database: parsed.database,
            has_own_password: parsed.words.iter().any(|(word, _)| word == "password"),
            is_guarded: false,
        };
        if settings.word("user").is_none() {
            let user = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(lookup);
            settings.words.extend(user.map(|user| ("user".to_owned(), user)));
        }
        for (word, value) in parsed.words {
            settings.take(word, value, own)?;
        }
        settings.config()?;
        Ok(settings)
    }

    /// Puts a word where it belongs.
    fn take(&mut self, word: String, value: String, own: &[&str]) -> Result<()> {
        if value.contains('\0') {
            return Err(
                invalid(format!("the parameter {}", one_line(&word))).because("it has a NUL character")
            );
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_.".contains(c);
        if own.contains(&&*word) {
            self.own.insert(word, value);
        } else if WORDS.iter().any(|(known, _)| *known == word) {
            self.words.insert(word, value);
        } else if MEANINGLESS.contains(&&*word) {
        } else if NOT_HONOURED.contains(&&*word) || word.is_empty() || !word.chars().all(is_name) {
            return Err(invalid(format!("the parameter {}", one_line(&word)))
                .because("it is unknown here")
                .next_step("remove it from the URL; what is a setting of the server can go into `options=-c NAME=VALUE`"));
        } else {
            self.server.insert(word.to_ascii_lowercase(), value);
        }
        Ok(())
    }

    /// Says that a stranger may have written the connection string: a password that is not in it, and that the password file
    /// does not have for this very host, is used only where the server proves that it knows it too and cannot read it: by
    /// SCRAM, bound to the channel of TLS. Otherwise any server could ask for it in plain text.
    #[must_use]
    pub fn guard_password(mut self) -> Self {
        self.is_guarded = true;
        self
    }

    /// The value of one of the caller's own words.
    pub fn own(&self, word: &str) -> Option<&str> {
        self.own.get(word).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The database, if the connection string or a variable names one. The server's default is the name of the user.
    pub fn database(&self) -> Option<&str> {
        self.word("dbname")
    }

    /// The database that the path of the URL names; empty if it names none.
    pub fn database_of_path(&self) -> &str {
        &self.database
    }

    pub(crate) fn word(&self, word: &str) -> Option<&str> {
        self.words.get(word).map(String::as_str).filter(|value| !value.is_empty())
    }

    fn host(&self) -> &str {
        self.word("host").unwrap_or("localhost")
    }

    /// The same for the driver, with the password, and whether that goes only to servers that prove to know it.
    pub(crate) fn config_with_password(&self) -> Result<(Config, bool)> {
        let mut config = self.config()?;
        let Some(Password { text, is_for_host }) = self.password()? else { return Ok((config, false)) };
        config.password(text);
        let is_guarded = self.is_guarded && !is_for_host;
        if is_guarded {
            config.channel_binding(ChannelBinding::Require);
        }
        Ok((config, is_guarded))
    }

    fn config(&self) -> Result<Config> {
        let mut config = Config::new();
        config.host(self.host());
        config.port(self.number("port", 5432)?);
        match self.number("connect_timeout", 30)? {
            0 => {}
            seconds => {
                config.connect_timeout(Duration::from_secs(seconds));
            }
        }
        // A network that swallows packets ends the connection, and with it the operation, in about two minutes.
        config.keepalives_idle(KEEPALIVE).keepalives_interval(KEEPALIVE).keepalives_retries(3);
        config.tcp_user_timeout(SILENCE);
        if let Some(user) = self.word("user") {
            config.user(user);
        }
        if let Some(database) = self.word("dbname") {
            config.dbname(database);
        }
        let mode = match self.word("sslmode").unwrap_or("require") {
            "disable" => SslMode::Disable,
            "allow" | "prefer" => SslMode::Prefer,
            "require" | "verify-ca" | "verify-full" => SslMode::Require,
            other => {
                return Err(unknown("sslmode", other, "disable, prefer, require, verify-ca or verify-full"));
            }
        };
        // A socket of this machine has no TLS.
        config.ssl_mode(if self.host().starts_with('/') { SslMode::Disable } else { mode });
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
        let options = self.options();
        if !options.is_empty() {
            config.options(options);
        }
        Ok(config)
    }

    /// The options, with the settings of the server.
    fn options(&self) -> String {
        let mut options = self.word("options").unwrap_or_default().to_owned();
        for (name, value) in &self.server {
            options.push_str(&format!(" -c {name}="));
            for c in value.chars() {
                if c == '\\' || c.is_ascii_whitespace() {
                    options.push('\\');
                }
                options.push(c);
            }
        }
        options.trim_start().to_owned()
    }

    /// The password, which may be in a file. A file that cannot be read, or that others may read, is not used: by custom without a
    /// word where it is the one in the home directory, with an error where it was named.
    fn password(&self) -> Result<Option<Password>> {
        if let Some(password) = self.word("password") {
            return Ok(Some(Password { text: password.to_owned(), is_for_host: self.has_own_password }));
        }
        let user = self.word("user").unwrap_or_default();
        let connection =
            [self.host(), self.word("port").unwrap_or("5432"), self.word("dbname").unwrap_or(user), user];
        match (self.word("passfile"), &self.home) {
            (Some(file), _) if passfile::is_open_to_others(Path::new(file)) => {
                let target = format!("the password file {}", one_line(file));
                Err(Error::new(ErrorKind::Denied, Op::Use, target)
                    .because("others may read it")
                    .next_step(format!("run `{}`", shell_command("chmod 600", &[file]))))
            }
            (Some(file), _) => passfile::password(Path::new(file), connection).map_err(|error| {
                let target = format!("the password file {}", one_line(file));
                Error::new(ErrorKind::Invalid, Op::Use, target)
                    .because("it cannot be read")
                    .next_step("correct PGPASSFILE or the option passfile, or leave it out")
                    .with_source(error)
            }),
            (None, Some(home)) => {
                Ok(passfile::password(&Path::new(home).join(".pgpass"), connection).unwrap_or_default())
            }
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

pub(crate) fn invalid(target: impl fmt::Display) -> Error {
    Error::new(ErrorKind::Invalid, Op::Use, target)
}

fn unknown(word: &str, value: &str, wanted: &str) -> Error {
    invalid(format!("{word}={}", one_line(value))).next_step(format!("set {word} to {wanted}"))
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        if let Some(user) = self.word("user") {
            write!(f, "{}@", one_line(user))?;
        }
        match self.host() {
            socket if socket.starts_with('/') => f.write_str(&one_line(&socket.replace('/', "%2F")))?,
            address if address.contains(':') => write!(f, "[{}]", one_line(address))?,
            name => f.write_str(&one_line(name))?,
        }
        if let Some(port) = self.word("port") {
            write!(f, ":{port}")?;
        }
        write!(f, "/{}", one_line(self.word("dbname").unwrap_or_default()))
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Settings({self})")
    }
}
