//! `s3://`: a bucket of Amazon S3, or of a server that speaks its protocol.

use std::sync::Arc;

use groundstate_blobs::{Result, Retry};
use groundstate_blobs_cloud::{S3Blobs, S3Settings};
use serde_json::{Map, Value};

use crate::choice::BackendChoice;
use crate::open::{OpenContext, Opened};
use crate::query::flag;
use crate::url::BackendUrl;

const PARAMETERS: [&str; 20] = [
    "region",
    "profile",
    "endpoint",
    "use_path_style",
    "s3ForcePathStyle",
    "disable_https",
    "disableSSL",
    "accelerate",
    "dualstack",
    "fips",
    "hostname_immutable",
    "anonymous",
    "role",
    "ssetype",
    "kmskeyid",
    "rate_limiter_capacity",
    "request_checksum_calculation",
    "response_checksum_validation",
    "awssdk",
    "prefix",
];

/// What leads to another address or chooses credentials.
const USERS: [&str; 6] = ["endpoint", "profile", "role", "disable_https", "disableSSL", "hostname_immutable"];

pub(crate) fn open(choice: &BackendChoice, with: OpenContext<'_>) -> Result<Opened> {
    choice.url.only(&PARAMETERS)?;
    choice.only_from_user(&USERS)?;
    let (options, mut notes) = options(&choice.url, with.variable)?;
    let mut settings = S3Settings::new();
    settings
        .read_from(Value::Object(options), choice.origin)
        .map_err(|error| choice.url.wrong(error.to_string()))?;
    let bucket = S3Blobs::open(&settings.or_from(with.variable)?, with.context)?;
    notes.extend_from_slice(bucket.warnings());
    let retries = bucket.retry_policy();
    Ok((Arc::new(Retry::new(bucket, retries, with.context.clone())), notes))
}

