//! The tables of a server.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// All tables by their names.
#[derive(Default)]
pub(crate) struct Tables(BTreeMap<String, Table>);

/// A table whose key is one attribute of type string.
pub(super) struct Table {
    pub(super) key: String,
    pub(super) items: BTreeMap<String, Map<String, Value>>,
}

impl Tables {
    pub(crate) fn create(&mut self, name: &str, key: &str) {
        let new = || Table { key: key.to_owned(), items: BTreeMap::new() };
        self.0.entry(name.to_owned()).or_insert_with(new);
    }

    pub(super) fn get(&mut self, name: &str) -> Option<&mut Table> {
        self.0.get_mut(name)
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    pub(super) fn delete(&mut self, name: &str) -> bool {
        self.0.remove(name).is_some()
    }

    pub(crate) fn item(&self, table: &str, key: &str) -> Option<Value> {
        self.0.get(table)?.items.get(key).cloned().map(Value::Object)
    }

    pub(crate) fn keys(&self, table: &str) -> Vec<String> {
        self.0.get(table).map_or_else(Vec::new, |table| table.items.keys().cloned().collect())
    }

    pub(crate) fn place(&mut self, table: &str, key: &str, attributes: &[(&str, &str)]) {
        self.create(table, "LockID");
        let Some(table) = self.0.get_mut(table) else { return };
        let all = attributes.iter().copied().chain([(table.key.as_str(), key)]);
        let item = all.map(|(name, text)| (name.to_owned(), json!({ "S": text }))).collect();
        table.items.insert(key.to_owned(), item);
    }

    pub(crate) fn take(&mut self, table: &str, key: &str) -> bool {
        self.0.get_mut(table).is_some_and(|table| table.items.remove(key).is_some())
    }
}
