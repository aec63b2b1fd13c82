//! Deposed objects, counts, data, forgetting and orphans.

use std::collections::BTreeSet;

use groundstate_ordering::{
    DeposedKeys, NodeKey, OpKind, Part, Profile, ReplaceOrder, Warning, build, build_with,
};
use groundstate_states::DeposedKey;
use groundstate_states::addr::AbsResourceInstance;

use crate::case::{Case, addr, key, node};

fn classic(case: &Case) -> Case {
    case.clone().options(|options| options.profile = Profile::Classic)
}

#[test]
fn a_leftover_object_alone_is_destroyed() {
    Case::new("A B:{A}", "A#k", "A#k=D").total("A#k").holds();
}

#[test]
fn an_update_comes_before_the_leftover_object_is_destroyed() {
    Case::new("A", "A#k", "A=U A#k=D").total("A < A#k").holds();
}

#[test]
fn create_then_delete_destroys_both_old_objects() {
    Case::new("!A", "A#k", "A=R A#k=D").precede("A < {-A,A#k}").concurrent("-A|A#k").holds();
}

#[test]
fn delete_then_create_destroys_the_leftover_too() {
    Case::new("A", "A#k", "A=R A#k=D").total("-A < A < A#k").holds();
}

#[test]
fn dependents_are_updated_before_a_leftover_is_destroyed() {
    Case::new("A B:{A}", "A#k", "A#k=D B=U").total("B < A#k").holds();
}

#[test]
fn a_leftover_has_its_own_dependencies() {
    let case = Case::new("J:{A} A", "J~{A} J#k~{C} C", "C=D A=U J#k=D");
    case.clone().precede("J#k < -C").concurrent("A|J#k, A|-C").holds();
    classic(&case).precede("A < J#k").concurrent("J#k|-C").holds();
}

#[test]
fn an_instance_of_deposed_objects_only_is_destroyed() {
    let case = Case::new("J", "-J J#k~{X} X", "X=D J#k=D");
    case.clone().total("J#k < -X").holds();
    // The other profile knows nothing of leftovers without a current object; the case above is its fixed twin.
    let graph = Case::new("J", "-J J#k~{X} X", "X=D J#k=D")
        .options(|options| options.profile = Profile::Classic)
        .build()
        .unwrap();
    assert!(graph.concurrent(node(&graph, "J#k"), node(&graph, "-X")));
}

#[test]
fn a_deposed_object_can_be_forgotten() {
    let graph = Case::new("A", "A#k", "A#k=F").holds();
    let keys: Vec<&NodeKey> = graph.nodes().iter().map(|node| &node.key).collect();
    assert_eq!(keys, [&NodeKey::operation(addr("A"), Part::ForgetDeposed(key("k")))]);
}

#[test]
fn a_deposed_object_can_stay() {
    Case::new("A?", "A#k", "A=N A#k=N").total("A").holds();
}

#[test]
fn a_leftover_forces_its_dependency() {
    let case = Case::new("J A", "J#k~{A}", "A=R J#k=D");
    let graph = case.total("A < J#k < -A").holds();
    assert_eq!(graph.orders()[&addr("A")], ReplaceOrder::CreateThenDelete);
    let errors = Case::new("J A", "J#k~{A}", "A=RD J#k=D").errors();
    assert!(errors[0].contains("A ← J (deposed object 0000015b of J is deleted)"), "{errors:?}");
    let upstream = classic(&Case::new("J A", "J~{A} J#k~{A}", "A=RD J#k=D"));
    let message = upstream.errors().join("\n");
    assert!(message.starts_with("Cycle: A, A (destroy), J (destroy deposed 0000015b)\n"), "{message}");
}

#[test]
fn leftovers_of_two_instances_are_kept_apart() {
    Case::new("A", "A[0]#k A[1]#j A[0] A[1]", "A[0]=R A[1]=R A[0]#k=D A[1]#j=D")
        .precede("-A[0] < A[0] < A[0]#k")
        .precede("-A[1] < A[1] < A[1]#j")
        .concurrent("A[0]|A[1]#j, A[0]#k|-A[1]")
        .holds();
}

/// Proposes the same keys to everyone.
struct Listed(Vec<u32>);

impl DeposedKeys for Listed {
    fn next(&mut self, _addr: &AbsResourceInstance, _used: &BTreeSet<DeposedKey>) -> DeposedKey {
        DeposedKey::from_number(self.0.remove(0))
    }
}

