//! Secrets under a passphrase: the managers of the type `passphrase`.

mod open;
mod salt;
mod source;

pub use open::{OpenError, UnlockError, choose, create, create_from_source, open, providers, salt, unlock};
pub(crate) use open::{inspect, open_with};
pub use salt::{ITERATIONS, Salt, SaltError};
pub use source::{
    Answer, GivenPassphrase, PassphraseRequest, PassphraseSource, PassphraseSourceError, Purpose,
};

/// The type of these managers in `secrets_providers`.
pub const TYPE: &str = "passphrase";
