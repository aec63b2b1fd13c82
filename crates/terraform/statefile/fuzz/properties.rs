//! What has to hold for any bytes. The fuzz targets call it, and `tests/it/fuzzed.rs` with the inputs of the corpus.

use std::collections::BTreeMap;
use std::io;

use groundstate_statefile::{
    Block, Blocks, DecodeOptions, Document, EncodeOptions, File, Listing, ReadError, decode, encode,
    encode_equally, expect_resource, list, list_part, outputs,
};
use groundstate_states::addr::AbsResource;
use groundstate_states::{Attributes, Lineage, ObjectSrc, Resource, Serial, State};

/// What can be decoded can be encoded, and is the same when it is read and written again.
pub(crate) fn decode_any(data: &[u8]) {
    let file = match decode(data, &DecodeOptions::default()) {
        Ok(file) => file,
        Err(error) => return explained(&error, data),
    };
    let first = written(&file);
    let options = DecodeOptions::default().dialect(file.dialect);
    let again = decode(&first, &options).expect("what was encoded can be decoded");
    assert_eq!((&again.lineage, again.serial), (&file.lineage, file.serial));
    if !resources(&file.state).any(has_empty_flat) {
        assert!(encode_equally(&again.state, &file.state), "the state changed on its way through a file");
        assert_eq!(text(&written(&again)), text(&first), "writing twice gives other bytes");
    }
    let second = written(&again);
    let third = decode(&second, &options).expect("what was encoded can be decoded");
    assert_eq!(third.state, again.state, "the state changed on its way through a second file");
    assert_eq!(text(&written(&third)), text(&second), "writing again gives other bytes");
    if let Ok(strict) = encode(&file, &EncodeOptions::default()) {
        assert_eq!(text(&strict), text(&first), "nothing is lost, so leave to lose changes nothing");
    }
}

fn written(file: &File) -> Vec<u8> {
    encode(file, &EncodeOptions::default().allow_loss(true)).expect("what was decoded can be encoded")
}

/// Problems name places inside the input, and can be shown.
fn explained(error: &ReadError, data: &[u8]) {
    assert!(!error.to_string().is_empty());
    for problem in error.problems() {
        assert!(problem.place.offset <= data.len(), "{problem:?}");
        assert!(problem.place.line >= 1 && problem.place.column >= 1, "{problem:?}");
    }
}

/// Reading in pieces, of any size and in any number of parts, agrees with reading at once.
pub(crate) fn list_scan(data: &[u8]) {
    let whole = listed(list(data, true));
    // Every block costs an allocation, so only short documents come in the smallest pieces.
    let steps = if data.len() < 300 { [1, 2, 3, 7] } else { [7, 31, 100, 256] };
    for step in steps {
        assert_eq!(listed(list(Drip { data, step }, true)), whole, "blocks of {step} bytes");
        assert_eq!(found(Drip { data, step }), found(data), "blocks of {step} bytes");
    }
    // Each read costs a block of its own here.
    if data.len() < 200 {
        assert_eq!(listed(list(OneByOne(data), true)), whole, "a reader that gives single bytes");
    }
    in_parts(data, whole.as_deref());
    let document = Document::open(data.to_vec()).ok();
    if let (Some(document), Some(outputs)) = (&document, found(data)) {
        for name in outputs {
            assert!(document.output(&name).expect("outputs were checked").is_some(), "output {name:?}");
        }
    }
    let Some(whole) = whole else { return };
    let document = document.expect("what can be listed can be opened");
    let addresses: Vec<String> = document.instances().map(|address| address.to_string()).collect();
    let listed: Vec<&str> = whole.iter().map(|(address, _)| address.as_str()).collect();
    assert_eq!(listed, addresses, "the index and the list differ");
    let file = decode(data, &DecodeOptions::default()).expect("what can be listed can be decoded");
    assert_eq!(listed.len(), instances(&file.state), "the model and the list differ");
    let names = file.state.outputs().keys().map(|name| name.to_string()).collect();
    assert_eq!(found(data), Some(names), "the model and the outputs differ");
}

/// Cuts where a resource seems to begin: the parts give the same list, or none.
fn in_parts(data: &[u8], whole: Option<&[(String, Option<String>)]>) {
    let Some(cut) = data.get(data.len() / 2..).and_then(expect_resource).map(|at| data.len() / 2 + at) else {
        return;
    };
    let Some(rest) = data.get(cut..) else { return };
    let parts = [list_part(data, 0, Some(cut), true), list_part(rest, cut, None, true)];
    let Ok(parts) = parts.into_iter().collect::<Result<Vec<_>, _>>() else { return };
    let Some(joined) = listed(Listing::join(parts)) else { return };
    assert_eq!(Some(&joined[..]), whole, "two parts");
}

