//! A provider of objects that really exist, in memory, and that crashes and fails when told to.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use groundstate_executor::{Call, Provider};
use groundstate_ordering::OpKind;
use groundstate_ordering::effects::Reply;
use groundstate_states::addr::ProviderConfig;
use groundstate_states::{Attributes, ObjectSrc, RawJson, State};

use crate::support::addr;
use crate::trap::Trap;

/// What exists.
#[derive(Clone, Debug, Default)]
pub(crate) struct World(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    live: BTreeMap<String, Thing>,
    made: usize,
    answers: BTreeMap<String, VecDeque<Answer>>,
    calls: Vec<String>,
    violations: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thing {
    pub(crate) version: u32,
    /// The object that this one refers to.
    pub(crate) uses: Option<String>,
}

/// How a call ends, if not well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It fails, and there is nothing to say about the object.
    FailsNull,
    /// It fails after the object was made or changed.
    FailsObject,
    /// It says that all is well, and nothing else.
    SaysNothing,
    /// It panics after the object was made.
    Panics,
}

/// A client of a [`World`] with a trap before and after each change.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) world: World,
    pub(crate) trap: Trap,
}

impl World {
    pub(crate) fn put(&self, id: &str, thing: Thing) {
        self.0.lock().unwrap().live.insert(id.to_owned(), thing);
    }

    pub(crate) fn remove(&self, id: &str) {
        self.0.lock().unwrap().live.remove(id);
    }

    pub(crate) fn live(&self) -> BTreeMap<String, Thing> {
        self.0.lock().unwrap().live.clone()
    }

    /// The next call of this name, such as `create net.a`, ends so.
    pub(crate) fn answer(&self, call: &str, answer: Answer) {
        self.0.lock().unwrap().answers.entry(call.to_owned()).or_default().push_back(answer);
    }

    /// No call fails from now on.
    pub(crate) fn forgive(&self) {
        self.0.lock().unwrap().answers.clear();
    }

    pub(crate) fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap().calls)
    }

    /// Objects that were destroyed while another used them.
    pub(crate) fn violations(&self) -> Vec<String> {
        self.0.lock().unwrap().violations.clone()
    }

    fn change(&self, name: &str, call: &Call<'_>) -> (Option<Answer>, Option<ObjectSrc>) {
        let mut inner = self.0.lock().unwrap();
        inner.calls.push(name.to_owned());
        let answer = inner.answers.get_mut(name).and_then(VecDeque::pop_front);
        if matches!(answer, Some(Answer::FailsNull)) {
            return (answer, None);
        }
        let prior = call.prior.as_deref().map(id);
        let target = &call.operation.addr;
        if call.operation.creates() || call.operation.kind.name() == "update" {
            let id = match (&prior, call.operation.creates()) {
                (Some(id), false) => id.clone(),
                _ => {
                    inner.made += 1;
                    format!("{}-{}", target.resource.resource.name, inner.made)
                }
            };
            let uses = (*target == addr("vm.b")).then(|| current(call.state, "net.a")).flatten();
            let thing = Thing { version: 2, uses };
            inner.live.insert(id.clone(), thing.clone());
            return (answer, Some(object(&id, &thing)));
        }
        let Some(id) = prior else { return (answer, None) };
        if answer == Some(Answer::FailsObject) {
            let thing = Thing { version: 9, uses: None };
            inner.live.insert(id.clone(), thing.clone());
            return (answer, Some(object(&id, &thing)));
        }
        let users: Vec<_> = inner
            .live
            .iter()
            .filter(|(_, thing)| thing.uses.as_ref() == Some(&id))
            .map(|(user, _)| user.clone())
            .collect();
        for user in users {
            inner.violations.push(format!("{id} was destroyed while {user} used it"));
        }
        inner.live.remove(&id);
        (answer, None)
    }
}

#[async_trait]
impl Provider for Client {
    async fn call(&self, call: Call<'_>) -> Reply {
        let verb = match call.operation.kind {
            OpKind::DestroyDeposed(_) => "destroy-deposed",
            _ if call.operation.creates() => "create",
            kind => kind.name(),
        };
        let name = format!("{verb} {}", call.operation.addr);
        self.trap.point(&format!("before {name}")).await;
        let (answer, object) = self.world.change(&name, &call);
        self.trap.point(&format!("after {name}")).await;
        let object = object.map(Box::new);
        assert!(answer != Some(Answer::Panics), "the provider broke");
        match answer {
            None => Reply::Succeeded(object),
            Some(Answer::SaysNothing) => Reply::Succeeded(None),
            Some(_) => Reply::Failed { object, message: format!("cannot {name}") },
        }
    }

    async fn configure(&self, provider: &ProviderConfig) -> Result<(), String> {
        self.world.0.lock().unwrap().calls.push(format!("configure {provider}"));
        Ok(())
    }

    async fn close(&self, provider: &ProviderConfig) -> Result<(), String> {
        Err(format!("{provider} does not close"))
    }
}

/// The record of a thing.
pub(crate) fn object(id: &str, thing: &Thing) -> ObjectSrc {
    let uses = thing.uses.as_deref().unwrap_or_default();
    let text = format!("{{\"id\":\"{id}\",\"uses\":\"{uses}\",\"version\":{}}}", thing.version);
    ObjectSrc::new(0, RawJson::parse(&text).unwrap())
}

/// The id of a recorded object.
pub(crate) fn id(object: &ObjectSrc) -> String {
    let Attributes::Json(json) = &object.attributes else { return String::new() };
    json.as_str().split('"').nth(3).unwrap_or_default().to_owned()
}

/// The version of a recorded object.
pub(crate) fn version(object: &ObjectSrc) -> u32 {
    let Attributes::Json(json) = &object.attributes else { return 0 };
    json.as_str().rsplit([':', '}']).nth(1).and_then(|digits| digits.parse().ok()).unwrap_or_default()
}

/// The object that a recorded one uses.
pub(crate) fn uses(object: &ObjectSrc) -> Option<String> {
    let Attributes::Json(json) = &object.attributes else { return None };
    json.as_str().split('"').nth(7).filter(|id| !id.is_empty()).map(str::to_owned)
}

/// The id of an instance's current object.
pub(crate) fn current(state: &State, instance: &str) -> Option<String> {
    state.resource_instance(&addr(instance))?.current.as_deref().map(id)
}
