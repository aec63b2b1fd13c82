//! URNs: what is valid, what the components are, how they are put together.

use groundstate_pulumi_snapshot::{Urn, UrnError};
use proptest::prelude::*;

#[track_caller]
fn check(text: &str, [stack, project, qualified, own, name]: [&str; 5]) {
    let urn = Urn::parse(text).expect("the text is a URN");
    assert_eq!(urn.as_str(), text);
    let components = [urn.stack(), urn.project(), urn.qualified_type(), urn.resource_type(), urn.name()];
    assert_eq!(components, [stack, project, qualified, own, name], "{text}");
}

#[test]
fn components_are_split_from_the_left() {
    check("urn:pulumi:s::p::t::n", ["s", "p", "t", "t", "n"]);
    check("urn:pulumi:s::p::a$b$c::n", ["s", "p", "a$b$c", "c", "n"]);
    check("urn:pulumi:s::p::t::a::b$c", ["s", "p", "t", "t", "a::b$c"]);
    check("urn:pulumi:s::p::t::", ["s", "p", "t", "t", ""]);
    check(
        "urn:pulumi::stack::proj::type::a-longer-name",
        [":stack", "proj", "type", "type", "a-longer-name"],
    );
    check("urn:pulumi:::::::", ["", "", "", "", ""]);
    check("urn:pulumi::a::b::c", [":a", "b", "c", "c", ""]);
    check("urn:pulumi:s p::\n::$::\u{e9}", ["s p", "\n", "$", "", "\u{e9}"]);
    check("urn:pulumi:s::p::t:::n", ["s", "p", "t", "t", ":n"]);
}

#[test]
fn what_is_no_urn_is_refused() {
    for text in [
        "URN:PULUMI:s::p::t::n",
        "urn:pulumi:s::p::t",
        "urn:pulumi:",
        "urn:pulumi",
        "urn:other:s::p::t::n",
        " urn:pulumi:s::p::t::n",
        "a",
    ] {
        assert_eq!(Urn::parse(text), Err(UrnError::Invalid(text.into())), "{text}");
        assert!(!Urn::from(text).is_valid());
    }
    assert_eq!(Urn::parse(""), Err(UrnError::Missing));
    assert_eq!(Urn::parse_optional(""), Ok(None));
    assert!(Urn::parse_optional("x").is_err());
    assert_eq!(UrnError::Missing.to_string(), "missing required URN");
    assert_eq!(Urn::parse("a\"b").unwrap_err().to_string(), r#"invalid URN "a\"b""#);
}

#[test]
fn components_of_what_is_no_urn_are_empty() {
    for text in ["", "a", "a::b::c::d", "urn:pulumi:"] {
        let urn = Urn::from(text);
        let components = [urn.stack(), urn.project(), urn.qualified_type(), urn.resource_type(), urn.name()];
        assert_eq!(components, [""; 5], "{text}");
    }
    assert_eq!(Urn::from("urn:pulumi:s::p").project(), "p");
}

#[test]
fn the_root_stack_is_no_part_of_the_type_of_its_children() {
    let root = Urn::root_stack("dev", "shop");
    assert_eq!(root.as_str(), "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev");
    assert!(root.is_root_stack());
    let child = Urn::build("dev", "shop", root.qualified_type(), "a:b:C", "x");
    assert_eq!(child.as_str(), "urn:pulumi:dev::shop::a:b:C::x");
    let grandchild = Urn::build("dev", "shop", child.qualified_type(), "d:e:F", "y");
    assert_eq!(grandchild.as_str(), "urn:pulumi:dev::shop::a:b:C$d:e:F::y");
    assert_eq!(grandchild.parent_type(), "a:b:C");
    assert!(!grandchild.is_root_stack());
}

#[test]
fn changes_replace_one_component() {
    let urn = Urn::from("urn:pulumi:s::p::a$b::n::m");
    assert_eq!(urn.with_name("x").as_str(), "urn:pulumi:s::p::a$b::x");
    assert_eq!(urn.with_stack("x").as_str(), "urn:pulumi:x::p::a$b::n::m");
    assert_eq!(urn.with_project("x").as_str(), "urn:pulumi:s::x::a$b::n::m");
    assert_eq!(urn.below("c$d").as_str(), "urn:pulumi:s::p::c$d$b::n::m");
    assert_eq!(urn.below("").as_str(), "urn:pulumi:s::p::b::n::m");
}

proptest! {
    #[test]
    fn nothing_panics_and_what_is_built_is_read_back(
        text in "(urn:pulumi:)?[a-z:$\u{e9}]{0,40}",
        parts in prop::collection::vec("[a-z/.-]{0,5}", 5),
    ) {
        let urn = Urn::from(text.as_str());
        prop_assert_eq!(urn.is_valid(), Urn::parse(&text).is_ok());
        let shown = [urn.stack(), urn.project(), urn.qualified_type(), urn.name()].join("::");
        let delimiters = text.matches("::").count();
        if urn.is_valid() && text.strip_prefix("urn:pulumi:").is_some_and(|rest| rest.matches("::").count() >= 3) {
            prop_assert_eq!(format!("urn:pulumi:{}", shown), text, "{} delimiters", delimiters);
        }
        let built = Urn::build(&parts[0], &parts[1], &parts[2], &parts[3], &parts[4]);
        prop_assert!(built.is_valid());
        prop_assert_eq!(built.stack(), &parts[0]);
        prop_assert_eq!(built.project(), &parts[1]);
        prop_assert_eq!(built.resource_type(), &parts[3]);
        prop_assert_eq!(built.name(), &parts[4]);
    }
}
