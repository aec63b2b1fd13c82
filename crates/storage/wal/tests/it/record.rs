//! Records, and what they show of themselves.

use groundstate_wal::{Cursor, Epoch, Position, Record};

#[test]
fn a_record_gives_its_bytes_and_shows_only_their_number() {
    let record = Record::from(b"passphrase".to_vec());
    assert_eq!(record.as_ref(), b"passphrase");
    assert_eq!(format!("{record:?}"), "Record(10 bytes)");
    assert_eq!(record, Record::from(&b"passphrase"[..]));
}

#[test]
fn positions_and_epochs_are_shown_as_numbers() {
    assert_eq!(format!("{} {}", Position::new(7), Epoch::new(3)), "7 3");
    assert_eq!(Position::new(u64::MAX).plus(1), Position::new(u64::MAX));
}

#[test]
fn a_cursor_keeps_what_the_store_added() {
    let cursor = Cursor::new(Epoch::new(1), Position::new(2));
    assert_eq!((cursor.hint(), cursor.with_hint((3, 4)).hint()), ((0, 0), (3, 4)));
    assert_eq!((cursor.epoch().get(), cursor.position().get()), (1, 2));
}
