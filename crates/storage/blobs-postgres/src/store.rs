//! `PostgresBlobs`: implements `BlobStore` by one statement for each operation.

use std::fmt;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{
    Attributes, Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, Error, ErrorKind,
    GetOptions, Key, LeaseId, Leases, ListOptions, Listed, Op, Page, PageToken, Precondition, PutOptions,
    Result, traced,
};
use groundstate_postgres::tokio_postgres::Row;
use groundstate_postgres::tokio_postgres::types::{ToSql, Type};

use crate::bounds::behind;
use crate::connections::{Connections, Parameter, field, time, window};
use crate::content::{Content, LONGEST, Text};
use crate::settings::PostgresSettings;
use crate::statements::Statements;

/// As many as most services give.
const PAGE: usize = 1000;
/// Connections of one store.
const CONNECTIONS: usize = 8;

/// A client of a table.
///
/// - Up to eight connections are opened when they are needed, and opened again when they were lost.
/// - Each operation is one statement without a name, so it does not matter which connection of a pooler carries it.
/// - A version is the number of the transaction that wrote the row, and its time. It changes with every write, also those of other
///   programs.
/// - Contents up to about 750 MiB; a longer one is refused as `Invalid` before it is sent.
#[derive(Clone)]
pub struct PostgresBlobs {
    connections: Connections,
    statements: Statements,
    table: String,
}

impl PostgresBlobs {
    /// A client that connects when it is first used.
    ///
    /// # Errors
    ///
    /// `Invalid` for certificates that cannot be read, `Denied` for a password file that others may read.
    pub fn open(settings: &PostgresSettings) -> Result<Self> {
        let columns = "key, data and updated_at";
        let connections =
            Connections::open(settings.connection(), CONNECTIONS, settings.to_string(), columns)?;
        let table = settings.table().to_owned();
        Ok(Self { connections, statements: Statements::on(&table), table })
    }

    /// Creates the table and its index if there is no such table. A role that may not create any can use an existing one.
    ///
    /// # Errors
    ///
    /// `Denied`, `Unauthenticated`, `Unavailable`.
    pub async fn create_table(&self) -> Result<()> {
        self.connections.create(&format!("\"{}\"", self.table), &self.statements.create_table).await
    }

    fn at(&self, key: &Key) -> String {
        format!("{self}/{key}")
    }

    fn damaged(&self, op: Op, place: &str, reason: String) -> Error {
        let error = Error::new(ErrorKind::Corrupt, op, place).because(reason);
        error.next_step("bring back a backup of the row")
    }

    /// The description in the columns version, time and size, which follow `first`.
    fn described(&self, op: Op, place: &str, row: &Row, first: usize, size: u64) -> Result<BlobMeta> {
        let version: String = field(op, place, row, first)?;
        let mut meta = BlobMeta::new(marked(&version), size);
        let micros: i64 = field(op, place, row, first + 1)?;
        meta.last_modified = time(micros);
        Ok(meta)
    }

    async fn read(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        const OP: Op = Op::Read;
        let place = self.at(key);
        let name = (&key.as_str() as &(dyn ToSql + Sync), Type::TEXT);
        let (blob_start, rows) = match &options.range {
            None => (0, self.connections.rows(OP, &place, &self.statements.read, &[name], 0).await?),
            Some(range) => {
                let (start, from, count) = window(range);
                let parameters = [name, (&from, Type::INT4), (&count, Type::INT4)];
                (start, self.connections.rows(OP, &place, &self.statements.read_range, &parameters, 0).await?)
            }
        };
        let Some(row) = rows.first() else { return Ok(None) };
        let blob = if options.range.is_some() {
            let bytes: &[u8] = field(OP, &place, row, 0)?;
            let size: i64 = field(OP, &place, row, 3)?;
            let meta = self.described(OP, &place, row, 1, size.unsigned_abs())?;
            Blob::part(Bytes::copy_from_slice(bytes), blob_start.min(meta.size), meta)
        } else {
            let text: Text<'_> = field(OP, &place, row, 0)?;
            let bytes = text.content().map_err(|reason| self.damaged(OP, &place, reason))?;
            let meta = self.described(OP, &place, row, 1, bytes.len() as u64)?;
            Blob::whole(bytes, meta)
        };
        if options.if_match.as_ref().is_some_and(|expected| !expected.same_as(blob.version())) {
            return Err(Error::new(ErrorKind::PreconditionFailed, OP, place));
        }
        if options.if_none_match.as_ref().is_some_and(|known| known.same_as(blob.version())) {
            return Err(Error::new(ErrorKind::NotModified, OP, place));
        }
        Ok(Some(blob))
    }

    async fn look(&self, key: &Key) -> Result<Option<BlobMeta>> {
        const OP: Op = Op::LookAt;
        let place = self.at(key);
        let rows = self
            .connections
            .rows(OP, &place, &self.statements.look, &[(&key.as_str(), Type::TEXT)], 0)
            .await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let size: Option<i64> = field(OP, &place, row, 2)?;
        let size = size.ok_or_else(|| self.damaged(OP, &place, "the row has no text `data`".to_owned()))?;
        self.described(OP, &place, row, 0, size.unsigned_abs()).map(Some)
    }

