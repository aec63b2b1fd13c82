//! Events of the engine, each kept as its text.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::lenient::or_default;
use crate::{DocumentError, JsonText};

/// The body of `POST …/events/batch`. Batches arrive out of order and more than once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineEventBatch {
    /// The events.
    #[serde(default, deserialize_with = "or_default")]
    pub events: Vec<EngineEvent>,
}

/// The answer of `GET …/update/{id}/events`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EngineEvents {
    /// The events of this page, by their sequence.
    #[serde(default, deserialize_with = "or_default")]
    pub events: Vec<EngineEvent>,
    /// What asks for the next page. `None`, which is written as `null`, on the last.
    #[serde(default)]
    pub continuation_token: Option<String>,
}

/// An event of the engine: its text, unknown members included, with the numbers that order it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineEvent {
    sequence: u64,
    timestamp: i64,
    text: JsonText,
}

#[derive(Deserialize)]
struct Head {
    #[serde(default, deserialize_with = "or_default")]
    sequence: u64,
    #[serde(default, deserialize_with = "or_default")]
    timestamp: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WithSummary {
    #[serde(default)]
    summary_event: Option<SummaryEvent>,
}

/// The last event of an update: how much it changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SummaryEvent {
    /// Whether the state may be damaged.
    #[serde(default, deserialize_with = "or_default")]
    pub maybe_corrupt: bool,
    /// How long the update took.
    #[serde(default, deserialize_with = "or_default")]
    pub duration_seconds: f64,
    /// How many resources were created, updated and so on, by the engine's words.
    #[serde(default, deserialize_with = "or_default")]
    pub resource_changes: BTreeMap<String, u64>,
    /// Whether it was a preview.
    #[serde(default, deserialize_with = "or_default")]
    pub is_preview: bool,
}

impl EngineEvent {
    /// Reads an event from its text.
    ///
    /// # Errors
    ///
    /// Text that is not an object, or whose numbers are none.
    pub fn new(text: JsonText) -> Result<Self, DocumentError> {
        let Head { sequence, timestamp } = text.read()?;
        Ok(Self { sequence, timestamp, text })
    }

    /// Its number within the update, from 0.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// When it happened, in seconds since 1970.
    pub fn timestamp(&self) -> i64 {
        self.timestamp
    }

    /// The event as the CLI sent it.
    pub fn text(&self) -> &JsonText {
        &self.text
    }

    /// The summary, if the event is one that can be read.
    pub fn summary(&self) -> Option<SummaryEvent> {
        self.text.read::<WithSummary>().ok()?.summary_event
    }
}

impl Serialize for EngineEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for EngineEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(JsonText::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
