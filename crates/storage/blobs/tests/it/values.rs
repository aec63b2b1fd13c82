//! The values of the contract: conditions, descriptions, ids, errors.

use std::time::Duration;

use groundstate_blobs::{
    Attributes, Blob, BlobMeta, BlobVersion, DeleteOptions, Error, ErrorKind, GetOptions, Key, LeaseId,
    LeaseState, ListOptions, Op, PageToken, Precondition, PutOptions, Role,
};

fn version(generation: u64) -> BlobVersion {
    BlobVersion::default().with_generation(generation)
}

#[test]
fn conditions_are_met_by_what_they_name() {
    let (one, two) = (version(1), version(2));
    let cases = [
        (Precondition::Any, None, true, "anything"),
        (Precondition::Any, Some(&one), true, "anything"),
        (Precondition::Absent, None, true, "nothing"),
        (Precondition::Absent, Some(&one), false, "nothing"),
        (Precondition::Version(one.clone()), None, false, "generation 1"),
        (Precondition::Version(one.clone()), Some(&one), true, "generation 1"),
        (Precondition::Version(one.clone()), Some(&two), false, "generation 1"),
    ];
    for (condition, stored, met, text) in cases {
        assert_eq!((condition.is_met_by(stored), condition.to_string().as_str()), (met, text), "{stored:?}");
    }
    assert_eq!(Precondition::of(None), Precondition::Absent);
    assert_eq!(Precondition::of(Some(&two)), Precondition::Version(two));
    assert_eq!(Precondition::default(), Precondition::Any);
}

#[test]
fn options_hold_what_they_are_given_and_nothing_else() {
    let lease = LeaseId::parse("681fbb37-7302-b5fd-bac8-6224f8cc5180").unwrap();
    let get = GetOptions::default().range(2..5).if_match(&version(1)).if_none_match(&version(2));
    let get = get.lease(&lease).role(Role::Lock);
    assert_eq!(
        (get.range, get.if_match, get.if_none_match),
        (Some(2..5), Some(version(1)), Some(version(2)))
    );
    assert_eq!((get.lease, get.role), (Some(lease.clone()), Role::Lock));

    let attributes = Attributes::content_type("text/plain");
    let put = PutOptions::expecting(Precondition::Absent);
    assert_eq!(
        (put.contended, put.role, put.lease.is_none(), put.attributes.is_empty()),
        (false, Role::State, true, true)
    );
    let put = put.contended().lease(&lease).attributes(attributes.clone()).role(Role::Lock);
    assert_eq!((put.precondition, put.contended, put.role), (Precondition::Absent, true, Role::Lock));
    assert_eq!((put.lease, put.attributes), (Some(lease.clone()), attributes));

    let delete = DeleteOptions::version(&version(3)).lease(&lease);
    assert_eq!((delete.precondition, delete.lease), (Precondition::Version(version(3)), Some(lease)));
    let list = ListOptions::default().delimited().limit(7).page(Some(PageToken::new("t")));
    assert_eq!((list.delimiter, list.limit, list.page), (true, Some(7), Some(PageToken::new("t"))));
}

#[test]
fn a_deletion_cannot_ask_for_absence() {
    let error = DeleteOptions::expecting(Precondition::Absent).check("s3://b/k").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert_eq!(error.to_string(), "cannot delete s3://b/k: a deletion cannot require the blob to be absent");
    for condition in [Precondition::Any, Precondition::Version(version(1))] {
        assert!(DeleteOptions::expecting(condition).check("s3://b/k").is_ok());
    }
}

