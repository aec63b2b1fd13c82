//! Another provider for all resources of one.

use groundstate_states::addr::{AbsResource, ProviderSource};

use super::Surgery;
use super::bench::{Bench, Source};
use super::error::ReplaceProviderError;
use super::summary::{Change, Summary};
use crate::document::Document;
use crate::problem::ReadError;
use crate::sink::Sink;
use crate::walk::{Flow, Head, Section, Visitor, Whole, walk};
use crate::wire::v4::InstanceWire;

impl Surgery<'_> {
    /// Replaces a provider in every resource that has it, whatever the alias and the module of its configuration are;
    /// those stay. The summary is empty if no resource has it.
    ///
    /// # Errors
    ///
    /// When both are the same.
    pub fn replace_provider(
        &mut self,
        from: &ProviderSource,
        to: &ProviderSource,
    ) -> Result<Summary, ReplaceProviderError> {
        if from == to {
            return Err(ReplaceProviderError::Same { provider: from.clone() });
        }
        self.attempt(|surgery| {
            let mut summary = Summary::default();
            for address in candidates(&surgery.bench, from) {
                let has =
                    surgery.bench.resource(&address)?.is_some_and(|known| known.provider.source == *from);
                if has && let Some(resource) = surgery.bench.edit(&address)? {
                    resource.provider.source = to.clone();
                    let (from, to) = (from.clone(), to.clone());
                    summary.changes.push(Change::ProviderReplaced { resource: address, from, to });
                }
            }
            Ok::<_, ReadError>(summary)
        })
        .map_err(Into::into)
    }
}

/// The resources that may have the provider, in the order of lists.
fn candidates(bench: &Bench<'_>, provider: &ProviderSource) -> Vec<AbsResource> {
    let Source::Document(document, _) = &bench.source else { return bench.addresses() };
    let mut found = by_text(document, provider);
    found.retain(|address| !bench.changed.contains_key(address));
    found.extend(bench.changed.keys().cloned());
    found.sort();
    found.dedup();
    found
}

/// The resources of which a provider's text can mean the provider.
fn by_text(document: &Document, provider: &ProviderSource) -> Vec<AbsResource> {
    let mut scan = Scan { type_name: provider.type_name(), at: 0, hit: false, hits: Vec::new() };
    // The document has been walked when it was opened, so it can be walked again.
    let _ = walk(Whole(document.text()), &mut scan, &mut Sink::default());
    let entries = &document.index().resources;
    scan.hits.into_iter().filter_map(|at| entries.get(at)).map(|entry| entry.address.clone()).collect()
}

/// Finds the resources that name a type of provider: all forms of a provider's address end with it.
struct Scan<'p> {
    type_name: &'p str,
    at: usize,
    hit: bool,
    hits: Vec<usize>,
}

impl Scan<'_> {
    fn look(&mut self, text: &str) {
        // Names that are not plain ASCII have more than one spelling.
        self.hit |= !text.is_ascii()
            || !self.type_name.is_ascii()
            || text.to_ascii_lowercase().contains(&self.type_name.to_ascii_lowercase());
    }
}

impl Visitor for Scan<'_> {
    fn restart(&mut self, section: Section) {
        if section == Section::Resources {
            (self.at, self.hit) = (0, false);
            self.hits.clear();
        }
    }

    fn instance(&mut self, wire: &InstanceWire<'_>, _: (usize, usize), _: &mut Sink) {
        if let Some(text) = wire.provider {
            self.look(&text.decode());
        }
    }

    fn resource(&mut self, head: &Head, _: usize, _: &mut Sink) -> Flow {
        self.look(&head.provider.value);
        if std::mem::take(&mut self.hit) {
            self.hits.push(self.at);
        }
        self.at += 1;
        Flow::On
    }
}
