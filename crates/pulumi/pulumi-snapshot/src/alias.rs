//! Aliases: under which names a resource may have been known.

use std::sync::Arc;

use crate::type_token::TypeToken;
use crate::urn::Urn;

/// What a program says about an earlier name of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AliasSpec {
    /// The whole name.
    Urn(Urn),
    /// What was different.
    Parts(AliasParts),
}

/// The parts of a name that were different; those that are absent were as they are now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AliasParts {
    /// The last part of the URN.
    pub name: Option<Arc<str>>,
    /// The type.
    pub resource_type: Option<TypeToken>,
    /// The stack.
    pub stack: Option<Arc<str>>,
    /// The project.
    pub project: Option<Arc<str>>,
    /// The parent.
    pub parent: AliasParent,
}

/// Which parent a resource had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AliasParent {
    /// The one it has now.
    #[default]
    Same,
    /// None.
    None,
    /// Another one.
    Urn(Urn),
}

/// The resource that is registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AliasTarget {
    /// The last part of its URN.
    pub name: Arc<str>,
    /// Its type.
    pub resource_type: TypeToken,
    /// Its stack.
    pub stack: Arc<str>,
    /// Its project.
    pub project: Arc<str>,
    /// Its parent.
    pub parent: Option<Urn>,
}

impl AliasTarget {
    /// The names under which the resource may have been known, each once, in the order in which they are tried.
    ///
    /// `matched` gives the alias through which another resource was found, if it was. A resource below such a parent may have
    /// been known under the name it had below the parent's alias.
    ///
    /// ```
    /// use groundstate_pulumi_snapshot::{AliasParts, AliasSpec, AliasTarget};
    ///
    /// let target = AliasTarget {
    ///     name: "assets".into(),
    ///     resource_type: "aws:s3/bucket:Bucket".into(),
    ///     stack: "dev".into(),
    ///     project: "shop".into(),
    ///     parent: None,
    /// };
    /// let spec = AliasSpec::Parts(AliasParts { name: Some("files".into()), ..AliasParts::default() });
    /// let aliases = target.aliases(&[spec], |_| None);
    /// assert_eq!(aliases[0].as_str(), "urn:pulumi:dev::shop::aws:s3/bucket:Bucket::files");
    /// ```
    pub fn aliases(&self, specs: &[AliasSpec], matched: impl Fn(&Urn) -> Option<Urn>) -> Vec<Urn> {
        let collapsed: Vec<Urn> = specs.iter().map(|spec| self.collapse(spec, &matched)).collect();
        let mut aliases: Vec<Urn> = Vec::new();
        let mut add = |urn: Urn| {
            if !aliases.contains(&urn) {
                aliases.push(urn);
            }
        };
        collapsed.iter().cloned().for_each(&mut add);
        if let Some(parent) = &self.parent
            && let Some(parent_alias) = matched(parent)
        {
            add(self.inherited(&self.name, &self.resource_type, parent, &parent_alias));
            for urn in &collapsed {
                add(self.inherited(urn.name(), &urn.type_token(), parent, &parent_alias));
            }
        }
        aliases
    }

    /// The name that a specification stands for.
    pub fn collapse(&self, spec: &AliasSpec, matched: impl Fn(&Urn) -> Option<Urn>) -> Urn {
        let parts = match spec {
            AliasSpec::Urn(urn) => return urn.clone(),
            AliasSpec::Parts(parts) => parts,
        };
        let parent = match &parts.parent {
            AliasParent::None => None,
            AliasParent::Same => self.parent.clone(),
            AliasParent::Urn(urn) => Some(matched(urn).unwrap_or_else(|| urn.clone())),
        };
        let parent = parent.filter(|urn| !urn.is_root_stack());
        create_urn(
            parts.name.as_deref().unwrap_or(&self.name),
            parts.resource_type.as_ref().unwrap_or(&self.resource_type),
            parent.as_ref(),
            parts.stack.as_deref().unwrap_or(&self.stack),
            parts.project.as_deref().unwrap_or(&self.project),
        )
    }

    /// The name that a child had below the alias of its parent: names of children often begin with that of the parent.
    fn inherited(&self, name: &str, resource_type: &TypeToken, parent: &Urn, parent_alias: &Urn) -> Urn {
        let name = match name.strip_prefix(parent.name()) {
            Some(rest) => {
                let alias = parent_alias.as_str();
                format!("{}{rest}", alias.rsplit_once("::").map_or(alias, |(_, name)| name))
            }
            None => name.to_owned(),
        };
        create_urn(&name, resource_type, Some(parent_alias), &self.stack, &self.project)
    }
}

/// The name of a resource below a parent, as programs compute it for aliases.
///
/// The parent is cut off at its last `::`, so stack and project are the parent's, and the result is of no use if the
/// parent's own name holds `::`. Programs get the same result, so it must not be mended here.
pub fn create_urn(
    name: &str,
    resource_type: &TypeToken,
    parent: Option<&Urn>,
    stack: &str,
    project: &str,
) -> Urn {
    match parent {
        None => Urn::build(stack, project, "", resource_type.as_str(), name),
        Some(parent) => {
            let parent = parent.as_str();
            let prefix = parent.rsplit_once("::").map_or(parent, |(prefix, _)| prefix);
            Urn::new(format!("{prefix}${resource_type}::{name}"))
        }
    }
}
