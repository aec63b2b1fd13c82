//! Modules and the scope of recorded dependencies.

use groundstate_ordering::Scope;

use crate::case::Case;

const TWO: &str = "m[0].A m[1].A m[0].B m[1].B";

fn all(instances: &str, action: &str) -> String {
    instances.split_whitespace().map(|instance| format!("{instance}={action} ")).collect()
}

#[test]
fn sibling_module_instances_are_destroyed_apart() {
    Case::new("m.A m.B:{m.A}", TWO, &all(TWO, "D"))
        .precede("-m[0].B < -m[0].A")
        .precede("-m[1].B < -m[1].A")
        .concurrent("-m[0].A|-m[1].B, -m[0].B|-m[1].A, -m[0].A|-m[1].A")
        .holds();
}

#[test]
fn three_resources_across_modules_keep_their_order() {
    let state = "m[0].A m[1].A m[0].B~{m.A} m[1].B~{m.A} m[0].C~{m.A,m.B} m[1].C~{m.A,m.B}";
    let instances = "m[0].A m[1].A m[0].B m[1].B m[0].C m[1].C";
    let mut pairs = Vec::new();
    for a in ["A", "B", "C"] {
        for b in ["A", "B", "C"] {
            pairs.push(format!("-m[0].{a}|-m[1].{b}"));
        }
    }
    Case::new("", state, &all(instances, "D"))
        .precede("-m[0].C < -m[0].B < -m[0].A")
        .precede("-m[1].C < -m[1].B < -m[1].A")
        .concurrent(&pairs.join(","))
        .holds();
}

#[test]
fn nested_modules_keep_their_order() {
    let state = "m[0].A m[1].A m[0].n.B~{m.A} m[1].n.B~{m.A}";
    let case = Case::new("", state, &all("m[0].A m[1].A m[0].n.B m[1].n.B", "D"));
    case.clone().precede("{-m[0].n.B,-m[1].n.B} < {-m[0].A,-m[1].A}").holds();
    case.options(|options| options.scope = Scope::CommonPrefix)
        .precede("-m[0].n.B < -m[0].A")
        .precede("-m[1].n.B < -m[1].A")
        .concurrent("-m[0].n.B|-m[1].A, -m[1].n.B|-m[0].A")
        .holds();
}

#[test]
fn a_dependent_outside_of_a_module_goes_first() {
    Case::new("", "m[0].A m[1].A X~{m.A}", "m[0].A=D m[1].A=D X=D")
        .precede("-X < {-m[0].A,-m[1].A}")
        .concurrent("-m[0].A|-m[1].A")
        .holds();
}

#[test]
fn edges_of_the_configuration_join_module_instances() {
    let case = Case::new("m.A m.B:{m.A}", "", &all(TWO, "C"));
    case.clone().precede("{m[0].A,m[1].A} < {m[0].B,m[1].B}").holds();
    case.options(|options| options.scope_config_edges = true)
        .precede("m[0].A < m[0].B")
        .precede("m[1].A < m[1].B")
        .concurrent("m[0].A|m[1].B, m[1].A|m[0].B")
        .holds();
}

/// Direct references stay inside an instance; those of what is referred to join all of them, as for OpenTofu.
#[test]
fn opentofu_keeps_only_direct_references_inside_an_instance() {
    let actions = "m[0].A=C m[0].B=C m[0].C=C m[1].A=C m[1].B=C m[1].C=C";
    let case = Case::new("m.A m.B:{m.A} m.C:{m.B}", "", actions);
    case.options(|options| {
        options.scope_config_edges = true;
        options.profile = groundstate_ordering::Profile::Classic;
    })
    .precede("m[0].A < m[0].B < m[0].C")
    .concurrent("m[0].A|m[1].B, m[0].B|m[1].C")
    .precede("{m[0].A,m[1].A} < {m[0].C,m[1].C}")
    .holds();
}

#[test]
fn a_way_out_of_the_module_joins_all_its_instances() {
    // B refers to A inside the module, and over an output to a resource that lies between the instances.
    let case = Case::new("m.A X:{m.A} m.B:{m.A,X}", "", &format!("{} X=C", all(TWO, "C")));
    case.options(|options| options.scope_config_edges = true)
        .precede("{m[0].A,m[1].A} < X < {m[0].B,m[1].B}")
        .precede("m[0].A < m[1].B")
        .holds();
}

/// Two modules with empty records, the first replaced in the given order; by the records alone if told so.
fn across_modules(a: &str, recorded_only: bool) -> Case {
    let case = Case::new("a.A b.B:{a.A}", "a.A~{} b.B[0]~{}", &format!("a.A={a} b.B[0]=RD"));
    case.options(|options| options.recorded_only = recorded_only)
}

#[test]
fn a_replacement_across_modules_without_recorded_dependencies() {
    across_modules("RD", true)
        .precede("-a.A < a.A < b.B[0]")
        .precede("-b.B[0] < b.B[0]")
        .concurrent("-a.A|-b.B[0], a.A|-b.B[0]")
        .holds();
}

#[test]
fn a_replacement_across_modules_with_merged_dependencies() {
    across_modules("RD", false).total("-b.B[0] < -a.A < a.A < b.B[0]").holds();
}

#[test]
fn create_before_destroy_across_modules_without_merging() {
    across_modules("RC", true)
        .precede("a.A < b.B[0]")
        .precede("a.A < -a.A")
        .precede("-b.B[0] < b.B[0]")
        .concurrent("b.B[0]|-a.A, -b.B[0]|-a.A, a.A|-b.B[0]")
        .holds();
}

#[test]
fn create_before_destroy_across_modules_with_merging() {
    across_modules("RC", false).total("-b.B[0] < a.A < b.B[0] < -a.A").holds();
}

#[test]
fn a_removed_module_call_destroys_in_reverse() {
    Case::new("C", "x.A x.B~{x.A} C~{x.A,x.B}", "x.A=D x.B=D C=U").total("-x.B < -x.A < C").holds();
}

#[test]
fn a_dependency_on_a_module_waits_for_what_is_in_it() {
    Case::new("R:{module m} m.A m.n.B", "", "R=C m.A=C m.n.B=C")
        .precede("{m.A,m.n.B} < R")
        .concurrent("m.A|m.n.B")
        .holds();
}

#[test]
fn the_state_alone_orders_a_destroy_between_modules() {
    Case::new("", "p.A q.B~{p.A}", "p.A=D q.B=D").total("-q.B < -p.A").holds();
}

#[test]
fn a_module_instance_is_added_and_another_removed() {
    let (old, new) = (r#"m["old"]"#, r#"m["new"]"#);
    let actions = format!("{old}.A=D {old}.B=D {new}.A=C {new}.B=C");
    Case::new("!m.A m.B:{m.A}", "", &actions)
        .precede(&format!("-{old}.B < -{old}.A"))
        .precede(&format!("{new}.A < {new}.B"))
        .concurrent(&format!("-{old}.A|{new}.A, -{old}.A|{new}.B, -{old}.B|{new}.A, -{old}.B|{new}.B"))
        .holds();
}
