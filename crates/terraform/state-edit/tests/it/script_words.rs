//! The form of scripts: words, quotes, comments, references, and what `select` finds.

use groundstate_state_edit::{Editor, MoveOptions, Script, ScriptOptions};

use crate::support::{at, document, lines};

const STATE: &[&str] =
    &["data.t.d", "t.a", "t.b[0]: t.a", r#"t.c["x y"]"#, r#"t.c["z"]"#, r#"module.m["k"].t.in"#];

fn fault(script: &str) -> String {
    Script::parse(script).map(|script| script.len()).unwrap_err().to_string()
}

#[test]
fn a_script_that_cannot_be_read_says_line_and_column() {
    for (script, said) in [
        ("rm 'a.b'c.d", "line 1, column 9: white space is missing between two words"),
        ("rm a.b\r\nrm 'c.d", "line 2, column 4: this ' is not closed on its line"),
        ("\u{feff}rm é", "line 1, column 5: invalid address `é`"),
        ("mv a.b c.d e.f", "line 1, column 1: mv takes two words, FROM and TO, but 3 follow it"),
        (
            "replace-provider a",
            "line 1, column 1: replace-provider takes two words, FROM and TO, but 1 follow it",
        ),
        (
            "rm-dependency a.b",
            "line 1, column 1: rm-dependency takes two words, an address and the resource it depends on, but 1 follow it",
        ),
        (
            "rm-dependency a.b module.m",
            "line 1, column 19: dependencies are on resources; name one in the module",
        ),
        ("rm a*.b]", "line 1, column 8: expected a dot, or the end"),
        ("rm a*.b[\"x\"", "line 1, column 8: this bracket is not closed; end it with `]`"),
        (r#"rm a*.b["x*\q"]"#, "line 1, column 12: invalid"),
        ("rm a*.b[-1]", "line 1, column 9: a key is a whole number, a quoted text, or `*`"),
        ("rm data.*", "line 1, column 10: this has to go on with the type and name of a resource"),
        ("rm a*[0].b", "line 1, column 11: this has to go on with the type and name of a resource"),
        ("mv a.* a.$1[x]", "line 1, column 13: a key is a whole number, a quoted text, or one reference"),
        (
            "mv a.* a.$1[9223372036854775808]",
            "line 1, column 13: a key is a whole number, a quoted text, or one reference",
        ),
        ("mv a.* a.x$2", "line 1, column 11: $2 refers to nothing: the source has 1 wildcards"),
        (r#"mv a.*_* a.b["$1xy\q$2"]"#, "line 1, column 19: invalid"),
        (r#"mv a.*_* a.b["$1xy\q"]"#, "line 1, column 19: invalid"),
        ("mv a.b a.x*", "line 1, column 11: a destination has no wildcards"),
        ("mv a.* a.${2}", "line 1, column 10: $2 refers to nothing: the source has 1 wildcards"),
        ("mv a.*[*] a.$1[\"$3\"]", "line 1, column 17: $3 refers to nothing: the source has 2 wildcards"),
        (
            "mv **.a.b a.x[$1]",
            "line 1, column 15: what `**` matched is a path of modules; it must be alone between dots",
        ),
    ] {
        let found = fault(script);
        assert!(found.starts_with(said), "{script}: {found}");
    }
    let long = "x".repeat(100);
    assert_eq!(
        fault(&long),
        format!(
            "line 1, column 1: unknown verb `{}`; use mv, rm, rm-dependency, rm-identity, replace-provider, taint or untaint",
            &long[..40]
        )
    );
}

#[test]
fn a_dollar_sign_that_refers_to_nothing_is_one() {
    let document = document(STATE);
    for key in ["$", "$a", "a$", "$x1", "$ 1"] {
        let script = Script::parse(&format!("mv t.*a t.z[\"{key}\"]")).unwrap();
        let mut editor = Editor::on_document(&document);
        editor.run(&script, &ScriptOptions::default()).unwrap();
        let after = lines(&editor.to_file().unwrap());
        assert!(after.contains(&format!("t.z[\"{key}\"]")), "{key}: {after:?}");
    }
    for key in ["${1a}", "${}", "${a}"] {
        let said = fault(&format!("mv t.*a t.z[\"{key}\"]"));
        assert!(!said.contains("refers to"), "{key}: {said}");
    }
}

#[test]
fn blank_lines_comments_and_line_endings_say_nothing() {
    for (text, statements) in [
        ("", 0),
        ("\n\r\n  \t\n", 0),
        ("# rm t.a\n   # rm t.a", 0),
        ("rm t.a # rm t.b\r\nrm t.b", 2),
        ("\u{feff}rm t.a", 1),
        ("rm\tt.a", 1),
    ] {
        let script = Script::parse(text).unwrap();
        assert_eq!((script.len(), script.is_empty()), (statements, statements == 0), "{text:?}");
    }
    // Within a quoted key the sign begins no comment.
    assert_eq!(Script::parse(r##"rm t.c["# x"] t.a"##).unwrap().len(), 1);
}

#[test]
fn select_finds_what_a_statement_would_mean() {
    let document = document(STATE);
    let editor = Editor::on_document(&document);
    for (pattern, found) in [
        ("t.*", &["t.a", "t.b", "t.c"][..]),
        ("t.*[*]", &["t.b[0]", r#"t.c["x y"]"#, r#"t.c["z"]"#]),
        (r#"t.c["* *"]"#, &[r#"t.c["x y"]"#]),
        ("t.*[0]", &["t.b[0]"]),
        ("*.d", &[]),
        ("data.*.d", &["data.t.d"]),
        ("**.t.*n", &[r#"module.m["k"].t.in"#]),
        ("module.*", &["module.m"]),
        ("module.*[*]", &[r#"module.m["k"]"#]),
        ("module.*[\"j*\"]", &[]),
        // An address is not looked for.
        ("t.gone", &["t.gone"]),
    ] {
        let expected: Vec<_> = found.iter().map(|text| at(text)).collect();
        match editor.select(pattern) {
            Ok(targets) => assert_eq!(targets, expected, "{pattern}"),
            Err(error) => {
                assert!(expected.is_empty(), "{pattern}: {error}");
                assert_eq!(
                    error.to_string(),
                    format!(
                        "line 1, column 1: {pattern} matches nothing in the state; list the state to see the addresses it has"
                    )
                );
            }
        }
    }
    assert_eq!(editor.select("a.b.").unwrap_err().line, 1);
}

#[test]
fn a_quote_in_a_key_is_written_with_a_backslash_in_patterns_too() {
    let state = [r#"t.a["x\"1"]"#, r#"t.a["x\\"]"#, r#"t.a["x\\y"]"#, r#"t.a["xy"]"#];
    let document = document(&state);
    let editor = Editor::on_document(&document);
    for (pattern, found) in [
        (r#"t.*["x\"*"]"#, &state[..1]),
        (r#"t.*["x\\"]"#, &state[1..2]),
        (r#"t.*["x\\*"]"#, &state[1..3]),
        (r#"t.*["xy"]"#, &state[3..]),
    ] {
        let expected: Vec<_> = found.iter().map(|text| at(text)).collect();
        assert_eq!(editor.select(pattern).unwrap(), expected, "{pattern}");
    }
}

#[test]
fn a_taint_passes_over_what_is_missing_and_nothing_else() {
    let document = document(STATE);
    let run = |script: &str, skip: bool| {
        let script = Script::parse(script).unwrap();
        let mut editor = Editor::on_document(&document);
        let report = editor.run(&script, &ScriptOptions::default().skip_missing(skip));
        report.map(|report| report.changes()).map_err(|error| error.to_string())
    };
    assert_eq!(run("taint t.gone t.a", true), Ok(1));
    assert!(run("taint t.gone t.a", false).unwrap_err().contains("t.gone"));
    // What is not tainted is there.
    let said = run("untaint t.a t.gone", true).unwrap_err();
    assert!(said.contains("t.a") && said.contains("not tainted"), "{said}");
}

#[test]
fn moves_of_a_script_can_be_made_as_terraform_makes_them() {
    let document = document(STATE);
    let script = Script::parse("mv t.a t.z").unwrap();
    for (compat, expected) in [(false, "t.b[0]: t.z"), (true, "t.b[0]")] {
        let mut editor = Editor::on_document(&document);
        let options = ScriptOptions::default().moves(MoveOptions::default().compat(compat));
        editor.run(&script, &options).unwrap();
        let after = lines(&editor.to_file().unwrap());
        assert!(after.contains(&expected.to_owned()), "{after:?}");
    }
}

#[test]
fn a_statement_that_is_passed_over_says_why_and_the_others_happen() {
    let document = document(STATE);
    let script = Script::parse(
        "rm-dependency t.b t.gone\nreplace-provider no/such a/b\nmv t.gone t.x\nrm t.gone t.a\nuntaint t.gone\nmv t.z* t.y$1",
    )
    .unwrap();
    let mut editor = Editor::on_document(&document);
    let report = editor.run(&script, &ScriptOptions::default().skip_missing(true)).unwrap();
    let skipped: Vec<_> =
        report.statements.iter().map(|done| done.skipped.as_ref().map(ToString::to_string)).collect();
    let list = "list the state to see the addresses it has";
    let some = |text: String| Some(text);
    assert_eq!(
        skipped,
        [
            some("t.b records no dependency on t.gone; look at the `dependencies` of its objects".into()),
            some(
                "nothing to replace: no resource has the provider registry.terraform.io/no/such or registry.opentofu.org/no/such"
                    .into()
            ),
            some(format!("cannot move t.gone: it matches nothing in the state; {list}")),
            None,
            some(format!("t.gone is not in the state; {list}")),
            some(format!("t.z* matches nothing in the state; {list}")),
        ]
    );
    assert_eq!(report.changes(), 1);
    assert_eq!(report.statements[3].summary.missing, [at("t.gone")]);
    // What is wrong for another reason is not passed over.
    let wrong = Script::parse("mv t.b[0] t.a").unwrap();
    let mut editor = Editor::on_document(&document);
    let error = editor.run(&wrong, &ScriptOptions::default().skip_missing(true)).unwrap_err();
    assert!(error.to_string().contains("t.a is in the state already"), "{error}");
}

/// A record for every name of a zone, and one for all others.
const ZONE: &[&str] = &[
    r#"module.dns["*"].t.soa"#,
    r#"module.dns["eu"].t.soa"#,
    r#"t.record["*.a.example"]"#,
    r#"t.record["**"]"#,
    r#"t.record["shop.a.example"]"#,
    r#"t.record["x.b.example"]"#,
    r#"t.wild["*"]"#,
];

#[track_caller]
fn left(script: &str) -> Result<Vec<String>, String> {
    let document = document(ZONE);
    let mut editor = Editor::on_document(&document);
    let script = Script::parse(script).map_err(|error| error.to_string())?;
    editor.run(&script, &ScriptOptions::default()).map_err(|error| error.to_string())?;
    Ok(lines(&editor.to_file().unwrap()))
}

#[test]
fn address_that_also_matches_siblings_is_refused_with_both_spellings() {
    for (statement, others, address, pattern) in [
        (
            r#"rm t.record["*.a.example"]"#,
            1,
            r#"t.record["\*.a.example"]"#,
            r#"glob:t.record["*.a.example"]"#,
        ),
        (r#"rm module.dns["*"]"#, 1, r#"module.dns["\*"]"#, r#"glob:module.dns["*"]"#),
        (r#"rm module.dns["*"].t.soa"#, 1, r#"module.dns["\*"].t.soa"#, r#"glob:module.dns["*"].t.soa"#),
        (
            r#"taint t.record["*.a.example"]"#,
            1,
            r#"t.record["\*.a.example"]"#,
            r#"glob:t.record["*.a.example"]"#,
        ),
        (
            r#"mv t.record["*.a.example"] t.record["$1.c"]"#,
            1,
            r#"t.record["\*.a.example"]"#,
            r#"glob:t.record["*.a.example"]"#,
        ),
        (
            r#"rm-dependency t.record["*.a.example"] t.x"#,
            1,
            r#"t.record["\*.a.example"]"#,
            r#"glob:t.record["*.a.example"]"#,
        ),
    ] {
        let said = left(statement).unwrap_err();
        let expected =
            format!("also matches {others} more; write {address} for that address alone, or {pattern} for");
        assert!(said.contains(&expected), "{statement}: {said}");
    }
    let document = document(ZONE);
    assert!(Editor::on_document(&document).select(r#"t.record["*.a.example"]"#).is_err());
}

#[test]
fn both_spellings_mean_what_the_refusal_says() {
    let gone = |script: &str| -> Vec<String> {
        let left = left(script).unwrap();
        ZONE.iter()
            .filter(|line| !left.contains(&(**line).to_owned()))
            .map(|line| (*line).to_owned())
            .collect()
    };
    assert_eq!(gone(r#"rm t.record["\*.a.example"]"#), [ZONE[2]]);
    assert_eq!(gone(r#"rm glob:t.record["*.a.example"]"#), [ZONE[2], ZONE[4]]);
    assert_eq!(gone(r#"rm module.dns["\*"]"#), [ZONE[0]]);
    assert_eq!(gone(r#"rm glob:module.dns["*"]"#), [ZONE[0], ZONE[1]]);
    // Where the address is all that matches, it needs no other spelling.
    assert_eq!(gone(r#"rm t.wild["*"]"#), [ZONE[6]]);
    assert_eq!(gone(r#"rm t.record["**"]"#), [ZONE[3]]);
    assert!(left(r#"taint t.wild["*"]"#).is_ok());
    assert!(left(r#"taint t.record["\*.a.example"]"#).is_ok());
    let moved = left(r#"mv t.wild["*"] t.tame["*"]"#).unwrap();
    assert!(moved.contains(&r#"t.tame["*"]"#.to_owned()), "{moved:?}");
}

#[test]
fn text_that_is_no_address_in_the_state_stays_a_pattern() {
    let mut after = left(r#"rm t.record["*.example"]"#).unwrap();
    after.sort();
    assert_eq!(after, [ZONE[0], ZONE[1], ZONE[3], ZONE[6]]);
}
