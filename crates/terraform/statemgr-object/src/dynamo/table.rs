//! The rows of a table, one attribute at a time, under conditions.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use groundstate_blobs::ErrorKind as BlobError;
use groundstate_common::{Backoff, Sleeper};
use groundstate_statemgr::{Error, ErrorKind, Op, Result};
use serde_json::{Map, Value, json};
use tracing::field::{Empty, debug};
use tracing::{Instrument, Span, debug, debug_span};

use crate::dynamo::api::{DynamoApi, DynamoReply};
use crate::failure::failed;

/// How often an action is tried that the service has surely not carried out.
const TRIES: u32 = 5;
/// The waits between two tries.
const WAITS: Backoff = Backoff::new(Duration::from_millis(100), Duration::MAX);
/// The longest wait that the service may ask for. If it asks for more, there is no further try.
const LONGEST_ASKED: Duration = Duration::from_secs(60);
/// The only key of Terraform's tables.
const KEY: &str = "LockID";

/// A table whose key is the string `LockID`.
#[derive(Clone, Debug)]
pub struct DynamoTable {
    api: Arc<dyn DynamoApi>,
    name: Arc<str>,
    sleeper: Arc<dyn Sleeper>,
}

/// A row as far as it is of use: one attribute of it, which may be missing.
pub(super) struct Row(pub(super) Option<String>);

/// What came of a conditional change.
pub(super) enum Outcome {
    Done,
    /// The condition was not fulfilled; the service may have shown the row.
    Refused(Option<Row>),
    /// Unknown.
    Unknown(Error),
}

impl DynamoTable {
    /// The table of this name, over a connection. `sleeper` waits between tries.
    pub fn new(api: Arc<dyn DynamoApi>, name: &str, sleeper: Arc<dyn Sleeper>) -> Self {
        Self { api, name: name.into(), sleeper }
    }

    /// Reads an attribute of a row, consistently.
    pub(super) async fn get(&self, op: Op, key: &str, attribute: &str) -> Result<Option<Row>> {
        let input = json!({
            "ConsistentRead": true,
            "Key": { KEY: { "S": key } },
            "ProjectionExpression": format!("{KEY}, {attribute}"),
            "TableName": &*self.name,
        });
        match self.action(op, "GetItem", &input).await? {
            Answer::Done(output) => Ok(row(&output["Item"], attribute)),
            Answer::Refused(_) | Answer::Unknown(_) => Err(self.broken(op)),
        }
    }

