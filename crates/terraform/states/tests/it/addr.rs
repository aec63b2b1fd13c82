//! Reading and printing of module, resource and instance addresses.

use groundstate_states::addr::{
    AbsResource, AbsResourceInstance, AddrErrorKind as Kind, Checkable, CheckableKind, ConfigCheckable,
    ConfigResource, InstanceKey, Module, ModuleInstance, Resource, Target,
};

fn text(key: &str) -> InstanceKey {
    InstanceKey::string(key)
}

fn root_instance(type_name: &str, name: &str, key: InstanceKey) -> AbsResourceInstance {
    Resource::managed(type_name, name).absolute(ModuleInstance::root()).instance(key)
}

#[test]
fn prints_every_kind_of_address() {
    let eu = ModuleInstance::root().child("store", text("eu")).child("db", InstanceKey::None);
    let data = Resource::data("aws_ami", "base");
    assert_eq!(ModuleInstance::root().to_string(), "");
    assert_eq!(Module::root().to_string(), "");
    assert_eq!(eu.to_string(), r#"module.store["eu"].module.db"#);
    assert_eq!(eu.to_config().to_string(), "module.store.module.db");
    assert_eq!(data.to_string(), "data.aws_ami.base");
    let abs = data.absolute(eu);
    assert_eq!(abs.to_string(), r#"module.store["eu"].module.db.data.aws_ami.base"#);
    assert_eq!(
        abs.instance(InstanceKey::Int(3)).to_string(),
        r#"module.store["eu"].module.db.data.aws_ami.base[3]"#
    );
    assert_eq!(abs.to_config().to_string(), "module.store.module.db.data.aws_ami.base");
}

#[test]
fn accepts_what_may_stand_between_the_parts() -> Result<(), Box<dyn std::error::Error>> {
    // Every spelling here was tried on Terraform 1.11.
    let wanted = root_instance("t", "b", InstanceKey::Int(1));
    let spellings = [
        "t.b[1]",
        "t.b[1e0]",
        "t.b[1.0]",
        "t.b[01]",
        "t.b[10e-1]",
        "t.b[1E+0]",
        "t.b [ 1 ]",
        "t.b[1 /*x*/]",
        "t . b[1]#c",
        "t.b[1]//c",
        "t /*a*/ .\tb[1]",
        "t.\nb[1]",
        "t.\r\nb[1]",
        "\u{feff}t.b[1]",
        "# c\nt.b[1]\n",
        "t.b[1] // last\n# again",
    ];
    for spelling in spellings {
        assert_eq!(AbsResourceInstance::parse(spelling)?, wanted, "{spelling:?}");
        assert_eq!(Target::parse(spelling)?, Target::Instance(wanted.clone()), "{spelling:?}");
    }
    assert_eq!(AbsResourceInstance::parse("t.b[1e3]")?.key, InstanceKey::Int(1000));
    assert_eq!(AbsResourceInstance::parse("t.b[0e999999999]")?.key, InstanceKey::Int(0));
    Ok(())
}

#[test]
fn reads_past_the_word_resource_in_front_of_a_type() -> Result<(), Box<dyn std::error::Error>> {
    // As Terraform 1.11 does; with one name behind it, it is a type as in OpenTofu, which knows no such word.
    for (written, type_name) in [
        ("resource.t.b", "t"),
        ("module.m.resource.t.b", "t"),
        ("resource.data.b", "data"),
        ("resource.resource.b", "resource"),
        ("resource.b", "resource"),
    ] {
        assert_eq!(AbsResource::parse(written)?.resource, Resource::managed(type_name, "b"), "{written}");
    }
    assert_eq!(AbsResource::parse("data.resource.b")?.resource, Resource::data("resource", "b"));
    assert_eq!(AbsResourceInstance::parse("resource.t.b[1]")?, root_instance("t", "b", InstanceKey::Int(1)));
    AbsResource::parse("resource.data.a.b").unwrap_err();
    Ok(())
}

#[test]
fn decodes_quoted_keys() -> Result<(), Box<dyn std::error::Error>> {
    let cases = [
        (r#"t.b[""]"#, ""),
        (r#"t.b[ "x" ]"#, "x"),
        (r#"t.b["\n\r\t\"\\"]"#, "\n\r\t\"\\"),
        (r#"t.b["\u0078\U0001f680"]"#, "x🚀"),
        (r#"t.b["$${x"]"#, "${x"),
        (r#"t.b["$$${x"]"#, "$${x"),
        (r#"t.b["%%%{"]"#, "%%{"),
        (r#"t.b["$\u007bx"]"#, "${x"),
        (r#"t.b["$$x %$ %% a$"]"#, "$$x %$ %% a$"),
        ("t.b[\"a\tb\u{0}\"]", "a\tb\0"),
        ("t.b[\"e\u{301}\"]", "é"),
        (r#"t.b["e\u0301"]"#, "é"),
    ];
    for (address, key) in cases {
        assert_eq!(AbsResourceInstance::parse(address)?, root_instance("t", "b", text(key)), "{address:?}");
    }
    Ok(())
}

#[test]
fn prints_keys_so_that_they_can_be_read() {
    let cases = [
        ("", r#"[""]"#),
        ("0", r#"["0"]"#),
        ("new\nline\r\t", r#"["new\nline\r\t"]"#),
        (r#"quote" back\"#, r#"["quote\" back\\"]"#),
        ("${x} $x %{ $", r#"["$${x} $x %%{ $"]"#),
        ("$${", r#"["$$${"]"#),
        ("größe 日本 🚀 <&>", r#"["größe 日本 🚀 <&>"]"#),
        (
            "\0\u{7f}\u{a0}\u{200d}\u{2028}\u{e0001}\u{10ffff}",
            r#"["\u0000\u007f\u00a0\u200d\u2028\U000e0001\U0010ffff"]"#,
        ),
    ];
    for (key, printed) in cases {
        assert_eq!(text(key).to_string(), printed);
    }
    assert_eq!(InstanceKey::None.to_string(), "");
    assert_eq!(InstanceKey::Int(7).to_string(), "[7]");
    assert_eq!(InstanceKey::int(i64::MAX as u64 + 1), None);
}

#[test]
fn names_follow_the_identifier_rules() {
    for address in [
        "_.b",
        "a-.b-",
        "é.b",
        "e\u{301}.b",
        "a٣.b",
        "a·.b",
        "℘.b",
        "日本.größe",
        "data.module.x",
        "var.input",
    ] {
        let parsed = AbsResource::parse(address).map(|a| a.to_string());
        assert_eq!(parsed, Ok(address.to_owned()));
    }
    for address in [
        "1a.b",
        "-a.b",
        "٣.b",
        "·a.b",
        "a\u{a0}.b",
        "a\u{2028}.b",
        "a\u{1}.b",
        "a.b\u{c}",
        "a.\rb",
        "a.b\u{feff}",
    ] {
        assert_eq!(AbsResource::parse(address).map_err(|e| e.kind()), Err(Kind::Syntax), "{address:?}");
    }
}

#[test]
fn a_target_is_a_module_a_resource_or_an_instance() -> Result<(), Box<dyn std::error::Error>> {
    assert!(matches!(Target::parse("module.a.module.b[0]")?, Target::Module(m) if m.steps().len() == 2));
    assert!(matches!(Target::parse("module.a.t.n")?, Target::Resource(_)));
    assert!(
        matches!(Target::parse("data.t.n")?, Target::Resource(r) if r.resource == Resource::data("t", "n"))
    );
    assert!(matches!(Target::parse("ephemeral.t.n[\"k\"]")?, Target::Instance(_)));
    assert_eq!(AbsResourceInstance::parse("t.n")?.key, InstanceKey::None);
    for address in ["module.a", "module.a.t.n", "module.a[1].data.t.n[\"x\"]"] {
        assert_eq!(Target::parse(address)?.to_string(), address);
    }
    Ok(())
}

/// What a refusal must say: the kind, the position, and a word of the text.
type Refusal = (&'static str, Kind, usize, &'static str);

#[track_caller]
fn check_refusals<T: std::fmt::Debug>(
    parse: impl Fn(&str) -> Result<T, groundstate_states::addr::AddrError>,
    cases: &[Refusal],
) {
    for (address, kind, position, word) in cases {
        let error = parse(address).expect_err(address);
        assert_eq!((error.kind(), error.position()), (*kind, *position), "{address:?}: {error}");
        assert!(error.to_string().contains(word), "{address:?}: {error}");
    }
}

#[test]
fn refuses_bad_targets_with_place_and_advice() {
    check_refusals(
        Target::parse,
        &[
            ("", Kind::Empty, 0, "empty"),
            ("  # only a comment", Kind::Empty, 18, "empty"),
            ("t", Kind::Incomplete, 1, "TYPE.NAME"),
            ("data", Kind::Incomplete, 4, "data.TYPE.NAME"),
            ("data.foo", Kind::Incomplete, 8, "data.TYPE.NAME"),
            ("ephemeral.a", Kind::Incomplete, 11, "ephemeral.TYPE.NAME"),
            (r#"data["x"].a"#, Kind::Incomplete, 4, "type and a name"),
            (r#"a["b"].c"#, Kind::Incomplete, 1, "type and a name"),
            ("a.b.c", Kind::KeyWithoutBrackets, 4, "[\"c\"]"),
            ("foo.bar.0", Kind::Syntax, 8, "`[0]`"),
            ("a.b[1][2]", Kind::Trailing, 6, "remove"),
            (r#"a.b["x"].y"#, Kind::Trailing, 9, "remove"),
            ("a.b[*]", Kind::Syntax, 4, "brackets hold"),
            ("a.b[-1]", Kind::Index, 4, "negative"),
            ("a.b[1.5]", Kind::Index, 4, "whole"),
            ("a.b[9223372036854775808]", Kind::Index, 4, "9223372036854775807"),
            ("a.b[1e999999999]", Kind::Index, 4, "too large"),
            ("a.b[1.]", Kind::Syntax, 5, "`]`"),
            ("a.b[.1]", Kind::Syntax, 4, "brackets hold"),
            ("a.b[1_0]", Kind::Syntax, 5, "`]`"),
            ("a.b[٣]", Kind::Syntax, 4, "brackets hold"),
            (r#"a.b["x" "y"]"#, Kind::Syntax, 8, "`]`"),
            (r#"a.b["x]"#, Kind::QuotedText, 4, "not closed"),
            (r#"a.b["x\"#, Kind::QuotedText, 6, "not closed"),
            ("a.b[\"x\ny\"]", Kind::QuotedText, 6, "line break"),
            ("a.b[\"x\ry\"]", Kind::QuotedText, 6, "line break"),
            (r#"a.b["${x}"]"#, Kind::QuotedText, 5, "$${"),
            (r#"a.b["%{x}"]"#, Kind::QuotedText, 5, "%%{"),
            (r#"a.b["\a"]"#, Kind::QuotedText, 5, "unknown escape"),
            (r#"a.b["\u12"]"#, Kind::QuotedText, 5, "too few"),
            (r#"a.b["\u+123"]"#, Kind::QuotedText, 5, "too few"),
            (r#"a.b["\u00é"]"#, Kind::QuotedText, 5, "too few"),
            (r#"a.b["\ud800"]"#, Kind::QuotedText, 5, "does not name"),
            (r#"a.b["\U00110000"]"#, Kind::QuotedText, 5, "does not name"),
            ("a.b/*", Kind::Syntax, 3, "*/"),
            ("a.b/", Kind::Syntax, 3, "dot"),
            ("a.", Kind::Syntax, 2, "followed by a name"),
            (".a", Kind::Syntax, 0, "begins with a name"),
            ("module", Kind::ModulePath, 6, "module.NAME"),
            ("module.a.module", Kind::ModulePath, 15, "module.NAME"),
            (r#"module["x"].a"#, Kind::ModulePath, 6, "module.NAME"),
            ("module.a[0][1]", Kind::ModulePath, 11, "name must follow"),
            ("module.a.b", Kind::Incomplete, 10, "TYPE.NAME"),
        ],
    );
}

#[test]
fn each_parser_refuses_the_other_kinds() {
    check_refusals(
        AbsResource::parse,
        &[
            ("module.a", Kind::OtherKind, 8, "module"),
            ("t.n[0]", Kind::KeyNotAllowed, 3, "leave out the key"),
            ("module.y", Kind::OtherKind, 8, "TYPE.NAME"),
        ],
    );
    check_refusals(AbsResourceInstance::parse, &[("module.a[1]", Kind::OtherKind, 11, "module")]);
    check_refusals(
        ConfigResource::parse,
        &[
            ("module.a[0].t.n", Kind::KeyNotAllowed, 8, "leave out the key"),
            ("t.n[\"x\"]", Kind::KeyNotAllowed, 3, "leave out the key"),
            ("module.a", Kind::OtherKind, 8, "module"),
        ],
    );
    check_refusals(
        ModuleInstance::parse,
        &[
            ("a.b", Kind::ModulePath, 0, "module.NAME"),
            ("module.a.t", Kind::Trailing, 9, "end the address"),
            ("module.a[1.5]", Kind::Index, 9, "whole"),
            ("", Kind::Empty, 0, "empty"),
        ],
    );
    check_refusals(Module::parse, &[("module.a[0]", Kind::KeyNotAllowed, 8, "key")]);
}

#[test]
fn a_dependency_loses_the_keys_of_its_modules() -> Result<(), Box<dyn std::error::Error>> {
    let cases = [
        (r#"module.a["x"].t.n"#, "module.a.t.n"),
        ("module.a[0].module.b.data.t.n", "module.a.module.b.data.t.n"),
        ("var.input", "var.input"),
    ];
    for (text, config) in cases {
        let resource = AbsResource::parse(text)?.to_config();
        assert_eq!(resource.to_string(), config);
        assert_eq!(ConfigResource::parse(config)?, resource);
        assert!(resource.contains_resource(&AbsResource::parse(text)?));
    }
    Ok(())
}

#[test]
fn reads_checkable_addresses_by_their_kind() -> Result<(), Box<dyn std::error::Error>> {
    let cases = [
        ("resource", "module.a[0].test.x[\"k\"]", "module.a.test.x"),
        ("resource", "data.t.n", "data.t.n"),
        ("output", "module.m[1].output.o", "module.m.output.o"),
        ("check", "check.passes", "check.passes"),
        ("var", "module.m.module.n[\"x\"].var.port", "module.m.module.n.var.port"),
    ];
    for (kind, address, config) in cases {
        let kind = CheckableKind::from_wire(kind).ok_or(kind)?;
        let object = Checkable::parse(kind, address)?;
        assert_eq!((object.kind(), object.to_string()), (kind, address.to_owned()));
        let parsed = ConfigCheckable::parse(kind, config)?;
        assert_eq!((parsed.kind(), parsed.to_string()), (kind, config.to_owned()));
        assert_eq!(object.to_config(), parsed);
    }
    assert_eq!(CheckableKind::from_wire("input"), None);
    Ok(())
}

#[test]
fn refuses_checkable_addresses_that_do_not_fit() {
    let config = |kind| move |text: &str| ConfigCheckable::parse(kind, text);
    let object = |kind| move |text: &str| Checkable::parse(kind, text);
    check_refusals(
        config(CheckableKind::Resource),
        &[
            ("module.a[0].test.x", Kind::KeyNotAllowed, 8, "key"),
            ("test.x[0]", Kind::KeyNotAllowed, 6, "key"),
            ("module.a", Kind::OtherKind, 8, "module"),
        ],
    );
    check_refusals(
        config(CheckableKind::Output),
        &[("module.a[\"k\"].output.x", Kind::KeyNotAllowed, 8, "key")],
    );
    check_refusals(
        object(CheckableKind::Output),
        &[
            ("output", Kind::Checkable, 6, "output.NAME"),
            ("module.a.output", Kind::Checkable, 15, "output.NAME"),
            ("module.a", Kind::Checkable, 8, "output.NAME"),
            ("check.x", Kind::Checkable, 0, "output.NAME"),
            ("output[0]", Kind::Checkable, 6, "name is missing"),
            ("output.a[0]", Kind::KeyNotAllowed, 8, "key"),
            ("output.a.b", Kind::Trailing, 9, "remove"),
        ],
    );
}

#[test]
fn an_error_repeats_only_the_beginning_of_a_long_address_on_one_line() {
    let error = Target::parse(&format!("a\n{}", "b".repeat(1 << 20))).expect_err("nothing joins the names");
    assert!(error.to_string().len() < 500);
    assert_eq!(error.address().lines().count(), 1);
    assert_eq!(error.position(), 2);
    let words = "invalid address `a.b.c`: what follows a resource is a key in brackets (at byte 4); \
                 write `[\"c\"]` if it is a key, otherwise remove it";
    assert_eq!(Target::parse("a.b.c").expect_err("three names").to_string(), words);
    assert_eq!(size_of_val(&error), size_of::<usize>(), "results of the parsers stay small");
}
