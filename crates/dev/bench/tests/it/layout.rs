//! Size and shape of the files.

use groundstate_bench::{Format, KNOWN_OUTPUT, Recipe};

use super::state;

const FORMATS: [Format; 3] = [Format::Terraform, Format::OpenTofu, Format::V3];

#[test]
fn equal_recipes_give_equal_bytes_and_other_seeds_do_not() {
    for format in FORMATS {
        assert!(state(Recipe::new(300), format) == state(Recipe::new(300), format), "{format:?}");
        assert!(state(Recipe::new(300), format) != state(Recipe::new(300).seed(2), format), "{format:?}");
    }
}

#[test]
fn an_instance_takes_about_two_kilobytes() {
    for format in [Format::Terraform, Format::OpenTofu] {
        let each = state(Recipe::new(5000), format).len() / 5000;
        assert!((1900..=2400).contains(&each), "{format:?}: {each}");
    }
}

#[test]
fn states_have_what_real_ones_have() {
    let text = String::from_utf8(state(Recipe::new(5000), Format::Terraform)).unwrap();
    for part in [
        "\"module\": \"module.",
        "\"mode\": \"data\"",
        "\"index_key\": 0,",
        "\"index_key\": \"quote\\\"d\"",
        "\"status\": \"tainted\"",
        "\"deposed\": \"",
        "\"sensitive_attributes\": [],",
        "\"type\": \"get_attr\"",
        "\"private\": \"",
        "\"dependencies\": [",
        "\"create_before_destroy\": true",
        "\"check_results\": [",
        "\\u0026",
        "größe",
        &format!("    \"{KNOWN_OUTPUT}\": {{"),
    ] {
        assert!(text.contains(part), "{part}");
    }
    let tofu = String::from_utf8(state(Recipe::new(5000), Format::OpenTofu)).unwrap();
    for part in
        ["\"skip_destroy\": true", "\"deprecated\": \"", ".west[\\\"north-1\\\"]\"", "registry.opentofu.org"]
    {
        assert!(tofu.contains(part) && !text.contains(part), "{part}");
    }
}

#[test]
fn formats_are_known_by_name() {
    assert_eq!("v4".parse(), Ok(Format::Terraform));
    assert_eq!("opentofu".parse(), Ok(Format::OpenTofu));
    assert_eq!("v3".parse(), Ok(Format::V3));
    let refused = "v5".parse::<Format>().unwrap_err();
    assert_eq!(refused.to_string(), "the format `v5` is none of v4, opentofu and v3");
}
