//! Values that are carried as text, for serde: the feature `serde`.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Extra, RawJson};

/// A string that holds the JSON text, so that every format keeps its bytes.
impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Refuses text that is not one JSON value; strings inside it stay as they are escaped.
impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse_as_written(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A list of pairs: the order counts, and a name may stand more than once.
impl Serialize for Extra {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Extra {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<(String, RawJson)>::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{Extra, RawJson};

    #[test]
    fn text_keeps_its_bytes() {
        let raw = RawJson::parse_as_written(r#"{"b":1.50,"a":"<\u003c","b":[1e3]}"#).unwrap();
        let text = serde_json::to_string(&raw).unwrap();
        assert_eq!(serde_json::from_str::<RawJson>(&text).unwrap(), raw);
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in [r#""{""#, r#""1 2""#, r#""""#, "{}"] {
            serde_json::from_str::<RawJson>(text).unwrap_err();
        }
    }

    #[test]
    fn members_keep_their_order_and_their_repetitions() {
        let member = |name: &str, text| (name.to_owned(), RawJson::parse(text).unwrap());
        let extra: Extra = [member("z", "1"), member("a", "2.0"), member("z", "3")].into_iter().collect();
        let text = serde_json::to_string(&extra).unwrap();
        assert_eq!(text, r#"[["z","1"],["a","2.0"],["z","3"]]"#);
        assert_eq!(serde_json::from_str::<Extra>(&text).unwrap(), extra);
        assert_eq!(serde_json::from_str::<Extra>("[]").unwrap(), Extra::new());
    }
}
