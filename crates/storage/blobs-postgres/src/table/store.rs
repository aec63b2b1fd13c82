//! `TableBlobs`: implements `BlobStore` by one statement for each operation.

use std::collections::BTreeMap;
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

use super::settings::TableSettings;
use super::statements::Statements;
use crate::bounds::behind;
use crate::connections::{Connections, Parameter, field, time, window};

/// As many as most services give.
const PAGE: usize = 1000;
/// PostgreSQL takes no message and no field of 1 GiB; what is left is for the rest of the message.
const LONGEST: usize = (1 << 30) - (64 << 10);
/// The first column behind the description.
const CONTENT: usize = 5;

/// A client of a table of this project's own, which other programs leave alone.
///
/// - Contents are `bytea`, stored as they are: a range is read without the rest, and a list without any content.
/// - Content types and metadata are kept. Versions are never given twice.
/// - The first write creates schema, table and sequence where they are missing, by one client at a time;
///   [`create_table`](Self::create_table) does so before.
/// - Connections are opened when they are needed, and opened again when they were lost. Each operation is one statement without a
///   name, so it does not matter which connection of a pooler carries it.
/// - Contents up to nearly 1 GiB; a longer one is refused as `Invalid` before it is sent.
#[derive(Clone)]
pub struct TableBlobs {
    connections: Connections,
    statements: Statements,
}

impl TableBlobs {
    /// A client that connects when it is first used.
    ///
    /// # Errors
    ///
    /// `Invalid` for certificates that cannot be read, `Denied` for a password file that others may read.
    pub fn open(settings: &TableSettings) -> Result<Self> {
        let columns = "key, version, content, content_type, metadata and updated_at";
        let (place, most) = (settings.to_string(), settings.connections());
        let connections = Connections::open(settings.connection(), most, place, columns)?;
        Ok(Self { connections, statements: Statements::on(settings) })
    }

    /// Creates schema, table and sequence if there is no such table. A role that may not create any can use an existing one.
    ///
    /// # Errors
    ///
    /// `Unsupported` where the database is not in UTF-8, `Denied`, `Unauthenticated`, `Unavailable`.
    pub async fn create_table(&self) -> Result<()> {
        const OP: Op = Op::Create;
        let place = self.connections.place();
        let encoding = "SELECT getdatabaseencoding()::text";
        let rows = self.connections.rows(OP, place, encoding, &[], 0).await?;
        let encoding: Option<String> = rows.first().map(|row| field(OP, place, row, 0)).transpose()?;
        if let Some(encoding) = encoding.filter(|encoding| encoding != "UTF8") {
            return Err(Error::unsupported(OP, place)
                .because(format!(
                    "the encoding of the database is {encoding}, which has no place for every key"
                ))
                .next_step("create a database with ENCODING 'UTF8' TEMPLATE template0"));
        }
        self.connections.create(&self.statements.table, &self.statements.create_table).await
    }

    fn at(&self, key: &Key) -> String {
        format!("{self}/{key}")
    }

    /// What the columns of a description say.
    fn described(&self, op: Op, place: &str, row: &Row) -> Result<BlobMeta> {
        let version: String = field(op, place, row, 0)?;
        let size: i64 = field(op, place, row, 2)?;
        let mut meta = BlobMeta::new(marked(&version), size.unsigned_abs());
        meta.last_modified = time(field(op, place, row, 1)?);
        meta.attributes.content_type = field(op, place, row, 3)?;
        let metadata: String = field(op, place, row, 4)?;
        let metadata: Option<BTreeMap<String, String>> = serde_json::from_str(&metadata).ok();
        // The parser's error may show what it met.
        meta.attributes.metadata = metadata.ok_or_else(|| {
            let error =
                Error::new(ErrorKind::Corrupt, op, place).because("its metadata are not texts by name");
            error.next_step("bring back a backup of the row")
        })?;
        Ok(meta)
    }

    async fn read(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        const OP: Op = Op::Read;
        let place = self.at(key);
        let name = (&key.as_str() as &(dyn ToSql + Sync), Type::TEXT);
        let (start, rows) = match &options.range {
            None => {
                // Not where another version is asked for too, whose absence counts first.
                let known =
                    options.if_none_match.as_ref().filter(|_| options.if_match.is_none()).map(unmarked);
                let parameters = [name, (&known, Type::TEXT)];
                (0, self.connections.rows(OP, &place, &self.statements.read, &parameters, 0).await?)
            }
            Some(range) => {
                let (start, from, count) = window(range);
                let parameters = [name, (&from, Type::INT4), (&count, Type::INT4)];
                (start, self.connections.rows(OP, &place, &self.statements.read_range, &parameters, 0).await?)
            }
        };
        let Some(row) = rows.first() else { return Ok(None) };
        let meta = self.described(OP, &place, row)?;
        let refused = |kind| Err(Error::new(kind, OP, &place));
        if options.if_match.as_ref().is_some_and(|expected| !expected.same_as(&meta.version)) {
            return refused(ErrorKind::PreconditionFailed);
        }
        if options.if_none_match.as_ref().is_some_and(|known| known.same_as(&meta.version)) {
            return refused(ErrorKind::NotModified);
        }
        let bytes = Bytes::copy_from_slice(field(OP, &place, row, CONTENT)?);
        Ok(Some(match options.range {
            Some(_) => Blob::part(bytes, start.min(meta.size), meta),
            None => Blob::whole(bytes, meta),
        }))
    }