/// Changes leave a document that can be opened, with what was not named as it was.
pub(crate) fn document_edit(data: &[u8]) {
    let Ok(document) = Document::open(data.to_vec()) else { return };
    let unchanged = document.edit().to_vec().expect("no change can be written");
    assert_eq!(text(&unchanged), text(data), "no change is a change");
    // What is changed follows from the input, so that each input is a case of its own.
    let seed = data.iter().fold(7_usize, |seed, byte| seed.wrapping_mul(31).wrapping_add(usize::from(*byte)));
    header(&document, seed);
    let mut resources: Vec<AbsResource> = document.resources().cloned().collect();
    resources.dedup();
    for (at, address) in resources.iter().enumerate().filter(|(at, _)| (at + seed) % 4 == 0).take(3) {
        removal(&document, address, &resources);
        replacement(&document, address, resources.get(at / 2));
    }
    for name in document.output_names().take(3) {
        let output = document.output(name).expect("outputs were checked");
        let mut edit = document.edit();
        edit.output(name, None).output("fuzzed", output.clone());
        let written = edit.to_vec().expect("an output of the document can be written");
        let changed = reopened(&document, &written);
        assert_eq!(changed.output(name).expect("opened"), output.clone().filter(|_| name == "fuzzed"));
        assert_eq!(changed.output("fuzzed").expect("opened"), output);
    }
}

fn header(document: &Document, seed: usize) {
    let (serial, lineage) = (Serial::new(seed as u64), Lineage::new("<l>\"\\\n"));
    let mut edit = document.edit();
    edit.serial(serial).lineage(&lineage);
    let changed = reopened(document, &edit.to_vec().expect("headers can be written"));
    assert_eq!((changed.serial(), changed.lineage()), (serial, lineage));
    assert!(changed.instances().eq(document.instances()), "instances changed with the header");
}

/// Takes one resource out: the rest stays, byte for byte on both sides of the gap.
fn removal(document: &Document, address: &AbsResource, all: &[AbsResource]) {
    let mut edit = document.edit();
    edit.resource(address.clone(), None);
    let written = edit.to_vec().expect("a removal can be written");
    let once = document.resources().filter(|known| *known == address).count() == 1;
    if once {
        let same = |pair: &(&u8, &u8)| pair.0 == pair.1;
        let before = document.text().iter().zip(&written).take_while(same).count();
        let after = document.text().iter().rev().zip(written.iter().rev()).take_while(same).count();
        // The blanks around the gap may be laid out anew.
        let new = written.get(before..written.len().saturating_sub(after)).unwrap_or_default();
        let blank = new.iter().all(|byte| byte.is_ascii_whitespace() || *byte == b',');
        assert!(blank, "removing {address} also wrote {:?}", text(new));
    }
    let changed = reopened(document, &written);
    assert_eq!(changed.resource(address).expect("opened"), None, "{address} is still there");
    for other in all.iter().filter(|other| *other != address) {
        assert_eq!(changed.resource(other), document.resource(other), "{other} changed");
    }
}

/// Writes a resource anew: it is what it was, or what the other one was.
fn replacement(document: &Document, address: &AbsResource, other: Option<&AbsResource>) {
    for from in [Some(address), other].into_iter().flatten() {
        let resource = document.resource(from).expect("resources were checked");
        if resource.as_ref().is_some_and(has_empty_flat) {
            continue;
        }
        let mut edit = document.edit();
        edit.resource(address.clone(), resource.clone());
        // What the document notes as lost cannot be written again.
        let Ok(written) = edit.to_vec() else { continue };
        let changed = reopened(document, &written);
        let now = changed.resource(address).expect("opened");
        assert_eq!(now, resource, "{address} changed on its way through the file");
    }
}

/// A changed document follows the rules of the one that it comes from.
fn reopened(before: &Document, written: &[u8]) -> Document {
    let document = Document::open_with(written.to_vec(), &DecodeOptions::default().dialect(before.dialect()));
    assert!(document.is_ok(), "{:?} in what was written: {}", document.err(), text(written));
    document.expect("asserted above")
}

fn listed<E>(listing: Result<Listing, E>) -> Option<Vec<(String, Option<String>)>> {
    let listing = listing.ok()?;
    Some(listing.iter().map(|listed| (listed.to_string(), listed.id.map(str::to_owned))).collect())
}

fn found<B: Blocks>(input: B) -> Option<Vec<String>> {
    Some(outputs(input, None).ok()?.into_iter().map(|(name, _)| name).collect())
}

fn instances(state: &State) -> usize {
    resources(state)
        .flat_map(|resource| resource.instances.values())
        .filter(|instance| instance.has_objects())
        .count()
}

/// No file can hold flat attributes that are empty; they come back as an empty object.
fn has_empty_flat(resource: &Resource) -> bool {
    let empty = |object: &ObjectSrc| object.attributes == Attributes::Flat(BTreeMap::new());
    resource.instances.values().any(|instance| instance.objects().any(|(_, object)| empty(object)))
}

fn resources(state: &State) -> impl Iterator<Item = &Resource> {
    state.modules().flat_map(|(_, module)| module.resources.values()).map(|resource| &**resource)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Gives a document in blocks of a few bytes, without room in front of them.
struct Drip<'d> {
    data: &'d [u8],
    step: usize,
}

impl Blocks for Drip<'_> {
    fn next(&mut self, _spent: Block) -> io::Result<Block> {
        let (piece, rest) = self.data.split_at(self.step.min(self.data.len()));
        self.data = rest;
        Ok(Block { bytes: piece.to_vec(), start: 0 })
    }
}

/// A reader that gives a byte at a time.
struct OneByOne<'d>(&'d [u8]);

impl io::Read for OneByOne<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (Some((byte, rest)), Some(place)) = (self.0.split_first(), buffer.first_mut()) else {
            return Ok(0);
        };
        *place = *byte;
        self.0 = rest;
        Ok(1)
    }
}
