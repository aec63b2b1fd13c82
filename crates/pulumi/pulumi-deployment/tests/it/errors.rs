//! What is refused, with which text, and where.

use groundstate_pulumi_deployment::{Code, DecodeOptions, ReadError, decode};

use crate::support::{export, read, refused, resource};

#[test]
fn versions_and_features_have_their_texts() {
    for (text, message, for_stack) in [
        (
            r#"{"version":5,"features":["zzz"],"deployment":{}}"#,
            "this stack's deployment version is too new",
            "the stack 'S' is newer than what this version of groundstate understands. Please update your version of groundstate",
        ),
        (
            r#"{"version":0,"deployment":{}}"#,
            "this stack's deployment is too old",
            "the stack 'S' is too old to be used by this version of groundstate",
        ),
        (
            r#"{"version":-1,"deployment":{}}"#,
            "this stack's deployment is too old",
            "the stack 'S' is too old to be used by this version of groundstate",
        ),
        (
            r#"{"version":4,"features":["b","taint","a"],"deployment":{}}"#,
            "this stack's deployment needs support for the following features: b, a",
            "the stack 'S' uses features that are not supported by this version of groundstate: b, a. Please update your version of groundstate",
        ),
        (
            r#"{"version":4,"features":["zzz"],"checkpoint":{}}"#,
            "this stack's deployment needs support for the following features: zzz",
            "the stack 'S' uses features that are not supported by this version of groundstate: zzz. Please update your version of groundstate",
        ),
        (
            r#"{"version":9,"checkpoint":{}}"#,
            "unsupported checkpoint version 9",
            "could not deserialize deployment: unsupported checkpoint version 9",
        ),
    ] {
        let error = refused(text);
        assert_eq!(error.to_string(), message, "{text}");
        assert_eq!(error.for_stack("S", "groundstate"), for_stack, "{text}");
        assert!(error.place().is_some() && error.problems().is_empty());
    }
}

#[test]
fn a_malformed_body_comes_before_features_in_a_checkpoint_only_if_it_is_no_json() {
    assert!(matches!(
        refused(r#"{"version":4,"features":["z"],"deployment":5}"#),
        ReadError::Features { .. }
    ));
    assert!(matches!(
        refused(r#"{"version":4,"features":["z"],"checkpoint":5}"#),
        ReadError::Features { .. }
    ));
    assert!(matches!(
        refused(r#"{"version":4,"features":["z"],"checkpoint":5"#),
        ReadError::NotDeployment(_)
    ));
}

#[test]
fn nothing_is_no_deployment() {
    for text in ["", " \n"] {
        assert_eq!(refused(text), ReadError::Empty);
        assert_eq!(refused(text).place(), None);
    }
}

/// The first problem stands at the last occurrence of `there`, which is at `path`.
#[track_caller]
fn at(text: &str, code: Code, there: &str, path: &str) {
    let error = refused(text);
    assert_eq!(error.problems().first().map(|problem| problem.code), Some(code), "{error}");
    let place = error.place().unwrap();
    assert_eq!((Some(place.offset), place.path.as_str()), (text.rfind(there), path), "{error}");
    let line = text[..place.offset].rsplit('\n').next().unwrap();
    assert_eq!((place.line, place.column), (text[..place.offset].matches('\n').count() + 1, line.len() + 1));
}

#[test]
fn each_problem_has_its_place() {
    at("[]", Code::NotAnObject, "[", "");
    at(
        "{\n  \"version\": 3,\n  \"deployment\": {\"manifest\": {\"time\": tru!}}\n}",
        Code::Syntax,
        "!",
        "deployment.manifest.time",
    );
    at(r#"{"version": 1e2, "deployment": {}}"#, Code::VersionType, "1e2", "version");
    at(&export(&resource(r#""parent":5"#)), Code::WrongType, "5", "deployment.resources[0].parent");
    at(&export(&resource(r#""modified":"x""#)), Code::Time, "\"x\"", "deployment.resources[0].modified");
    at(
        r#"{"version":3,"deployment":{"manifest":{"plugins":[{"version":"1.2.3.4"}]}}}"#,
        Code::PluginVersion,
        "\"1.2.3.4\"",
        "deployment.manifest.plugins[0].version",
    );
    at(
        r#"{"version":3,"deployment":{"extensions":{"a b":{"value":"*"}}}}"#,
        Code::Base64,
        "\"*\"",
        "deployment.extensions.\"a b\".value",
    );
    at(r#"{"version":3}"#, Code::EnvelopeUnknown, "{", "");
    at(r#"{"version":3,"deployment":{},"checkpoint":{}}"#, Code::EnvelopeAmbiguous, "{}", "checkpoint");
    at(r#"{"version":0,"checkpoint":{"latest":{}}}"#, Code::VersionContradicted, "{\"latest", "checkpoint");
}

#[test]
fn all_problems_are_reported_with_their_resources() {
    let error = refused(&export(&resource(r#""id":1,"protect":"no","dependencies":[true,"x",7]"#)));
    let ReadError::Unusable(problems) = &error else { unreachable!("the document is a deployment") };
    assert_eq!(problems.iter().count(), 4);
    assert!(problems.into_iter().all(|problem| problem.urn.as_deref() == Some("urn:pulumi:s::p::t:t:T::n")));
    assert!(problems.has(Code::WrongType) && !problems.has(Code::Time));
    assert!(error.to_string().starts_with("unusable deployment: 4 problems:"), "{error}");
}

#[test]
fn problems_beyond_a_hundred_are_counted() {
    let error = refused(&export(&vec![resource(r#""id":1"#); 150].join(",")));
    assert_eq!(error.problems().len(), 100);
    assert!(error.problems()[99].detail.ends_with("(and 50 more problems after this one)"));
}

#[test]
fn values_stand_in_no_message() {
    for members in [r#""inputs":"swordfish""#, r#""protect":"swordfish""#, r#""created":"swordfish""#] {
        assert!(!refused(&export(&resource(members))).to_string().contains("swordfish"), "{members}");
    }
}

#[test]
fn deep_nesting_is_carried_up_to_its_limit_and_refused_beyond() {
    let nested = |depth: usize| {
        export(&resource(&format!(r#""inputs":{{"k":{}{}}}"#, "[".repeat(depth), "]".repeat(depth))))
    };
    read(&nested(9000));
    let error = decode(nested(10_001).as_bytes(), &DecodeOptions::default()).unwrap_err();
    assert!(error.to_string().contains("nest deeper than 10000 levels"), "{error}");
}
