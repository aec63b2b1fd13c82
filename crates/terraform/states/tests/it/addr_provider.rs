//! Provider sources and provider configuration addresses.

use groundstate_states::addr::{
    AddrErrorKind as Kind, InstanceKey, Module, OPENTOFU_REGISTRY as OT, ProviderConfig, ProviderInstance,
    ProviderSource, TERRAFORM_REGISTRY as TF,
};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Reads a `provider` member of format 4 as the reader does: the modern form, else the older one.
fn read_member(text: &str, host: &str) -> Option<String> {
    let config = ProviderConfig::parse(text, host).or_else(|_| ProviderConfig::parse_legacy(text, host));
    config.ok().map(|config| config.to_string())
}

#[test]
fn rewrites_provider_members_in_full() {
    let cases = [
        ("provider.aws", r#"provider["registry.terraform.io/-/aws"]"#),
        ("provider. null", r#"provider["registry.terraform.io/-/null"]"#),
        ("provider.aws.west", r#"provider["registry.terraform.io/-/aws"].west"#),
        ("module.x.provider.aws", r#"module.x.provider["registry.terraform.io/-/aws"]"#),
        ("module.x.provider.aws.west", r#"module.x.provider["registry.terraform.io/-/aws"].west"#),
        ("provider.terraform", r#"provider["terraform.io/builtin/terraform"]"#),
        (r#"provider["aws"]"#, r#"provider["registry.terraform.io/hashicorp/aws"]"#),
        (r#"provider["hashicorp/null"]"#, r#"provider["registry.terraform.io/hashicorp/null"]"#),
        (r#"provider["HashiCorp/AWS"]"#, r#"provider["registry.terraform.io/hashicorp/aws"]"#),
        (r#"provider ["aws"] . a"#, r#"provider["registry.terraform.io/hashicorp/aws"].a"#),
    ];
    for (text, written) in cases {
        assert_eq!(read_member(text, TF).as_deref(), Some(written), "{text}");
        let opentofu = written.replace(TF, OT);
        assert_eq!(read_member(text, OT), Some(opentofu), "{text}");
    }
}

#[test]
fn keeps_full_addresses_whatever_the_dialect() {
    let texts = [
        r#"provider["registry.terraform.io/-/aws"]"#,
        r#"provider["registry.opentofu.org/-/aws"].west"#,
        r#"provider["registry.terraform.io/-/AWS_x"]"#,
        r#"provider["example.com/corp/thing"].a"#,
        r#"provider["example.com:8443/corp/my-thing"]"#,
        r#"provider["terraform.io/builtin/terraform"].west"#,
        r#"module.a.module.b.provider["bücher.example/größe/日本"].west"#,
    ];
    for text in texts {
        for host in [TF, OT] {
            assert_eq!(read_member(text, host).as_deref(), Some(text));
        }
    }
}

#[test]
fn refuses_what_is_no_provider_configuration() {
    let cases = [
        ("", Kind::Empty, 0),
        ("provider", Kind::ProviderConfig, 8),
        ("provider.aws", Kind::ProviderConfig, 9),
        ("null", Kind::ProviderConfig, 0),
        ("module.m", Kind::ProviderConfig, 8),
        ("provider[0]", Kind::ProviderConfig, 8),
        (r#"module.x[0].provider["a/b"]"#, Kind::KeyNotAllowed, 8),
        (r#"module.x["k"].provider["a/b"]"#, Kind::KeyNotAllowed, 8),
        (r#"provider["a/b"]["k"]"#, Kind::KeyNotAllowed, 15),
        (r#"provider["a/b"].by["k"]"#, Kind::KeyNotAllowed, 18),
        (r#"provider["a/b"].by.x"#, Kind::Trailing, 19),
        (r#"provider["a//b"]"#, Kind::ProviderSource, 12),
        (r#"provider[""]"#, Kind::ProviderSource, 10),
        (r#"provider["example.com/-/aws"]"#, Kind::ProviderSource, 22),
    ];
    for (text, kind, position) in cases {
        let error = ProviderConfig::parse(text, TF).expect_err(text);
        assert_eq!((error.kind(), error.position()), (kind, position), "{error}");
    }
    for text in [
        "provider.aws.west.x",
        "provider.aws[0]",
        "provider.aws.a[0]",
        "module.x[0].provider.aws",
        "aws",
        "provider",
    ] {
        assert!(ProviderConfig::parse_legacy(text, TF).is_err(), "{text}");
    }
}

#[test]
fn reads_instances_of_provider_configurations() -> Outcome {
    let text = r#"module.m.provider["registry.opentofu.org/hashicorp/aws"].by_region["us-east-1"]"#;
    let instance = ProviderInstance::parse(text, OT)?;
    assert_eq!(instance.key, InstanceKey::string("us-east-1"));
    assert_eq!(instance.config.alias.as_deref(), Some("by_region"));
    assert_eq!(instance.to_string(), text);
    let plain = ProviderInstance::parse(r#"provider["aws"].x"#, OT)?;
    assert_eq!(plain.key, InstanceKey::None);
    for text in [
        r#"provider["a/b"]["k"]"#,
        r#"provider["a/b"].c["k"].d"#,
        r#"provider["a/b"].c["k"][0]"#,
        "provider.aws",
    ] {
        assert!(ProviderInstance::parse(text, OT).is_err(), "{text}");
    }
    Ok(())
}

#[test]
fn reads_compact_providers_of_old_formats() -> Outcome {
    let child = Module::root().child("child");
    let config = ProviderConfig::from_compact("aws.west", child.clone(), TF)?;
    assert_eq!(config.to_string(), r#"module.child.provider["registry.terraform.io/-/aws"].west"#);
    assert_eq!(config.to_legacy().as_deref(), Some("module.child.provider.aws.west"));
    let builtin = ProviderConfig::from_compact("terraform", Module::root(), OT)?;
    assert!(builtin.source.is_builtin());
    assert_eq!(builtin.to_legacy().as_deref(), Some("provider.terraform"));
    for text in ["", "aws.west.junk", "aws[0]", "aws.", "aws.west[0]", "1aws", "${var.x}"] {
        assert!(ProviderConfig::from_compact(text, child.clone(), TF).is_err(), "{text}");
    }
    Ok(())
}

#[test]
fn the_old_form_is_printed_only_for_what_it_can_name() -> Outcome {
    for text in ["provider.aws", "module.x.provider.aws.west", "provider.terraform"] {
        assert_eq!(ProviderConfig::parse_legacy(text, OT)?.to_legacy().as_deref(), Some(text));
    }
    for text in [r#"provider["hashicorp/aws"]"#, r#"provider["registry.terraform.io/-/terraform"]"#] {
        assert_eq!(ProviderConfig::parse(text, TF)?.to_legacy(), None);
    }
    Ok(())
}

// What is accepted and refused here was tried on Terraform 1.11, except for characters that the mapping of names turns
// into dots or into nothing.
#[test]
fn normalises_sources() -> Outcome {
    let cases = [
        ("aws", "registry.terraform.io/hashicorp/aws"),
        ("Acme/My-Thing2", "registry.terraform.io/acme/my-thing2"),
        ("Example.COM/a/b", "example.com/a/b"),
        ("example.com:443/a/b", "example.com/a/b"),
        ("example.com:08443/a/b", "example.com:8443/a/b"),
        ("localhost:8080/a/b", "localhost:8080/a/b"),
        ("example.com./a/b", "example.com./a/b"),
        ("example.com:0/a/b", "example.com:0/a/b"),
        ("a--b.com/a/b", "a--b.com/a/b"),
        ("1/\u{212a}", "registry.terraform.io/1/k"),
        ("a/א1", "registry.terraform.io/a/א1"),
        ("a/🚀", "registry.terraform.io/a/🚀"),
        ("127.0.0.1/a/b", "127.0.0.1/a/b"),
        ("BÜCHER.example/GRÖSSE/b", "bücher.example/grösse/b"),
        ("a/e\u{301}", "registry.terraform.io/a/é"),
        ("a/b\u{ad}c", "registry.terraform.io/a/bc"),
        ("-/aws", "registry.terraform.io/-/aws"),
        ("terraform", "registry.terraform.io/hashicorp/terraform"),
        ("terraform.io/builtin/terraform", "terraform.io/builtin/terraform"),
        ("a/opentofu-x", "registry.terraform.io/a/opentofu-x"),
    ];
    for (text, printed) in cases {
        assert_eq!(ProviderSource::parse(text, TF)?.to_string(), printed, "{text}");
    }
    Ok(())
}

#[test]
fn refuses_bad_sources_with_their_place() {
    let cases = [
        ("", 0),
        ("a/b/c/d", 0),
        ("/b", 0),
        ("a/", 2),
        ("a//c", 2),
        ("/b/c", 0),
        ("a.b/c", 0),
        ("a/b.c", 2),
        ("a/b。c", 2),
        ("-a/b", 0),
        ("a/b-", 2),
        ("a--b/c", 0),
        ("a/xn--bcher-kva", 2),
        ("a/b_c", 2),
        ("a_b/c", 0),
        ("example.com/a_b/c", 12),
        ("a/_b", 2),
        ("a/b c", 2),
        ("a/\u{ad}", 2),
        ("a/b-\u{ad}-c", 2),
        ("a/terraform-x", 2),
        ("a/terraform-provider-x", 2),
        ("example..com/a/b", 0),
        (".example.com/a/b", 0),
        ("./a/b", 0),
        ("ab--c.com/a/b", 0),
        ("-a.com/b/c", 0),
        ("a/٣", 2),
        ("a/aא", 2),
        ("exa mple.com/a/b", 0),
        ("my_host/a/b", 0),
        ("xn--bcher-kva.example/a/b", 0),
        ("example.com:/a/b", 0),
        ("example.com:x/a/b", 0),
        ("example.com:65536/a/b", 0),
        ("example.com:+80/a/b", 0),
        (":80/a/b", 0),
        ("example.com/-/a", 12),
        ("registry.terraform.io/-/a b", 24),
    ];
    for (text, position) in cases {
        let error = ProviderSource::parse(text, TF).expect_err(text);
        assert_eq!((error.kind(), error.position()), (Kind::ProviderSource, position), "{error}");
    }
    assert!(ProviderSource::parse("a/opentofu-x", OT).is_err());
    let error = ProviderSource::parse("a/terraform-provider-x", TF).expect_err("named after the product");
    assert_eq!(error.advice(), "write only `x`");
}

#[test]
fn a_source_moves_to_another_host() -> Outcome {
    let source = ProviderSource::parse("acme/thing", TF)?;
    let moved = source.with_host("Registry.OpenTofu.org")?;
    assert_eq!((moved.host(), moved.namespace(), moved.type_name()), (OT, "acme", "thing"));
    assert!(source.with_host("a/b").is_err());
    let legacy = ProviderSource::legacy("aws", TF);
    assert!(legacy.is_legacy() && !legacy.is_builtin());
    assert_eq!(legacy.with_host(OT)?, ProviderSource::legacy("aws", OT));
    assert!(legacy.with_host("example.com").is_err());
    Ok(())
}

#[test]
fn an_address_without_a_registry_stays_without_one() -> Outcome {
    for (text, spelled) in [
        (r#"provider["aws"]"#, r#"provider["hashicorp/aws"]"#),
        (r#"module.a.provider["Acme/x"].west"#, r#"module.a.provider["acme/x"].west"#),
        (r#"provider["example.com/corp/thing"].a"#, r#"provider["example.com/corp/thing"].a"#),
        (r#"provider["-/aws"]"#, "provider.aws"),
        (r#"provider["-/terraform"]"#, r#"provider["-/terraform"]"#),
        (r#"provider["registry.opentofu.org/acme/x"]"#, r#"provider["registry.opentofu.org/acme/x"]"#),
    ] {
        let (terraform, tofu) = (ProviderConfig::parse(text, TF)?, ProviderConfig::parse(text, OT)?);
        assert_eq!(terraform.spelled(), spelled);
        assert_eq!(tofu.spelled(), spelled);
        assert_eq!(terraform.source.read_with(OT), tofu.source, "{text}");
        assert_eq!(tofu.source.written_out().to_string(), tofu.source.to_string());
        assert!(!tofu.source.written_out().is_short());
        let again =
            ProviderConfig::parse(spelled, OT).or_else(|_| ProviderConfig::parse_legacy(spelled, OT))?;
        assert_eq!((again.source.is_short(), &again), (tofu.source.is_short(), &tofu));
    }
    Ok(())
}