#[test]
fn lease_ids_are_guids_in_either_case() {
    let id = LeaseId::parse("681FBB37-7302-b5fd-BAC8-6224f8cc5180").unwrap();
    assert_eq!(id.to_string(), "681fbb37-7302-b5fd-bac8-6224f8cc5180");
    assert_eq!(LeaseId::parse(id.as_str()).unwrap(), id);
    for text in [
        "",
        "681fbb37-7302-b5fd-bac8-6224f8cc518",
        "681fbb37-7302-b5fd-bac8-6224f8cc51800",
        "681fbb3707302-b5fd-bac8-6224f8cc5180",
        "681fbb37-730-2b5fd-bac8-6224f8cc5180",
        "681fbb37-7302-b5fd-bac8-6224f8cc518g",
        "681fbb37-7302-b5fd-bac8-6224f8cc51\u{e9}",
        "{81fbb37-7302-b5fd-bac8-6224f8cc518}",
    ] {
        let error = LeaseId::parse(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let expected = format!(
            "cannot use the lease id {text:?}: it is not a GUID; give 32 hexadecimal digits as 8-4-4-4-12"
        );
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn refused_keys_and_versions_are_named_with_the_reason_and_the_next_step() {
    for (text, reason) in [
        ("", "it is empty"),
        ("/a", "it begins with a slash, which clients of object stores drop"),
        ("a/", "it ends with a slash, which clients of object stores drop"),
        ("a//b", "it has two slashes in a row, which not every client keeps"),
        ("a/./b", "it has a part `.` or `..`, which clients resolve to another key"),
        ("a\u{7f}", "it has a control character"),
    ] {
        let error = text.parse::<Key>().unwrap_err();
        assert_eq!(error.to_string(), format!("cannot use the key {text:?}: {reason}; choose another key"));
        assert_eq!((error.kind(), error.step()), (ErrorKind::InvalidKey, Some("choose another key")));
    }
    let long = Key::parse(&"é".repeat(513)).unwrap_err();
    assert_eq!(long.reason(), "it is longer than the 1024 bytes that object stores take; choose another key");
    let invalid = "serial 3".parse::<BlobVersion>().unwrap_err();
    assert_eq!(
        invalid.to_string(),
        "\"serial 3\" is not the version of a blob, expected `generation N` or `etag T`"
    );
}

#[test]
fn a_suffix_may_not_make_a_key_too_long() {
    let key = Key::parse(&"a".repeat(1020)).unwrap();
    assert_eq!(key.with_suffix(".tfl").unwrap().as_str().len(), 1024);
    assert_eq!(key.with_suffix(".tflo").unwrap_err().kind(), ErrorKind::InvalidKey);
    assert_eq!(format!("{key:?}"), format!("{:?}", key.as_str()));
}

#[test]
fn attributes_have_names_in_lower_case() {
    let attributes = Attributes::default().with_metadata("TerraformLockID", "Value").with_metadata("A", "1");
    let attributes = attributes.with_metadata("a", "2");
    let expected = [("a", "2"), ("terraformlockid", "Value")];
    let entries: Vec<_> =
        attributes.metadata.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(entries, expected);
    assert!(!attributes.is_empty() && !Attributes::content_type("text/plain").is_empty());
    assert!(Attributes::default().is_empty());
}

#[test]
fn leases_are_held_for_ever_and_for_now() {
    let held = [LeaseState::Free, LeaseState::Held, LeaseState::HeldForNow].map(LeaseState::is_held);
    assert_eq!(held, [false, true, true]);
}

#[test]
fn blobs_know_where_their_bytes_stand() {
    let meta = BlobMeta::new(version(1), 10);
    assert_eq!(Blob::whole("0123456789".into(), meta.clone()).range, 0..10);
    assert_eq!(Blob::part("34".into(), 3, meta.clone()).range, 3..5);
    assert_eq!(Blob::part("34".into(), u64::MAX, meta).range, u64::MAX..u64::MAX, "no size overflows");
}

#[test]
fn pages_are_counted_through_their_tokens() {
    let first = PageToken::new("a");
    let (second, pages) = PageToken::new("b").after(Some(&first));
    assert_eq!((second.as_str(), pages), ("b", 2));
    let (third, pages) = PageToken::new("c").after(Some(&second));
    assert_eq!(pages, 3);
    assert_eq!(PageToken::new("c").after(None), (PageToken::new("c"), 1));
    assert_ne!(third, PageToken::new("c"), "a token of the third page is not one of the first");
}

#[test]
fn errors_keep_what_callers_act_on() {
    let blob = Blob::whole("1".into(), BlobMeta::new(version(4), 1));
    let error = Error::new(ErrorKind::Throttled, Op::List, "gs://b")
        .because("slow down")
        .next_step("ask less often")
        .with_found(Some(blob.clone()))
        .with_retry_after(Duration::from_secs(3));
    assert_eq!(error.to_string(), "cannot list gs://b: slow down; ask less often");
    assert_eq!(
        (error.step(), error.found(), error.retry_after()),
        (Some("ask less often"), Some(&blob), Some(Duration::from_secs(3)))
    );
    assert_eq!((error.kind(), error.op(), error.target()), (ErrorKind::Throttled, Op::List, "gs://b"));
    let plain = Error::unsupported(Op::Snapshot, "gs://b/k");
    assert_eq!(plain.to_string(), "cannot take a snapshot of gs://b/k: the store cannot do this");
    assert_eq!((plain.step(), plain.found(), plain.retry_after()), (None, None, None));
}
