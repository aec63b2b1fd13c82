//! Conditions on generations, from parameters or headers.

use super::error::{Refused, Result};
use crate::http::Request;
use crate::store::Object;

/// What a request asks of the object that is there.
#[derive(Debug, Default)]
pub(super) struct Preconditions {
    generation: Option<u64>,
    not_generation: Option<u64>,
    metageneration: Option<u64>,
}

impl Preconditions {
    /// Reads them from the parameters of the JSON interface or the headers of the XML interface.
    pub(super) fn of(request: &Request) -> Result<Self> {
        let number = |parameter: &str, header: &str| {
            let text = request.parameter(parameter).or_else(|| request.header(header).map(str::to_owned));
            let Some(text) = text else { return Ok(None) };
            let wrong = || Refused::invalid(&format!("Invalid value for {parameter}: {text}"));
            text.parse::<u64>().map(Some).map_err(|_| wrong())
        };
        Ok(Self {
            generation: number("ifGenerationMatch", "x-goog-if-generation-match")?,
            not_generation: number("ifGenerationNotMatch", "x-goog-if-generation-not-match")?,
            metageneration: number("ifMetagenerationMatch", "x-goog-if-metageneration-match")?,
        })
    }

    /// Checks a write, for which an object that is not there has generation 0.
    pub(super) fn check_write(&self, current: Option<&Object>) -> Result<()> {
        let generation = current.map_or(0, |object| object.generation);
        let met = self.generation.is_none_or(|wanted| wanted == generation)
            && self.not_generation.is_none_or(|unwanted| unwanted != generation)
            && self
                .metageneration
                .is_none_or(|wanted| current.is_some_and(|found| found.metageneration == wanted));
        if met { Ok(()) } else { Err(Refused::precondition()) }
    }

    /// Checks a read, which is answered by 304 if it asks for another generation than one that is known.
    pub(super) fn check_read(&self, object: &Object) -> Result<()> {
        if self.not_generation == Some(object.generation) {
            return Err(Refused::not_modified());
        }
        self.check_write(Some(object))
    }
}
