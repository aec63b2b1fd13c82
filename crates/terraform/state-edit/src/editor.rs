//! The editor: a state with changes that are not written yet.

use std::io;

use groundstate_states::{Lineage, Serial};

use crate::diff::{Diff, diff};
use crate::error::WriteError;
use crate::working_set::{Changed, Source, WorkingSet};
use groundstate_statefile::Dialect;
use groundstate_statefile::Document;
use groundstate_statefile::Edit;
use groundstate_statefile::File;
use groundstate_statefile::ReadError;
use groundstate_statefile::WriterVersion;
use groundstate_statefile::{EncodeOptions, encode_to};

/// Changes to be made to a state.
#[derive(Debug)]
pub struct Editor<'d> {
    pub(crate) working_set: WorkingSet<'d>,
    /// An operation that puts everything back when it fails is running.
    in_attempt: bool,
}

impl<'d> Editor<'d> {
    /// Begins changes of a document, which is decoded only where it is touched.
    pub fn on_document(document: &'d Document) -> Self {
        Self::on(Source::Document(document))
    }

    /// Begins changes of a model: the way for documents of older formats.
    pub fn on_file(file: &'d File) -> Self {
        Self::on(Source::File(file))
    }

    fn on(source: Source<'d>) -> Self {
        Self { working_set: WorkingSet::new(source), in_attempt: false }
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
            for (file, resource) in
                [(&mut before, self.working_set.original(&address)?), (&mut after, resource)]
            {
                if let Some(resource) = resource {
                    let module = file.state.ensure_module(&address.module);
                    module.resources.insert(address.resource.clone(), resource);
                }
            }
        }
        Ok(diff(&before, &after))
    }

    /// The change of the document, ready to be written; nothing when it works on a model.
    ///
    /// # Errors
    ///
    /// None that [`Document::open`] has not found before.
    pub fn edit(&self) -> Result<Option<Edit<'d>>, ReadError> {
        let Source::Document(document) = &self.working_set.source else { return Ok(None) };
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
        let mut file = match &self.working_set.source {
            Source::Document(document) => document.to_file()?,
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
        for (address, resource) in &self.working_set.changed {
            if self.working_set.original(address)? != *resource {
                net.insert(address.clone(), resource.clone());
            }
        }
        Ok(net)
    }

    /// Runs an operation that leaves everything as it was when it fails.
    pub(crate) fn attempt<T, E>(
        &mut self,
        operation: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        // The outermost one puts everything back.
        if self.in_attempt {
            return operation(self);
        }
        let before = self.working_set.changed.clone();
        self.in_attempt = true;
        let result = operation(self);
        self.in_attempt = false;
        if result.is_err() {
            self.working_set.restore(before);
        }
        result
    }

    /// The dialect of the state, which says what the short names of providers mean.
    pub fn dialect(&self) -> Dialect {
        match &self.working_set.source {
            Source::Document(document) => document.dialect(),
            Source::File(file) => file.dialect,
        }
    }

    /// The release that wrote the state, if it says so.
    pub(crate) fn writer(&self) -> Option<&WriterVersion> {
        match &self.working_set.source {
            Source::Document(document) => document.terraform_version(),
            Source::File(file) => file.terraform_version.as_ref(),
        }
    }

    fn empty_file(&self) -> File {
        File::new(self.dialect(), Lineage::default())
    }
}
