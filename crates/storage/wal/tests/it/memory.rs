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
