//! Connections for statements that do not care which connection carries them.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, PoolError, RecyclingMethod, Runtime};
use tokio_postgres::Client;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;
use crate::settings::Settings;
use crate::tls;

/// How long a caller waits for a connection.
const WAIT: Duration = Duration::from_secs(120);

/// A few connections, which are opened when they are needed, and opened again when they were lost.
///
/// Nothing may live in one of them between two statements: the next caller gets any of them, and a pooler such as PgBouncer may
/// send each statement to another process of the server.
#[derive(Clone)]
pub struct Pool {
    pool: deadpool_postgres::Pool,
    place: String,
    is_guarded: bool,
}

impl Pool {
    /// Up to `most` connections. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// `Invalid` for certificates that cannot be read, `Denied` for a password file that others may read.
    pub fn open(settings: &Settings, most: usize) -> Result<Self> {
        let connect = MakeRustlsConnect::new(tls::client_config(settings)?);
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let (config, is_guarded) = settings.config_with_password()?;
        let manager = Manager::from_config(config, connect, recycling);
        let pool = deadpool_postgres::Pool::builder(manager)
            .max_size(most)
            .wait_timeout(Some(WAIT))
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| Error::new(ErrorKind::Internal, Op::Open, settings).with_source(error))?;
        Ok(Self { pool, place: settings.to_string(), is_guarded })
    }

    /// A connection, once one is free.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Unauthenticated`, `NotFound` for a database that does not exist, `Invalid` where TLS does not fit.
    pub async fn get(&self) -> Result<Pooled> {
        match self.pool.get().await {
            Ok(object) => Ok(Pooled(object)),
            Err(PoolError::Backend(error)) => Err(Error::of_connection(&self.place, self.is_guarded, error)),
            Err(other) => Err(Error::new(ErrorKind::Unavailable, Op::Connect, &self.place)
                .because("no connection became free in time")
                .with_source(other)),
        }
    }
}

impl fmt::Debug for Pool {
    /// The pool's own would show how to connect.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pool({})", self.place)
    }
}

/// A connection of a [`Pool`], which goes there again when this is dropped.
pub struct Pooled(Object);

impl Pooled {
    /// Closes the connection. One that carried much keeps buffers of that size for as long as it is open.
    pub fn close(self) {
        drop(Object::take(self.0));
    }
}

impl Deref for Pooled {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.0
    }
}

impl DerefMut for Pooled {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.0
    }
}

impl fmt::Debug for Pooled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pooled")
    }
}