    async fn look(&self, key: &Key) -> Result<Option<BlobMeta>> {
        const OP: Op = Op::LookAt;
        let (place, name) = (self.at(key), key.as_str());
        let rows =
            self.connections.rows(OP, &place, &self.statements.look, &[(&name, Type::TEXT)], 0).await?;
        rows.first().map(|row| self.described(OP, &place, row)).transpose()
    }

    async fn write(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        match self.write_once(key, &bytes, options).await {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.create_table().await?;
                self.write_once(key, &bytes, options).await
            }
            outcome => outcome,
        }
    }

    async fn write_once(&self, key: &Key, bytes: &Bytes, options: &PutOptions) -> Result<BlobVersion> {
        const OP: Op = Op::Write;
        let place = self.at(key);
        let metadata = metadata(&place, bytes, &options.attributes)?;
        let (name, content, content_type) = (key.as_str(), &**bytes, &options.attributes.content_type);
        let mut parameters: Vec<Parameter<'_>> = vec![
            (&name, Type::TEXT),
            (&content, Type::BYTEA),
            (content_type, Type::TEXT),
            (&metadata, Type::TEXT),
        ];
        let mark;
        let sql = match &options.precondition {
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
            None => {
                let found = self.read(key, &GetOptions::default()).await.ok().flatten();
                Err(self.refused(OP, key, &options.precondition, found))
            }
        }
    }

    async fn remove(&self, key: &Key, condition: &Precondition) -> Result<bool> {
        const OP: Op = Op::Delete;
        let (place, name) = (self.at(key), key.as_str());
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
        let most = i64::try_from(limit + 1).unwrap_or(i64::MAX);
        let (end, place) = (behind(prefix), self.connections.place());
        let start = options.page.as_ref().map_or_else(|| prefix.to_owned(), |page| following(page.as_str()));
        let names_begin = i32::try_from(prefix.chars().count() + 1).unwrap_or(i32::MAX);
        let mut parameters: Vec<Parameter<'_>> =
            vec![(&start, Type::TEXT), (&end, Type::TEXT), (&most, Type::INT8)];
        let sql = if options.delimiter {
            parameters.push((&names_begin, Type::INT4));
            &self.statements.list_level
        } else {
            &self.statements.list
        };
        let mut rows = self.connections.rows(OP, place, sql, &parameters, 0).await?;
        let is_last = rows.len() <= limit;
        rows.truncate(limit);
        let mut page = Page::default();
        let mut last = None;
        for row in &rows {
            let name: String = field(OP, place, row, CONTENT)?;
            if field(OP, place, row, CONTENT + 1)? {
                page.prefixes.push(name.clone());
            } else {
                page.blobs.push(Listed::new(name.clone(), self.described(OP, place, row)?));
            }
            last = Some(name);
        }
        page.next = last.filter(|_| !is_last).map(PageToken::new);
        Ok(page)
    }

    fn has_no_leases(&self, op: Op, key: &Key, lease: Option<&LeaseId>) -> Result<()> {
        match lease {
            Some(_) => Err(Error::unsupported(op, self.at(key)).because("rows have no leases")),
            None => Ok(()),
        }
    }
}

/// The metadata as JSON, if the server can keep content and attributes.
fn metadata(place: &str, bytes: &Bytes, attributes: &Attributes) -> Result<String> {
    let invalid = || Error::new(ErrorKind::Invalid, Op::Write, place);
    if bytes.len() > LONGEST {
        return Err(invalid()
            .because(format!(
                "{} bytes make a field of more than 1 GB, which PostgreSQL does not take",
                bytes.len()
            ))
            .next_step("make the content smaller, or use an object store"));
    }
    let texts = attributes
        .content_type
        .iter()
        .chain(attributes.metadata.iter().flat_map(|(name, value)| [name, value]));
    if texts.into_iter().any(|text| text.contains('\0')) {
        return Err(invalid().because("an attribute has a NUL character, which PostgreSQL does not take"));
    }
    serde_json::to_string(&attributes.metadata)
        .map_err(|error| Error::new(ErrorKind::Internal, Op::Write, place).with_source(error))
}

/// Where a list goes on behind a name of it: no key comes between. Names of folders end with a slash, those of blobs never do.
fn following(name: &str) -> String {
    match name.strip_suffix('/') {
        Some(folder) => format!("{folder}0"),
        None => format!("{name}\u{1}"),
    }
}

fn marked(version: &str) -> BlobVersion {
    BlobVersion::default().with_e_tag(format!("\"{version}\""))
}

/// What a row of the version has; nothing that any row has for a version of another store.
fn unmarked(version: &BlobVersion) -> String {
    version.e_tag().unwrap_or_default().trim_matches('"').to_owned()
}

impl fmt::Display for TableBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.connections.fmt(f)
    }
}

impl fmt::Debug for TableBlobs {
    /// The pool's would show how to connect.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TableBlobs({self})")
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl BlobStore for TableBlobs {
    fn capabilities(&self) -> BlobCapabilities {
        let mut can = BlobCapabilities::all();
        can.generations = false;
        can.leases = false;
        can
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        self.has_no_leases(Op::Read, key, options.lease.as_ref())?;
        traced::get(self, key, options, self.read(key, options)).await
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        traced::head(self, key, self.look(key)).await
    }

    async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        self.has_no_leases(Op::Write, key, options.lease.as_ref())?;
        traced::put(self, key, options, self.write(key, bytes, options)).await
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        self.has_no_leases(Op::Delete, key, options.lease.as_ref())?;
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
