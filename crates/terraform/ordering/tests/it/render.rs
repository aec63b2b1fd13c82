//! Listings and drawings, as bytes.

use groundstate_ordering::{
    Action, DepRef, DotStyle, Input, InstanceInput, ObjectRecord, OperationGraph, Options, PlannedChange,
    ReplaceOrder, ResourceConfig, build,
};
use groundstate_states::addr::{AbsResourceInstance, ConfigResource};

use crate::case::{Case, provider};

/// Two resources that are both replaced, the second depending on the first.
fn net_and_vm(options: &Options) -> OperationGraph {
    let [net, vm] = ["net.a", "vm.b"].map(|addr| ConfigResource::parse(addr).unwrap());
    let mut input = Input::default();
    for (addr, dependencies) in [(&net, vec![]), (&vm, vec![net.clone()])] {
        let mut block = ResourceConfig::new(addr.clone(), provider("x"));
        block.dependencies = dependencies.iter().cloned().map(DepRef::Resource).collect();
        input.resources.push(block);
        let instance = AbsResourceInstance::parse(&addr.to_string()).unwrap();
        let mut known = InstanceInput::new(instance.clone(), provider("x"));
        known.current = Some(ObjectRecord { dependencies, ..ObjectRecord::default() });
        input.instances.push(known);
        input.changes.push(PlannedChange::current(instance, Action::Replace(ReplaceOrder::Auto)));
    }
    build(&input, options).unwrap()
}

#[test]
fn the_graph_has_a_text_form() {
    let text = "net.a
  net.a (destroy)
  vm.b (destroy)
net.a (destroy)
  vm.b (destroy)
vm.b
  net.a
  net.a (destroy)
  vm.b (destroy)
vm.b (destroy)
";
    assert_eq!(net_and_vm(&Options::default()).to_text(), text);
}

#[test]
fn a_listing_has_wave_label_and_kind() {
    let listing = "0\tvm.b (destroy)\tdestroy
1\tnet.a (destroy)\tdestroy
2\tnet.a\treplace-create
3\tvm.b\treplace-create
";
    assert_eq!(net_and_vm(&Options::default()).to_listing().unwrap(), listing);
}

#[test]
fn compatible_drawings_have_all_edges_and_reduced_ones_few() {
    let dot = net_and_vm(&Options::default()).to_dot(DotStyle::Compatible);
    assert_eq!(dot.matches(" -> ").count(), 6);
    let mut options = Options::default();
    options.reduce = true;
    let reduced = net_and_vm(&options).to_dot(DotStyle::Compatible);
    let expected = "digraph {
\tcompound = \"true\"
\tnewrank = \"true\"
\tsubgraph \"root\" {
\t\t\"[root] net.a (destroy)\" [label = \"net.a (destroy)\", shape = \"box\"]
\t\t\"[root] net.a\" [label = \"net.a\", shape = \"box\"]
\t\t\"[root] vm.b (destroy)\" [label = \"vm.b (destroy)\", shape = \"box\"]
\t\t\"[root] vm.b\" [label = \"vm.b\", shape = \"box\"]
\t\t\"[root] net.a (destroy)\" -> \"[root] vm.b (destroy)\"
\t\t\"[root] net.a\" -> \"[root] net.a (destroy)\"
\t\t\"[root] vm.b\" -> \"[root] net.a\"
\t}
}
";
    assert_eq!(reduced, expected);
}

#[test]
fn annotated_drawings_say_why_and_when() {
    let case = Case::new("!A B:{A}", "", "A=R B=U");
    let dot = case.holds().to_dot(DotStyle::Annotated);
    let old = "t.A (destroy deposed 00000001)";
    for line in [
        format!("\t\t\"[root] {old}\" -> \"[root] t.A\" [label = \"own\", style = dashed]\n"),
        format!(
            "\t\t\"[root] {old}\" -> \"[root] t.B\" [label = \"stored-create, config-create\", style = dashed]\n"
        ),
        "\t\t\"[root] t.B\" -> \"[root] t.A\" [label = \"config\"]\n".to_owned(),
        format!("\t\t{{ rank = same; \"[root] {old}\"; }}\n"),
    ] {
        assert!(dot.contains(&line), "{line} in {dot}");
    }
}

#[test]
fn the_edges_of_a_cycle_are_red() {
    let errors = Case::new("", "A~{B} B~{A}", "A=D B=D").build().unwrap_err();
    let graph = errors.cyclic.unwrap();
    let dot = graph.to_dot(DotStyle::Compatible);
    assert_eq!(dot.matches("[color = \"red\", penwidth = \"2.0\"]").count(), 2, "{dot}");
    assert_eq!(graph.to_dot(DotStyle::Picture).matches("#cf222e\", penwidth=2").count(), 2);
    assert!(graph.to_mermaid().contains("  linkStyle 0,1 stroke:#cf222e,stroke-width:2px\n"));
    assert!(graph.to_listing().is_err());
    assert!(!graph.to_json().contains("\"order\""));
}

