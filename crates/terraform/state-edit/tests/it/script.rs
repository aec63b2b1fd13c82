//! Scripts: what patterns match, what is put into destinations, and what is refused where.

use std::time::{Duration, Instant};

use groundstate_state_edit::{Editor, OpenState, Script, ScriptFault, ScriptOptions};

use crate::support::{at, document, lines, operate};

const STATE: &[&str] = &[
    "data.aws_ami.base",
    "aws_db.web_a",
    "aws_instance.web_a: aws_db.web_a",
    "aws_instance.web_b[0]",
    "aws_instance.web_b[1]",
    r#"aws_instance.zone["eu-1"]"#,
    r#"aws_instance.zone["us-1"]"#,
    r#"module.old["a"].aws_instance.x"#,
    r#"module.old["a"].module.deep.aws_db.y"#,
    r#"module.old["b c"].aws_instance.x: aws_db.web_a"#,
    "module.plain.aws_instance.x",
];

#[track_caller]
fn run(script: &str) -> Vec<String> {
    let script = Script::parse(script).unwrap();
    let document = document(STATE);
    let after = operate(&document, |editor| {
        editor.run(&script, &ScriptOptions::default()).unwrap();
    });
    lines(&after)
}

/// Checks which lines are replaced by which.
#[track_caller]
fn check(script: &str, gone: &[&str], new: &[&str]) {
    let after = run(script);
    let mut expected: Vec<&str> = STATE.iter().copied().filter(|line| !gone.contains(line)).collect();
    assert_eq!(expected.len() + gone.len(), STATE.len(), "{gone:?}");
    expected.extend(new);
    let mut after: Vec<&str> = after.iter().map(String::as_str).collect();
    expected.sort_unstable();
    after.sort_unstable();
    assert_eq!(after, expected, "{script}");
}

