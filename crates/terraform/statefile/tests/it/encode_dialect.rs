//! Terraform and OpenTofu: what tells their files apart, and what each writes.

use groundstate_statefile::{
    Code, DecodeOptions, Dialect, Document, EncodeError, EncodeOptions, File, NoteKind, Style, WriterVersion,
    decode, encode, losses_in,
};
use groundstate_states::addr::InstanceKey;
use groundstate_states::{AttributePath, Lineage, PathStep};

use crate::support::{
    PROVIDER, TOFU_PROVIDER, again, codes, compact, document, instances_again, note_kinds, read, read_as,
    strict_verdict, with_instances, with_output, with_resource, write,
};

/// An object with every member, in the order in which this product writes them.
fn full(dialect: Dialect) -> String {
    let head = r#""index_key":0,"status":"tainted","deposed":"00000001""#;
    let body =
        r#""schema_version":1,"attributes":{},"sensitive_attributes":[[{"type":"get_attr","value":"a"}]]"#;
    let rest = r#""private":"YQ==","dependencies":["t.n"]"#;
    match dialect {
        Dialect::Terraform => format!(
            r#"{{{head},{body},"identity_schema_version":2,"identity":{{"id":1.0}},{rest},"create_before_destroy":true}}"#
        ),
        Dialect::OpenTofu => format!(
            r#"{{{head},"provider":"provider[\"registry.opentofu.org/hashicorp/test\"].p[\"k\"]",{body},{rest},"depends_on":["t.n[0]","module.m[1].t.n"],"create_before_destroy":true,"skip_destroy":true,"identity":{{"id":1.0}},"identity_schema_version":2}}"#
        ),
    }
}

