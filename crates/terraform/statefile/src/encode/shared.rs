//! The resources of a large file, shared between threads.

use std::io;

use groundstate_common::in_turn;

use super::{Encoder, Item};
use crate::json::Writer;

/// Resources that a thread writes at a time.
const CHUNK: usize = 64;

/// How deep elements of `resources` stand.
const DEPTH: usize = 2;

impl<W: io::Write> Encoder<'_, W> {
    /// Writes these resources.
    pub(super) fn resources(&mut self, items: &[Item<'_>], threads: usize) -> io::Result<()> {
        if threads < 2 || items.len() <= CHUNK {
            return items.iter().try_for_each(|item| self.resource(item));
        }
        let (file, sort_paths, layout) = (self.file, self.sort_paths, self.writer.layout());
        let chunks: Vec<_> = items.chunks(CHUNK).collect();
        let write = |chunk: &&[Item<'_>]| {
            let writer = Writer::fragment(Vec::new(), layout, DEPTH);
            let mut encoder = Encoder { file, writer, sort_paths };
            chunk.iter().try_for_each(|item| encoder.resource(item))?;
            encoder.writer.end()
        };
        in_turn(&chunks, threads, write, |text: io::Result<Vec<u8>>| self.writer.fragments(&text?))
    }
}