#[test]
fn moves_by_pattern_with_what_the_wildcards_matched() {
    check(
        r#"mv module.old["*"].aws_instance.* module.new["$1"].aws_instance.b_$2"#,
        &[r#"module.old["a"].aws_instance.x"#, r#"module.old["b c"].aws_instance.x: aws_db.web_a"#],
        &[r#"module.new["a"].aws_instance.b_x"#, r#"module.new["b c"].aws_instance.b_x: aws_db.web_a"#],
    );
    check(
        "mv module.old[*] module.new[$1]",
        &[STATE[7], STATE[8], STATE[9]],
        &[
            r#"module.new["a"].aws_instance.x"#,
            r#"module.new["a"].module.deep.aws_db.y"#,
            r#"module.new["b c"].aws_instance.x: aws_db.web_a"#,
        ],
    );
    check(
        "mv aws_instance.*[*] aws_instance.all[\"${1}-$2\"]",
        &[STATE[3], STATE[4], STATE[5], STATE[6]],
        &[
            r#"aws_instance.all["web_b-0"]"#,
            r#"aws_instance.all["web_b-1"]"#,
            r#"aws_instance.all["zone-eu-1"]"#,
            r#"aws_instance.all["zone-us-1"]"#,
        ],
    );
    check(
        r#"mv aws_instance.zone["*-*"] module.$1.aws_instance.zone[$2]"#,
        &[STATE[5], STATE[6]],
        &["module.eu.aws_instance.zone[1]", "module.us.aws_instance.zone[1]"],
    );
    check(
        "mv module.*d module.${1}ish",
        &[STATE[7], STATE[8], STATE[9]],
        &[
            r#"module.olish["a"].aws_instance.x"#,
            r#"module.olish["a"].module.deep.aws_db.y"#,
            r#"module.olish["b c"].aws_instance.x: aws_db.web_a"#,
        ],
    );
}

#[test]
fn whole_resources_are_matched_without_brackets() {
    check(
        "mv aws_instance.web_* module.web.aws_instance.$1",
        &[STATE[2], STATE[3], STATE[4]],
        &[
            "module.web.aws_instance.a: aws_db.web_a",
            "module.web.aws_instance.b[0]",
            "module.web.aws_instance.b[1]",
        ],
    );
    check(
        "mv *.web_a module.m.$1.web",
        &[STATE[1], STATE[2], STATE[9]],
        &[
            "module.m.aws_db.web",
            "module.m.aws_instance.web: module.m.aws_db.web",
            r#"module.old["b c"].aws_instance.x: module.m.aws_db.web"#,
        ],
    );
    check("mv data.*.* data.$1.image", &[STATE[0]], &["data.aws_ami.image"]);
    check(
        "mv *.web_a $1.new[3]",
        &[STATE[1], STATE[2], STATE[9]],
        &[
            "aws_db.new[3]",
            "aws_instance.new[3]: aws_db.new",
            r#"module.old["b c"].aws_instance.x: aws_db.new"#,
        ],
    );
}

#[test]
fn two_stars_stand_for_any_modules() {
    check("mv **.aws_db.y $1.aws_db.z", &[STATE[8]], &[r#"module.old["a"].module.deep.aws_db.z"#]);
    check(
        "mv **.aws_db.* module.db.$1.aws_db.$2",
        &[STATE[1], STATE[2], STATE[8], STATE[9]],
        &[
            "module.db.aws_db.web_a",
            "aws_instance.web_a: module.db.aws_db.web_a",
            r#"module.db.module.old["a"].module.deep.aws_db.y"#,
            r#"module.old["b c"].aws_instance.x: module.db.aws_db.web_a"#,
        ],
    );
    check(
        "mv module.old[*].**.module.deep module.deeper[$1]",
        &[STATE[8]],
        &[r#"module.deeper["a"].aws_db.y"#],
    );
    check(
        "rm **.aws_instance.*",
        &[STATE[2], STATE[3], STATE[4], STATE[5], STATE[6], STATE[7], STATE[9], STATE[10]],
        &[],
    );
    check("rm **.module.deep module.p*", &[STATE[8], STATE[10]], &[]);
}

#[test]
fn statements_see_what_those_before_them_did() {
    check(
        "# rename, and rename again\nmv aws_db.web_a aws_db.x\n\nmv 'aws_db.x' aws_db.y # back\nrm aws_instance.web_a",
        &[STATE[1], STATE[2], STATE[9]],
        &["aws_db.y", r#"module.old["b c"].aws_instance.x: aws_db.y"#],
    );
    // All that one statement moves, it moves at once.
    check(
        "mv aws_instance.web_b[*] aws_instance.t[$1]\nmv aws_instance.t[0] aws_instance.web_b[1]\nmv aws_instance.t[1] \
         aws_instance.web_b[0]",
        &[],
        &[],
    );
}

#[test]
fn stars_and_dollars_can_stand_for_themselves() {
    let script = Script::parse(
        "mv aws_db.a aws_db.k[\"*\\$1\"]\nmv aws_db.k[\"\\*$1\"] aws_db.l[\"\\$1$${x}\"]\nmv aws_db.l[\"*\"] aws_db.m[\"$1\"]",
    )
    .unwrap();
    let document = document(&["aws_db.a"]);
    let after = operate(&document, |editor| {
        editor.run(&script, &ScriptOptions::default()).unwrap();
    });
    assert_eq!(lines(&after), [r#"aws_db.m["$1$${x}"]"#]);
}

#[test]
fn taints_and_providers() {
    let document = document(STATE);
    let script = Script::parse(
        "taint aws_instance.*[*] aws_db.web_a\nuntaint **.*.*[1]\nreplace-provider hashicorp/test acme/test",
    )
    .unwrap();
    let mut editor = Editor::on_document(&document);
    let report = editor.run(&script, &ScriptOptions::default()).unwrap();
    let counts: Vec<_> = report.statements.iter().map(|done| (done.line, done.summary.len())).collect();
    assert_eq!(counts, [(1, 5), (2, 1), (3, 9)]);
    assert_eq!(report.changes(), 15);
    let untaint = Script::parse("untaint **.*.*[1]").unwrap();
    let error = editor.run(&untaint, &ScriptOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 1, column 9: **.*.*[1] matches nothing in the state; list the state to see the addresses it has"
    );
}

#[test]
fn recorded_dependencies_can_be_removed() {
    check(
        "rm-dependency aws_instance.web_a aws_db.web_a",
        &["aws_instance.web_a: aws_db.web_a"],
        &["aws_instance.web_a"],
    );
    check(
        "rm-dependency module.old[\"b c\"] aws_db.web_a # of all in the module",
        &[r#"module.old["b c"].aws_instance.x: aws_db.web_a"#],
        &[r#"module.old["b c"].aws_instance.x"#],
    );
    check(
        "rm-dependency **.aws_instance.* aws_db.web_a[0]",
        &["aws_instance.web_a: aws_db.web_a", r#"module.old["b c"].aws_instance.x: aws_db.web_a"#],
        &["aws_instance.web_a", r#"module.old["b c"].aws_instance.x"#],
    );
    let document = document(STATE);
    let mut editor = Editor::on_document(&document);
    for (script, why) in [
        (
            "rm-dependency aws_db.web_a aws_instance.web_a",
            "aws_db.web_a records no dependency on aws_instance.web_a",
        ),
        ("rm-dependency aws_db.web_a", ""),
        ("rm-dependency aws_db.web_a module.plain", ""),
    ] {
        let Ok(script) = Script::parse(script) else {
            assert!(why.is_empty(), "{script} cannot be read");
            continue;
        };
        let error = editor.run(&script, &ScriptOptions::default()).unwrap_err().to_string();
        assert!(!why.is_empty() && error.contains(why), "{error}");
    }
    assert!(!editor.is_changed().unwrap());
}

#[test]
fn scripts_that_cannot_be_read_say_where() {
    for (script, line, column, why) in [
        (
            "move a.b c.d",
            1,
            1,
            "unknown verb `move`; use mv, rm, rm-dependency, rm-identity, replace-provider, taint or untaint",
        ),
        ("\n  mv a.b", 2, 3, "mv takes two words, FROM and TO, but 1 follow it"),
        ("rm # a.b", 1, 1, "rm takes one address or more, but 0 follow it"),
        ("rm a.b[\"x", 1, 8, "this \" is not closed on its line"),
        ("rm 'a.b", 1, 4, "this ' is not closed on its line"),
        ("rm a.b a", 1, 9, "invalid address `a`"),
        ("mv a.* a.$2", 1, 10, "$2 refers to nothing: the source has 1 wildcards"),
        ("mv a.* a.$0", 1, 10, "$0 refers to nothing: the source has 1 wildcards"),
        ("mv a.b a.$1", 1, 10, "$1 refers to nothing: the source has 0 wildcards"),
        ("mv a.* b.*", 1, 10, "a destination has no wildcards"),
        ("mv a.b[*] a.c[*]", 1, 15, "a destination has no wildcards"),
        ("rm *", 1, 5, "this has to go on with the type and name of a resource"),
        ("rm **", 1, 6, "this has to go on with the type and name of a resource"),
        ("rm module.a*.**", 1, 16, "this has to go on with the type and name of a resource"),
        ("rm **.**.a.b", 1, 7, "`**` can appear only once in an address"),
        ("rm a.b**", 1, 6, "two `*` in a row; write one"),
        ("rm a*.b.c", 1, 9, "the address ends here; remove what follows"),
        ("rm a*.b!", 1, 8, "this is not allowed in a name"),
        ("rm a*..b", 1, 7, "a name is missing here"),
        ("rm a*.b[x]", 1, 9, "a key is a whole number, a quoted text, or `*`"),
        ("rm a*.b[1", 1, 8, "this bracket is not closed; end it with `]`"),
        ("rm a*.b[\"x\\q\"]", 1, 11, "unknown escape sequence"),
        ("mv **.a.b c.d$1", 1, 13, "what `**` matched is a path of modules"),
        ("mv a.b[\"*\"] a.c[x$1]", 1, 17, "a key is a whole number, a quoted text, or one reference"),
        ("taint module.a", 1, 15, "invalid resource instance address `module.a`"),
        ("taint module.a*", 1, 7, "only instances can be tainted; name a resource behind the module"),
    ] {
        let error = Script::parse(script).unwrap_err();
        assert_eq!((error.line, error.column), (line, column), "{script}: {error}");
        assert!(error.fault.to_string().contains(why), "{script}: {error}");
    }
}

#[test]
fn a_refused_statement_takes_everything_back() {
    for (statement, column, why) in [
        ("mv aws_db.zz aws_db.y", 4, "cannot move aws_db.zz: it matches nothing in the state"),
        ("mv aws_db.z* aws_db.y", 4, "aws_db.z* matches nothing in the state"),
        ("mv aws_instance.*[*] aws_instance.one[0]", 4, "something else is moved there as well"),
        (
            r#"mv aws_instance.zone["*"] aws_instance.z[$1]"#,
            27,
            r#"aws_instance.zone["eu-1"] would become eu-1, where a whole number is needed"#,
        ),
        (
            r#"mv module.old["*"] module.$1"#,
            20,
            r#"module.old["b c"] would become b c, where a name is needed"#,
        ),
        ("rm aws_db.zz", 4, "nothing to remove: aws_db.zz matches nothing in the state"),
        ("rm aws_db.* aws_db.z*", 13, "aws_db.z* matches nothing in the state"),
        ("taint data.aws_ami.base", 7, "is not a managed resource"),
        ("untaint aws_db.web_a", 9, "is not tainted"),
        ("replace-provider hashicorp/test test", 18, "cannot replace"),
        ("replace-provider hashicorp/test a/b/c/d", 33, "invalid provider"),
    ] {
        let script =
            Script::parse(&format!("mv aws_instance.web_a aws_instance.moved\n{statement}")).unwrap();
        let document = document(STATE);
        let mut editor = Editor::on_document(&document);
        let error = editor.run(&script, &ScriptOptions::default()).unwrap_err();
        assert_eq!((error.line, error.column), (2, column), "{statement}: {error}");
        assert!(error.fault.to_string().contains(why), "{statement}: {error}");
        assert!(!editor.is_changed().unwrap());
    }
}

#[test]
fn missing_things_can_be_passed_over() {
    let document = document(STATE);
    let script = Script::parse(
        "mv aws_db.zz aws_db.y\nmv aws_db.z* aws_db.$1\nrm aws_db.z*\nrm aws_db.z* aws_db.web_a\ntaint aws_db.q \
         aws_instance.web_a\nuntaint aws_db.*",
    )
    .unwrap();
    let mut editor = Editor::on_document(&document);
    let options = ScriptOptions::default().skip_missing(true);
    let report = editor.run(&script, &options).unwrap();
    let done: Vec<_> = report.statements.iter().map(|d| (d.summary.len(), d.skipped.is_some())).collect();
    assert_eq!(done, [(0, true), (0, true), (0, true), (1, false), (1, false), (0, true)]);
    assert!(matches!(report.statements[1].skipped, Some(ScriptFault::NothingMatched { .. })));
}

#[test]
fn a_script_is_the_same_as_its_statements_by_themselves() {
    let script = Script::parse(
        "mv module.old[\"a\"] module.a\nmv aws_instance.web_b[0] aws_instance.web_b[5]\nrm module.plain",
    )
    .unwrap();
    let state = OpenState::open(document(STATE).into_text()).unwrap();
    let mut by_script = state.editor();
    by_script.run(&script, &ScriptOptions::default()).unwrap();
    let mut by_hand = state.editor();
    by_hand.move_address(&at(r#"module.old["a"]"#), &at("module.a"), Default::default()).unwrap();
    by_hand
        .move_address(&at("aws_instance.web_b[0]"), &at("aws_instance.web_b[5]"), Default::default())
        .unwrap();
    by_hand.remove(&[at("module.plain")]).unwrap();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    by_script.write_to(state.serial(), &mut a).unwrap();
    by_hand.write_to(state.serial(), &mut b).unwrap();
    assert_eq!(a, b);
    assert_eq!(by_script.preview().unwrap(), by_hand.preview().unwrap());
}

#[test]
fn many_patterns_take_no_more_than_linear_time() {
    let duration = |count: usize, resource: fn(usize) -> String, statement: fn(usize) -> String| {
        let state: Vec<String> = (0..count).map(resource).collect();
        let document = document(&state.iter().map(String::as_str).collect::<Vec<_>>());
        let script = Script::parse(&(0..count).map(statement).collect::<Vec<_>>().join("\n")).unwrap();
        let start = Instant::now();
        let mut editor = Editor::on_document(&document);
        let report = editor.run(&script, &ScriptOptions::default()).unwrap();
        assert_eq!(report.changes(), count);
        start.elapsed()
    };
    let check = |resource, statement| {
        // What else the machine does can make one of them look slow, but not each.
        let is_linear = (0..3).any(|_| {
            let (short, long) = (duration(500, resource, statement), duration(4000, resource, statement));
            println!("{short:?} for 500 and {long:?} for 4000");
            long < short * 8 * 3 + Duration::from_secs(2)
        });
        assert!(is_linear);
    };
    check(|i| format!("t.a{i}_x"), |i| format!("mv t.a{i}_* t.b{i}_$1"));
    check(|i| format!("t{i}.x"), |i| format!("mv t{i}.*x t{i}.${{1}}y"));
    check(
        |i| format!("module.m{i}.module.n.t.x{i}"),
        |i| format!("mv module.m{i}.module.n* module.m{i}.module.o$1"),
    );
}
