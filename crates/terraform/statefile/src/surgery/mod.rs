//! Changes of a stored state by hand: moves, removals, other providers, taints, and scripts of many of these; what can be
//! saved of a damaged file, and merging what an apply could not store.
//!
//! A [`Surgery`] works on a [`Document`], of which it decodes only what it touches, or on a [`File`]. Every operation
//! happens whole or not at all. Nothing is written here: [`Surgery::edit`] gives the change of the document that is to
//! be written, [`Surgery::to_file`] the whole model, [`Surgery::preview`] the semantic difference.
//!
//! Neither serial nor lineage is touched: the writer gives the next serial.
//!
//! ```
//! use groundstate_statefile::Document;
//! use groundstate_statefile::surgery::{MvOptions, Surgery};
//! use groundstate_states::addr::Target;
//!
//! let text = r#"{"version": 4, "serial": 7, "resources": [{"mode": "managed", "type": "null_resource",
//!     "name": "a", "provider": "provider[\"registry.terraform.io/hashicorp/null\"]", "instances": [{}]}]}"#;
//! let document = Document::open(text.as_bytes().to_vec())?;
//! let mut surgery = Surgery::on_document(&document);
//! let from = Target::parse("null_resource.a")?;
//! let to = Target::parse("module.m.null_resource.a")?;
//! let done = surgery.mv(&from, &to, MvOptions::default())?;
//! assert_eq!(done.changes[0].to_string(), r#"Move "null_resource.a" to "module.m.null_resource.a""#);
//! let written = surgery.edit()?.expect("it works on a document").to_vec()?;
//! assert!(String::from_utf8(written)?.contains(r#""module":"module.m""#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How dependencies follow a move
//!
//! Objects record the resources of the configuration that they depend on, without keys. An entry that means what was
//! moved is replaced by the new address. It stays beside the new one if other instances that it means are still there.
//! Inside a module with keys an entry means the instance that the object itself is in, so a whole module that is moved
//! keeps its own dependencies. No object comes to depend on its own resource. Deposed objects and OpenTofu's
//! `depends_on` follow as well. A sorted list stays sorted.

mod bench;
mod error;
mod follow;
mod lookup;
mod mentions;
mod merge;
mod mv;
mod opened;
mod provider;
mod rewrite;
mod rm;
mod salvage;
mod script;
mod shift;
mod summary;
mod taint;

use std::io;

use groundstate_states::{Lineage, Serial};

use crate::dialect::Dialect;
use crate::diff::{self, Diff};
use crate::document::Document;
use crate::edit::Edit;
use crate::encode::{EncodeOptions, encode_to};
use crate::file::File;
use crate::problem::ReadError;
use bench::{Bench, Changed, Source};

pub use error::{MvError, ReplaceProviderError, RmError, TaintError, WriteError};
pub use merge::{BaseUsed, Conflict, Dangling, MergeBase, MergeError, Merged, merge_errored};
pub use mv::MvOptions;
pub use opened::Opened;
pub use rewrite::Rewrite;
pub use salvage::{Lost, SalvageError, Salvaged, salvage};
pub use script::{Done, Script, ScriptError, ScriptFault, ScriptOptions, ScriptReport};
pub use summary::{Change, Summary};

/// Changes to be made to a state.
#[derive(Debug)]
pub struct Surgery<'d> {
    bench: Bench<'d>,
    /// An operation that puts everything back when it fails is running.
    in_attempt: bool,
}

impl<'d> Surgery<'d> {
    /// Begins changes of a document, which is decoded only where it is touched.
    pub fn on_document(document: &'d Document) -> Self {
        Self::on(Source::Document(document, document.index().in_list_order().positions))
    }

    /// Begins changes of a model: the way for documents of older formats.
    pub fn on_file(file: &'d File) -> Self {
        Self::on(Source::File(file))
    }

    fn on(source: Source<'d>) -> Self {
        Self { bench: Bench::new(source), in_attempt: false }
    }

