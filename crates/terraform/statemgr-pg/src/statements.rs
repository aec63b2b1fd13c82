//! The statements on one table of states, which are those of Terraform where it has them.

use crate::config::PgSettings;

/// What tells one state from another, in the form that [`digest`](crate::store::digest) gives.
const DIGEST: &str = "encode(sha256(convert_to(data, 'UTF8')), 'hex')";

/// All statements.
#[derive(Clone)]
pub(crate) struct Statements {
    /// Data of a workspace.
    pub(crate) read: String,
    /// All names but `default`.
    pub(crate) list: String,
    /// The number of a row.
    pub(crate) row: String,
    /// The number of a row, which stays locked until the end of the transaction; its digest, and whether there is something.
    pub(crate) look_for_update: String,
    pub(crate) insert: String,
    pub(crate) update: String,
    pub(crate) delete: String,
    /// The number of a row and whether its advisory lock was had.
    pub(crate) lock_row: String,
    /// Puts a document of this session down.
    pub(crate) document: String,
    /// Removes the document of this session.
    pub(crate) forget: String,
    /// Removes the document of another session.
    pub(crate) forget_of: String,
    /// Removes documents of sessions that have ended.
    pub(crate) forget_ended: String,
    /// Documents of a workspace, and those of these processes.
    pub(crate) documents: String,
}

/// Who holds one of these keys in this database. Keys of one number have the half `objsubid` 1, and stand there in two halves without a
/// sign.
pub(crate) const HOLDERS: &str = "\
    SELECT held.key, held.pid, a.usename::text, a.application_name, host(a.client_addr) \
    FROM (SELECT pid, ((classid::bigint << 32) | objid::bigint) AS key FROM pg_locks \
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted \
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) held \
    LEFT JOIN pg_stat_activity a ON a.pid = held.pid WHERE held.key = ANY($1)";

/// How many of these keys this very session holds.
pub(crate) const OWN: &str = "\
    SELECT pg_backend_pid(), count(DISTINCT ((classid::bigint << 32) | objid::bigint)) FROM pg_locks \
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND pid = pg_backend_pid() \
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
    AND ((classid::bigint << 32) | objid::bigint) = ANY($1)";

/// Takes a key for the session, or says at once that it is held.
pub(crate) const TAKE: &str = "SELECT pg_try_advisory_lock($1)";
/// The same for a transaction.
pub(crate) const TAKE_FOR_TRANSACTION: &str = "SELECT pg_try_advisory_xact_lock($1)";
/// Frees a key; false if the session did not hold it.
pub(crate) const FREE: &str = "SELECT pg_advisory_unlock($1)";
/// Ends another session.
pub(crate) const TERMINATE: &str = "SELECT pg_terminate_backend($1)";
/// A session that does nothing for hours is what a lock is.
pub(crate) const STAY: &str = "\
    SELECT set_config(name, '0', false) FROM pg_settings \
    WHERE name IN ('idle_session_timeout', 'idle_in_transaction_session_timeout')";

impl Statements {
    pub(crate) fn on(settings: &PgSettings) -> Self {
        let t = format!("{}.{}", quoted(&settings.schema), quoted(&settings.table));
        let locks = format!("{}.{}", quoted(&settings.schema), quoted(LOCKS));
        let of_workspace = "states = $1 AND workspace = $2";
        Self {
            read: format!("SELECT data FROM {t} WHERE name = $1"),
            list: format!("SELECT name FROM {t} WHERE name != 'default' ORDER BY name"),
            row: format!("SELECT id FROM {t} WHERE name = $1"),
            look_for_update: format!(
                "SELECT id, {DIGEST}, coalesce(data, '') <> '' FROM {t} WHERE name = $1 FOR UPDATE"
            ),
            insert: format!("INSERT INTO {t} (name, data) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING"),
            update: format!("UPDATE {t} SET data = $2 WHERE name = $1"),
            delete: format!("DELETE FROM {t} WHERE name = $1"),
            lock_row: format!("SELECT id, pg_try_advisory_lock(id) FROM {t} WHERE name = $1"),
            document: format!(
                "INSERT INTO {locks} (states, workspace, process, process_start, document) \
                 SELECT $1, $2, pid, backend_start, $3 FROM pg_stat_activity WHERE pid = pg_backend_pid() \
                 ON CONFLICT (states, workspace, process) DO UPDATE \
                 SET process_start = EXCLUDED.process_start, document = EXCLUDED.document"
            ),
            forget: format!("DELETE FROM {locks} WHERE {of_workspace} AND process = pg_backend_pid()"),
            forget_of: format!("DELETE FROM {locks} WHERE {of_workspace} AND process = $3"),
            forget_ended: format!(
                "DELETE FROM {locks} d WHERE {of_workspace} \
                 AND NOT EXISTS (SELECT 1 FROM pg_stat_activity a WHERE a.pid = d.process)"
            ),
            // The start of another role's session may not be shown.
            documents: format!(
                "SELECT d.workspace, d.process, d.document FROM {locks} d \
                 LEFT JOIN pg_stat_activity a ON a.pid = d.process WHERE d.states = $1 AND d.process = ANY($2) \
                 AND (a.backend_start IS NULL OR a.backend_start = d.process_start)"
            ),
        }
    }
}

/// The table of lock documents, beside that of states.
pub(crate) const LOCKS: &str = "groundstate_locks";

/// A name in SQL.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
