//! How much memory a large content takes.

use std::process::Command;

use groundstate_blobs_postgres::blobs::{BlobStore, GetOptions, Key, PutOptions};

use super::Place;
use crate::memory::{SIZE, WITHIN, peak};

/// In a process of its own, as other tests need memory too.
#[test]
fn two_hundred_megabytes_take_less_than_four_times_as_much() {
    let Some(place) = Place::new() else { return };
    if std::env::var_os(WITHIN).is_none() {
        let test = "table::memory::two_hundred_megabytes_take_less_than_four_times_as_much";
        let mut command = Command::new(std::env::current_exe().unwrap());
        let status = command.args(["--exact", test, "--nocapture"]).env(WITHIN, "1").status().unwrap();
        assert!(status.success());
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let (store, key) = (place.open(""), Key::parse("large").unwrap());
        let bytes: Vec<u8> = (0..SIZE).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        store.put(&key, bytes.into(), &PutOptions::default()).await.unwrap();
        let blob = store.get(&key, &GetOptions::default()).await.unwrap().unwrap();
        assert_eq!(blob.bytes.len(), SIZE);
        assert_eq!(blob.bytes[SIZE - 1], ((SIZE - 1).wrapping_mul(2_654_435_761) >> 13) as u8);
        place.other().await.batch_execute(&format!("DROP TABLE {}", place.table)).await.unwrap();
    });
    let Some(peak) = peak() else {
        println!("not run: the system does not say how much memory was used");
        return;
    };
    println!("{SIZE} bytes: {peak} bytes of memory to write and read");
    assert!(peak < 4 * SIZE, "{peak}");
}