/// The settings that the parameters stand for, and what is to be said of the others.
fn options(
    url: &BackendUrl,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(Map<String, Value>, Vec<String>)> {
    let query = url.query();
    let given = |name: &str| query.get(name).filter(|text| !text.is_empty());
    let switch = |name: &str| match given(name) {
        None => Ok(false),
        Some(text) => flag(text).ok_or_else(|| url.parameter(name, "is neither true nor false")),
    };
    let mut options = Map::new();
    let mut set = |name: &str, value: Value| options.insert(name.to_owned(), value);
    let mut notes = Vec::new();
    set("bucket", url.container().into());
    for (parameter, option) in [("region", "region"), ("profile", "profile"), ("role", "role_arn")] {
        given(parameter).map(|text| set(option, text.into()));
    }
    // `disableSSL` is what the first SDK of AWS called it.
    let plain = switch("disableSSL")? || switch("disable_https")?;
    let endpoint = given("endpoint");
    if let Some(text) = endpoint {
        let scheme = if text.contains("://") {
            ""
        } else if plain {
            "http://"
        } else {
            "https://"
        };
        set("endpoint", format!("{scheme}{text}").into());
    } else if plain {
        let error = url.unsupported("disable_https", "Amazon S3 is reached by https only");
        return Err(error.next_step("remove it, or name a server of your own by `endpoint=http://HOST`"));
    }
    let path_style =
        switch("use_path_style")? || switch("s3ForcePathStyle")? || switch("hostname_immutable")?;
    set("use_path_style", path_style.into());
    set("use_dualstack_endpoint", switch("dualstack")?.into());
    set("use_fips_endpoint", switch("fips")?.into());
    if switch("accelerate")? {
        return Err(url.unsupported("accelerate", "transfers are not accelerated").next_step("remove it"));
    }
    if switch("anonymous")? {
        return Err(url
            .unsupported("anonymous", "requests to S3 are always signed")
            .next_step("remove it, and use credentials"));
    }
    encryption(url, given("ssetype"), given("kmskeyid"), &mut set)?;
    if checksums(url, endpoint.is_some(), variable)? {
        set("skip_s3_checksum", true.into());
    }
    match given("response_checksum_validation") {
        None | Some("when_required") => {}
        Some("when_supported") => notes.push(format!(
            "the parameter `response_checksum_validation` of {url} means nothing here: answers of S3 are not compared with checksums"
        )),
        Some(_) => return Err(url.parameter("response_checksum_validation", "is neither when_supported nor when_required")),
    }
    if given("rate_limiter_capacity").is_some() {
        notes.push(format!(
            "the parameter `rate_limiter_capacity` of {url} means nothing here: AWS_MAX_ATTEMPTS limits retries"
        ));
    }
    Ok((options, notes))
}

fn encryption(
    url: &BackendUrl,
    kind: Option<&str>,
    key: Option<&str>,
    set: &mut impl FnMut(&str, Value) -> Option<Value>,
) -> Result<()> {
    match (kind, key) {
        (None, None) => {}
        (Some("AES256"), None) => {
            set("encrypt", true.into());
        }
        (Some("aws:kms"), Some(key)) => {
            set("encrypt", true.into());
            set("kms_key_id", key.into());
        }
        (Some("AES256") | None, Some(_)) => {
            return Err(url.parameter("kmskeyid", "needs `ssetype=aws:kms`"));
        }
        (Some("aws:kms"), None) => {
            let error = url.unsupported("ssetype", "aws:kms needs a key here");
            return Err(
                error.next_step("name the key by `kmskeyid`, or remove it if the bucket encrypts by default")
            );
        }
        (Some(_), _) => {
            return Err(url
                .unsupported("ssetype", "only AES256 and aws:kms are sent")
                .next_step("remove it"));
        }
    }
    Ok(())
}

/// Whether writes go without a checksum: by the parameter, the variable, or because other servers may not know them.
fn checksums(
    url: &BackendUrl,
    has_endpoint: bool,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<bool> {
    const NAME: &str = "request_checksum_calculation";
    let is_required = |text: &str| match text.to_ascii_lowercase().as_str() {
        "when_required" => Some(true),
        "when_supported" => Some(false),
        _ => None,
    };
    if let Some(text) = url.query().get(NAME).filter(|text| !text.is_empty()) {
        return is_required(text)
            .ok_or_else(|| url.parameter(NAME, "is neither when_supported nor when_required"));
    }
    match variable("AWS_REQUEST_CHECKSUM_CALCULATION").filter(|text| !text.is_empty()) {
        Some(text) => Ok(is_required(&text).unwrap_or(has_endpoint)),
        None => Ok(has_endpoint),
    }
}

#[cfg(test)]
mod tests {
    use super::options;
    use crate::url::BackendUrl;

    fn of(text: &str, variables: &[(&str, &str)]) -> Result<String, String> {
        let url = BackendUrl::parse(text).unwrap();
        let variable = |name: &str| {
            variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
        };
        let (mut options, notes) = options(&url, &variable).map_err(|error| error.to_string())?;
        options.retain(|_, value| *value != serde_json::Value::Bool(false));
        options.remove("bucket");
        Ok(format!("{} {}", serde_json::Value::Object(options), notes.len()))
    }

    #[test]
    fn parameters_become_settings_the_legacy_ones_too() {
        for (query, expected) in [
            ("region=eu-west-1&profile=p&awssdk=v2", r#"{"profile":"p","region":"eu-west-1"} 0"#),
            (
                "endpoint=minio:9000&disableSSL=1&s3ForcePathStyle=t",
                r#"{"endpoint":"http://minio:9000","skip_s3_checksum":true,"use_path_style":true} 0"#,
            ),
            (
                "endpoint=minio:9000&disableSSL=false",
                r#"{"endpoint":"https://minio:9000","skip_s3_checksum":true} 0"#,
            ),
            ("endpoint=http://h&request_checksum_calculation=when_supported", r#"{"endpoint":"http://h"} 0"#),
            ("request_checksum_calculation=when_required", r#"{"skip_s3_checksum":true} 0"#),
            (
                "ssetype=aws:kms&kmskeyid=k&role=arn",
                r#"{"encrypt":true,"kms_key_id":"k","role_arn":"arn"} 0"#,
            ),
            (
                "fips=true&dualstack=true&hostname_immutable=true",
                r#"{"use_dualstack_endpoint":true,"use_fips_endpoint":true,"use_path_style":true} 0"#,
            ),
            ("rate_limiter_capacity=5&response_checksum_validation=when_supported", "{} 2"),
        ] {
            assert_eq!(of(&format!("s3://b?{query}"), &[]).as_deref(), Ok(expected), "{query}");
        }
        let env = [("AWS_REQUEST_CHECKSUM_CALCULATION", "WHEN_SUPPORTED")];
        assert_eq!(of("s3://b?endpoint=http://h", &env).as_deref(), Ok(r#"{"endpoint":"http://h"} 0"#));
    }

    #[test]
    fn what_cannot_be_honoured_is_refused() {
        for query in [
            "accelerate=true",
            "anonymous=true",
            "disable_https=true",
            "disableSSL=hush",
            "ssetype=aws:kms",
            "ssetype=hush",
            "kmskeyid=hush",
            "request_checksum_calculation=hush",
            "fips=hush",
        ] {
            let error = of(&format!("s3://b?{query}"), &[]).unwrap_err();
            assert!(!error.contains("hush"), "{error}");
        }
    }
}
