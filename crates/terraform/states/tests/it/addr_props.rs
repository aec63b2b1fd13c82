//! Properties that hold for addresses of every kind.

use groundstate_states::addr::{
    AbsResource, AbsResourceInstance, Checkable, CheckableKind, ConfigCheckable, ConfigResource, InstanceKey,
    Module, ModuleInstance, ModuleStep, OPENTOFU_REGISTRY, ProviderConfig, ProviderInstance, ProviderSource,
    Resource, ResourceMode, TERRAFORM_REGISTRY, Target, is_identifier,
};
use proptest::prelude::*;

fn name() -> impl Strategy<Value = String> {
    let unicode =
        "[\\p{L}_][\\p{L}\\p{Nd}_-]{0,5}".prop_filter("not an identifier", |name| is_identifier(name));
    let plain = "[a-z_][a-z0-9_-]{0,8}";
    // These words mean something at the front of an address, where a resource type of that name cannot be read.
    prop_oneof![plain, plain, unicode]
        .prop_filter("keyword", |name| !["module", "data", "ephemeral"].contains(&&**name))
}

fn key() -> impl Strategy<Value = InstanceKey> {
    let special = "[$%{}\"\\\\\\n\\r\\t a\u{e9}\u{301}\u{200d}\u{1f680}]{0,12}";
    prop_oneof![
        Just(InstanceKey::None),
        (0..=i64::MAX as u64).prop_map(InstanceKey::Int),
        any::<String>().prop_map(|s| InstanceKey::string(&s)),
        "[ -~]{0,6}".prop_map(|s| InstanceKey::string(&s)),
        special.prop_map(|s| InstanceKey::string(&s)),
    ]
}

fn module() -> impl Strategy<Value = ModuleInstance> {
    let step = (name(), key()).prop_map(|(name, key)| ModuleStep { name: name.into(), key });
    prop::collection::vec(step, 0..4).prop_map(|steps| steps.into_iter().collect())
}

fn instance() -> impl Strategy<Value = AbsResourceInstance> {
    let mode =
        prop_oneof![Just(ResourceMode::Managed), Just(ResourceMode::Data), Just(ResourceMode::Ephemeral)];
    (module(), mode, name(), name(), key()).prop_map(|(module, mode, type_name, name, key)| {
        Resource::new(mode, &type_name, &name).absolute(module).instance(key)
    })
}

/// Text made of the pieces that addresses are made of, so that much of it is nearly or wholly valid.
fn soup() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        ".",
        ".",
        ".",
        "[",
        "]",
        "\"",
        "[0]",
        "[\"k\"]",
        "module.",
        "module",
        "data.",
        "ephemeral",
        "provider",
        "a",
        "b-",
        "_",
        "é",
        "e\u{301}",
        "0",
        "9",
        "1e3",
        "1.5",
        "$",
        "%",
        "{",
        "${",
        "\\",
        "\\n",
        "\\u0041",
        "\\U0001f680",
        " ",
        "\t",
        "\n",
        "\r\n",
        "\r",
        "#",
        "//",
        "/*",
        "*/",
        "/",
        "-",
        "--",
        ":",
        "443",
        "xn--",
        "output",
        "check",
        "var",
        "\u{feff}",
        "\u{ad}",
        "ß",
        "İ",
        "。",
        "provider[\"",
        "\"]",
        "registry.terraform.io/",
        "-/",
        "hashicorp",
        "aws",
        "*",
        "terraform-",
        "٣",
        "\u{200d}",
        "א",
    ]);
    prop::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat())
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![4 => soup(), 1 => any::<String>(), 1 => instance().prop_map(|i| i.to_string())]
}