    /// Makes a row of this attribute, whatever is there or only where there is none.
    pub(super) async fn put(
        &self,
        op: Op,
        key: &str,
        (attribute, value): (&str, &str),
        only_if_absent: bool,
    ) -> Result<Outcome> {
        let mut input = json!({
            "Item": { KEY: { "S": key }, attribute: { "S": value } },
            "TableName": &*self.name,
        });
        if only_if_absent {
            input["ConditionExpression"] = format!("attribute_not_exists({KEY})").into();
            input["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD".into();
        }
        self.change(op, "PutItem", &input, attribute).await
    }

    /// Removes a row, whatever it is or only if the attribute is this one; a missing attribute can be asked for too.
    pub(super) async fn delete(
        &self,
        op: Op,
        key: &str,
        attribute: &str,
        only_if: Option<&Row>,
    ) -> Result<Outcome> {
        let mut input = json!({ "Key": { KEY: { "S": key } }, "TableName": &*self.name });
        match only_if {
            None => {}
            Some(Row(Some(value))) => {
                input["ConditionExpression"] = format!("{attribute} = :value").into();
                input["ExpressionAttributeValues"] = json!({ ":value": { "S": value } });
            }
            Some(Row(None)) => {
                input["ConditionExpression"] = format!("attribute_not_exists({attribute})").into();
            }
        }
        self.change(op, "DeleteItem", &input, attribute).await
    }

    async fn change(&self, op: Op, action: &'static str, input: &Value, attribute: &str) -> Result<Outcome> {
        Ok(match self.action(op, action, input).await? {
            Answer::Done(_) => Outcome::Done,
            Answer::Refused(output) => Outcome::Refused(row(&output["Item"], attribute)),
            Answer::Unknown(error) => Outcome::Unknown(error),
        })
    }

    /// Carries an action out; what has surely not happened is tried again.
    async fn action(&self, op: Op, action: &'static str, input: &Value) -> Result<Answer> {
        let row = input["Key"][KEY]["S"].as_str().or_else(|| input["Item"][KEY]["S"].as_str());
        let place = &*self.name;
        let span = debug_span!("row", op = action, place, row, attempt = Empty, error = Empty);
        let outcome = self.repeated(op, action, input).instrument(span.clone()).await;
        if let Err(error) | Ok(Answer::Unknown(error)) = &outcome {
            span.record("error", debug(error.kind()));
        }
        outcome
    }

    async fn repeated(&self, op: Op, action: &'static str, input: &Value) -> Result<Answer> {
        let body = input.to_string();
        let mut waits = WAITS;
        let mut tries = 1;
        loop {
            let mut asked = Duration::ZERO;
            let answer = match self.api.call(action, body.clone().into()).await {
                Ok(reply) => {
                    asked = reply.retry_after.unwrap_or_default();
                    self.answer(op, action, reply)
                }
                Err(error) if error.kind() == BlobError::Ambiguous => {
                    Ok(Answer::Unknown(failed(op, self, error)))
                }
                Err(error) => Err(failed(op, self, error)),
            };
            let again = matches!(&answer, Err(error) if error.kind() == ErrorKind::Unavailable);
            if !again || tries == TRIES || asked > LONGEST_ASKED {
                return answer;
            }
            tries += 1;
            let delay = waits.wait().max(asked);
            debug!(attempt = tries, delay = delay.as_secs_f64(), "waiting before another attempt");
            self.sleeper.sleep(delay).await;
            Span::current().record("attempt", tries);
        }
    }

    fn answer(&self, op: Op, action: &str, reply: DynamoReply) -> Result<Answer> {
        let output: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        if (200..300).contains(&reply.status) {
            // A change is done whatever its body says; a read without a body has told nothing.
            return match output {
                Value::Null if action == "GetItem" => {
                    Err(self.error(ErrorKind::Unavailable, op, "the answer did not arrive whole"))
                }
                output => Ok(Answer::Done(output)),
            };
        }
        let code = output["__type"].as_str().unwrap_or_default();
        let code = code.rsplit('#').next().unwrap_or_default();
        if code == "ConditionalCheckFailedException" {
            return Ok(Answer::Refused(output));
        }
        let meaning = meaning(code, action).or_else(|| unavailable(code, reply.status, action));
        let (kind, why) = meaning.unwrap_or_else(|| {
            (ErrorKind::Internal, format!("the service refuses it with the status {} {code}", reply.status))
        });
        let error = Error::new(kind, op, self).because(why);
        if kind == ErrorKind::Ambiguous { Ok(Answer::Unknown(error)) } else { Err(error) }
    }

    fn error(&self, kind: ErrorKind, op: Op, why: impl Into<String>) -> Error {
        Error::new(kind, op, self).because(why)
    }

    fn broken(&self, op: Op) -> Error {
        self.error(ErrorKind::Internal, op, "a read was answered as only changes are")
    }
}

/// What a refusal means that lasts until settings or rights change.
fn meaning(code: &str, action: &str) -> Option<(ErrorKind, String)> {
    Some(match code {
        "ResourceNotFoundException" => {
            let why = format!(
                "there is no such table in this region; create it with the string key {KEY}, or correct the option \
                 `dynamodb_table`"
            );
            (ErrorKind::NotFound, why)
        }
        "AccessDeniedException" => {
            let why =
                format!("permission was denied; allow these credentials dynamodb:{action} on the table");
            (ErrorKind::Denied, why)
        }
        "ValidationException" => {
            let why = format!("the table refuses the row; its only key has to be a string called {KEY}");
            (ErrorKind::Invalid, why)
        }
        "UnrecognizedClientException"
        | "MissingAuthenticationTokenException"
        | "IncompleteSignatureException" => {
            let why = "the service does not know the access key; correct `access_key` or AWS_ACCESS_KEY_ID";
            (ErrorKind::Denied, why.to_owned())
        }
        "InvalidSignatureException" | "SignatureDoesNotMatch" => {
            let why = "the signature is not valid; correct `secret_key` or AWS_SECRET_ACCESS_KEY, and this machine's clock";
            (ErrorKind::Denied, why.to_owned())
        }
        "ExpiredTokenException" | "ExpiredToken" => {
            let why = "the credentials have expired; get new ones: `token` or AWS_SESSION_TOKEN and the keys beside it";
            (ErrorKind::Denied, why.to_owned())
        }
        _ => return None,
    })
}

/// What a refusal means that passes.
fn unavailable(code: &str, status: u16, action: &str) -> Option<(ErrorKind, String)> {
    let asks_for_less = matches!(
        code,
        "ProvisionedThroughputExceededException"
            | "ThrottlingException"
            | "RequestLimitExceeded"
            | "LimitExceededException"
            | "TransactionConflictException"
    );
    match status {
        401 | 403 => Some((ErrorKind::Denied, format!("permission was denied: status {status} {code}"))),
        _ if asks_for_less => {
            Some((ErrorKind::Unavailable, "the service asks for fewer requests".to_owned()))
        }
        500.. if action == "GetItem" => {
            Some((ErrorKind::Unavailable, format!("the service has failed with the status {status}")))
        }
        500.. => {
            let why = format!(
                "the service has failed with the status {status}, so it is not known whether it happened"
            );
            Some((ErrorKind::Ambiguous, why))
        }
        _ => None,
    }
}

/// What came of an action.
enum Answer {
    Done(Value),
    Refused(Value),
    Unknown(Error),
}

fn row(item: &Value, attribute: &str) -> Option<Row> {
    let item = item.as_object().filter(|item: &&Map<String, Value>| !item.is_empty())?;
    let text = item.get(attribute).and_then(|value| value["S"].as_str());
    Some(Row(text.map(str::to_owned)))
}

impl fmt::Display for DynamoTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the table {} of DynamoDB", self.name)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    use async_trait::async_trait;
    use bytes::Bytes;
    use groundstate_common::{Clock, FixedClock, Timestamp};
    use groundstate_statemgr::Op;

