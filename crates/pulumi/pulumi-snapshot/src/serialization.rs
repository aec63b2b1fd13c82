//! The models for serde: the feature `serde`.
//!
//! Names, times and numbers are strings. A URN that is none is refused when it is written, and not when it is too late.

use std::fmt::Display;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use groundstate_pulumi_secrets::Ciphertext;

use crate::property::{Number, Output, PropertyValue, Secret};
use crate::resource::HookType;
use crate::text::{ExtensionRef, ResourceId, SnippetId};
use crate::{Feature, OperationType, ProjectName, ProviderRef, StackName, Time, TypeToken, Urn};

macro_rules! any_text {
    ($($type:ty),+) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Ok(Self::from(String::deserialize(deserializer)?.as_str()))
            }
        }
    )+};
}

any_text!(ExtensionRef, HookType, OperationType, ProviderRef, ResourceId, SnippetId, TypeToken);

/// Writes a value as its text, if the text reads as the same value.
fn write<S: Serializer, T: Display + PartialEq, E>(
    value: &T,
    read: impl Fn(&str) -> Result<T, E>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let text = value.to_string();
    match read(&text) {
        Ok(again) if again == *value => serializer.serialize_str(&text),
        _ => Err(S::Error::custom(format!("{text:?} would not be read as the same value"))),
    }
}

macro_rules! checked_text {
    ($($type:ty: $parse:expr;)+) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                write(self, $parse, serializer)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                ($parse)(&String::deserialize(deserializer)?).map_err(D::Error::custom)
            }
        }
    )+};
}

checked_text! {
    Feature: |name: &str| Self::from_name(name).ok_or_else(|| format!("no feature is called {name:?}"));
    Number: Self::parse;
    ProjectName: |text: &str| Self::parse(text);
    StackName: |text: &str| Self::parse(text);
    Time: Self::parse;
    // No URN at all is what files say of a resource without a parent.
    Urn: |text: &str| Self::parse_optional(text).map(Option::unwrap_or_default);
}

/// The ciphertext: a secret that was opened is sealed again by it, and one that has none is refused.
impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.ciphertext() {
            Some(ciphertext) => serializer.serialize_str(ciphertext.as_str()),
            None => Err(S::Error::custom("a secret has not been encrypted; seal it first")),
        }
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::sealed(Ciphertext::new(String::deserialize(deserializer)?)))
    }
}

/// [`Output`] to be written: one that is no secret.
#[derive(Serialize)]
struct OutputOut<'o> {
    element: &'o PropertyValue,
    known: bool,
    dependencies: &'o [Urn],
}

/// [`Output`] as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OutputIn {
    element: PropertyValue,
    known: bool,
    dependencies: Vec<Urn>,
}

impl Serialize for Output {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { element, known, secret, dependencies } = self;
        if *secret {
            return Err(S::Error::custom("an output that is to be a secret has not been encrypted"));
        }
        OutputOut { element, known: *known, dependencies }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Output {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let OutputIn { element, known, dependencies } = OutputIn::deserialize(deserializer)?;
        Ok(Self { element, known, secret: false, dependencies })
    }
}