#[test]
fn each_product_has_its_own_order_of_members() {
    let terraform = with_instances(&full(Dialect::Terraform));
    assert_eq!(instances_again(&terraform), full(Dialect::Terraform));
    let opentofu = with_resource(&format!(
        r#""mode":"managed","type":"t","name":"n","instances":[{}]"#,
        full(Dialect::OpenTofu)
    ));
    let file = read(&opentofu);
    assert_eq!(file.dialect, Dialect::OpenTofu);
    assert_eq!(
        compact(&file),
        opentofu
            .replace("}]}]}", r#"}]}],"check_results":null}"#)
            .replace(r#""lineage":"l","#, r#""lineage":"l","outputs":{},"#)
            + "\n"
    );
    assert!(strict_verdict(opentofu.as_bytes()) && strict_verdict(terraform.as_bytes()));
}

#[test]
fn traces_of_opentofu_decide_for_it() {
    let opentofu = [
        with_instances(r#"{"skip_destroy":true}"#),
        with_instances(r#"{"depends_on":["t.n[0]"]}"#),
        with_instances(r#"{"provider":"provider[\"a/b\"]"}"#),
        with_instances(r#"{"identity":{},"identity_schema_version":0}"#),
        with_output(r#""value":1,"type":"number","deprecated":"old""#),
        with_resource(&format!(r#""mode":"data","type":"t","name":"n","provider":{TOFU_PROVIDER}"#)),
    ];
    for text in opentofu {
        assert_eq!(read(&text).dialect, Dialect::OpenTofu, "{text}");
        assert!(strict_verdict(text.as_bytes()));
        assert_eq!(read_as(Dialect::Terraform, &text).dialect, Dialect::Terraform);
    }
    let neither = [
        document(""),
        with_instances(r#"{"skip_destroy":false,"depends_on":[],"provider":""}"#),
        with_instances(r#"{"identity_schema_version":0,"identity":{}}"#),
    ];
    for text in neither {
        assert_eq!(read(&text).dialect, Dialect::Terraform, "{text}");
        assert!(strict_verdict(text.as_bytes()));
        assert_eq!(read_as(Dialect::OpenTofu, &text).dialect, Dialect::OpenTofu);
    }
}

#[test]
fn empty_lists_of_paths_are_written_as_each_release_writes_them() {
    let with_writer =
        |version: &str| with_instances(r#"{"schema_version":0,"attributes":{}}"#).replace("1.11.4", version);
    for (version, written) in [
        ("0.13.7", false),
        ("0.14.0", true),
        ("1.3.5", true),
        ("1.11.4", true),
        ("1.12.0", false),
        ("1.12.0-beta1", false),
        ("2.0.0", false),
    ] {
        let text = again(with_writer(version));
        assert_eq!(text.contains(r#""sensitive_attributes":[]"#), written, "{version}: {text}");
        let opentofu = compact(&read_as(Dialect::OpenTofu, with_writer(version)));
        assert!(opentofu.contains(r#""sensitive_attributes":[]"#), "{version}: {opentofu}");
    }
    let found = with_instances(r#"{"schema_version":0,"attributes":{},"sensitive_attributes":[]}"#);
    assert!(
        again(found.replace("1.11.4", "1.12.0")).contains(r#""sensitive_attributes":[]"#),
        "as it was found"
    );
}

#[test]
fn check_results_are_written_since_terraform_1_3() {
    for (version, written) in [("0.12.31", false), ("1.2.9", false), ("1.3.0", true), ("1.11.4", true)] {
        let text = document("").replace("1.11.4", version);
        assert_eq!(again(&text).contains("check_results"), written, "{version}");
    }
    let found = document(r#""check_results":[]"#).replace("1.11.4", "1.2.9");
    assert!(again(found).contains(r#""check_results":null"#));
}

#[test]
fn style_follows_dialect_and_release() {
    let version = |text: &str| WriterVersion::parse(text).unwrap();
    for (dialect, writer, sensitive, checks, indented) in [
        (Dialect::OpenTofu, None, true, true, true),
        (Dialect::OpenTofu, Some("1.7.0"), true, true, true),
        (Dialect::OpenTofu, Some("1.8.0"), true, true, false),
        (Dialect::OpenTofu, Some("1.11.0"), true, true, false),
        (Dialect::OpenTofu, Some("1.12.0"), true, true, true),
        (Dialect::Terraform, None, true, true, true),
        (Dialect::Terraform, Some("0.12.0"), false, false, true),
        (Dialect::Terraform, Some("1.0.0"), true, false, true),
        (Dialect::Terraform, Some("1.12.0"), true, true, true),
    ] {
        let style = Style::of(dialect, writer.map(version).as_ref());
        let found = (style.empty_sensitive, style.empty_checks, style.indented);
        assert_eq!(found, (sensitive, checks, indented), "{dialect} {writer:?}");
    }
}

#[test]
fn layouts_of_either_product_are_kept_and_terraform_indents_others() {
    let compact_text = with_resource(&format!(
        r#""mode":"data","type":"t","name":"n","provider":{TOFU_PROVIDER},"instances":[]"#
    ));
    let written = write(&read(&compact_text));
    assert!(!written.contains("\n "), "{written}");
    let mut file = read(&compact_text);
    file.style.indented = true;
    let indented = write(&file);
    assert_eq!(write(&read(&indented)), indented);
    assert_eq!(write(&read(written)), write(&read(&compact_text)));
    let blanks = document("").replace(':', ": ");
    let terraform = write(&read(&blanks));
    assert!(terraform.starts_with("{\n  \"version\": 4,\n"), "{terraform}");
    let chosen = encode(&read(&indented), &EncodeOptions::default().indented(false)).unwrap();
    assert!(!String::from_utf8(chosen).unwrap().contains("\n "));
}

#[test]
fn references_of_terraform_0_12_are_dropped_with_a_note() {
    let old =
        with_instances(r#"{"depends_on":["module.y","var.x","aws_x.y[0]"]}"#).replace("1.11.4", "0.12.31");
    assert_eq!(note_kinds(&old), [NoteKind::Dropped]);
    assert!(!again(&old).contains("depends_on"));
    // These would be addresses if another release had written them.
    let parsable = with_instances(r#"{"depends_on":["aws_x.y"]}"#).replace("1.11.4", "0.12.31");
    assert_eq!(read(&parsable).dialect, Dialect::Terraform);
    assert!(!again(&parsable).contains("depends_on"));
    let mixed = with_instances(r#"{"depends_on":["t.n","module.y"]}"#);
    assert_eq!(note_kinds(&mixed), [NoteKind::Dropped]);
    assert!(strict_verdict(old.as_bytes()) && strict_verdict(mixed.as_bytes()));
}

#[test]
fn the_release_counts_wherever_it_stands() {
    let object = r#"{"mode":"managed","type":"t","name":"n","provider":"provider.t","instances":[{"depends_on":["a.b"]}]}"#;
    let text = format!(r#"{{"version":4,"resources":[{object}],"terraform_version":"0.12.31"}}"#);
    assert_eq!(note_kinds(&text), [NoteKind::Dropped]);
    assert_eq!(read(&text).dialect, Dialect::Terraform);
    assert!(strict_verdict(text.as_bytes()));
}

#[test]
fn precise_dependencies_of_opentofu_keep_their_order() {
    let list = r#""depends_on":["t.z[\"k\"]","module.m[0].data.t.a","t.b","t.z[\"k\"]"]"#;
    let text = with_instances(&format!("{{{list}}}"));
    assert!(instances_again(&text).contains(list));
    assert!(strict_verdict(text.as_bytes()));
}

#[test]
fn keyed_providers_stand_on_every_instance() {
    let provider =
        |key: &str| format!(r#""provider":"provider[\"registry.opentofu.org/hashicorp/test\"].p{key}""#);
    let text = |a: &str, b: &str| {
        with_resource(&format!(
            r#""mode":"managed","type":"t","name":"n","instances":[{{"index_key":0,{}}},{{"index_key":1,{}}}]"#,
            provider(a),
            provider(b)
        ))
    };
    for (a, b) in [(r#"[\"x\"]"#, r#"[\"y\"]"#), (r#"[\"x\"]"#, ""), ("[0]", "[1]")] {
        let written = again(text(a, b));
        assert!(written.contains(&format!(r#""index_key":0,{}"#, provider(a))), "{written}");
        assert!(written.contains(&format!(r#""index_key":1,{}"#, provider(b))), "{written}");
        assert_eq!(written.matches(r#""provider":"#).count(), 2, "none on the resource");
        assert!(strict_verdict(text(a, b).as_bytes()));
    }
    let keyless = again(text("", ""));
    assert_eq!(keyless.matches(r#""provider":"#).count(), 1, "once on the resource is enough: {keyless}");
}

#[test]
fn instances_agree_on_their_provider() {
    let text = with_resource(
        r#""mode":"managed","type":"t","name":"n","instances":[{"index_key":0,"provider":"provider[\"a/b\"]"},{"index_key":1,"provider":"provider[\"a/c\"]"}]"#,
    );
    assert_eq!(codes(&text), [Code::ProviderConflict]);
    assert!(!strict_verdict(text.as_bytes()));
    let both = with_instances(r#"{"provider":"provider[\"a/b\"].x[0]"}"#);
    assert_eq!(note_kinds(&both), [NoteKind::Lost], "the resource's own one would be lost");
    let same = with_instances(&format!(r#"{{"provider":{PROVIDER}}}"#));
    assert!(note_kinds(&same).is_empty());
}

#[test]
fn the_version_of_an_identity_is_written_as_it_was_read() {
    let alone =
        r#"{"schema_version":0,"attributes":{},"sensitive_attributes":[],"identity_schema_version":0}"#;
    assert_eq!(instances_again(with_instances(alone)), alone, "Terraform 1.12 writes it on every object");
    let opentofu = compact(&read_as(Dialect::OpenTofu, with_instances(alone)));
    assert!(
        opentofu.contains(r#""identity_schema_version":0"#),
        "OpenTofu reads it, and drops it itself: {opentofu}"
    );
    let without = r#"{"schema_version":0,"attributes":{},"sensitive_attributes":[]}"#;
    assert_eq!(instances_again(with_instances(without)), without);
    let identity = with_instances(r#"{"identity":{"b":1.0, "a":"<"}}"#);
    assert!(instances_again(identity).contains(r#""identity":{"b":1.0,"a":"\u003c"}"#));
}

#[test]
fn short_provider_addresses_belong_to_the_registry_of_the_product() {
    let resources = r#""resources":[{"mode":"data","type":"t","name":"a","provider":"provider.t","instances":[]},{"mode":"data","type":"t","name":"b","provider":"provider[\"x/y\"]","instances":[]},{"mode":"data","type":"t","name":"c","provider":"provider.terraform","instances":[]}]"#;
    let providers = |text: &str| {
        let file = read(text);
        let all = file.state.all_resources().map(|(_, _, resource)| resource.provider.to_string());
        all.collect::<Vec<_>>()
    };
    let expected = |host: &str| {
        let builtin = r#"provider["terraform.io/builtin/terraform"]"#.to_owned();
        vec![format!(r#"provider["{host}/-/t"]"#), format!(r#"provider["{host}/x/y"]"#), builtin]
    };
    let text = document(resources);
    assert_eq!(providers(&text), expected("registry.terraform.io"));
    let tofu =
        document(&format!(r#"{resources},"outputs":{{"a":{{"value":1,"type":"number","deprecated":"d"}}}}"#));
    assert_eq!(providers(&tofu), expected("registry.opentofu.org"));
    // What is written is what was read, so that it means the same beside whatever else the file holds.
    for text in [text, tofu.clone()] {
        let written = again(&text);
        assert!(
            written.contains(r#""provider.t""#) && written.contains(r#""provider[\"x/y\"]""#),
            "{written}"
        );
    }
    let document = Document::open(tofu.into_bytes()).unwrap();
    for address in document.resources() {
        let provider = document.resource(address).unwrap().unwrap().provider.to_string();
        assert!(!provider.contains("registry.terraform.io"), "{provider}");
    }
}

#[test]
fn what_terraform_has_no_place_for_is_listed_and_refused() {
    let text = with_resource(&format!(
        r#""mode":"managed","type":"t","name":"n","instances":[{}]}}],"outputs":{{"a":{{"value":1,"type":"number","deprecated":"old"}}}},"x":[{{"y":1"#,
        full(Dialect::OpenTofu)
    ));
    let file = read_as(Dialect::Terraform, &text);
    let error = encode(&file, &EncodeOptions::default()).unwrap_err();
    insta::assert_snapshot!(error, @r#"writing would lose the deprecation message of output.a; the instance key of its provider of t.n[0]; the member "skip_destroy" of t.n[0] and 1 more; allow the loss to write it"#);
    let EncodeError::Loss(losses) = error else { unreachable!("asserted above") };
    let listed: Vec<String> = losses.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(listed.join("\n"), @r#"
    the deprecation message of output.a
    the instance key of its provider of t.n[0]
    the member "skip_destroy" of t.n[0]
    the instances in "depends_on" of t.n[0]
    "#);
    let written = encode(&file, &EncodeOptions::default().allow_loss(true).indented(false)).unwrap();
    let written = String::from_utf8(written).unwrap();
    for gone in ["skip_destroy", "depends_on", "deprecated", ".p[", "tofu\"].p\""] {
        assert!(!written.contains(gone), "{gone} in {written}");
    }
    assert_eq!(compact(&read_as(Dialect::Terraform, &written)), written);
    let elsewhere: Vec<String> =
        losses_in(&read(&text), Dialect::OpenTofu).iter().map(ToString::to_string).collect();
    assert_eq!(elsewhere, ["the unknown member \"x\""], "only groundstate keeps it");
}

#[test]
fn a_new_file_is_written_with_all_members() {
    let file = File::new(Dialect::OpenTofu, Lineage::new("l"));
    let expected = "{\n  \"version\": 4,\n  \"terraform_version\": \"\",\n  \"serial\": 0,\n  \"lineage\": \"l\",\n  \"outputs\": {},\n  \"resources\": [],\n  \"check_results\": null\n}\n";
    assert_eq!(write(&file), expected);
}

#[test]
fn sensitive_paths_are_written_in_every_style() {
    let mut file = read(with_instances("{}").replace("1.11.4", "1.12.0"));
    file.style.indented = true;
    let (address, _) = file.state.resource_instances().next().unwrap();
    assert_eq!(address.key, InstanceKey::None);
    let module = file.state.root_mut();
    let instance = module.instance_mut(&address.resource.resource, &address.key).unwrap();
    let object = std::sync::Arc::make_mut(instance.current.as_mut().unwrap());
    object.sensitive_paths = vec![AttributePath::from_iter([PathStep::attribute("a")])];
    assert!(write(&file).contains("\"sensitive_attributes\": [\n            [\n"), "{}", write(&file));
}

#[test]
fn a_forced_dialect_reads_what_the_other_one_wrote() {
    let options = DecodeOptions::default().dialect(Dialect::OpenTofu);
    let file = decode(with_instances(&full(Dialect::Terraform)).as_bytes(), &options).unwrap();
    let written = compact(&file);
    assert!(
        written
            .contains(r#""create_before_destroy":true,"identity":{"id":1.0},"identity_schema_version":2}"#)
    );
}
