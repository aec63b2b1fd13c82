//! What a service is: the file in `xtask/services` that describes it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::outcome::{Failure, Outcome};
use crate::workspace::root;

/// A server that tests talk to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Service {
    /// The name of its file.
    pub(super) name: String,
    /// What `GROUNDSTATE_REQUIRE` calls it; services that take part together share one.
    pub(super) peer: String,
    /// Whether `up` without names starts it.
    pub(super) by_default: bool,
    /// Programs without which it cannot be had here.
    pub(super) needs: Vec<String>,
    /// A folder in which programs are looked for besides the path; a `*` stands for any name, the last one counts.
    pub(super) also_in: Option<String>,
    /// Whether it must not run as root.
    pub(super) unprivileged: bool,
    pub(super) install: Option<Install>,
    /// A file, and the command that makes it before the first start.
    pub(super) prepare: Option<(String, Vec<String>)>,
    pub(super) run: Vec<String>,
    pub(super) health: Health,
    /// The signal that ends it.
    pub(super) stop: String,
    pub(super) environment: BTreeMap<String, String>,
    /// The variables by which tests find it.
    pub(super) exports: BTreeMap<String, String>,
}

/// Where its program comes from, if it is not simply there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Install {
    /// Packages for a virtual environment.
    Pip(Vec<String>),
    Npm(Vec<String>),
    /// A package of this workspace and its binary.
    Cargo(String, String),
    /// A Go module with its version.
    Go(String),
}

/// How to see that it is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Health {
    /// It takes connections.
    Connect,
    /// It answers a request for this path, with whatever status.
    Http(String),
    /// This command succeeds.
    Command(Vec<String>),
}

/// All services, by name.
pub(super) fn all() -> Outcome<Vec<Service>> {
    let service = |(name, text): (String, String)| {
        parse(&name, &text).map_err(|why| Failure::Check(format!("xtask/services/{name}.toml: {why}")))
    };
    files("xtask/services")?.into_iter().map(service).collect()
}

/// The files of a folder that end in `.toml`, by their names without it.
pub(super) fn files(folder: &str) -> Outcome<Vec<(String, String)>> {
    let unreadable = |error| Failure::Missing(format!("cannot read the folder {folder}: {error}"));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(root().join(folder)).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".toml")) else {
            continue;
        };
        files.push((name.to_owned(), std::fs::read_to_string(&path).map_err(unreadable)?));
    }
    files.sort();
    Ok(files)
}

/// A table of such a file.
pub(super) type Table = BTreeMap<String, Value>;

/// Reads what a service's file says.
fn parse(name: &str, text: &str) -> Result<Service, String> {
    let mut tables = tables(text)?;
    let mut top = tables.remove("").unwrap_or_default();
    let mut start = tables.remove("start").ok_or("there is no table [start]")?;
    let service = Service {
        name: name.to_owned(),
        peer: word(&mut top, "peer")?.unwrap_or_else(|| name.to_owned()),
        by_default: switch(&mut top, "by_default")?.unwrap_or(true),
        needs: words(&mut top, "needs")?.unwrap_or_default(),
        also_in: word(&mut top, "also_in")?,
        unprivileged: switch(&mut top, "unprivileged")?.unwrap_or(false),
        install: tables.remove("install").map(install).transpose()?,
        prepare: tables.remove("prepare").map(prepare).transpose()?,
        run: words(&mut start, "run")?.filter(|run| !run.is_empty()).ok_or("[start] has no `run`")?,
        health: match start.remove("health") {
            None => Health::Connect,
            Some(Value::String(path)) => Health::Http(path),
            Some(value) => Health::Command(list(value).ok_or("`health` is a path or a command")?),
        },
        stop: word(&mut start, "stop")?.unwrap_or_else(|| "TERM".to_owned()),
        environment: variables(tables.remove("environment").unwrap_or_default())?,
        exports: variables(tables.remove("exports").unwrap_or_default())?,
    };
    let left = top.keys().chain(start.keys()).chain(tables.keys()).next();
    left.map_or(Ok(service), |key| Err(format!("`{key}` means nothing here")))
}

fn install(mut table: Table) -> Result<Install, String> {
    let (kind, value) = table.pop_first().ok_or("[install] says nothing")?;
    let packages = list(value).ok_or("[install] takes a list of words")?;
    match (kind.as_str(), packages.as_slice(), table.is_empty()) {
        ("pip", [_, ..], true) => Ok(Install::Pip(packages)),
        ("npm", [_, ..], true) => Ok(Install::Npm(packages)),
        ("cargo", [package, binary], true) => Ok(Install::Cargo(package.clone(), binary.clone())),
        ("go", [module], true) => Ok(Install::Go(module.clone())),
        _ => Err("[install] takes one of `pip`, `npm`, `cargo` and `go`".to_owned()),
    }
}

fn prepare(mut table: Table) -> Result<(String, Vec<String>), String> {
    let creates = word(&mut table, "creates")?.ok_or("[prepare] has no `creates`")?;
    let run = words(&mut table, "run")?.filter(|run| !run.is_empty()).ok_or("[prepare] has no `run`")?;
    Ok((creates, run))
}

