//! Rules of names and tags.

use groundstate_pulumi_protocol::{
    OwnerName, Tags, check_tag, check_tags, project_in_path, project_name, stack_name,
};

#[test]
fn owners_have_3_to_40_characters_with_letters_or_digits_at_both_ends() {
    let (longest, too_long) = ("a".repeat(40), "a".repeat(41));
    for (text, is_owner) in [
        ("self", true),
        ("organization", true),
        ("a-b", true),
        ("A_1", true),
        ("123", true),
        (longest.as_str(), true),
        (too_long.as_str(), false),
        ("ab", false),
        ("", false),
        ("-ab", false),
        ("ab_", false),
        ("a.b", false),
        ("añb", false),
        ("a/b", false),
    ] {
        assert_eq!(OwnerName::parse(text).is_ok(), is_owner, "{text}");
    }
}

#[test]
fn names_that_paths_lose_are_refused() {
    for text in [".", "..", "", "a/b", "ä", "a b"] {
        assert!(stack_name(text).is_err(), "{text}");
        assert!(project_name(text).is_err(), "{text}");
    }
    for text in ["...", "a", "a.b_c-D", &"x".repeat(100)] {
        assert_eq!(stack_name(text).unwrap().as_str(), text);
        assert_eq!(project_name(text).unwrap().as_str(), text);
    }
    assert!(stack_name(&"x".repeat(101)).is_err());
}

#[test]
fn projects_are_cleaned_for_paths() {
    for (project, expected) in [("my-shop_1.x", "my-shop_1.x"), ("my shop/é", "my-shop--"), ("", "")] {
        assert_eq!(project_in_path(project), expected);
    }
}

#[test]
fn tags_have_short_names_and_values() {
    for (name, value, is_tag) in [
        ("pulumi:project", "shop", true),
        ("a-b_c.d:e", "", true),
        (&*"n".repeat(40), &*"é".repeat(256), true),
        (&*"n".repeat(41), "", false),
        ("n", &*"é".repeat(257), false),
        ("", "x", false),
        ("a b", "x", false),
        ("é", "x", false),
    ] {
        assert_eq!(check_tag(name, value).is_ok(), is_tag, "{name}");
    }
    let tags: Tags = [("good", "1"), ("bad name", "2")].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
    let error = check_tags(&tags).unwrap_err().to_string();
    assert!(error.contains("\"bad name\" is not a valid tag name"), "{error}");
}
