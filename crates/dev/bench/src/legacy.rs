//! Format 3, with flat attributes.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::json::{Json, line, list, object};
use crate::outputs;
use crate::plan::{Key, Plan, Planned};
use crate::recipe::Recipe;
use crate::rng::Rng;

const INDENT: usize = 4;
/// Attributes that are sets: the index of an element is a hash of it.
const SETS: [&str; 4] = ["ingress", "egress", "records", "firewall_ids"];

pub(crate) fn write<W: Write>(recipe: Recipe, out: &mut W) -> io::Result<()> {
    let plan = &Plan::new(recipe.seed, recipe.instances, false);
    let serial = 40 + recipe.seed;
    let lineage = Rng::new(recipe.seed, "lineage of format 3").uuid();
    write!(
        out,
        "{{\n    \"version\": 3,\n    \"terraform_version\": \"0.11.11\",\n    \"serial\": {serial},"
    )?;
    write!(out, "\n    \"lineage\": \"{lineage}\",\n    \"modules\": [")?;
    let mut contents: Vec<Vec<&Planned>> = plan.modules.iter().map(|_| Vec::new()).collect();
    for resource in &plan.resources {
        contents[resource.module.0].push(resource);
    }
    // Ordered by depth, then by path.
    let mut order: Vec<usize> = (0..plan.modules.len()).collect();
    order.sort_by_key(|at| (plan.modules[*at].names.len(), &plan.modules[*at].names));
    for (position, at) in order.into_iter().enumerate() {
        out.write_all(if position == 0 { b"" } else { b"," })?;
        line(out, INDENT * 2)?;
        module(plan, at, &contents[at], recipe.seed).write(out, INDENT, 2)?;
    }
    out.write_all(b"\n    ]\n}\n")
}

fn module(plan: &Plan, at: usize, resources: &[&Planned], seed: u64) -> Json {
    let path = ["root".to_owned()].into_iter().chain(plan.modules[at].names.iter().cloned());
    let outputs = if at == 0 { outputs_of(seed) } else { object([]) };
    let mut entries = BTreeMap::new();
    for resource in resources {
        for key in &resource.keys {
            let (address, entry) = entry(at, resource, key, seed);
            entries.insert(address, entry);
        }
    }
    object([
        ("path", list(path)),
        ("outputs", outputs),
        ("resources", Json::Object(entries.into_iter().collect())),
        ("depends_on", list([false; 0])),
    ])
}

/// Outputs of this format are strings, lists and maps; others were converted to strings.
fn outputs_of(seed: u64) -> Json {
    let output = |output: outputs::Output| {
        let (kind, value) = match (&output.value_type, output.value) {
            (Json::List(parts), value) if parts[0] == "map".into() => ("map", value),
            (Json::List(parts), value) if parts[0] == "list".into() => ("list", value),
            (Json::List(_), _) => return None,
            (_, Json::Text(text)) => ("string", text.into()),
            (_, other) => ("string", other.compact().into()),
        };
        let members = [("sensitive", output.sensitive.into()), ("type", kind.into()), ("value", value)];
        Some((output.name, object(members)))
    };
    Json::Object(outputs::typed(seed).into_iter().filter_map(output).collect())
}

/// An instance under its address inside the module.
fn entry(module: usize, resource: &Planned, key: &Key, seed: u64) -> (String, Json) {
    let Planned { kind, name, .. } = resource;
    let prefix = if kind.data { "data." } else { "" };
    let address = match key {
        Key::Number(number) => format!("{prefix}{}.{name}.{number}", kind.type_name),
        Key::None | Key::Text(_) => format!("{prefix}{}.{name}", kind.type_name),
    };
    let mut rng = Rng::new(seed, &format!("{module} {address}"));
    let label = format!("{}-{}", name.replace('_', "-"), rng.hex(6));
    let mut flat = BTreeMap::new();
    flatten(&kind.attributes(&mut rng, &label), "", &mut flat);
    let tainted = !kind.data && rng.chance(4);
    let deposed = !kind.data && rng.chance(3);
    let instance = |tainted: bool| {
        let version = kind.schema_version;
        let meta =
            if version > 0 { object([("schema_version", version.to_string().into())]) } else { object([]) };
        let attributes = flat.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        let id = flat.get("id").map_or("", String::as_str);
        object([
            ("id", id.into()),
            ("attributes", Json::Object(attributes)),
            ("meta", meta),
            ("tainted", tainted.into()),
        ])
    };
    // Format 3 knows dependencies inside a module only.
    let inside = resource.dependencies.iter().filter(|(other, _)| *other == module);
    let mut depends_on: Vec<String> = inside.map(|(_, local)| local.clone()).collect();
    depends_on.sort();
    let alias = if resource.alias { ".west" } else { "" };
    let entry = object([
        ("type", kind.type_name.into()),
        ("depends_on", list(depends_on)),
        ("primary", instance(tainted)),
        ("deposed", if deposed { list([instance(false)]) } else { list([false; 0]) }),
        ("provider", format!("provider.{}{alias}", kind.local_provider()).into()),
    ]);
    (address, entry)
}

/// Spreads a value over keys with dots; null leaves no trace.
fn flatten(value: &Json, name: &str, out: &mut BTreeMap<String, String>) {
    match value {
        Json::Null => {}
        Json::Bool(_) | Json::Number(_) => drop(out.insert(name.to_owned(), value.compact())),
        Json::Text(text) => drop(out.insert(name.to_owned(), text.clone())),
        Json::List(items) => {
            out.insert(format!("{name}.#"), items.len().to_string());
            for (at, item) in items.iter().enumerate() {
                let index =
                    if SETS.contains(&name) { Rng::new(0, &item.compact()).next() >> 32 } else { at as u64 };
                flatten(item, &format!("{name}.{index}"), out);
            }
        }
        Json::Object(members) => {
            // Blocks are lists of objects, whose members are counted nowhere; maps are counted.
            let is_block = name.rsplit('.').next().is_none_or(|last| last.parse::<u64>().is_ok());
            if !is_block && !name.is_empty() {
                out.insert(format!("{name}.%"), members.len().to_string());
            }
            for (member, value) in members {
                let name = if name.is_empty() { member.clone() } else { format!("{name}.{member}") };
                flatten(value, &name, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::flatten;
    use crate::json::{Json, list, object};

    #[test]
    fn values_are_spread_over_keys_as_old_releases_did() {
        let block = object([("port", 1_usize.into()), ("none", Json::Null)]);
        let value = object([
            ("id", "x".into()),
            ("list", list(["a", "b"])),
            ("map", object([("k.l", true.into())])),
            ("rule", list([block])),
        ]);
        let mut flat = BTreeMap::new();
        flatten(&value, "", &mut flat);
        let flat: Vec<String> = flat.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        let expected = [
            "id=x",
            "list.#=2",
            "list.0=a",
            "list.1=b",
            "map.%=1",
            "map.k.l=true",
            "rule.#=1",
            "rule.0.port=1",
        ];
        assert_eq!(flat, expected);
    }
}