#[test]
fn pictures_are_grouped_by_module() {
    let graph = Case::new("m.A m.n.B:{m.A}", "", r#"m["x"].A=C m["x"].n.B=C"#).holds();
    let dot = graph.to_dot(DotStyle::Picture);
    let expected = r##"  subgraph "cluster_module.m[\"x\"]" {
    label="module.m[\"x\"]"; style="rounded"; color="#c9d1d9"; bgcolor="#f6f8fa"; fontcolor="#57606a"; labeljust=l;
    n0 [label="t.A\ncreate", fillcolor="#dafbe1", color="#1a7f37"];
    subgraph "cluster_module.m[\"x\"].module.n" {
      label="module.m[\"x\"].module.n"; style="rounded"; color="#c9d1d9"; bgcolor="#f6f8fa"; fontcolor="#57606a"; labeljust=l;
      n1 [label="t.B\ncreate", fillcolor="#dafbe1", color="#1a7f37"];
    }
  }
  n0 -> n1;
}
"##;
    assert!(dot.ends_with(expected), "{dot}");
    let flat = graph.to_dot(DotStyle::Flat);
    let node =
        r##"  n1 [label="module.m[\"x\"].module.n\nt.B\ncreate", fillcolor="#dafbe1", color="#1a7f37"];"##;
    assert!(flat.contains(node) && !flat.contains("subgraph"), "{flat}");
    let mermaid = r##"flowchart TD
  subgraph g1["module.m[#quot;x#quot;]"]
    n0("t.A<br/>create"):::create
    subgraph g2["module.m[#quot;x#quot;].module.n"]
      n1("t.B<br/>create"):::create
    end
  end
  n0 --> n1
  classDef create fill:#dafbe1,stroke:#1a7f37,color:#24292f
"##;
    assert_eq!(graph.to_mermaid(), mermaid);
}

#[test]
fn pictures_name_old_objects_by_key_only_where_there_are_several() {
    let dot = |case: Case| case.holds().to_dot(DotStyle::Picture);
    let one = dot(Case::new("!A", "", "A=R"));
    assert!(one.contains(r#"label="t.A\ndestroy the old one", fillcolor"#), "{one}");
    assert!(one.contains("style=dashed") && one.contains("label=\"dashed: "), "{one}");
    let two = dot(Case::new("!A", "A#k", "A=R A#k=D"));
    assert!(
        two.contains("destroy the old one 00000001") && two.contains("destroy the old one 0000015b"),
        "{two}"
    );
}

#[test]
fn json_has_nodes_edges_order_and_what_is_recorded() {
    let graph = Case::new("!A B:{A}", "", "A=R B=U").holds();
    let json = graph.to_json();
    let old = "t.A (destroy the old one)";
    let provider = r#""provider":"provider[\"registry.terraform.io/acme/x\"]""#;
    let expected = format!(
        r#"{{"format_version":"1.0","nodes":[{{"id":"t.A","kind":"replace-create","address":"t.A",{provider},"cbd":true,"wave":0}},{{"id":"{old}","kind":"destroy-deposed","address":"t.A",{provider},"cbd":true,"wave":2}},{{"id":"t.B","kind":"update","address":"t.B",{provider},"cbd":false,"wave":1}}],"edges":[{{"from":"{old}","to":"t.A","reasons":["own"],"inverted":true}},{{"from":"{old}","to":"t.B","reasons":["stored-create","config-create"],"inverted":true}},{{"from":"t.B","to":"t.A","reasons":["config"],"inverted":false}}],"order":["t.A","t.B","{old}"],"waves":[["t.A"],["t.B"],["{old}"]],"dropped":[],"persist":[{{"address":"t.A","create_before_destroy":true,"dependencies":[]}},{{"address":"t.B","create_before_destroy":false,"dependencies":["t.A"]}}]}}
"#
    );
    assert_eq!(json, expected);
}

#[test]
fn labels_cannot_break_out_of_a_drawing() {
    let name = r#"A["a\"];<b>&`"]"#;
    let graph = Case::new("A", "", &format!("{name}=C")).holds();
    let mermaid = graph.to_mermaid();
    assert!(mermaid.contains("[#quot;a\\#quot;];#lt;b#gt;#amp;#96;#quot;]"), "{mermaid}");
    let dot = graph.to_dot(DotStyle::Picture);
    assert!(dot.contains(r#"t.A[\"a\\\"];<b>&`\"]\ncreate"#), "{dot}");
}