/// What can be read must print as something that reads the same.
#[track_caller]
fn stable<T: PartialEq + std::fmt::Debug + ToString, E: std::fmt::Display>(
    text: &str,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<(), TestCaseError> {
    if let Ok(value) = parse(text) {
        let printed = value.to_string();
        match parse(&printed) {
            Ok(again) => prop_assert_eq!(again, value, "{:?} printed {:?}", text, printed),
            Err(error) => prop_assert!(false, "{text:?} printed {printed:?}: {error}"),
        }
    }
    Ok(())
}

/// Plain text must be accepted and printed as it stands.
fn plain<T: ToString, E>(
    text: &str,
    is_plain: impl Fn(&str) -> bool,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<(), TestCaseError> {
    if is_plain(text) {
        prop_assert_eq!(parse(text).ok().map(|value| value.to_string()), Some(text.to_owned()));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn every_key_reads_back(key in key()) {
        let wanted = Resource::managed("t", "n").absolute(ModuleInstance::root()).instance(key);
        prop_assert_eq!(AbsResourceInstance::parse(&wanted.to_string()), Ok(wanted));
    }

    #[test]
    fn every_address_reads_back(instance in instance()) {
        let resource = &instance.resource;
        let (config, module) = (resource.to_config(), &resource.module);
        prop_assert_eq!(AbsResourceInstance::parse(&instance.to_string()), Ok(instance.clone()));
        prop_assert_eq!(AbsResource::parse(&resource.to_string()), Ok(resource.clone()));
        prop_assert_eq!(ConfigResource::parse(&config.to_string()), Ok(config.clone()));
        if !module.is_root() {
            prop_assert_eq!(ModuleInstance::parse(&module.to_string()), Ok(module.clone()));
            prop_assert_eq!(Module::parse(&config.module.to_string()), Ok(config.module.clone()));
            prop_assert!(module.parent().is_some_and(|parent| parent.is_ancestor_of(module) && !module.contains(&parent)));
        }
        let target = Target::parse(&instance.to_string());
        prop_assert!(target.is_ok_and(|target| target.contains_instance(&instance) && config.contains(&target)));
    }

    #[test]
    fn any_text_is_refused_or_prints_what_reads_the_same(text in text()) {
        stable(&text, Target::parse)?;
        stable(&text, AbsResource::parse)?;
        stable(&text, AbsResourceInstance::parse)?;
        stable(&text, ConfigResource::parse)?;
        stable(&text, ModuleInstance::parse)?;
        stable(&text, Module::parse)?;
        for kind in [CheckableKind::Resource, CheckableKind::Output, CheckableKind::Check, CheckableKind::InputVariable] {
            stable(&text, |text| Checkable::parse(kind, text))?;
            stable(&text, |text| ConfigCheckable::parse(kind, text))?;
            if let Ok(object) = Checkable::parse(kind, &text) {
                let keyless = object.to_config().to_string() == object.to_string();
                prop_assert_eq!(ConfigCheckable::parse(kind, &text).is_ok(), keyless);
            }
        }
    }

    #[test]
    fn any_provider_text_is_refused_or_prints_what_reads_the_same(text in text()) {
        for host in [TERRAFORM_REGISTRY, OPENTOFU_REGISTRY] {
            stable(&text, |text| ProviderSource::parse(text, host))?;
            for address in [&text, &format!("provider[\"{text}\"]"), &format!("provider[\"a/b\"].{text}")] {
                stable(address, |text| ProviderConfig::parse(text, host))?;
                stable(address, |text| ProviderInstance::parse(text, host))?;
                plain(address, |text| ProviderConfig::is_plain(text), |text| ProviderConfig::parse(text, host))?;
            }
            let legacy = format!("provider.{text}");
            if let Ok(config) = ProviderConfig::parse_legacy(&legacy, host) {
                prop_assert_eq!(ProviderConfig::parse(&config.to_string(), host), Ok(config.clone()));
                let old = config.to_legacy().unwrap_or_default();
                prop_assert_eq!(ProviderConfig::parse_legacy(&old, host), Ok(config));
            }
        }
    }

    #[test]
    fn positions_lie_within_the_text(text in text()) {
        let errors = [
            Target::parse(&text).err(),
            ModuleInstance::parse(&text).err(),
            ConfigResource::parse(&text).err(),
            ProviderConfig::parse_legacy(&text, TERRAFORM_REGISTRY).err(),
            ProviderSource::parse(&text, TERRAFORM_REGISTRY).err(),
            Checkable::parse(CheckableKind::Output, &text).err(),
        ];
        for error in errors.into_iter().flatten() {
            prop_assert!(text.is_char_boundary(error.position()), "{}", error);
        }
    }

    #[test]
    fn plain_texts_are_valid_and_canonical(text in text()) {
        plain(&text, |text| ModuleInstance::is_plain(text), ModuleInstance::parse)?;
        plain(&text, |text| AbsResource::is_plain(text), AbsResource::parse)?;
        plain(&text, |text| AbsResourceInstance::is_plain(text), AbsResourceInstance::parse)?;
        plain(&text, |text| ConfigResource::is_plain(text), ConfigResource::parse)?;
    }

    #[test]
    fn common_addresses_are_plain(
        modules in "(module\\.[a-z_][a-z0-9_-]{0,3}(\\[(0|[1-9][0-9]{0,8}|\"[a-z0-9 .-]{0,5}\")\\])?\\.){0,3}",
        resource in "(data\\.|ephemeral\\.)?aws_[a-z0-9]{0,3}\\.[a-z_][a-zA-Z0-9_-]{0,5}",
        key in "(\\[(0|[1-9][0-9]{0,8}|\"[a-z0-9 /-]{0,5}\")\\])?",
    ) {
        let address = format!("{modules}{resource}");
        prop_assert!(AbsResource::is_plain(&address));
        let instance = format!("{address}{key}");
        prop_assert!(AbsResourceInstance::is_plain(&instance));
        prop_assert_eq!(ConfigResource::is_plain(&address), !modules.contains('['));
        prop_assert_eq!(ModuleInstance::is_plain(modules.trim_end_matches('.')), !modules.is_empty());
    }

    #[test]
    fn printed_order_is_the_order_of_the_text(a in module(), b in module()) {
        prop_assert_eq!(a.cmp_printed(&b), a.to_string().cmp(&b.to_string()));
        let extended = ModuleInstance::from_iter(a.steps().iter().chain(b.steps()).cloned());
        prop_assert_eq!(a.cmp_printed(&extended), a.to_string().cmp(&extended.to_string()));
        prop_assert!(a.contains(&extended));
        prop_assert_eq!(a.is_ancestor_of(&extended), !b.is_root());
    }
}

#[test]
fn provider_addresses_as_written_are_plain() {
    for text in [
        r#"provider["registry.terraform.io/hashicorp/aws"]"#,
        r#"module.a.module.b.provider["registry.opentofu.org/acme-2/my-thing"].west"#,
    ] {
        assert!(ProviderConfig::is_plain(text), "{text}");
    }
    for text in [
        "provider.aws",
        r#"provider["aws"]"#,
        r#"provider["a.b/c/terraform-x"]"#,
        r#"module.a[0].provider["a.b/c/d"]"#,
    ] {
        assert!(!ProviderConfig::is_plain(text), "{text}");
    }
}
