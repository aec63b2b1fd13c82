//! Events of the engine: text that is kept, and the numbers in it.

use groundstate_pulumi_protocol::{EngineEvent, EngineEventBatch, EngineEvents, JsonText, decode, encode};

#[test]
fn a_batch_keeps_the_text_of_its_events() {
    let stdout =
        r#"{"sequence":0,"timestamp":1767323045,"stdoutEvent":{"message":"a\u003cb","color":"raw"}}"#;
    let newer = r#"{ "timestamp":5, "newerEvent":{"x":1.50}, "sequence":7 }"#;
    let body = format!(r#"{{"events":[{stdout}, {newer}]}}"#);
    let batch: EngineEventBatch = decode(body.as_bytes()).unwrap();
    let read: Vec<_> = batch
        .events
        .iter()
        .map(|event| (event.sequence(), event.timestamp(), event.text().as_str()))
        .collect();
    assert_eq!(read, [(0, 1_767_323_045, stdout), (7, 5, newer)]);
    assert!(batch.events.iter().all(|event| event.summary().is_none()));

    let page = EngineEvents { events: batch.events, continuation_token: None };
    let text = String::from_utf8(encode(&page).unwrap()).unwrap();
    assert_eq!(text, format!(r#"{{"events":[{stdout},{newer}],"continuationToken":null}}"#));
}

#[test]
fn summaries_say_how_much_changed() {
    let text = r#"{"sequence":9,"timestamp":1,"summaryEvent":{"maybeCorrupt":false,"durationSeconds":3,
        "resourceChanges":{"create":2,"same":1},"PolicyPacks":{},"isPreview":true,"result":"succeeded"}}"#;
    let event = EngineEvent::new(JsonText::parse(text).unwrap()).unwrap();
    let summary = event.summary().unwrap();
    let changes: Vec<_> = summary.resource_changes.iter().map(|(op, count)| (op.as_str(), *count)).collect();
    assert_eq!(changes, [("create", 2), ("same", 1)]);
    assert!(summary.is_preview);
    assert!((summary.duration_seconds - 3.0).abs() < f64::EPSILON);
}

#[test]
fn a_summary_that_cannot_be_read_is_none_and_the_event_is_kept() {
    let text = r#"{"sequence":1,"summaryEvent":{"resourceChanges":"many"}}"#;
    let event = EngineEvent::new(JsonText::parse(text).unwrap()).unwrap();
    assert_eq!((event.summary(), event.text().as_str()), (None, text));
}

#[test]
fn events_without_numbers_are_refused_or_have_the_default() {
    for (event, expected) in [
        ("{}", Some(0)),
        (r#"{"sequence":null}"#, Some(0)),
        (r#"{"sequence":-1}"#, None),
        (r#"{"sequence":"1"}"#, None),
        ("[3,4]", None),
        ("null", None),
        ("7", None),
    ] {
        let body = format!(r#"{{"events":[{event}]}}"#);
        let batch = decode::<EngineEventBatch>(body.as_bytes()).ok();
        assert_eq!(batch.map(|batch| batch.events[0].sequence()), expected, "{event}");
    }
}

#[test]
fn events_nested_without_bounds_are_kept() {
    let deep = format!(r#"{{"sequence":1,"x":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    let body = format!(r#"{{"events":[{deep}]}}"#);
    let batch: EngineEventBatch = decode(body.as_bytes()).unwrap();
    assert_eq!(batch.events[0].text().as_str(), deep);
    assert!(batch.events[0].summary().is_none());
}
