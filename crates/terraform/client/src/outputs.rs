//! Outputs with their types.

use groundstate_statefile::{type_json, value_json};
use groundstate_states::{OutputValue, State};
use serde::de::DeserializeOwned;

use crate::error::Error;

/// The root outputs of a state. `Debug` shows no value of a sensitive one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outputs(Vec<(String, OutputValue)>);

impl Outputs {
    pub(crate) fn new(outputs: Vec<(String, OutputValue)>) -> Self {
        Self(outputs)
    }

    /// Those of a state that is at hand, such as a changed one before it is stored.
    pub fn of(state: &State) -> Self {
        Self(state.outputs().iter().map(|(name, output)| (name.to_string(), (**output).clone())).collect())
    }

    /// The value of an output as a type of the program: a `String`, a `Vec<String>`, a map, or a struct that can be
    /// deserialised. Numbers keep their digits as long as the type has room for them.
    ///
    /// # Errors
    ///
    /// [`Error::NoOutput`] with the names that there are, and [`Error::OutputType`].
    pub fn get<T: DeserializeOwned>(&self, name: &str) -> Result<T, Error> {
        let output = self.output(name).ok_or_else(|| {
            let names: Vec<&str> = self.iter().map(|(name, _)| name).collect();
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            Error::NoOutput { name: name.to_owned(), known }
        })?;
        // The parser's message would quote the value, which may be a secret.
        let value = value_json(output).and_then(|text| serde_json::from_str(&text).ok());
        value.ok_or_else(|| Error::OutputType { name: name.to_owned(), found: type_json(&output.value_type) })
    }

    /// An output with its type and whether it is sensitive.
    pub fn output(&self, name: &str) -> Option<&OutputValue> {
        self.iter().find(|(known, _)| *known == name).map(|(_, output)| output)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &OutputValue)> {
        self.0.iter().map(|(name, output)| (name.as_str(), output))
    }
}
