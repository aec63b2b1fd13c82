//! Entries of the history of a bucket as updates of the service, and back.

use std::collections::BTreeMap;

use groundstate_common::{Timestamp, one_line};
use groundstate_pulumi_backends::pulumi_diy::{HistoryEntry, Update};
use groundstate_pulumi_service::{BucketUpdate, UpdateRequest, UpdateResult, VersionNote};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

/// The member of the surroundings of an update that has its id at this server.
const UPDATE: &str = "groundstate.update";
/// The member that has who made it.
const AUTHOR: &str = "groundstate.author";
/// The member that has why it failed, where its client did not say.
const REASON: &str = "groundstate.reason";

/// An update as a bucket keeps it.
pub(super) fn entry(update: &BucketUpdate) -> Update {
    let BucketUpdate { note, request, .. } = update;
    let mut environment = request.environment.clone();
    if let Some(id) = &note.update {
        environment.insert(UPDATE.to_owned(), id.clone());
    }
    environment.insert(AUTHOR.to_owned(), request.author.clone());
    if let Some(reason) = &note.reason {
        environment.insert(REASON.to_owned(), reason.clone());
    }
    let mut entry = Update::default();
    entry.kind.clone_from(&note.kind);
    entry.start_time = note.started.seconds();
    entry.message.clone_from(&request.message);
    entry.environment = Some(environment);
    entry.config = request.config.as_deref().and_then(stored_config);
    entry.result = match note.result {
        UpdateResult::Succeeded => "succeeded",
        UpdateResult::Failed => "failed",
    }
    .to_owned();
    entry.end_time = note.ended.seconds();
    let changes =
        note.changes.iter().map(|(word, count)| (word.clone(), i64::try_from(*count).unwrap_or(i64::MAX)));
    entry.resource_changes = Some(changes.collect()).filter(|changes: &BTreeMap<_, _>| !changes.is_empty());
    entry
}

/// The id of the update that an entry is of, if it was one of this server.
pub(super) fn update_of(entry: &HistoryEntry) -> Option<String> {
    entry.update.as_ref().ok()?.environment.as_ref()?.get(UPDATE).cloned()
}

/// An entry as an update. One that cannot be read says so in its message.
pub(super) fn update(entry: HistoryEntry) -> BucketUpdate {
    let time = |seconds| Timestamp::from_unix(seconds, 0).unwrap_or(Timestamp::UNIX_EPOCH);
    let stored = match entry.update {
        Ok(stored) => stored,
        Err(error) => {
            let note = VersionNote::new("update", UpdateResult::Failed, time(0), time(0));
            let mut request = UpdateRequest::new("update", "", time(0));
            request.message = format!("the entry cannot be read: {}", one_line(&error.to_string()));
            return BucketUpdate::new(note, request);
        }
    };
    let result = if stored.result == "succeeded" { UpdateResult::Succeeded } else { UpdateResult::Failed };
    let mut environment = stored.environment.unwrap_or_default();
    let (started, ended) = (time(stored.start_time), time(stored.end_time));
    let mut note = VersionNote::new(&stored.kind, result, started, ended);
    note.update = environment.remove(UPDATE);
    note.reason = environment.remove(REASON);
    let changes = stored.resource_changes.unwrap_or_default();
    note.changes =
        changes.into_iter().map(|(word, count)| (word, u64::try_from(count).unwrap_or_default())).collect();
    let author = environment.remove(AUTHOR).unwrap_or_default();
    let mut request = UpdateRequest::new(stored.kind, author, started);
    request.message = stored.message;
    request.environment = environment;
    request.config = stored.config.as_deref().and_then(served_config);
    BucketUpdate::new(note, request)
}

/// A configuration as buckets keep it: texts, `{"secure": …}`, and other values as they are.
fn stored_config(config: &RawValue) -> Option<Box<RawValue>> {
    let config: Map<String, Value> = serde_json::from_str(config.get()).ok()?;
    let stored = config.into_iter().map(|(name, value)| {
        let text = value["string"].as_str().unwrap_or_default().to_owned();
        let is = |member: &str| value[member].as_bool().unwrap_or_default();
        let value = match (is("object"), is("secret")) {
            (true, _) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
            (false, true) => json!({ "secure": text }),
            (false, false) => Value::String(text),
        };
        (name, value)
    });
    to_raw_value(&stored.collect::<Map<_, _>>()).ok()
}

/// A configuration as clients read it.
fn served_config(config: &RawValue) -> Option<Box<RawValue>> {
    let config: Map<String, Value> = serde_json::from_str(config.get()).ok()?;
    let served = config.into_iter().map(|(name, value)| {
        let secure = value.as_object().filter(|members| members.len() == 1);
        let secure = secure.and_then(|members| members.get("secure")?.as_str().map(str::to_owned));
        let value = match (value, secure) {
            (_, Some(text)) => json!({ "string": text, "secret": true, "object": false }),
            (Value::String(text), None) => json!({ "string": text, "secret": false, "object": false }),
            (other, None) => {
                let text = other.to_string();
                let has_secret = has_secret(&other);
                json!({ "string": text, "secret": has_secret, "object": true })
            }
        };
        (name, value)
    });
    to_raw_value(&served.collect::<Map<_, _>>()).ok()
}

/// Whether a value has one in it that is encrypted.
fn has_secret(value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            (members.len() == 1 && members.get("secure").is_some_and(Value::is_string))
                || members.values().any(has_secret)
        }
        Value::Array(items) => items.iter().any(has_secret),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::{served_config, stored_config};

    #[test]
    fn configurations_are_the_same_after_both_ways() {
        let stored = r#"{"p:a":"x","p:b":{"secure":"v1:c"},"p:c":{"d":[1,{"secure":"v1:e"}]},"p:f":["g"]}"#;
        let raw = RawValue::from_string(stored.to_owned()).unwrap();
        let served = served_config(&raw).unwrap();
        assert!(served.get().contains(r#""p:b":{"object":false,"secret":true,"string":"v1:c"}"#), "{served}");
        assert_eq!(stored_config(&served).unwrap().get(), stored);
    }
}
