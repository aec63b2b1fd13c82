//! Random files: everything that a model can hold and a file can store.

use std::collections::BTreeMap;
use std::sync::Arc;

use groundstate_statefile::{Dialect, File, Style, WriterVersion};
use groundstate_states::addr::{
    AbsResource, Checkable, CheckableKind, ConfigCheckable, InstanceKey, ModuleInstance, ProviderConfig,
    Resource as ResourceAddr, ResourceMode,
};
use groundstate_states::{
    AttributePath, Attributes, CheckAggregate, CheckObject, CheckResults, CheckStatus, DeposedKey, Extra,
    Lineage, Number, ObjectSrc, ObjectStatus, ObjectType, OutputValue, PathStep, RawJson, Resource,
    ResourceInstance, Serial, Type, Value,
};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;

/// Text with everything that addresses and JSON have to escape.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-z_]{1,4}",
        1 => any::<String>(),
        1 => prop::sample::select(vec![
            "", "a.b", "[\"x\"]", "${x}", "%{y", "\"", "\\", "\n\t\r", "\u{0}", "\u{1f}", "é", "e\u{301}", "\u{2028}",
            "<&>", "😀", "/", "module.m", " ", "\u{7f}", "ﬁ", "0", "-1", "𝄞\u{200b}",
        ])
        .prop_map(String::from),
    ]
}

fn number() -> impl Strategy<Value = String> {
    "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,6})?([eE][+-]?[0-9]{1,2})?"
}

