//! Files with merge conflicts, in other encodings, between lines of other programs, and of old formats.

use groundstate_statefile::{SalvageError, Salvaged, salvage};
use groundstate_states::ObjectSrc;

const PROVIDER: &str = r#"provider[\"registry.terraform.io/hashicorp/test\"]"#;

/// A resource as Terraform lays it out.
fn resource(name: &str, id: &str) -> String {
    format!(
        "    {{\n      \"mode\": \"managed\",\n      \"type\": \"t\",\n      \"name\": \"{name}\",\n      \"provider\": \"{PROVIDER}\",\n      \
         \"instances\": [\n        {{\n          \"schema_version\": 0,\n          \"attributes\": {{\n            \"id\": \"{id}\"\n          \
         }}\n        }}\n      ]\n    }}"
    )
}

const LINEAGE: &str = "6d0b9b2e-0000-4444-8888-c0ffee000001";

fn state(serial: &str, outputs: &str, resources: &str) -> String {
    format!(
        "{{\n  \"version\": 4,\n  \"terraform_version\": \"1.11.4\",\n{serial}  \"lineage\": \"{LINEAGE}\",\n  \"outputs\": {{{outputs}}},\n  \
         \"resources\": [\n{resources}\n  ]\n}}\n"
    )
}

fn ids(salvaged: &Salvaged) -> Vec<String> {
    let objects = salvaged.file.state.objects();
    let id = |object: &ObjectSrc| object.attributes.text("id").unwrap_or_default();
    objects.map(|(address, _, object)| format!("{address}={}", id(object))).collect()
}

#[track_caller]
fn lost<'s>(salvaged: &'s Salvaged, what: &str) -> Vec<&'s str> {
    let same = salvaged.lost.iter().filter(|lost| lost.what.as_deref() == Some(what));
    same.map(|lost| lost.reason.as_str()).collect()
}

#[test]
fn ancestor_of_a_conflict_is_on_no_side() {
    let list = [
        resource("both", "1") + ",",
        "<<<<<<< HEAD".to_owned(),
        resource("ours", "2") + ",",
        resource("changed", "new") + ",",
        resource("differs", "x"),
        "||||||| 1234567".to_owned(),
        resource("destroyed", "3") + ",",
        resource("unchanged", "4") + ",",
        resource("changed", "old") + ",",
        resource("differs", "w"),
        "=======".to_owned(),
        resource("unchanged", "4") + ",",
        resource("changed", "old") + ",",
        resource("differs", "y") + ",",
        resource("theirs", "5"),
        ">>>>>>> feature".to_owned(),
    ];
    let serial = "<<<<<<< HEAD\n  \"serial\": 11,\n||||||| 1234567\n  \"serial\": 9,\n=======\n  \"serial\": 12,\n>>>>>>> feature\n";
    let text = state(serial, "", &list.join("\n"));
    for text in [text.clone(), text.replace('\n', "\r\n")] {
        let salvaged = salvage(text.as_bytes()).unwrap();
        assert_eq!(ids(&salvaged), ["t.both=1", "t.changed=new", "t.ours=2", "t.theirs=5"]);
        assert_eq!((salvaged.file.serial.get(), salvaged.conflicts), (13, 2));
        assert_eq!(salvaged.file.lineage.as_str(), LINEAGE);
        assert_eq!(lost(&salvaged, "serial").len(), 1);
        assert!(lost(&salvaged, "t.unchanged")[0].contains("has removed it"), "{:?}", salvaged.lost);
        assert_eq!(lost(&salvaged, "t.differs").len(), 2);
        let ancestors = salvaged.lost.iter().filter(|lost| lost.reason.contains("common ancestor"));
        let ancestors: Vec<_> = ancestors.map(|lost| &text[lost.range.clone()]).collect();
        assert!(
            ancestors[0].contains("\"serial\": 9") && ancestors[1].contains("destroyed"),
            "{ancestors:?}"
        );
        for lost in salvaged.lost.iter().filter(|lost| lost.what.as_deref() == Some("t.differs")) {
            let part = &text[lost.range.clone()];
            assert!(part.contains("\"x\"") || part.contains("\"y\""), "{part}");
        }
    }
}

#[test]
fn conflict_without_ancestor_keeps_what_one_side_has() {
    let list = [
        "<<<<<<< ours".to_owned(),
        resource("a", "1") + ",",
        "=======".to_owned(),
        resource("b", "2") + ",",
        ">>>>>>> theirs".to_owned(),
        resource("c", "3"),
    ];
    let outputs = "\n<<<<<<< ours\n    \"o\": {\n      \"value\": 1,\n      \"type\": \"number\"\n    }\n=======\n    \"o\": {\n      \"value\": 2,\n      \"type\": \"number\"\n    }\n>>>>>>> theirs\n  ";
    let salvaged = salvage(state("  \"serial\": 4,\n", outputs, &list.join("\n")).as_bytes()).unwrap();
    assert_eq!(ids(&salvaged), ["t.a=1", "t.b=2", "t.c=3"]);
    assert_eq!(lost(&salvaged, "output.o").len(), 2);
    assert_eq!(salvaged.file.serial.get(), 5);
}

