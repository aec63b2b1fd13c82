//! Bodies: JSON, packed or not.

use std::io::Write as _;

use axum::body::Body;
use bytes::Bytes;
use groundstate_pulumi_protocol::decode;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use serde::de::DeserializeOwned;

use crate::body::{announced, next_piece};
use crate::limits::Limits;
use crate::problem::{Problem, ProblemType};

/// A request whose body is not read yet.
pub(super) struct Incoming<'a> {
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a mut Body,
    pub(super) limits: &'a Limits,
}

/// Unpacks what comes in, up to a limit.
struct Unpacked {
    bytes: Vec<u8>,
    limit: usize,
}

impl std::io::Write for Unpacked {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.limit {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Incoming<'_> {
    /// A document of a few members, which is read before it is clear who sends it.
    pub(super) async fn tiny<T: DeserializeOwned>(self) -> Result<T, Problem> {
        let limit = self.limits.small_bytes;
        self.document(limit).await
    }

    /// A small document: all that is none of a state or of many secrets.
    pub(super) async fn small<T: DeserializeOwned>(self) -> Result<T, Problem> {
        /// Configurations of updates are in these.
        const LONGEST: usize = 4 << 20;
        self.document(LONGEST).await
    }

    /// A document that may be as large as a state.
    pub(super) async fn large<T: DeserializeOwned>(self) -> Result<T, Problem> {
        let limit = self.state_limit();
        self.document(limit).await
    }

    async fn document<T: DeserializeOwned>(self, limit: usize) -> Result<T, Problem> {
        let bytes = self.bytes(limit).await?;
        // Requests without anything to say may have no body, and empty maps are `null`.
        let text = if matches!(bytes.trim_ascii(), b"" | b"null") { &b"{}"[..] } else { &bytes };
        decode(text).map_err(|error| Problem::new(ProblemType::BadRequest, format!("Bad Request: {error}")))
    }

    /// The whole body, as large as a state at most.
    pub(super) async fn state(self) -> Result<Bytes, Problem> {
        let limit = self.state_limit();
        self.bytes(limit).await
    }

    fn state_limit(&self) -> usize {
        usize::try_from(self.limits.state_bytes).unwrap_or(usize::MAX)
    }

    async fn bytes(self, limit: usize) -> Result<Bytes, Problem> {
        let too_large =
            || Problem::new(ProblemType::TooLarge, format!("the body has more than {limit} bytes"));
        let encoding = self.headers.get(CONTENT_ENCODING).map(|value| value.as_bytes().to_ascii_lowercase());
        let is_packed = match encoding.as_deref() {
            None | Some(b"identity" | b"") => false,
            Some(b"gzip" | b"x-gzip") => true,
            Some(_) => {
                return Err(Problem::new(
                    ProblemType::UnsupportedMedia,
                    "bodies are packed by gzip or not at all",
                ));
            }
        };
        if announced(self.headers).is_some_and(|length| length > limit as u64) {
            return Err(too_large());
        }
        let mut plain = Unpacked { bytes: Vec::new(), limit };
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::FileTooLarge => too_large(),
            _ => Problem::new(ProblemType::BadRequest, "Bad Request: the body is not packed by gzip"),
        };
        if !is_packed {
            while let Some(piece) = next_piece(self.body).await? {
                plain.write_all(&piece).map_err(failed)?;
            }
            return Ok(plain.bytes.into());
        }
        let mut unpacking = flate2::write::MultiGzDecoder::new(plain);
        while let Some(piece) = next_piece(self.body).await? {
            unpacking.write_all(&piece).map_err(failed)?;
        }
        Ok(unpacking.finish().map_err(failed)?.bytes.into())
    }
}
