//! Members of plans for serde: the feature `serde`.

/// A URN as a string that is checked when it is written and when it is read.
pub(crate) mod urn {
    use groundstate_pulumi_snapshot::Urn;
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(urn: &Urn, serializer: S) -> Result<S::Ok, S::Error> {
        let urn = Urn::parse(urn.as_str()).map_err(S::Error::custom)?;
        serializer.serialize_str(urn.as_str())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Urn, D::Error> {
        Urn::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