#[test]
fn deposed_keys_are_allocated_once() {
    let mut case = Case::new("!A", "A#k", "A=R");
    let deposed = &mut case.input.instances[0].deposed;
    let record = deposed.remove(&key("k")).unwrap();
    deposed.insert(DeposedKey::from_number(1), record);
    let graph = build_with(&case.input, &case.options, &mut Listed(vec![1, 0xa])).unwrap();
    let kinds: Vec<OpKind> = graph.nodes().iter().map(|node| node.kind).collect();
    assert!(kinds.contains(&OpKind::DestroyDeposed(DeposedKey::from_number(0xa))), "{kinds:?}");
    assert_eq!(graph.nodes()[0].deposes_to, Some(DeposedKey::from_number(0xa)));
}

#[test]
fn scaling_out_creates_the_new_instances() {
    Case::new("A B:{A}", "A[0] A[1]", "A[2]=C B=U").total("A[2] < B").holds();
}

#[test]
fn scaling_in_destroys_the_last_instances() {
    Case::new("A B:{A}", "A[0] A[1]", "A[1]=D B=U").total("-A[1] < B").holds();
}

#[test]
fn all_instances_of_a_resource_are_connected() {
    Case::new("A B:{A}", "", "A[0]=R A[1]=R B[0]=U B[1]=U")
        .precede("-A[0] < A[0]")
        .precede("-A[1] < A[1]")
        .precede("{A[0],A[1],-A[0],-A[1]} < {B[0],B[1]}")
        .concurrent("A[0]|A[1], -A[0]|-A[1], -A[0]|A[1], B[0]|B[1]")
        .holds();
}

#[test]
fn counted_resources_with_create_before_destroy_keep_their_order() {
    Case::new("!A B:{A}", "", "A[0]=R A[1]=R B[0]=U B[1]=U")
        .precede("{A[0],A[1]} < {B[0],B[1]} < {-A[0],-A[1]}")
        .concurrent("A[0]|A[1], -A[0]|-A[1]")
        .holds();
}

