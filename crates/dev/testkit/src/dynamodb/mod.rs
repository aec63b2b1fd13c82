//! DynamoDB: items with one string as their key, and conditions on them.

mod condition;
mod operations;
mod tables;

use serde_json::{Value, json};

pub(crate) use tables::Tables;

use crate::digest::crc32;
use crate::http::{Answer, Request};

const TARGET: &str = "x-amz-target";
const VERSION: &str = "DynamoDB_20120810.";

/// Tells whether a request is for DynamoDB, which is called by a header at the path `/`.
pub(crate) fn is_for(request: &Request) -> bool {
    request.header(TARGET).is_some_and(|target| target.starts_with(VERSION))
}

/// Carries an operation out.
pub(crate) fn answer(tables: &mut Tables, request: &Request) -> Answer {
    let target = request.header(TARGET).unwrap_or_default();
    let operation = target.strip_prefix(VERSION).unwrap_or_default();
    let Ok(input) = serde_json::from_slice::<Value>(&request.body) else {
        return refusal(400, "SerializationException", "the body is not JSON");
    };
    match operations::run(tables, operation, &input) {
        Ok(output) => sealed(200, &output),
        Err(refused) => {
            let mut body = json!({ "__type": refused.kind(), "message": refused.message });
            if let Some(item) = refused.item {
                body["Item"] = item;
            }
            sealed(400, &body)
        }
    }
}

/// A refusal with the code of an exception of the API.
pub(crate) fn refusal(status: u16, code: &str, message: &str) -> Answer {
    let space = if status < 500 && code.ends_with("Exception") { "com.amazon.coral.service#" } else { "" };
    sealed(status, &json!({ "__type": format!("{space}{code}"), "message": message }))
}

/// An error that a fault asks for, under the name that this service has for it.
pub(crate) fn fault(status: u16, code: &str) -> Answer {
    let kind = match status {
        500 => "InternalServerError",
        503 => "ServiceUnavailable",
        429 => "ThrottlingException",
        _ => code,
    };
    refusal(status, kind, "a fault was planned for this request")
}

/// An answer with the checksum that clients compare.
fn sealed(status: u16, body: &Value) -> Answer {
    let text = body.to_string();
    Answer::new(status)
        .header("content-type", "application/x-amz-json-1.0")
        .header("x-amzn-requestid", "TESTKIT")
        .header("x-amz-crc32", crc32(text.as_bytes()).to_string())
        .body(text)
}
