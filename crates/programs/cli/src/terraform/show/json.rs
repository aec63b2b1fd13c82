//! `show --json`: the document that `terraform show -json` prints, as far as it needs no schemas.

use std::collections::BTreeMap;

use groundstate_json::Tape;
use groundstate_statefile::{Dialect, type_json, value_json};
use groundstate_states::addr::ModuleInstance;
use groundstate_states::{Generation, ObjectStatus, OutputValue};

use super::checks;
use super::view::{Shown, View, attributes, marks};
use crate::input::threads::threads;
use crate::report::error::{Failure, Kind, Result};
use crate::report::json::Json;
use groundstate_values::{Marks, concrete, sensitive_values, values};

/// The version of the document's form.
pub(super) const FORMAT: &str = "1.0";

/// Modules in modules, at most; the document nests as deep as they do.
const MAX_MODULES: usize = 200;

/// Resources that a thread writes at a time.
const RESOURCES: usize = 64;

/// A module of the document. One that has nothing of its own still holds its children.
#[derive(Debug, Default)]
struct Node<'f> {
    address: String,
    objects: Vec<Shown<'f>>,
    children: BTreeMap<String, Self>,
}

/// Writes the document.
pub(super) fn document(view: &View<'_>) -> Result<String> {
    let state = &view.file.state;
    let root = tree(view)?;
    Ok(Json::object(|json| {
        json.text("format_version", FORMAT);
        if state.is_empty() {
            return;
        }
        if let Some(version) = &view.file.terraform_version {
            json.text("terraform_version", &version.semver().to_string());
        }
        let whole = view.target.is_none();
        json.inner("values", |json| {
            if whole && !state.outputs().is_empty() {
                json.inner("outputs", |json| {
                    state.outputs().iter().for_each(|(name, value)| output(json, name, value, view.reveal));
                });
            }
            json.inner("root_module", |json| module(json, &root, view, threads()));
        });
        if let Some(results) =
            state.check_results.as_ref().filter(|results| whole && !results.aggregates.is_empty())
        {
            checks::write(json, results);
        }
    }))
}

fn tree<'f>(view: &View<'f>) -> Result<Node<'f>> {
    let mut root = Node::default();
    // A module whose resources have no instances holds nothing, and is still in the document.
    for module in view.modules() {
        root.descendant(module)?;
    }
    for shown in view.objects() {
        root.descendant(&shown.address.resource.module)?.objects.push(shown);
    }
    Ok(root)
}

impl Node<'_> {
    /// The node of a module, which is made if there is none yet.
    fn descendant(&mut self, module: &ModuleInstance) -> Result<&mut Self> {
        if module.steps().len() > MAX_MODULES {
            let message =
                format!("{module} lies in more than {MAX_MODULES} modules, which is too deep to show");
            return Err(Failure::new(Kind::Unusable, message));
        }
        let mut node = self;
        for depth in 1..=module.steps().len() {
            let address: ModuleInstance = module.steps().iter().take(depth).cloned().collect();
            let address = address.to_string();
            node = node.children.entry(address.clone()).or_default();
            node.address = address;
        }
        Ok(node)
    }
}

fn output(json: &mut Json, name: &str, output: &OutputValue, reveal: bool) {
    json.inner(name, |json| {
        json.raw("sensitive", output.sensitive);
        if let Some(message) = &output.deprecated {
            json.text("deprecated", message);
        }
        let text = value_json(output).filter(|_| reveal || !output.sensitive);
        json.raw(
            "value",
            text.map_or_else(|| "null".into(), |text| values(&Tape::new(&text), &Marks::default())),
        );
        json.raw("type", type_json(&concrete(&output.value_type, &output.value)));
    });
}

fn module(json: &mut Json, node: &Node<'_>, view: &View<'_>, threads: usize) {
    if !node.objects.is_empty() {
        json.many_objects("resources", &node.objects, RESOURCES, threads, |json, shown| {
            resource(json, shown, view)
        });
    }
    if !node.address.is_empty() {
        json.text("address", &node.address);
    }
    if !node.children.is_empty() {
        let children: Vec<_> = node.children.values().collect();
        // Threads share the modules of the level that has enough of them.
        let (threads, below) = if children.len() < threads { (1, threads) } else { (threads, 1) };
        json.many_objects("child_modules", &children, 1, threads, |json, child| {
            module(json, child, view, below)
        });
    }
}

fn resource(json: &mut Json, shown: &Shown<'_>, view: &View<'_>) {
    let Shown { address, object, .. } = shown;
    let (reveal, dialect) = (view.reveal, view.file.dialect);
    let name = &address.resource.resource;
    json.text("address", &address.to_string());
    json.text("mode", checks::mode(name.mode));
    json.text("type", &name.type_name);
    json.text("name", &name.name);
    checks::key(json, "index", &address.key);
    json.text("provider_name", &shown.resource.provider.source.to_string());
    json.raw("schema_version", object.schema_version);
    let text = attributes(object);
    let tape = Tape::new(&text);
    let marks = marks(object, &tape);
    if text != "null" {
        json.raw("values", values(&tape, if reveal { Marks::NONE } else { &marks }));
    }
    json.raw("sensitive_values", sensitive_values(&tape, &marks));
    if !object.dependencies.is_empty() {
        json.texts("depends_on", object.dependencies.iter().map(ToString::to_string));
    }
    if object.status == ObjectStatus::Tainted {
        json.raw("tainted", true);
    }
    if object.skip_destroy {
        json.raw("skip_destroy", true);
    }
    if let Generation::Deposed(key) = shown.generation {
        json.text("deposed_key", key.as_str());
    }
    if let Some(identity) = &object.identity {
        let version = object.identity_schema_version;
        match dialect {
            Dialect::Terraform => {
                json.raw("identity_schema_version", version.unwrap_or(0));
                json.raw("identity", identity.as_str());
            }
            Dialect::OpenTofu => {
                json.raw("identity", identity.as_str());
                version.iter().for_each(|version| json.raw("identity_schema_version", *version));
            }
        }
    }
}
