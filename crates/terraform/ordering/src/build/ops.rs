//! Which operations there are.

use std::collections::BTreeSet;

use groundstate_states::DeposedKey;
use groundstate_states::addr::ResourceMode;

use super::flags::Flags;
use super::model::{Deposed, Instance, Model, Object, Span};
use crate::error::{BuildError, Warning};
use crate::input::{Action, ReplaceOrder};
use crate::keys::{self, DeposedKeys};
use crate::node::{ApplyKind, OpKind};
use crate::options::{Options, PlanMode, Profile};

/// An operation on an instance, before it has a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub(super) instance: u32,
    pub(super) kind: OpKind,
    pub(super) cbd: bool,
    pub(super) deposes_to: Option<DeposedKey>,
    pub(super) skip_destroy: bool,
    /// The recorded part of what it is ordered by.
    pub(super) recorded: Span,
    /// Its own resource counts too, as the profile `Classic` has it.
    pub(super) records_itself: bool,
    /// Everything that configuration says counts too.
    pub(super) with_config: bool,
    /// It is dropped from the state, and ordered like a destruction.
    pub(super) ordered_forget: bool,
}

impl Op {
    pub(super) fn is_apply(&self) -> bool {
        matches!(self.kind, OpKind::Apply(_))
    }

    /// An apply node that changes something.
    pub(super) fn participates(&self) -> bool {
        matches!(self.kind, OpKind::Apply(kind) if kind != ApplyKind::Check)
    }

    pub(super) fn is_destroyer(&self) -> bool {
        self.ordered_forget || matches!(self.kind, OpKind::Destroy | OpKind::DestroyDeposed(_))
    }

    /// Whether configuration orders it: apply nodes, and objects of declared resources that are forgotten.
    pub(super) fn is_configured(&self, model: &Model<'_>) -> bool {
        let resource = model.instances[self.instance as usize].resource;
        self.is_apply() || (self.kind == OpKind::Forget && model.is_declared(resource))
    }

    /// Whether a provider has to be there for it.
    pub(super) fn needs_provider(&self, model: &Model<'_>) -> bool {
        let data = || model.mode(model.instances[self.instance as usize].resource) != ResourceMode::Managed;
        match self.kind {
            OpKind::Apply(_) | OpKind::DestroyDeposed(_) => true,
            OpKind::Destroy => !data(),
            _ => false,
        }
    }
}

/// The replacement order of each replaced instance, and all operations in the order of their keys.
pub(super) struct Operations {
    pub(super) ops: Vec<Op>,
    pub(super) orders: Vec<(u32, ReplaceOrder)>,
}

/// Makes the operations of each instance.
pub(super) struct Maker<'m> {
    pub(super) model: &'m Model<'m>,
    pub(super) flags: &'m Flags,
    pub(super) options: &'m Options,
    pub(super) keys: &'m mut dyn DeposedKeys,
    pub(super) errors: Vec<BuildError>,
    pub(super) warnings: Vec<Warning>,
    pub(super) made: Operations,
}

