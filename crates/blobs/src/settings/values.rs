//! A table of what can be set, and what is.

use std::collections::BTreeMap;
use std::fmt;

use crate::error::{Error, ErrorKind, Result};

/// One thing that can be set.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// Terraform's name, dotted where it stands in a block.
    pub(crate) name: &'static str,
    /// The variables that stand in for it, the first that is set wins.
    pub(crate) env: &'static [&'static str],
    pub(crate) kind: Kind,
}

/// What a setting is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    /// A text that no message shows.
    Secret,
    Flag,
    Number,
    /// Known, and without meaning here: what it switches off is never done.
    #[cfg(any(feature = "aws", feature = "azure"))]
    Ignored,
    /// Known, and cannot be honoured; the text says what to do instead.
    Refused(&'static str),
    /// Another name of a setting, from earlier releases.
    Alias(&'static str),
}

pub(crate) const fn text(name: &'static str, env: &'static [&'static str]) -> Setting {
    Setting { name, env, kind: Kind::Text }
}

pub(crate) const fn secret(name: &'static str, env: &'static [&'static str]) -> Setting {
    Setting { name, env, kind: Kind::Secret }
}

pub(crate) const fn flag(name: &'static str, env: &'static [&'static str]) -> Setting {
    Setting { name, env, kind: Kind::Flag }
}

pub(crate) const fn number(name: &'static str, env: &'static [&'static str]) -> Setting {
    Setting { name, env, kind: Kind::Number }
}

#[cfg(any(feature = "aws", feature = "azure"))]
pub(crate) const fn ignored(name: &'static str, env: &'static [&'static str]) -> Setting {
    Setting { name, env, kind: Kind::Ignored }
}

pub(crate) const fn refused(
    name: &'static str,
    env: &'static [&'static str],
    instead: &'static str,
) -> Setting {
    Setting { name, env, kind: Kind::Refused(instead) }
}

pub(crate) const fn alias(name: &'static str, of: &'static str) -> Setting {
    Setting { name, env: &[], kind: Kind::Alias(of) }
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Values {
    store: &'static str,
    table: &'static [Setting],
    values: BTreeMap<&'static str, String>,
}

impl Values {
    pub(crate) fn new(store: &'static str, table: &'static [Setting]) -> Self {
        Self { store, table, values: BTreeMap::new() }
    }

    fn find(&self, name: &str) -> Option<&'static Setting> {
        self.table.iter().find(|setting| setting.name == name)
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let Some(setting) = self.find(name) else {
            return Err(self
                .error(ErrorKind::Invalid, name)
                .because("there is no such option")
                .next_step("remove it"));
        };
        self.put(setting, value)
    }

    fn put(&mut self, setting: &'static Setting, value: &str) -> Result<()> {
        if value.is_empty() {
            return Ok(());
        }
        match setting.kind {
            Kind::Alias(name) => return self.set(name, value),
            // A flag that is off asks for nothing.
            Kind::Refused(_) if value == "false" => return Ok(()),
            Kind::Refused(instead) => {
                let error = self.error(ErrorKind::Unsupported, setting.name);
                return Err(error.because("it is not supported here").next_step(instead));
            }
            _ => {}
        }
        self.values.insert(setting.name, value.to_owned());
        Ok(())
    }

    pub(crate) fn fill(&mut self, variable: &dyn Fn(&str) -> Option<String>) -> Result<()> {
        for setting in self.table {
            if self.values.contains_key(setting.name) {
                continue;
            }
            if let Some(value) =
                setting.env.iter().find_map(|name| variable(name).filter(|text| !text.is_empty()))
            {
                self.put(setting, &value)?;
            }
        }
        Ok(())
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// The text of what is no secret.
    pub(crate) fn shown(&self, name: &str) -> Option<&str> {
        let is_secret = self.find(name).is_some_and(|setting| setting.kind == Kind::Secret);
        self.text(name).filter(|_| !is_secret)
    }

    pub(crate) fn needed(&self, name: &'static str) -> Result<&str> {
        self.text(name).ok_or_else(|| {
            let error = self.error(ErrorKind::Invalid, name).because("it is not set");
            error.next_step(self.how_to_set(name))
        })
    }

    pub(crate) fn flag(&self, name: &'static str) -> Result<bool> {
        match self.text(name) {
            None => Ok(false),
            Some("true" | "1") => Ok(true),
            Some("false" | "0") => Ok(false),
            Some(_) => Err(self.invalid(name, "it is neither true nor false")),
        }
    }

    pub(crate) fn number(&self, name: &'static str) -> Result<Option<u32>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| self.invalid(name, "it is not a number"))
    }

    /// `set NAME, or the variable X`.
    pub(crate) fn how_to_set(&self, name: &str) -> String {
        let env = self.find(name).map_or(&[][..], |setting| setting.env);
        match env {
            [] => format!("set the option `{name}`"),
            [variable, ..] => format!("set the option `{name}` or the variable {variable}"),
        }
    }

    pub(crate) fn invalid(&self, name: &'static str, why: impl Into<String>) -> Error {
        self.error(ErrorKind::Invalid, name).because(why).next_step(self.how_to_set(name))
    }

    fn error(&self, kind: ErrorKind, name: &str) -> Error {
        Error::new(kind, "use", format_args!("the option `{name}` of the {} store", self.store))
    }

    pub(crate) fn debug(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct(name);
        for name in self.values.keys() {
            shown.field(name, &self.shown(name).unwrap_or("(secret)"));
        }
        shown.finish()
    }
}
