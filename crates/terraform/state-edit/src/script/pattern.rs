//! Sources: addresses, or patterns of addresses with wildcards.

use std::collections::HashSet;

use groundstate_states::DeposedObject;
use groundstate_states::addr::{
    AbsResource, InstanceKey, ModuleInstance, ModuleStep, Resource, ResourceMode, Target,
};

use super::error::ScriptFault;
use super::glob::Glob;
use super::steps::{Index, Step, fault, steps, unescaped, unquote, without_escape};
use super::words::{Misplaced, Word};
use crate::working_set::WorkingSet;

/// What a statement is about.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// One address, which is meant whether it is there or not.
    Plain(Target),
    /// All addresses that match.
    Pattern(Pattern),
    /// One deposed object.
    Deposed(DeposedObject),
}

/// An address with wildcards.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    text: String,
    modules: Vec<ModulePattern>,
    /// In front of which of the modules any others may stand.
    deep: Option<usize>,
    resource: Option<ResourcePattern>,
    captures: Vec<CaptureKind>,
    /// The address that the text is as it stands, if its stars are all in quoted keys.
    address: Option<Target>,
}

/// Mark in front of a word that is a pattern, whatever addresses the state has.
const GLOB: &str = "glob:";

#[derive(Clone, Debug)]
struct ModulePattern {
    name: Glob,
    key: KeyPattern,
}

#[derive(Clone, Debug)]
struct ResourcePattern {
    mode: ResourceMode,
    type_name: Glob,
    name: Glob,
    key: KeyPattern,
}

#[derive(Clone, Debug)]
enum KeyPattern {
    /// No brackets.
    None,
    /// `[*]`: any key there is.
    Any,
    Exact(InstanceKey),
    /// A text key with stars in it.
    Text(Glob),
}

/// What a wildcard captures, known before anything is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CaptureKind {
    Text,
    Key,
    Path,
}

/// What a wildcard stands for.
#[derive(Clone, Debug)]
pub(super) enum Capture {
    Text(String),
    Key(InstanceKey),
    Path(Vec<ModuleStep>),
}

impl Source {
    /// Reads a word as the address of a deposed object, or as an address or a pattern.
    pub(super) fn parse_object(word: &Word<'_>) -> Result<Self, Misplaced> {
        match DeposedObject::parse(word.text) {
            Some(Ok(object)) => Ok(Self::Deposed(object)),
            Some(Err(error)) => Err((word.column_of(error.position()), ScriptFault::Address(error))),
            None => Self::parse(word),
        }
    }

    /// Reads a word as an address or a pattern.
    pub(super) fn parse(word: &Word<'_>) -> Result<Self, Misplaced> {
        if DeposedObject::parse(word.text).is_some() {
            return Err(fault(word, 0, "this is a deposed object, which `rm` can take; name its instance"));
        }
        if let Some(text) = word.text.strip_prefix(GLOB) {
            let column = word.column_of(GLOB.len());
            return Self::parse_glob(&Word { text, column }, None);
        }
        if !word.text.contains('*') {
            return plain(word, word.text).map(Self::Plain);
        }
        let address = Target::parse_argument(word.text).ok();
        match (Self::parse_glob(word, address.clone()), address) {
            // A key such as `**` is no pattern, but may be in a state.
            (Err(_), Some(address)) => Ok(Self::Plain(address)),
            (parsed, _) => parsed,
        }
    }

    fn parse_glob(word: &Word<'_>, address: Option<Target>) -> Result<Self, Misplaced> {
        let pattern = Pattern { address, ..Pattern::parse(word)? };
        // All stars are escaped, so it is an address with a star in a key.
        if pattern.captures.is_empty() {
            return plain(word, &without_escape(word.text, '*')).map(Self::Plain);
        }
        Ok(Self::Pattern(pattern))
    }

    /// The source as a message names it: a pattern as it is written, and otherwise what it means.
    pub(super) fn text(&self, targets: &[Target]) -> String {
        match self {
            Self::Pattern(pattern) => pattern.text.clone(),
            Self::Plain(_) | Self::Deposed(_) => targets.first().map(ToString::to_string).unwrap_or_default(),
        }
    }

    pub(super) fn captures(&self) -> &[CaptureKind] {
        match self {
            Self::Plain(_) | Self::Deposed(_) => &[],
            Self::Pattern(pattern) => &pattern.captures,
        }
    }
}

/// Reads an address without wildcards.
pub(super) fn plain(word: &Word<'_>, text: &str) -> Result<Target, Misplaced> {
    Target::parse_argument(text)
        .map_err(|error| (word.column_of(error.position()), ScriptFault::Address(error)))
}

