//! The JSON Schemas in `docs/schemas`, and `docs/json.md`, which is made from them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Value, json};

use super::support::workspace;

/// The shared parts, which the others refer to.
const COMMON: &str = "common";

/// All schemas by name, and what the documents so far had of their members.
pub(crate) struct Schemas {
    by_name: BTreeMap<String, Value>,
    common: Value,
    pub(crate) seen: BTreeSet<String>,
}

impl Schemas {
    pub(crate) fn read() -> Self {
        let folder = workspace().join("docs/schemas");
        let mut by_name = BTreeMap::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            by_name.insert(name, serde_json::from_str(&text).unwrap());
        }
        let common = by_name.remove(COMMON).unwrap();
        Self { by_name, common, seen: BTreeSet::new() }
    }

    /// The names of the schemas of a command.
    pub(crate) fn of(&self, command: &str) -> Vec<String> {
        let is_of = |schema: &&Value| schema["x-commands"].as_array().unwrap().contains(&json!(command));
        self.by_name.iter().filter(|(_, schema)| is_of(schema)).map(|(name, _)| name.clone()).collect()
    }

    /// All commands that have a schema.
    pub(crate) fn commands(&self) -> BTreeSet<String> {
        let names = self.by_name.values().flat_map(|schema| schema["x-commands"].as_array().unwrap());
        names.map(|name| name.as_str().unwrap().to_owned()).collect()
    }

    /// Validates a document by one of these schemas, and lets no member pass that it does not name.
    pub(crate) fn validate(&mut self, names: &[String], document: &str) -> Result<(), String> {
        let value: Value = serde_json::from_str(document).map_err(|error| format!("{error}: {document}"))?;
        if !document.starts_with("{\"format_version\":\"1.0\"") {
            return Err(format!("it does not begin with its version: {document}"));
        }
        let mut errors = Vec::new();
        for name in names {
            let strict = self.strict(name);
            let validator = jsonschema::draft202012::new(&strict).map_err(|error| error.to_string())?;
            let found: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
            if found.is_empty() {
                let mut seen = BTreeSet::new();
                self.walk(&self.by_name[name], name, &value, &mut seen);
                self.seen.extend(seen);
                return Ok(());
            }
            errors.push(format!("{name}: {}", found.join("; ")));
        }
        Err(format!("{}\n{document}", errors.join("\n")))
    }

    /// The schema with the shared parts inside it, and without room for other members.
    fn strict(&self, name: &str) -> Value {
        let mut schema = self.by_name[name].clone();
        schema["$defs"] = self.common["$defs"].clone();
        close(&mut schema);
        schema
    }

    /// What a schema refers to, and where that is.
    fn target<'s>(&'s self, schema: &'s Value, at: &str) -> (&'s Value, String) {
        match schema["$ref"].as_str() {
            Some(reference) => {
                let name = reference.strip_prefix("common.json#/$defs/").expect("a shared part");
                (&self.common["$defs"][name], format!("{COMMON}.{name}"))
            }
            None => (schema, at.to_owned()),
        }
    }

    /// Notes the members that a document has.
    fn walk(&self, schema: &Value, at: &str, value: &Value, seen: &mut BTreeSet<String>) {
        let (schema, at) = self.target(schema, at);
        if let (Some(members), Some(value)) = (schema["properties"].as_object(), value.as_object()) {
            for (name, inner) in members {
                if let Some(value) = value.get(name) {
                    let at = format!("{at}.{name}");
                    self.walk(inner, &at, value, seen);
                    seen.insert(at);
                }
            }
        }
        for item in value.as_array().into_iter().flatten() {
            self.walk(&schema["items"], &format!("{at}[]"), item, seen);
        }
    }

    /// All members of all schemas.
    pub(crate) fn members(&self) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        let own = self.by_name.iter().map(|(name, schema)| (name.clone(), schema));
        let shared = self.common["$defs"].as_object().unwrap().iter();
        for (at, schema) in own.chain(shared.map(|(name, schema)| (format!("{COMMON}.{name}"), schema))) {
            collect(schema, &at, &mut all);
        }
        all
    }

    /// The part of the page that is made from the schemas.
    fn page(&self) -> String {
        let mut text = String::new();
        for (name, schema) in &self.by_name {
            let commands = schema["x-commands"].as_array().unwrap();
            let commands: Vec<String> =
                commands.iter().map(|name| format!("`{}`", name.as_str().unwrap())).collect();
            let of =
                if commands.is_empty() { String::new() } else { format!(" Of {}.", commands.join(", ")) };
            let description = schema["description"].as_str().unwrap();
            text.push_str(&format!(
                "### `{name}`: {}\n\n{description}{of} Schema: [{name}.json](schemas/{name}.json).\n\n",
                schema["title"].as_str().unwrap()
            ));
            text.push_str("| member | type | what it is |\n| --- | --- | --- |\n");
            self.rows(schema, "", &mut text);
            text.push('\n');
        }
        text
    }

    /// A line for each member; what is inside comes after it.
    fn rows(&self, schema: &Value, path: &str, text: &mut String) {
        let (schema, _) = self.target(schema, "");
        for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}{name}");
            let description = inner["description"].as_str().unwrap_or_else(|| panic!("{path}"));
            let is_required = schema["required"].as_array().is_some_and(|all| all.contains(&json!(name)));
            assert!(
                is_required != description.contains("Absent"),
                "{path} says when it is absent if it can be: {description}"
            );
            let (target, _) = self.target(inner, "");
            let kind = kind(target);
            let values = target["enum"].as_array().into_iter().flatten().map(|value| format!("`{value}`"));
            let values: Vec<String> = values.map(|value| value.replace('"', "")).collect();
            let values =
                if values.is_empty() { String::new() } else { format!(" One of {}.", values.join(", ")) };
            text.push_str(&format!("| `{path}` | {kind} | {description}{values} |\n"));
            self.rows(inner, &format!("{path}."), text);
            if let Some(items) = target.get("items") {
                self.rows(items, &format!("{path}[]."), text);
            }
        }
    }
}

