//! The operations of the API.

use serde_json::{Map, Value, json};

use super::condition::{holds, resolve};
use super::tables::{Table, Tables};

/// An exception of the API.
#[derive(Debug)]
pub(super) struct Refused {
    name: &'static str,
    pub(super) message: String,
    /// The item on which a condition did not hold, where the request asks for it.
    pub(super) item: Option<Value>,
}

impl Refused {
    pub(super) fn kind(&self) -> String {
        let space = match self.name {
            "ValidationException" => "com.amazon.coral.validate#",
            _ => "com.amazonaws.dynamodb.v20120810#",
        };
        format!("{space}{}", self.name)
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self { name: "ValidationException", message: message.into(), item: None }
    }

    fn no_table() -> Self {
        let message = "Requested resource not found".to_owned();
        Self { name: "ResourceNotFoundException", message, item: None }
    }
}

type Result<T> = std::result::Result<T, Refused>;

pub(super) fn run(tables: &mut Tables, operation: &str, input: &Value) -> Result<Value> {
    if operation == "ListTables" {
        return Ok(json!({ "TableNames": tables.names() }));
    }
    let name = input["TableName"].as_str().ok_or_else(|| Refused::invalid("TableName is missing"))?;
    if operation == "CreateTable" {
        let key = input["KeySchema"][0]["AttributeName"].as_str();
        tables.create(name, key.ok_or_else(|| Refused::invalid("KeySchema is missing"))?);
    }
    let table = tables.get(name).ok_or_else(Refused::no_table)?;
    match operation {
        "CreateTable" => Ok(json!({ "TableDescription": describe(name, table) })),
        "DescribeTable" => Ok(json!({ "Table": describe(name, table) })),
        "GetItem" => get(table, input),
        "PutItem" => put(table, input),
        "DeleteItem" => delete(table, input),
        "Scan" => Ok(scan(table)),
        "DeleteTable" => {
            let description = describe(name, table);
            tables.delete(name);
            Ok(json!({ "TableDescription": description }))
        }
        _ => Err(Refused { name: "UnknownOperationException", message: operation.to_owned(), item: None }),
    }
}

fn describe(name: &str, table: &Table) -> Value {
    json!({
        "TableName": name,
        "TableStatus": "ACTIVE",
        "TableArn": format!("arn:aws:dynamodb:us-east-1:123456789012:table/{name}"),
        "KeySchema": [{ "AttributeName": table.key, "KeyType": "HASH" }],
        "AttributeDefinitions": [{ "AttributeName": table.key, "AttributeType": "S" }],
        "ItemCount": table.items.len(),
        "TableSizeBytes": 0,
    })
}

/// The text of the key in a map of attributes.
fn key_of(table: &Table, attributes: &Value) -> Result<String> {
    let key = attributes[&table.key]["S"].as_str();
    key.filter(|key| !key.is_empty()).map(str::to_owned).ok_or_else(|| {
        Refused::invalid(format!("One of the required keys was not given a value: {}", table.key))
    })
}

fn get(table: &Table, input: &Value) -> Result<Value> {
    let Some(item) = table.items.get(&key_of(table, &input["Key"])?) else { return Ok(json!({})) };
    let Some(projection) = input["ProjectionExpression"].as_str() else { return Ok(json!({ "Item": item })) };
    let names: Vec<String> = projection.split(',').map(|name| resolve(name.trim(), input)).collect();
    let part: Map<String, Value> = item
        .iter()
        .filter(|(name, _)| names.contains(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    Ok(json!({ "Item": part }))
}

fn put(table: &mut Table, input: &Value) -> Result<Value> {
    let key = key_of(table, &input["Item"])?;
    let item = input["Item"].as_object().cloned().unwrap_or_default();
    check(table, &key, input)?;
    let old = table.items.insert(key, item);
    Ok(returned(old, input))
}

fn delete(table: &mut Table, input: &Value) -> Result<Value> {
    let key = key_of(table, &input["Key"])?;
    check(table, &key, input)?;
    let old = table.items.remove(&key);
    Ok(returned(old, input))
}

fn scan(table: &Table) -> Value {
    let items: Vec<&Map<String, Value>> = table.items.values().collect();
    json!({ "Count": items.len(), "ScannedCount": items.len(), "Items": items })
}

/// Refuses when the condition of a write does not hold for the item that is there.
fn check(table: &Table, key: &str, input: &Value) -> Result<()> {
    let Some(condition) = input["ConditionExpression"].as_str() else { return Ok(()) };
    let current = table.items.get(key);
    if holds(condition, current, input)? {
        return Ok(());
    }
    let wanted = input["ReturnValuesOnConditionCheckFailure"] == "ALL_OLD";
    Err(Refused {
        name: "ConditionalCheckFailedException",
        message: "The conditional request failed".to_owned(),
        item: current.filter(|_| wanted).cloned().map(Value::Object),
    })
}

fn returned(old: Option<Map<String, Value>>, input: &Value) -> Value {
    match old {
        Some(old) if input["ReturnValues"] == "ALL_OLD" => json!({ "Attributes": old }),
        _ => json!({}),
    }
}