    use super::DynamoTable;
    use crate::dynamo::api::{DynamoApi, DynamoReply};

    /// Refuses the first calls, and asks for a wait.
    #[derive(Debug)]
    struct Busy {
        calls: AtomicU32,
        refusals: u32,
        wait: Option<Duration>,
    }

    #[async_trait]
    impl DynamoApi for Busy {
        async fn call(&self, _: &'static str, _: Bytes) -> groundstate_blobs::Result<DynamoReply> {
            let body = r#"{"__type": "x#ThrottlingException"}"#;
            Ok(match self.calls.fetch_add(1, Ordering::SeqCst) < self.refusals {
                true => DynamoReply::new(400, body.into()).retry_after(self.wait),
                false => DynamoReply::new(200, "{}".into()),
            })
        }
    }

    async fn read(refusals: u32, wait: Option<Duration>) -> (bool, u32, Duration) {
        let api = Arc::new(Busy { calls: AtomicU32::new(0), refusals, wait });
        let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
        let table = DynamoTable::new(Arc::<Busy>::clone(&api), "locks", Arc::<FixedClock>::clone(&clock));
        let is_read = table.get(Op::Read, "k", "Info").await.is_ok();
        let waited = clock.now().duration_since(Timestamp::UNIX_EPOCH).unwrap_or_default();
        (is_read, api.calls.load(Ordering::SeqCst), waited)
    }

    #[tokio::test]
    async fn waits_as_long_as_the_service_asks_for() {
        let seconds = |n| Some(Duration::from_secs(n));
        assert_eq!(read(1, seconds(7)).await, (true, 2, Duration::from_secs(7)));
        assert_eq!(read(2, None).await, (true, 3, Duration::from_millis(300)));
    }

    #[tokio::test]
    async fn gives_up_when_the_service_asks_for_too_long_a_wait() {
        assert_eq!(read(1, Some(Duration::from_secs(3600))).await, (false, 1, Duration::ZERO));
    }
}
