//! Damaged and hostile input: cut off, fed in crumbs, nested, huge, or in another encoding.

use std::fs;
use std::io::{self, Read};
use std::time::{Duration, Instant};

use groundstate_statefile::{
    Code, DecodeOptions, Document, Listing, ReadError, decode, expect_resource, leading_outputs, list,
    list_part, outputs,
};

use crate::shared::fixtures;
use crate::support::{
    PROVIDER, codes, document, read, refused, strict_verdict, verdict, with_instances, with_output,
    with_resource,
};

/// Documents that show every part of the format, small enough to be cut at each byte.
fn made() -> Vec<Vec<u8>> {
    vec![
        b" {\"version\" : 4 , \"serial\":12 }\n".to_vec(),
        with_instances(
            r#"{"index_key":12,"schema_version":3,"attributes":{"a":[1.5e3,-0,true,false,null,"é\u00e9\ud83d\ude00\\"]},"private":"YQ=="},{"index_key":"k","deposed":"0000000a","attributes_flat":{"a":"b"}}"#,
        )
        .into_bytes(),
        with_output(r#""value":{"a":[1,2.5e1]},"type":["object",{"a":["list","number"]}],"sensitive":true,"x":12"#).into_bytes(),
        document(r#""check_results":[{"object_kind":"check","config_addr":"check.c","status":"fail","objects":[{"object_addr":"check.c","status":"fail","failure_messages":["m"]}]}],"y":12"#)
            .into_bytes(),
    ]
}

/// The same, and small files of a release.
fn samples() -> Vec<Vec<u8>> {
    let mut samples = made();
    if let Some(folder) = fixtures() {
        for name in [
            "tainted/terraform.tfstate",
            "checks/terraform.tfstate",
            "deposed/terraform.tfstate",
            "empty/terraform.tfstate",
        ] {
            samples.push(fs::read(folder.join("terraform-1.11").join(name)).unwrap());
        }
    }
    samples
}

/// Gives a few bytes at a time.
struct Crumbs<'a>(&'a [u8], usize);

impl Read for Crumbs<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.0.len().min(self.1).min(buffer.len());
        let (head, tail) = self.0.split_at(size);
        buffer[..size].copy_from_slice(head);
        self.0 = tail;
        Ok(size)
    }
}

/// The list as text, from pieces of this size.
fn listed(text: &[u8], size: usize) -> Option<String> {
    let listing = list(Crumbs(text, size), true).ok()?;
    Some(listing.iter().map(|item| format!("{item} {:?}\n", item.id)).collect())
}

#[test]
fn a_document_that_is_cut_off_is_refused_wherever_the_cut_is() {
    for sample in samples() {
        let whole = sample.trim_ascii_end().len();
        for end in 0..whole {
            let text = &sample[..end];
            assert!(!verdict(text), "cut at {end}");
            let error = refused(text);
            let expected = if end == 0 { 0 } else { 2 };
            assert_eq!(error.problems().len(), expected, "{error}");
            if end > 0 {
                assert_eq!(error.problems()[0].place.offset, end, "{error}");
            }
        }
        for end in whole..=sample.len() {
            assert!(verdict(&sample[..end]));
        }
    }
}

#[test]
fn a_list_is_the_same_from_pieces_of_any_size() {
    for sample in samples() {
        let whole = listed(&sample, usize::MAX);
        assert!(whole.is_some() || sample.starts_with(b" "));
        for size in 1..=9 {
            assert_eq!(listed(&sample, size), whole, "{size} bytes at a time");
        }
        let all = leading_outputs(&sample[..], &sample, None).ok();
        assert_eq!(outputs(&sample[..], None).ok(), all);
        for size in 1..=9 {
            assert_eq!(leading_outputs(Crumbs(&sample, size), &sample, None).ok(), all);
        }
    }
}

#[test]
fn a_damaged_byte_is_judged_alike_from_pieces() {
    for sample in made() {
        for at in 0..sample.len() {
            for byte in [b'"', b'}', b'0'] {
                let mut text = sample.clone();
                text[at] = byte;
                assert_eq!(listed(&text, 101), listed(&text, usize::MAX), "{byte} at {at}");
            }
            let mut text = sample.clone();
            text[at] ^= 0x10;
            verdict(&text);
        }
    }
}

