//! Bodies: JSON, packed or not, unpacked as they come and charged by what is unpacked and decoded.

use std::io::{self, Write};

use axum::body::Body;
use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use groundstate_pulumi_protocol::decode;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use serde::de::DeserializeOwned;
use tokio::task::yield_now;

use crate::app::App;
use crate::body::{announced, next_piece};
use crate::budget::{Account, Refused};
use crate::problem::{Problem, ProblemType};

/// Bytes that every request with a body begins with.
const FIRST: u64 = 64 << 10;
/// From how many bytes on a document is decoded where it holds up no other request.
const LARGE: usize = 64 << 10;
/// How often a packed body may contain its own size, behind the first `UNPACKED_FREELY` bytes. States have 10 to 60, and the format allows 1032.
const MOST_RATIO: u64 = 200;
const UNPACKED_FREELY: u64 = 4 << 20;

/// Memory of a document beside its text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    /// For each byte: copies of texts.
    per_byte: u64,
    /// For each comma, colon or opening bracket: each value has at least one of them.
    per_mark: u64,
}

impl Cost {
    /// A document of names and numbers.
    const DOCUMENT: Self = Self { per_byte: 2, per_mark: 128 };
    /// A state, which is kept as text.
    pub(super) const STATE: Self = Self { per_byte: 3, per_mark: 8 };
    /// A list of texts that are read one by one.
    pub(super) const LIST: Self = Self { per_byte: 3, per_mark: 64 };
    /// A list of values, each of which is decoded, and answered with another one.
    pub(super) const VALUES: Self = Self { per_byte: 5, per_mark: 256 };
}

/// A request whose body is not read yet.
pub(super) struct Incoming<'a> {
    pub(super) app: &'a App,
    pub(super) account: &'a Account,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a mut Body,
}

/// Takes what comes in, up to a limit and to what there is memory for.
struct Unpacked<'a> {
    bytes: Vec<u8>,
    account: &'a Account,
    limit: usize,
    cost: Cost,
    marks: u64,
    charged: u64,
    /// How many bytes of the packed body have come; none for one that is not packed.
    packed: Option<u64>,
}

/// Why a body is not taken.
#[derive(Clone, Copy, Debug)]
enum Stop {
    TooLarge,
    Ratio,
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the body is not taken")
    }
}

impl std::error::Error for Stop {}

impl Unpacked<'_> {
    fn admit(&mut self, more: &[u8]) -> io::Result<()> {
        let size = self.bytes.len() + more.len();
        if size > self.limit {
            return Err(io::Error::other(Stop::TooLarge));
        }
        let unpacked = size as u64;
        let is_bomb =
            |packed: u64| unpacked > UNPACKED_FREELY && unpacked > packed.saturating_mul(MOST_RATIO);
        if self.packed.is_some_and(is_bomb) {
            return Err(io::Error::other(Stop::Ratio));
        }
        let is_mark = |byte: &&u8| matches!(byte, b',' | b':' | b'[' | b'{');
        self.marks += more.iter().filter(is_mark).count() as u64;
        let capacity = match size > self.bytes.capacity() {
            // By a quarter: what is reserved counts.
            true => size.max(self.bytes.capacity() + self.bytes.capacity() / 4).min(self.limit),
            false => self.bytes.capacity(),
        };
        let decoded = unpacked.saturating_mul(self.cost.per_byte);
        let decoded = decoded.saturating_add(self.marks.saturating_mul(self.cost.per_mark));
        let needed = decoded.saturating_add(capacity as u64);
        if let Some(missing) = needed.checked_sub(self.charged).filter(|missing| *missing > 0) {
            self.account.take(missing)?;
            self.charged = needed;
        }
        self.bytes.reserve_exact(capacity - self.bytes.len());
        Ok(())
    }
}

