//! What is asked of the claims of a token.

use std::time::Duration;

use groundstate_common::Timestamp;
use serde_json::{Map, Value};

use super::Rejected;

/// How far the clocks of this machine and of the issuer may be apart.
const SKEW: Duration = Duration::from_secs(60);

/// Checks that a token is for this server, and now.
pub(crate) fn check(
    claims: &Map<String, Value>,
    audiences: &[String],
    now: Timestamp,
) -> Result<(), Rejected> {
    let is_ours =
        |value: &Value| value.as_str().is_some_and(|text| audiences.iter().any(|ours| ours == text));
    let audience = match claims.get("aud") {
        Some(Value::Array(values)) => values.iter().any(is_ours),
        Some(value) => is_ours(value),
        None => false,
    };
    if !audience {
        return Err(Rejected::Audience);
    }
    let skew = SKEW.as_secs_f64();
    let now = now.seconds() as f64;
    let time = |name: &str| match claims.get(name) {
        None => Ok(None),
        Some(value) => value.as_f64().map(Some).ok_or(Rejected::Form("a time is not a number")),
    };
    // A token without an end would be valid for ever.
    let end = time("exp")?.ok_or(Rejected::Form("it has no end"))?;
    if end + skew <= now {
        return Err(Rejected::Expired);
    }
    for name in ["nbf", "iat"] {
        if time(name)?.is_some_and(|start| start - skew > now) {
            return Err(Rejected::Early);
        }
    }
    Ok(())
}

/// The texts of a claim, which patterns are compared with: one, or those of an array.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Bool(yes) => vec![yes.to_string()],
        Value::Number(number) => vec![number.to_string()],
        Value::Array(values) => values.iter().filter(|value| !value.is_array()).flat_map(texts).collect(),
        Value::Null | Value::Object(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use groundstate_common::Timestamp;
    use serde_json::{Value, json};

    use super::{Rejected, check, texts};

    fn checked(claims: &Value) -> Result<(), Rejected> {
        let now = Timestamp::from_unix(1_000_000, 0).unwrap();
        check(claims.as_object().unwrap(), &["us".to_owned(), "we".to_owned()], now)
    }

    #[test]
    fn the_audience_is_one_of_ours_and_the_time_is_now_within_a_minute() {
        for claims in [
            json!({"aud": "us", "exp": 1_000_001}),
            json!({"aud": ["them", "we"], "exp": 1_000_001.5}),
            json!({"aud": "us", "exp": 999_941, "nbf": 1_000_060, "iat": 1_000_060}),
        ] {
            assert!(checked(&claims).is_ok(), "{claims}");
        }
        for (claims, expected) in [
            (json!({"exp": 1_000_001}), "audience"),
            (json!({"aud": "them", "exp": 1_000_001}), "audience"),
            (json!({"aud": [], "exp": 1_000_001}), "audience"),
            (json!({"aud": {"us": 1}, "exp": 1_000_001}), "audience"),
            (json!({"aud": [["us"]], "exp": 1_000_001}), "audience"),
            (json!({"aud": "us"}), "no end"),
            (json!({"aud": "us", "exp": "1000001"}), "not a number"),
            (json!({"aud": "us", "exp": 999_940}), "expired"),
            (json!({"aud": "us", "exp": -1e300}), "expired"),
            (json!({"aud": "us", "exp": 1_000_001, "nbf": 1_000_061}), "not valid yet"),
            (json!({"aud": "us", "exp": 1_000_001, "iat": 1_000_061}), "not valid yet"),
            (json!({"aud": "us", "exp": 1_000_001, "iat": null}), "not a number"),
        ] {
            let error = checked(&claims).unwrap_err().to_string();
            assert!(error.contains(expected), "{claims}: {error}");
        }
    }

    #[test]
    fn claims_of_every_kind_have_texts() {
        assert_eq!(texts(&json!("a")), ["a"]);
        assert_eq!(texts(&json!(7)), ["7"]);
        assert_eq!(texts(&json!(true)), ["true"]);
        assert_eq!(texts(&json!(["a", 1, ["b"], null])), ["a", "1"]);
        assert!(texts(&json!({"a": "b"})).is_empty() && texts(&json!(null)).is_empty());
    }
}
