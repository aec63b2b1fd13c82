//! The `backend`, `cloud` or `state_store` block of a configuration.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use groundstate_encryption::Scope;
use hcl_edit::structure::Body;

use super::files::{SETTINGS, SmallFiles, checkout};
use super::literal::Literal;
use super::variables::Variables;
use crate::error::BackendsError;

/// How names of files end that hold configuration. What OpenTofu reads comes first: it passes over a file of Terraform's with
/// the same stem.
const ENDINGS: [(&str, bool); 4] =
    [(".tofu.json", true), (".tofu", true), (".tf.json", false), (".tf", false)];

/// A `backend`, `cloud` or `state_store` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The type; `cloud` for a block of that name.
    pub(super) kind: String,
    /// If `true`, a provider keeps the state, and `kind` is the type of its state store.
    pub(super) is_store: bool,
    pub(super) options: Literal,
}

/// The blocks that a directory has: none, or one for each product if they read different files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Blocks(pub(super) Vec<Block>);

/// The path, the parts of the name and the text of a file.
type File = (PathBuf, (String, bool, bool), String);

/// A file of the configuration.
struct Source {
    path: PathBuf,
    /// If `true`, OpenTofu passes over it, because it has a file of its own with the same stem.
    is_shadowed: bool,
    is_opentofu: bool,
    is_override: bool,
    blocks: Vec<Block>,
}

/// Reads the files of a directory that Terraform or OpenTofu would read, and evaluates the blocks as OpenTofu does.
///
/// # Errors
///
/// [`BackendsError::Read`] and [`BackendsError::SmallFile`]; [`BackendsError::Configuration`] for what cannot be parsed and for more
/// than one block.
pub(super) fn read(directory: &Path, variables: &Variables) -> Result<Blocks, BackendsError> {
    let files = files(directory, parts)?;
    let blocks = blocks(&files, &Scope::new())?;
    if !blocks.0.iter().any(|block| block.options.has_unknown()) {
        return Ok(blocks);
    }
    // Most blocks have literals only, and need neither the variables nor the other files.
    let scope = ConfigurationFiles::read(directory)?.scope_of_backend(variables);
    self::blocks(&files, &scope)
}

/// The blocks that count among these files.
fn blocks(files: &[File], scope: &Scope) -> Result<Blocks, BackendsError> {
    let shadowing = shadowing(files);
    let mut sources = Vec::new();
    for (path, (stem, is_opentofu, is_json), text) in files {
        let is_shadowed = !is_opentofu && shadowing.contains(stem);
        // Terraform alone reads a shadowed file, and it evaluates no expressions in these blocks.
        let none = Scope::new();
        let scope = if is_shadowed { &none } else { scope };
        let blocks = if *is_json { of_json(text, scope) } else { of_hcl(text, scope) };
        let blocks = blocks
            .map_err(|line| BackendsError::Configuration { path: path.clone(), why: unparsed(line) })?;
        let is_override = stem == "override" || stem.ends_with("_override");
        let (path, is_opentofu) = (path.clone(), *is_opentofu);
        sources.push(Source { path, is_shadowed, is_opentofu, is_override, blocks });
    }
    let of_terraform = effective(sources.iter().filter(|source| !source.is_opentofu))?;
    let of_opentofu = effective(sources.iter().filter(|source| !source.is_shadowed))?;
    let is_usable = |block: &&Block| Some(*block) == of_opentofu || !block.options.has_unknown();
    let mut blocks: Vec<Block> = of_terraform.filter(is_usable).into_iter().cloned().collect();
    let other = of_opentofu.filter(|block| !blocks.contains(block)).cloned();
    blocks.extend(other);
    Ok(Blocks(blocks))
}

/// The stems of the files of OpenTofu, which passes over other files with these stems.
fn shadowing(files: &[File]) -> BTreeSet<String> {
    let of_opentofu = files.iter().filter(|(_, (_, is_opentofu, _), _)| *is_opentofu);
    of_opentofu.map(|(_, (stem, ..), _)| stem.clone()).collect()
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
        let shadowing = shadowing(&found);
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
fn of_hcl(text: &str, scope: &Scope) -> Result<Vec<Block>, Option<usize>> {
    if !may_have_block(text) {
        return Ok(Vec::new());
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let body: Body = text.parse().map_err(|error: hcl_edit::parser::Error| Some(error.location().line()))?;
    let settings = body.get_blocks("terraform");
    let inner = settings.flat_map(|block| block.body.blocks());
    let block = |block: &hcl_edit::structure::Block| {
        let label = || block.labels.first().map_or_else(String::new, |label| label.as_str().to_owned());
        let (kind, is_store) = match block.ident.as_str() {
            "backend" if block.labels.is_empty() => return None,
            "backend" => (label(), false),
            "cloud" => ("cloud".to_owned(), false),
            "state_store" => (label(), true),
            _ => return None,
        };
        Some(Block { kind, is_store, options: Literal::of_body(&block.body, scope) })
    };
    Ok(inner.filter_map(block).collect())
}

/// Whether a text may have a `terraform` block with a block in it. Names of blocks have no other spelling, and most files of a
/// configuration have none of these.
fn may_have_block(text: &str) -> bool {
    let mut after = text.match_indices("terraform").filter_map(|(at, name)| text.get(at + name.len()..));
    let begins = after.any(|rest| rest.trim_start().starts_with(['{', '/', '#']));
    begins && ["backend", "cloud", "state_store"].iter().any(|name| text.contains(name))
}

/// The blocks of a file in JSON.
fn of_json(text: &str, scope: &Scope) -> Result<Vec<Block>, Option<usize>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file: Literal = serde_json::from_str(text).map_err(|error| Some(error.line()))?;
    let mut blocks = Vec::new();
    for terraform in each(&file, "terraform") {
        for (name, is_store) in [("backend", false), ("state_store", true)] {
            for backend in each(terraform, name) {
                for (kind, options) in backend.members().iter().filter(|(name, _)| name != "//") {
                    blocks.extend(flat(options).map(|options| block(kind, is_store, options, scope)));
                }
            }
        }
        blocks.extend(each(terraform, "cloud").map(|options| block("cloud", false, options, scope)));
    }
    Ok(blocks)
}

fn block(kind: &str, is_store: bool, options: &Literal, scope: &Scope) -> Block {
    let options = options.members().iter().filter(|(name, _)| name != "//");
    let options = options.map(|(name, value)| (name.clone(), value.evaluated(scope))).collect();
    Block { kind: kind.to_owned(), is_store, options: Literal::Map(options) }
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
