//! Models of large documents, read by several threads.

use std::sync::Arc;

use super::{Builder, DecodeOptions};
use crate::file::{File, Layout};
use crate::shared::{can_follow, read};

/// Reads a flawless document; nothing if it is none, or is not worth the threads.
pub(super) fn decode(text: &[u8], options: &DecodeOptions) -> Option<File> {
    let visitor = || Builder::new(options.dialect);
    let (builder, mut sink) = read(text, options.threads, visitor, append)?;
    if builder.legacy_references() {
        return None;
    }
    let file = builder.finish(Layout::of(text), &mut sink);
    sink.is_clean().then(|| File { notes: std::mem::take(&mut sink.notes), ..file })
}

/// Adds the next part, unless the two have something to say of each other.
fn append(whole: &mut Builder, part: Builder) -> Option<()> {
    let known = |name: &String| whole.extra.iter().any(|(before, _)| before == name);
    if !can_follow(part.members.iter().map(String::as_str), whole.members.iter().map(String::as_str))
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
    Some(())
}

#[cfg(test)]
mod tests {
    use super::decode;
    use crate::DecodeOptions;
    use crate::shared::WORTHWHILE;

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