impl Pattern {
    fn parse(word: &Word<'_>) -> Result<Self, Misplaced> {
        let mut pattern = Self {
            text: word.text.to_owned(),
            modules: Vec::new(),
            deep: None,
            resource: None,
            captures: Vec::new(),
            address: None,
        };
        let steps = steps(word)?;
        let mut rest = steps.as_slice();
        loop {
            match rest {
                [Step { name: "**", index: None, at }, left @ ..] => {
                    if pattern.deep.replace(pattern.modules.len()).is_some() {
                        return Err(fault(word, *at, "`**` can appear only once in an address"));
                    }
                    pattern.captures.push(CaptureKind::Path);
                    rest = left;
                }
                [Step { name: "module", index: None, .. }, name, left @ ..] => {
                    let name_glob = pattern.name(word, name)?;
                    let key = pattern.key(word, name.index.as_ref())?;
                    pattern.modules.push(ModulePattern { name: name_glob, key });
                    rest = left;
                }
                _ => break,
            }
        }
        let mode = match rest.first() {
            Some(Step { name: "data", index: None, .. }) => ResourceMode::Data,
            _ => ResourceMode::Managed,
        };
        if mode == ResourceMode::Data {
            rest = rest.get(1..).unwrap_or_default();
        }
        match rest {
            [] if mode == ResourceMode::Managed && pattern.deep != Some(pattern.modules.len()) => {}
            [kind, name] if kind.index.is_none() => {
                pattern.resource = Some(pattern.resource(word, mode, kind, name)?);
            }
            [_, _, more, ..] => {
                return Err(fault(word, more.at, "the address ends here; remove what follows"));
            }
            _ => {
                return Err(fault(
                    word,
                    word.text.len(),
                    "this has to go on with the type and name of a resource",
                ));
            }
        }
        Ok(pattern)
    }

    fn resource(
        &mut self,
        word: &Word<'_>,
        mode: ResourceMode,
        kind: &Step<'_>,
        name: &Step<'_>,
    ) -> Result<ResourcePattern, Misplaced> {
        let type_name = self.name(word, kind)?;
        let glob = self.name(word, name)?;
        let key = self.key(word, name.index.as_ref())?;
        Ok(ResourcePattern { mode, type_name, name: glob, key })
    }

