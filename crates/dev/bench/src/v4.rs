//! Format 4.

use std::io::{self, Write};

use crate::json::{Json, line, list, object};
use crate::outputs::Output;
use crate::plan::{Key, Plan, Planned};
use crate::recipe::{Format, Recipe};
use crate::rng::Rng;
use crate::text::{REGIONS, encode_base64};

const INDENT: usize = 2;

pub(crate) fn write<W: Write>(recipe: Recipe, format: Format, out: &mut W) -> io::Result<()> {
    let plan = &Plan::new(recipe.seed, recipe.instances, true);
    let writer = if format == Format::OpenTofu { "1.12.0" } else { "1.11.4" };
    let serial = 40 + recipe.seed;
    let lineage = Rng::new(recipe.seed, "lineage").uuid();
    write!(out, "{{\n  \"version\": 4,\n  \"terraform_version\": \"{writer}\",\n  \"serial\": {serial},")?;
    write!(out, "\n  \"lineage\": \"{lineage}\",\n  \"outputs\": ")?;
    outputs(recipe.seed, format).write(out, INDENT, 1)?;
    out.write_all(b",\n  \"resources\": [")?;
    for (at, resource) in in_file_order(plan).into_iter().enumerate() {
        out.write_all(if at == 0 { b"" } else { b"," })?;
        line(out, INDENT * 2)?;
        Subject { plan, resource, seed: recipe.seed, format }.to_json().write(out, INDENT, 2)?;
    }
    out.write_all(if plan.resources.is_empty() { b"" } else { b"\n  " })?;
    out.write_all(b"],\n  \"check_results\": ")?;
    check_results().write(out, INDENT, 1)?;
    out.write_all(b"\n}\n")
}

/// Sorted by the printed module, then mode, type and name.
fn in_file_order(plan: &Plan) -> Vec<&Planned> {
    let mut resources: Vec<&Planned> = plan.resources.iter().collect();
    resources.sort_by(|a, b| {
        let key = |r: &Planned| (r.kind.mode(), r.kind.type_name);
        plan.module_of(a).cmp(plan.module_of(b)).then(key(a).cmp(&key(b))).then_with(|| a.name.cmp(&b.name))
    });
    resources
}

fn outputs(seed: u64, format: Format) -> Json {
    let outputs = crate::outputs::typed(seed).into_iter().enumerate().map(|(at, output)| {
        let Output { name, value_type, value, sensitive } = output;
        let mut members = vec![("value", value), ("type", value_type)];
        if sensitive {
            members.push(("sensitive", true.into()));
        }
        if format == Format::OpenTofu && at % 10 == 3 {
            members.push(("deprecated", "Read another output.".into()));
        }
        (name, Json::members(members))
    });
    Json::Object(outputs.collect())
}

/// One result of one object only: Terraform writes several in random order, and then no file of it equals another.
fn check_results() -> Json {
    let result = object([
        ("object_addr", "check.reachable".into()),
        ("status", "fail".into()),
        ("failure_messages", list(["expected <200> & got 503: größe ≠ null"])),
    ]);
    list([object([
        ("object_kind", "check".into()),
        ("config_addr", "check.reachable".into()),
        ("status", "fail".into()),
        ("objects", list([result])),
    ])])
}

/// A resource that is being written.
struct Subject<'p> {
    plan: &'p Plan,
    resource: &'p Planned,
    seed: u64,
    format: Format,
}

impl Subject<'_> {
    fn to_json(&self) -> Json {
        let Planned { kind, name, keys, alias, .. } = self.resource;
        let module = self.plan.module_of(self.resource);
        let opentofu = self.format == Format::OpenTofu;
        let registry = if opentofu { "registry.opentofu.org" } else { "registry.terraform.io" };
        let alias_name = if *alias { ".west" } else { "" };
        let provider = format!("provider[\"{registry}/{}\"]{alias_name}", kind.provider);
        // `for_each` on an aliased provider: the address stands in the instances then.
        let by_instance = opentofu && *alias && keys.iter().any(|key| *key != Key::None);
        let mut instances = Vec::new();
        for (at, key) in keys.iter().enumerate() {
            let region = REGIONS[at % REGIONS.len()];
            let own = by_instance.then(|| format!("{provider}[\"{region}\"]"));
            self.objects(module, key, own.as_deref(), &mut instances);
        }
        let mut members = Vec::new();
        if !module.is_empty() {
            members.push(("module", module.into()));
        }
        members.extend([
            ("mode", kind.mode().into()),
            ("type", kind.type_name.into()),
            ("name", (**name).into()),
        ]);
        if !by_instance {
            members.push(("provider", provider.into()));
        }
        members.push(("instances", Json::List(instances)));
        Json::members(members)
    }

    /// The objects of one instance: the current one, and now and then a deposed one.
    fn objects(&self, module: &str, key: &Key, provider: Option<&str>, out: &mut Vec<Json>) {
        let Planned { kind, name, .. } = self.resource;
        let mut rng = Rng::new(self.seed, &format!("{module} {} {name} {key:?}", kind.type_name));
        let label = format!("{}-{}", name.replace('_', "-"), rng.hex(6));
        let replaced = !kind.data && rng.chance(3);
        let tainted = !kind.data && rng.chance(4);
        out.push(self.object(key, provider, None, (tainted, replaced), &label, &mut rng));
        if replaced {
            let deposed = rng.hex(8);
            out.push(self.object(key, provider, Some(deposed), (false, true), &label, &mut rng));
        }
    }

    fn object(
        &self,
        key: &Key,
        provider: Option<&str>,
        deposed: Option<String>,
        (tainted, create_before_destroy): (bool, bool),
        label: &str,
        rng: &mut Rng,
    ) -> Json {
        let kind = self.resource.kind;
        let mut members = Vec::new();
        match key {
            Key::None => {}
            Key::Number(number) => members.push(("index_key", (*number).into())),
            Key::Text(text) => members.push(("index_key", text.as_str().into())),
        }
        if tainted {
            members.push(("status", "tainted".into()));
        }
        members.extend(deposed.map(|key| ("deposed", key.into())));
        members.extend(provider.map(|provider| ("provider", provider.into())));
        members.push(("schema_version", kind.schema_version.into()));
        members.push(("attributes", kind.attributes(rng, label)));
        members.push(("sensitive_attributes", kind.sensitive_paths()));
        if !kind.data && rng.chance(600) {
            members.push(("private", private(kind.schema_version).into()));
        }
        if !self.resource.dependencies.is_empty() {
            members.push(("dependencies", self.dependencies()));
        }
        if create_before_destroy {
            members.push(("create_before_destroy", true.into()));
        }
        if self.format == Format::OpenTofu && !kind.data && rng.chance(10) {
            members.push(("skip_destroy", true.into()));
        }
        Json::members(members)
    }

    fn dependencies(&self) -> Json {
        let address = |(module, local): &(usize, String)| {
            let names = &self.plan.modules[*module].names;
            names.iter().map(|name| format!("module.{name}.")).chain([local.clone()]).collect::<String>()
        };
        let mut dependencies: Vec<String> = self.resource.dependencies.iter().map(address).collect();
        dependencies.sort();
        list(dependencies)
    }
}

/// What providers built with the common kit leave beside the attributes: time limits and the schema's version.
fn private(schema_version: usize) -> String {
    let limits =
        object([("create", 600_000_000_000_usize.into()), ("delete", 1_200_000_000_000_usize.into())]);
    let version = schema_version.to_string();
    let content =
        object([("e2bfb730-ecaa-11e6-8f88-34363bc7c4c0", limits), ("schema_version", version.into())]);
    encode_base64(&content.compact())
}