#[test]
fn whole_documents_on_one_line_each_are_two_sides() {
    let side = |serial: u64, lineage: &str, name: &str| {
        format!(
            r#"{{"version":4,"terraform_version":"1.9.0","serial":{serial},"lineage":"{lineage}","outputs":{{}},"resources":[{{"mode":"managed","type":"t","name":"{name}","provider":"{PROVIDER}","instances":[{{"schema_version":0,"attributes":{{"id":"{serial}"}}}}]}}],"check_results":null}}"#
        )
    };
    let other = "6d0b9b2e-0000-4444-8888-c0ffee000002";
    let text = format!(
        "<<<<<<< HEAD\n{}\n||||||| base\n{}\n=======\n{}\n>>>>>>> x\n",
        side(3, LINEAGE, "a"),
        side(2, LINEAGE, "old"),
        side(7, other, "b")
    );
    let salvaged = salvage(text.as_bytes()).unwrap();
    assert_eq!(ids(&salvaged), ["t.a=3", "t.b=7"]);
    assert_eq!((salvaged.file.serial.get(), salvaged.file.lineage.as_str()), (8, other));
    assert_eq!((lost(&salvaged, "lineage").len(), lost(&salvaged, "serial").len()), (1, 1));
}

#[test]
fn sound_state_in_utf16_or_with_a_mark_comes_out_as_it_is() {
    let text = state("  \"serial\": 4,\n", "", &resource("ü", "😀"));
    let old = r#"{"version": 3, "serial": 2, "lineage": "l", "modules": [{"path": ["root"], "outputs": {}, "resources": {"t.a": {"type": "t", "primary": {"id": "1"}, "provider": "provider.t"}}}]}"#;
    for text in [text.as_str(), old] {
        let plain = salvage(text.as_bytes()).unwrap();
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let marked = [b"\xff\xfe".as_slice(), &little].concat();
        let marked_big = [b"\xfe\xff".as_slice(), &big].concat();
        let utf8 = [b"\xef\xbb\xbf".as_slice(), text.as_bytes()].concat();
        for bytes in [little, big, marked, marked_big, utf8] {
            let salvaged = salvage(&bytes).unwrap();
            assert!(salvaged.lost.is_empty(), "{:?}", salvaged.lost);
            assert_eq!(salvaged.to_vec().unwrap(), plain.to_vec().unwrap());
        }
    }
    // Cut in the middle of a unit.
    let mut cut: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    cut.truncate(cut.len() - 5);
    assert_eq!(salvage(&cut).unwrap().file.state.objects().count(), 1);
}

#[test]
fn lines_around_a_document_cost_nothing_of_it() {
    let indented = state("  \"serial\": 4,\n", "", &resource("a", "1"));
    let compact = format!(
        r#"{{"version":4,"terraform_version":"1.9.0","serial":4,"lineage":"{LINEAGE}","outputs":{{}},"resources":[{{"mode":"managed","type":"t","name":"a","provider":"{PROVIDER}","instances":[{{"schema_version":0,"attributes":{{"id":"1"}}}}]}}],"check_results":null}}"#
    );
    let old = r#"{"version": 3, "serial": 4, "lineage": "6d0b9b2e-0000-4444-8888-c0ffee000001", "modules": [{"path": ["root"], "outputs": {}, "resources": {"t.a": {"type": "t", "primary": {"id": "1"}, "provider": "provider.t"}}}]}"#;
    for text in [indented.as_str(), &compact, old] {
        for (before, behind) in [
            ("[command]/usr/bin/terraform state pull\n", "\n::debug::exitcode: 0\n"),
            ("{\"@level\":\"info\",\"@message\":\"x\"}\n", "{\"@level\":\"info\"}\n"),
            ("\u{1b}[0m\u{1b}[1m", "\u{1b}[0m"),
            ("", "Releasing state lock.\n"),
            ("\u{feff}", ""),
        ] {
            let salvaged = salvage(format!("{before}{text}{behind}").as_bytes()).unwrap();
            assert_eq!(ids(&salvaged), ["t.a=1"], "{before:?}");
            let noisy =
                [before, behind].into_iter().filter(|noise| !noise.is_empty() && *noise != "\u{feff}");
            assert_eq!(salvaged.lost.len(), noisy.count(), "{before:?}: {:?}", salvaged.lost);
        }
    }
}

#[test]
fn object_inside_of_a_damaged_state_is_not_taken_for_the_state() {
    let inner = "{\n\"version\": 4, \"serial\": 1, \"lineage\": \"inner\"\n}";
    let text = state(
        "  \"serial\": 4,\n",
        "",
        &resource("a", "1").replace("\"id\"", &format!("\"nested\":\n{inner}, \"id\"")),
    );
    let cut = &text[..text.len() - 6];
    let found = salvage(cut.as_bytes()).unwrap();
    assert_eq!(found.file.lineage.as_str(), LINEAGE);
}

