//! The search for words finds what reading every instance finds.

use groundstate_states::addr::Module;
use proptest::prelude::*;

use super::*;

/// Names that are parts of each other, of escapes, and of the words of addresses.
const NAMES: [&str; 8] = ["n", "nn", "tn", "web", "web2", "module", "größe", "\u{20000}x"];

/// What may stand between two names, as JSON.
const GAPS: [&str; 14] = [
    ".",
    " .",
    ". ",
    "\\t.",
    ".\\n",
    "/*c*/.",
    ". /*.n*/",
    ".//n\\n",
    ".#web\\r\\n ",
    "\\u002e",
    ".\\u0009",
    ".\\/*x*\\u002f",
    "#c\\u000a.",
    "/**/ . /**/",
];

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(&NAMES[..]).prop_map(str::to_owned)
}

fn gap() -> impl Strategy<Value = String> {
    prop_oneof![3 => Just(".".to_owned()), 2 => prop::sample::select(&GAPS[..]).prop_map(str::to_owned)]
}

/// The name as JSON, perhaps with its first or its last character escaped.
fn spelled(name: &str, escape: usize) -> String {
    let chars: Vec<char> = name.chars().collect();
    let is_escaped = |at: usize| match escape {
        1 => at == 0,
        2 => at + 1 == chars.len(),
        _ => false,
    };
    let spell = |(at, letter): (usize, &char)| match is_escaped(at) {
        true => letter.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
        false => letter.to_string(),
    };
    chars.iter().enumerate().map(spell).collect()
}

/// An address as JSON, without its quotes.
fn address() -> impl Strategy<Value = String> {
    let word = || (name(), 0..8_usize).prop_map(|(name, escape)| spelled(&name, escape));
    let call =
        (gap(), word(), gap()).prop_map(|(before, name, behind)| format!("module{before}{name}{behind}"));
    let type_name = word().prop_filter("a resource needs a type", |name| !name.contains("odul"));
    (prop::collection::vec(call, 0..3), type_name, gap(), word())
        .prop_map(|(calls, type_name, gap, name)| format!("{}{type_name}{gap}{name}", calls.concat()))
}

/// An instance: what it depends on, what it depends on in older files, and an attribute.
fn object() -> impl Strategy<Value = String> {
    let key = prop::sample::select(&["", "[0]", " [ 1 ]", "[\\\"k\\\"]", "/*n*/"][..]);
    let dependencies = prop::collection::vec(address(), 0..3);
    let depends_on =
        prop::collection::vec((address(), key).prop_map(|(address, key)| format!("{address}{key}")), 0..2);
    let attribute =
        prop_oneof![address(), name(), (name(), name()).prop_map(|(a, b)| format!("a {a} {b}\\u0026"))];
    (dependencies, depends_on, attribute).prop_map(|(dependencies, depends_on, attribute)| {
        let list = |texts: Vec<String>| texts.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(",");
        let (dependencies, depends_on) = (list(dependencies), list(depends_on));
        format!(
            r#"{{"schema_version":0,"attributes":{{"id":"{attribute}"}},"dependencies":[{dependencies}],"depends_on":[{depends_on}]}}"#
        )
    })
}

fn document() -> impl Strategy<Value = Document> {
    prop::collection::vec(object(), 0..8).prop_map(|objects| {
        let resource = |(at, object): (usize, &String)| {
            format!(
                r#"{{"mode":"managed","type":"test","name":"r{at}","provider":"provider[\"registry.terraform.io/hashicorp/test\"]","instances":[{object}]}}"#
            )
        };
        let resources: Vec<_> = objects.iter().enumerate().map(resource).collect();
        // Behind the resources the same words may stand in outputs.
        let output = r#"{"n":{"value":"web.n","type":"string"}}"#;
        let text = format!(r#"{{"version":4,"resources":[{}],"outputs":{output}}}"#, resources.join(", "));
        Document::open(text.into_bytes()).expect("a valid state")
    })
}

fn sorted(found: impl IntoIterator<Item = AbsResource>) -> BTreeSet<AbsResource> {
    found.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_search_for_a_resource_finds_who_mentions_it(document in document()) {
        let all = Mentions::of_document(&document);
        for (config, by) in all.all() {
            let found = Mentions::of_words(&document, &BTreeSet::from([Words::of_resource(config)]));
            prop_assert_eq!(sorted(found.of(config).cloned()), sorted(by.clone()), "{}", config);
        }
    }

    #[test]
    fn a_search_for_a_call_finds_who_mentions_what_is_inside(document in document(), name in name()) {
        let inside = |module: &Module| module.steps().iter().any(|step| **step == *name);
        let mentions = |all: &Mentions| {
            sorted(all.all().filter(|(config, _)| inside(&config.module)).flat_map(|(_, by)| by).cloned())
        };
        let found = Mentions::of_words(&document, &BTreeSet::from([Words::of_call(&name)]));
        prop_assert_eq!(mentions(&found), mentions(&Mentions::of_document(&document)));
    }
}

fn state(first: &str, second: &str) -> Document {
    let resource = |name: &str, object: &str| {
        format!(
            r#"{{"mode":"managed","type":"test","name":"{name}","provider":"provider[\"registry.terraform.io/hashicorp/test\"]","instances":[{object}]}}"#
        )
    };
    let text =
        format!(r#"{{"version":4,"resources":[{},{}]}}"#, resource("web", first), resource("b", second));
    Document::open(text.into_bytes()).expect("a valid state")
}

fn entries(document: &Document, address: &str) -> Vec<usize> {
    let config = ConfigResource::parse(address).expect("an address");
    let spans: Vec<_> = document.entries().iter().map(ResourceEntry::span).collect();
    search(document.text(), &spans, &BTreeSet::from([Words::of_resource(&config)])).into_iter().collect()
}

#[test]
fn only_entries_with_the_words_are_read() {
    let document = state(
        r#"{"attributes":{"id":"the web is test and test.web2 \u0026c"},"dependencies":["test.b","x.web"]}"#,
        r#"{"dependencies":["module.a.test.web"]}"#,
    );
    assert_eq!(entries(&document, "test.web"), [1]);
    assert_eq!(entries(&document, "test.c"), Vec::<usize>::new());
}

#[test]
fn of_two_lists_of_resources_the_later_counts_whatever_else_stands_twice() {
    let resource = |name: &str, on: &str| {
        format!(
            r#"{{"mode":"managed","type":"test","name":"{name}","provider":"provider[\"registry.terraform.io/hashicorp/test\"]","instances":[{{"dependencies":["{on}"]}}]}}"#
        )
    };
    let text = format!(
        r#"{{"version":4,"outputs":{{}},"resources":[{}],"resources":[{}],"outputs":{{}}}}"#,
        resource("gone", "test.a"),
        resource("b", "test.c")
    );
    let document = Document::open(text.into_bytes()).expect("a valid state");
    let found = Mentions::of_document(&document);
    let by: Vec<(String, Vec<String>)> = found
        .all()
        .map(|(config, by)| (config.to_string(), by.iter().map(ToString::to_string).collect()))
        .collect();
    assert_eq!(by, [("test.c".to_owned(), vec!["test.b".to_owned()])]);
}

#[test]
fn what_is_no_identifier_is_mentioned_nowhere() {
    let document = state(r#"{"attributes":{"id":"module."},"dependencies":["test.b"]}"#, "{}");
    let empty = Words::of_call("");
    let spans: Vec<_> = document.entries().iter().map(ResourceEntry::span).collect();
    assert!(search(document.text(), &spans, &BTreeSet::from([empty])).is_empty());
}
