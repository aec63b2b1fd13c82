//! Another provider for all resources of one.

use groundstate_states::addr::{AbsResource, ProviderSource};

use super::Editor;
use super::error::ReplaceProviderError;
use super::summary::{Change, Summary};
use super::working_set::{Source, WorkingSet};
use groundstate_statefile::Dialect;
use groundstate_statefile::Document;
use groundstate_statefile::ReadError;
use groundstate_statefile::walk::{Flow, Head, InstanceWire, Section, Sink, Visitor, walk};

impl Editor<'_> {
    /// Replaces a provider in every resource that has it, whatever the alias and the module of its configuration are;
    /// those stay.
    ///
    /// A provider that [was read without a registry](ProviderSource::is_short) means that of either product, since a file
    /// can hold both: resources of both are replaced, and a new provider without a registry stays in the registry of the
    /// old one.
    ///
    /// # Errors
    ///
    /// When both are the same, no resource has the provider, or the product of the state would drop the resources.
    pub fn replace_provider(
        &mut self,
        from: &ProviderSource,
        to: &ProviderSource,
    ) -> Result<Summary, ReplaceProviderError> {
        let pairs = pairs(from, to);
        if pairs.is_empty() {
            return Err(ReplaceProviderError::Same { provider: from.clone() });
        }
        let dialect = self.dialect();
        self.attempt(|editor| {
            let mut summary = Summary::default();
            for (from, to) in &pairs {
                editor.replace_source(from, to, &mut summary)?;
            }
            let unread = |change: &Change| match change {
                Change::ProviderReplaced { to, .. } => !dialect.reads(to),
                _ => false,
            };
            if let Some(Change::ProviderReplaced { to, .. }) =
                summary.changes.iter().find(|change| unread(change))
            {
                return Err(ReplaceProviderError::Unread { provider: to.clone(), dialect });
            }
            if summary.changes.is_empty() {
                let providers = pairs.iter().map(|(from, _)| from.clone()).collect();
                return Err(ReplaceProviderError::NothingMatched { providers });
            }
            Ok(summary)
        })
    }

    fn replace_source(
        &mut self,
        from: &ProviderSource,
        to: &ProviderSource,
        summary: &mut Summary,
    ) -> Result<(), ReadError> {
        for address in candidates(&self.working_set, from) {
            let has =
                self.working_set.resource(&address)?.is_some_and(|known| known.provider.source == *from);
            if has && let Some(resource) = self.working_set.edit(&address)? {
                let source = &mut resource.provider.source;
                // What was spelled without a registry stays so.
                *source = if source.is_short() { to.clone() } else { to.written_out() };
                let (from, to) = (from.clone(), to.clone());
                summary.changes.push(Change::ProviderReplaced { resource: address, from, to });
            }
        }
        Ok(())
    }
}

/// What is replaced by what: one pair for each registry that a provider without one can mean.
fn pairs(from: &ProviderSource, to: &ProviderSource) -> Vec<(ProviderSource, ProviderSource)> {
    let defaults = [Dialect::Terraform, Dialect::OpenTofu].map(Dialect::default_registry);
    let mut olds = vec![from.clone()];
    if from.is_short() {
        let others = defaults.into_iter().filter(|host| *host != from.host());
        olds.extend(others.map(|host| from.read_with(host)));
    }
    let with_new = |old: ProviderSource| {
        let new = if defaults.contains(&old.host()) { to.read_with(old.host()) } else { to.clone() };
        (old, new)
    };
    olds.into_iter().map(with_new).filter(|(old, new)| old != new).collect()
}

/// The resources that may have the provider, in the order of lists.
fn candidates(working_set: &WorkingSet<'_>, provider: &ProviderSource) -> Vec<AbsResource> {
    let Source::Document(document) = &working_set.source else { return working_set.addresses() };
    let mut found = by_text(document, provider);
    found.retain(|address| !working_set.changed.contains_key(address));
    found.extend(working_set.changed.keys().cloned());
    found.sort();
    found.dedup();
    found
}

/// The resources of which a provider's text can mean the provider.
fn by_text(document: &Document, provider: &ProviderSource) -> Vec<AbsResource> {
    let mut scan = Scan { type_name: provider.type_name(), at: 0, hit: false, hits: Vec::new() };
    // The document has been walked when it was opened, so it can be walked again.
    walk(document.text(), &mut scan, &mut Sink::default());
    let entries = document.entries();
    scan.hits.into_iter().filter_map(|at| entries.get(at)).map(|entry| entry.address().clone()).collect()
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
        // With escapes, or with characters beyond ASCII, a name has more than one spelling.
        self.hit |= !text.is_ascii()
            || text.contains('\\')
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
