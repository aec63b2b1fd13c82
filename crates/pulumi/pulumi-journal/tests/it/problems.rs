//! What is said of texts that are no journal, word for word, and how much of it.

use groundstate_pulumi_journal::{Code, DecodeOptions, Replayer, decode, decode_entry};
use groundstate_pulumi_snapshot::Manifest;

use crate::notation::{entry, on};

fn said(text: &str) -> Vec<String> {
    let error = decode(text.as_bytes(), &DecodeOptions::default()).unwrap_err();
    error.problems().iter().map(ToString::to_string).collect()
}

#[test]
fn each_problem_names_the_member_the_entry_and_the_place() {
    for (text, problems) in [
        ("[1]", &["invalid journal entry: expected an entry, found number 1 at line 1, column 2 ([0])"][..]),
        (
            r#"{"entries":7}"#,
            &["not a journal: expected a list of entries, found number 7 at line 1, column 12 (entries)"],
        ),
        (
            r#"{"entries":[],"more":1}"#,
            &[r#"not a journal: a batch of entries has no member "more" at line 1, column 15 (more)"#],
        ),
        (
            r#"{"entries":[],"entries":[]}"#,
            &[
                r#"ambiguous journal entry: the member "entries" appears more than once at line 1, column 15 (entries)"#,
            ],
        ),
        (
            r#"[{"version":3,"kind":0,"sequenceID":1}]"#,
            &[
                "unsupported version of a journal entry: this is version 3, and only version 1 is known at line 1, column 13 ([0].version)",
            ],
        ),
        (
            "[{}]",
            &[
                "incomplete journal entry: the entry has no version at line 1, column 2 ([0])",
                "incomplete journal entry: the entry has no kind at line 1, column 2 ([0])",
                "incomplete journal entry: the entry has no sequence ID at line 1, column 2 ([0])",
            ],
        ),
        (
            r#"[{"version":1,"kind":null,"sequenceID":1}]"#,
            &["incomplete journal entry: the entry has no kind at line 1, column 22 ([0].kind)"],
        ),
        (
            r#"[{"version":1,"kind":1,"sequenceID":1,"deleteOld":1,"deleteNew":2}]"#,
            &[
                "ambiguous journal entry: two members name a state here; keep the one that is meant at line 1, column 65 ([0].deleteNew)",
            ],
        ),
        (
            r#"[{"version":1,"kind":1,"sequenceID":1},{"version":1,"kind":"x","sequenceID":-2}]"#,
            &[
                r#"invalid journal entry: expected a whole number from 0, found string at line 1, column 60 ([1].kind)"#,
                "invalid journal entry: expected a whole number from 0, found number -2 at line 1, column 77 ([1].sequenceID)",
            ],
        ),
    ] {
        assert_eq!(said(text), problems, "{text}");
    }
}

#[test]
fn problems_of_many_entries_are_described_up_to_a_number_and_counted_beyond_it() {
    let wrong = r#"{"version":2,"kind":0,"sequenceID":1}"#;
    for (count, more) in [
        (100, ""),
        (101, " (and 1 more problems after this one)"),
        (250, " (and 150 more problems after this one)"),
    ] {
        let text = vec![wrong; count].join("\n");
        let error = decode(text.as_bytes(), &DecodeOptions::default()).unwrap_err();
        assert_eq!(error.problems().len(), 100, "{count}");
        let last = error.problems().last().unwrap();
        assert_eq!(last.detail, format!("this is version 2, and only version 1 is known{more}"));
        assert_eq!((last.entry, last.place.line), (99, 100));
        assert!(error.to_string().starts_with("unusable journal: "), "{error}");
    }
}

#[test]
fn only_the_last_of_several_lines_may_be_cut_off() {
    let torn = DecodeOptions::default().allow_torn(true);
    let whole = r#"{"version":1,"kind":0,"sequenceID":2,"operationID":1}"#;
    for (text, entries, at) in [
        (format!("{whole}\n{}", &whole[..20]), 1, Some(whole.len() + 1)),
        (format!("{whole}\n{}\n \n", &whole[..20]), 1, Some(whole.len() + 1)),
        (format!("{whole}\n{whole}"), 2, None),
        (whole[..1].to_owned(), 0, Some(0)),
    ] {
        let decoded = decode(text.as_bytes(), &torn).unwrap();
        assert_eq!((decoded.entries.len(), decoded.torn), (entries, at), "{text}");
    }
    // What is damaged in the middle is not what a crash leaves, and a list is written at once.
    for text in [
        format!("{}\n{whole}", &whole[..20]),
        format!("{}\n{whole}\n", &whole[..20]),
        format!("{whole}\n{}\n{whole}\n{}", &whole[..20], &whole[..30]),
        format!("[{whole},{}", &whole[..20]),
        format!(r#"{{"entries":[{whole},{}"#, &whole[..20]),
        format!("{whole}\nx{whole}"),
    ] {
        let error = decode(text.as_bytes(), &torn).unwrap_err();
        assert!(error.problems().iter().any(|problem| problem.code == Code::Syntax), "{text}: {error}");
    }
    // A problem in a whole line is told, whatever is cut off behind it.
    let both = format!("{}\n{}", whole.replace(r#""version":1"#, r#""version":2"#), &whole[..20]);
    assert_eq!(decode(both.as_bytes(), &torn).unwrap_err().problems()[0].code, Code::Version);
}

#[test]
fn one_entry_is_exactly_one() {
    let whole = r#"{"version":1,"kind":0,"sequenceID":2,"operationID":1}"#;
    let options = DecodeOptions::default();
    assert_eq!(
        decode_entry(format!(" {whole} \n").as_bytes(), &options).unwrap().to_string(),
        "(2, 1): begin"
    );
    for text in ["", "null", &format!("{whole}{whole}"), &format!("[{whole}]"), &whole[..20]] {
        assert!(decode_entry(text.as_bytes(), &options).is_err(), "{text}");
    }
}

#[test]
fn codes_are_stable_and_distinct() {
    let all = [
        (Code::Syntax, "GS0701"),
        (Code::NotEntries, "GS0702"),
        (Code::Version, "GS0703"),
        (Code::WrongType, "GS0711"),
        (Code::Time, "GS0712"),
        (Code::Base64, "GS0713"),
        (Code::PluginVersion, "GS0714"),
        (Code::Missing, "GS0721"),
        (Code::Repeated, "GS0722"),
        (Code::TwoTargets, "GS0723"),
        (Code::Loss, "GS0724"),
    ];
    for (code, id) in all {
        assert_eq!(code.id(), id);
    }
}

#[test]
fn an_entry_that_is_refused_leaves_the_replayer_as_it_was() {
    let mut journal = on("A B");
    journal.take("2 1 begin +updating A'").take("3 1 success removeOld0 A'");
    let before = journal.replayed().unwrap();
    for refused in [
        "3 1 success removeOld1 A'",
        "4 1 success removeOld1",
        "4 1 begin",
        "0 9 begin",
        "5 0 begin",
        "5 7 outputs A",
    ] {
        journal.0.apply(entry(refused)).unwrap_err();
        assert_eq!(journal.0.entries().len(), 2, "{refused}");
        assert_eq!(journal.replayed().unwrap(), before, "{refused}");
    }
    // The same journal goes on as if they had never come.
    journal.take("4 2 begin +deleting B").take("5 2 success removeOld1");
    assert_eq!(journal.to_string(), "A'");
}

#[test]
fn what_cannot_be_replayed_yet_can_be_once_the_missing_entry_comes() {
    let mut journal = on("A");
    // It speaks of a resource that only another base has.
    journal.take("3 1 begin +deleting C").take("4 1 success removeOld2");
    let error = journal.0.snapshot(Manifest::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "journal entry 4 speaks of resource 2 of the base, which has 1; the journal belongs to another base"
    );
    journal.take("2 0 write [A B C]");
    assert_eq!(journal.to_string(), "A B");
    assert_eq!(journal.0.base().resources.len(), 1, "the base that it began with stays");
}

#[test]
fn open_operations_are_those_that_began_and_did_not_end_in_the_order_of_their_numbers() {
    let mut replayer = Replayer::default();
    for line in ["7 5 begin +creating C", "2 9 begin", "3 1 begin +creating A", "4 1 failure"] {
        replayer.apply(entry(line)).unwrap();
    }
    let open = |replayer: &Replayer| {
        replayer
            .open()
            .map(|(entry, pending)| (entry.operation_id.get(), pending.is_some()))
            .collect::<Vec<_>>()
    };
    assert_eq!(open(&replayer), [(5, true), (9, false)]);
    // An end that arrives before its beginning closes it as well.
    replayer.apply(entry("10 6 success")).unwrap();
    replayer.apply(entry("9 6 begin +creating D")).unwrap();
    assert_eq!(open(&replayer), [(5, true), (9, false)]);
    assert_eq!(replayer.last().map(|last| last.get()), Some(10));
}