    fn name(&mut self, word: &Word<'_>, step: &Step<'_>) -> Result<Glob, Misplaced> {
        let odd = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '*'));
        if let Some(at) = step.name.find(odd) {
            return Err(fault(word, step.at + at, "this is not allowed in a name"));
        }
        let pieces = step.name.split('*').map(str::to_owned).collect();
        self.glob(word, step.at, pieces)
    }

    fn key(&mut self, word: &Word<'_>, index: Option<&Index<'_>>) -> Result<KeyPattern, Misplaced> {
        let Some(index) = index else { return Ok(KeyPattern::None) };
        if !index.quoted {
            if index.text == "*" {
                self.captures.push(CaptureKind::Key);
                return Ok(KeyPattern::Any);
            }
            let number = index.text.parse().ok().and_then(InstanceKey::int);
            let wrong = || fault(word, index.at, "a key is a whole number, a quoted text, or `*`");
            return number.map(KeyPattern::Exact).ok_or_else(wrong);
        }
        let mut pieces = Vec::new();
        let mut begin = 0;
        for star in unescaped(index.text, '*').into_iter().chain([index.text.len()]) {
            let piece = without_escape(index.text.get(begin..star).unwrap_or_default(), '*');
            pieces.push(unquote(word, index.at + begin, &piece)?);
            begin = star + 1;
        }
        self.glob(word, index.at, pieces).map(KeyPattern::Text)
    }

    fn glob(&mut self, word: &Word<'_>, at: usize, pieces: Vec<String>) -> Result<Glob, Misplaced> {
        let inner = pieces.get(1..pieces.len().saturating_sub(1)).unwrap_or_default();
        if inner.iter().any(String::is_empty) {
            return Err(fault(word, at, "two `*` in a row; write one"));
        }
        let glob = Glob::new(pieces);
        self.captures.extend(std::iter::repeat_n(CaptureKind::Text, glob.stars()));
        Ok(glob)
    }

    /// Whether it matches modules only.
    pub(super) fn is_of_modules(&self) -> bool {
        self.resource.is_none()
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The address that the text is as it stands, if the state has it.
    pub(super) fn existing(&self, working_set: &WorkingSet<'_>) -> Option<&Target> {
        self.address.as_ref().filter(|address| working_set.has_target(address))
    }

    /// The spelling of the address alone: every star is escaped.
    pub(super) fn spelled_as_address(&self) -> String {
        let mut out = String::with_capacity(self.text.len() + 2);
        let mut begin = 0;
        for star in unescaped(&self.text, '*') {
            out.push_str(self.text.get(begin..star).unwrap_or_default());
            out.push('\\');
            begin = star;
        }
        out.push_str(self.text.get(begin..).unwrap_or_default());
        out
    }

    /// The spelling of the pattern, which no address has.
    pub(super) fn spelled_as_pattern(&self) -> String {
        format!("{GLOB}{}", self.text)
    }

    /// Everything in the state that matches, in the order of lists, with what the wildcards stand for.
    pub(super) fn matches(&self, working_set: &WorkingSet<'_>) -> Vec<(Target, Vec<Capture>)> {
        let mut found = Vec::new();
        let Some(resource) = &self.resource else {
            let mut seen = HashSet::new();
            for address in working_set.lookup().inside(&self.fixed_modules()) {
                self.modules_of(&address.module, &mut seen, &mut found);
            }
            return found;
        };
        let (type_name, ends) = (resource.type_name.exact(), resource.name.ends());
        let mut matching: Vec<(&AbsResource, Vec<Capture>)> = Vec::new();
        for address in working_set.lookup().named(type_name, ends) {
            let mut captures = Vec::new();
            if self.modules(address.module.steps(), &mut captures)
                && resource.matches(&address.resource, &mut captures)
            {
                matching.push((address, captures));
            }
        }
        matching.sort_by_key(|(address, _)| *address);
        for (address, captures) in matching {
            resource.instances(working_set, address.clone(), captures, &mut found);
        }
        found
    }

    /// The outer modules whose names are known, without keys.
    fn fixed_modules(&self) -> ModuleInstance {
        let known = self.modules.iter().take(self.deep.unwrap_or(self.modules.len()));
        let names = known.map_while(|module| module.name.exact());
        names.fold(ModuleInstance::root(), |path, name| path.child(name, InstanceKey::None))
    }

    /// The modules around a module that match, and that were not seen before.
    fn modules_of(
        &self,
        module: &ModuleInstance,
        seen: &mut HashSet<ModuleInstance>,
        found: &mut Vec<(Target, Vec<Capture>)>,
    ) {
        let whole_call = self.modules.last().is_some_and(|last| matches!(last.key, KeyPattern::None));
        let depths = match self.deep {
            None => self.modules.len()..=self.modules.len(),
            Some(_) => self.modules.len()..=module.steps().len(),
        };
        for steps in depths.filter_map(|depth| module.steps().get(..depth)) {
            let mut steps = steps.to_vec();
            // Without a key at its end, the pattern means the call with all its instances.
            if let Some(last) = steps.last_mut().filter(|_| whole_call) {
                last.key = InstanceKey::None;
            }
            let mut captures = Vec::new();
            if self.modules(&steps, &mut captures) {
                let module: ModuleInstance = steps.into_iter().collect();
                if seen.insert(module.clone()) {
                    found.push((Target::Module(module), captures));
                }
            }
        }
    }

    /// Whether the path of modules matches.
    fn modules(&self, steps: &[ModuleStep], captures: &mut Vec<Capture>) -> bool {
        let Some(extra) = steps.len().checked_sub(self.modules.len()) else { return false };
        let deep = self.deep.unwrap_or(self.modules.len());
        if self.deep.is_none() && extra > 0 {
            return false;
        }
        let (before, after) = self.modules.split_at(deep.min(self.modules.len()));
        let (outer, rest) = steps.split_at(before.len());
        let (path, inner) = rest.split_at(extra);
        let all = |patterns: &[ModulePattern], steps: &[ModuleStep], captures: &mut Vec<Capture>| {
            patterns.iter().zip(steps).all(|(pattern, step)| {
                matches_name(&pattern.name, &step.name, captures) && pattern.key.matches(&step.key, captures)
            })
        };
        if !all(before, outer, captures) {
            return false;
        }
        if self.deep.is_some() {
            captures.push(Capture::Path(path.to_vec()));
        }
        all(after, inner, captures)
    }
}

impl ResourcePattern {
    fn matches(&self, resource: &Resource, captures: &mut Vec<Capture>) -> bool {
        self.mode == resource.mode
            && matches_name(&self.type_name, &resource.type_name, captures)
            && matches_name(&self.name, &resource.name, captures)
    }

    /// The resource, or those of its instances that match.
    fn instances(
        &self,
        working_set: &WorkingSet<'_>,
        address: AbsResource,
        captures: Vec<Capture>,
        found: &mut Vec<(Target, Vec<Capture>)>,
    ) {
        if matches!(self.key, KeyPattern::None) {
            found.push((Target::Resource(address), captures));
            return;
        }
        for key in working_set.keys(&address).unwrap_or_default() {
            let mut captures = captures.clone();
            if self.key.matches(&key, &mut captures) {
                found.push((Target::Instance(address.instance(key)), captures));
            }
        }
    }
}

impl KeyPattern {
    fn matches(&self, key: &InstanceKey, captures: &mut Vec<Capture>) -> bool {
        match (self, key) {
            (Self::None, key) => key.is_none(),
            (Self::Exact(wanted), key) => wanted == key,
            (Self::Any, InstanceKey::None) => false,
            (Self::Any, key) => {
                captures.push(Capture::Key(key.clone()));
                true
            }
            (Self::Text(glob), InstanceKey::String(key)) => matches_name(glob, key, captures),
            (Self::Text(_), _) => false,
        }
    }
}

fn matches_name(glob: &Glob, text: &str, captures: &mut Vec<Capture>) -> bool {
    let found = glob.captures(text);
    captures.extend(found.iter().flatten().map(|text| Capture::Text((*text).to_owned())));
    found.is_some()
}
