//! What is printed of a plan is read as the same value.

use std::fmt::Debug;

use groundstate_pulumi_ordering::{Explanation, RemovalReason, StackOptions, Step};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::destruction::destruction_of;
use crate::notation::{entries, short, urn};
use crate::plan;

fn again<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) -> String {
    let text = serde_json::to_string(value).unwrap();
    assert_eq!(serde_json::from_str::<T>(&text).unwrap(), *value, "{text}");
    text
}

#[test]
fn steps_are_read_as_they_were_and_urns_are_checked() {
    let graph = plan("prov; A; B(p:A); C(dw A); X", "prov; A; B(p:A)", "A=RD B.p");
    graph.steps().iter().for_each(|step| drop(again::<Step>(step)));
    graph.edges().iter().for_each(|edge| drop(again(edge)));
    let text = serde_json::to_string(&graph.steps()[0]).unwrap();
    assert!(short(&text).starts_with(r#"{"kind":"same","urn":"prov""#), "{text}");
    let broken = text.replace("urn:pulumi:", "urn:other:");
    assert!(serde_json::from_str::<Step>(&broken).is_err(), "{broken}");
}

#[test]
fn answers_about_a_destruction_are_read_as_they_were() {
    let list = entries("prov; K component; A parent K; B(A); C(p:A, K) protect; D(dw A) retain");
    let destruction = destruction_of(&list, &StackOptions::default()).unwrap();
    destruction.removals().iter().for_each(|removal| drop(again(removal)));
    destruction.blast(&urn("A")).iter().for_each(|affected| drop(again(affected)));
    let why = destruction.why(&urn("A"), &urn("C"));
    let text = again::<Explanation>(&why);
    assert!(text.contains(r#""reasons":["property-dependency","component"]"#), "{text}");
    for reason in RemovalReason::ALL {
        assert_eq!(again(&reason), format!("{:?}", reason.name()), "as in the JSON of `order`");
    }
}
