//! Comparing all that is stored of a document with its checksums.

use crate::document::Document;
use crate::documents::{Documents, ListFilter};
use crate::error::{Error, ErrorKind, Result};
use crate::head::Head;
use crate::name::Name;
use crate::op::Op;
use crate::reader::Reader;
use crate::survey::Survey;
use crate::sweep::{Data, unexplained};
use crate::traced;
use crate::version::Version;

/// How many versions are looked at before the next page of them is read.
const PAGE: usize = 100;

/// A damage of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// Where it is: a blob, or what a number of blobs begins with.
    pub place: String,
    /// Damage, in words.
    pub problem: String,
    /// `true` if a head that is made anew ends it.
    pub is_of_head: bool,
}

/// How much was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checked {
    /// The documents.
    pub documents: u64,
    /// The versions that have a content.
    pub versions: u64,
    /// The bytes of their contents that were read.
    pub bytes: u64,
}

/// Takes findings one by one, so that none is kept in memory.
pub type Report<'a> = dyn FnMut(Finding) + 'a;

/// Takes findings with the document that each is of.
pub type ReportOf<'a> = dyn FnMut(&Name, Finding) + 'a;

impl Documents {
    /// Checks all documents, one after the other, as [`Document::check`] does; also those that have versions and no head. A page of names and what one
    /// document has are in memory at a time.
    ///
    /// # Errors
    ///
    /// Errors of the store.
    pub async fn check(&self, contents: bool, report: &mut ReportOf<'_>) -> Result<Checked> {
        traced::run_on_all(Op::Check, self, "", async {
            let (mut all, mut page) = (Checked::default(), None);
            loop {
                let listed = self.name_page(&ListFilter::default().page(page)).await?;
                for name in listed.names {
                    all +=
                        self.document(&name).check(contents, &mut |finding| report(&name, finding)).await?;
                }
                page = listed.next;
                if page.is_none() {
                    break;
                }
            }
            let mut headless = Survey::of_headless(self);
            while let Some(name) = headless.next().await? {
                all += self.document(&name).check(contents, &mut |finding| report(&name, finding)).await?;
            }
            Ok(all)
        })
        .await
    }
}

impl std::ops::AddAssign for Checked {
    fn add_assign(&mut self, other: Self) {
        self.documents += other.documents;
        self.versions += other.versions;
        self.bytes += other.bytes;
    }
}

impl Document {
    /// Compares the head, the records and, if that is wanted, the contents of all versions with their checksums. Nothing is changed, and
    /// one part of a content is in memory at a time.
    ///
    /// # Errors
    ///
    /// Errors of the store. Damage is reported, not an error.
    pub async fn check(&self, contents: bool, report: &mut Report<'_>) -> Result<Checked> {
        traced::run(Op::Check, self, self.checking(contents, report)).await
    }

    async fn checking(&self, contents: bool, report: &mut Report<'_>) -> Result<Checked> {
        const OP: Op = Op::Check;
        let of_head = |problem: &str| Finding {
            place: self.layout().head().to_owned(),
            problem: problem.to_owned(),
            is_of_head: true,
        };
        let head = match self.load(OP).await {
            Ok(stored) => stored.head,
            Err(error) if is_damage(&error) => {
                report(of_head(error.message()));
                return Ok(Checked { documents: 1, ..Checked::default() });
            }
            Err(error) => return Err(error),
        };
        let data = self.data(OP).await?;
        if let Some(number) = unexplained(&head, &data)
            && self.load(OP).await?.head.revision == head.revision
        {
            report(of_head(&format!(
                "it does not explain a record of version {number}: it was lost or put back to an earlier state"
            )));
        }
        let (mut checked, mut before) = (Checked { documents: 1, ..Checked::default() }, None);
        loop {
            let page = self.versions(before, PAGE).await?;
            for number in page.missing {
                self.report_if_kept(number, "its record is missing", report).await?;
            }
            for (number, problem) in page.damaged {
                self.report_if_kept(number, &problem, report).await?;
            }
            for version in page.versions.iter().filter(|version| !version.deleted) {
                checked.versions += 1;
                match self.compare(version, contents, &data).await {
                    Ok(bytes) => checked.bytes += bytes,
                    Err(error) if is_damage(&error) => {
                        self.report_if_kept(version.number, error.message(), report).await?
                    }
                    // Retention removed it meanwhile.
                    Err(error) if error.kind() == ErrorKind::NotKept => {}
                    Err(error) => return Err(error),
                }
            }
            before = page.next;
            if before.is_none() {
                return Ok(checked);
            }
        }
    }

    /// Reports damage of a version, unless retention removed it meanwhile.
    async fn report_if_kept(&self, number: u64, problem: &str, report: &mut Report<'_>) -> Result<()> {
        if !self.load(Op::Check).await?.head.keeps(number) {
            return Ok(());
        }
        let about = format!("version {number}: ");
        let problem = if problem.starts_with(&about) { problem.to_owned() } else { about + problem };
        report(Finding { place: self.layout().data().to_owned(), problem, is_of_head: false });
        Ok(())
    }

    /// Compares the record and the content of a version, and says how many bytes of it were read.
    async fn compare(&self, version: &Version, contents: bool, data: &Data) -> Result<u64> {
        let mut reader = Reader::open(self, version).await?;
        if !contents {
            let stored = version.upload.as_ref().and_then(|upload| data.parts.get(upload));
            let stored = stored.map_or(0, |parts| parts.iter().map(|part| part.size).sum());
            if version.upload.is_some() && stored < version.size {
                let error = Error::new(ErrorKind::Corrupt, Op::Check, self.place());
                return Err(error.because(format!(
                    "version {}: its parts have {stored} bytes, and the content has {}",
                    version.number, version.size
                )));
            }
            return Ok(0);
        }
        let mut bytes = 0;
        while let Some(part) = reader.next_part().await? {
            bytes += part.len() as u64;
        }
        Ok(bytes)
    }
}

fn is_damage(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported)
}

/// Returns `true` if a version is in the history that leads to the last record.
pub(crate) fn leads_to(head: &Head, chain: &[crate::layout::RecordKey]) -> bool {
    head.last().is_none_or(|last| chain.iter().any(|key| key.id == last.id))
}
