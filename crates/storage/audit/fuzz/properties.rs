//! What has to hold for any text. The fuzz target calls it, and `tests/it/fuzzed.rs` with the inputs of the corpus.

use groundstate_audit::{Checkpoint, Entry};

/// Each line as an entry and as a checkpoint: a changed line is no entry any more, and a checkpoint prints as it was read.
pub(crate) fn line_parse(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for line in text.lines() {
        if let Ok(entry) = Entry::parse(line) {
            assert!(line.ends_with(&format!(",\"hash\":\"{}\"}}", entry.hash)));
            assert!(Entry::parse(&line.replacen("\"seq\":", "\"seq\":1", 1)).is_err(), "{line}");
        }
        if let Ok(checkpoint) = line.parse::<Checkpoint>() {
            assert_eq!(checkpoint.to_string().parse(), Ok(checkpoint));
        }
    }
}
