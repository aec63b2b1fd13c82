//! Plans, their metadata, and nodes that are no operations.

use std::collections::BTreeMap;

use groundstate_executor::{Plan, PlanError, PlanNode};
use groundstate_ordering::effects::{Meta, Operation};
use groundstate_ordering::{
    Action, ApplyKind, DepRef, Input, OpKind, Options, PlannedChange, ReplaceOrder, ResourceConfig, build,
};
use groundstate_schedule::walk::{Relation, Settled, WalkGraph, WalkOptions};
use groundstate_states::addr::ProviderInstance;

use crate::planner::{Goal, first_versions};
use crate::support::{Session, StoreKind, addr, config, provider};
use crate::trap::Trap;
use crate::world::World;

fn create(number: usize) -> PlanNode {
    let at = addr(&format!("vm.x[{number}]"));
    PlanNode::Operation(Operation::new(at, OpKind::Apply(ApplyKind::Create), provider()))
}

#[test]
fn lists_and_graphs_belong_together() {
    let graph = WalkGraph::builder(2).barrier(1).build().unwrap();
    let configure = || PlanNode::Configure(provider().config);
    let refused = |nodes| Plan::new(nodes, graph.clone()).unwrap_err();
    assert_eq!(refused(vec![configure()]), PlanError::Mismatch { nodes: 1, graph: 2 });
    assert_eq!(refused(vec![configure(), configure()]), PlanError::Barrier { node: 1 });
    assert_eq!(refused(vec![PlanNode::Barrier, PlanNode::Barrier]), PlanError::Barrier { node: 0 });
    assert!(Plan::new(vec![configure(), PlanNode::Barrier], graph.clone()).is_ok());
}

#[tokio::test]
async fn providers_are_nodes_and_barriers_do_nothing() {
    let (world, place) = (World::default(), StoreKind::memory());
    let create = Operation::new(addr("net.a"), OpKind::Apply(ApplyKind::Create), provider());
    let nodes = vec![
        PlanNode::Configure(provider().config),
        PlanNode::Barrier,
        PlanNode::Operation(create),
        PlanNode::Close(provider().config),
    ];
    let mut graph = WalkGraph::builder(4);
    for node in 1..4 {
        graph.edge(node, node - 1, Relation::Needs);
    }
    let plan = Plan::new(nodes, graph.barrier(1).build().unwrap()).unwrap();
    let session = Session::begin(&place, &world, Trap::never()).await;
    let report = session.run(&plan, &WalkOptions::default()).await.unwrap();
    let name = provider().config.to_string();
    assert_eq!(world.calls(), [format!("configure {name}"), "create net.a".to_owned()]);
    assert_eq!(report.walk.settled(2), Settled::Succeeded);
    assert_eq!(report.walk.failures()[&3], format!("{name} does not close"));
    session.end().await;
}

#[tokio::test]
async fn instances_without_an_operation_are_recorded_anew() {
    let (world, place) = (World::default(), StoreKind::memory());
    place.store(&first_versions(&world, Goal::E4)).await;
    let wanted = Meta { create_before_destroy: true, dependencies: Vec::new() };
    let plan = Plan::new(Vec::new(), WalkGraph::builder(0).build().unwrap()).unwrap();
    let plan = plan.recording(BTreeMap::from([(addr("net.a"), wanted)]));
    let trap = Trap::at(usize::MAX);
    let session = Session::begin(&place, &world, trap.clone()).await;
    assert!(session.run(&plan, &WalkOptions::default()).await.unwrap().is_success());
    assert_eq!(trap.points(), "before state, after state", "one write");
    let state = place.stored().await;
    assert!(state.resource_instance(&addr("net.a")).unwrap().current.as_ref().unwrap().create_before_destroy);
    assert!(session.run(&plan, &WalkOptions::default()).await.unwrap().is_success());
    assert_eq!(trap.points(), "before state, after state", "nothing is left to write");
    session.end().await;
}

#[cfg(feature = "tokio")]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn runs_of_tasks_store_every_object() {
    const NODES: usize = 60;
    let (world, place) = (World::default(), StoreKind::memory());
    let mut graph = WalkGraph::builder(NODES);
    for node in 10..NODES {
        graph.edge(node, node - 10, Relation::Needs);
    }
    let plan =
        std::sync::Arc::new(Plan::new((0..NODES).map(create).collect(), graph.build().unwrap()).unwrap());
    let trap = Trap::never();
    let session = Session::begin(&place, &world, trap.clone()).await;
    let options = WalkOptions::default().parallelism(10);
    let report = session.executor.run_spawned(&session.guard, &plan, &options, |_| ()).await.unwrap();
    assert!(report.is_success());
    assert_eq!(place.stored().await.objects().count(), NODES);
    assert_eq!(world.live().len(), NODES);
    session.end().await;
}

