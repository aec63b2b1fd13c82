//! Values from a file, from the environment and from arguments, the later ones over the earlier ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::buckets::{self, Table};
use super::error::{ConfigError, Origin, Problem};
use super::identities::{Identities, identities, is_identity};
use super::options::{OPTIONS, Spec, VARIABLE_PREFIX, similar, tables};
use super::value::{Kind, Value};

/// The largest file that is read.
const LARGEST_FILE: usize = 1 << 20;

/// A value that was given, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

/// What was given, by the names of options.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layers {
    given: BTreeMap<&'static str, Given>,
    /// The issuers and certificates of a file, which are lists of tables, and where they are.
    identities: Option<(Identities, Origin)>,
    /// The buckets of a file, which are a list of tables, and where they are.
    buckets: Option<(Vec<Table>, Origin)>,
}

impl Layers {
    /// Reads a file. Its relative paths begin at its folder.
    pub(crate) fn add_file(&mut self, path: &Path, text: &str) -> Result<(), ConfigError> {
        let at = |offset: usize| position(path, text, offset);
        if text.len() > LARGEST_FILE {
            let message = format!("the file has more than {LARGEST_FILE} bytes; it is no configuration");
            return Err(ConfigError::of(Problem::new(at(0), message)));
        }
        let document = DeTable::parse(text).map_err(|error| {
            let offset = error.span().map_or(text.len(), |span| span.start);
            ConfigError::of(Problem::new(
                at(offset),
                format!("the file is not valid TOML: {}", error.message()),
            ))
        })?;
        let mut problems = Vec::new();
        self.add_table("", document.get_ref(), &at, path, &mut problems);
        match identities(document.get_ref()) {
            Ok(Some((identities, offset))) => self.identities = Some((identities, at(offset))),
            Ok(None) => {}
            Err((offset, why)) => problems.push(Problem::new(at(offset), why)),
        }
        match buckets::tables(document.get_ref()) {
            Ok(Some((mut tables, offset))) => {
                let folder = path.parent().unwrap_or(Path::new(""));
                tables.iter_mut().for_each(|table| table.below(folder));
                self.buckets = Some((tables, at(offset)));
            }
            Ok(None) => {}
            Err((offset, why)) => problems.push(Problem::new(at(offset), why)),
        }
        problems.sort_by_key(|problem| match problem.origin {
            Some(Origin::File { line, column, .. }) => (line, column),
            _ => (0, 0),
        });
        ConfigError::check(problems)
    }

    fn add_table(
        &mut self,
        prefix: &str,
        table: &DeTable<'_>,
        at: &dyn Fn(usize) -> Origin,
        path: &Path,
        problems: &mut Vec<Problem>,
    ) {
        for (key, value) in table {
            let name = format!("{prefix}{}", key.get_ref());
            let origin = at(value.span().start);
            if let Some(spec) = Spec::find(&name) {
                match read(spec, value, path) {
                    Ok(value) => drop(self.given.insert(spec.name, Given { value, origin })),
                    Err(why) => problems.push(Problem::new(origin, format!("`{name}` {why}"))),
                }
            } else if is_identity(&name) || name == buckets::NAME {
                // Read together, since they are tables of their own form.
            } else if prefix.is_empty() && tables().contains(&name.as_str()) {
                match value.get_ref() {
                    DeValue::Table(inner) => self.add_table(&format!("{name}."), inner, at, path, problems),
                    _ => {
                        let message = format!("`{name}` is a table of options; write it as [{name}]");
                        problems.push(Problem::new(origin, message));
                    }
                }
            } else {
                problems.push(unknown(at(key.span().start), &name));
            }
        }
    }