#[test]
fn a_renamed_key_destroys_and_creates() {
    let actions = r#"A["x"]=D B["x"]=D A["y"]=C B["y"]=C"#;
    Case::new("A B:{A}", "", actions)
        .precede(r#"-B["x"] < -A["x"] < B["y"]"#)
        .precede(r#"-B["x"] < A["y"] < B["y"]"#)
        .concurrent(r#"-A["x"]|A["y"]"#)
        .holds();
}

#[test]
fn a_renamed_key_with_create_before_destroy_creates_first() {
    let actions = r#"A["x"]=D B["x"]=D A["y"]=C B["y"]=C"#;
    Case::new("!A B:{A}", "", actions).total(r#"-B["x"] < A["y"] < B["y"] < -A["x"]"#).holds();
}

#[test]
fn count_to_for_each_destroys_and_creates() {
    Case::new("A", "", r#"A[0]=D A["a"]=C"#).concurrent(r#"-A[0]|A["a"]"#).holds();
}

#[test]
fn instances_are_ordered_by_key() {
    let graph = Case::new("A", "", r#"A["2"]=C A[10]=C A[2]=C A[0]=C"#)
        .concurrent(r#"A[0]|A[2], A[2]|A[10], A[10]|A["2"]"#)
        .holds();
    let order: Vec<String> = graph.order().unwrap().iter().map(|node| node.key.to_string()).collect();
    assert_eq!(order, ["t.A[0]", "t.A[2]", "t.A[10]", "t.A[\"2\"]"]);
}

#[test]
fn a_read_waits_for_the_destroy_of_its_dependency() {
    Case::new("A %X:{A}", "", "A=RD %X=Rd").total("-A < A < %X").holds();
}

#[test]
fn a_read_comes_before_the_destroy_of_a_replaced_dependency() {
    Case::new("!A %X:{A}", "", "A=R %X=Rd").total("A < %X < -A").holds();
}

#[test]
fn an_unchanged_creator_orders_nothing() {
    Case::new("B?", "A C B~{A} C~{A,B}", "A=D C=D B=N").precede("-C < -A").concurrent("B|-A, B|-C").holds();
}

#[test]
fn a_removed_data_source_is_destroyed_without_a_provider() {
    let case = Case::new("", "M~{%X} %X", "M=D %X=D").providers("x");
    let graph = case.precede("-M < -%X").holds();
    let destroy = &graph.nodes()[node(&graph, "-%X")];
    assert_eq!(destroy.provider, None);
    assert!(graph.concurrent(node(&graph, "@x"), node(&graph, "-M")).eq(&false));
    let waits = graph.dependencies(node(&graph, "-%X"));
    assert!(waits.iter().all(|edge| edge.to.addr().is_some()), "{waits:?}");
}

#[test]
fn forgetting_waits_for_nothing() {
    Case::new("B", "A B~{A}", "A=F B=U").concurrent("~A|B").holds();
}

/// As Terraform 1.11.4 draws them with `terraform graph -plan`: flags do not count, deposed objects are ordered too.
#[test]
fn terraform_orders_forgotten_objects_like_destroyed_ones() {
    let ordered = |case: Case| classic(&case.options(|options| options.ordered_forgets = true));
    ordered(Case::new("B", "A B~{A}", "A=F B=U")).total("~A < B").holds();
    ordered(Case::new("B", "A~cbd B~{A}", "A=F B=U")).total("~A < B").holds();
    ordered(Case::new("A", "A B~{A}", "A=U B=F")).total("~B < A").holds();
    ordered(Case::new("", "A B~{A}", "A=D B=F")).total("~B < -A").holds();
    ordered(Case::new("", "A B~{A}", "A=F B=D")).total("-B < ~A").holds();
    ordered(Case::new("", "A B~{A}", "A=F B=F")).total("~B < ~A").holds();
}

#[test]
fn object_that_is_forgotten_last_waits_for_the_new_one() {
    let case = Case::new("A B:{A}", "A B~{A}", "A=CF B=U");
    let graph = build(&case.input, &case.options).expect("it has an order");
    let key = graph.nodes()[node(&graph, "A")].deposes_to.expect("the old object is kept meanwhile");
    let forgets = |node: &groundstate_ordering::OpNode| node.kind == OpKind::ForgetDeposed(key);
    let at = graph.nodes().iter().position(forgets).expect("the old object is forgotten");
    assert!(graph.precedes(node(&graph, "A"), at));
}

#[test]
fn a_resource_in_the_configuration_can_be_forgotten() {
    Case::new("A B:{A}", "A[0] A[1]", "A[1]=F B=U").total("~A[1] < B").holds();
}

#[test]
fn forgetting_comes_before_the_new_object() {
    Case::new("A B:{A}", "", "A=FC B=U").total("~A < A < B").holds();
}

#[test]
fn forgetting_leaves_the_deletion_of_deposed_objects() {
    Case::new("", "A A#k", "A=F A#k=D").concurrent("~A|A#k").holds();
}

#[test]
fn a_removed_resource_is_destroyed_before_its_dependent_is_updated() {
    Case::new("B", "A B~{A}", "A=D B=U").total("-A < B").holds();
}

#[test]
fn a_removed_create_before_destroy_resource_is_destroyed_last() {
    Case::new("B", "A~cbd B~{A}", "A=D B=U").total("B < -A").holds();
}

#[test]
fn a_create_before_destroy_dependent_is_updated_before_its_removed_dependency_goes() {
    let forced = Case::new("!B", "A B~{A}", "A=D B=U");
    classic(&forced).total("-A < B").holds();
    forced.total("B < -A").holds();
}

#[test]
fn a_swapped_dependency_is_destroyed_after_the_update() {
    Case::new("Z B:{Z}", "A B~{A}", "A=D Z=C B=U")
        .precede("Z < B")
        .precede("-A < B")
        .concurrent("-A|Z")
        .holds();
}

#[test]
fn objects_recorded_to_stay_are_warned_about() {
    let mut case = Case::new("", "A", "A=D");
    if let Some(current) = case.input.instances[0].current.as_mut() {
        current.skip_destroy = true;
    }
    let graph = case.holds();
    assert_eq!(graph.warnings(), [Warning::SkipDestroy { addr: addr("A"), deposed: None }]);
    assert!(graph.nodes()[0].skip_destroy);
}

#[test]
fn what_is_forgotten_in_a_destruction_is_listed() {
    let case = Case::new("A B", "", "A=F B=D")
        .options(|options| options.mode = groundstate_ordering::PlanMode::Destroy);
    let graph = case.holds();
    assert_eq!(graph.warnings(), [Warning::ForgottenInDestroy { addrs: vec![addr("A")] }]);
}
