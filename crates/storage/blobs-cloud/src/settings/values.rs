//! A table of what can be set, and what is.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use groundstate_blobs::{Error, ErrorKind, Op, Result, RetryPolicy};
use groundstate_common::Origin;

/// One thing that can be set.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// Terraform's name, dotted where it stands in a block.
    pub(crate) name: &'static str,
    /// The variables that stand in for it, the first that is set wins.
    pub(crate) env: &'static [&'static str],
    pub(crate) kind: Kind,
    /// The least trusted origin that may set it.
    pub(crate) least: Origin,
}

impl Setting {
    const fn new(name: &'static str, env: &'static [&'static str], kind: Kind) -> Self {
        Self { name, env, kind, least: Origin::Directory }
    }
}

/// What a setting is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    /// A text that no message shows.
    Secret,
    Flag,
    Number,
    /// Names and values that are the user's own, such as tags: `NAME.MEMBER` each.
    #[cfg(feature = "aws")]
    Map,
    /// Known, and without meaning here: what it switches off is never done.
    #[cfg(feature = "aws")]
    Ignored,
    /// Another name of a setting, from earlier releases.
    Alias(&'static str),
}

pub(crate) const fn text(name: &'static str, env: &'static [&'static str]) -> Setting {
    Setting::new(name, env, Kind::Text)
}

pub(crate) const fn secret(name: &'static str, env: &'static [&'static str]) -> Setting {
    Setting::new(name, env, Kind::Secret)
}

pub(crate) const fn flag(name: &'static str, env: &'static [&'static str]) -> Setting {
    Setting::new(name, env, Kind::Flag)
}

pub(crate) const fn number(name: &'static str, env: &'static [&'static str]) -> Setting {
    Setting::new(name, env, Kind::Number)
}

#[cfg(feature = "aws")]
pub(crate) const fn ignored(name: &'static str, env: &'static [&'static str]) -> Setting {
    Setting::new(name, env, Kind::Ignored)
}

#[cfg(feature = "aws")]
pub(crate) const fn map(name: &'static str) -> Setting {
    Setting::new(name, &[], Kind::Map)
}

/// Whether secrets may leave by plain http.
pub(crate) const ALLOW_PLAIN_HTTP: Setting =
    user(flag("allow_plain_http", &["GROUNDSTATE_ALLOW_PLAIN_HTTP"]));
/// How many seconds a request may take from its beginning to the end of its answer.
pub(crate) const REQUEST_TIMEOUT: Setting = user(number("request_timeout", &["GROUNDSTATE_REQUEST_TIMEOUT"]));
/// The largest state that is read, in bytes or with a unit.
pub(crate) const MAX_STATE_SIZE: Setting = user(text("max_state_size", &["GROUNDSTATE_MAX_STATE_SIZE"]));

pub(crate) const fn alias(name: &'static str, of: &'static str) -> Setting {
    Setting::new(name, &[], Kind::Alias(of))
}

/// A setting that no directory may set: Terraform has no such option, or it says who is asked for credentials.
pub(crate) const fn user(setting: Setting) -> Setting {
    Setting { least: Origin::Environment, ..setting }
}

#[derive(Clone, PartialEq, Eq)]
struct Value {
    text: String,
    origin: Origin,
    /// An option has it, and not only a variable.
    is_option: bool,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Values {
    store: &'static str,
    table: &'static [Setting],
    values: BTreeMap<&'static str, Value>,
    maps: BTreeMap<&'static str, BTreeMap<String, String>>,
    /// Options that are set to an empty text, which few of them tell from not being set.
    emptied: BTreeSet<&'static str>,
}

impl Values {
    pub(crate) fn new(store: &'static str, table: &'static [Setting]) -> Self {
        Self { store, table, values: BTreeMap::new(), maps: BTreeMap::new(), emptied: BTreeSet::new() }
    }

    /// How often to try, by `max_retries`.
    pub(crate) fn retry_policy(&self) -> Result<RetryPolicy> {
        let policy = RetryPolicy::default();
        Ok(self.number("max_retries")?.map_or(policy, |attempts| policy.attempts(attempts)))
    }

    /// The store whose settings these are.
    #[cfg(feature = "_cloud")]
    pub(crate) fn store(&self) -> &'static str {
        self.store
    }

    fn find(&self, name: &str) -> Option<&'static Setting> {
        self.table.iter().find(|setting| setting.name == name)
    }

    pub(crate) fn set(&mut self, name: &str, value: &str, origin: Origin) -> Result<()> {
        let Some(setting) = self.find(name) else {
            #[cfg(feature = "aws")]
            if let Some((map, member)) = self.member(name) {
                self.maps.entry(map).or_default().insert(member.to_owned(), value.to_owned());
                return Ok(());
            }
            return Err(self
                .error(ErrorKind::Invalid, name)
                .because("there is no such option")
                .next_step("remove it"));
        };
        self.put(setting, value, origin, true)
    }

    /// The map that a dotted name is a member of.
    #[cfg(feature = "aws")]
    fn member<'n>(&self, name: &'n str) -> Option<(&'static str, &'n str)> {
        name.match_indices('.').find_map(|(dot, _)| {
            let setting = self.find(&name[..dot])?;
            let setting = match setting.kind {
                Kind::Alias(other) => self.find(other)?,
                _ => setting,
            };
            (setting.kind == Kind::Map).then(|| (setting.name, &name[dot + 1..]))
        })
    }

    /// The members of a map.
    #[cfg(feature = "aws")]
    pub(crate) fn map(&self, name: &str) -> impl Iterator<Item = (&str, &str)> {
        let members = self.maps.get(name).into_iter().flatten();
        members.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Sets what neither an option nor a variable has set.
    #[cfg(feature = "aws")]
    pub(crate) fn or_set(&mut self, name: &'static str, value: &str, origin: Origin) -> Result<()> {
        match self.find(name) {
            Some(setting) if !self.values.contains_key(name) => self.put(setting, value, origin, false),
            _ => Ok(()),
        }
    }

    /// Whether an option sets it to an empty text.
    #[cfg(feature = "aws")]
    pub(crate) fn is_emptied(&self, name: &str) -> bool {
        self.emptied.contains(name)
    }

    /// Whether an option sets it, rather than a variable.
    #[cfg(feature = "aws")]
    pub(crate) fn is_option(&self, name: &str) -> bool {
        self.values.get(name).is_some_and(|value| value.is_option)
    }

    fn put(&mut self, setting: &'static Setting, value: &str, origin: Origin, is_option: bool) -> Result<()> {
        if value.is_empty() {
            self.emptied.extend(is_option.then_some(setting.name));
            return Ok(());
        }
        if origin < setting.least {
            let error = self.error(ErrorKind::Unsupported, setting.name);
            let error = error.because("a directory does not decide it");
            return Err(error.next_step(match setting.env {
                [] => "name the place by its URL with this option".to_owned(),
                [variable, ..] => format!("set the variable {variable}"),
            }));
        }
        let name = match setting.kind {
            // The other name may be the user's alone where this one is not.
            Kind::Alias(name) => name,
            #[cfg(feature = "aws")]
            Kind::Map => return Err(self.invalid(setting.name, "its members have to be given one by one")),
            _ => setting.name,
        };
        self.values.insert(name, Value { text: value.to_owned(), origin, is_option });
        Ok(())
    }

    pub(crate) fn fill(&mut self, variable: &dyn Fn(&str) -> Option<String>) -> Result<()> {
        for setting in self.table {
            let found = setting.env.iter().find_map(|name| variable(name).filter(|text| !text.is_empty()));
            let Some(text) = found else { continue };
            match self.values.get_mut(setting.name) {
                None => self.put(setting, &text, Origin::Environment, false)?,
                // What the user says too is the user's.
                Some(value) if value.text == text => value.origin = value.origin.max(Origin::Environment),
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Where the value of a setting comes from.
    pub(crate) fn origin(&self, name: &str) -> Option<Origin> {
        self.values.get(name).map(|value| value.origin)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(|value| value.text.as_str())
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
            Some(text) if text == "1" || text.eq_ignore_ascii_case("true") => Ok(true),
            Some(text) if text == "0" || text.eq_ignore_ascii_case("false") => Ok(false),
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

    /// What to check where a service does not answer whose address an option names.
    #[cfg(feature = "aws")]
    pub(crate) fn unreachable_hint(&self, option: &str) -> String {
        format!("check the network, and {}", self.how_to_set(option).trim_start_matches("set "))
    }

    pub(crate) fn invalid(&self, name: &'static str, why: impl Into<String>) -> Error {
        self.error(ErrorKind::Invalid, name).because(why).next_step(self.how_to_set(name))
    }

    /// Error where no option and no variable has credentials.
    #[cfg(any(feature = "aws", feature = "azure"))]
    pub(crate) fn no_credentials(&self, name: &'static str, why: impl Into<String>) -> Error {
        self.error(ErrorKind::Unauthenticated, name).because(why)
    }

    /// That a list has elements that are no texts.
    pub(crate) fn no_list(&self, name: &str) -> Error {
        let error = self.error(ErrorKind::Invalid, name).because("it is not a list of texts");
        error.next_step("correct it")
    }

    fn error(&self, kind: ErrorKind, name: &str) -> Error {
        Error::new(kind, Op::Use, format_args!("the option `{name}` of the {}", self.store))
    }

    pub(crate) fn debug(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct(name);
        for name in self.values.keys() {
            shown.field(name, &self.shown(name).unwrap_or("(secret)"));
        }
        for (name, members) in &self.maps {
            shown.field(name, &members.keys());
        }
        shown.finish()
    }
}