/// The type of a member in words.
fn kind(schema: &Value) -> &'static str {
    match (schema["type"].as_str(), schema.get("const"), schema.get("enum")) {
        (Some("string"), ..) => "string",
        (Some("integer"), ..) => "integer",
        (Some("boolean"), ..) => "boolean",
        (Some("array"), ..) => "array",
        (Some("object"), ..) => "object",
        (None, Some(Value::Bool(true)), _) => "`true`",
        (None, Some(_), _) | (None, _, Some(_)) => "string",
        _ => "any",
    }
}

fn collect(schema: &Value, at: &str, all: &mut BTreeSet<String>) {
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        let at = format!("{at}.{name}");
        collect(inner, &at, all);
        all.insert(at);
    }
    if let Some(items) = schema.get("items") {
        collect(items, &format!("{at}[]"), all);
    }
}

/// Closes objects whose members are known, and points to shared parts inside.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get_mut("$ref") {
                *reference = reference.replace("common.json#", "#");
            }
            if members.get("properties").is_some_and(Value::is_object)
                && members.get("type") == Some(&json!("object"))
            {
                members.insert("additionalProperties".to_owned(), json!(false));
            }
            members.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

#[test]
fn the_page_describes_every_member_of_every_schema() {
    let (begin, end) = ("<!-- schemas: begin -->\n", "<!-- schemas: end -->\n");
    let path = workspace().join("docs/json.md");
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(begin).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    let expected = format!("{before}{begin}\n{}{end}{after}", Schemas::read().page());
    if std::env::var_os("GROUNDSTATE_UPDATE_DOCS").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    assert!(text == expected, "docs/json.md is out of date: run this test with GROUNDSTATE_UPDATE_DOCS=1");
}

#[test]
fn a_member_that_no_schema_names_is_refused() {
    let mut schemas = Schemas::read();
    let history = ["history".to_owned()];
    let document = |members: &str| format!("{{\"format_version\":\"1.0\"{members}}}");
    let good =
        document(r#","state":"s","snapshots":[{"id":"a","stored_at":"2026-01-01T00:00:00Z","bytes":1}]"#);
    assert_eq!(schemas.validate(&history, &good), Ok(()));
    for (from, to) in [
        ("\"bytes\":1", "\"bytes\":1,\"more\":1"),
        ("\"bytes\":1", "\"bytes\":\"1\""),
        ("\"state\":\"s\",", ""),
        ("\"state\":\"s\",", "\"state\":\"s\",\"more\":[],"),
        ("\"format_version\":\"1.0\",", ""),
    ] {
        assert!(schemas.validate(&history, &good.replace(from, to)).is_err(), "{to}");
    }
    let holder = document(r#","locks":[{"state":"s","locked":true,"holder":{"id":"i"}}]"#);
    assert!(schemas.validate(&["locks".to_owned()], &holder).is_err(), "shared parts are looked at");
}