    /// Reads the variables of the environment that name options. Others that begin alike are not ours, unless they begin with the
    /// name of a table of options.
    pub(crate) fn add_variables(
        &mut self,
        variables: &mut dyn Iterator<Item = (&str, Option<&str>)>,
    ) -> Result<(), ConfigError> {
        let mut problems = Vec::new();
        for (name, text) in variables.filter(|(name, _)| name.starts_with(VARIABLE_PREFIX)) {
            let origin = Origin::Variable(name.to_owned());
            let Some(spec) = OPTIONS.iter().find(|spec| spec.variable() == name) else {
                let rest = name.strip_prefix(VARIABLE_PREFIX).unwrap_or_default().to_lowercase();
                if tables().iter().any(|table| rest.starts_with(&format!("{table}_"))) {
                    let names: Vec<String> = OPTIONS.iter().map(Spec::variable).collect();
                    let meant = similar(name, names.iter().map(String::as_str));
                    let problem = Problem::new(origin, "the variable is no option");
                    problems.push(with_meant(problem, &meant));
                }
                continue;
            };
            let value = match text {
                Some(text) => spec.kind.read_text(text),
                None => Err("is not valid UTF-8".to_owned()),
            };
            match value {
                Ok(value) => drop(self.given.insert(spec.name, Given { value, origin })),
                Err(why) => problems.push(Problem::new(origin, format!("the value {why}"))),
            }
        }
        ConfigError::check(problems)
    }

    /// Adds an argument; several of a list make one list.
    pub(crate) fn add_argument(&mut self, argument: &str, name: &str, text: &str) -> Result<(), ConfigError> {
        let origin = Origin::Argument(argument.to_owned());
        let Some(spec) = Spec::find(name) else { return Err(ConfigError::of(unknown(origin, name))) };
        let value = spec.kind.read_text(text).map_err(|why| {
            ConfigError::of(Problem::new(origin.clone(), format!("the value of `{name}` {why}")))
        })?;
        match (self.given.get_mut(spec.name), value) {
            (Some(Given { value: Value::List(parts), origin: before }), Value::List(more))
                if *before == origin =>
            {
                parts.extend(more);
            }
            (_, value) => drop(self.given.insert(spec.name, Given { value, origin })),
        }
        Ok(())
    }

    /// The issuers and certificates, and where they are.
    pub(crate) fn identities(&self) -> Option<&(Identities, Origin)> {
        self.identities.as_ref()
    }

    /// The buckets, and where they are.
    pub(crate) fn buckets(&self) -> Option<&(Vec<Table>, Origin)> {
        self.buckets.as_ref()
    }

    /// What an option is: what was given, or its default.
    pub(crate) fn get(&self, name: &'static str) -> Option<Given> {
        let default = || {
            let value = Spec::find(name)?.default_value()?;
            Some(Given { value, origin: Origin::Default })
        };
        self.given.get(name).cloned().or_else(default)
    }
}

/// Reads the value of a file.
fn read(spec: &Spec, value: &Spanned<DeValue<'_>>, file: &Path) -> Result<Value, String> {
    let value = spec.kind.read_toml(value.get_ref())?;
    Ok(match value {
        Value::Text(text) if spec.kind == Kind::Path => Value::Text(beside(file, &text)?),
        value => value,
    })
}

/// A path of a file, which begins at the folder of the file.
fn beside(file: &Path, path: &str) -> Result<String, String> {
    let folder = file.parent().map(PathBuf::from).unwrap_or_default();
    let whole = folder.join(path).into_os_string();
    whole
        .into_string()
        .map_err(|_| "is in a folder whose name is not valid UTF-8; write the whole path".to_owned())
}

fn unknown(origin: Origin, name: &str) -> Problem {
    let tables = tables().into_iter().filter(|_| !name.contains('.'));
    let meant = similar(name, OPTIONS.iter().map(|spec| spec.name).chain(tables));
    with_meant(Problem::new(origin, format!("there is no option `{name}`")), &meant)
}

fn with_meant(problem: Problem, meant: &[&str]) -> Problem {
    if meant.is_empty() {
        return problem.hint("docs/deployment.md lists the options");
    }
    let words: Vec<String> = meant.iter().map(|name| format!("`{name}`")).collect();
    problem.hint(format!("did you mean {}?", words.join(", or ")))
}

/// The line and the column of an offset.
fn position(path: &Path, text: &str, offset: usize) -> Origin {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = text.get(..end).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    Origin::File { path: path.to_owned(), line: before.matches('\n').count() + 1, column }
}
