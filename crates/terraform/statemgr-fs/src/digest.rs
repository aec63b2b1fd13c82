//! The version of what is stored: the SHA-256 of its bytes, so that equal versions mean equal bytes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use groundstate_common::hex;
use groundstate_statemgr::Version;
use sha2::{Digest as _, Sha256};

/// How much is held in memory when a file is read through.
const BLOCK: usize = 256 * 1024;

/// A digest that is being made.
#[derive(Clone, Default)]
pub(crate) struct Digester(Sha256);

impl Digester {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest in hexadecimal digits.
    pub(crate) fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

/// The digest of bytes.
pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    let mut digester = Digester::default();
    digester.update(bytes);
    digester.finish()
}

/// The digest of what a file has from `offset` on, and how much that is.
pub(crate) fn of_file(mut file: &File, offset: u64) -> io::Result<(String, u64)> {
    let mut digester = Digester::default();
    let mut block = vec![0; BLOCK];
    let mut len = 0;
    file.seek(SeekFrom::Start(offset))?;
    loop {
        match file.read(&mut block) {
            Ok(0) => return Ok((digester.finish(), len)),
            Ok(count) => {
                digester.update(&block[..count]);
                len += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The version of content with this digest.
pub(crate) fn version(digest: &str) -> Version {
    Version::new(&format!("sha256:{digest}"))
}
