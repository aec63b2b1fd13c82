//! Reading a whole file, and making its digest on the way.

use std::fs::File;
use std::io::{self, Read};
use std::sync::mpsc::{Sender, channel};

use crate::digest::{self, Digester};
use crate::parallel::{WORTH_A_THREAD, in_parallel};

/// How much is read before the digest of it is begun.
const BLOCK: usize = 4 * 1024 * 1024;

/// The whole file of `len` bytes, of which `head` has been read, and its digest.
///
/// A file that has become longer is cut, one that has become shorter is given as it is.
pub(crate) fn rest(mut file: &File, head: Vec<u8>, len: u64) -> io::Result<(Vec<u8>, String)> {
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    let mut bytes = head;
    let more = len.saturating_sub(bytes.len());
    if len < WORTH_A_THREAD {
        reserve(&mut bytes, more)?;
        file.read_to_end(&mut bytes)?;
        let digest = digest::of_bytes(&bytes);
        return Ok((bytes, digest));
    }
    let head = bytes;
    reserve(&mut Vec::new(), len)?;
    let mut bytes = vec![0; len];
    let mut digester = Digester::default();
    let (sender, parts) = channel();
    let make_digest = || parts.into_iter().for_each(|part: &[u8]| digester.update(part));
    let filled = in_parallel(len, make_digest, || fill(&mut bytes, &head, file, sender))?;
    bytes.truncate(filled);
    Ok((bytes, digester.finish()))
}

/// The size of a file is untrusted, so the allocation may fail.
fn reserve(bytes: &mut Vec<u8>, more: usize) -> io::Result<()> {
    bytes.try_reserve_exact(more).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))
}

/// Fills `bytes` with `head` and what the file has after it, and hands on each part that is there. Gives how much that was.
fn fill<'a>(bytes: &'a mut [u8], head: &[u8], mut file: &File, parts: Sender<&'a [u8]>) -> io::Result<usize> {
    let mut filled = 0;
    for part in bytes.chunks_mut(BLOCK) {
        let mut have = 0;
        if let Some(known) = head.get(filled..) {
            have = known.len().min(part.len());
            part[..have].copy_from_slice(&known[..have]);
        }
        have += read_full(&mut file, &mut part[have..])?;
        filled += have;
        let is_full = have == part.len();
        let part: &'a [u8] = part;
        // The channel has no reader only if the system starts no thread; then all of it waits in the channel.
        let _ = parts.send(&part[..have]);
        if !is_full {
            break;
        }
    }
    Ok(filled)
}

/// Reads until the buffer is full or the file ends.
fn read_full(file: &mut &File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, SeekFrom};

    use super::{BLOCK, rest};
    use crate::digest;

    /// As long as noted before, shorter, and longer, around the sizes at which blocks end.
    #[test]
    fn reads_what_is_there_with_its_digest() {
        let mut file = tempfile::tempfile().unwrap();
        let content: Vec<u8> = (0..2 * BLOCK + 100).map(|at| (at * 31 / 8) as u8).collect();
        for len in [0, 3, 512, 513, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 7] {
            std::io::Write::write_all(&mut file, &content[..len]).unwrap();
            for noted in [len.saturating_sub(1).max(512), len, len + BLOCK + 1] {
                file.seek(SeekFrom::Start(0)).unwrap();
                let mut head = Vec::new();
                (&file).take(512).read_to_end(&mut head).unwrap();
                let (bytes, found) = rest(&file, head, noted as u64).unwrap();
                assert!(bytes.len() == len || bytes.len() == noted.min(len), "{len} {noted}");
                assert!(bytes == content[..bytes.len()], "{len} {noted}");
                assert_eq!(found, digest::of_bytes(&bytes), "{len} {noted}");
            }
            file.seek(SeekFrom::Start(0)).unwrap();
            file.set_len(0).unwrap();
        }
    }
}
