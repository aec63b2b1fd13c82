//! Repairs of what a resource says it is: name, type, identifier.

use std::collections::BTreeSet;

use groundstate_pulumi_snapshot::{Resource, TypeToken, Urn};

use super::choice::{Choice, QuestionId};
use super::step::{Action, RemoveReason};
use super::work::Work;

/// The type of what is only known to have been there.
const UNKNOWN_TYPE: &str = "recovered:index:Resource";

impl Work<'_> {
    pub(super) fn identities(&mut self) {
        let home = self.home();
        let mut nameless = BTreeSet::new();
        for index in 0..self.len() {
            let resource = self.at(index);
            if resource.resource_type.is_empty() {
                self.set_type(index, known_type(&resource.urn));
            }
            if resource.urn.is_empty() && !self.name(index, &home) {
                nameless.insert(index);
            }
            self.identifier(index, &resource);
        }
        self.remove(&nameless, RemoveReason::Nameless);
    }

    fn set_type(&mut self, index: usize, token: TypeToken) {
        self.step(index, Action::SetType(token.clone()));
        self.change(index, |resource| resource.resource_type = token);
    }

    /// Names a resource, unless it is to go. It is protected: no program knows it, so the next update would delete it.
    fn name(&mut self, index: usize, (stack, project): &(String, String)) -> bool {
        let name = format!("recovered-{}", self.origin(index));
        let token = self.at(index).resource_type.clone();
        let mut urn = Urn::build(stack, project, "", token.as_str(), &name);
        if self.is_taken(&urn) {
            urn = self.free_name(&urn);
        }
        let text = format!("The resource at index {} has no URN.", self.origin(index));
        let choices = vec![Choice::Name(urn.clone()), Choice::Remove];
        let answer = self.ask(QuestionId::Nameless(self.origin(index)), text, choices, 0);
        if answer == Some(Choice::Remove) {
            return false;
        }
        self.step(index, Action::Name(urn.clone()));
        self.rename(index, &urn);
        self.change(index, |resource| resource.protect = true);
        true
    }

    /// Stack and project of the resources that have names.
    fn home(&self) -> (String, String) {
        let root = self.snapshot.root_stack().map(|(_, root)| &root.urn);
        let mut names = self.snapshot.resources.iter().map(|resource| &resource.urn);
        match root.or_else(|| names.find(|urn| urn.is_valid())) {
            Some(urn) => (urn.stack().to_owned(), urn.project().to_owned()),
            None => ("recovered".to_owned(), "recovered".to_owned()),
        }
    }

    fn identifier(&mut self, index: usize, resource: &Resource) {
        let Some(id) = resource.id().filter(|_| !resource.custom) else { return };
        if resource.provider().is_some() {
            self.step(index, Action::MakeCustom);
            self.change(index, |resource| resource.custom = true);
        } else {
            self.step(index, Action::DropId(id.clone()));
            self.change(index, |resource| resource.id = None);
        }
    }

    /// Providers get the type into their names; where that is of no use, what the name says is the type.
    pub(super) fn unreferenceable_providers(&mut self) {
        for index in 0..self.len() {
            let resource = self.at(index);
            if !resource.is_provider() || resource.provider_ref().is_ok() {
                continue;
            }
            let urn = self.provider_urn(index, &resource);
            let named = Resource { urn: urn.clone(), ..Resource::default() };
            if named.provider_ref().is_ok() {
                let text = format!("The provider {} cannot be referred to by its URN.", resource.urn);
                let id = QuestionId::Unreferenceable(self.origin(index));
                self.ask_openly(id, text, vec![Choice::Rename(urn.clone())]);
                self.step(index, Action::Rename(urn.clone()));
                self.rename(index, &urn);
            } else {
                self.set_type(index, known_type(&resource.urn));
            }
        }
    }

    fn provider_urn(&self, index: usize, resource: &Resource) -> Urn {
        let (urn, token) = (&resource.urn, resource.resource_type.as_str());
        let wanted = if urn.is_valid() {
            Urn::build(urn.stack(), urn.project(), urn.parent_type(), token, urn.name())
        } else {
            let (stack, project) = self.home();
            Urn::build(&stack, &project, "", token, &format!("recovered-{}", self.origin(index)))
        };
        if self.is_taken(&wanted) { self.free_name(&wanted) } else { wanted }
    }
}

/// The type that a name ends in, if it is one that is not that of a provider.
fn known_type(urn: &Urn) -> TypeToken {
    let token = urn.type_token();
    let unusable = token.is_empty()
        || (token.is_provider() && Resource::new(urn.clone(), token.clone()).provider_ref().is_err());
    if unusable { TypeToken::from(UNKNOWN_TYPE) } else { token }
}
