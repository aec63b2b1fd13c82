//! Small JSON objects whose unknown members survive.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
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
