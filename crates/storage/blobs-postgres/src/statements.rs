//! The statements. `{t}` is the quoted name of the table.
//!
//! Bounds use the operators of `text_pattern_ops`, which compare bytes whatever the collation is, and which the index of the
//! table serves.

/// What tells a row from the one before: the transaction that wrote it, and its time. Every write is a transaction of its own, also
/// the original's, so the number is another one each time; the time tells the numbers apart when they come round.
pub(crate) const VERSION: &str =
    "(xmin::text || '-' || (round(extract(epoch from updated_at) * 1000000)::bigint)::text)";

/// Microseconds since 1970.
const MICROS: &str = "round(extract(epoch from updated_at) * 1000000)::bigint";

/// The size of the content: three bytes for four characters, without those that fill up.
const SIZE: &str = "(octet_length(rtrim(data->>'data', '='))::bigint * 3 / 4)";

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
}

impl Statements {
    /// Those on the table of this name, which is lower case and has no quotes.
    pub(crate) fn on(table: &str) -> Self {
        let t = format!("\"{table}\"");
        let insert = format!("INSERT INTO {t} (key, data) VALUES ($1, $2) ON CONFLICT (key)");
        let within = "key ~>=~ $1 AND ($2::text IS NULL OR key ~<~ $2)";
        let described = format!("{VERSION} AS version, {MICROS} AS micros, {SIZE} AS size");
        Self {
            read: format!("SELECT data, {VERSION}, {MICROS} FROM {t} WHERE key = $1"),
            read_range: format!(
                "SELECT substr(d.content, $2, $3), {VERSION}, {MICROS}, octet_length(d.content)::bigint FROM {t}, \
                 LATERAL (SELECT decode(data->>'data', 'base64') AS content OFFSET 0) d WHERE key = $1"
            ),
            look: format!("SELECT {described} FROM {t} WHERE key = $1"),
            put: format!(
                "{insert} DO UPDATE SET data = EXCLUDED.data, updated_at = now() RETURNING {}",
                returned(&t)
            ),
            create: format!("{insert} DO NOTHING RETURNING {}", returned(&t)),
            replace: format!(
                "UPDATE {t} SET data = $2, updated_at = now() WHERE key = $1 AND {VERSION} = $3 RETURNING {VERSION}"
            ),
            delete: format!("DELETE FROM {t} WHERE key = $1"),
            delete_version: format!("DELETE FROM {t} WHERE key = $1 AND {VERSION} = $2"),
            list: format!(
                "WITH page AS (SELECT key AS name FROM {t} WHERE {within} AND ($3::text IS NULL OR key ~>~ $3) \
                 ORDER BY key USING ~<~ LIMIT $4) \
                 SELECT page.name, false, rows.version, rows.micros, rows.size FROM page \
                 JOIN LATERAL (SELECT {described} FROM {t} WHERE key = page.name) rows ON true \
                 ORDER BY page.name USING ~<~"
            ),
            list_level: format!(
                "WITH level AS (SELECT key, strpos(substr(key, char_length($1) + 1), '/') AS slash FROM {t} WHERE {within}), \
                 names AS (SELECT CASE WHEN slash > 0 THEN left(key, char_length($1) + slash) ELSE key END AS name, \
                 slash > 0 AS folder FROM level), \
                 page AS (SELECT name, folder FROM names WHERE $3::text IS NULL OR name ~>~ $3 \
                 GROUP BY name, folder ORDER BY name USING ~<~ LIMIT $4) \
                 SELECT page.name, page.folder, rows.version, rows.micros, rows.size FROM page \
                 LEFT JOIN LATERAL (SELECT {described} FROM {t} WHERE key = page.name AND NOT page.folder) rows ON true \
                 ORDER BY page.name USING ~<~"
            ),
            // One message of several statements is one transaction, which holds the lock.
            create_table: format!(
                "SELECT pg_advisory_xact_lock(hashtext('groundstate-blobs'), hashtext('{table}')); \
                 CREATE TABLE IF NOT EXISTS {t} (key TEXT PRIMARY KEY, data JSON NOT NULL, \
                 updated_at TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT now()); \
                 CREATE INDEX IF NOT EXISTS \"{table}_key_prefix_idx\" ON {t} (key text_pattern_ops)"
            ),
        }
    }
}

/// In an insertion the columns of the table and those of `EXCLUDED` have the same names.
fn returned(table: &str) -> String {
    VERSION.replace("xmin", &format!("{table}.xmin")).replace("updated_at", &format!("{table}.updated_at"))
}