impl Write for Unpacked<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.admit(bytes)?;
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Incoming<'_> {
    /// A document of a few members, which is read before it is clear who sends it.
    pub(super) async fn tiny<T: DeserializeOwned>(self) -> Result<T, Problem> {
        let limit = self.app.limits().small_bytes;
        self.document(limit, Cost::DOCUMENT).await
    }

    /// A small document: all that is none of a state or of many secrets.
    pub(super) async fn small<T: DeserializeOwned>(self) -> Result<T, Problem> {
        /// Configurations of updates are in these.
        const LONGEST: usize = 4 << 20;
        self.document(LONGEST, Cost::DOCUMENT).await
    }

    /// A document of an engine that tells of its work.
    pub(super) async fn events<T: DeserializeOwned>(self) -> Result<T, Problem> {
        /// Each event has what one resource has at most.
        const LONGEST: usize = 64 << 20;
        let limit = self.state_limit().min(LONGEST);
        self.document(limit, Cost::VALUES).await
    }

    /// A document that may be as large as a state.
    pub(super) async fn large<T: DeserializeOwned>(self, cost: Cost) -> Result<T, Problem> {
        let limit = self.state_limit();
        self.document(limit, cost).await
    }

    async fn document<T: DeserializeOwned>(self, limit: usize, cost: Cost) -> Result<T, Problem> {
        let app = self.app;
        let bytes = self.bytes(limit, cost).await?;
        // Requests without anything to say may have no body, and empty maps are `null`.
        let text = if matches!(bytes.trim_ascii(), b"" | b"null") { &b"{}"[..] } else { &bytes };
        let decoded = match text.len() {
            ..LARGE => decode(text),
            _ => app.apart(|| decode(text)).await?,
        };
        decoded.map_err(|error| Problem::new(ProblemType::BadRequest, format!("Bad Request: {error}")))
    }

    /// The whole body, as large as a state at most.
    pub(super) async fn state(self) -> Result<Bytes, Problem> {
        let limit = self.state_limit();
        self.bytes(limit, Cost::STATE).await
    }

    fn state_limit(&self) -> usize {
        usize::try_from(self.app.limits().state_bytes).unwrap_or(usize::MAX)
    }

    fn is_packed(&self) -> Result<bool, Problem> {
        let encoding = self.headers.get(CONTENT_ENCODING).map(|value| value.as_bytes().to_ascii_lowercase());
        match encoding.as_deref() {
            None | Some(b"identity" | b"") => Ok(false),
            Some(b"gzip" | b"x-gzip") => Ok(true),
            Some(_) => {
                Err(Problem::new(ProblemType::UnsupportedMedia, "bodies are packed by gzip or not at all"))
            }
        }
    }

    async fn bytes(self, limit: usize, cost: Cost) -> Result<Bytes, Problem> {
        let is_packed = self.is_packed()?;
        if announced(self.headers).is_some_and(|length| length > limit as u64) {
            return Err(too_large(limit));
        }
        self.account.take_first(FIRST).await?;
        let packed = is_packed.then_some(0);
        let account = self.account;
        let mut plain =
            Unpacked { bytes: Vec::new(), account, limit, cost, marks: 0, charged: FIRST, packed };
        let failed = |error: io::Error| refusal(&error, limit);
        if !is_packed {
            while let Some(piece) = next_piece(self.body).await? {
                plain.write_all(&piece).map_err(failed)?;
                // Many pieces may be there already.
                yield_now().await;
            }
            return Ok(plain.bytes.into());
        }
        let mut unpacking = MultiGzDecoder::new(plain);
        while let Some(piece) = next_piece(self.body).await? {
            if let Some(packed) = &mut unpacking.get_mut().packed {
                *packed += piece.len() as u64;
            }
            self.app.apart(|| unpacking.write_all(&piece)).await?.map_err(failed)?;
        }
        Ok(unpacking.finish().map_err(failed)?.bytes.into())
    }
}

fn too_large(limit: usize) -> Problem {
    Problem::new(ProblemType::TooLarge, format!("the body has more than {limit} bytes"))
}

/// Why a body is refused.
fn refusal(error: &io::Error, limit: usize) -> Problem {
    if let Some(refused) = Refused::of(error) {
        return refused.into();
    }
    match error.get_ref().and_then(|error| error.downcast_ref::<Stop>()) {
        Some(Stop::TooLarge) => too_large(limit),
        Some(Stop::Ratio) => {
            let detail =
                format!("the body unpacks to more than {MOST_RATIO} times its size; send it unpacked");
            Problem::new(ProblemType::TooLarge, detail)
        }
        None => Problem::new(ProblemType::BadRequest, "Bad Request: the body is not packed by gzip"),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::{GzEncoder, MultiGzDecoder};

    use super::{Cost, UNPACKED_FREELY, Unpacked, refusal};
    use crate::budget::Budget;
    use crate::problem::ProblemType;

    const LIMIT: usize = 512 << 20;

    /// Unpacks as a request does, and gives the kind of the refusal.
    fn unpack(text: &[u8], cost: Cost, memory: u64) -> Result<usize, ProblemType> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(text).unwrap();
        let packed = packed.finish().unwrap();
        let budget = Budget::new(memory);
        let account = &budget.account(None, None);
        let size = Some(packed.len() as u64);
        let plain =
            Unpacked { bytes: Vec::new(), account, limit: LIMIT, cost, marks: 0, charged: 0, packed: size };
        let mut unpacking = MultiGzDecoder::new(plain);
        let written = unpacking.write_all(&packed).and_then(|()| unpacking.finish());
        let written = written.map_err(|error| refusal(&error, LIMIT).kind())?;
        let reserved = written.bytes.capacity() as u64;
        assert!(written.charged >= reserved + cost.per_byte * written.bytes.len() as u64);
        Ok(written.bytes.len())
    }

    #[test]
    fn body_that_unpacks_to_many_times_its_size_is_refused() {
        let zeros = vec![b' '; UNPACKED_FREELY as usize];
        assert_eq!(unpack(&zeros, Cost::STATE, 1 << 30), Ok(zeros.len()));
        let zeros = vec![b' '; UNPACKED_FREELY as usize + 1];
        assert_eq!(unpack(&zeros, Cost::STATE, 1 << 30), Err(ProblemType::TooLarge));
        let resources: String = (0..60_000_u32)
            .map(|number| {
                let id = number.wrapping_mul(2_654_435_761);
                format!(r#"{{"urn":"urn:pulumi:dev::shop::aws:s3/bucket:Bucket::bucket-{number}","id":"{id:x}"}},"#)
            })
            .collect();
        assert!(resources.len() as u64 > UNPACKED_FREELY);
        assert_eq!(unpack(resources.as_bytes(), Cost::STATE, 1 << 30), Ok(resources.len()));
    }

    #[test]
    fn many_small_values_cost_more_than_one_long_text() {
        let memory = 32 << 20;
        let long = vec![b'x'; 1 << 20];
        assert_eq!(unpack(&long, Cost::VALUES, memory), Ok(long.len()));
        let values = br#""","#.repeat(long.len() / 3);
        assert_eq!(unpack(&values, Cost::VALUES, memory), Err(ProblemType::TooLarge));
    }
}
