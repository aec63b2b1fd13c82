//! The full graph, and what is pruned from it.

use groundstate_ordering::full::{FullGraph, Ref, Surroundings, ValueInput, ValueKind};
use groundstate_ordering::{
    Action, DepRef, Input, InstanceInput, ObjectRecord, Options, PlanMode, PlannedChange, ProviderInput,
    ResourceConfig, build,
};
use groundstate_states::addr::{
    AbsResourceInstance, ConfigResource, Module, ProviderConfig, TERRAFORM_REGISTRY, Target,
};

use crate::case::{Case, resource};

fn full(case: &Case, around: &Surroundings) -> FullGraph {
    let mut options = case.options.clone();
    options.targets.clear();
    options.excludes.clear();
    options.reduce = false;
    let graph = build(&case.input, &options).unwrap_or_else(|errors| panic!("{errors}"));
    FullGraph::new(&graph, &case.input, around, &case.options)
}

fn value(label: &str, kind: ValueKind, references: Vec<Ref>) -> ValueInput {
    ValueInput { label: label.to_owned(), module: Module::root(), kind, references }
}

#[test]
fn the_full_graph_has_a_text_form() {
    let provider =
        ProviderConfig::parse(r#"provider["registry.example.org/acme/x"]"#, TERRAFORM_REGISTRY).unwrap();
    let [net, vm] = ["net.a", "vm.b"].map(|addr| ConfigResource::parse(addr).unwrap());
    let mut input = Input::default();
    input.resources.push(ResourceConfig::new(net.clone(), provider.clone()));
    let mut block = ResourceConfig::new(vm, provider.clone());
    block.dependencies.push(DepRef::Resource(net.clone()));
    input.resources.push(block);
    for (addr, dependencies) in [("net.a[0]", vec![]), ("net.a[1]", vec![]), ("vm.b", vec![net])] {
        let addr = AbsResourceInstance::parse(addr).unwrap();
        let mut instance = InstanceInput::new(addr, provider.clone());
        instance.current = Some(ObjectRecord { dependencies, ..ObjectRecord::default() });
        input.instances.push(instance);
    }
    for (addr, action) in [("net.a[1]", Action::Delete), ("vm.b", Action::Update)] {
        input.changes.push(PlannedChange::current(AbsResourceInstance::parse(addr).unwrap(), action));
    }
    input.providers = Some(vec![ProviderInput { id: provider, config_dependencies: Vec::new() }]);

    let graph = build(&input, &Options::default()).unwrap();
    let mut options = Options::default();
    options.reduce = true;
    let text = FullGraph::new(&graph, &input, &Surroundings::default(), &options).to_text();
    let expected = r#"net.a (expand)
  provider["registry.example.org/acme/x"]
net.a[1] (destroy)
  provider["registry.example.org/acme/x"]
provider["registry.example.org/acme/x"]
provider["registry.example.org/acme/x"] (close)
  vm.b
root
  provider["registry.example.org/acme/x"] (close)
vm.b
  net.a[1] (destroy)
  vm.b (expand)
vm.b (expand)
  net.a (expand)
"#;
    assert_eq!(text, expected);
}

#[test]
fn outputs_are_selected_with_what_they_read() {
    let mut around = Surroundings::default();
    let [a, b] = ["A", "B"].map(|name| Ref::Resource(resource(name)));
    around.values.push(value("output.one", ValueKind::Output, vec![a.clone()]));
    around.values.push(value("output.two", ValueKind::Output, vec![a, b]));
    let case = Case::new("A B:{A}", "", "A=C B=C")
        .options(|options| options.targets = vec![Target::parse("t.A").unwrap()]);
    assert_eq!(full(&case, &around).labels(), ["output.one", "root", "t.A", "t.A (expand)"]);
}

#[test]
fn a_keyed_module_is_selected_where_it_is_not_expanded() {
    let case = Case::new("m.X Z", "", "m[0].X=C m[1].X=C Z=C");
    let graph = full(&case, &Surroundings::default());
    let selected = graph.select(&[Target::parse("module.m[1]").unwrap()], &[]);
    assert_eq!(selected, ["module.m (expand)", "module.m.t.X (expand)", "module.m[1].t.X"]);
}

#[test]
fn excluding_an_instance_does_not_exclude_its_siblings() {
    let case = Case::new("A B:{A}", "", "A[0]=C A[1]=C B=C");
    let graph = full(&case, &Surroundings::default());
    let left = graph.select(&[], &[Target::parse("t.A[1]").unwrap()]);
    assert_eq!(left, ["t.A (expand)", "t.A[0]"]);
}

#[test]
fn modules_open_before_and_close_behind_what_they_hold() {
    let case = Case::new("m.X Y:{module m}", "", "m.X=C Y=C").options(|options| options.reduce = true);
    let mut around = Surroundings::default();
    let references = vec![Ref::Resource(resource("m.X"))];
    let module = Module::root().child("m");
    around.values.push(ValueInput {
        label: "module.m.output.o".to_owned(),
        module,
        kind: ValueKind::Output,
        references,
    });
    let text = full(&case, &around).to_text();
    let expected = "module.m (close)
  module.m.t.X
module.m (expand)
module.m.t.X
  module.m.t.X (expand)
module.m.t.X (expand)
  module.m (expand)
root
  t.Y
t.Y
  t.Y (expand)
t.Y (expand)
  module.m (close)
";
    // The output is evaluated by nothing, so it is not there.
    assert_eq!(text, expected);
}

#[test]
fn a_destruction_evaluates_nothing() {
    let mut around = Surroundings::default();
    let a = Ref::Resource(resource("A"));
    around.values.push(value("local.l", ValueKind::Local, vec![a.clone()]));
    around.values.push(value("output.o", ValueKind::Output, vec![a]));
    around.blocks.push((resource("B"), vec![Ref::Value("local.l".to_owned())]));
    let destroy = Case::new("A B:{A}", "", "A=D B=D")
        .providers("x")
        .options(|options| options.mode = PlanMode::Destroy);
    let provider = r#"provider["registry.terraform.io/acme/x"]"#;
    let closed = format!("{provider} (close)");
    let labels = full(&destroy, &around).labels();
    assert_eq!(labels, [provider, &closed, "root", "t.A (destroy)", "t.B (destroy)"]);

    let update = Case::new("A B:{A}", "", "A=U B=U");
    let labels = full(&update, &around).labels();
    assert_eq!(labels, ["local.l", "output.o", "root", "t.A", "t.A (expand)", "t.B", "t.B (expand)"]);
    let dot = full(&update, &around).to_dot();
    assert!(dot.contains("\t\t\"[root] output.o\" [label = \"output.o\", shape = \"note\"]\n"), "{dot}");
    assert!(dot.contains("\t\t\"[root] t.B (expand)\" -> \"[root] local.l\"\n"), "{dot}");
}
