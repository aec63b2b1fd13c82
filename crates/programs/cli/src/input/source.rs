//! The text of a state: from a file, from standard input, or from a backend.

use std::borrow::Cow;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use groundstate_backends::Purpose;
use groundstate_encryption_providers::Encryption;
use groundstate_pulumi_deployment::{DeploymentFile, Element};
use groundstate_statefile::{DecodeOptions, Listing, ScanError, decode};
use groundstate_statemgr_fs::Backup;
use groundstate_states::OutputValue;

use crate::input::backend::refused;
use crate::input::condensed::{clip, condensed};
use crate::input::encryption;
use crate::input::family::{Family, is_packed, may_be_state};
use crate::input::history::StateHistory;
use crate::input::listing;
use crate::input::locate::{is_standard, locate, locate_beside};
use crate::input::location::{StateLocation, not_found};
use crate::input::packed;
use crate::input::paths::{self, is_same_file};
use crate::input::reader::Input;
use crate::input::remote::{Located, Remote, RemoteStack};
use crate::input::run_journal::warn_beside;
use crate::input::runtime::runtime;
use crate::input::threads::threads;
use crate::report::clipped::Clipped;
use crate::report::error::{Failure, Kind, Result};
use crate::report::progress::{Count, Extent, Progress};

/// What a file begins with while our own store overwrites it; no state does.
const MARK: &[u8] = b"\0groundstate journal";

/// How much memory is reserved for an input before it has shown how long it is.
const FIRST: usize = 1 << 16;

/// A state that has been found, but not read.
#[derive(Debug)]
pub(crate) struct Source {
    /// The input as messages name it.
    pub(crate) name: String,
    /// Whose state it is, if its content tells.
    pub(crate) family: Option<Family>,
    place: Content,
}

#[derive(Debug)]
enum Content {
    /// A file that can be read as often as needed.
    File(PathBuf),
    /// What a pipe gave, which gives it only once.
    Text(Vec<u8>),
    /// What was compressed: the file if there is one, the bytes in it, and what they say.
    Packed { path: Option<PathBuf>, stored: Vec<u8>, text: Vec<u8> },
    /// What was encrypted: the file if there is one, and the state in it.
    Encrypted { path: Option<PathBuf>, text: Vec<u8> },
}

/// A file of so many bytes is read as a whole, however few of them hold the outputs, and by one thread.
const SMALL: u64 = 1 << 20;

/// The outputs in a text, those of a second member `outputs` too. In a damaged text the first member tells.
fn outputs_of_text(text: &[u8], name: Option<&str>) -> Result<Vec<(String, OutputValue)>, ScanError> {
    groundstate_statefile::outputs(text, name)
        .or_else(|_| groundstate_statefile::leading_outputs(text, text, name))
}

impl Source {
    /// The input that an argument names, for what may be no state.
    pub(crate) fn find(argument: &Path) -> Result<Self> {
        match is_standard(argument) {
            true => Self::of_stdin(),
            false => Self::of_located(&locate(argument, true, Purpose::Read)?),
        }
    }

    /// The same for an argument beside the place that the command is about: `--workspace` does not mean it, and neither does the
    /// configuration demand that it is encrypted.
    pub(crate) fn beside(argument: &Path) -> Result<Self> {
        match is_standard(argument) {
            true => Self::of_stdin(),
            false => Self::at(&locate_beside(argument)?),
        }
    }

    /// Standard input, which is read here.
    fn of_stdin() -> Result<Self> {
        let text = read_all(io::stdin().lock(), Extent::Unknown).map_err(|error| {
            Failure::new(Kind::of_io(&error), format!("cannot read standard input: {error}"))
        })?;
        Self::of_bytes("<stdin>".to_owned(), None, text)?.decrypted(|| encryption::of_folder(None))
    }

    /// What an argument has led to. A state in the clear is refused where the configuration accepts encrypted ones only.
    pub(crate) fn of_located(located: &Located) -> Result<Self> {
        let source = Self::at(located)?;
        let is_pipe = matches!(located, Located::File(path, _) if !path.is_file());
        let is_encrypted = matches!(source.place, Content::Encrypted { .. });
        if is_pipe || is_encrypted || source.family == Some(Family::Pulumi) {
            return Ok(source);
        }
        if encryption::accepts_plain(located)? {
            return Ok(source);
        }
        match decode(&source.text()?, &DecodeOptions::default()) {
            Ok(_) => Err(encryption::in_the_clear(&source.name, located)),
            // What is no state gets an error of its own.
            Err(_) => Ok(source),
        }
    }

