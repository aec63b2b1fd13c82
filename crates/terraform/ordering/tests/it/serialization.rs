//! What is printed of a graph is read as the same value.

use std::fmt::Debug;

use groundstate_ordering::{BuildError, CbdPropagation, CycleReport, Explanation, NodeKey, OpNode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::case::{Case, addr};

fn again<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) -> String {
    let text = serde_json::to_string(value).unwrap();
    assert_eq!(serde_json::from_str::<T>(&text).unwrap(), *value, "{text}");
    text
}

#[test]
fn nodes_and_answers_are_read_as_they_were() {
    let case = Case::new("net !vm:{net} disk@P", "net vm~{net} disk disk#k", "net=R vm=R disk=U disk#k=D");
    let graph = case.build().unwrap();
    for node in graph.nodes() {
        again::<OpNode>(node);
    }
    let why = graph.why(&addr("vm"), &addr("net"));
    let text = again::<Explanation>(&why);
    assert!(text.starts_with(r#"{"waits":[{"from":{"operation":{"addr":"t.vm","part":"apply"}}"#), "{text}");
    assert!(text.contains(r#""reasons":["config"],"inverted":false"#), "{text}");
    for affected in graph.blast(&addr("net")) {
        again(&affected);
    }
    for (_, meta) in graph.persist_all() {
        again(&meta);
    }
    again(&graph.waves().unwrap());
}

#[test]
fn cycles_are_read_as_they_were() {
    let case = Case::new("A !B:{A}", "", "A=R B=R");
    let errors = case.options(|options| options.cbd_propagation = CbdPropagation::Off).build().unwrap_err();
    let [BuildError::Cycle(report)] = errors.errors.as_slice() else { panic!("{errors}") };
    again::<CycleReport<NodeKey>>(report);
}

#[test]
fn text_that_is_no_address_is_refused() {
    for text in [
        r#"{"operation":{"addr":"no address","part":"apply"}}"#,
        r#"{"operation":{"addr":"t.a","part":{"destroy_deposed":"xyz"}}}"#,
        r#"{"provider":"nonsense"}"#,
    ] {
        assert!(serde_json::from_str::<NodeKey>(text).is_err(), "{text}");
    }
}
