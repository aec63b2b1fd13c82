//! The statements on a table of this project's own. The collation of its keys is `C`, so the server compares and sorts them by bytes.

use super::settings::TableSettings;

/// What tells a content from every other: a number of the sequence, and the time, which tells numbers apart that come again because the
/// database was brought back from a backup.
const VERSION: &str =
    "(b.version::text || '-' || (round(extract(epoch from b.updated_at) * 1000000)::bigint)::text)";
/// What is known of a blob beside its content, by the names that the store reads.
const DESCRIBED: &str = "round(extract(epoch from b.updated_at) * 1000000)::bigint AS micros, \
     octet_length(b.content)::bigint AS size, b.content_type, b.metadata::text AS metadata";

/// All statements on one table.
#[derive(Clone)]
pub(crate) struct Statements {
    pub(crate) read: String,
    pub(crate) read_range: String,
    pub(crate) look: String,
    pub(crate) put: String,
    pub(crate) create: String,
    pub(crate) replace: String,
    pub(crate) delete: String,
    pub(crate) delete_version: String,
    pub(crate) list: String,
    pub(crate) list_level: String,
    pub(crate) create_table: String,
    /// The name of the table in SQL.
    pub(crate) table: String,
}

impl Statements {
    pub(crate) fn on(settings: &TableSettings) -> Self {
        let in_schema = |name: &str| match settings.schema() {
            Some(schema) => format!("\"{schema}\".\"{name}\""),
            None => format!("\"{name}\""),
        };
        let t = in_schema(settings.table());
        let sequence = in_schema(&format!("{}_version", settings.table()));
        let next = format!("nextval('{sequence}')");
        let insert = format!(
            "INSERT INTO {t} AS b (key, content, content_type, metadata, version, updated_at) \
             VALUES ($1, $2, $3, $4::text::jsonb, {next}, clock_timestamp()) ON CONFLICT (key)"
        );
        let described = format!("{VERSION} AS version, {DESCRIBED}");
        let within = "b.key >= $1 AND ($2::text IS NULL OR b.key < $2)";
        Self {
            // A content that the reader has already stays where it is.
            read: format!(
                "SELECT {described}, CASE WHEN {VERSION} = $2::text THEN NULL ELSE b.content END FROM {t} b WHERE b.key = $1"
            ),
            read_range: format!(
                "SELECT {described}, substring(b.content from $2 for $3) FROM {t} b WHERE b.key = $1"
            ),
            look: format!("SELECT {described} FROM {t} b WHERE b.key = $1"),
            put: format!(
                "{insert} DO UPDATE SET content = EXCLUDED.content, content_type = EXCLUDED.content_type, \
                 metadata = EXCLUDED.metadata, version = EXCLUDED.version, updated_at = EXCLUDED.updated_at RETURNING {VERSION}"
            ),
            create: format!("{insert} DO NOTHING RETURNING {VERSION}"),
            replace: format!(
                "UPDATE {t} AS b SET content = $2, content_type = $3, metadata = $4::text::jsonb, version = {next}, \
                 updated_at = clock_timestamp() WHERE b.key = $1 AND {VERSION} = $5 RETURNING {VERSION}"
            ),
            delete: format!("DELETE FROM {t} b WHERE b.key = $1"),
            delete_version: format!("DELETE FROM {t} b WHERE b.key = $1 AND {VERSION} = $2"),
            list: format!(
                "SELECT {described}, b.key, false FROM {t} b WHERE {within} ORDER BY b.key LIMIT $3"
            ),
            list_level: list_level(&t, &described, within),
            create_table: create_table(settings, &t, &sequence),
            table: t,
        }
    }
}

/// The names of one level. Each is found by the index from the one before, so a folder costs as much as a blob, however much is in it.
/// `$4` is the place in the key at which the names of the level begin.
fn list_level(t: &str, described: &str, within: &str) -> String {
    let slash = "strpos(substr(level.key, $4), '/')";
    let folder = format!("left(level.key, $4 + {slash} - 1)");
    // `0` follows `/`, and no character of a key comes before the first.
    let next = format!(
        "CASE WHEN {slash} > 0 THEN left(level.key, $4 + {slash} - 2) || '0' ELSE level.key || chr(1) END"
    );
    let rest = within.replacen("$1", &next, 1);
    format!(
        "WITH RECURSIVE level AS ( \
         (SELECT b.key FROM {t} b WHERE {within} ORDER BY b.key LIMIT 1) UNION ALL \
         SELECT (SELECT b.key FROM {t} b WHERE {rest} ORDER BY b.key LIMIT 1) FROM level WHERE level.key IS NOT NULL), \
         page AS (SELECT level.key, {slash} > 0 AS is_folder, CASE WHEN {slash} > 0 THEN {folder} ELSE level.key END AS name \
         FROM level WHERE level.key IS NOT NULL LIMIT $3) \
         SELECT {described}, page.name, page.is_folder FROM page \
         LEFT JOIN {t} b ON b.key = page.key AND NOT page.is_folder ORDER BY page.name"
    )
}

/// One message of several statements is one transaction, which holds the lock: clients that come first at the same time take turns.
fn create_table(settings: &TableSettings, t: &str, sequence: &str) -> String {
    let (table, schema) = (settings.table(), settings.schema());
    let make_schema = schema.map(|schema| {
        // A role that may not create schemas can use one that exists.
        format!(
            "DO $$ BEGIN IF to_regnamespace('{schema}') IS NULL THEN CREATE SCHEMA \"{schema}\"; END IF; END $$; "
        )
    });
    format!(
        "SELECT pg_advisory_xact_lock(hashtext('groundstate-blobs'), hashtext('{}.{table}')); {}\
         CREATE SEQUENCE IF NOT EXISTS {sequence} AS bigint; \
         CREATE TABLE IF NOT EXISTS {t} (key text COLLATE \"C\" PRIMARY KEY, \
         version bigint NOT NULL DEFAULT nextval('{sequence}'), content bytea NOT NULL, content_type text, \
         metadata jsonb NOT NULL DEFAULT '{{}}', updated_at timestamp with time zone NOT NULL DEFAULT clock_timestamp()); \
         ALTER TABLE {t} ALTER COLUMN content SET STORAGE EXTERNAL; \
         ALTER SEQUENCE {sequence} OWNED BY {t}.version",
        schema.unwrap_or_default(),
        make_schema.unwrap_or_default(),
    )
}
