//! Rules about what Pulumi reads before it verifies: the secrets provider, values, and what every resource has.

use groundstate_common::with_causes;
use groundstate_pulumi_deployment::{
    CiphertextCheck, PropertyError, PropertyErrorKind as Wrong, ReadableSecrets, Salvaged, readable_secrets,
    salvage_map, salvage_value, secrets_providers,
};
use groundstate_pulumi_secrets::{ProviderError, inspect_provider};
use groundstate_pulumi_snapshot::{
    Properties, PropertyPathStep, RawJson, Resource, Snapshot, StoredValue, Urn,
};

use super::{Checker, Finding, unloadable};
use crate::rule::Rule;

/// What Pulumi says of a ciphertext where it has no manager to decrypt it.
const NO_MANAGER: &str = "decrypting secret value: failed to decrypt: snapshot contains encrypted secrets but no secrets manager \
                          could be found";

/// A member of a resource that holds values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Values {
    Inputs,
    Outputs,
    Trigger,
}

impl Values {
    pub(crate) const ALL: [Self; 3] = [Self::Inputs, Self::Outputs, Self::Trigger];

    /// The name of the member.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Inputs => "inputs",
            Self::Outputs => "outputs",
            Self::Trigger => "replacementTrigger",
        }
    }

    /// The text of the member, if it is there and has not been decoded.
    fn raw(self, resource: &Resource) -> Option<&RawJson> {
        match self {
            Self::Inputs => raw_of(&resource.inputs),
            Self::Outputs => raw_of(&resource.outputs),
            Self::Trigger => match &resource.replacement_trigger {
                Some(StoredValue::Raw(raw)) => Some(raw),
                _ => None,
            },
        }
    }
}

fn raw_of(properties: &Properties) -> Option<&RawJson> {
    match properties {
        Properties::Raw(raw) => Some(raw),
        _ => None,
    }
}

/// What is wrong with the values of a member.
pub(crate) struct Faults {
    pub(crate) errors: Vec<PropertyError>,
    /// How many more there are.
    more: usize,
    /// How many there are that Pulumi cannot load, and how many of those that nothing can decrypt.
    pub(crate) unloadable: usize,
    pub(crate) undecryptable: usize,
    /// The text without what cannot be loaded; nothing if nothing is left.
    pub(crate) left: Option<RawJson>,
}

impl Faults {
    fn of<V>(salvaged: Salvaged<V>) -> Self {
        let Salvaged { faults: errors, more, unloadable, undecryptable, text: left, .. } = salvaged;
        Self { errors, more, unloadable, undecryptable, left }
    }

    /// The errors that keep Pulumi from loading the member.
    pub(crate) fn breaking(&self) -> impl Iterator<Item = &PropertyError> {
        self.errors.iter().filter(|error| *error.kind() != Wrong::TooDeep)
    }

    /// How many of those are not among the errors.
    pub(crate) fn more_unloadable(&self) -> usize {
        self.unloadable - self.breaking().count()
    }
}

/// What is wrong with the values of a member, if it is there and has not been decoded.
pub(crate) fn faults(values: Values, resource: &Resource, check: CiphertextCheck<'_>) -> Option<Faults> {
    let raw = values.raw(resource)?;
    let found = match values {
        Values::Trigger => salvage_value(raw, check).map(Faults::of),
        _ => salvage_map(raw, check).map(Faults::of),
    };
    Some(found.unwrap_or_else(|error| Faults {
        errors: vec![error],
        more: 0,
        unloadable: 1,
        undecryptable: 0,
        left: None,
    }))
}

/// How ciphertexts of a snapshot are looked at.
pub(crate) fn ciphertext_check(snapshot: &Snapshot) -> CiphertextCheck<'_> {
    match snapshot.secrets_provider.as_ref().filter(|provider| !provider.kind.is_empty()) {
        Some(provider) => CiphertextCheck::Manager(&provider.kind),
        None => CiphertextCheck::NoManager,
    }
}

