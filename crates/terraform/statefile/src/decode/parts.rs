//! Large documents, shared between threads.
//!
//! Each thread begins where a resource seems to begin. That one does is proven by the part before, which has to arrive
//! there. Parts become one file only if nothing has to be said of the document as a whole; otherwise it is read once
//! more from its start, in one piece.

use std::sync::Arc;
use std::thread;

use super::{Builder, DecodeOptions};
use crate::file::{File, Layout};
use crate::scan::expect_resource;
use crate::sink::Sink;
use crate::walk::{Halt, Start, Whole, walk_part};

/// Documents below this size are read in less time than threads take to start.
const WORTHWHILE: usize = 1 << 19;

/// How far a beginning of a resource is looked for, in bytes.
const SEARCHED: usize = 1 << 20;

/// What stands behind the resources in documents as the products write them.
const BEHIND: &str = "check_results";

/// Reads a flawless document; nothing if it is none, or is not worth the threads.
pub(super) fn decode(text: &[u8], options: &DecodeOptions) -> Option<File> {
    let starts = starts(text, options.threads);
    let (first, others) = starts.split_first()?;
    if others.is_empty() {
        return None;
    }
    let stops = |index: usize| starts.get(index).copied();
    let parts: Option<Vec<Part>> = thread::scope(|scope| {
        let threads: Vec<_> = others
            .iter()
            .enumerate()
            .map(|(index, &start)| {
                let read = move || Part::read(text, start, stops(index + 2), options);
                thread::Builder::new().spawn_scoped(scope, read)
            })
            .collect();
        let first = Part::read(text, *first, stops(1), options);
        let others = threads.into_iter().map(|thread| thread.ok()?.join().ok().flatten());
        std::iter::once(first).chain(others).collect()
    });
    let mut parts = parts?.into_iter();
    let first = parts.next()?;
    let Part { builder, mut sink, reached: None, .. } = parts.try_fold(first, Part::append)? else {
        return None;
    };
    if builder.legacy_references() {
        return None;
    }
    let file = builder.finish(Layout::of(text), &mut sink);
    sink.is_clean().then(|| File { notes: std::mem::take(&mut sink.notes), ..file })
}

/// Where the parts begin.
fn starts(text: &[u8], threads: usize) -> Vec<usize> {
    let mut starts = vec![0];
    if text.len() < WORTHWHILE {
        return starts;
    }
    for thread in 1..threads {
        let from = text.len() / threads * thread;
        let piece = text.get(from..text.len().min(from + SEARCHED)).unwrap_or_default();
        starts.extend(expect_resource(piece).map(|found| from + found));
    }
    starts.dedup();
    starts
}

/// What a thread has read.
struct Part {
    builder: Builder,
    sink: Sink,
    start: usize,
    /// Where the next part begins; nothing if this one went to the end.
    reached: Option<usize>,
}

impl Part {
    /// Reads from `start` to the first resource at or behind `stop`; nothing if there is a problem.
    fn read(text: &[u8], start: usize, stop: Option<usize>, options: &DecodeOptions) -> Option<Self> {
        let (mut builder, mut sink) = (Builder::new(options.dialect), Sink::default());
        let from = if start == 0 { Start::Document } else { Start::Resource };
        let reached = match walk_part(Whole::new(text).from(start), &mut builder, &mut sink, from, stop) {
            Ok(()) => None,
            Err(Halt::Reached(at)) => Some(at),
            Err(_) => return None,
        };
        sink.is_clean().then_some(Self { builder, sink, start, reached })
    }

    /// Adds the next part, unless the two have something to say of each other.
    fn append(mut self, next: Self) -> Option<Self> {
        let whole = &mut self.builder;
        let part = next.builder;
        let known = |name: &String| whole.extra.iter().any(|(before, _)| before == name);
        if self.reached != Some(next.start)
            || whole.members.iter().any(|name| name == "resources")
            || part.members.iter().any(|name| name != BEHIND || whole.members.contains(name))
            || part.extra.iter().any(|(name, _)| known(name))
        {
            return None;
        }
        for (address, module) in part.state.modules() {
            let resources = &mut whole.state.ensure_module(address).resources;
            for (name, resource) in &module.resources {
                if resources.insert(name.clone(), Arc::clone(resource)).is_some() {
                    return None;
                }
            }
        }
        whole.members.extend(part.members);
        whole.extra.extend(part.extra);
        whole.checks = whole.checks.take().or(part.checks);
        whole.traces.append(&part.traces);
        self.sink.notes.extend(next.sink.notes);
        Some(Self { reached: next.reached, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::{WORTHWHILE, decode};
    use crate::DecodeOptions;

    #[test]
    fn a_usual_document_is_shared_and_one_that_needs_a_remark_is_not() {
        let provider = r#""provider[\"registry.terraform.io/hashicorp/test\"]""#;
        let resource = |index: usize| {
            let id = format!("{index:0>1000}");
            format!(
                "\n    {{\n      \"mode\": \"managed\", \"type\": \"a\", \"name\": \"r{index}\", \
                 \"provider\": {provider}, \"instances\": [{{\"attributes\": {{\"id\": \"{id}\"}}}}]}}"
            )
        };
        let resources: Vec<String> = (0..WORTHWHILE / 1000).map(resource).collect();
        let document =
            |behind: &str| format!("{{\"version\": 4, \"resources\": [{}]{behind}}}", resources.join(","));
        let read =
            |text: &str, threads: usize| decode(text.as_bytes(), &DecodeOptions::default().threads(threads));
        let plain = document("");
        let file = read(&plain, 3).expect("nothing needs a remark");
        assert_eq!(file.state.root().resources.len(), resources.len());
        assert!(read(&plain, 1).is_none(), "one thread shares nothing");
        assert!(read(&document(", \"serial\": 1"), 3).is_none(), "the header goes on behind");
        assert!(
            read(&document("").replace("r7\"", "r400\""), 3).is_none(),
            "two parts have the same resource"
        );
    }
}
