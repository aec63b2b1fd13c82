//! Two notions of equality beside `==`: of properties, and of replacement triggers.

use std::collections::BTreeSet;

use super::{Archive, Asset, Output, PropertyMap, PropertyValue, Secret};

impl PropertyMap {
    /// Whether both maps mean the same: a name with no value is like no name.
    ///
    /// Nothing if that cannot be told, because a secret is sealed: two ciphertexts of one value differ.
    pub fn deep_equals(&self, other: &Self) -> Option<bool> {
        let names: BTreeSet<&str> = self.names().chain(other.names()).collect();
        all(names.into_iter().map(|name| {
            let null = PropertyValue::Null;
            let (own, others) = (self.get(name).unwrap_or(&null), other.get(name).unwrap_or(&null));
            own.deep_equals(others)
        }))
    }
}

impl PropertyValue {
    /// Whether both values mean the same.
    ///
    /// Lists and objects are compared by their elements, secrets by their values (a secret is not equal to the same value
    /// in the plain), assets and archives by their hashes, references by URN and identifier. What is not known equals what
    /// is not known if the samples do. Not a number equals nothing.
    ///
    /// Nothing if that cannot be told, because a secret is sealed: two ciphertexts of one value differ.
    pub fn deep_equals(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            (Self::Number(own), Self::Number(others)) => Some(own.is_equal(others)),
            (Self::Array(own), Self::Array(others)) => {
                if own.len() != others.len() {
                    return Some(false);
                }
                all(own.iter().zip(others).map(|(own, other)| own.deep_equals(other)))
            }
            (Self::Object(own), Self::Object(others)) => own.deep_equals(others),
            (Self::Secret(own), Self::Secret(others)) => secrets(own, others, Self::deep_equals),
            (Self::Asset(own), Self::Asset(others)) => Some(assets(own, others)),
            (Self::Archive(own), Self::Archive(others)) => Some(archives(own, others)),
            (Self::ResourceReference(own), Self::ResourceReference(others)) => {
                Some(own.urn == others.urn && own.id == others.id)
            }
            (Self::Computed(own), Self::Computed(others)) => own.deep_equals(others),
            (Self::Output(own), Self::Output(others)) => {
                if !same_frame(own, others) {
                    return Some(false);
                }
                own.element.deep_equals(&others.element)
            }
            (Self::Null | Self::Bool(_) | Self::String(_) | Self::Bytes(_), _) => Some(self == other),
            _ => Some(false),
        }
    }

    /// Whether two replacement triggers mean the same: as [`PropertyValue::deep_equals`], but all values that are not known
    /// are equal.
    pub fn trigger_equals(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            (Self::Computed(_), Self::Computed(_)) => Some(true),
            (Self::Array(own), Self::Array(others)) => {
                if own.len() != others.len() {
                    return Some(false);
                }
                all(own.iter().zip(others).map(|(own, other)| own.trigger_equals(other)))
            }
            (Self::Object(own), Self::Object(others)) => {
                if !own.names().eq(others.names()) {
                    return Some(false);
                }
                all(own.values().zip(others.values()).map(|(own, other)| own.trigger_equals(other)))
            }
            (Self::Secret(own), Self::Secret(others)) => secrets(own, others, Self::trigger_equals),
            (Self::Output(own), Self::Output(others)) => {
                if own.secret != others.secret || own.dependencies != others.dependencies {
                    return Some(false);
                }
                match (own.known, others.known) {
                    (false, false) => Some(true),
                    (true, true) => own.element.trigger_equals(&others.element),
                    _ => Some(false),
                }
            }
            _ => self.deep_equals(other),
        }
    }
}

fn secrets(
    own: &Secret,
    other: &Secret,
    equals: fn(&PropertyValue, &PropertyValue) -> Option<bool>,
) -> Option<bool> {
    match (own.value(), other.value()) {
        (Some(own), Some(other)) => equals(own, other),
        // The same ciphertext is the same value; two of them tell nothing.
        _ => (own.ciphertext().is_some() && own.ciphertext() == other.ciphertext()).then_some(true),
    }
}

fn same_frame(own: &Output, other: &Output) -> bool {
    own.known == other.known && own.secret == other.secret && own.dependencies == other.dependencies
}

/// Content that cannot be read differs from any, so an asset without a hash equals none.
fn assets(own: &Asset, other: &Asset) -> bool {
    own.hash.as_ref().is_some_and(|hash| !hash.is_empty() && other.hash.as_ref() == Some(hash))
}

fn archives(own: &Archive, other: &Archive) -> bool {
    own.hash.as_ref().is_some_and(|hash| !hash.is_empty() && other.hash.as_ref() == Some(hash))
}

/// False as soon as one is, unknown if one is, true if all are.
fn all(results: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut known = true;
    for result in results {
        match result {
            Some(false) => return Some(false),
            Some(true) => {}
            None => known = false,
        }
    }
    known.then_some(true)
}
