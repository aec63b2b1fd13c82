//! What is left of a configuration under another one, as of the files under `TF_ENCRYPTION`.

use super::{Configuration, Declared, TargetBlock};

impl Configuration {
    /// This configuration, with what `over` says in the place of what is said here.
    ///
    /// Options of key providers and methods are merged by name, targets by `method` and `fallback`; `enforced` is true if
    /// either says so. As in OpenTofu, `encrypted_metadata_alias` of a provider that is declared here stays.
    #[must_use]
    pub fn merged(mut self, over: Self) -> Self {
        declared(&mut self.providers, over.providers);
        declared(&mut self.methods, over.methods);
        target(&mut self.state, over.state);
        target(&mut self.plan, over.plan);
        target(&mut self.remote_default, over.remote_default);
        for (name, block) in over.remote {
            match self.remote.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => merge_target(known, block),
                None => self.remote.push((name, block)),
            }
        }
        self
    }
}

fn declared(to: &mut Vec<Declared>, over: Vec<Declared>) {
    for block in over {
        let Some(known) = to.iter_mut().find(|known| known.kind == block.kind && known.name == block.name)
        else {
            to.push(block);
            continue;
        };
        for (name, value, place) in block.options.values {
            let values = &mut known.options.values;
            match values.iter_mut().find(|(known, ..)| *known == name) {
                Some(option) => *option = (name, value, place),
                None => values.push((name, value, place)),
            }
        }
    }
}

fn target(to: &mut Option<TargetBlock>, over: Option<TargetBlock>) {
    match (to.as_mut(), over) {
        (Some(known), Some(over)) => merge_target(known, over),
        (None, over) => *to = over,
        (Some(_), None) => {}
    }
}

fn merge_target(known: &mut TargetBlock, over: TargetBlock) {
    known.enforced |= over.enforced;
    known.method = over.method.or(known.method.take());
    known.fallbacks = over.fallbacks.or(known.fallbacks.take());
}