/// JSON in any spelling.
pub(crate) fn raw() -> impl Strategy<Value = RawJson> {
    let string = || text().prop_map(|text| serde_json::Value::String(text).to_string());
    let odd =
        prop::sample::select(vec![r#""\u00e9\/""#, r#""\ud800""#, r#""\u2028""#]).prop_map(String::from);
    let word = prop::sample::select(vec!["null", "true", "false"]).prop_map(String::from);
    let leaf = prop_oneof![number(), string(), odd, word];
    let json = leaf.prop_recursive(3, 12, 4, move |inner| {
        let member = (string(), inner.clone()).prop_map(|(name, value)| format!("{name} : {value}"));
        prop_oneof![
            vec(inner, 0..4).prop_map(|items| format!("[ {} ]", items.join(" ,\n"))),
            vec(member, 0..4).prop_map(|members| format!("{{{}}}", members.join(", "))),
        ]
    });
    json.prop_map(|text: String| RawJson::parse(&text).expect("JSON"))
}

fn extra() -> impl Strategy<Value = Extra> {
    let member = (text(), raw()).prop_map(|(name, value)| (format!("x{name}"), value));
    prop_oneof![4 => Just(Vec::new()), 1 => vec(member, 1..3)].prop_map(Extra::from_iter)
}

pub(crate) fn instance_key() -> impl Strategy<Value = InstanceKey> {
    prop_oneof![
        Just(InstanceKey::None),
        (0..4u64).prop_map(InstanceKey::Int),
        (0..=i64::MAX as u64).prop_map(InstanceKey::Int),
        text().prop_map(|text| InstanceKey::string(&text)),
    ]
}

fn module() -> impl Strategy<Value = ModuleInstance> {
    let step = (prop::sample::select(vec!["a", "m", "b-c", "é"]), instance_key());
    vec(step, 0..3).prop_map(|steps| {
        steps.into_iter().fold(ModuleInstance::root(), |module, (name, key)| module.child(name, key))
    })
}

/// A resource's address; its type and name need not be identifiers.
pub(crate) fn address() -> impl Strategy<Value = AbsResource> {
    let mode = prop::sample::select(vec![ResourceMode::Managed, ResourceMode::Data]);
    (module(), mode, text(), text())
        .prop_map(|(module, mode, kind, name)| ResourceAddr::new(mode, &kind, &name).absolute(module))
}

/// An address that can be read back, which those in lists of dependencies have to be.
fn plain_address() -> impl Strategy<Value = AbsResource> {
    let mode = prop::sample::select(vec![ResourceMode::Managed, ResourceMode::Data]);
    (module(), mode, "[a-z]{1,3}_[a-z]{1,3}", "[a-z][a-z0-9-]{0,4}")
        .prop_map(|(module, mode, kind, name)| ResourceAddr::new(mode, &kind, &name).absolute(module))
}

fn provider(dialect: Dialect) -> impl Strategy<Value = ProviderConfig> {
    let texts = vec![
        r#"provider["hashicorp/aws"]"#,
        r#"provider["hashicorp/aws"].west"#,
        r#"provider["registry.terraform.io/-/aws"]"#,
        r#"module.a.module.b.provider["example.com:8443/corp/thing"].x"#,
        r#"provider["terraform.io/builtin/terraform"]"#,
    ];
    prop::sample::select(texts)
        .prop_map(move |text| ProviderConfig::parse(text, dialect.default_registry()).expect("an address"))
}

fn path() -> impl Strategy<Value = AttributePath> {
    let step = prop_oneof![
        text().prop_map(|name| PathStep::attribute(&name)),
        text().prop_map(|key| PathStep::index(Type::String, Value::string(&key))),
        any::<u32>().prop_map(|key| PathStep::index(Type::Number, Value::Number(u64::from(key).into()))),
        any::<bool>().prop_map(|key| PathStep::index(
            Type::Dynamic,
            Value::Dynamic(Box::new((Type::Bool, Value::Bool(key))))
        )),
    ];
    let step = (step, extra()).prop_map(|(mut step, extra)| {
        step.extra = extra;
        step
    });
    vec(step, 0..3).prop_map(AttributePath::from_iter)
}

fn attributes() -> impl Strategy<Value = Attributes> {
    let flat = btree_map(text().prop_map(Arc::from), text().prop_map(Arc::from), 1..4);
    prop_oneof![3 => raw().prop_map(Attributes::Json), 1 => flat.prop_map(Attributes::Flat)]
}

/// An object that this product can store.
pub(crate) fn object(dialect: Dialect) -> impl Strategy<Value = ObjectSrc> {
    let dependencies = vec(plain_address().prop_map(|address| address.to_config()), 0..3);
    let depends_on =
        vec((plain_address(), instance_key()).prop_map(|(address, key)| address.instance(key)), 0..3);
    let identity = raw().prop_map(|raw| Some(raw).filter(|raw| raw.as_str() != "null"));
    (
        (
            prop_oneof![0..3u64, any::<u64>()],
            attributes(),
            vec(path(), 0..3),
            vec(any::<u8>(), 0..5),
            any::<bool>(),
        ),
        (dependencies, depends_on, any::<bool>(), any::<bool>(), identity, option::of(0..3u64), extra()),
    )
        .prop_map(move |((version, attributes, paths, private, tainted), tail)| {
            let (dependencies, depends_on, before, skip, identity, identity_version, extra) = tail;
            let opentofu = dialect == Dialect::OpenTofu;
            let mut object = ObjectSrc::new(version, RawJson::empty_object());
            object.attributes = attributes;
            object.sensitive_paths = paths;
            object.private = private.into();
            object.status = if tainted { ObjectStatus::Tainted } else { ObjectStatus::Ready };
            object.dependencies = dependencies;
            object.depends_on = if opentofu { depends_on } else { Vec::new() };
            object.create_before_destroy = before;
            object.skip_destroy = skip && opentofu;
            object.identity_schema_version = identity_version.filter(|_| !opentofu || identity.is_some());
            object.identity = identity;
            object.extra = extra;
            object
        })
}

fn deposed_key() -> impl Strategy<Value = DeposedKey> {
    prop_oneof![
        any::<u32>().prop_map(DeposedKey::from_number),
        "[ -~]{8}".prop_map(|text| key_of(&text)),
        Just(key_of("éé\u{0}\"\\<"))
    ]
}

fn key_of(text: &str) -> DeposedKey {
    DeposedKey::parse(text).expect("eight bytes")
}

fn instance(dialect: Dialect) -> impl Strategy<Value = ResourceInstance> {
    let deposed = btree_map(deposed_key(), object(dialect).prop_map(Arc::new), 0..2);
    (option::of(object(dialect)), deposed, object(dialect)).prop_map(|(current, deposed, spare)| {
        // An instance without objects is not stored.
        let current = current.or_else(|| deposed.is_empty().then_some(spare));
        ResourceInstance { current: current.map(Arc::new), deposed, provider_key: InstanceKey::None }
    })
}

/// A resource that this product can store.
pub(crate) fn resource(dialect: Dialect) -> impl Strategy<Value = Resource> {
    let keys = option::of(vec(instance_key(), 4));
    (provider(dialect), btree_map(instance_key(), instance(dialect), 0..4), extra(), keys).prop_map(
        move |(provider, mut instances, extra, keys)| {
            // Only a provider with an alias can have keys.
            let keys =
                keys.filter(|_| dialect == Dialect::OpenTofu && provider.alias.is_some()).unwrap_or_default();
            for (instance, key) in instances.values_mut().zip(keys) {
                instance.provider_key = key;
            }
            let mut resource = Resource::new(provider);
            resource.instances = instances;
            resource.extra = extra;
            resource
        },
    )
}

/// A type and a value that conforms to it.
fn typed() -> impl Strategy<Value = (Type, Value)> {
    let numbers = number().prop_map(|text| Value::Number(Number::parse(&text).expect("a number")));
    let leaf = prop_oneof![
        text().prop_map(|text| (Type::String, Value::string(&text))),
        numbers.prop_map(|number| (Type::Number, number)),
        any::<bool>().prop_map(|value| (Type::Bool, Value::Bool(value))),
        Just((Type::Dynamic, Value::Null)),
        Just((Type::String, Value::Null)),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let names = btree_map("[a-c<é]{1,2}", inner.clone(), 0..4);
        prop_oneof![
            (inner.clone(), 0..4usize)
                .prop_map(|((ty, value), n)| (Type::List(ty.into()), Value::Sequence(vec![value; n]))),
            (inner.clone(), 0..3usize).prop_map(|((ty, value), n)| {
                let elements = (0..n).map(|_| value.clone()).chain((n > 0).then_some(Value::Null)).collect();
                let set = Value::set(elements, &ty);
                (Type::Set(ty.into()), set)
            }),
            (inner.clone(), btree_set(text(), 0..3)).prop_map(|((ty, value), names)| {
                let map = Value::mapping(names.into_iter().map(|name| (name, value.clone())));
                (Type::Map(ty.into()), map)
            }),
            vec(inner.clone(), 0..4).prop_map(|items| {
                let (types, values) = items.into_iter().unzip();
                (Type::Tuple(types), Value::Sequence(values))
            }),
            names.prop_map(|members| {
                let ty =
                    members.iter().map(|(name, (ty, _))| (Arc::from(name.as_str()), ty.clone())).collect();
                let value = members.into_iter().map(|(name, (_, value))| (name, value));
                let object = ObjectType { attributes: ty, ..ObjectType::default() };
                (Type::Object(object), Value::mapping(value))
            }),
            inner.prop_map(|typed| (Type::Dynamic, Value::Dynamic(Box::new(typed)))),
        ]
    })
}

pub(crate) fn output(dialect: Dialect) -> impl Strategy<Value = OutputValue> {
    (typed(), any::<bool>(), option::of(text()), extra()).prop_map(
        move |((ty, value), sensitive, deprecated, extra)| {
            let mut output = OutputValue::new(value, ty);
            output.sensitive = sensitive;
            let deprecated = deprecated.filter(|text| !text.is_empty() && dialect == Dialect::OpenTofu);
            output.deprecated = deprecated.map(Arc::from);
            output.extra = extra;
            output
        },
    )
}

fn status() -> impl Strategy<Value = CheckStatus> {
    prop::sample::select(vec![CheckStatus::Pass, CheckStatus::Fail, CheckStatus::Error, CheckStatus::Unknown])
}

fn aggregate() -> impl Strategy<Value = CheckAggregate> {
    let kinds = vec![
        CheckableKind::Resource,
        CheckableKind::Output,
        CheckableKind::Check,
        CheckableKind::InputVariable,
    ];
    let object = (instance_key(), status(), vec(text().prop_map(Arc::from), 0..3), extra());
    (prop::sample::select(kinds), plain_address(), status(), vec(object, 0..3), extra()).prop_map(
        |(kind, address, status, objects, extra)| {
            let name = &address.resource.name;
            let addr = |module: String, key: &InstanceKey| match kind {
                CheckableKind::Resource => address
                    .resource
                    .clone()
                    .absolute(ModuleInstance::root())
                    .instance(key.clone())
                    .to_string(),
                kind if module.is_empty() => format!("{kind}.{name}"),
                kind => format!("{module}.{kind}.{name}"),
            };
            let config = addr(address.module.to_config().to_string(), &InstanceKey::None);
            let objects = objects.into_iter().map(|(key, status, failure_messages, extra)| {
                let addr =
                    Checkable::parse(kind, &addr(address.module.to_string(), &key)).expect("an address");
                CheckObject { addr, status, failure_messages, extra }
            });
            let addr = ConfigCheckable::parse(kind, &config).expect("an address");
            CheckAggregate { addr, status, objects: objects.collect(), extra }
        },
    )
}

pub(crate) fn checks() -> impl Strategy<Value = Option<CheckResults>> {
    let opaque = (text(), raw()).prop_map(|(kind, raw)| {
        let kind = serde_json::Value::String(format!("x{kind}"));
        RawJson::parse(&format!(r#"{{"object_kind":{kind},"y":{}}}"#, raw.as_str())).expect("JSON")
    });
    (vec(aggregate(), 0..3), vec(opaque, 0..2)).prop_map(|(aggregates, opaque)| {
        let results = CheckResults { aggregates, opaque };
        // Empty results are written as null, which is read as none.
        Some(results).filter(|results| !results.aggregates.is_empty() || !results.opaque.is_empty())
    })
}

fn writer(dialect: Dialect) -> impl Strategy<Value = Option<WriterVersion>> {
    let versions = match dialect {
        Dialect::OpenTofu => vec!["1.6.0", "1.12.0", "v1.13.0-dev"],
        Dialect::Terraform => vec!["0.12.31", "0.14", "1.2.9", "1.11.4", "1.12.0-beta1", "999.0.0+x"],
    };
    option::of(prop::sample::select(versions).prop_map(|text| WriterVersion::parse(text).expect("a version")))
}

/// A file of this product.
pub(crate) fn file_of(dialect: Dialect) -> impl Strategy<Value = File> {
    (
        (writer(dialect), any::<u64>(), text(), any::<[bool; 2]>(), extra()),
        btree_map(text(), output(dialect), 0..4),
        btree_map(address(), resource(dialect), 0..5),
        checks(),
    )
        .prop_map(
            move |(
                (writer, serial, lineage, [compact, second_line_break], extra),
                outputs,
                resources,
                checks,
            )| {
                let mut file = File::new(dialect, Lineage::new(&lineage));
                file.style = Style::of(dialect, writer.as_ref());
                file.style.indented = !compact;
                file.style.second_line_break = second_line_break;
                file.style.empty_checks |= checks.is_some();
                file.terraform_version = writer;
                file.serial = Serial::new(serial);
                file.extra = extra;
                for (name, output) in outputs {
                    file.state.root_mut().set_output_value(&name, output);
                }
                for (address, resource) in resources {
                    put(&mut file, &address, resource);
                }
                file.state.check_results = checks;
                file
            },
        )
}

/// Puts a resource into the model, in place of what is there.
pub(crate) fn put(file: &mut File, address: &AbsResource, resource: Resource) {
    let resources: &mut BTreeMap<_, _> = &mut file.state.ensure_module(&address.module).resources;
    resources.insert(address.resource.clone(), Arc::new(resource));
}

/// A file of either product.
pub(crate) fn file() -> impl Strategy<Value = File> {
    prop_oneof![file_of(Dialect::Terraform), file_of(Dialect::OpenTofu)]
}

/// A file and what to change in it: resources and outputs, which one, and what takes its place.
pub(crate) fn changes() -> impl Strategy<Value = (File, Vec<ResourceChange>, Vec<OutputChange>)> {
    prop::sample::select(vec![Dialect::Terraform, Dialect::OpenTofu]).prop_flat_map(|dialect| {
        let resources = vec((any::<u16>(), address(), option::of(resource(dialect))), 0..5);
        let outputs = vec((any::<u16>(), text(), option::of(output(dialect))), 0..4);
        (file_of(dialect), resources, outputs)
    })
}

/// Picks a known resource or takes a new address.
pub(crate) type ResourceChange = (u16, AbsResource, Option<Resource>);
/// Picks a known output or takes a new name.
pub(crate) type OutputChange = (u16, String, Option<OutputValue>);
