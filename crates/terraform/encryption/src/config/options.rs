//! The options of a key provider or a method.

use std::fmt;

use zeroize::Zeroizing;

use super::error::ConfigurationError;
use super::value::{Place, Value};

/// Options by name, and whose they are.
///
/// `Debug` shows the names only.
#[derive(Clone, PartialEq, Eq)]
pub struct Options {
    pub(crate) owner: String,
    pub(crate) place: Place,
    pub(crate) values: Vec<(String, Value, Place)>,
}

impl Options {
    /// Refuses options that are none of these.
    ///
    /// # Errors
    ///
    /// [`ConfigurationError::Option`] with the names that there are.
    pub fn only(&self, known: &[&str]) -> Result<(), ConfigurationError> {
        match self.values.iter().find(|(name, ..)| !known.contains(&name.as_str())) {
            Some((name, ..)) => {
                Err(self.wrong(name, format!("there is no such option, use {}", known.join(", "))))
            }
            None => Ok(()),
        }
    }

    /// The names of the options that are given.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|(name, ..)| name.as_str())
    }

    /// A value that is known; null counts as not given.
    ///
    /// # Errors
    ///
    /// [`ConfigurationError::Option`] when it depends on something that is not known.
    pub fn value(&self, name: &str) -> Result<Option<&Value>, ConfigurationError> {
        match self.values.iter().find(|(found, ..)| found == name) {
            None | Some((_, Value::Null, _)) => Ok(None),
            Some((_, Value::Unknown(why), _)) => Err(self.wrong(name, why.clone())),
            Some((_, value, _)) => Ok(Some(value)),
        }
    }

    /// A text.
    ///
    /// # Errors
    ///
    /// [`ConfigurationError::Option`] when it is something else, or not known.
    pub fn text(&self, name: &str) -> Result<Option<&Zeroizing<String>>, ConfigurationError> {
        match self.value(name)? {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(name, format!("it has to be a text, and is {}", other.kind()))),
        }
    }

    /// A whole number, which may be written as a text.
    ///
    /// # Errors
    ///
    /// [`ConfigurationError::Option`] when it is something else, or not known.
    pub fn number(&self, name: &str) -> Result<Option<u64>, ConfigurationError> {
        let digits = match self.value(name)? {
            None => return Ok(None),
            Some(Value::Number(digits)) => digits.as_str(),
            Some(Value::Text(text)) => text.as_str(),
            Some(_) => "",
        };
        // `6e5` is a whole number too.
        let whole = |number: f64| (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then_some(number);
        let number = digits.parse().ok().or_else(|| digits.parse().ok().and_then(whole).map(|n| n as u64));
        number.map(Some).ok_or_else(|| self.wrong(name, "it has to be a whole number"))
    }

    /// True or false, which may be written as a text.
    ///
    /// # Errors
    ///
    /// [`ConfigurationError::Option`] when it is something else, or not known.
    pub fn flag(&self, name: &str) -> Result<Option<bool>, ConfigurationError> {
        match self.value(name)? {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(Value::Text(text)) if text.as_str() == "true" => Ok(Some(true)),
            Some(Value::Text(text)) if text.as_str() == "false" => Ok(Some(false)),
            Some(_) => Err(self.wrong(name, "it has to be true or false")),
        }
    }

    /// A list of texts.
    ///
    /// # Errors
    ///
    /// [`ConfigurationError::Option`] when it is something else, or not known.
    pub fn texts(&self, name: &str) -> Result<Option<Vec<String>>, ConfigurationError> {
        let Some(value) = self.value(name)? else { return Ok(None) };
        let Value::List(items) = value else { return Err(self.wrong(name, "it has to be a list of texts")) };
        let text = |item: &Value| match item {
            Value::Text(text) => Ok(text.to_string()),
            Value::Unknown(why) => Err(self.wrong(name, why.clone())),
            _ => Err(self.wrong(name, "it has to be a list of texts")),
        };
        items.iter().map(text).collect::<Result<_, _>>().map(Some)
    }

    /// The members of an object or a block.
    ///
    /// # Errors
    ///
    /// [`ConfigurationError::Option`] when it is something else, or not known.
    pub fn members(&self, name: &str) -> Result<Option<Self>, ConfigurationError> {
        let Some(value) = self.value(name)? else { return Ok(None) };
        let Value::Map(members) = value else { return Err(self.wrong(name, "it has to be an object")) };
        let owner = format!("{}.{name}", self.owner);
        let values = members.iter();
        let values = values.map(|(name, value)| (name.clone(), value.clone(), self.place.clone())).collect();
        Ok(Some(Self { owner, place: self.place.clone(), values }))
    }

    /// That an option cannot be used, and why.
    pub fn wrong(&self, name: &str, why: impl Into<String>) -> ConfigurationError {
        let place = self.values.iter().find(|(found, ..)| found == name).map(|(.., place)| place);
        ConfigurationError::Option {
            place: place.unwrap_or(&self.place).clone(),
            owner: self.owner.clone(),
            name: name.to_owned(),
            why: why.into(),
        }
    }

    /// That an option is missing.
    pub fn missing(&self, name: &str) -> ConfigurationError {
        self.wrong(name, "it has to be given")
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.names().collect();
        f.debug_struct("Options").field("owner", &self.owner).field("names", &names).finish()
    }
}
