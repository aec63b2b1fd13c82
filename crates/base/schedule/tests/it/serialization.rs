//! What is printed of a plan is read as the same value.

use groundstate_schedule::walk::{Context, Outcome, WalkGraph, WalkOptions, WalkReport, walk};
use groundstate_schedule::{Explanation, WaitGraph, Waves};

#[test]
fn waves_explanations_and_reports_are_read_as_they_were() {
    let graph = WaitGraph::new(3, 3, vec![(1, 0, ()), (2, 1, ())]);
    let waves = graph.waves().unwrap();
    let text = serde_json::to_string(&waves).unwrap();
    assert_eq!(text, r#"{"earliest":[0,1,2],"latest":[0,1,2],"count":3}"#);
    assert_eq!(serde_json::from_str::<Waves>(&text).unwrap(), waves);

    let why = graph.explain(&[2], &[0], |(from, to, ())| (from, to));
    let text = serde_json::to_string(&why).unwrap();
    assert_eq!(text, r#"{"waits":[[2,1],[1,0]]}"#);
    assert_eq!(serde_json::from_str::<Explanation<(u32, u32)>>(&text).unwrap(), why);

    let plan = WalkGraph::from_waits(&graph).unwrap();
    let fails = |node: usize, _: &Context| match node {
        1 => Outcome::Failed("no quota".to_owned()),
        _ => Outcome::Succeeded,
    };
    let report = walk(&plan, &WalkOptions::default(), &fails, &mut |_| ());
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(text, r#"{"settled":["succeeded","failed","skipped_upstream"],"failures":{"1":"no quota"}}"#);
    assert_eq!(serde_json::from_str::<WalkReport>(&text).unwrap(), report);
    assert!(serde_json::from_str::<Waves>(r#"{"earliest":[],"latest":[],"count":0,"more":1}"#).is_err());
}
