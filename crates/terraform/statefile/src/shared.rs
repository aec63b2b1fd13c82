//! Large documents, read by several threads.
//!
//! Each thread begins where a resource seems to begin. That one does is proven by the part before, which has to arrive
//! there. Parts become one only if nothing has to be said of the document as a whole; otherwise it is read once more from
//! its start, in one piece.

use std::thread;

use crate::scan::expect_resource;
use crate::sink::Sink;
use crate::walk::{Halt, Start, Visitor, Whole, walk_part};

/// Documents below this size are read in less time than threads take to start.
pub(crate) const WORTHWHILE: usize = 1 << 19;

/// How far a beginning of a resource is looked for, in bytes.
const SEARCHED: usize = 1 << 20;

/// What stands behind the resources in documents as the products write them.
const BEHIND: &str = "check_results";

/// Whether a part may have these members at the top, behind one that has those: the resources, which go through both, are
/// of neither.
pub(crate) fn can_follow<'a>(
    mut later: impl Iterator<Item = &'a str>,
    mut earlier: impl Iterator<Item = &'a str>,
) -> bool {
    later.all(|name| name == BEHIND) && earlier.all(|name| name != BEHIND && name != "resources")
}

/// Reads a flawless document, each part with a visitor of its own, and adds each to the first; nothing if it is none, is not
/// worth the threads, or a part cannot be added.
pub(crate) fn read<V: Visitor + Send>(
    text: &[u8],
    threads: usize,
    visitor: impl Fn() -> V + Sync,
    append: impl Fn(&mut V, V) -> Option<()>,
) -> Option<(V, Sink)> {
    let starts = starts(text, threads);
    let (first, others) = starts.split_first()?;
    if others.is_empty() {
        return None;
    }
    let stops = |index: usize| starts.get(index).copied();
    let parts: Option<Vec<Part<V>>> = thread::scope(|scope| {
        let threads: Vec<_> = others
            .iter()
            .enumerate()
            .map(|(index, &start)| {
                let (visitor, stop) = (&visitor, stops(index + 2));
                let read = move || Part::read(text, start, stop, visitor());
                thread::Builder::new().spawn_scoped(scope, read)
            })
            .collect();
        let first = Part::read(text, *first, stops(1), visitor());
        let others = threads.into_iter().map(|thread| thread.ok()?.join().ok().flatten());
        std::iter::once(first).chain(others).collect()
    });
    let mut parts = parts?.into_iter();
    let mut whole = parts.next()?;
    for part in parts {
        if whole.reached != Some(part.start) {
            return None;
        }
        append(&mut whole.visitor, part.visitor)?;
        whole.sink.notes.extend(part.sink.notes);
        whole.reached = part.reached;
    }
    whole.reached.is_none().then_some((whole.visitor, whole.sink))
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
struct Part<V> {
    visitor: V,
    sink: Sink,
    start: usize,
    /// Where the next part begins; nothing if this one went to the end.
    reached: Option<usize>,
}

impl<V: Visitor> Part<V> {
    /// Reads from `start` to the first resource at or behind `stop`; nothing if there is a problem.
    fn read(text: &[u8], start: usize, stop: Option<usize>, mut visitor: V) -> Option<Self> {
        let mut sink = Sink::default();
        let from = if start == 0 { Start::Document } else { Start::Resource };
        let reached = match walk_part(Whole::new(text).from(start), &mut visitor, &mut sink, from, stop) {
            Ok(()) => None,
            Err(Halt::Reached(at)) => Some(at),
            Err(_) => return None,
        };
        sink.is_clean().then_some(Self { visitor, sink, start, reached })
    }
}

#[cfg(test)]
mod tests {
    use super::WORTHWHILE;
    use crate::index::{Index, Indexer};
    use crate::sink::Sink;
    use crate::walk::{Whole, walk_feed};

    const PROVIDER: &str = r#""provider[\"registry.terraform.io/hashicorp/test\"]""#;

    fn document(before: &str, name: &str, last: &str, behind: &str) -> String {
        let resource = |index: usize| {
            let id = format!("{index:0>1000}");
            format!(
                "\n    {{\n      \"module\": \"module.m{}\", \"mode\": \"managed\", \"type\": \"a\", \"name\": \"r{index}\", \
                 \"provider\": {PROVIDER}, \"instances\": [{{\"attributes\": {{\"id\": \"{id}\"}}}}]}}",
                index / 100
            )
        };
        let resources: Vec<String> = (0..WORTHWHILE / 1000).map(resource).collect();
        format!("{{\"version\": 4, {before}{name} : [{}{last}\n  ]{behind}}}", resources.join(","))
    }

    fn alone(text: &str) -> Index {
        let mut indexer = Indexer::new(false);
        walk_feed(Whole::new(text.as_bytes()), &mut indexer, &mut Sink::default()).unwrap();
        indexer.index
    }

    #[test]
    fn an_index_is_the_same_with_any_number_of_threads() {
        let outputs = r#""serial": 7, "outputs": {"a": {"value": 1, "type": "number"}}, "#;
        let opentofu = format!(
            ", {{\"mode\": \"managed\", \"type\": \"a\", \"name\": \"z\", \"instances\": \
             [{{\"provider\": {PROVIDER}, \"attributes\": {{}}}}, \
             {{\"provider\": {PROVIDER}, \"deposed\": \"00000001\", \"attributes\": {{}}}}]}}"
        );
        for (before, last, behind) in [
            ("", "", ""),
            (outputs, "", ""),
            (outputs, &*opentofu, ", \"check_results\": null"),
            (r#""terraform_version": "1.5.0", "lineage": "x", "outputs": {}, "#, "", ", \"other\": [1]"),
        ] {
            let text = document(before, "\"resources\"", last, behind);
            let expected = alone(&text);
            for threads in 2..6 {
                let (shared, _) = Index::shared(text.as_bytes(), threads).expect("nothing needs a remark");
                assert_eq!(format!("{shared:?}"), format!("{expected:?}"), "{threads} threads");
                assert_eq!(shared.dialect(), expected.dialect());
            }
        }
    }

    #[test]
    fn an_unusual_document_is_read_in_one_piece() {
        for (before, name, last, behind) in [
            ("", "\"resources\"", "", ", \"serial\": 1"),
            ("", "\"resour\\u0063es\"", "", ""),
            ("\"terraform_version\": \"0.12.31\", ", "\"resources\"", "", ""),
            ("", "\"resources\"", "", ", \"resources\": []"),
            ("\"check_results\": null, ", "\"resources\"", "", ", \"check_results\": null"),
            ("", "\"resources\"", ", {}", ""),
            ("", "\"resources\"", ", [", ""),
        ] {
            let text = document(before, name, last, behind);
            assert!(Index::shared(text.as_bytes(), 3).is_none(), "{before} {name} {last} {behind}");
        }
        let usual = document("", "\"resources\"", "", "");
        assert!(Index::shared(usual.as_bytes(), 1).is_none(), "one thread shares nothing");
    }
}