/// A module tree with entries that no upgrade takes.
fn old(version: u64, entries: &str, more: &str) -> String {
    format!(
        r#"{{"version": {version}, "serial": 4, "lineage": "l", "modules": [
  {{"path": ["root"], "outputs": {{}}, "resources": {{{entries}}}}},
  {{"path": ["root", "m"], "outputs": {{}}, "resources": {{"t.in": {{"type": "t", "primary": {{"id": "in"}}, "provider": "provider.t"}}}}}}{more}]}}"#
    )
}

fn entry(name: &str, provider: &str) -> String {
    format!(r#""{name}": {{"type": "t", "primary": {{"id": "{name}"}}, "provider": "{provider}"}}"#)
}

#[test]
fn entry_of_an_old_format_that_cannot_be_upgraded_is_lost_alone() {
    let good = [entry("t.a", "provider.t"), entry("t.z", "provider.t")];
    for version in [2, 3] {
        for (bad, what) in [
            (entry("t.b.c.d.e", "provider.t"), "t.b.c.d.e"),
            (entry("t.b", "not a provider!"), "t.b"),
            (r#""t.b": 7"#.to_owned(), "t.b"),
            (r#""t.b": {"type": "t", "primary": {"id": 7}, "provider": "provider.t"}"#.to_owned(), "t.b"),
        ] {
            for entries in [
                [&bad, &good[0], &good[1]].map(String::as_str).join(", "),
                [&good[0], &bad, &good[1]].map(String::as_str).join(", "),
                [&good[0], &good[1], &bad].map(String::as_str).join(", "),
            ] {
                let salvaged = salvage(old(version, &entries, "").as_bytes()).unwrap();
                assert_eq!(salvaged.file.state.objects().count(), 3, "{bad}");
                assert_eq!(salvaged.lost.len(), 1, "{:?}", salvaged.lost);
                assert!(salvaged.lost[0].what.as_deref().unwrap().contains(what), "{:?}", salvaged.lost);
                assert_eq!(salvaged.file.serial.get(), 5);
            }
        }
    }
}

#[test]
fn module_output_and_cut_of_an_old_format_cost_no_more_than_themselves() {
    let module = r#", {"path": ["root", "not a name"], "outputs": {}, "resources": {"t.x": {"type": "t", "primary": {"id": "x"}}}}"#;
    let text = old(3, &entry("t.a", "provider.t"), module);
    let salvaged = salvage(text.as_bytes()).unwrap();
    assert_eq!((salvaged.file.state.objects().count(), salvaged.lost.len()), (2, 1));
    // A bad entry before a cut.
    let bad = format!("{}, {}", entry("t.b.c.d.e", "provider.t"), entry("t.a", "provider.t"));
    let text = old(3, &bad, "");
    let salvaged = salvage(&text.as_bytes()[..text.len() - 3]).unwrap();
    assert_eq!((salvaged.file.state.objects().count(), salvaged.lost.len()), (2, 2));
    // A deposed object that cannot be read leaves the current one.
    let deposed = r#""t.a": {"type": "t", "primary": {"id": "1"}, "deposed": [{"id": "2"}, 7], "provider": "provider.t"}"#;
    let salvaged = salvage(old(3, deposed, "").as_bytes()).unwrap();
    assert_eq!((salvaged.file.state.objects().count(), salvaged.lost.len()), (3, 1), "{:?}", salvaged.lost);
    // Where no entry is left, the reason says more than an empty state.
    let alone = r#"{"version": 3, "serial": 4, "lineage": "l", "modules": [{"path": ["root"], "outputs": {}, "resources": {"t.b.c.d.e": {"type": "t", "primary": {"id": "1"}}}}]}"#;
    assert!(matches!(salvage(alone.as_bytes()), Err(SalvageError::Read(_))));
}

#[test]
fn conflict_in_an_old_format_keeps_the_side_with_the_higher_serial() {
    let side = |serial: u64, name: &str| {
        old(3, &entry(name, "provider.t"), "").replace("\"serial\": 4", &format!("\"serial\": {serial}"))
    };
    let text = format!("<<<<<<< a\n{}\n=======\n{}\n>>>>>>> b\n", side(5, "t.a"), side(6, "t.b"));
    let salvaged = salvage(text.as_bytes()).unwrap();
    let names: Vec<_> = salvaged.file.state.objects().map(|(address, ..)| address.to_string()).collect();
    assert_eq!(names, ["t.b", "module.m.t.in"]);
    assert_eq!((salvaged.file.serial.get(), salvaged.conflicts), (7, 1));
    assert!(salvaged.lost.iter().any(|lost| text[lost.range.clone()].contains("t.a")));
}
