//! The same without async, for programs that have no runtime.
//!
//! ```
//! use groundstate_client::blocking;
//!
//! let state = blocking::open("tests/fixtures/shop.tfstate")?;
//! assert_eq!(state.outputs()?.get::<Vec<String>>("zones")?, ["a", "b"]);
//! # Ok::<(), groundstate_client::Error>(())
//! ```

use std::fmt;

use groundstate_state_edit::Editor;
use groundstate_statefile::File;
use groundstate_states::RawJson;
use groundstate_states::addr::AbsResourceInstance;
use tokio::runtime::{Builder, Runtime};

use crate::error::Error;
use crate::options::Options;
use crate::outputs::Outputs;

/// Finds the state that a text names, as [`crate::open`] does.
///
/// # Errors
///
/// Those of [`Options::open`], and [`Error::Runtime`].
pub fn open(state: &str) -> Result<Client, Error> {
    open_with(Options::new(), state)
}

/// The same with options.
///
/// # Errors
///
/// Those of [`open`].
pub fn open_with(options: Options, state: &str) -> Result<Client, Error> {
    // One runtime for the life of the client, because connections belong to the one that made them.
    let runtime = Builder::new_current_thread().enable_all().build().map_err(Error::Runtime)?;
    let client = runtime.block_on(options.open(state))?;
    Ok(Client { client, runtime })
}

/// [`crate::Client`] with a runtime of its own. Its methods panic inside of another runtime, where the async ones belong.
pub struct Client {
    client: crate::Client,
    runtime: Runtime,
}

impl Client {
    /// The root outputs.
    ///
    /// # Errors
    ///
    /// Those of [`crate::Client::outputs`].
    pub fn outputs(&self) -> Result<Outputs, Error> {
        self.runtime.block_on(self.client.outputs())
    }

    /// The addresses of all instances, in the order of `terraform state list`.
    ///
    /// # Errors
    ///
    /// Those of [`crate::Client::resources`].
    pub fn resources(&self) -> Result<Vec<AbsResourceInstance>, Error> {
        self.runtime.block_on(self.client.resources())
    }

    /// One attribute of an instance by its path; nothing if there is none.
    ///
    /// # Errors
    ///
    /// Those of [`crate::Client::attribute`].
    pub fn attribute(&self, address: &AbsResourceInstance, path: &str) -> Result<Option<RawJson>, Error> {
        self.runtime.block_on(self.client.attribute(address, path))
    }

    /// The whole state of any version, as a model.
    ///
    /// # Errors
    ///
    /// Those of [`crate::Client::state`].
    pub fn state(&self) -> Result<File, Error> {
        self.runtime.block_on(self.client.state())
    }

    /// Changes the state under its lock.
    ///
    /// # Errors
    ///
    /// Those of [`crate::Client::change`].
    pub fn change<T, E: From<Error>>(
        &self,
        work: impl FnOnce(&mut Editor<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.runtime.block_on(self.client.change(work))
    }

    /// The client without the runtime, for what it says of itself.
    pub fn client(&self) -> &crate::Client {
        &self.client
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").field(&self.client).finish()
    }
}
