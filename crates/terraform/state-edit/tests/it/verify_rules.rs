//! Boundaries of single rules: the last input that is fine, the first that is not, and what is said of it.

use groundstate_state_edit::{Report, Rule, Severity, VerifyOptions, verify};
use groundstate_statefile::{Code, Dialect};

use crate::verify_inputs::{check, document, of_rule, resource};

/// A resource `t.a` with these instance keys, as they stand in JSON; no text is no key.
fn keyed(module: &str, keys: &[&str]) -> String {
    let objects: Vec<String> = keys
        .iter()
        .map(|key| match *key {
            "" => r#"{"attributes": {}}"#.to_owned(),
            key => format!(r#"{{"index_key": {key}, "attributes": {{}}}}"#),
        })
        .collect();
    let whole = resource(module, "a", "");
    let (head, _) = whole.split_once(r#""instances":"#).unwrap();
    format!(r#"{head}"instances": [{}]}}"#, objects.join(", "))
}

fn checked(resources: &[String]) -> Report {
    check(document(&resources.join(",")).as_bytes())
}

#[test]
fn indexes_have_gaps_from_the_first_missing_one_on() {
    for (keys, said) in [
        (&["0", "1", "2"][..], None),
        (&["2", "0", "1"], None),
        (&["0"], None),
        (&["1"], Some("index 0 is missing below 1")),
        (&["0", "2"], Some("index 1 is missing below 2")),
        (&["0", "1", "5"], Some("3 indexes are missing below 5, the first is 2")),
        (&["3"], Some("3 indexes are missing below 3, the first is 0")),
    ] {
        assert_eq!(of_rule(&checked(&[keyed("", keys)]), Rule::IndexGap), Vec::from_iter(said), "{keys:?}");
    }
}

#[test]
fn indexes_beyond_exact_floating_point_are_named() {
    let last = checked(&[keyed("", &["9007199254740992"])]);
    assert!(of_rule(&last, Rule::HugeIndex).is_empty());
    assert_eq!(of_rule(&last, Rule::IndexGap).len(), 1);
    let beyond = checked(&[keyed("", &["0", "9007199254740993"])]);
    assert_eq!(
        of_rule(&beyond, Rule::HugeIndex),
        ["index 9007199254740993 is beyond 2^53, up to where Terraform reads indexes exactly"]
    );
    assert!(of_rule(&beyond, Rule::IndexGap).is_empty(), "a gap of that size says nothing");
    let finding = beyond.findings.iter().find(|finding| finding.rule == Rule::HugeIndex).unwrap();
    assert_eq!(finding.place.as_ref().unwrap().path, "resources[0].instances[1]");
}

#[test]
fn kinds_of_keys_are_mixed_from_the_second_on() {
    for (keys, kinds, at) in [
        (&["", "0"][..], "no key and numbers", 1),
        (&["0", "1", "\"k\""], "numbers and strings", 2),
        (&["\"k\"", ""], "no key and strings", 1),
        (&["\"k\"", "0", ""], "no key and numbers and strings", 1),
    ] {
        let report = checked(&[keyed("", keys)]);
        let found: Vec<_> =
            report.findings.iter().filter(|finding| finding.rule == Rule::MixedKeys).collect();
        let [finding] = found.as_slice() else { panic!("{keys:?}: {report:?}") };
        assert_eq!(finding.message, format!("the instances of t.a have {kinds} as keys"));
        assert_eq!(finding.place.as_ref().unwrap().path, format!("resources[0].instances[{at}]"));
        assert!(of_rule(&report, Rule::IndexGap).is_empty(), "{keys:?}");
    }
    for keys in [&["0", "1"][..], &["\"a\"", "\"b\""], &[""]] {
        assert!(of_rule(&checked(&[keyed("", keys)]), Rule::MixedKeys).is_empty(), "{keys:?}");
    }
}

#[test]
fn mixed_module_keys_are_told_once_for_each_call_and_each_instance_around_it() {
    let of = |modules: &[&str]| {
        let resources: Vec<String> = modules.iter().map(|module| resource(module, "a", "")).collect();
        let report = checked(&resources);
        of_rule(&report, Rule::MixedModuleKeys).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        of(&["module.m", "module.m[0]", "module.m[1]"]),
        ["the instances of module.m have no key and numbers as keys"]
    );
    assert_eq!(of(&["module.m[0]", "module.m[1]"]), [""; 0]);
    // The same call inside of another instance is another one.
    assert_eq!(of(&["module.o[0].module.m", "module.o[1].module.m[0]"]), [""; 0]);
    assert_eq!(
        of(&["module.o[0].module.m", "module.o[0].module.m[0]", "module.o[1].module.m[0]"]),
        ["the instances of module.o[0].module.m have no key and numbers as keys"]
    );
    assert_eq!(of(&["module.m.module.n", "module.n[0]"]), [""; 0]);
}

#[test]
fn writers_are_unusual_from_the_first_unknown_release_on() {
    for (version, said) in [
        ("1.17.0", None),
        ("1.17.99", None),
        ("0.13.0", None),
        ("1.18.0", Some("1.18.0 is newer than every release that is known here")),
        ("2.0.0", Some("2.0.0 is newer than every release that is known here")),
        ("1.11.0-rc1", Some("1.11.0-rc1 is a pre-release")),
        ("1.18.0-alpha1", Some("1.18.0-alpha1 is newer than every release that is known here")),
    ] {
        let text = document(&resource("", "a", "")).replace("1.11.4", version);
        assert_eq!(of_rule(&check(text.as_bytes()), Rule::WriterUnusual), Vec::from_iter(said), "{version}");
    }
}

#[test]
fn of_a_document_without_a_format_nothing_else_is_judged() {
    let text = document(&resource("", "a", r#""t.gone""#));
    for (version, code) in [("", Code::VersionMissing), (r#""version": "x", "#, Code::VersionType)] {
        let report = check(text.replace(r#""version": 4, "#, version).as_bytes());
        let rules: Vec<Rule> = report.findings.iter().map(|finding| finding.rule).collect();
        assert_eq!((&rules[..], report.resources), (&[Rule::Problem(code)][..], 0), "{report:?}");
    }
}

#[test]
fn only_the_first_format_goes_without_a_lineage() {
    for (version, said) in [(1, 0), (2, 1), (3, 1)] {
        let text = format!(
            r#"{{"version": {version}, "serial": 1, "modules": [{{"path": ["root"], "outputs": {{}}, "resources": {{}}}}]}}"#
        );
        let report = check(text.as_bytes());
        assert_eq!(of_rule(&report, Rule::LineageMissing).len(), said, "format {version}: {report:?}");
    }
}

#[test]
fn options_add_up_in_any_order() {
    let text = document(&resource("", "a", ""));
    let options = VerifyOptions::default;
    for options in [
        options().large(1).threads(2).dialect(Dialect::OpenTofu),
        options().dialect(Dialect::OpenTofu).large(1).threads(2),
    ] {
        let report = verify(text.as_bytes(), &options);
        assert_eq!(report.dialect, Some(Dialect::OpenTofu), "the file looks like one of Terraform");
        assert_eq!(of_rule(&report, Rule::Large).len(), 1, "{report:?}");
    }
}

#[test]
fn a_file_is_very_large_above_the_limit_and_not_at_it() {
    let text = document(&resource("", "a", ""));
    let at = |limit| verify(text.as_bytes(), &VerifyOptions::default().large(limit));
    assert!(of_rule(&at(text.len()), Rule::Large).is_empty());
    let size = text.len();
    assert_eq!(
        of_rule(&at(size - 1), Rule::Large),
        [format!("the file has {size} bytes, more than {}", size - 1)]
    );
}

#[test]
fn lineage_and_serial_are_told_apart_by_what_is_missing() {
    let whole = document(&resource("", "a", ""));
    let lineage = "3f2a1c00-0000-4000-8000-000000000001";
    for (old, new, expected) in [
        (lineage, lineage, &[][..]),
        (lineage, "", &[Rule::LineageMissing]),
        (lineage, "3F2A1C00-0000-4000-8000-000000000001", &[Rule::LineageUnusual]),
        (lineage, "3f2a1c00-0000-4000-8000-00000000000g", &[Rule::LineageUnusual]),
        (lineage, "my-stack", &[Rule::LineageUnusual]),
        (r#""serial": 1"#, r#""serial": 0"#, &[Rule::SerialZero]),
        (r#""serial": 1,"#, "", &[Rule::SerialZero]),
        (r#""terraform_version": "1.11.4","#, "", &[Rule::WriterMissing]),
    ] {
        let report = check(whole.replace(old, new).as_bytes());
        let rules: Vec<Rule> = report.findings.iter().map(|finding| finding.rule).collect();
        let rules: Vec<Rule> = rules.into_iter().filter(|rule| *rule != Rule::NotCanonical).collect();
        assert_eq!(rules, expected, "{new}: {report:?}");
    }
}

#[test]
fn a_layout_that_is_not_canonical_says_where_it_begins_and_what_a_write_costs() {
    let file = groundstate_statefile::decode(document("").as_bytes(), &Default::default()).unwrap();
    let canonical = groundstate_statefile::encode(&file, &Default::default()).unwrap();
    let canonical = String::from_utf8(canonical).unwrap();
    assert!(check(canonical.as_bytes()).is_clean());
    let said = |text: &str| {
        let report = check(text.as_bytes());
        of_rule(&report, Rule::NotCanonical).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let begins = |at: usize| format!("writing the state again would change the file from byte {at} on ");
    let colon = canonical.find(r#""serial": "#).unwrap() + r#""serial":"#.len();
    let wide = canonical.replacen(r#""serial": "#, r#""serial":  "#, 1);
    assert_eq!(said(&wide), [begins(colon + 1) + "and make it 1 bytes shorter"]);
    let narrow = canonical.replacen(r#""serial": "#, r#""serial":"#, 1);
    assert_eq!(said(&narrow), [begins(colon) + "and make it 1 bytes longer"]);
    let at = canonical.find("  \"serial\"").unwrap();
    let tab = canonical.replacen("  \"serial\"", "\t \"serial\"", 1);
    assert_eq!(said(&tab), [begins(at) + "without changing its size"]);
    let blanks = format!("{canonical}\n\n");
    // One line break at the end is kept.
    assert_eq!(said(&blanks), [begins(canonical.len() + 1) + "and make it 1 bytes shorter"]);
}

#[test]
fn providers_are_counted_with_the_resources_that_have_them() {
    let own = |name: &str, provider: &str| {
        resource("", name, "").replace(r#"provider[\"registry.terraform.io/hashicorp/t\"]"#, provider)
    };
    let report = checked(&[own("a", r#"provider[\"acme/t\"]"#)]);
    assert_eq!(
        of_rule(&report, Rule::ShortProvider),
        [r#"provider["acme/t"] of one resource does not name the registry"#]
    );
    let report = checked(&[own("a", "provider.t"), own("b", "provider.t"), own("c", "provider.t")]);
    assert_eq!(
        of_rule(&report, Rule::LegacyProvider),
        ["provider.t of 3 resources does not say where the provider comes from"]
    );
    let full = |host: &str, name: &str| format!(r#"provider[\"{host}/{name}/t\"]"#);
    let report = checked(&[
        own("a", &full("registry.terraform.io", "acme")),
        own("b", &full("example.com", "acme")),
        own("c", &full("example.com", "acme")),
    ]);
    assert_eq!(
        of_rule(&report, Rule::ProviderHosts),
        ["acme/t comes from registry.terraform.io and from example.com"]
    );
    assert!(of_rule(&report, Rule::ProviderSources).is_empty(), "a registry makes no other provider");
    let report = checked(&[
        own("a", &full("registry.terraform.io", "hashicorp")),
        own("b", &full("registry.terraform.io", "acme")),
    ]);
    assert_eq!(
        of_rule(&report, Rule::ProviderSources),
        ["resources of type t belong to acme/t and hashicorp/t"]
    );
    let finding = report.findings.iter().find(|finding| finding.rule == Rule::ProviderSources).unwrap();
    assert_eq!(finding.place.as_ref().unwrap().path, "resources[1]", "the first one counts as right");
}

#[test]
fn attributes_are_an_object_or_a_flat_map_that_has_something() {
    let flat = r#""attributes_flat": {"id": "i"}"#;
    for (members, rules) in [
        (r#""attributes": {}"#.to_owned(), &[][..]),
        (flat.to_owned(), &[Rule::FlatAttributes]),
        (format!(r#""attributes": null, {flat}"#), &[Rule::FlatAttributes]),
        (format!(r#""attributes": {{}}, {flat}"#), &[]),
        (r#""attributes": {}, "attributes_flat": {}"#.to_owned(), &[]),
        (r#""attributes_flat": {}"#.to_owned(), &[]),
        (r#""attributes": null, "attributes_flat": {}"#.to_owned(), &[]),
        (r#""attributes": null"#.to_owned(), &[Rule::NotAnObject]),
        (format!(r#""attributes": [], {flat}"#), &[Rule::NotAnObject]),
    ] {
        let report = checked(&[resource("", "a", "").replace(r#""attributes": {}"#, &members)]);
        let found: Vec<Rule> = report.findings.iter().map(|finding| finding.rule).collect();
        let found: Vec<Rule> = found
            .into_iter()
            .filter(|rule| [Rule::FlatAttributes, Rule::NotAnObject].contains(rule))
            .collect();
        assert_eq!(found, rules, "{members}");
    }
}

#[test]
fn addresses_without_a_registry_are_read_with_that_of_the_product() {
    let said = |provider: &str, dialect| {
        let text =
            resource("", "a", "").replace(r#"provider[\"registry.terraform.io/hashicorp/t\"]"#, provider);
        let report = verify(document(&text).as_bytes(), &VerifyOptions::default().dialect(dialect));
        let rules = [Rule::UnreadProvider, Rule::LegacyProvider, Rule::ShortProvider];
        let found = report.findings.into_iter().filter(|finding| rules.contains(&finding.rule));
        found.map(|finding| finding.message).collect::<Vec<_>>()
    };
    for dialect in [Dialect::Terraform, Dialect::OpenTofu] {
        let legacy = "provider.t of one resource does not say where the provider comes from";
        assert_eq!(said("provider.t", dialect), [legacy], "{dialect:?} takes it for its own");
        let old = "provider.terraform of one resource is written as before Terraform 0.13";
        assert_eq!(said("provider.terraform", dialect), [old]);
        assert_eq!(said(r#"provider[\"terraform.io/builtin/terraform\"]"#, dialect), [""; 0]);
        let short = r#"provider["t"] of one resource does not name the registry"#;
        assert_eq!(said(r#"provider[\"t\"]"#, dialect), [short]);
    }
}

#[test]
fn instances_that_name_their_provider_are_counted() {
    let provider = r#""provider": "provider[\"registry.opentofu.org/hashicorp/t\"]""#;
    let with = |count: usize| {
        let objects: Vec<String> = (0..count)
            .map(|key| format!(r#"{{"index_key": {key}, "attributes": {{}}, {provider}}}"#))
            .collect();
        checked(&[format!(
            r#"{{"mode": "managed", "type": "t", "name": "a", "instances": [{}]}}"#,
            objects.join(",")
        )])
    };
    for (count, names) in [(1, "its instance names"), (2, "its 2 instances name")] {
        assert_eq!(
            of_rule(&with(count), Rule::InstanceProvider),
            [format!("Terraform cannot read t.a and deletes it, because {names} the provider")]
        );
    }
    let own = format!("{{{provider}, \"attributes\"");
    let report = checked(&[resource("", "a", "").replace("{\"attributes\"", &own)]);
    let found: Vec<_> =
        report.findings.iter().filter(|finding| finding.rule == Rule::OpenTofuMember).collect();
    let [finding] = found.as_slice() else { panic!("{report:?}") };
    assert_eq!(
        finding.message,
        "Terraform drops the \"provider\" of instances, and uses that of the resource"
    );
    assert_eq!(finding.address.as_deref(), Some("t.a"));
}

#[test]
fn cycles_show_the_shortest_way_around_and_how_many_are_in_it() {
    let names = ["a", "b", "c", "d"];
    let ring = |needs: [&str; 4]| {
        let all: Vec<String> =
            names.iter().zip(needs).map(|(name, needs)| resource("", name, needs)).collect();
        let report = checked(&all);
        of_rule(&report, Rule::DependencyCycle).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        ring([r#""t.b""#, r#""t.a""#, r#""t.d""#, r#""t.c""#]),
        ["t.a -> t.b -> t.a", "t.c -> t.d -> t.c"]
    );
    assert_eq!(ring([r#""t.b""#, r#""t.c""#, r#""t.d""#, r#""t.a""#]), ["t.a -> t.b -> t.c -> t.d -> t.a"]);
    let both = ring([r#""t.b", "t.d""#, r#""t.c""#, r#""t.a""#, r#""t.a""#]);
    assert_eq!(
        both,
        ["t.a -> t.d -> t.a; 4 resources in all depend on each other there, so there are more such cycles"]
    );
    assert_eq!(ring([r#""t.b""#, r#""t.c""#, r#""t.d""#, ""]), [""; 0]);
}

#[test]
fn a_report_counts_by_severity_and_names_the_worst() {
    let clean = checked(&[resource("", "a", "")]);
    assert_eq!(clean.of_severity(Severity::Error), 0);
    let worse = checked(&[resource("", "a", r#""t.a", "t.gone""#), keyed("module.m", &["0", ""])]);
    let count = |severity| worse.of_severity(severity);
    assert_eq!((count(Severity::Error), count(Severity::Warning)), (1, 1), "{worse:?}");
    assert_eq!(worse.worst(), Some(Severity::Error));
    assert!(!worse.is_clean());
    assert_eq!(
        count(Severity::Error) + count(Severity::Warning) + count(Severity::Info),
        worse.findings.len()
    );
    assert_eq!((worse.resources, worse.objects, worse.outputs), (2, 3, 0));
}