    async fn write(&self, key: &Key, bytes: Bytes, condition: &Precondition) -> Result<BlobVersion> {
        const OP: Op = Op::Write;
        let place = self.at(key);
        if bytes.len() > LONGEST {
            return Err(Error::new(ErrorKind::Invalid, OP, place)
                .because(format!(
                    "{} bytes make a field of more than 1 GB, which PostgreSQL does not take",
                    bytes.len()
                ))
                .next_step("make the content smaller, or use an object store"));
        }
        let (name, content) = (key.as_str(), Content(&bytes));
        let mut parameters: Vec<Parameter<'_>> = vec![(&name, Type::TEXT), (&content, Type::JSON)];
        let mark;
        let sql = match condition {
            Precondition::Any => &self.statements.put,
            Precondition::Absent => &self.statements.create,
            Precondition::Version(version) => {
                mark = unmarked(version);
                parameters.push((&mark, Type::TEXT));
                &self.statements.replace
            }
        };
        let rows = self.connections.rows(OP, &place, sql, &parameters, bytes.len()).await?;
        match rows.first() {
            Some(row) => Ok(marked(&field::<String>(OP, &place, row, 0)?)),
            None => Err(self.refused(
                OP,
                key,
                condition,
                self.read(key, &GetOptions::default()).await.ok().flatten(),
            )),
        }
    }

    async fn remove(&self, key: &Key, condition: &Precondition) -> Result<bool> {
        const OP: Op = Op::Delete;
        let place = self.at(key);
        let name = key.as_str();
        let mut parameters: Vec<Parameter<'_>> = vec![(&name, Type::TEXT)];
        let mark;
        let sql = match condition {
            Precondition::Version(version) => {
                mark = unmarked(version);
                parameters.push((&mark, Type::TEXT));
                &self.statements.delete_version
            }
            Precondition::Any | Precondition::Absent => &self.statements.delete,
        };
        if self.connections.count(OP, &place, sql, &parameters).await? > 0 {
            return Ok(true);
        }
        if *condition == Precondition::Any {
            return Ok(false);
        }
        match self.read(key, &GetOptions::default()).await? {
            None => Ok(false),
            found => Err(self.refused(OP, key, condition, found)),
        }
    }

    fn refused(&self, op: Op, key: &Key, condition: &Precondition, found: Option<Blob>) -> Error {
        let there = found.as_ref().map_or_else(|| "nothing".to_owned(), |blob| blob.version().to_string());
        Error::new(ErrorKind::PreconditionFailed, op, self.at(key))
            .because(format!("{there} is stored where {condition} was expected"))
            .with_found(found)
    }

    async fn page(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        const OP: Op = Op::List;
        // No text of the server has this character.
        if prefix.contains('\0') {
            return Ok(Page::default());
        }
        let limit = options.limit.unwrap_or(PAGE).clamp(1, PAGE);
        let sql = if options.delimiter { &self.statements.list_level } else { &self.statements.list };
        let (end, after) = (behind(prefix), options.page.as_ref().map(PageToken::as_str));
        let most = i64::try_from(limit + 1).unwrap_or(i64::MAX);
        let parameters: [Parameter<'_>; 4] =
            [(&prefix, Type::TEXT), (&end, Type::TEXT), (&after, Type::TEXT), (&most, Type::INT8)];
        let mut rows = self.connections.rows(OP, self.connections.place(), sql, &parameters, 0).await?;
        let is_last = rows.len() <= limit;
        rows.truncate(limit);
        let mut page = Page::default();
        for row in &rows {
            let name: String = field(OP, self.connections.place(), row, 0)?;
            if field(OP, self.connections.place(), row, 1)? {
                page.prefixes.push(name);
                continue;
            }
            // A damaged row is listed; reading it says what is wrong.
            let size: Option<i64> = field(OP, self.connections.place(), row, 4)?;
            let meta = self.described(
                OP,
                self.connections.place(),
                row,
                2,
                size.unwrap_or_default().unsigned_abs(),
            )?;
            page.blobs.push(Listed::new(name, meta));
        }
        if let Some(last) = rows.last().filter(|_| !is_last) {
            page.next = Some(PageToken::new(field::<String>(OP, self.connections.place(), last, 0)?));
        }
        Ok(page)
    }

    fn has_neither(
        &self,
        op: Op,
        key: &Key,
        lease: Option<&LeaseId>,
        attributes: Option<&Attributes>,
    ) -> Result<()> {
        let reason = match (lease, attributes) {
            (Some(_), _) => "rows have no leases",
            (None, Some(attributes)) if !attributes.is_empty() => {
                "rows keep no content types and no metadata"
            }
            _ => return Ok(()),
        };
        Err(Error::unsupported(op, self.at(key)).because(reason))
    }
}

fn marked(version: &str) -> BlobVersion {
    BlobVersion::default().with_e_tag(format!("\"{version}\""))
}

/// What a row of the version has; nothing that any row has for a version of another store.
fn unmarked(version: &BlobVersion) -> String {
    version.e_tag().unwrap_or_default().trim_matches('"').to_owned()
}

impl fmt::Display for PostgresBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.connections.place())
    }
}

impl fmt::Debug for PostgresBlobs {
    /// The pool's would show how to connect.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresBlobs({self})")
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl BlobStore for PostgresBlobs {
    fn capabilities(&self) -> BlobCapabilities {
        let mut can = BlobCapabilities::all();
        can.attributes = false;
        can.generations = false;
        can.leases = false;
        can
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        self.has_neither(Op::Read, key, options.lease.as_ref(), None)?;
        traced::get(self, key, options, self.read(key, options)).await
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        traced::head(self, key, self.look(key)).await
    }

    async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        self.has_neither(Op::Write, key, options.lease.as_ref(), Some(&options.attributes))?;
        traced::put(self, key, options, self.write(key, bytes, &options.precondition)).await
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        self.has_neither(Op::Delete, key, options.lease.as_ref(), None)?;
        options.check(self.at(key))?;
        traced::delete(self, key, options, self.remove(key, &options.precondition)).await
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        traced::list(self, prefix, options, self.page(prefix, options)).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        None
    }
}