impl Maker<'_> {
    pub(super) fn run(&mut self) {
        let mut forgotten = Vec::new();
        for (number, instance) in (0_u32..).zip(&self.model.instances) {
            let first = self.made.ops.len();
            self.check(instance);
            self.current(number, instance);
            for deposed in &instance.deposed {
                self.deposed(number, instance, deposed);
            }
            self.made.ops[first..].sort_by_key(|op| part_rank(op.kind));
            let forgets = |op: &Op| matches!(op.kind, OpKind::Forget | OpKind::ForgetDeposed(_));
            if self.made.ops[first..].iter().any(forgets) {
                forgotten.push(instance.addr.clone());
            }
        }
        if self.options.mode == PlanMode::Destroy && !forgotten.is_empty() {
            self.warnings.push(Warning::ForgottenInDestroy { addrs: forgotten });
        }
    }

    /// Checks the action against the resource and what there is.
    fn check(&mut self, instance: &Instance<'_>) {
        let addr = || instance.addr.clone();
        if let Some(action) = instance.action {
            let fits = match self.model.mode(instance.resource) {
                ResourceMode::Data => {
                    matches!(action, Action::Read | Action::NoOp | Action::Delete | Action::Forget)
                }
                _ => action != Action::Read,
            };
            if !fits {
                self.errors.push(BuildError::ModeMismatch { addr: addr(), action });
                return;
            }
            let needs_current = matches!(
                action,
                Action::Update
                    | Action::Delete
                    | Action::Forget
                    | Action::Replace(_)
                    | Action::ForgetThenCreate
                    | Action::CreateThenForget
            );
            if needs_current && instance.current.is_none() {
                self.errors.push(BuildError::NoCurrent { addr: addr(), action });
            }
            if action == Action::Create && instance.current.is_some() {
                self.errors.push(BuildError::AlreadyExists { addr: addr() });
            }
        }
        if instance.is_desired() && !self.model.is_declared(instance.resource) {
            self.errors.push(BuildError::NotDeclared { addr: addr() });
        }
    }

    fn current(&mut self, number: u32, instance: &Instance<'_>) {
        let declared = self.model.declared[instance.resource as usize];
        match instance.action.unwrap_or(Action::NoOp) {
            Action::NoOp => {
                let mentioned = instance.action.is_some() || !self.options.checks_as_planned;
                let checked = declared.is_some_and(|declared| declared.has_conditions);
                if mentioned && checked && instance.is_desired() {
                    self.apply(number, instance, ApplyKind::Check);
                }
            }
            Action::Create => self.apply(number, instance, ApplyKind::Create),
            Action::Read => self.apply(number, instance, ApplyKind::Read),
            Action::Update => self.apply(number, instance, ApplyKind::Update),
            Action::Delete => self.destroy(number, instance),
            Action::Forget => self.forget(number, OpKind::Forget, instance.current),
            Action::ForgetThenCreate => {
                self.apply(number, instance, ApplyKind::ForgetCreate);
                self.forget(number, OpKind::Forget, instance.current);
            }
            Action::CreateThenForget => {
                let key = self.depose(number, instance);
                self.forget(number, OpKind::ForgetDeposed(key), instance.current);
                if let Some(op) = self.made.ops.last_mut() {
                    op.cbd = true;
                }
            }
            Action::Replace(order) => self.replace(number, instance, order),
        }
    }

    fn replace(&mut self, number: u32, instance: &Instance<'_>, order: ReplaceOrder) {
        let effective = self.flags.effective(self.model, number);
        let order = match order {
            ReplaceOrder::Auto if effective => ReplaceOrder::CreateThenDelete,
            ReplaceOrder::Auto => ReplaceOrder::DeleteThenCreate,
            order => order,
        };
        if order == ReplaceOrder::DeleteThenCreate {
            self.refuse_conflict(instance);
        }
        self.made.orders.push((number, order));
        if order == ReplaceOrder::DeleteThenCreate {
            self.apply(number, instance, ApplyKind::ReplaceCreate);
            self.destroy(number, instance);
            return;
        }
        let key = self.depose(number, instance);
        let Some(object) = instance.current else { return };
        let op = self.destroyer(number, OpKind::DestroyDeposed(key), object);
        self.made.ops.push(Op { cbd: true, with_config: self.merges_config(instance), ..op });
        self.warn_skipped(instance, object, None);
    }

    /// The creating half of a replacement that comes first. Returns the key under which the old object is kept meanwhile.
    fn depose(&mut self, number: u32, instance: &Instance<'_>) -> DeposedKey {
        self.apply(number, instance, ApplyKind::ReplaceCreate);
        let used: BTreeSet<_> = instance.deposed.iter().map(|deposed| deposed.key).collect();
        let key = keys::allocate(self.keys, instance.addr, &used);
        if let Some(apply) = self.made.ops.last_mut() {
            apply.deposes_to = Some(key);
        }
        key
    }

    fn refuse_conflict(&mut self, instance: &Instance<'_>) {
        let addr = || instance.addr.clone();
        match self.options.profile {
            Profile::Fixed => {
                if let Some(cause) = self.flags.causes.explain(&self.model.config, instance.resource) {
                    self.errors.push(BuildError::ReplaceOrderConflict { addr: addr(), cause });
                }
            }
            Profile::Classic => {
                if instance.current.is_some_and(|object| object.cbd) {
                    self.errors.push(BuildError::InconsistentReplaceOrder { addr: addr() });
                }
            }
        }
    }

    fn apply(&mut self, number: u32, instance: &Instance<'_>, kind: ApplyKind) {
        // What is read anew has no record any more.
        let object = instance.current.filter(|_| kind != ApplyKind::Read);
        self.made.ops.push(Op {
            instance: number,
            kind: OpKind::Apply(kind),
            cbd: self.flags.effective(self.model, number),
            deposes_to: None,
            skip_destroy: false,
            recorded: object.map(|object| object.recorded).unwrap_or_default(),
            records_itself: object.is_some_and(|object| self.counts_itself(object)),
            with_config: object.is_none() || !self.options.recorded_only,
            ordered_forget: false,
        });
    }

    /// The destruction of the current object.
    fn destroy(&mut self, number: u32, instance: &Instance<'_>) {
        let Some(object) = instance.current else { return };
        let op = self.destroyer(number, OpKind::Destroy, object);
        let cbd = match self.options.profile {
            Profile::Fixed => self.flags.effective(self.model, number),
            Profile::Classic => object.cbd,
        };
        self.made.ops.push(Op { cbd, with_config: self.merges_config(instance), ..op });
        self.warn_skipped(instance, object, None);
    }

    fn deposed(&mut self, number: u32, instance: &Instance<'_>, deposed: &Deposed) {
        match deposed.action {
            Some(Action::Delete) => {
                let kind = OpKind::DestroyDeposed(deposed.key);
                let mut op = Op { cbd: true, ..self.destroyer(number, kind, deposed.object) };
                if self.options.profile == Profile::Classic {
                    // Upstream takes the record of the current object for that of every deposed one.
                    let current = instance.current;
                    op.recorded = current.map(|object| object.recorded).unwrap_or_default();
                    op.records_itself = current.is_some_and(|object| object.records_itself);
                    op.with_config = current.is_some() && self.merges_config(instance);
                }
                self.made.ops.push(op);
                self.warn_skipped(instance, deposed.object, Some(deposed.key));
            }
            Some(Action::Forget) => {
                // Upstream takes the record of the current object here too.
                let object = match self.options.profile {
                    Profile::Classic => instance.current,
                    Profile::Fixed => Some(deposed.object),
                };
                self.forget(number, OpKind::ForgetDeposed(deposed.key), object);
            }
            _ => {}
        }
    }

    fn destroyer(&self, number: u32, kind: OpKind, object: Object) -> Op {
        Op {
            instance: number,
            kind,
            cbd: false,
            deposes_to: None,
            skip_destroy: object.skip_destroy,
            recorded: object.recorded,
            records_itself: self.counts_itself(object),
            with_config: false,
            ordered_forget: false,
        }
    }

    /// Whether a destroyer of the current object is ordered by configuration too.
    fn merges_config(&self, instance: &Instance<'_>) -> bool {
        !self.options.recorded_only
            && (instance.is_desired() || self.options.mode == PlanMode::Destroy)
            && self.model.is_declared(instance.resource)
    }

    fn counts_itself(&self, object: Object) -> bool {
        object.records_itself && self.options.profile == Profile::Classic
    }

    /// Drops an object from the state. Its records count only where the options order it.
    fn forget(&mut self, number: u32, kind: OpKind, object: Option<Object>) {
        let ordered = object.filter(|_| self.options.ordered_forgets);
        self.made.ops.push(Op {
            instance: number,
            kind,
            cbd: false,
            deposes_to: None,
            skip_destroy: false,
            recorded: ordered.map(|object| object.recorded).unwrap_or_default(),
            records_itself: ordered.is_some_and(|object| self.counts_itself(object)),
            with_config: false,
            ordered_forget: self.options.ordered_forgets,
        });
    }

    fn warn_skipped(&mut self, instance: &Instance<'_>, object: Object, deposed: Option<DeposedKey>) {
        if object.skip_destroy {
            self.warnings.push(Warning::SkipDestroy { addr: instance.addr.clone(), deposed });
        }
    }
}

/// The place of an operation among those on its instance.
pub(super) fn part_rank(kind: OpKind) -> (u8, Option<DeposedKey>) {
    match kind {
        OpKind::ForgetDeposed(key) => (2, Some(key)),
        OpKind::DestroyDeposed(key) => (4, Some(key)),
        OpKind::Forget => (1, None),
        OpKind::Destroy => (3, None),
        _ => (0, None),
    }
}