    /// What a place holds. Pipes, and what is not in a file, are read here.
    fn at(located: &Located) -> Result<Self> {
        let path = match located {
            Located::File(path, _) => path,
            Located::Remote(remote) => {
                return Self::of_remote(remote)?.decrypted(|| encryption::of_located(located));
            }
        };
        let name = path.display().to_string();
        let (file, metadata) = paths::open(path).map_err(|error| not_found(path, &error))?;
        if metadata.is_file() {
            warn_beside(path)?;
            return Self::of_file(name, path.clone())?.decrypted(|| encryption::of_located(located));
        }
        let text = read_all(file, Extent::Unknown).map_err(|error| Failure::unreadable(path, &error))?;
        Self::of_bytes(name, None, text)?.decrypted(|| encryption::of_folder(None))
    }

    /// A snapshot in the history of a state.
    pub(crate) fn of_snapshot(argument: &Path, snapshot: &str) -> Result<Self> {
        let history = StateHistory::open(argument)?;
        let entry = history.find(snapshot)?;
        let name = format!("{} at {}", history.name, entry.id);
        let located = locate(argument, false, Purpose::Read)?;
        let source = Self::of_bytes(name, None, history.read(&entry.id)?)?;
        source.decrypted(|| encryption::of_located(&located))
    }

    /// The same with the state in the place of the envelope that OpenTofu has encrypted it into. The configuration is asked for only
    /// if it is one.
    fn decrypted(self, encryption: impl FnOnce() -> Result<Option<Encryption>>) -> Result<Self> {
        if self.family != Some(Family::Terraform) || !self.may_be_encrypted()? {
            return Ok(self);
        }
        let stored = self.text()?;
        if !encryption::is_envelope(&stored) {
            return Ok(self);
        }
        let text = encryption::decrypted(&self.name, &stored, encryption()?.as_ref())?;
        let path = match &self.place {
            Content::File(path) => Some(path.clone()),
            Content::Packed { path, .. } | Content::Encrypted { path, .. } => path.clone(),
            Content::Text(_) => None,
        };
        let family = Family::sniff(&text);
        Ok(Self { name: self.name, family, place: Content::Encrypted { path, text } })
    }

