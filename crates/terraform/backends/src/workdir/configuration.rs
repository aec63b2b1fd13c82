//! The `backend` or `cloud` block of a configuration.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use hcl_edit::structure::Body;

use super::files::{SETTINGS, SmallFiles, checkout};
use super::literal::Literal;
use crate::error::BackendsError;

/// How names of files end that hold configuration. What OpenTofu reads comes first: it passes over a file of Terraform's with
/// the same stem.
const ENDINGS: [(&str, bool); 4] =
    [(".tofu.json", true), (".tofu", true), (".tf.json", false), (".tf", false)];

/// A `backend` or `cloud` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The type; `cloud` for a block of that name.
    pub(super) kind: String,
    pub(super) options: Literal,
}

/// The blocks that a directory has: none, or one for each product if they read different files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Blocks(pub(super) Vec<Block>);

/// A file of the configuration.
struct Source {
    path: PathBuf,
    stem: String,
    is_opentofu: bool,
    is_override: bool,
    blocks: Vec<Block>,
}

/// Reads the files of a directory that Terraform or OpenTofu would read.
///
/// # Errors
///
/// [`BackendsError::Read`] and [`BackendsError::SmallFile`]; [`BackendsError::Configuration`] for what cannot be parsed and for more
/// than one block.
pub(super) fn read(directory: &Path) -> Result<Blocks, BackendsError> {
    let mut sources = Vec::new();
    for (path, (stem, is_opentofu, is_json), text) in files(directory, parts)? {
        let blocks = if is_json { of_json(&text) } else { of_hcl(&text) };
        let blocks = blocks
            .map_err(|line| BackendsError::Configuration { path: path.clone(), why: unparsed(line) })?;
        let is_override = stem == "override" || stem.ends_with("_override");
        sources.push(Source { path, stem, is_opentofu, is_override, blocks });
    }
    let shadowing: BTreeSet<String> =
        sources.iter().filter(|source| source.is_opentofu).map(|source| source.stem.clone()).collect();
    let of_terraform = effective(sources.iter().filter(|source| !source.is_opentofu))?;
    let of_opentofu =
        effective(sources.iter().filter(|source| source.is_opentofu || !shadowing.contains(&source.stem)))?;
    let mut blocks: Vec<Block> = of_terraform.into_iter().cloned().collect();
    let other = of_opentofu.filter(|block| !blocks.contains(block)).cloned();
    blocks.extend(other);
    Ok(Blocks(blocks))
}

/// The regular files of a directory whose names `wanted` takes, with what it says of the name, and their text, by name.
fn files<T>(
    directory: &Path,
    wanted: impl Fn(&str) -> Option<T>,
) -> Result<Vec<(PathBuf, T, String)>, BackendsError> {
    let Some(files) = SmallFiles::within(&checkout(directory))? else { return Ok(Vec::new()) };
    let failed = |source| BackendsError::Read { path: directory.to_owned(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let Some(name) = name.to_str() else { continue };
        let Some(said) = wanted(name) else { continue };
        let path = directory.join(name);
        if path.is_dir() {
            continue;
        }
        let Some(text) = files.text(&path, SETTINGS)? else { continue };
        found.push((path, said, text));
    }
    found.sort_by(|(one, ..), (other, ..)| one.cmp(other));
    Ok(found)
}

/// A file of a directory's configuration.
#[derive(Clone)]
pub struct ConfigurationFile {
    /// Where the file is.
    pub path: PathBuf,
    /// Its text, which may hold secrets.
    pub text: String,
}

impl fmt::Debug for ConfigurationFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfigurationFile").field("path", &self.path).finish_non_exhaustive()
    }
}

/// The files of a directory that OpenTofu reads.
#[derive(Clone, Debug, Default)]
pub struct ConfigurationFiles {
    /// The configuration, by name.
    pub sources: Vec<ConfigurationFile>,
    /// Values of variables that are read without being named, in the order in which they count.
    pub variables: Vec<ConfigurationFile>,
}

impl ConfigurationFiles {
    /// Reads the files of a directory, and none of its modules.
    ///
    /// # Errors
    ///
    /// [`BackendsError::Read`] and [`BackendsError::SmallFile`].
    pub fn read(directory: &Path) -> Result<Self, BackendsError> {
        let found = files(directory, parts)?;
        let shadowing: BTreeSet<String> = found
            .iter()
            .filter(|(_, (_, is_opentofu, _), _)| *is_opentofu)
            .map(|(_, (stem, ..), _)| stem.clone())
            .collect();
        let counts = |stem: &str, is_opentofu| is_opentofu || !shadowing.contains(stem);
        let sources = found.into_iter().filter(|(_, (stem, is_opentofu, _), _)| counts(stem, *is_opentofu));
        let sources = sources.map(|(path, _, text)| ConfigurationFile { path, text }).collect();
        let mut variables = files(directory, variables_rank)?;
        variables.sort_by(|(one, rank, _), (other, other_rank, _)| (rank, one).cmp(&(other_rank, other)));
        let variables =
            variables.into_iter().map(|(path, _, text)| ConfigurationFile { path, text }).collect();
        Ok(Self { sources, variables })
    }
}

