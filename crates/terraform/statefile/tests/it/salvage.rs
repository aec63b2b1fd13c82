//! Damaged files: all that is whole is kept, nothing is invented, and what is lost is said.

use std::fs;

use groundstate_statefile::{
    DecodeOptions, Document, EncodeOptions, File, SalvageError, Salvaged, decode, encode, salvage,
};
use groundstate_states::addr::AbsResource;
use groundstate_states::{Generation, ObjectSrc, OutputValue};

use crate::files::files;
use crate::shared::fixtures;
use crate::support::read;

const PROVIDER: &str = r#"provider[\"registry.terraform.io/hashicorp/test\"]"#;

/// Two outputs, a husk, keys, a deposed object, several modules, check results.
fn example() -> String {
    let object = |rest: &str| {
        format!(r#"{{{rest}"schema_version":2,"attributes":{{"id":"x","tags":[{{"k":"}}]"}}]}}}}"#)
    };
    let resource = |head: &str, objects: &[String]| {
        format!(
            r#"{{{head}"type":"t","name":"n","provider":"{PROVIDER}","instances":[{}]}}"#,
            objects.join(",")
        )
    };
    let resources = [
        resource(r#""mode":"data","#, &[]),
        resource(r#""mode":"managed","#, &[object("")]),
        resource(
            r#""module":"module.m[\"eu\"]","mode":"managed","#,
            &[
                object(r#""index_key":0,"#),
                object(r#""index_key":0,"deposed":"00c0ffee","#),
                object(r#""index_key":1,"#),
                object(r#""index_key":2,"#),
            ],
        ),
        resource(r#""module":"module.z","mode":"managed","#, &[object(r#""index_key":"ü \" y","#)]),
    ];
    let check = r#"{"object_kind":"check","config_addr":"check.c","status":"pass","objects":[{"object_addr":"check.c","status":"pass"}]}"#;
    let text = format!(
        r#"{{"version":4,"terraform_version":"1.11.4","serial":7,"lineage":"6d0b9b2e-0000-4444-8888-c0ffee000001","outputs":{{"a":{{"value":"x","type":"string"}},"b":{{"value":[1],"type":["tuple",["number"]],"sensitive":true}}}},"resources":[{}],"check_results":[{check}]}}"#,
        resources.join(",")
    );
    String::from_utf8(encode(&read(&text), &EncodeOptions::default().indented(true)).unwrap()).unwrap()
}

/// The example without white space.
fn compact() -> String {
    let text = encode(&read(example()), &EncodeOptions::default().indented(false)).unwrap();
    String::from_utf8(text).unwrap()
}

type Objects<'f> = Vec<(String, Generation, &'f ObjectSrc)>;

fn objects(file: &File) -> Objects<'_> {
    file.state
        .objects()
        .map(|(address, generation, object)| (address.to_string(), generation, object))
        .collect()
}

fn outputs(file: &File) -> Vec<(&str, &OutputValue)> {
    file.state.root().outputs.iter().map(|(name, output)| (&**name, &**output)).collect()
}

/// Checks that everything in the salvaged state is in the whole one, and that the losses are well formed.
#[track_caller]
fn check_nothing_invented(salvaged: &Salvaged, whole: &File, text: &[u8], why: &str) {
    check_all_but(0, salvaged, whole, text, why);
}

/// The same, but for so many objects and outputs.
#[track_caller]
fn check_all_but(seams: usize, salvaged: &Salvaged, whole: &File, text: &[u8], why: &str) {
    let known = objects(whole);
    let strange: Vec<_> =
        objects(&salvaged.file).into_iter().filter(|object| !known.contains(object)).collect();
    let known = outputs(whole);
    let outputs: Vec<_> =
        outputs(&salvaged.file).into_iter().filter(|output| !known.contains(output)).collect();
    assert!(strange.len() + outputs.len() <= seams, "{why}: {strange:?} {outputs:?}");
    for (module, name, resource) in salvaged.file.state.all_resources() {
        let address: AbsResource = name.clone().absolute(module.clone());
        let original = whole.state.resource(&address);
        assert_eq!(original.map(|r| &r.provider), Some(&resource.provider), "{why}: {address}");
        // Without instances it was before, or it would be a husk that no program wrote.
        assert_eq!(original.unwrap().instances.is_empty(), resource.instances.is_empty(), "{why}: {address}");
    }
    assert!(
        salvaged.file.lineage.is_empty() || salvaged.file.lineage == whole.lineage,
        "{why}: {}",
        salvaged.file.lineage.as_str()
    );
    assert!(
        [1, whole.serial.get() + 1].contains(&salvaged.file.serial.get()),
        "{why}: {}",
        salvaged.file.serial
    );
    assert!(!salvaged.lost.is_empty(), "{why}");
    for lost in &salvaged.lost {
        assert!(lost.range.start <= lost.range.end && lost.range.end <= text.len(), "{why}: {lost:?}");
        assert_eq!(lost.place.offset, lost.range.start, "{why}");
        assert!(!lost.reason.is_empty());
    }
    let again = salvaged.to_vec().unwrap();
    assert!(decode(&again, &DecodeOptions::default()).unwrap().state == salvaged.file.state, "{why}");
}

/// Cuts a file at every byte.
#[track_caller]
fn check_cuts(name: &str, text: &[u8]) {
    let whole = read(text);
    let document = Document::open(text.to_vec()).unwrap();
    // Where each object ends in the text.
    let mut ends = Vec::new();
    for address in document.instances() {
        for (place, generation) in
            document.places(&address).iter().zip(generations(&whole, &address.to_string()))
        {
            let rest = &text[place.offset..];
            let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<serde_json::Value>();
            values.next().unwrap().unwrap();
            ends.push((place.offset + values.byte_offset(), address.to_string(), generation));
        }
    }
    for cut in 0..text.len() {
        let why = format!("{name} cut at {cut}");
        let damaged = &text[..cut];
        let salvaged = match salvage(damaged) {
            Ok(salvaged) if salvaged.lost.is_empty() => {
                assert!(text[cut..].iter().all(u8::is_ascii_whitespace), "{why}");
                continue;
            }
            Ok(salvaged) => salvaged,
            Err(error) => {
                assert_eq!(error, SalvageError::Nothing, "{why}");
                assert!(ends.iter().all(|(end, ..)| *end > cut), "{why}");
                continue;
            }
        };
        check_nothing_invented(&salvaged, &whole, damaged, &why);
        assert_eq!(salvaged.lost.last().unwrap().range.end, cut, "{why}");
        let found = objects(&salvaged.file);
        for (end, address, generation) in &ends {
            let kept = found.iter().any(|(known, at, _)| known == address && at == generation);
            assert_eq!(kept, *end <= cut, "{why}: {address} {generation:?}");
        }
    }
}

fn generations(file: &File, address: &str) -> Vec<Generation> {
    objects(file)
        .iter()
        .filter(|(known, ..)| known == address)
        .map(|(_, generation, _)| *generation)
        .collect()
}

#[test]
fn cut_at_any_byte_all_objects_before_the_cut_are_kept() {
    check_cuts("indented", example().as_bytes());
    check_cuts("compact", compact().as_bytes());
}

#[test]
fn files_of_the_release_can_be_cut_at_any_byte() {
    let Some(folder) = fixtures().map(|folder| folder.join("terraform-1.11")) else { return };
    let mut tried = 0;
    for path in files(&folder, &|name| name.ends_with(".tfstate")) {
        let text = fs::read(&path).unwrap();
        if text.len() < 4000 && Document::open(text.clone()).is_ok() {
            check_cuts(&path.display().to_string(), &text);
            tried += 1;
        }
    }
    assert!(tried >= 5, "{tried}");
}

/// The resource in whose text a byte stands.
fn resource_at(text: &str, at: usize) -> Option<usize> {
    let starts = text.match_indices("\"provider\"").map(|(found, _)| {
        let head = text[..found].rfind(r#"{"m"#).or_else(|| text[..found].rfind("{\n      \"m"));
        head.unwrap()
    });
    starts.enumerate().filter(|(_, start)| *start <= at).map(|(number, _)| number).last()
}

/// Damages every other byte; every resource but the one that is hit, and perhaps the one behind it, has to be kept.
#[track_caller]
fn check_bytes(name: &str, text: &str, byte: u8) {
    let whole = read(text);
    let all: Vec<String> =
        whole.state.all_resources().map(|(m, r, _)| r.clone().absolute(m.clone()).to_string()).collect();
    let in_file = ["data.t.n", "t.n", r#"module.m["eu"].t.n"#, "module.z.t.n"];
    assert_eq!(all.len(), in_file.len());
    let (begin, end) =
        (text.find("\"resources\"").unwrap() + 14, text.find("\"check_results\"").unwrap() - 8);
    for at in (0..text.len()).step_by(2) {
        let why = format!("{name} with {byte:#x} at {at}");
        let mut damaged = text.as_bytes().to_vec();
        damaged[at] = byte;
        let salvaged = salvage(&damaged).expect(&why);
        if salvaged.lost.is_empty() {
            assert!(decode(&damaged, &DecodeOptions::default()).is_ok(), "{why}");
            continue;
        }
        check_nothing_invented(&salvaged, &whole, &damaged, &why);
        if (begin..end).contains(&at) {
            let hit = resource_at(text, at).unwrap_or(0);
            for (number, address) in in_file.iter().enumerate().filter(|(number, _)| *number != hit) {
                let address = AbsResource::parse(address).unwrap();
                let (now, before) = (salvaged.file.state.resource(&address), whole.state.resource(&address));
                // What separates two of them belongs to both.
                assert!(now == before || number == hit + 1, "{why}: {address}");
            }
            assert_eq!(outputs(&salvaged.file), outputs(&whole), "{why}");
            assert_eq!(salvaged.file.lineage, whole.lineage, "{why}");
        }
    }
}

#[test]
fn one_damaged_byte_costs_no_other_resource() {
    for byte in [0, b'"', b'}'] {
        check_bytes("indented", &example(), byte);
        check_bytes("compact", &compact(), byte);
    }
}

#[test]
fn garbage_over_a_boundary_gives_nothing_to_the_wrong_resource() {
    for (name, text) in [("indented", example()), ("compact", compact())] {
        let whole = read(&text);
        for (garbage, len) in [(0u8, 60), (0, 200), (b'"', 90), (0xc3, 40)] {
            for at in (0..text.len().saturating_sub(len)).step_by(13) {
                let mut damaged = text.as_bytes().to_vec();
                damaged[at..at + len].fill(garbage);
                let why = format!("{name} with {len} times {garbage:#x} at {at}");
                match salvage(&damaged) {
                    Ok(salvaged) if salvaged.lost.is_empty() => {}
                    Ok(salvaged) => check_nothing_invented(&salvaged, &whole, &damaged, &why),
                    Err(error) => assert_eq!(error, SalvageError::Nothing, "{why}"),
                }
            }
        }
    }
}

#[test]
fn a_missing_piece_gives_nothing_to_the_wrong_resource() {
    for (name, text) in [("indented", example()), ("compact", compact())] {
        let whole = read(&text);
        for len in [1, 2, 3, 30, 150, 400] {
            for at in (0..text.len().saturating_sub(len)).step_by(11) {
                let damaged = [&text.as_bytes()[..at], &text.as_bytes()[at + len..]].concat();
                let why = format!("{name} without {len} bytes at {at}");
                // The ends of two objects may fit together without a sign of it. So may those of a whole state.
                if let Ok(salvaged) = salvage(&damaged)
                    && !salvaged.lost.is_empty()
                {
                    check_all_but(1, &salvaged, &whole, &damaged, &why);
                }
            }
        }
    }
}

/// The losses in short: what, why, and the bytes.
fn losses(text: &str) -> (Salvaged, Vec<String>) {
    let salvaged = salvage(text.as_bytes()).unwrap();
    let lines = salvaged.lost.iter().map(|lost| {
        let shown: String = text[lost.range.clone()].chars().take(12).collect();
        format!("{}: {}: {shown}", lost.what.as_deref().unwrap_or("-"), lost.reason)
    });
    let lines = lines.collect();
    (salvaged, lines)
}

#[test]
fn what_no_reader_takes_is_left_out_and_listed() {
    let good = r#"{"index_key":0,"schema_version":0}"#;
    let head = format!(r#""mode":"managed","type":"t","provider":"{PROVIDER}""#);
    let text = format!(
        r#"{{"version":4,"serial":"7","lineage":"l","outputs":{{"a":{{"value":[],"type":"string"}},"b":{{"value":1}},"c":{{"value":1,"type":"number"}}}},"resources":[
        {{{head},"name":"a","instances":[{good},{{"index_key":1.5,"schema_version":0}},{{"index_key":2,"status":"odd","schema_version":0}},7,{good},{{"index_key":3,"schema_version":0}},{{"index_key":3,"schema_version":1}}]}},
        {{{head},"name":"b","module":"modul","instances":[{good}]}},
        {{"mode":"other","type":"t","name":"c","provider":"{PROVIDER}","instances":[{good}]}},
        {{{head},"name":"d","instances":[{{"deposed":"short","schema_version":0}}]}},
        "none", {{}},
        {{{head},"name":"e","instances":[{good}]}}],"check_results":[{{"object_kind":"check","config_addr":"check","status":"pass","objects":[]}}]}}"#
    );
    let (salvaged, lines) = losses(&text);
    let kept: Vec<_> = objects(&salvaged.file).iter().map(|(address, ..)| address.clone()).collect();
    assert_eq!(kept, ["t.a[0]", "t.e[0]"]);
    assert_eq!(outputs(&salvaged.file).len(), 1);
    assert_eq!(lines.len(), 15, "{lines:#?}");
    let has =
        |start: &str| assert!(lines.iter().any(|line| line.starts_with(start)), "{start} in {lines:#?}");
    has("serial: expected");
    has("output.a: ");
    has("output.b: ");
    has("t.a[2]: ");
    has("t.a: it repeats an object of the same instance, which is kept: {\"index_key\"");
    has("t.a: it differs from another object of the same instance");
    has("t.d: ");
    assert_eq!(salvaged.file.serial.get(), 1, "the serial could not be read");
}

/// However many there are: they are found at once, not a hundred in a pass.
#[test]
fn of_many_equal_objects_one_stays_and_a_damaged_copy_costs_none() {
    let entry = |object: &str| {
        format!(
            r#"{{"mode":"managed","type":"t","name":"a","provider":"{PROVIDER}","instances":[{object}]}}"#
        )
    };
    let of = |entries: &[String]| {
        losses(&format!(r#"{{"version":4,"serial":7,"lineage":"l","resources":[{}]}}"#, entries.join(",")))
    };
    let (salvaged, lines) = of(&vec![entry(r#"{"schema_version":0}"#); 5_200]);
    assert_eq!((objects(&salvaged.file).len(), lines.len()), (1, 5_199));
    let (salvaged, lines) = of(&[entry(r#"{"schema_version":"x"}"#), entry(r#"{"schema_version":0}"#)]);
    assert_eq!((objects(&salvaged.file).len(), lines.len()), (1, 1), "{lines:#?}");
}

#[test]
fn a_resource_without_type_or_name_is_left_out_of_a_damaged_file() {
    let instances = r#""instances":[{"schema_version":0}]"#;
    for (head, kept) in [
        (r#""mode":"managed","name":"n""#, 1),
        (r#""mode":"managed","type":"","name":"n""#, 1),
        (r#""mode":"managed","type":"t","name":"""#, 1),
        (r#""mode":"managed","type":"t","name":"n""#, 2),
    ] {
        let other = r#""mode":"managed","type":"t","name":"other""#;
        let resource = |head| format!(r#"{{{head},"provider":"{PROVIDER}",{instances}}}"#);
        let list = [resource(head), resource(other)].join(",");
        let (salvaged, lines) =
            losses(&format!(r#"{{"version":4,"serial":7,"lineage":"l","resources":[{list},"#));
        assert_eq!(objects(&salvaged.file).len(), kept, "{head}");
        assert_eq!(
            lines.iter().any(|line| line.contains("its type or name is lost")),
            kept == 1,
            "{lines:#?}"
        );
    }
}

#[test]
fn nothing_is_doubted_where_the_text_is_json() {
    let head = format!(r#""mode":"managed","type":"t","provider":"{PROVIDER}""#);
    let text = format!(
        r#"{{"version":4,"lineage":"l","resources":[{{{head},"name":"a","new":1,"instances":[{{}},{{"index_key":1,"status":"odd"}},{{"index_key":2,"mode":"new"}}]}},{{{head},"name":"husk"}}]}}"#
    );
    let (salvaged, lines) = losses(&text);
    assert_eq!(lines.len(), 1, "{lines:?}");
    let kept: Vec<_> = objects(&salvaged.file).iter().map(|(address, ..)| address.clone()).collect();
    assert_eq!(kept, ["t.a", "t.a[2]"]);
    assert_eq!(salvaged.file.state.all_resources().count(), 2);
}

#[test]
fn many_bad_objects_are_left_out_one_by_one() {
    let objects: Vec<String> = (0..450)
        .map(|number| match number % 3 {
            0 => format!(r#"{{"index_key":{number},"schema_version":0}}"#),
            1 => format!(r#"{{"index_key":{number},"schema_version":"0"}}"#),
            _ => format!(r#"{{"index_key":"{number}","private":"!","schema_version":0}}"#),
        })
        .collect();
    let text = format!(
        r#"{{"version":4,"resources":[{{"mode":"managed","type":"t","name":"n","provider":"{PROVIDER}","instances":[{}]}}]}}"#,
        objects.join(",")
    );
    let salvaged = salvage(text.as_bytes()).unwrap();
    assert_eq!(salvaged.file.state.objects().count(), 150);
    assert_eq!(salvaged.lost.len(), 300);
}

#[test]
fn a_few_bad_bytes_in_a_string_cost_one_object() {
    let text = example();
    let at = text.rfind("\"index_key\": 1").unwrap();
    let at = at + text[at..].find("\"id\": \"x").unwrap() + 7;
    let mut damaged = text.clone().into_bytes();
    damaged[at] = 0xff;
    let salvaged = salvage(&damaged).unwrap();
    assert_eq!(salvaged.lost.len(), 1, "{:?}", salvaged.lost);
    assert_eq!(salvaged.lost[0].what.as_deref(), Some(r#"module.m["eu"].t.n"#));
    assert_eq!(salvaged.lost[0].reason, "invalid UTF-8 in a string");
    assert_eq!(salvaged.file.state.objects().count(), objects(&read(&text)).len() - 1);
}

#[test]
fn a_longer_file_that_was_written_over_is_told_apart() {
    let short = example();
    let (salvaged, lines) = losses(&format!("{short}  ]\n}}\n"));
    assert_eq!(lines, ["-: the document has ended before this: ]\n}\n"]);
    assert_eq!(salvaged.file.state, read(&short).state);
}

#[test]
fn a_whole_file_loses_nothing_and_keeps_its_serial() {
    let text = example();
    let salvaged = salvage(text.as_bytes()).unwrap();
    assert!(salvaged.lost.is_empty());
    assert_eq!(salvaged.file.serial.get(), 7);
    assert_eq!(salvaged.to_vec().unwrap(), text.as_bytes());
}

#[test]
fn says_when_there_is_nothing_to_salvage() {
    let nul = [0; 4096];
    let nothing: [&[u8]; 7] = [
        b"",
        b"  ",
        &nul,
        b"garbage",
        b"{\"version\": 4",
        b"{\"a\": 1}",
        b"{\"version\": 4, \"serial\": 7, \"lineage\": \"x\"",
    ];
    for text in nothing {
        assert_eq!(salvage(text).unwrap_err(), SalvageError::Nothing, "{:?}", String::from_utf8_lossy(text));
    }
    let refused = [
        "[]",
        "{\"version\": 5}",
        "{\"version\": 5, \"resources\": [",
        "tfstate",
        "{\"encryption_version\": \"v0\", \"meta\": {}}",
    ];
    for text in refused {
        assert!(matches!(salvage(text.as_bytes()), Err(SalvageError::Read(_))), "{text}");
    }
}

#[test]
fn old_formats_keep_what_stands_before_the_cut() {
    let text = br#"{
    "version": 3,
    "serial": 4,
    "lineage": "l",
    "modules": [
        {
            "path": ["root"],
            "outputs": {"o": {"sensitive": false, "type": "string", "value": "v"}},
            "resources": {
                "t.a": {"type": "t", "primary": {"id": "1"}, "provider": "provider.t"},
                "t.b": {"type": "t", "primary": {"id": "2"}, "provider": "provider.t"}
            }
        },
        {
            "path": ["root", "m"],
            "outputs": {},
            "resources": {"t.c": {"type": "t", "primary": {"id": "3"}, "provider": "provider.t"}}
        }
    ]
}
"#;
    let whole = read(text);
    let mut last = 0;
    for cut in 0..text.len() {
        let damaged = &text[..cut];
        match salvage(damaged) {
            Ok(salvaged) if salvaged.lost.is_empty() => assert_eq!(cut, text.len() - 1),
            Ok(salvaged) => {
                check_nothing_invented(&salvaged, &whole, damaged, &format!("cut at {cut}"));
                let count = salvaged.file.state.objects().count();
                assert!(count >= last, "cut at {cut}");
                last = count;
            }
            Err(error) => {
                assert_eq!(error, SalvageError::Nothing, "cut at {cut}");
                assert_eq!(last, 0);
            }
        }
    }
    assert_eq!(last, 3);
}

/// A damaged text on one line has no layout to judge brackets by, and looking for its beginning at each of them took minutes.
#[test]
fn many_entries_on_one_line_take_a_time_that_grows_with_their_number() {
    let entry = format!(
        r#"{{"mode":"managed","type":"t","name":"n","provider":"{PROVIDER}","instances":[{{"schema_version":0,"attributes":{{}}}}]}}"#
    );
    let text = format!(
        r#"{{"version":4,"serial":1,"lineage":"l","resources":[{}]}}"#,
        vec![entry; 30_000].join(",")
    );
    let start = std::time::Instant::now();
    let salvaged = salvage(text.as_bytes()).unwrap();
    assert_eq!((salvaged.file.state.objects().count(), salvaged.lost.len()), (1, 29_999));
    assert!(start.elapsed().as_secs() < 15, "{:?}", start.elapsed());
}
