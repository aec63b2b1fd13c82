//! Destruction from a state alone, and questions to its graph.

use groundstate_ordering::{Explanation, Input, OpKind, OperationGraph, Options, Step, build};
use groundstate_statefile::{DecodeOptions, decode};
use groundstate_states::addr::AbsResourceInstance;

const STATE: &str = r#"{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "a", "outputs": {},
  "resources": [
    {"mode": "managed", "type": "net", "name": "a", "provider": "provider[\"registry.terraform.io/acme/x\"]",
     "instances": [{"attributes": {"id": "1"}, "create_before_destroy": true},
                   {"deposed": "0000000a", "attributes": {"id": "0"}, "create_before_destroy": true}]},
    {"mode": "data", "type": "image", "name": "os", "provider": "provider[\"registry.terraform.io/acme/x\"]",
     "instances": [{"attributes": {"id": "2"}}]},
    {"module": "module.m[0]", "mode": "managed", "type": "vm", "name": "b",
     "provider": "provider[\"registry.terraform.io/acme/x\"]",
     "instances": [{"index_key": "k", "attributes": {"id": "3"}, "dependencies": ["data.image.os", "net.a"]}]},
    {"mode": "managed", "type": "dns", "name": "c", "provider": "provider[\"registry.terraform.io/acme/x\"]",
     "instances": [{"attributes": {"id": "4"}, "dependencies": ["data.image.os", "module.m.vm.b", "net.a"]}]},
    {"mode": "managed", "type": "dns", "name": "kept", "provider": "provider[\"registry.terraform.io/acme/x\"]",
     "instances": [{"attributes": {"id": "5"}, "skip_destroy": true, "dependencies": ["net.a"]}]}
  ], "check_results": null}"#;

fn graph() -> OperationGraph {
    let file = decode(STATE.as_bytes(), &DecodeOptions::default()).unwrap();
    build(&Input::destroy(&file.state), &Options::destroy()).unwrap()
}

fn instance(text: &str) -> AbsResourceInstance {
    AbsResourceInstance::parse(text).unwrap()
}

#[test]
fn dependents_go_before_what_they_depend_on() {
    let graph = graph();
    let order: Vec<String> = graph.order().unwrap().iter().map(|node| node.key.to_string()).collect();
    let expected = [
        "dns.c (destroy)",
        "dns.kept (forget)",
        "module.m[0].vm.b[\"k\"] (destroy)",
        "net.a (destroy)",
        "net.a (destroy deposed 0000000a)",
        "data.image.os (destroy)",
    ];
    assert_eq!(order, expected);
    let forgotten = graph.nodes().iter().filter(|node| node.kind == OpKind::Forget).count();
    assert_eq!((forgotten, graph.warnings().len()), (1, 1));
}

#[test]
fn why_gives_the_chain_of_reasons() {
    let graph = graph();
    let Explanation::Waits(chain) = graph.why(&instance("net.a"), &instance("dns.c")) else {
        panic!("the one goes before the other");
    };
    // That dns.c depends on net.a is recorded too, and follows from these.
    let text = |step: &Step| format!("{} waits for {} ({})", step.from, step.to, step.reasons);
    let expected = [
        "net.a (destroy) waits for module.m[0].vm.b[\"k\"] (destroy) (stored-destroy)",
        "module.m[0].vm.b[\"k\"] (destroy) waits for dns.c (destroy) (stored-destroy)",
    ];
    assert_eq!(chain.iter().map(text).collect::<Vec<_>>(), expected);
    let any = graph.why_any(&[instance("dns.kept"), instance("net.a")], &[instance("dns.c")]);
    assert_eq!(any, Explanation::Waits(chain), "the nearest pair of two sets");

    assert!(matches!(graph.why(&instance("dns.c"), &instance("net.a")), Explanation::IsWaitedFor(_)));
    assert_eq!(graph.why(&instance("dns.kept"), &instance("net.a")), Explanation::Concurrent);
    assert_eq!(graph.why(&instance("dns.no"), &instance("net.a")), Explanation::Absent);
}

#[test]
fn blast_names_everything_that_goes_along() {
    let graph = graph();
    let names = |addr: &str| -> Vec<(String, usize)> {
        let affected = graph.blast(&instance(addr));
        affected.into_iter().map(|affected| (affected.key.to_string(), affected.distance)).collect()
    };
    let vm = "module.m[0].vm.b[\"k\"] (destroy)".to_owned();
    assert_eq!(names("data.image.os"), [(vm.clone(), 1), ("dns.c (destroy)".to_owned(), 2)]);
    let together = graph.blast_all(&[instance("net.a"), instance("module.m[0].vm.b[\"k\"]")]);
    assert_eq!(together.len(), 1, "what goes together is not listed: {together:?}");
    assert_eq!((together[0].key.to_string(), together[0].distance), ("dns.c (destroy)".to_owned(), 1));
    assert_eq!(names("module.m[0].vm.b[\"k\"]"), [("dns.c (destroy)".to_owned(), 1)]);
    assert_eq!(names("dns.c"), []);
}

#[test]
fn every_state_of_the_shared_fixtures_has_an_order() {
    let start = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = std::env::var_os("GROUNDSTATE_FIXTURES")
        .map(std::path::PathBuf::from)
        .or_else(|| start.ancestors().map(|dir| dir.join("shared/fixtures")).find(|dir| dir.is_dir()));
    let Some(fixtures) = found else {
        println!("not run: shared fixtures not present");
        return;
    };
    let mut folders = vec![fixtures];
    let mut ordered = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.extension().is_none_or(|extension| extension != "tfstate") {
                continue;
            }
            let Ok(file) = decode(&std::fs::read(&path).unwrap(), &DecodeOptions::default()) else {
                continue;
            };
            let input = Input::destroy(&file.state);
            let graph = build(&input, &Options::destroy())
                .unwrap_or_else(|errors| panic!("{}: {errors}", path.display()));
            assert_eq!(graph.order().unwrap().len(), graph.nodes().len());
            ordered += usize::from(!graph.nodes().is_empty());
        }
    }
    assert!(ordered > 10, "only {ordered} states had anything to destroy");
}