/// Why no secrets manager can be made as the snapshot says, with Pulumi's words if they are known.
pub(crate) fn unusable_provider(snapshot: &Snapshot) -> Option<(Rule, String, Option<String>)> {
    let provider = snapshot.secrets_provider.as_ref().filter(|provider| !provider.kind.is_empty())?;
    let kind = &provider.kind;
    let found = match secrets_providers(provider) {
        Ok(providers) => inspect_provider(&providers).err()?,
        Err(error) => ProviderError::construct(kind, error),
    };
    Some(match found {
        ProviderError::Unknown { .. } => {
            let original = format!("no known secrets provider for type {kind:?}");
            (Rule::SecretsProviderUnknown, format!("no secrets provider is called {kind:?}"), Some(original))
        }
        other => (Rule::SecretsProviderState, with_causes(&other).to_string(), None),
    })
}

impl Checker<'_> {
    /// Everything that Pulumi reads before it verifies, in its order.
    pub(super) fn loading(&mut self) {
        if !self.known.options.loading {
            return;
        }
        let snapshot = self.known.snapshot;
        if let Some((rule, message, original)) = unusable_provider(snapshot) {
            let finding = Finding::new(rule, message, "secrets_providers");
            self.push(Finding { original, ..finding });
        }
        // Ciphertexts are decrypted at once, when all else has been read.
        self.each(|checker, index, resource| {
            let of = |finding: Finding| Finding { resource: Some(index), ..finding };
            checker.values(resource, &format!("resources[{index}]"), of);
            checker.readable(resource, &format!("resources[{index}]"), of);
            checker.required(index, resource);
        });
        for (index, operation) in snapshot.pending_operations.iter().enumerate() {
            let of = |finding: Finding| Finding { pending: Some(index), ..finding };
            self.values(&operation.resource, &format!("pending_operations[{index}].resource"), of);
            self.readable(&operation.resource, &format!("pending_operations[{index}].resource"), of);
            self.unloadable_operation(index, operation);
        }
        std::mem::take(&mut self.late).into_iter().for_each(|finding| self.push(finding));
    }

    /// What every resource has: Pulumi's words are those of reading it.
    fn required(&mut self, index: usize, resource: &Resource) {
        let (rule, message, member) = if resource.urn.is_empty() {
            (Rule::UrnMissing, "the resource has no URN".to_owned(), ".urn")
        } else if resource.resource_type.is_empty() {
            (Rule::TypeMissing, "the resource has no type".to_owned(), ".type")
        } else if let (false, Some(id)) = (resource.custom, resource.id()) {
            let message = format!("the resource is a component and has the identifier {id:?}");
            (Rule::IdOnComponent, message, ".id")
        } else {
            return;
        };
        let original = unloadable(resource).map(|(_, original)| original);
        self.about(index, resource, member, Finding { original, ..Finding::new(rule, message, "") });
        // The reader stops at the first of them, and the others are wrong too.
        if rule == Rule::UrnMissing && resource.resource_type.is_empty() {
            let finding = Finding::new(Rule::TypeMissing, "the resource has no type", "");
            self.about(index, resource, ".type", finding);
        }
        if rule != Rule::IdOnComponent
            && let (false, Some(id)) = (resource.custom, resource.id())
        {
            let message = format!("the resource is a component and has the identifier {id:?}");
            self.about(index, resource, ".id", Finding::new(Rule::IdOnComponent, message, ""));
        }
    }

    /// What is wrong with the values of a resource; ciphertexts that are damaged go to the others of their kind.
    fn values(&mut self, resource: &Resource, at: &str, of: impl Fn(Finding) -> Finding) {
        let check = ciphertext_check(self.known.snapshot);
        for values in Values::ALL {
            let Some(found) = faults(values, resource, check) else { continue };
            for error in &found.errors {
                let finding = of(finding_of(values, error, at, &resource.urn));
                match finding.rule {
                    Rule::CiphertextDamaged => self.late.push(finding),
                    _ => self.push(finding),
                }
            }
            let more = found.more_unloadable();
            let rule = found.breaking().last().map_or(Rule::UnknownSignature, |last| rule_of(last.kind()));
            let too_deep = found.more - more;
            for (count, rule, what) in [
                (more, rule, "cannot be loaded"),
                (too_deep, Rule::ValuesTooDeep, "nest too deep to be checked"),
            ] {
                if count > 0 {
                    let message = format!("{count} more values of {} {what}", values.name());
                    let finding = Finding::new(rule, message, format!("{at}.{}", values.name()));
                    self.push(of(Finding { urn: named(&resource.urn), ..finding }));
                }
            }
        }
    }
}

