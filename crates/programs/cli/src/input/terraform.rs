//! A state of Terraform or OpenTofu: reads the whole of it into the model, and explains why it cannot be.

use std::borrow::Cow;
use std::ops::Deref;

use groundstate_common::shell_command;
use groundstate_statefile::{Code, DecodeOptions, Dialect, Document, File, ReadError, decode};
use groundstate_states::addr::AbsResource;

use crate::input::encryption;
use crate::input::foreign;
use crate::input::packed;
use crate::input::source::Source;
use crate::input::threads::{shared, threads};
use crate::report::diagnostic::Diagnostic;
use crate::report::error::{Failure, Kind, Result};

/// A state that has been found, but not read, and is judged as Terraform's or OpenTofu's.
#[derive(Debug)]
pub(crate) struct TerraformState(Source);

impl TerraformState {
    pub(crate) fn new(source: Source) -> Self {
        Self(source)
    }
}

impl Deref for TerraformState {
    type Target = Source;

    fn deref(&self) -> &Source {
        &self.0
    }
}

/// A state and the text it was read from.
#[derive(Debug)]
pub(crate) struct Loaded<'s> {
    pub(crate) file: File,
    pub(crate) text: Cow<'s, [u8]>,
}

/// Reads the state of any version.
pub(crate) fn load(source: &TerraformState) -> Result<Loaded<'_>> {
    load_with(source, DecodeOptions::default())
}

/// Reads the state of any version, and upgrades an older one for this product: its provider addresses have no registry.
pub(crate) fn load_upgraded(source: &TerraformState, dialect: Option<Dialect>) -> Result<Loaded<'_>> {
    let loaded = load(source)?;
    match dialect {
        Some(dialect) if loaded.file.style.source_version < 4 => {
            load_with(source, DecodeOptions::default().dialect(dialect))
        }
        _ => Ok(loaded),
    }
}

fn load_with<'s>(source: &'s TerraformState, options: DecodeOptions) -> Result<Loaded<'s>> {
    let text = source.text()?;
    match decode(&text, &options.threads(threads())) {
        Ok(file) if file.style.source_version == 3 && file.state.is_empty() => {
            match foreign::backend_record(&source.name, &text) {
                Some(failure) => Err(failure),
                None => Ok(Loaded { file, text }),
            }
        }
        Ok(file) => Ok(Loaded { file, text }),
        Err(error) => Err(failure(&error, &source.name, &text)),
    }
}

/// Reads the state, or nothing if the file is empty: then no snapshot has been stored yet.
pub(crate) fn load_if_any(source: &TerraformState) -> Result<Option<Loaded<'_>>> {
    match load(source) {
        Err(failure) if failure.no_snapshot => Ok(None),
        other => other.map(Some),
    }
}

/// Reads one resource; the file that is returned holds nothing else.
///
/// A state of the current format is only indexed, which takes a part of the time and memory of its model.
pub(crate) fn load_resource(source: &TerraformState, address: &AbsResource) -> Result<Option<File>> {
    let Ok(document) = Document::open_with(source.text()?.into_owned(), &shared()) else {
        return Ok(load_if_any(source)?.map(|loaded| loaded.file));
    };
    let found = document.resource(address).map_err(|error| failure(&error, &source.name, document.text()))?;
    let mut file = File::new(document.dialect(), document.lineage());
    file.terraform_version = document.terraform_version().cloned();
    if let Some(resource) = found {
        let module = file.state.ensure_module(&address.module);
        module.resources.insert(address.resource.clone(), resource.into());
    }
    Ok(Some(file))
}

/// Explains why a text cannot be read.
pub(crate) fn failure(error: &ReadError, name: &str, text: &[u8]) -> Failure {
    if encryption::is_plan(text) {
        return encryption::plan(name);
    }
    if encryption::is_envelope(text) {
        return encryption::no_configuration(name);
    }
    if let Some(failure) = packed::damage(text, name) {
        return failure;
    }
    if let Some(failure) = foreign::recognise(name, text) {
        return failure;
    }
    let kind = match error {
        ReadError::NotState(_) => Kind::NotState,
        ReadError::NoState => {
            let failure = Failure::new(Kind::NoState, format!("{name} is empty, so it holds no state"));
            return Failure { no_snapshot: true, ..failure };
        }
        _ => Kind::Unusable,
    };
    let failure = Failure::of(kind, Diagnostic::problems(error.problems(), name, text));
    let has = |code| error.problems().iter().any(|problem| problem.code == code);
    if has(Code::DuplicateCurrent) || has(Code::DuplicateDeposed) {
        let command = shell_command("groundstate repair", &[name]);
        return failure.hint(format!("`{command}` asks which of the objects stays"));
    }
    // Only a state that can be salvaged is worth the advice, whatever it begins with.
    match has(Code::Syntax) && groundstate_statefile::salvage(text).is_ok() {
        true => failure.hint(format!("`{}` recovers what is complete in it", salvage(name))),
        false => failure,
    }
}

/// The command that recovers what it can of a damaged state.
pub(crate) fn salvage(name: &str) -> String {
    let argument = if name == "<stdin>" { "-" } else { name };
    format!("{} -o recovered.tfstate", shell_command("groundstate salvage", &[argument]))
}