    /// Whether a beginning has what envelopes begin with. Only a state with a member of such a name is read in vain.
    fn may_be_encrypted(&self) -> Result<bool> {
        let begin: Cow<'_, [u8]> = match &self.place {
            Content::File(path) => {
                let mut begin = Vec::new();
                let read =
                    paths::open(path).and_then(|(file, _)| file.take(FIRST as u64).read_to_end(&mut begin));
                read.map_err(|error| Failure::unreadable(path, &error))?;
                Cow::Owned(begin)
            }
            Content::Text(text) | Content::Packed { text, .. } | Content::Encrypted { text, .. } => {
                Cow::Borrowed(&text[..text.len().min(FIRST)])
            }
        };
        let has = |word: &[u8]| memchr::memmem::find(&begin, word).is_some();
        Ok(has(b"\"encrypted_data\"") || has(b"\"encryption_version\"") || begin.starts_with(MARK))
    }

    /// A state that is not in a file; it is read here.
    fn of_remote(remote: &Remote) -> Result<Self> {
        let stored = runtime()?.block_on(remote.store.read());
        let stored = stored.map_err(|error| refused(&error))?;
        let nothing = || Failure::new(Kind::NoState, format!("no state is stored in {}", remote.name));
        if let Some(RemoteStack::Bucket(stack)) = remote.stack() {
            runtime()?.block_on(stack.warn_of_journal(&remote.name, &remote.argument));
        }
        Self::of_bytes(remote.name.clone(), None, stored.ok_or_else(nothing)?.bytes)
    }

    /// A file, of which only the beginning is read, unless that does not tell whose state it is.
    pub(crate) fn of_file(name: String, path: PathBuf) -> Result<Self> {
        let mut begin = Vec::new();
        let read = paths::open(&path).and_then(|(file, _)| file.take(FIRST as u64).read_to_end(&mut begin));
        read.map_err(|error| Failure::unreadable(&path, &error))?;
        if is_packed(&begin) {
            let stored = read_file(&path)?;
            return Self::of_bytes(name, Some(path), stored);
        }
        let whole = begin.len() < FIRST && !begin.starts_with(MARK);
        let family = match Family::sniff(&begin) {
            None if !whole => Family::sniff(&read_file(&path)?),
            known => known,
        };
        Ok(Self { name, family, place: Content::File(path) })
    }

    /// What has been read already.
    pub(crate) fn of_bytes(name: String, path: Option<PathBuf>, bytes: Vec<u8>) -> Result<Self> {
        if !is_packed(&bytes) {
            return Ok(Self { name, family: Family::sniff(&bytes), place: Content::Text(bytes) });
        }
        let text = packed::unpack(&bytes).map_err(|error| {
            let message = format!("{name} is compressed by gzip and cannot be unpacked: {error}");
            Failure::new(Kind::NotState, message)
        })?;
        Ok(Self { name, family: Family::sniff(&text), place: Content::Packed { path, stored: bytes, text } })
    }

    /// Lists the instances without building a model.
    pub(crate) fn list(&self, with_ids: bool) -> Result<Listing, ScanFailure> {
        let listing = match &self.place {
            Content::File(path) => {
                let open = Open::at(path)?;
                let listing = listing::of_file(&open.file, open.before.len(), with_ids);
                if !open.is_steady() {
                    return Err(ScanFailure::Whole);
                }
                listing
            }
            Content::Text(text) | Content::Packed { text, .. } | Content::Encrypted { text, .. } => {
                groundstate_statefile::list(&**text, with_ids)
            }
        };
        listing.map_err(|error| self.scan_failure(error))
    }

    /// Reads the outputs, or the one with this name, and no more of the state than that takes.
    pub(crate) fn outputs(&self, name: Option<&str>) -> Result<Vec<(String, OutputValue)>, ScanFailure> {
        let outputs = match &self.place {
            Content::File(path) => {
                if fs::metadata(path).is_ok_and(|file| file.len() <= SMALL) {
                    return outputs_of_text(&read_file(path)?, name)
                        .map_err(|error| self.scan_failure(error));
                }
                let open = Open::at(path)?;
                let extent = Extent::Bytes(open.before.len());
                let input = Progress::new(&open.file, extent, Count::default());
                let end = read_end(&open.file, open.before.len())
                    .map_err(|error| Failure::unreadable(path, &error))?;
                let outputs = groundstate_statefile::leading_outputs(input, &end, name);
                if !open.is_steady() {
                    return Err(ScanFailure::Whole);
                }
                outputs
            }
            Content::Text(text) | Content::Packed { text, .. } | Content::Encrypted { text, .. } => {
                outputs_of_text(text, name)
            }
        };
        outputs.map_err(|error| self.scan_failure(error))
    }

    /// Reads everything.
    pub(crate) fn text(&self) -> Result<Cow<'_, [u8]>> {
        match &self.place {
            Content::File(path) => Ok(Cow::Owned(read_file(path)?)),
            Content::Text(text) | Content::Packed { text, .. } | Content::Encrypted { text, .. } => {
                Ok(Cow::Borrowed(text))
            }
        }
    }

    /// A Pulumi deployment without the values that surely can be loaded, read by so many threads without holding the whole text,
    /// and what it was read from; nothing where only the whole will do.
    pub(crate) fn condensed(&self, threads: usize) -> Result<Option<(DeploymentFile, Original<'_>)>> {
        let (whole, path) = match &self.place {
            Content::File(path) => (Whole::File(path, Open::at(path)?), path.as_path()),
            Content::Text(text) | Content::Packed { text, .. } | Content::Encrypted { text, .. } => {
                (Whole::Text(text), Path::new(&self.name))
            }
        };
        let condensed =
            condensed(whole.input(), threads).map_err(|error| Failure::unreadable(path, &error))?;
        let Some(condensed) = condensed.filter(|_| whole.is_steady()) else { return Ok(None) };
        Ok(Some((condensed.file, Original { whole, elements: condensed.elements })))
    }

    /// How many threads are worth their start.
    pub(crate) fn threads(&self) -> usize {
        let length = match &self.place {
            Content::File(path) => fs::metadata(path).map_or(0, |file| file.len()),
            Content::Text(text) | Content::Packed { text, .. } | Content::Encrypted { text, .. } => {
                text.len() as u64
            }
        };
        if length < SMALL { 1 } else { threads() }
    }

    /// Whether this is what `path` leads to.
    pub(crate) fn is_in(&self, path: &Path) -> bool {
        match &self.place {
            Content::File(own)
            | Content::Packed { path: Some(own), .. }
            | Content::Encrypted { path: Some(own), .. } => is_same_file(own, path),
            _ => false,
        }
    }

    /// The bytes of the file, where they are not the text itself: where it is compressed.
    pub(crate) fn packed(&self) -> Option<&[u8]> {
        match &self.place {
            Content::Packed { stored, .. } => Some(stored),
            _ => None,
        }
    }

    fn scan_failure(&self, error: ScanError) -> ScanFailure {
        match error {
            ScanError::Io(error) => Failure::unreadable(Path::new(&self.name), &error).into(),
            _ => ScanFailure::Whole,
        }
    }
}