#[test]
fn garbage_is_found_however_late_it_comes() {
    let document = document("");
    for blanks in [0, 1, 300, 1 << 18, (1 << 18) + 7, 1 << 20] {
        let text = format!("{document}{}x", " \n".repeat(blanks / 2));
        assert!(!strict_verdict(text.as_bytes()), "{blanks}");
        assert!(strict_verdict(text.trim_end_matches('x').as_bytes()), "{blanks}");
    }
}

#[test]
fn a_failing_reader_is_told_from_a_bad_document() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("gone"))
        }
    }
    let text = with_instances("{}");
    let input = text.as_bytes()[..80].chain(Broken);
    assert!(matches!(list(input, false), Err(groundstate_statefile::ScanError::Io(_))));
    assert!(matches!(outputs(Broken, None), Err(groundstate_statefile::ScanError::Io(_))));
}

#[test]
fn parts_of_a_list_join_only_where_they_meet() {
    let resources: Vec<String> = (0..40)
        .map(|n| format!("    {{\n      \"mode\": \"managed\", \"type\": \"t\", \"name\": \"n{n}\", \"provider\": {PROVIDER},\n      \"instances\": [{{}}]\n    }}"))
        .collect();
    let text = format!("{{\n  \"version\": 4,\n  \"resources\": [\n{}\n  ]\n}}\n", resources.join(",\n"));
    let whole: Vec<String> =
        list(text.as_bytes(), false).unwrap().iter().map(|item| item.to_string()).collect();
    for from in (0..text.len()).step_by(97) {
        let Some(at) = expect_resource(&text.as_bytes()[from..]).map(|at| from + at) else { continue };
        let part = |start: usize, stop| list_part(&text.as_bytes()[start..], start, stop, false).unwrap();
        let joined = Listing::join([part(0, Some(at)), part(at, None)]).unwrap();
        assert_eq!(joined.iter().map(|item| item.to_string()).collect::<Vec<_>>(), whole);
        assert!(Listing::join([part(0, Some(at))]).is_err(), "the end is missing");
        assert!(Listing::join([part(at, None)]).is_err(), "the beginning is missing");
        let later = part(at, None);
        assert!(Listing::join([later, part(0, Some(at))]).is_err(), "in the wrong order");
        if let Some(next) = expect_resource(&text.as_bytes()[at..]).map(|more| at + more) {
            assert!(Listing::join([part(0, Some(at)), part(next, None)]).is_err(), "a gap");
        }
    }
}

