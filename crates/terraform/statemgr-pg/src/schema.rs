//! Schema, sequence, table and index, made where they are missing, in the order of the originals.

use groundstate_postgres::tokio_postgres::Client;
use groundstate_postgres::tokio_postgres::types::Type;
use groundstate_postgres::was_created_meanwhile;
use groundstate_statemgr::{Error, ErrorKind, Op, Result};

use crate::config::PgSettings;
use crate::database::Parameter;
use crate::failure::of_statement;
use crate::statements::{LOCKS, quoted};

/// Clients of the originals take no lock when they create, so their attempts may get in the way.
const ATTEMPTS: usize = 5;
/// Our own clients take turns.
const TURN: &str = "SELECT pg_advisory_xact_lock(hashtext('groundstate-statemgr-pg'), 0); ";

/// What is there.
struct Found {
    schema: bool,
    sequence: bool,
    table: bool,
    index: bool,
}

/// Creates what is missing and may be created.
pub(crate) async fn create(client: &Client, settings: &PgSettings, op: Op) -> Result<()> {
    let mut attempt = 0;
    loop {
        let found = look(client, settings, op).await?;
        let statements = missing(settings, &found, op)?;
        if statements.is_empty() {
            return Ok(());
        }
        attempt += 1;
        // One message of several statements is one transaction, which holds the lock.
        match client.batch_execute(&format!("{TURN}{}", statements.join("; "))).await {
            Ok(()) => return Ok(()),
            Err(error) if attempt < ATTEMPTS && was_created_meanwhile(&error) => {}
            Err(error) => return Err(denied(of_statement(op, settings, false, error))),
        }
    }
}

/// Creates the table of lock documents. That it cannot be created is no failure: locks are then without documents, as those of the
/// originals are.
pub(crate) async fn create_locks(client: &Client, settings: &PgSettings) {
    if settings.skip_table {
        return;
    }
    let locks = format!("{}.{}", quoted(&settings.schema), quoted(LOCKS));
    let exists = client.query_typed_one("SELECT to_regclass($1) IS NOT NULL", &[(&locks, Type::TEXT)]).await;
    if exists.and_then(|row| row.try_get(0)).unwrap_or(false) {
        return;
    }
    let statements = format!(
        "{TURN}CREATE TABLE IF NOT EXISTS {locks} (states text NOT NULL, workspace text NOT NULL, process integer NOT NULL, \
         process_start timestamp with time zone, document text NOT NULL, PRIMARY KEY (states, workspace, process))"
    );
    if let Err(error) = client.batch_execute(&statements).await {
        let code = error.code().map_or("none", |code| code.code());
        tracing::debug!(place = %settings, code, "locks are without documents");
    }
}

async fn look(client: &Client, settings: &PgSettings, op: Op) -> Result<Found> {
    let schema = quoted(&settings.schema);
    let within = |name: &str| format!("{schema}.{}", quoted(name));
    let sql = "SELECT to_regnamespace($1) IS NOT NULL, to_regclass('public.global_states_id_seq') IS NOT NULL, \
               to_regclass($2) IS NOT NULL, to_regclass($3) IS NOT NULL";
    let (table, index) = (within(&settings.table), within(&settings.index));
    let parameters: [Parameter<'_>; 3] = [(&schema, Type::TEXT), (&table, Type::TEXT), (&index, Type::TEXT)];
    let row = client.query_typed_one(sql, &parameters).await;
    let failed = |error| of_statement(op, settings, false, error);
    let row = row.map_err(failed)?;
    let flag = |column: usize| row.try_get(column).map_err(failed);
    Ok(Found { schema: flag(0)?, sequence: flag(1)?, table: flag(2)?, index: flag(3)? })
}

/// The statements that are still to be carried out.
fn missing(settings: &PgSettings, found: &Found, op: Op) -> Result<Vec<String>> {
    let lacking = |what: &str, option: &str| {
        Error::new(ErrorKind::NotFound, op, settings).because(format!(
            "there is no such {what}, and {option} is set; create it, or leave the option out"
        ))
    };
    let schema = quoted(&settings.schema);
    let table = format!("{schema}.{}", quoted(&settings.table));
    let mut statements = Vec::new();
    if !found.schema {
        if settings.skip_schema {
            return Err(lacking("schema", "skip_schema_creation"));
        }
        statements.push(format!("CREATE SCHEMA IF NOT EXISTS {schema}"));
    }
    if !found.table {
        if settings.skip_table {
            return Err(lacking("table", "skip_table_creation"));
        }
        // In `public` on purpose: keys of advisory locks are those of the database, so rows of all schemas have different numbers.
        if !found.sequence {
            statements.push("CREATE SEQUENCE IF NOT EXISTS public.global_states_id_seq AS bigint".to_owned());
        }
        statements.push(format!(
            "CREATE TABLE IF NOT EXISTS {table} (id bigint NOT NULL DEFAULT nextval('public.global_states_id_seq') PRIMARY KEY, \
             name text UNIQUE, data text)"
        ));
    }
    if !found.index && !settings.skip_index {
        statements
            .push(format!("CREATE UNIQUE INDEX IF NOT EXISTS {} ON {table} (name)", quoted(&settings.index)));
    }
    Ok(statements)
}

/// Says which rights it takes.
fn denied(error: Error) -> Error {
    if error.kind() != ErrorKind::Denied {
        return error;
    }
    let step =
        "grant CREATE on the database and on the schema public, or have its owner run `terraform init` once";
    let message = format!("{}; {step}", error.reason());
    Error::new(ErrorKind::Denied, error.op(), error.target().to_owned()).because(message).with_source(error)
}
