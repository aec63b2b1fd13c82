//! Small JSON objects whose unknown members survive.

use std::borrow::Cow;
use std::collections::BTreeMap;

use groundstate_blobs::sealed;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The members of an object that this release does not know, as they are written.
pub(crate) type Extra = BTreeMap<String, Box<RawValue>>;

/// An object with known members.
pub(crate) trait Members: Serialize + DeserializeOwned {
    const NAMES: &'static [&'static str];
}

/// Defines the members of an object. All of them may be absent; `Option` and empty ones are not written.
macro_rules! members {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($(#[$of:meta])* $field:ident: $type:ty,)+ }) => {
        $(#[$meta])*
        #[derive(serde::Serialize, serde::Deserialize)]
        $vis struct $name {
            $($(#[$of])* $vis $field: $type,)+
        }

        impl $crate::wire::Members for $name {
            const NAMES: &'static [&'static str] = &[$(stringify!($field)),+];
        }
    };
}
pub(crate) use members;

#[derive(Serialize)]
struct Whole<'a, T> {
    #[serde(flatten)]
    known: &'a T,
    #[serde(flatten)]
    extra: &'a Extra,
}

/// The format of heads and records that this release writes. Its objects are sealed.
pub(crate) const FORMAT: u64 = 2;
/// The format before, without a checksum. It is read, and written anew in the present one with the next change.
const BARE: u64 = 1;

/// Why a head or a record cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    Damaged(String),
    /// A later release wrote it.
    Newer(u64),
}

/// The text of a head or of the first line of a record, with its checksum compared and taken off.
pub(crate) struct Opened<'a> {
    pub(crate) object: Cow<'a, [u8]>,
    /// `true` if its format has no checksum, so that every unknown member is damage.
    pub(crate) is_bare: bool,
}

#[derive(Deserialize)]
struct Format {
    format: u64,
}

/// Compares the checksum of a text with its format.
pub(crate) fn open(text: &[u8]) -> Result<Opened<'_>, Unreadable> {
    let damaged = |problem: &dyn std::fmt::Display| Unreadable::Damaged(problem.to_string());
    let unsealed = sealed::unseal(text).map_err(|error| damaged(&error))?;
    let is_sealed = unsealed.is_some();
    let object = unsealed.map_or(Cow::Borrowed(text), Cow::Owned);
    let Format { format } = serde_json::from_slice(&object).map_err(|error| damaged(&error))?;
    match (format, is_sealed) {
        (FORMAT, true) => Ok(Opened { object, is_bare: false }),
        (FORMAT, false) => Err(damaged(&"its checksum is missing")),
        (BARE, false) => Ok(Opened { object, is_bare: true }),
        (BARE, true) => Err(damaged(&"its format has no checksum, and it has one")),
        (newer, _) => Err(Unreadable::Newer(newer)),
    }
}

/// Reads an object.
pub(crate) fn read<T: Members>(text: &[u8]) -> serde_json::Result<(T, Extra)> {
    let known = serde_json::from_slice(text)?;
    let mut extra: Extra = serde_json::from_slice(text)?;
    extra.retain(|name, _| !T::NAMES.contains(&name.as_str()));
    Ok((known, extra))
}

/// Writes an object: its known members, then the others.
pub(crate) fn write<T: Members>(known: &T, extra: &Extra) -> serde_json::Result<Box<RawValue>> {
    serde_json::value::to_raw_value(&Whole { known, extra })
}
