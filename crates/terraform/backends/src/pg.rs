//! The backend `pg`: states in rows of PostgreSQL.

use std::sync::Arc;

use groundstate_statemgr::WorkspaceName;
use groundstate_statemgr_pg::{PgBackend, PgSettings};

use crate::error::BackendsError;
use crate::registry::{Context, Factory, Opened};
use crate::settings::Settings;
use crate::url::PlaceUrl;

/// The options of Terraform and OpenTofu, with the variables that stand for them.
const TEXTS: [(&str, &str); 4] = [
    ("conn_str", "PG_CONN_STR"),
    ("schema_name", "PG_SCHEMA_NAME"),
    ("table_name", "PG_TABLE_NAME"),
    ("index_name", "PG_INDEX_NAME"),
];
const FLAGS: [(&str, &str); 3] = [
    ("skip_schema_creation", "PG_SKIP_SCHEMA_CREATION"),
    ("skip_table_creation", "PG_SKIP_TABLE_CREATION"),
    ("skip_index_creation", "PG_SKIP_INDEX_CREATION"),
];

/// Makes backends of the type `pg`, with the options of Terraform's and OpenTofu's.
///
/// Addresses are `pg://HOST[:PORT]/DATABASE`; options there are those of the block, and words of a connection string such as
/// `user` and `sslmode`. `postgres://` is the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct PgFactory;

impl Factory for PgFactory {
    fn kind(&self) -> &'static str {
        "pg"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["pg", "postgres"]
    }

    fn settings(&self, url: &PlaceUrl) -> Result<(Settings, Option<WorkspaceName>), BackendsError> {
        if url.path().is_empty() || url.path().contains('/') {
            return Err(url.wrong("write it as pg://HOST/DATABASE, with the schema as ?schema_name=NAME"));
        }
        let mut words = vec![("dbname".to_owned(), url.path().to_owned())];
        words.extend(address(url.authority()).map_err(|why| url.wrong(why))?);
        let (given, workspace) = crate::query::apply(Settings::new(self.kind()), url)?;
        let is_option = |name: &str| TEXTS.iter().chain(&FLAGS).any(|(option, _)| *option == name);
        let mut settings = Settings::new(self.kind());
        for (name, value) in given.options() {
            if is_option(name) {
                settings = settings.with(name, value.clone());
            } else {
                // What is no option of the backend is a word of the connection, which is checked when it is opened.
                words.push((name.clone(), given.text(name)?.unwrap_or_default().to_owned()));
            }
        }
        if settings.text("conn_str")?.is_some() {
            return Err(url.wrong("it names the server already, so it has no room for conn_str"));
        }
        let words: Vec<String> =
            words.iter().map(|(word, value)| format!("{word}={}", quoted(value))).collect();
        Ok((settings.with("conn_str", words.join(" ")), workspace))
    }

    fn open(&self, settings: &Settings, context: &Context) -> Result<Opened, BackendsError> {
        let known: Vec<&str> = TEXTS.iter().chain(&FLAGS).map(|(name, _)| *name).collect();
        settings.only(&known)?;
        let variable = |name: &str| context.variables.get(name).map(str::to_owned);
        let text = |(name, from): (&str, &str)| -> Result<Option<String>, BackendsError> {
            Ok(settings.text(name)?.map(str::to_owned).or_else(|| variable(from)))
        };
        let flag = |(name, from): (&str, &str)| -> Result<bool, BackendsError> {
            let given = settings.flag(name)?;
            let of_environment = || variable(from).map(|text| settings.parsed_flag(name, &text)).transpose();
            Ok(given.map_or_else(of_environment, |flag| Ok(Some(flag)))?.unwrap_or(false))
        };
        let [conn_str, schema, table, index] = TEXTS;
        let mut pg = PgSettings::new(&text(conn_str)?.unwrap_or_default(), &variable)?;
        if !is_users(settings, context) {
            pg = pg.guard_password();
        }
        if let Some(schema) = text(schema)? {
            pg = pg.schema_name(&schema)?;
        }
        if let Some(table) = text(table)? {
            pg = pg.table_name(&table)?;
        }
        if let Some(index) = text(index)? {
            pg = pg.index_name(&index)?;
        }
        let [schema, table, index] = FLAGS;
        let pg = pg.skip_schema_creation(flag(schema)?);
        let pg = pg.skip_table_creation(flag(table)?).skip_index_creation(flag(index)?);
        Ok(Opened::new(Arc::new(PgBackend::open(&pg)?)))
    }
}

/// Whether the user says where the server is, and not a directory alone.
fn is_users(settings: &Settings, context: &Context) -> bool {
    let Ok(Some(conn_str)) = settings.text("conn_str") else { return true };
    settings.origin("conn_str").is_user() || context.variables.get("PG_CONN_STR") == Some(conn_str)
}

/// The host and the port of an authority, as words of a connection string.
fn address(authority: &str) -> Result<Vec<(String, String)>, &'static str> {
    let (host, port) = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, "")) => (host, None),
        Some((host, rest)) => (host, Some(rest.strip_prefix(':').ok_or("its host is not valid")?)),
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    if port.is_some_and(|port| port.parse::<u16>().is_err()) {
        return Err("its port is not a number up to 65535");
    }
    let words = [("host", host), ("port", port.unwrap_or_default())];
    let words = words.into_iter().filter(|(_, value)| !value.is_empty());
    Ok(words.map(|(word, value)| (word.to_owned(), value.to_owned())).collect())
}

/// A value of a connection string.
fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use super::PgFactory;
    use crate::registry::Factory;
    use crate::url::PlaceUrl;

    fn settings(url: &str) -> Result<(String, Vec<String>, Option<String>), String> {
        let parsed = PlaceUrl::parse(url).map_err(|error| error.to_string())?;
        let (settings, workspace) = PgFactory.settings(&parsed).map_err(|error| error.to_string())?;
        let conn_str = settings.text("conn_str").unwrap().unwrap().to_owned();
        let others = settings.options().keys().filter(|name| *name != "conn_str").cloned().collect();
        Ok((conn_str, others, workspace.map(|name| name.to_string())))
    }

    #[test]
    fn addresses_are_connection_strings_and_options() {
        for (url, conn_str, others, workspace) in [
            ("pg://h/d", "dbname='d' host='h'", &[][..], None),
            ("postgres://h:5433/d", "dbname='d' host='h' port='5433'", &[], None),
            ("pg:///d", "dbname='d'", &[], None),
            ("pg://[::1]:1/d", "dbname='d' host='::1' port='1'", &[], None),
            (
                "pg://h/d?schema_name=s&sslmode=disable&user=a%27b&workspace=dev",
                "dbname='d' host='h' sslmode='disable' user='a\\'b'",
                &["schema_name"],
                Some("dev"),
            ),
        ] {
            let (found, options, name) = settings(url).unwrap();
            assert_eq!((found.as_str(), name.as_deref()), (conn_str, workspace), "{url}");
            assert_eq!(options, others, "{url}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_without_its_secrets() {
        for (url, why) in [
            ("pg://u:hunter2@h/d", "it has a user or a password"),
            ("pg://h", "write it as pg://HOST/DATABASE"),
            ("pg://h/d/s", "with the schema as ?schema_name=NAME"),
            ("pg://h:port/d", "its port is not a number"),
            ("pg://[::1]x/d", "its host is not valid"),
            ("pg://h/d?conn_str=hunter2", "it has no room for conn_str"),
        ] {
            let error = settings(url).unwrap_err();
            assert!(error.contains(why) && !error.contains("hunter2"), "{error}");
        }
    }
}