    /// Whether there is anything to write.
    ///
    /// # Errors
    ///
    /// None that [`Document::open`] has not found before.
    pub fn is_changed(&self) -> Result<bool, ReadError> {
        Ok(!self.net_changes()?.is_empty())
    }

    /// The semantic difference between the state as it was and as it is now. Only touched resources are compared.
    ///
    /// # Errors
    ///
    /// None that [`Document::open`] has not found before.
    pub fn preview(&self) -> Result<Diff, ReadError> {
        let (mut before, mut after) = (self.empty_file(), self.empty_file());
        for (address, resource) in self.net_changes()? {
            for (file, resource) in [(&mut before, self.bench.original(&address)?), (&mut after, resource)] {
                if let Some(resource) = resource {
                    let module = file.state.ensure_module(&address.module);
                    module.resources.insert(address.resource.clone(), resource);
                }
            }
        }
        Ok(diff::diff(&before, &after))
    }

    /// The change of the document, ready to be written; nothing when the surgery works on a model.
    ///
    /// # Errors
    ///
    /// None that [`Document::open`] has not found before.
    pub fn edit(&self) -> Result<Option<Edit<'d>>, ReadError> {
        let Source::Document(document, _) = &self.bench.source else { return Ok(None) };
        let mut edit = document.edit();
        for (address, resource) in self.net_changes()? {
            edit.resource(address, resource.map(std::sync::Arc::unwrap_or_clone));
        }
        Ok(Some(edit))
    }

    /// Writes the changed state with this serial: a document with all other bytes as they stand, a model canonically.
    ///
    /// # Errors
    ///
    /// As [`Edit::write_to`] for a document and [`encode_to`] for a model.
    pub fn write_to<W: io::Write>(&self, serial: Serial, out: &mut W) -> Result<(), WriteError> {
        match self.edit()? {
            Some(mut edit) => edit.serial(serial).write_to(out)?,
            None => {
                let mut file = self.to_file()?;
                file.serial = serial;
                encode_to(&file, &EncodeOptions::default(), out)?;
            }
        }
        Ok(())
    }

    /// The whole model with the changes.
    ///
    /// # Errors
    ///
    /// None that [`Document::open`] has not found before.
    pub fn to_file(&self) -> Result<File, ReadError> {
        let mut file = match &self.bench.source {
            Source::Document(document, _) => document.to_file()?,
            Source::File(file) => (*file).clone(),
        };
        for (address, resource) in self.net_changes()? {
            match resource {
                Some(resource) => {
                    let module = file.state.ensure_module(&address.module);
                    module.resources.insert(address.resource, resource);
                }
                None => {
                    file.state.remove_resource(&address);
                }
            }
        }
        Ok(file)
    }

    /// The changes without those that came to nothing.
    fn net_changes(&self) -> Result<Changed, ReadError> {
        let mut net = Changed::new();
        for (address, resource) in &self.bench.changed {
            if self.bench.original(address)? != *resource {
                net.insert(address.clone(), resource.clone());
            }
        }
        Ok(net)
    }

    /// Runs an operation that leaves everything as it was when it fails.
    fn attempt<T, E>(&mut self, operation: impl FnOnce(&mut Self) -> Result<T, E>) -> Result<T, E> {
        // The outermost one puts everything back.
        if self.in_attempt {
            return operation(self);
        }
        let before = self.bench.changed.clone();
        self.in_attempt = true;
        let result = operation(self);
        self.in_attempt = false;
        if result.is_err() {
            self.bench.restore(before);
        }
        result
    }

    /// The dialect of the state, which says what the short names of providers mean.
    pub fn dialect(&self) -> Dialect {
        match &self.bench.source {
            Source::Document(document, _) => document.dialect(),
            Source::File(file) => file.dialect,
        }
    }

    fn empty_file(&self) -> File {
        File::new(self.dialect(), Lineage::default())
    }
}
