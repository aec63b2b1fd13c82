//! The destruction of everything that a state holds.

use std::collections::BTreeMap;

use groundstate_states::addr::AbsResourceInstance;
use groundstate_states::{Generation, ObjectSrc, ResourceInstance, State};

use crate::input::{Action, Input, InstanceInput, ObjectRecord, PlannedChange};
use crate::options::{Options, PlanMode};

impl ObjectRecord {
    /// What a state records about an object.
    #[must_use]
    pub fn of(object: &ObjectSrc) -> Self {
        Self {
            status: object.status,
            dependencies: object.dependencies.clone(),
            depends_on_instances: object.depends_on.clone(),
            create_before_destroy: object.create_before_destroy,
            skip_destroy: object.skip_destroy,
        }
    }
}

impl InstanceInput {
    /// What a state holds of an instance.
    #[must_use]
    pub fn of(
        addr: AbsResourceInstance,
        provider: groundstate_states::addr::ProviderConfig,
        instance: &ResourceInstance,
    ) -> Self {
        let deposed: BTreeMap<_, _> =
            instance.deposed.iter().map(|(key, object)| (*key, ObjectRecord::of(object))).collect();
        Self { addr, provider, current: instance.current.as_deref().map(ObjectRecord::of), deposed }
    }
}

impl Input {
    /// The instances of a state, without any change and without configuration.
    #[must_use]
    pub fn from_state(state: &State) -> Self {
        let mut input = Self::default();
        for (module, addr, resource) in state.all_resources() {
            for (key, instance) in &resource.instances {
                if instance.has_objects() {
                    let addr = addr.clone().absolute(module.clone()).instance(key.clone());
                    input.instances.push(InstanceInput::of(addr, resource.provider.clone(), instance));
                }
            }
        }
        input
    }

    /// The destruction of everything that a state holds, in an order that follows from the state alone.
    ///
    /// Objects that are recorded to be left alone are forgotten. Build it with [`Options::destroy`].
    ///
    /// # Examples
    ///
    /// ```
    /// use groundstate_ordering::{Input, Options, build};
    /// use groundstate_states::State;
    ///
    /// let graph = build(&Input::destroy(&State::new()), &Options::destroy())?;
    /// assert!(graph.nodes().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn destroy(state: &State) -> Self {
        let mut input = Self::from_state(state);
        for instance in &input.instances {
            let current = instance.current.iter().map(|object| (Generation::Current, object));
            let deposed = instance.deposed.iter().map(|(key, object)| (Generation::Deposed(*key), object));
            for (object, record) in current.chain(deposed) {
                let action = if record.skip_destroy { Action::Forget } else { Action::Delete };
                input.changes.push(PlannedChange { addr: instance.addr.clone(), object, action });
            }
        }
        input
    }
}

impl Options {
    /// The options of a plan that destroys.
    #[must_use]
    pub fn destroy() -> Self {
        Self { mode: PlanMode::Destroy, ..Self::default() }
    }
}
