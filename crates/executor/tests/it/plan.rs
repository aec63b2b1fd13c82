//! Plans, their metadata, and nodes that are no operations.

use std::collections::BTreeMap;

use groundstate_executor::{Plan, PlanError, PlanNode};
use groundstate_ordering::effects::{Meta, Operation};
use groundstate_ordering::walk::{Relation, Settled, WalkGraph, WalkOptions};
use groundstate_ordering::{ApplyKind, OpKind};

use crate::planner::{Goal, first_versions};
use crate::support::{Place, Session, addr, provider};
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
    let (world, place) = (World::default(), Place::memory());
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
    let (world, place) = (World::default(), Place::memory());
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
    let (world, place) = (World::default(), Place::memory());
    let mut graph = WalkGraph::builder(NODES);
    for node in 10..NODES {
        graph.edge(node, node - 10, Relation::Needs);
    }
    let plan =
        std::sync::Arc::new(Plan::new((0..NODES).map(create).collect(), graph.build().unwrap()).unwrap());
    let trap = Trap::never();
    let session = Session::begin(&place, &world, trap.clone()).await;
    let options = WalkOptions::default().parallelism(10);
    let report = session.executor.run_spawned(&session.guard, &plan, &options, &mut |_| ()).await.unwrap();
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
    let files = Place::files(&folder);
    let session = Session::begin(&files, &world, trap.clone()).await;
    let options = WalkOptions::default().parallelism(NODES);
    assert!(session.run(&plan, &options).await.unwrap().is_success());
    // Three writes for each alone; all of them began at once, so the log was written only a few times.
    let writes = trap.points().matches("before intents").count();
    assert!(writes < NODES, "{writes} writes of the log");
    session.end().await;
}