/// Reads the end of a file, and leaves the file at its beginning.
fn read_end(mut file: &File, size: u64) -> io::Result<Vec<u8>> {
    let mut end = Vec::new();
    file.seek(SeekFrom::Start(size.saturating_sub(groundstate_statefile::END as u64)))?;
    file.take(groundstate_statefile::END as u64).read_to_end(&mut end)?;
    file.rewind()?;
    Ok(end)
}

/// Why a state could not be read in pieces.
#[derive(Debug)]
pub(crate) enum ScanFailure {
    /// It has to be read as a whole: it is of an older format, or something is wrong with it.
    Whole,
    /// It cannot be read at all.
    Failed(Failure),
}

impl From<Failure> for ScanFailure {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// What a deployment was condensed from.
pub(crate) struct Original<'s> {
    whole: Whole<'s>,
    elements: Vec<Element>,
}

enum Whole<'s> {
    File(&'s Path, Open),
    Text(&'s [u8]),
}

impl Whole<'_> {
    fn input(&self) -> Input<'_> {
        match self {
            Self::File(_, open) => Input::File(&open.file, open.before.len()),
            Self::Text(text) => Input::Text(text),
        }
    }

    fn is_steady(&self) -> bool {
        match self {
            Self::File(_, open) => open.is_steady(),
            Self::Text(_) => true,
        }
    }
}

impl<'s> Original<'s> {
    /// What is shown of the text for findings in these resources, in ascending order; nothing if it has changed since it was
    /// condensed.
    pub(crate) fn around(self, resources: impl Iterator<Item = usize>) -> Result<Option<Clipped<'s>>> {
        let (path, open) = match self.whole {
            Whole::Text(text) => return Ok(clip(Input::Text(text), &self.elements, resources).ok()),
            Whole::File(path, open) => (path, open),
        };
        let clipped = clip(Input::File(&open.file, open.before.len()), &self.elements, resources);
        match clipped {
            _ if !open.is_steady() => Ok(None),
            Ok(clipped) => Ok(Some(clipped.into_owned())),
            Err(error) => Err(Failure::unreadable(path, &error)),
        }
    }
}

/// A file that is read without a lock.
struct Open {
    file: File,
    before: Metadata,
}

impl Open {
    fn at(path: &Path) -> Result<Self> {
        let open = || {
            let (file, before) = paths::open(path)?;
            Ok(Self { file, before })
        };
        open().map_err(|error| Failure::unreadable(path, &error))
    }

    /// Whether the file is unchanged since it was opened. If not, what was read may mix old and new.
    fn is_steady(&self) -> bool {
        let time = |metadata: &Metadata| metadata.modified().ok();
        self.file
            .metadata()
            .is_ok_and(|now| now.len() == self.before.len() && time(&now) == time(&self.before))
    }
}

/// Reads a whole file, as it was before a write that is under way, or as it is after it.
fn read_file(path: &Path) -> Result<Vec<u8>> {
    let open = Open::at(path)?;
    let text = read_all(&open.file, Extent::Bytes(open.before.len()))
        .map_err(|error| Failure::unreadable(path, &error))?;
    let is_whole = open.is_steady() && !text.starts_with(MARK);
    if is_whole { Ok(text) } else { stored(path) }
}

/// Reads through the store, which finishes a write that was interrupted, and waits for one that is under way.
fn stored(path: &Path) -> Result<Vec<u8>> {
    let store = StateLocation::file(path.to_owned())?.store(Backup::None)?;
    let stored = runtime()?.block_on(store.read()).map_err(|error| refused(&error))?;
    Ok(stored.map(|stored| stored.bytes).unwrap_or_default())
}

/// Reads everything, or as much as shows that the input is not a state: what never ends must not fill the memory.
fn read_all(input: impl Read, extent: Extent) -> io::Result<Vec<u8>> {
    let expected = match extent {
        Extent::Bytes(length) => usize::try_from(length).unwrap_or(usize::MAX).saturating_add(1),
        _ => FIRST,
    };
    let mut input = Progress::new(input, extent, Count::default());
    let mut text = Vec::new();
    input.by_ref().take(FIRST as u64).read_to_end(&mut text)?;
    if may_be_state(&text) {
        // One more byte than expected shows the end without growing the buffer.
        text.try_reserve_exact(expected.saturating_sub(text.len()))?;
        input.read_to_end(&mut text)?;
    }
    Ok(text)
}
