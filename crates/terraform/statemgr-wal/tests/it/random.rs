//! Random runs that crash anywhere: what is recovered is what was acknowledged.

use groundstate_statemgr::{Persister, Reader, Refresher, Result, Writer, write_and_persist};
use groundstate_states::addr::{AbsResource, AbsResourceInstance, ModuleInstance, ProviderConfig};
use groundstate_states::{DeposedKey, State};
use proptest::prelude::*;

use crate::crash::{Knowledge, recover, trapped_with_outages};
use crate::outage::{Outage, OutageStore};
use crate::support::{World, assert_same, lock, set_instance, set_output};
use crate::trap::Fuse;

/// One step of a run.
#[derive(Clone, Debug)]
enum Step {
    Set(String, u8),
    Forget(String),
    Depose(String, u32),
    ForgetDeposed(String, u32),
    RemoveResource(String),
    Husk(String),
    OtherProvider(String),
    Output(u8, u8),
    RemoveOutput(u8),
    RemoveModule,
    ForgetChecks,
    Persist,
    Checkpoint,
    Refresh,
    Outage(Outage),
}

fn address() -> impl Strategy<Value = String> {
    let module = prop_oneof![Just(""), Just("module.m."), Just("module.m[\"x y\"].module.n.")];
    let name = prop_oneof![Just("null_resource.a"), Just("null_resource.b"), Just("data.null_data_source.c")];
    let key = prop_oneof![Just(""), Just("[0]"), Just("[1]"), Just("[\"k\"]")];
    (module, name, key).prop_map(|(module, name, key)| format!("{module}{name}{key}"))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (address(), any::<u8>()).prop_map(|(addr, id)| Step::Set(addr, id)),
        2 => address().prop_map(Step::Forget),
        1 => (address(), 1_u32..3).prop_map(|(addr, key)| Step::Depose(addr, key)),
        1 => (address(), 1_u32..3).prop_map(|(addr, key)| Step::ForgetDeposed(addr, key)),
        1 => address().prop_map(Step::RemoveResource),
        1 => address().prop_map(Step::Husk),
        1 => address().prop_map(Step::OtherProvider),
        1 => (0_u8..3, any::<u8>()).prop_map(|(name, value)| Step::Output(name, value)),
        1 => (0_u8..3).prop_map(Step::RemoveOutput),
        1 => Just(Step::RemoveModule),
        1 => Just(Step::ForgetChecks),
        9 => Just(Step::Persist),
        1 => Just(Step::Checkpoint),
        1 => Just(Step::Refresh),
        1 => Just(Step::Outage(Outage::None)),
        1 => Just(Step::Outage(Outage::Refused)),
        1 => Just(Step::Outage(Outage::LostReply)),
    ]
}

fn apply(state: &mut State, step: &Step) {
    let instance = |text: &String| AbsResourceInstance::parse(text).unwrap();
    let resource = |text: &String| -> AbsResource { instance(text).resource };
    let provider = |name: &str| {
        let text = format!("provider[\"registry.terraform.io/hashicorp/{name}\"]");
        ProviderConfig::parse(&text, "registry.terraform.io").unwrap()
    };
    match step {
        Step::Set(addr, id) => set_instance(state, addr, &id.to_string()),
        Step::Forget(addr) => state.forget_resource_instance_all(&instance(addr)),
        Step::Depose(addr, key) => {
            let key = DeposedKey::parse(&format!("{key:08x}")).unwrap();
            // There may be nothing to depose, or the key may be taken.
            drop(state.depose_resource_instance_object_as(&instance(addr), key));
        }
        Step::ForgetDeposed(addr, key) => {
            let key = DeposedKey::parse(&format!("{key:08x}")).unwrap();
            state.forget_resource_instance_deposed(&instance(addr), key);
        }
        Step::RemoveResource(addr) => _ = state.remove_resource(&resource(addr)),
        Step::Husk(addr) => state.set_resource_provider(&resource(addr), &provider("null")),
        Step::OtherProvider(addr) => state.set_resource_provider(&resource(addr), &provider("other")),
        Step::Output(name, value) => set_output(state, &format!("out{name}"), &value.to_string()),
        Step::RemoveOutput(name) => {
            _ = state.remove_output_value(&ModuleInstance::root(), &format!("out{name}"))
        }
        Step::RemoveModule => drop(state.remove_module(&ModuleInstance::parse("module.m").unwrap())),
        Step::ForgetChecks => state.discard_check_results(),
        Step::Persist | Step::Checkpoint | Step::Refresh | Step::Outage(_) => {}
    }
}

async fn run(
    manager: &groundstate_statemgr_wal::JournaledManager,
    store: &OutageStore,
    steps: &[Step],
    known: &mut Knowledge,
) -> Result<()> {
    lock(manager).await?;
    manager.refresh_state().await?;
    let mut outage = Outage::None;
    for step in steps {
        if let Step::Outage(next) = step {
            outage = *next;
            store.set(outage);
        }
        manager.mutate_state(&mut |state| apply(state.get_or_insert_default(), step))?;
        known.tried = manager.state().unwrap_or_default();
        match step {
            // These need the ordinary object.
            Step::Checkpoint | Step::Refresh if outage != Outage::None => continue,
            Step::Persist => drop(manager.persist_state().await?),
            Step::Checkpoint => drop(manager.checkpoint().await?),
            Step::Refresh => {
                manager.refresh_state().await?;
                // What was not persisted is gone, and what was persisted is not.
                assert_same(&manager.state().unwrap_or_default(), &known.acknowledged, "after a refresh");
                known.tried = known.acknowledged.clone();
                continue;
            }
            _ => continue,
        }
        known.acknowledged = known.tried.clone();
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_recovered_after_a_crash_anywhere_is_what_was_acknowledged(
        steps in proptest::collection::vec(step(), 1..60),
        moment in 0_usize..160,
    ) {
        run_to_the_end(async {
            let world = World::new();
            let mut known = Knowledge::default();
            write_and_persist(&world.manager(), &State::new()).await.unwrap();
            let fuse = Fuse::at(moment);
            let (manager, store) = trapped_with_outages(&world, &fuse);
            // The run ends by the fuse or with its steps: either way the lock is not released.
            let outcome = run(&manager, &store, &steps, &mut known).await;
            assert!(fuse.has_blown() || outcome.is_ok(), "{outcome:?}");
            drop(manager);
            world.free().await;
            let found = recover(&world.manager()).await.unwrap();
            if fuse.has_blown() {
                known.check(&found, "after the crash");
            } else {
                assert_same(&found, &known.acknowledged, "after the crash");
            }
            assert!(!world.has_journal().await);
        });
    }
}

/// Runs a future that never waits for anything but memory.
fn run_to_the_end(future: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future);
}
