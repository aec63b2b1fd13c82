//! Journals in memory.

use groundstate_wal::{ErrorKind, JournalStore, MemoryJournal, OpenOptions, Record};

fn records(texts: &[&str]) -> Vec<Record> {
    texts.iter().map(|text| Record::from(text.as_bytes())).collect()
}

#[tokio::test]
async fn what_is_appended_is_read_from_any_position_on() {
    let journal = MemoryJournal::new("test");
    let writer = journal.open(&OpenOptions::new("one")).await.unwrap();
    assert_eq!(writer.position(), None);
    let epoch = writer.begin(&Record::from(&b"base"[..])).await.unwrap();
    let ack = writer.append(&records(&["a", "b", "c"])).await.unwrap();
    assert_eq!((ack.first.get(), ack.next.get()), (0, 3));
    let position = writer.position().unwrap();
    assert_eq!((position.epoch(), position.position().get()), (epoch, 3));
    let start = journal.head().await.unwrap().unwrap().start();
    let page = journal.read(&start).await.unwrap();
    assert_eq!((page.records, page.next), (records(&["a", "b", "c"]), None));
    let page = journal.read(&position).await.unwrap();
    assert_eq!((page.records, page.next), (Vec::new(), None));
}

#[tokio::test]
async fn a_long_journal_is_read_in_pages_without_gaps() {
    let journal = MemoryJournal::new("test");
    let writer = journal.open(&OpenOptions::new("one")).await.unwrap();
    writer.begin(&Record::default()).await.unwrap();
    let all: Vec<Record> = (0..5_000_u32).map(|number| Record::from(number.to_be_bytes().to_vec())).collect();
    writer.append(&all).await.unwrap();
    let (mut found, mut pages) = (Vec::new(), 0);
    let mut next = journal.head().await.unwrap().map(|head| head.start());
    while let Some(from) = next {
        let page = journal.read(&from).await.unwrap();
        assert!(!page.records.is_empty());
        found.extend(page.records);
        (next, pages) = (page.next, pages + 1);
    }
    assert!(pages > 1, "{pages}");
    assert_eq!(found, all);
}

#[tokio::test]
async fn each_epoch_has_a_larger_number_and_begins_empty() {
    let journal = MemoryJournal::new("test");
    let writer = journal.open(&OpenOptions::new("one")).await.unwrap();
    let first = writer.begin(&Record::default()).await.unwrap();
    writer.append(&records(&["a"])).await.unwrap();
    let old = writer.position().unwrap();
    let second = writer.begin(&Record::default()).await.unwrap();
    assert!(second > first);
    assert_eq!(writer.position().unwrap().position().get(), 0);
    assert_eq!(journal.read(&old).await.unwrap_err().kind(), ErrorKind::NoEpoch);
    writer.clear().await.unwrap();
    assert_eq!(journal.head().await.unwrap(), None);
    assert_eq!(writer.append(&records(&["a"])).await.unwrap_err().kind(), ErrorKind::NoEpoch);
    assert!(writer.begin(&Record::default()).await.unwrap() > second, "numbers do not come again");
}

#[tokio::test]
async fn one_writer_has_it_open_until_it_is_closed_or_taken_over() {
    let journal = MemoryJournal::new("test");
    let one = journal.open(&OpenOptions::new("one")).await.unwrap();
    let refused = journal.open(&OpenOptions::new("two")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Locked);
    assert!(refused.to_string().contains("one"), "{refused}");
    one.close().await.unwrap();
    assert_eq!(one.begin(&Record::default()).await.unwrap_err().kind(), ErrorKind::Closed);
    let two = journal.open(&OpenOptions::new("two")).await.unwrap();
    let three = journal.open(&OpenOptions::new("three").take_over(true)).await.unwrap();
    assert_eq!(two.begin(&Record::default()).await.unwrap_err().kind(), ErrorKind::Fenced);
    three.begin(&Record::default()).await.unwrap();
}

#[tokio::test]
async fn refusals_say_why_in_words() {
    let journal = MemoryJournal::new("prod");
    let start =
        groundstate_wal::Cursor::new(groundstate_wal::Epoch::new(1), groundstate_wal::Position::START);
    let no_epoch = "cannot read memory:prod: there is no such epoch, begin one or read the head again";
    assert_eq!(journal.read(&start).await.unwrap_err().to_string(), no_epoch);
    let writer = journal.open(&OpenOptions::new("ann")).await.unwrap();
    let locked = journal.open(&OpenOptions::new("bob")).await.unwrap_err();
    assert_eq!(locked.to_string(), "cannot open memory:prod: ann has it open for writing");
    let epoch = writer.begin(&Record::default()).await.unwrap();
    writer.append(&records(&["a"])).await.unwrap();
    let behind = groundstate_wal::Cursor::new(epoch, groundstate_wal::Position::new(2));
    let error = journal.read(&behind).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot read memory:prod: it has 1 records, and was asked for number 2");
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

#[tokio::test]
async fn a_fenced_writer_is_refused_whatever_it_does_and_leaves_nothing() {
    let journal = MemoryJournal::new("prod");
    let old = journal.open(&OpenOptions::new("ann")).await.unwrap();
    old.begin(&Record::from(&b"base"[..])).await.unwrap();
    old.append(&records(&["a"])).await.unwrap();
    let new = journal.open(&OpenOptions::new("bob").take_over(true)).await.unwrap();
    let before = groundstate_wal::read_all(&journal).await.unwrap();
    let kinds = [
        old.begin(&Record::default()).await.map(drop),
        old.append(&records(&["b"])).await.map(drop),
        old.append(&[]).await.map(drop),
        old.clear().await,
    ]
    .map(|outcome| outcome.unwrap_err().kind());
    assert_eq!(kinds, [ErrorKind::Fenced; 4]);
    old.close().await.unwrap();
    assert_eq!(groundstate_wal::read_all(&journal).await.unwrap(), before);
    let refused = journal.open(&OpenOptions::new("carl")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Locked, "the end of the old one does not free it");
    assert_eq!(new.append(&records(&["b"])).await.unwrap().first.get(), 1);
}

#[tokio::test]
async fn closing_twice_does_nothing_and_a_dropped_writer_frees_the_journal() {
    let journal = MemoryJournal::new("prod");
    let writer = journal.open(&OpenOptions::new("ann")).await.unwrap();
    writer.close().await.unwrap();
    writer.close().await.unwrap();
    let kinds =
        [writer.append(&[]).await.map(drop).unwrap_err().kind(), writer.clear().await.unwrap_err().kind()];
    assert_eq!(kinds, [ErrorKind::Closed; 2]);
    drop(journal.open(&OpenOptions::new("bob")).await.unwrap());
    journal.open(&OpenOptions::new("carl")).await.unwrap();
}

#[tokio::test]
async fn a_page_has_256_records_and_names_the_next_only_if_there_is_one() {
    let journal = MemoryJournal::new("prod");
    let writer = journal.open(&OpenOptions::new("ann")).await.unwrap();
    for (count, next) in [(255, None), (256, None), (257, Some(256))] {
        writer.begin(&Record::default()).await.unwrap();
        writer.append(&vec![Record::default(); count]).await.unwrap();
        let page = journal.read(&journal.head().await.unwrap().unwrap().start()).await.unwrap();
        assert_eq!(page.records.len(), count.min(256));
        assert_eq!(page.next.map(|next| next.position().get()), next, "{count}");
    }
}
