//! Clocks, id sources, randomness, text on one line and the identifier macro of the groundstate crates.
//!
//! Time and randomness are arguments here: pure crates take a [`Clock`] and an [`IdSource`], programs hand them the
//! machine's, tests hand them fixed ones.
//!
//! ```
//! use groundstate_common::{Clock, FixedClock, IdSource, SequenceIds, Timestamp, string_id};
//!
//! string_id! {
//!     /// The id of a lock.
//!     pub struct LockId: "lock id" = |text: &str| match text {
//!         "" => Err("it is empty"),
//!         _ => Ok(()),
//!     };
//! }
//!
//! fn lock(clock: &dyn Clock, ids: &dyn IdSource) -> Result<String, Box<dyn std::error::Error>> {
//!     let id = LockId::parse(&ids.uuid()?)?;
//!     Ok(format!("{id} taken at {}", clock.now()))
//! }
//!
//! let clock = FixedClock::new(Timestamp::parse("2026-03-01T12:30:00+01:00")?);
//! assert_eq!(
//!     lock(&clock, &SequenceIds::new())?,
//!     "00000000-0000-0000-0000-000000000001 taken at 2026-03-01T11:30:00Z",
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is deliberately absent
//!
//! - Time zones and calendars beyond UTC in RFC 3339; a [`Timestamp`] is an instant, nothing more.
//! - Any global clock or generator: they are passed in.
//! - Access to the operating system, unless the feature `os` is on.
//!
//! # Features
//!
//! - `serde` (off by default): [`Severity`] as its word, [`Timestamp`] as its text.
//! - `os` (off by default): `SystemClock`, `OsIds` and `OsEntropy`, the implementations that ask the operating system. Without it
//!   the crate builds for targets that have neither a clock nor a random generator.

mod backoff;
mod causes;
mod clock;
mod entropy;
mod failure;
mod ids;
mod in_turn;
mod newtype;
mod origin;
#[cfg(feature = "os")]
mod os;
mod rfc3339;
#[cfg(feature = "serde")]
mod serialization;
mod severity;
mod sleeper;
mod text;
mod timestamp;

pub use backoff::{Backoff, jittered};
pub use causes::{WithCauses, with_causes};
pub use clock::{Clock, FixedClock};
pub use entropy::{Entropy, EntropyError};
pub use failure::ThreadFailure;
pub use ids::{IdSource, IdSourceError, SequenceIds, uuid_text};
pub use in_turn::in_turn;
pub use newtype::InvalidId;
pub use origin::Origin;
#[cfg(feature = "os")]
pub use os::{OsEntropy, OsIds, SystemClock};
pub use severity::Severity;
pub use sleeper::Sleeper;
pub use text::{hex, is_hidden, one_line, push_escaped, shell_command, shell_word, shortened, unhex};
pub use timestamp::{Timestamp, TimestampError};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
