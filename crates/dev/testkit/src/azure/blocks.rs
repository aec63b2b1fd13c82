//! Blobs in blocks.

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};

use super::error::{Refused, Result};
use super::lease::check_write;
use super::route::Target;
use super::{Name, State, write};
use crate::digest::from_base64;
use crate::http::{Answer, Request};
use crate::xml::{element, inside};

/// The blocks of blobs, by their names.
#[derive(Default)]
pub(super) struct Blocks(BTreeMap<Name, BlocksOfBlob>);

#[derive(Default)]
struct BlocksOfBlob {
    committed: Vec<(String, Bytes)>,
    uncommitted: BTreeMap<String, Bytes>,
}

impl Blocks {
    pub(super) fn forget(&mut self, name: &Name) {
        self.0.remove(name);
    }
}

pub(super) fn put(state: &mut State, request: &Request, target: &Target) -> Result<Answer> {
    let id = request.parameter("blockid").filter(|id| from_base64(id).is_some());
    let id = id.ok_or_else(|| Refused::parameter("blockid"))?;
    check_write(state.leases.get(&target.name()), request.header("x-ms-lease-id"), state.now())?;
    let blocks = state.blocks.0.entry(target.name()).or_default();
    // All names of blocks of a blob have the same length.
    if blocks.uncommitted.keys().next().is_some_and(|other| other.len() != id.len()) {
        return Err(Refused::new(
            400,
            "InvalidBlobOrBlock",
            "The specified blob or block content is invalid.",
        ));
    }
    blocks.uncommitted.insert(id, request.body.clone());
    Ok(Answer::new(201).header("x-ms-request-server-encrypted", "true"))
}

pub(super) fn commit(state: &mut State, request: &Request, target: &Target) -> Result<Answer> {
    let document = String::from_utf8_lossy(&request.body);
    let invalid = || Refused::new(400, "InvalidBlockList", "The specified block list is invalid.");
    let mut committed = Vec::new();
    let none = BlocksOfBlob::default();
    let blocks = state.blocks.0.get(&target.name()).unwrap_or(&none);
    let list = inside(&document, "BlockList").first().copied().unwrap_or_default();
    for (kind, id) in entries(list) {
        let new = blocks.uncommitted.get(id);
        let old = blocks.committed.iter().find(|(found, _)| found == id).map(|(_, bytes)| bytes);
        let found = match kind {
            "Latest" => new.or(old),
            "Uncommitted" => new,
            "Committed" => old,
            _ => None,
        };
        committed.push((id.to_owned(), found.ok_or_else(invalid)?.clone()));
    }
    let mut bytes = BytesMut::new();
    for (_, block) in &committed {
        bytes.extend_from_slice(block);
    }
    let object = write::new_object(request, bytes.freeze())?;
    write::check(state, request, target)?;
    state.blocks.0.insert(target.name(), BlocksOfBlob { committed, uncommitted: BTreeMap::new() });
    let stored = state.put(target.borrowed(), object).ok_or_else(Refused::no_container)?;
    Ok(write::written(201, stored))
}

/// The kinds and names of blocks in a list, in their order.
fn entries(list: &str) -> impl Iterator<Item = (&str, &str)> {
    list.split("</").filter_map(|entry| {
        let (_, element) = entry.rsplit_once('<')?;
        let (kind, id) = element.split_once('>')?;
        Some((kind.trim(), id.trim()))
    })
}

pub(super) fn list(state: &State, target: &Target) -> Result<Answer> {
    let none = BlocksOfBlob::default();
    let blocks = state.blocks.0.get(&target.name()).unwrap_or(&none);
    if blocks.uncommitted.is_empty() && state.store.object(&target.container, &target.blob).is_none() {
        return Err(Refused::no_blob());
    }
    let block = |id: &str, bytes: &Bytes| {
        format!("<Block>{}{}</Block>", element("Name", id), element("Size", &bytes.len().to_string()))
    };
    let committed: String = blocks.committed.iter().map(|(id, bytes)| block(id, bytes)).collect();
    let uncommitted: String = blocks.uncommitted.iter().map(|(id, bytes)| block(id, bytes)).collect();
    Ok(Answer::new(200).xml(&format!(
        "<BlockList><CommittedBlocks>{committed}</CommittedBlocks>\
         <UncommittedBlocks>{uncommitted}</UncommittedBlocks></BlockList>"
    )))
}

#[cfg(test)]
mod tests {
    use super::entries;

    #[test]
    fn lists_of_blocks_keep_their_order() {
        let list = "\n<Latest>YQ==</Latest>\n  <Committed>Yg==</Committed><Uncommitted>Yw==</Uncommitted>";
        let found: Vec<_> = entries(list).collect();
        assert_eq!(found, [("Latest", "YQ=="), ("Committed", "Yg=="), ("Uncommitted", "Yw==")]);
        assert_eq!(entries("").count(), 0);
    }
}