impl Checker<'_> {
    /// Secrets without encryption.
    fn readable(&mut self, resource: &Resource, at: &str, of: impl Fn(Finding) -> Finding) {
        let ReadableSecrets { inputs, outputs, trigger } = readable_secrets(resource);
        for (values, number) in Values::ALL.into_iter().zip([inputs, outputs, trigger]) {
            if number > 0 {
                let (member, what) =
                    (values.name(), if number == 1 { "secret stands" } else { "secrets stand" });
                let message = format!("{number} {what} unencrypted in its {member}");
                let finding = Finding::new(Rule::SecretReadable, message, format!("{at}.{member}"));
                self.push(of(Finding { urn: named(&resource.urn), ..finding }));
            }
        }
    }
}

fn named(urn: &Urn) -> Option<Urn> {
    (!urn.is_empty()).then(|| urn.clone())
}

/// The path of a value, from the member it stands in.
pub(crate) fn path_of(values: Values, error: &PropertyError) -> String {
    let mut path = values.name().to_owned();
    for step in error.path().steps() {
        match step {
            PropertyPathStep::Name(name) => groundstate_json::push_name(&mut path, name),
            PropertyPathStep::Index(index) => path.push_str(&format!("[{index}]")),
        }
    }
    path
}

fn finding_of(values: Values, error: &PropertyError, at: &str, urn: &Urn) -> Finding {
    let path = format!("{at}.{}", path_of(values, error));
    let rule = rule_of(error.kind());
    let message = match values {
        Values::Trigger => format!("its replacement trigger cannot be loaded: {}", error.kind()),
        _ => format!("a value of its {} cannot be loaded: {}", values.name(), error.kind()),
    };
    let finding = Finding::new(rule, message, path);
    Finding { urn: named(urn), original: original(error.kind()), ..finding }
}

fn rule_of(kind: &Wrong) -> Rule {
    match kind {
        Wrong::Secret => Rule::SecretMalformed,
        Wrong::SecretContent | Wrong::Syntax(_) => Rule::SecretContent,
        Wrong::Content { what: "asset", .. } => Rule::AssetMalformed,
        Wrong::Content { .. } | Wrong::Assets { .. } | Wrong::ArchiveMember(_) => Rule::ArchiveMalformed,
        Wrong::ReferenceVersion | Wrong::ReferenceUrn | Wrong::ReferenceId => Rule::ReferenceMalformed,
        Wrong::BytesMissing | Wrong::Bytes => Rule::BytesMalformed,
        Wrong::FloatMissing | Wrong::Float => Rule::FloatMalformed,
        Wrong::NumberRange => Rule::NumberRange,
        Wrong::NoManager => Rule::SecretWithoutManager,
        Wrong::Ciphertext(_) => Rule::CiphertextDamaged,
        Wrong::TooDeep => Rule::ValuesTooDeep,
        _ => Rule::UnknownSignature,
    }
}

/// Pulumi's words, where they are the same in every release.
fn original(kind: &Wrong) -> Option<String> {
    match kind {
        Wrong::Secret
        | Wrong::ReferenceVersion
        | Wrong::ReferenceUrn
        | Wrong::ReferenceId
        | Wrong::BytesMissing
        | Wrong::FloatMissing
        | Wrong::Signature(_) => Some(kind.to_string()),
        Wrong::Content { what, member, found: Some(found) } => {
            let member = if *member == "uri" { "URI" } else { member };
            Some(format!("unexpected {what} {member} of type {found}"))
        }
        Wrong::Assets { found: Some(found) } => Some(format!("unexpected archive contents of type {found}")),
        Wrong::ArchiveMember(name) => Some(format!("archive member '{name}' is not an asset or archive")),
        Wrong::NoManager => Some(NO_MANAGER.to_owned()),
        _ => None,
    }
}
