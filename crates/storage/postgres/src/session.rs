//! A connection that one caller has for itself.

use std::fmt;
use std::ops::{Deref, DerefMut};

use tokio_postgres::Client;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{Error, Result};
use crate::settings::Settings;
use crate::tls;

/// One connection to one process of the server, for as long as this value lives.
///
/// It is never opened again: once it is lost, so is what lived in it, and every statement fails. Both sides ask whether the other is
/// there, so that a connection that silently ended is noticed in about two minutes. Dropping it closes the connection, and
/// the server then frees what the session held.
pub struct Session {
    client: Client,
    backend: i32,
    place: String,
}

impl Session {
    /// Connects, and asks for the number of the process that serves it.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Unauthenticated`, `NotFound` for a database that does not exist, `Denied` for a password file that others may
    /// read, `Invalid` for certificates that cannot be read and where TLS does not fit.
    pub async fn connect(settings: &Settings) -> Result<Self> {
        let connect = MakeRustlsConnect::new(tls::client_config(settings)?);
        let place = settings.to_string();
        let (config, is_guarded) = settings.config_with_password()?;
        let opened = config.connect(connect).await;
        let (client, connection) = opened.map_err(|error| Error::of_connection(&place, is_guarded, error))?;
        tokio::spawn(async move {
            // What ends it fails the statement that waits, and every one after.
            drop(connection.await);
        });
        let row = client.query_typed_one("SELECT pg_backend_pid()", &[]).await;
        let backend =
            row.and_then(|row| row.try_get(0)).map_err(|error| Error::of_statement(&place, false, error))?;
        Ok(Self { client, backend, place })
    }

    /// The number of the server's process, as `pg_locks` and `pg_stat_activity` show it.
    pub fn backend(&self) -> i32 {
        self.backend
    }

    /// Whether the connection has ended, as far as is known here.
    pub fn is_lost(&self) -> bool {
        self.client.is_closed()
    }
}

impl Deref for Session {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({}, process {})", self.place, self.backend)
    }
}
