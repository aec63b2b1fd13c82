//! Reading as Go's decoder does: `null` means what an absent member means.

use serde::{Deserialize, Deserializer};

/// The value, or the default one for `null`. Together with `#[serde(default)]`, which covers absent members.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}