pub(super) fn word(table: &mut Table, key: &str) -> Result<Option<String>, String> {
    match table.remove(key) {
        None => Ok(None),
        Some(Value::String(word)) => Ok(Some(word)),
        Some(_) => Err(format!("`{key}` takes a word")),
    }
}

pub(super) fn switch(table: &mut Table, key: &str) -> Result<Option<bool>, String> {
    match table.remove(key) {
        None => Ok(None),
        Some(Value::Bool(on)) => Ok(Some(on)),
        Some(_) => Err(format!("`{key}` takes true or false")),
    }
}

pub(super) fn words(table: &mut Table, key: &str) -> Result<Option<Vec<String>>, String> {
    let value = table.remove(key);
    value.map(|value| list(value).ok_or_else(|| format!("`{key}` takes a list of words"))).transpose()
}

fn list(value: Value) -> Option<Vec<String>> {
    serde_json::from_value(value).ok()
}

fn variables(table: Table) -> Result<BTreeMap<String, String>, String> {
    let variable = |(name, value): (String, Value)| match value {
        Value::String(text) => Ok((name, text)),
        _ => Err(format!("`{name}` takes a word")),
    };
    table.into_iter().map(variable).collect()
}

/// Reads the part of TOML that these files use: tables, and keys whose values are also JSON.
pub(super) fn tables(text: &str) -> Result<BTreeMap<String, Table>, String> {
    let mut tables = BTreeMap::from([(String::new(), Table::new())]);
    let mut current = String::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            current = name.to_owned();
            tables.entry(current.clone()).or_default();
            continue;
        }
        let wrong = |why: &str| format!("line {}: {why}", number + 1);
        let (key, value) = line.split_once('=').ok_or_else(|| wrong("neither a table nor a key"))?;
        let mut value = value.trim().to_owned();
        let value: Value = loop {
            match serde_json::from_str(&value) {
                Ok(value) => break value,
                // A list goes on in the next line.
                Err(error) if error.is_eof() => match lines.next() {
                    Some((_, more)) => value.push_str(more.trim()),
                    None => return Err(wrong("the value has no end")),
                },
                Err(error) => return Err(wrong(&error.to_string())),
            }
        };
        let table = tables.entry(current.clone()).or_default();
        if table.insert(key.trim().to_owned(), value).is_some() {
            return Err(wrong("the key is there twice"));
        }
    }
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use super::{Health, Install, all, parse};

    const WHOLE: &str = "# A server.\npeer = \"x\"\nby_default = false\nneeds = [\"a\",\n  \"b\"]\n\n[install]\nnpm = [\"p@1\"]\n\
        [prepare]\ncreates = \"{dir}/f\"\nrun = [\"touch\", \"{dir}/f\"]\n\
        [start]\nrun = [\"a\", \"{port}\"]\nhealth = \"/ok\"\nstop = \"INT\"\n[exports]\nAT = \"h:{port}\"\n";

    #[test]
    fn a_file_says_how_to_install_start_and_find_a_service() {
        let service = parse("s", WHOLE).unwrap();
        assert_eq!((service.peer.as_str(), service.by_default, service.needs.len()), ("x", false, 2));
        assert_eq!(service.install, Some(Install::Npm(vec!["p@1".to_owned()])));
        assert_eq!(service.prepare.unwrap().0, "{dir}/f");
        assert_eq!((service.health, service.stop.as_str()), (Health::Http("/ok".to_owned()), "INT"));
        assert_eq!(service.exports["AT"], "h:{port}");
        let least = parse("s", "[start]\nrun = [\"a\"]\n").unwrap();
        assert_eq!((least.peer.as_str(), least.by_default, least.health), ("s", true, Health::Connect));
    }

    #[test]
    fn what_a_file_gets_wrong_is_named() {
        for (text, expected) in [
            ("", "there is no table [start]"),
            ("[start]\n", "[start] has no `run`"),
            ("[start]\nrun = []\n", "[start] has no `run`"),
            ("x = 1\n[start]\nrun = [\"a\"]\n", "`x` means nothing here"),
            ("[start]\nrun = [\"a\"]\nrun = [\"b\"]\n", "line 3: the key is there twice"),
            ("[start]\nrun = [\"a\",\n", "line 2: the value has no end"),
            ("peer\n", "line 1: neither a table nor a key"),
            ("[install]\nbrew = [\"a\"]\n[start]\nrun = [\"a\"]\n", "[install] takes one of"),
            ("needs = \"a\"\n[start]\nrun = [\"a\"]\n", "`needs` takes a list of words"),
            ("by_default = 1\n[start]\nrun = [\"a\"]\n", "`by_default` takes true or false"),
        ] {
            let error = parse("s", text).unwrap_err();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }

    #[test]
    fn the_files_of_all_services_can_be_read_and_no_two_export_the_same() {
        let services = all().unwrap();
        assert!(services.len() >= 4, "{services:?}");
        let mut names: Vec<&String> = services.iter().flat_map(|service| service.exports.keys()).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(names.iter().all(|name| name.starts_with("GROUNDSTATE_")), "{names:?}");
    }
}
