//! Aliases: which names are tried, in which order.

use groundstate_pulumi_snapshot::{
    AliasParent, AliasParts, AliasSpec, AliasTarget, TypeToken, Urn, create_urn,
};

fn target(parent: Option<&str>) -> AliasTarget {
    AliasTarget {
        name: "web-disk".into(),
        resource_type: TypeToken::from("t:t:Disk"),
        stack: "s".into(),
        project: "p".into(),
        parent: parent.map(Urn::from),
    }
}

#[track_caller]
fn collapses(parts: AliasParts, expected: &str) {
    let target = target(Some("urn:pulumi:s::p::t:t:Web::web"));
    assert_eq!(target.collapse(&AliasSpec::Parts(parts), |_| None).as_str(), expected);
}

#[test]
fn what_is_missing_is_as_it_is_now() {
    let none = AliasParts::default;
    collapses(none(), "urn:pulumi:s::p::t:t:Web$t:t:Disk::web-disk");
    collapses(AliasParts { name: Some("x".into()), ..none() }, "urn:pulumi:s::p::t:t:Web$t:t:Disk::x");
    let token = TypeToken::from("a:b:C");
    collapses(
        AliasParts { resource_type: Some(token), ..none() },
        "urn:pulumi:s::p::t:t:Web$a:b:C::web-disk",
    );
    // Stack and project are those of the parent, if there is one.
    collapses(
        AliasParts { stack: Some("z".into()), ..none() },
        "urn:pulumi:s::p::t:t:Web$t:t:Disk::web-disk",
    );
    let alone = AliasParts { stack: Some("z".into()), parent: AliasParent::None, ..none() };
    collapses(alone, "urn:pulumi:z::p::t:t:Disk::web-disk");
    let root = AliasParts { parent: AliasParent::Urn(Urn::root_stack("s", "p")), ..none() };
    collapses(root, "urn:pulumi:s::p::t:t:Disk::web-disk");
}

#[test]
fn a_parent_that_was_found_by_an_alias_counts_under_that_alias() {
    let old = "urn:pulumi:s::p::t:t:Web::old";
    let matched = |urn: &Urn| (urn.name() == "web").then(|| Urn::from(old));
    let other = AliasParts {
        parent: AliasParent::Urn(Urn::from("urn:pulumi:s::p::t:t:Web::web")),
        ..AliasParts::default()
    };
    let collapsed = target(None).collapse(&AliasSpec::Parts(other), matched);
    assert_eq!(collapsed.as_str(), "urn:pulumi:s::p::t:t:Web$t:t:Disk::web-disk");
    let inherited = target(Some("urn:pulumi:s::p::t:t:Web::web")).aliases(&[], matched);
    // The child's name begins with that of its parent.
    assert_eq!(inherited, [Urn::from("urn:pulumi:s::p::t:t:Web$t:t:Disk::old-disk")]);
}

#[test]
fn names_are_tried_once_each_specifications_first() {
    let parent = "urn:pulumi:s::p::t:t:Web::web";
    let matched = |_: &Urn| Some(Urn::from("urn:pulumi:s::p::t:t:Old::old"));
    let renamed = AliasSpec::Parts(AliasParts { name: Some("x".into()), ..AliasParts::default() });
    let explicit = AliasSpec::Urn(Urn::from("urn:pulumi:q::q::a::b"));
    let aliases = target(Some(parent)).aliases(&[renamed.clone(), explicit, renamed], matched);
    let texts: Vec<&str> = aliases.iter().map(Urn::as_str).collect();
    assert_eq!(
        texts,
        [
            "urn:pulumi:s::p::t:t:Web$t:t:Disk::x",
            "urn:pulumi:q::q::a::b",
            "urn:pulumi:s::p::t:t:Old$t:t:Disk::old-disk",
            "urn:pulumi:s::p::t:t:Old$t:t:Disk::x",
            "urn:pulumi:s::p::t:t:Old$a::b",
        ]
    );
}

#[test]
fn a_parent_with_delimiters_in_its_name_gives_what_programs_get() {
    let parent = Urn::from("urn:pulumi:s::p::t::a::b");
    let urn = create_urn("n", &TypeToken::from("u"), Some(&parent), "x", "y");
    assert_eq!(urn.as_str(), "urn:pulumi:s::p::t::a$u::n");
}