#[test]
fn nesting_stops_at_the_limit_of_the_original_tools() {
    // The document, the list of resources, a resource, its instances and an instance are five levels.
    let nested = |levels: usize| {
        with_instances(&format!(r#"{{"attributes":{}{}}}"#, "[".repeat(levels), "]".repeat(levels)))
    };
    assert!(strict_verdict(nested(9_995).as_bytes()));
    let deep = nested(9_996);
    assert_eq!(codes(&deep), [Code::Syntax, Code::VersionUnreadable]);
    assert!(!strict_verdict(deep.as_bytes()));
    let written = crate::support::again(nested(9_995));
    assert!(written.contains(&"[".repeat(9_995)), "nothing is left out");
}

#[test]
fn depth_bombs_are_refused_at_once() {
    let start = Instant::now();
    for bomb in ["[", "{\"a\":", "[[[{\"a\":["] {
        let bomb = bomb.repeat(200_000);
        let texts = [
            bomb.clone(),
            format!(r#"{{"version":4,"x":{bomb}"#),
            format!(r#"{{"version":4,"resources":{bomb}"#),
            format!(r#"{{"version":4,"outputs":{bomb}"#),
            format!(r#"{{"version":4,"check_results":{bomb}"#),
            format!(r#"{{"version":4,"outputs":{{"a":{{"value":{bomb}"#),
            format!(r#"{{"version":4,"outputs":{{"a":{{"type":{bomb}"#),
            format!(r#"{{"version":4,"resources":[{{"instances":[{{"sensitive_attributes":{bomb}"#),
            format!(r#"{{"version":{bomb}"#),
        ];
        for text in texts {
            assert!(!verdict(text.as_bytes()));
        }
    }
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

#[test]
fn closed_depth_bombs_in_every_place_are_refused_or_kept() {
    for levels in [300, 5_000] {
        let deep = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let deep_type = format!("{}\"string\"{}", r#"["list","#.repeat(levels), "]".repeat(levels));
        assert!(!strict_verdict(with_output(&format!(r#""value":{deep},"type":{deep_type}"#)).as_bytes()));
        assert!(!strict_verdict(with_output(&format!(r#""value":{deep},"type":"dynamic""#)).as_bytes()));
        assert!(!strict_verdict(with_output(&format!(r#""value":1,"type":{deep}"#)).as_bytes()));
        assert!(!strict_verdict(with_instances(&format!(r#"{{"sensitive_attributes":{deep}}}"#)).as_bytes()));
        assert!(!strict_verdict(with_instances(&format!(r#"{{"index_key":{deep}}}"#)).as_bytes()));
        assert!(!strict_verdict(with_instances(&format!(r#"{{"status":{deep}}}"#)).as_bytes()));
        for kept in [
            document(&format!(r#""x":{deep}"#)),
            with_instances(&format!(r#"{{"identity":{deep},"x":{deep}}}"#)),
            document(&format!(r#""check_results":[{{"object_kind":"new","x":{deep}}}]"#)),
        ] {
            assert!(strict_verdict(kept.as_bytes()));
            assert!(crate::support::again(kept).contains(&deep));
        }
    }
}

#[test]
fn other_encodings_are_named() {
    let text = document("");
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let utf16_big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for wide in [
        utf16.clone(),
        utf16_big.clone(),
        [&[0xff, 0xfe][..], &utf16].concat(),
        [&[0xfe, 0xff][..], &utf16_big].concat(),
    ] {
        let error = refused(&wide);
        assert!(error.to_string().contains("UTF-16"), "{error}");
        assert!(!verdict(&wide));
    }
    let marked = [b"\xef\xbb\xbf", text.as_bytes()].concat();
    assert!(refused(&marked).to_string().contains("byte-order mark"));
    for nul in [
        vec![0; 4096],
        [text.as_bytes(), &[0; 512]].concat(),
        [&text.as_bytes()[..60], &[0; 512][..]].concat(),
    ] {
        let error = refused(&nul);
        assert!(error.to_string().contains("NUL bytes"), "{error}");
        assert!(!verdict(&nul));
    }
}

#[test]
fn huge_numbers_cost_nothing() {
    let start = Instant::now();
    let digits = "9".repeat(100_000);
    let exponent = format!("1e{digits}");
    for number in
        [digits.as_str(), exponent.as_str(), "1e-999999999999999999999", "1e999999999", "-1E+308", "1e19"]
    {
        for text in [
            format!(r#"{{"version":{number}}}"#),
            format!(r#"{{"version":4,"serial":{number}}}"#),
            with_instances(&format!(r#"{{"index_key":{number}}}"#)),
            with_instances(&format!(r#"{{"schema_version":{number}}}"#)),
        ] {
            let error = refused(&text);
            assert!(error.to_string().len() < 1000, "{error}");
            assert!(!verdict(text.as_bytes()));
        }
        verdict(with_output(&format!(r#""value":{number},"type":"number""#)).as_bytes());
        verdict(with_output(&format!(r#""value":[{number},{number}],"type":["set","number"]"#)).as_bytes());
        let kept = with_instances(&format!(r#"{{"attributes":{number}}}"#));
        assert!(crate::support::again(kept).contains(number));
    }
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

#[test]
fn long_names_in_addresses_do_not_fill_messages() {
    let long = "x".repeat(1 << 20);
    for text in [
        with_resource(&format!(r#""mode":"{long}","type":"{long}","name":"{long}","provider":{PROVIDER}"#)),
        with_resource(&format!(r#""mode":"data","type":"t","name":"n","provider":"{long}""#)),
        with_resource(&format!(
            r#""mode":"data","type":"t","name":"n","module":"{long}","provider":{PROVIDER}"#
        )),
        with_instances(&format!(r#"{{"status":"{long}"}}"#)),
        with_instances(&format!(r#"{{"deposed":"{long}"}}"#)),
        with_instances(&format!(r#"{{"dependencies":["{long}"]}}"#)),
        format!(r#"{{"version":4,"terraform_version":"{long}"}}"#),
        document(&format!(r#""check_results":[{{"object_kind":"var","config_addr":"{long}"}}]"#)),
    ] {
        let error = refused(&text).to_string();
        assert!(error.len() < 5_000, "{} bytes: {}", error.len(), &error[..300]);
        assert!(!verdict(text.as_bytes()));
    }
}

/// Time to read as a model, and to index and list.
fn costs(text: &str) -> Duration {
    let start = Instant::now();
    assert!(decode(text.as_bytes(), &DecodeOptions::default()).is_ok());
    let document = Document::open(text.as_bytes().to_vec()).unwrap();
    assert!(document.edit().to_vec().is_ok());
    assert!(list(text.as_bytes(), true).is_ok());
    start.elapsed()
}

#[test]
fn time_grows_with_size_and_not_with_its_square() {
    let entry = |module: usize, name: usize, key: usize| {
        format!(
            r#"{{"module":"module.m[{module}]","mode":"managed","type":"t","name":"n{name}","provider":{PROVIDER},"instances":[{{"index_key":{key}}}]}}"#
        )
    };
    let list = |items: Vec<String>| items.join(",");
    let shapes: [(&str, &dyn Fn(usize) -> String); 11] = [
        ("unknown members", &|n| document(&list((0..n).map(|i| format!(r#""x{i}":1"#)).collect()))),
        ("unknown members of an object", &|n| {
            with_instances(&format!("{{{}}}", list((0..n).map(|i| format!(r#""x{i}":1"#)).collect())))
        }),
        ("the same member again", &|n| document(&list((0..n).map(|_| r#""serial":1"#.to_owned()).collect()))),
        ("outputs", &|n| {
            let one = |i| format!(r#""o{i}":{{"value":"x","type":"string"}}"#);
            document(&format!(r#""outputs":{{{}}}"#, list((0..n).map(one).collect())))
        }),
        ("the same output again", &|n| {
            let one = |_| r#""o":{"value":"x","type":"string"}"#.to_owned();
            document(&format!(r#""outputs":{{{}}}"#, list((0..n).map(one).collect())))
        }),
        ("entries of one resource", &|n| {
            document(&format!(r#""resources":[{}]"#, list((0..n).map(|i| entry(0, 0, i)).collect())))
        }),
        ("modules", &|n| {
            document(&format!(r#""resources":[{}]"#, list((0..n).map(|i| entry(n - i, 0, 0)).collect())))
        }),
        ("resources", &|n| {
            document(&format!(r#""resources":[{}]"#, list((0..n).map(|i| entry(0, n - i, 0)).collect())))
        }),
        ("deposed objects", &|n| {
            with_instances(&list((0..n).map(|i| format!(r#"{{"deposed":"{:08x}"}}"#, n - i)).collect()))
        }),
        ("dependencies", &|n| {
            with_instances(&format!(
                r#"{{"dependencies":[{}]}}"#,
                list((0..n).map(|i| format!(r#""t.n{i}""#)).collect())
            ))
        }),
        ("sensitive paths", &|n| {
            let path = |i| format!(r#"[{{"type":"get_attr","value":"a{i}"}}]"#);
            with_instances(&format!(r#"{{"sensitive_attributes":[{}]}}"#, list((0..n).map(path).collect())))
        }),
    ];
    for (name, shape) in shapes {
        let (small, large) = (costs(&shape(4_000)), costs(&shape(64_000)));
        // Sixteen times the size: a square would take 256 times as long.
        let limit = small.max(Duration::from_millis(20)) * 90;
        assert!(large < limit, "{name}: {small:?} and {large:?}");
    }
}

#[test]
fn problems_on_every_line_cost_little() {
    let start = Instant::now();
    let many = |item: &str| vec![item; 50_000].join(",\n");
    for text in [
        with_instances(&many("{}")),
        with_instances(&many(r#"{"status":"x"}"#)),
        with_instances(&many("7")),
        document(&format!(r#""resources":[{}]"#, many("{}"))),
        document(&format!(r#""check_results":[{}]"#, many(r#"{"object_kind":"var","config_addr":"v"}"#))),
        with_instances(&format!(r#"{{"dependencies":[{}]}}"#, many(r#""t""#))),
    ] {
        assert!(!verdict(text.as_bytes()));
        assert!(matches!(refused(&text), ReadError::Unusable(problems) if problems.iter().count() <= 100));
    }
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

#[test]
fn the_last_section_counts_when_it_is_null() {
    let husk = format!(
        r#""mode":"data","type":"t","name":"n","provider":{PROVIDER},"instances":[{{}}],"instances":null"#
    );
    assert_eq!(read(with_resource(&husk)).state.resource_instances().count(), 0);
    assert!(strict_verdict(with_resource(&husk).as_bytes()));
    let none = document(&format!(r#""resources":[{{{husk}}}],"resources":null"#));
    assert!(read(&none).state.is_empty());
    assert!(strict_verdict(none.as_bytes()));
}