#[tokio::test]
async fn operations_that_end_together_share_writes() {
    const NODES: usize = 40;
    let world = World::default();
    let graph = WalkGraph::builder(NODES).build().unwrap();
    let plan = Plan::new((0..NODES).map(create).collect(), graph).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let trap = Trap::never();
    let files = StoreKind::files(&folder);
    let session = Session::begin(&files, &world, trap.clone()).await;
    let options = WalkOptions::default().parallelism(NODES);
    assert!(session.run(&plan, &options).await.unwrap().is_success());
    // Three writes for each alone; all of them began at once, so the log was written only a few times.
    let writes = trap.points().matches("before intents").count();
    assert!(writes < NODES, "{writes} writes of the log");
    session.end().await;
}

/// The state of a case of two resources, of which `vm.b` depends on `net.a` and is created before it is destroyed.
fn inheriting(b: Action) -> (groundstate_states::State, Input) {
    let state = first_versions(&World::default(), Goal::E4);
    let mut input = Input::from_state(&state);
    for (name, create_first) in [("net.a", false), ("vm.b", true)] {
        let mut declared = ResourceConfig::new(config(name), provider().config);
        declared.create_before_destroy = create_first;
        if create_first {
            declared.dependencies.push(DepRef::Resource(config("net.a")));
        }
        input.resources.push(declared);
    }
    input.changes.push(PlannedChange::current(addr("vm.b"), b));
    (state, input)
}

#[test]
fn instances_without_an_operation_inherit_flags_too() {
    let (state, input) = inheriting(Action::Update);
    let graph = build(&input, &Options::default()).unwrap();
    let plan = Plan::from_graph(&graph, &state).unwrap();
    let flag = |name| plan.metadata().get(&addr(name)).map(|meta| meta.create_before_destroy);
    assert_eq!((flag("net.a"), flag("vm.b")), (Some(true), None));
    let [PlanNode::Operation(update)] = plan.nodes() else { unreachable!("{:?}", plan.nodes()) };
    assert!(update.meta.create_before_destroy);
    assert_eq!(update.meta.dependencies, [config("net.a")]);
}

#[test]
fn keys_and_providers_come_from_graph_and_state() {
    let (mut state, mut input) = inheriting(Action::Replace(ReplaceOrder::Auto));
    input.changes.push(PlannedChange::current(addr("net.a"), Action::Forget));
    let west =
        ProviderInstance::parse("provider[\"example.org/acme/x\"].west[\"eu\"]", "example.org").unwrap();
    let mut instance = state.resource_instance(&addr("net.a")).unwrap().clone();
    instance.provider_key = west.key.clone();
    state.set_resource_instance(&addr("net.a"), Some(instance), &west.config);
    state.set_resource_provider(&addr("net.a").resource, &west.config);
    let graph = build(&input, &Options::default()).unwrap();
    let plan = Plan::from_graph(&graph, &state).unwrap();
    let operations = plan.nodes().iter().filter_map(|node| match node {
        PlanNode::Operation(operation) => Some(operation),
        _ => None,
    });
    let operations: Vec<_> = operations.collect();
    assert_eq!(operations[0].provider, west, "a node that only forgets names no provider");
    let replace = operations.iter().find(|operation| operation.deposes_to.is_some()).unwrap();
    let destroy = operations.iter().find(|operation| operation.deposed().is_some()).unwrap();
    assert_eq!(replace.deposes_to, destroy.deposed(), "both halves mean one object");
    assert_eq!(replace.provider, provider());
}

#[test]
fn a_cyclic_graph_is_refused() {
    let state = first_versions(&World::default(), Goal::E4);
    let mut input = Input::destroy(&state);
    for instance in &mut input.instances {
        let on = if instance.addr == addr("net.a") { "vm.b" } else { "net.a" };
        instance.current.as_mut().unwrap().dependencies = vec![config(on)];
    }
    let errors = build(&input, &Options::destroy()).unwrap_err();
    let graph = errors.cyclic.as_deref().unwrap();
    assert!(matches!(Plan::from_graph(graph, &state), Err(PlanError::Cycle(_))), "nothing can be run");
}
