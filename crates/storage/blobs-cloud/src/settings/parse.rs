//! Settings from maps, such as backend blocks as JSON.

use std::collections::BTreeMap;

use groundstate_blobs::Result as BlobResult;
use groundstate_common::Origin;
use serde::{Deserialize, Deserializer, de::Error as _};

use super::Values;

/// What stands behind a name.
#[derive(Deserialize)]
#[serde(untagged)]
enum Value {
    Nothing(()),
    Flag(bool),
    Number(i64),
    Text(String),
    Group(BTreeMap<String, Self>),
    List(Vec<Self>),
}

impl Values {
    pub(crate) fn read<'de, D: Deserializer<'de>>(
        &mut self,
        deserializer: D,
        origin: Origin,
    ) -> Result<(), D::Error> {
        for (name, value) in BTreeMap::<String, Value>::deserialize(deserializer)? {
            self.read_value(&name, &value, origin).map_err(D::Error::custom)?;
        }
        Ok(())
    }

    fn read_value(&mut self, name: &str, value: &Value, origin: Origin) -> BlobResult<()> {
        match value {
            Value::Nothing(()) => Ok(()),
            Value::Flag(flag) => self.set(name, if *flag { "true" } else { "false" }, origin),
            Value::Number(number) => self.set(name, &number.to_string(), origin),
            Value::Text(text) => self.set(name, text, origin),
            Value::Group(members) => members
                .iter()
                .try_for_each(|(member, value)| self.read_value(&format!("{name}.{member}"), value, origin)),
            // Blocks are lists of one in what Terraform leaves; lists of texts are joined.
            Value::List(items) => match &items[..] {
                [] => Ok(()),
                [item] => self.read_value(name, item, origin),
                items => {
                    let texts: Option<Vec<String>> = items.iter().map(Value::text).collect();
                    let texts = texts.ok_or_else(|| self.no_list(name))?;
                    self.set(name, &texts.join(","), origin)
                }
            },
        }
    }
}

impl Value {
    fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Number(number) => Some(number.to_string()),
            Self::Flag(flag) => Some(flag.to_string()),
            Self::Nothing(()) | Self::Group(_) | Self::List(_) => None,
        }
    }
}