/// Where a file of variables comes in the order in which they count; nothing for other files.
fn variables_rank(name: &str) -> Option<u8> {
    match name {
        "terraform.tfvars" => Some(0),
        "terraform.tfvars.json" => Some(1),
        _ if name.ends_with(".auto.tfvars") || name.ends_with(".auto.tfvars.json") => Some(2),
        _ => None,
    }
}

/// What is left of a name without its ending, whether only OpenTofu reads it, and whether it is JSON.
fn parts(name: &str) -> Option<(String, bool, bool)> {
    // What editors leave behind is not configuration.
    if name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#')) {
        return None;
    }
    let (ending, is_opentofu) = ENDINGS.into_iter().find(|(ending, _)| name.ends_with(ending))?;
    Some((name.strip_suffix(ending)?.to_owned(), is_opentofu, ending.ends_with(".json")))
}

fn unparsed(line: Option<usize>) -> String {
    line.map_or_else(|| "it cannot be parsed".to_owned(), |line| format!("line {line} cannot be parsed"))
}

/// The block that counts among files: that of the last override, or the only one.
fn effective<'s>(sources: impl Iterator<Item = &'s Source>) -> Result<Option<&'s Block>, BackendsError> {
    let (mut found, mut replaced): (Option<&Block>, Option<&Block>) = (None, None);
    for source in sources {
        for block in &source.blocks {
            if source.is_override {
                replaced = Some(block);
            } else if found.replace(block).is_some() {
                let why = "the configuration has a second backend or cloud block".to_owned();
                return Err(BackendsError::Configuration { path: source.path.clone(), why });
            }
        }
    }
    Ok(replaced.or(found))
}

/// The blocks of a file in the native syntax, or the line that cannot be parsed.
fn of_hcl(text: &str) -> Result<Vec<Block>, Option<usize>> {
    if !may_have_block(text) {
        return Ok(Vec::new());
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let body: Body = text.parse().map_err(|error: hcl_edit::parser::Error| Some(error.location().line()))?;
    let settings = body.get_blocks("terraform");
    let inner = settings.flat_map(|block| block.body.blocks());
    let block = |block: &hcl_edit::structure::Block| {
        let kind = match block.ident.as_str() {
            "backend" => block.labels.first()?.as_str().to_owned(),
            "cloud" => "cloud".to_owned(),
            _ => return None,
        };
        Some(Block { kind, options: Literal::of_body(&block.body) })
    };
    Ok(inner.filter_map(block).collect())
}

/// Whether a text may have a `terraform` block with a block in it. Names of blocks have no other spelling, and most files of a
/// configuration have none of these.
fn may_have_block(text: &str) -> bool {
    let mut after = text.match_indices("terraform").filter_map(|(at, name)| text.get(at + name.len()..));
    let begins = after.any(|rest| rest.trim_start().starts_with(['{', '/', '#']));
    begins && (text.contains("backend") || text.contains("cloud"))
}

/// The blocks of a file in JSON.
fn of_json(text: &str) -> Result<Vec<Block>, Option<usize>> {
    let file: Literal = serde_json::from_str(text).map_err(|error| Some(error.line()))?;
    let mut blocks = Vec::new();
    for terraform in each(&file, "terraform") {
        for backend in each(terraform, "backend") {
            for (kind, options) in backend.members().iter().filter(|(name, _)| name != "//") {
                blocks.extend(flat(options).map(|options| block(kind, options)));
            }
        }
        blocks.extend(each(terraform, "cloud").map(|options| block("cloud", options)));
    }
    Ok(blocks)
}

fn block(kind: &str, options: &Literal) -> Block {
    let options = options.members().iter().filter(|(name, _)| name != "//").cloned().collect();
    Block { kind: kind.to_owned(), options: Literal::Map(options) }
}

/// All values of a name; a list stands for its items, as blocks are written in JSON.
fn each<'l>(map: &'l Literal, name: &str) -> impl Iterator<Item = &'l Literal> {
    let name = name.to_owned();
    map.members().iter().filter(move |(found, _)| *found == name).flat_map(|(_, value)| flat(value))
}

fn flat(value: &Literal) -> impl Iterator<Item = &Literal> {
    let items = match value {
        Literal::List(items) => items.as_slice(),
        other => std::slice::from_ref(other),
    };
    items.iter().filter(|item| !matches!(item, Literal::Null))
}
