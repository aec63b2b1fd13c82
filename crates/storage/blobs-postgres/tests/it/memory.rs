//! How much memory a large content takes.

use std::process::Command;

use groundstate_blobs_postgres::blobs::{BlobStore, GetOptions, Key, PutOptions};

use crate::server::Place;

pub(crate) const SIZE: usize = 200_000_000;
pub(crate) const WITHIN: &str = "GROUNDSTATE_TEST_WITHIN";

/// The most memory that this process ever had, in bytes.
pub(crate) fn peak() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<usize>().ok().map(|kilobytes| kilobytes * 1024)
}

/// In a process of its own, as other tests need memory too.
#[test]
fn two_hundred_megabytes_take_less_than_four_times_as_much() {
    let Some(place) = Place::new() else { return };
    if std::env::var_os(WITHIN).is_none() {
        let test = "memory::two_hundred_megabytes_take_less_than_four_times_as_much";
        let mut command = Command::new(std::env::current_exe().unwrap());
        let status = command.args(["--exact", test, "--nocapture"]).env(WITHIN, "1").status().unwrap();
        assert!(status.success());
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let written = runtime.block_on(async {
        let store = place.create().await;
        let key = Key::parse("large").unwrap();
        let bytes: Vec<u8> = (0..SIZE).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        store.put(&key, bytes.into(), &PutOptions::default()).await.unwrap();
        let written = peak();
        let blob = store.get(&key, &GetOptions::default()).await.unwrap().unwrap();
        assert_eq!(blob.bytes.len(), SIZE);
        assert_eq!(blob.bytes[SIZE - 1], ((SIZE - 1).wrapping_mul(2_654_435_761) >> 13) as u8);
        let sql = format!("DROP TABLE {}", place.table);
        place.other().await.batch_execute(&sql).await.unwrap();
        written
    });
    let Some((written, read)) = written.zip(peak()) else {
        println!("not run: the system does not say how much memory was used");
        return;
    };
    println!("{SIZE} bytes: {written} bytes of memory to write, {read} to write and read");
    assert!(read < 4 * SIZE, "{written} {read}");
}
