//! The description of the API: every route is in it, and answers as it says.

use std::collections::BTreeSet;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::support::{Client, Server, lock_document, state};

/// A request for every operation of the API: what is called, and its body.
const CALLS: [(&str, &str, &str); 20] = [
    ("get", "/api/v1/projects", ""),
    ("get", "/api/v1/states", ""),
    ("get", "/api/v1/locks", ""),
    ("get", "/api/v1/states/{project}/{state}/{workspace}", ""),
    ("get", "/api/v1/states/{project}/{state}/{workspace}/resources", ""),
    ("get", "/api/v1/states/{project}/{state}/{workspace}/resource", ""),
    ("get", "/api/v1/states/{project}/{state}/{workspace}/outputs", ""),
    ("get", "/api/v1/states/{project}/{state}/{workspace}/outputs/{name}", ""),
    ("get", "/api/v1/states/{project}/{state}/{workspace}/versions", ""),
    ("get", "/api/v1/states/{project}/{state}/{workspace}/versions/{number}", ""),
    ("get", "/api/v1/states/{project}/{state}/{workspace}/versions/{number}/content", ""),
    ("put", "/api/v1/states/{project}/{state}/{workspace}/versions/{number}/pin", ""),
    ("delete", "/api/v1/states/{project}/{state}/{workspace}/versions/{number}/pin", ""),
    ("get", "/api/v1/states/{project}/{state}/{workspace}/diff", ""),
    ("get", "/api/v1/states/{project}/{state}/{workspace}/graph.svg", ""),
    ("get", "/api/v1/states/{project}/{state}/{workspace}/lock", ""),
    ("post", "/api/v1/states/{project}/{state}/{workspace}/lock/break", r#"{"reason": "test"}"#),
    ("post", "/api/v1/states/{project}/{state}/{workspace}/rollback", r#"{"version": 1}"#),
    ("delete", "/api/v1/states/{project}/{state}/{workspace}", ""),
    ("get", "/api/v1/states/{project}/{state}/{workspace}/lock", ""),
];

async fn description(client: &Client) -> Value {
    client.get("/api/v1/openapi.json").await.is(200).json()
}

fn operations(description: &Value) -> BTreeSet<(String, String)> {
    let paths = description["paths"].as_object().unwrap();
    let of = |(path, item): (&String, &Value)| {
        let methods: Vec<String> = item.as_object().unwrap().keys().cloned().collect();
        methods.into_iter().map(|method| (method, path.clone())).collect::<Vec<_>>()
    };
    paths.iter().flat_map(of).collect()
}

/// A schema that stands somewhere in the description. Objects are closed, so that no member is left out of it.
fn validator(description: &Value, schema: &Value) -> Validator {
    let mut components = description["components"]["schemas"].clone();
    for schema in components.as_object_mut().unwrap().values_mut() {
        if schema["type"] == "object" && schema.get("properties").is_some() {
            schema["additionalProperties"] = json!(false);
        }
    }
    let mut whole = schema.clone();
    whole["components"] = json!({ "schemas": components });
    jsonschema::draft202012::new(&whole).unwrap()
}

#[tokio::test]
async fn every_operation_of_the_api_answers_as_it_is_described() {
    let client = Server::new().admin();
    let resource = r#""resources": [{"mode": "managed", "type": "a", "name": "b", "provider": "provider[\"acme/x\"]",
        "instances": [{"schema_version": 0, "attributes": {"id": "1"}, "private": "eA=="}]}]"#;
    for serial in 1..3 {
        client.post("", state(serial).replace(r#""resources": []"#, resource)).await.is(200);
    }
    client.lock("a").await.is(200);
    let description = description(&client).await;
    assert_eq!(description["openapi"], "3.1.0");
    let described: BTreeSet<(String, String)> =
        operations(&description).into_iter().filter(|(_, path)| path.starts_with("/api/")).collect();
    let called: BTreeSet<(String, String)> =
        CALLS.iter().map(|(method, path, _)| ((*method).to_owned(), (*path).to_owned())).collect();
    assert_eq!(described, called, "each operation is called here");
    for (method, path, body) in CALLS {
        let url = path.replace("{project}/{state}/{workspace}", "shop/network/default");
        let url = url.replace("{name}", "region").replace("{number}", "1");
        let query = if url.ends_with("/resource") { "?address=a.b" } else { "" };
        let url = format!("{url}{query}");
        let answer = client.call(&method.to_uppercase(), &url, body).await;
        let status = answer.status.as_u16().to_string();
        let response = &description["paths"][path][method]["responses"][&status];
        assert!(response.is_object(), "{method} {url}: {status} is not described: {}", answer.text());
        if answer.body.is_empty() {
            assert!(response.get("content").is_none(), "{method} {url}");
            continue;
        }
        let content = &response["content"][answer.header("content-type")];
        assert!(content.is_object(), "{method} {url}: {} is not described", answer.header("content-type"));
        if answer.header("content-type").ends_with("json") {
            let validator = validator(&description, &content["schema"]);
            let errors: Vec<String> =
                validator.iter_errors(&answer.json()).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{method} {url}: {errors:?} in {}", answer.text());
        }
    }
}

#[tokio::test]
async fn problems_are_described_and_have_the_form_that_is_described() {
    let client = Server::new().admin();
    let description = description(&client).await;
    let validator = validator(&description, &json!({"$ref": "#/components/schemas/Problem"}));
    let answer = client.get("/api/v1/states/shop/network/default").await.is(404);
    assert!(validator.is_valid(&answer.json()), "{}", answer.text());
}

#[tokio::test]
async fn the_operations_of_the_protocol_that_the_format_knows_answer_as_they_are_described() {
    let server = Server::new();
    let client = server.admin();
    let description = description(&client).await;
    let mut seen = 0;
    for (method, path) in operations(&description).into_iter().filter(|(_, path)| path.starts_with("/tf/")) {
        let url = path.replace("{project}/{state}", "shop/described").replace("{workspace}", "dev");
        let body = if path.ends_with("/lock") { lock_document("a") } else { state(1) };
        let query = if path.ends_with("/lock") { "" } else { "?ID=a" };
        client.call("LOCK", url.trim_end_matches("/lock"), lock_document("a")).await.is(200);
        let answer = client.call(&method.to_uppercase(), &format!("{url}{query}"), body).await;
        let status = answer.status.as_u16().to_string();
        let responses = &description["paths"][&path][&method]["responses"];
        assert!(responses[&status].is_object(), "{method} {url}: {status}");
        assert!(answer.status.is_success() || status == "404", "{method} {url}: {}", answer.text());
        seen += 1;
    }
    assert_eq!(seen, 12);
}
