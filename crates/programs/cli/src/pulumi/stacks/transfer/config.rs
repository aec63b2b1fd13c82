//! The configuration in a history, which buckets and services write in two ways.

use std::collections::BTreeMap;

use groundstate_pulumi_backends::pulumi_http::protocol::ConfigValue;
use groundstate_pulumi_secrets::{Ciphertext, Manager};
use serde_json::Value;
use serde_json::value::RawValue;

/// From the way of services to that of buckets: texts as texts, secrets as `{"secure": "…"}`, objects as themselves.
pub(super) fn of_service(text: &RawValue) -> Result<Box<RawValue>, String> {
    let values: Option<BTreeMap<String, ConfigValue>> =
        serde_json::from_str(text.get()).map_err(|error| format!("its configuration: {error}"))?;
    let raw =
        |text: String| RawValue::from_string(text).map_err(|error| format!("its configuration: {error}"));
    let value = |value: ConfigValue| match (value.object, value.secret) {
        (true, _) => raw(value.string),
        (false, true) => raw(format!(r#"{{"secure":{}}}"#, Value::from(value.string))),
        (false, false) => raw(Value::from(value.string).to_string()),
    };
    let values: BTreeMap<String, Box<RawValue>> = values
        .unwrap_or_default()
        .into_iter()
        .map(|(name, found)| Ok::<_, String>((name, value(found)?)))
        .collect::<Result<_, _>>()?;
    raw(serde_json::to_string(&values).map_err(|error| error.to_string())?)
}

/// The other way.
pub(super) fn to_service(text: Option<&RawValue>) -> Result<BTreeMap<String, ConfigValue>, String> {
    let Some(text) = text else { return Ok(BTreeMap::new()) };
    let values: Option<BTreeMap<String, Box<RawValue>>> =
        serde_json::from_str(text.get()).map_err(|error| format!("its configuration: {error}"))?;
    let value = |raw: &RawValue| match serde_json::from_str::<Value>(raw.get()) {
        Ok(Value::String(string)) => ConfigValue { string, ..ConfigValue::default() },
        Ok(Value::Object(members)) => match secure(&members) {
            Some(ciphertext) => ConfigValue { string: ciphertext.to_owned(), secret: true, object: false },
            None => object(raw, has_secret(&Value::Object(members))),
        },
        Ok(found) => object(raw, has_secret(&found)),
        Err(_) => object(raw, false),
    };
    Ok(values.unwrap_or_default().iter().map(|(name, raw)| (name.clone(), value(raw))).collect())
}

fn object(raw: &RawValue, secret: bool) -> ConfigValue {
    ConfigValue { string: raw.get().to_owned(), secret, object: true }
}

/// The ciphertext, if the members are those of a secret.
fn secure(members: &serde_json::Map<String, Value>) -> Option<&str> {
    if members.len() == 1 { members.get("secure")?.as_str() } else { None }
}

fn has_secret(value: &Value) -> bool {
    match value {
        Value::Object(members) => secure(members).is_some() || members.values().any(has_secret),
        Value::Array(values) => values.iter().any(has_secret),
        _ => false,
    }
}

/// The same with every secret encrypted by another manager. What has no secret keeps its bytes.
pub(super) fn recoded(text: &RawValue, old: &Manager, new: &Manager) -> Result<Box<RawValue>, String> {
    let mut value: Value = serde_json::from_str(text.get()).map_err(|error| error.to_string())?;
    if !has_secret(&value) {
        return Ok(text.to_owned());
    }
    recode(&mut value, old, new)?;
    RawValue::from_string(value.to_string()).map_err(|error| error.to_string())
}

fn recode(value: &mut Value, old: &Manager, new: &Manager) -> Result<(), String> {
    match value {
        Value::Object(members) => {
            if let Some(ciphertext) = secure(members) {
                let plain = old.decrypter().decrypt(&Ciphertext::new(ciphertext));
                let plain = plain.map_err(|error| error.to_string())?;
                let sealed = new.encrypter().encrypt(&plain).map_err(|error| error.to_string())?;
                members.insert("secure".to_owned(), Value::from(sealed.as_str()));
                return Ok(());
            }
            members.values_mut().try_for_each(|value| recode(value, old, new))
        }
        Value::Array(values) => values.iter_mut().try_for_each(|value| recode(value, old, new)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::{of_service, to_service};

    #[test]
    fn both_ways_say_the_same() {
        let text = r#"{"shop:n":"1","shop:o":{"a":[1.0,{"secure":"x"}]},"shop:p":{"b":1.50},"shop:s":{"secure":"y"}}"#;
        let raw = RawValue::from_string(text.to_owned()).unwrap();
        let service = to_service(Some(&raw)).unwrap();
        let kinds: Vec<(bool, bool)> = service.values().map(|value| (value.secret, value.object)).collect();
        assert_eq!(kinds, [(false, false), (true, true), (false, true), (true, false)]);
        let json = serde_json::to_string(&service).unwrap();
        let back = of_service(&RawValue::from_string(json).unwrap()).unwrap();
        assert_eq!(back.get(), text);
        assert!(to_service(None).unwrap().is_empty());
        let null = RawValue::from_string("null".to_owned()).unwrap();
        assert!(to_service(Some(&null)).unwrap().is_empty());
    }
}
