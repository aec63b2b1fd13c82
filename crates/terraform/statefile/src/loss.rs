//! What writing a file would lose.

use groundstate_states::addr::InstanceKey;

use crate::dialect::Dialect;
use crate::file::File;
use crate::note::NoteKind;

/// One thing that writing would lose.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// Address of the object it belongs to; empty for the document.
    pub address: String,
    /// What is lost, without values.
    pub what: String,
    /// Index of the byte where it stands in the source, if it was read from one.
    pub offset: Option<usize>,
}

/// Lists what the file holds that its dialect has no place for, and what reading it could not keep.
pub(crate) fn of(file: &File) -> Vec<Loss> {
    let mut losses: Vec<Loss> = file
        .notes
        .iter()
        .filter(|note| note.kind == NoteKind::Lost)
        .map(|note| Loss { address: String::new(), what: note.message.clone(), offset: Some(note.offset) })
        .collect();
    losses.extend(dropped_by(file, file.dialect));
    losses
}

/// Lists what a product would drop that reads this file and writes it again.
///
/// Unknown members count too: only groundstate keeps them.
pub fn losses_in(file: &File, dialect: Dialect) -> Vec<Loss> {
    let mut losses = dropped_by(file, dialect);
    losses.extend(unread_by(file, dialect));
    let mut unknown = |address: &str, extra: &groundstate_states::Extra| {
        for (name, _) in extra.iter() {
            let what = format!("the unknown member {name:?}");
            losses.push(Loss { address: address.to_owned(), what, offset: None });
        }
    };
    unknown("", &file.extra);
    for (name, output) in &file.state.root().outputs {
        unknown(&format!("output.{name}"), &output.extra);
    }
    for_each_resource(file, |address, resource| {
        unknown(&address.to_string(), &resource.extra);
        for (key, instance) in &resource.instances {
            for object in instance.current.iter().chain(instance.deposed.values()) {
                unknown(&address.instance(key.clone()).to_string(), &object.extra);
            }
        }
    });
    losses
}

/// Lists the resources that a product drops when it reads this file, because it refuses the address of their provider.
pub fn unread_by(file: &File, dialect: Dialect) -> Vec<Loss> {
    let mut losses = Vec::new();
    for_each_resource(file, |address, resource| {
        let source = resource.provider.source.read_with(dialect.default_registry());
        if !dialect.reads(&source) {
            let what = format!("{address}, because {dialect} cannot read its provider {source}");
            losses.push(Loss { address: String::new(), what, offset: None });
        }
    });
    losses
}

/// Members of the other dialect, which this one's writer leaves out.
fn dropped_by(file: &File, dialect: Dialect) -> Vec<Loss> {
    let mut losses = Vec::new();
    let mut lose = |address: String, what: &str| {
        losses.push(Loss { address, what: what.to_owned(), offset: None });
    };
    if dialect == Dialect::OpenTofu {
        return losses;
    }
    for (name, output) in &file.state.root().outputs {
        if output.deprecated.is_some() {
            lose(format!("output.{name}"), "the deprecation message");
        }
    }
    for_each_resource(file, |address, resource| {
        for (key, instance) in &resource.instances {
            let name = || address.instance(key.clone()).to_string();
            if instance.provider_key != InstanceKey::None {
                lose(name(), "the instance key of its provider");
            }
            for object in instance.current.iter().chain(instance.deposed.values()) {
                if object.skip_destroy {
                    lose(name(), "the member \"skip_destroy\"");
                }
                if !object.depends_on.is_empty() {
                    lose(name(), "the instances in \"depends_on\"");
                }
            }
        }
    });
    losses
}

fn for_each_resource(
    file: &File,
    mut visit: impl FnMut(&groundstate_states::addr::AbsResource, &groundstate_states::Resource),
) {
    for (module, content) in file.state.modules() {
        for (name, resource) in &content.resources {
            visit(&name.clone().absolute(module.clone()), resource);
        }
    }
}

/// Names the first losses and counts the rest.
pub(crate) fn summary(losses: &[Loss]) -> String {
    let named: Vec<String> = losses.iter().take(3).map(ToString::to_string).collect();
    let more = losses.len().saturating_sub(named.len());
    let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{tail}", named.join("; "))
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.address.is_empty() {
            f.write_str(&self.what)
        } else {
            write!(f, "{} of {}", self.what, self.address)
        }
    }
}
