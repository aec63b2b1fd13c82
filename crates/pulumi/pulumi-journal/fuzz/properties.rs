//! What holds for any input. The fuzz targets call this, and so does a test, for the corpus.

use groundstate_pulumi_deployment::Secrets;
use groundstate_pulumi_journal::{DecodeOptions, Framing, Replayer, decode, encode_framed};
use groundstate_pulumi_snapshot::{Manifest, Snapshot};

/// Entries that can be read are written and read as the same; replays give the same result in any order, and never panic.
pub(crate) fn decode_and_replay(data: &[u8]) {
    let torn = DecodeOptions::default().allow_loss(true).allow_torn(true);
    drop(decode(data, &torn));
    let Ok(decoded) = decode(data, &DecodeOptions::default()) else { return };
    for framing in [Framing::Lines, Framing::List, Framing::Batch] {
        let written = encode_framed(&decoded.entries, framing, Secrets::Sealed);
        let written = written.expect("what was read can be written");
        let again = decode(&written, &DecodeOptions::default()).expect("what was written can be read");
        let twice = encode_framed(&again.entries, framing, Secrets::Sealed);
        assert_eq!(written, twice.expect("what was read can be written"), "{framing:?}");
    }
    let mut forth = Replayer::new(Snapshot::default());
    let taken: Vec<_> =
        decoded.entries.iter().filter(|entry| forth.apply((*entry).clone()).is_ok()).collect();
    let mut back = Replayer::new(Snapshot::default());
    for entry in taken.into_iter().rev() {
        back.apply(entry.clone()).expect("entries that do not contradict each other do so in no order");
        drop(back.snapshot(Manifest::default()));
    }
    assert_eq!(forth.snapshot(Manifest::default()), back.snapshot(Manifest::default()));
}
