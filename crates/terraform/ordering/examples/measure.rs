//! How long large graphs take: `cargo run --release -p groundstate-ordering --example measure [NAME...]`.
//!
//! Each line is one run of one shape: nodes, edges as stored, time for building, ordering and waves, peak memory so far.

#![expect(clippy::print_stdout, reason = "what it prints is what it is for")]

use std::error::Error;
use std::fmt::Write;
use std::time::{Duration, Instant};

use groundstate_ordering::{
    Action, CrossProvider, DepRef, Input, InstanceInput, ObjectRecord, Options, PlannedChange, ProviderInput,
    ReplaceOrder, ResourceConfig, build,
};
use groundstate_states::Generation;
use groundstate_states::addr::{
    AbsResourceInstance, ConfigResource, InstanceKey, Module, ModuleInstance, ProviderConfig, Resource,
    TERRAFORM_REGISTRY,
};

type Failure = Box<dyn Error>;

type Shape = fn(usize) -> Result<Run, Failure>;

const SHAPES: [(&str, Shape); 13] = [
    ("q01-create-chain", create_chain),
    ("q02-destroy-chain", destroy_chain),
    ("q03-independent-replace", independent_replace),
    ("q04-counted-pair", counted_pair),
    ("q05-layered", layered),
    ("q06-cross-provider", cross_provider),
    ("q07-cross-provider-in-scc", |n| in_component(n / 20, CrossProvider::GreedyKeep)),
    ("q07-drop-in-scc", |n| in_component(n / 20, CrossProvider::DropInScc)),
    ("q09-modules", modules),
    ("q10-huge-cycle", |n| huge_cycle(n * 10)),
    ("q11-reduction", reduction),
    ("state", state),
    ("plan", plan),
];

struct Run {
    input: Input,
    options: Options,
    /// The time that reading the state took, if there is one.
    decode: Option<Duration>,
}

fn main() -> Result<(), Failure> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let (sizes, names): (Vec<String>, Vec<String>) =
        names.into_iter().partition(|word| word.parse::<usize>().is_ok());
    let size = sizes.first().map_or(Ok(100_000), |size| size.parse())?;
    println!(
        "{:<28} {:>8} {:>9} {:>8} {:>8} {:>8} {:>8}",
        "shape", "nodes", "edges", "build", "order", "waves", "MB"
    );
    for (name, shape) in SHAPES {
        if !names.is_empty() && !names.iter().any(|wanted| name.starts_with(wanted.as_str())) {
            continue;
        }
        measure(name, shape(size)?)?;
    }
    Ok(())
}

fn measure(name: &str, run: Run) -> Result<(), Failure> {
    let start = Instant::now();
    let graph = match build(&run.input, &run.options) {
        Ok(graph) => graph,
        Err(errors) => {
            let built = start.elapsed();
            let text = errors.to_string();
            println!(
                "{name:<28} {} errors in {built:.2?}, a message of {} bytes",
                errors.errors.len(),
                text.len()
            );
            return Ok(());
        }
    };
    let built = start.elapsed();
    let start = Instant::now();
    let order = graph.order_numbers()?;
    let ordered = start.elapsed();
    let start = Instant::now();
    let waves = graph.waves()?;
    let waved = start.elapsed();
    let mut line = format!(
        "{name:<28} {:>8} {:>9} {built:>8.1?} {ordered:>8.1?} {waved:>8.1?} {:>8}",
        order.len(),
        graph.edge_count_encoded(),
        peak_megabytes()
    );
    write!(line, "  {} waves, {} dropped", waves.count, graph.dropped().len())?;
    if let Some(decode) = run.decode {
        let all = built + ordered + waved;
        write!(
            line,
            ", {:.2} of the {decode:.1?} that decoding took",
            all.as_secs_f64() / decode.as_secs_f64()
        )?;
    }
    println!("{line}");
    Ok(())
}

fn peak_megabytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    let kilobytes: usize = line.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0);
    kilobytes / 1024
}

fn provider(name: &str) -> ProviderConfig {
    let text = format!("provider[\"acme/{name}\"]");
    ProviderConfig::parse(&text, TERRAFORM_REGISTRY).expect("the text is an address")
}

fn resource(name: &str) -> ConfigResource {
    Resource::managed("t", name).in_module(Module::root())
}

fn instance(resource: &ConfigResource, key: InstanceKey) -> AbsResourceInstance {
    resource.without_keys().instance(key)
}

impl Run {
    fn new() -> Self {
        Self { input: Input::default(), options: Options::default(), decode: None }
    }

    fn declare(
        &mut self,
        name: &str,
        dependencies: &[&str],
        provider: &ProviderConfig,
    ) -> &mut ResourceConfig {
        let mut block = ResourceConfig::new(resource(name), provider.clone());
        block.dependencies = dependencies.iter().map(|name| DepRef::Resource(resource(name))).collect();
        self.input.resources.push(block);
        self.input.resources.last_mut().expect("one was pushed")
    }

    fn exists(
        &mut self,
        addr: AbsResourceInstance,
        dependencies: Vec<ConfigResource>,
        provider: &ProviderConfig,
    ) {
        let mut known = InstanceInput::new(addr, provider.clone());
        known.current = Some(ObjectRecord { dependencies, ..ObjectRecord::default() });
        self.input.instances.push(known);
    }

    fn change(&mut self, addr: AbsResourceInstance, action: Action) {
        self.input.changes.push(PlannedChange { addr, object: Generation::Current, action });
    }
}

const REPLACE: Action = Action::Replace(ReplaceOrder::Auto);

fn create_chain(n: usize) -> Result<Run, Failure> {
    let (mut run, x) = (Run::new(), provider("x"));
    for at in 0..n {
        let name = format!("n{at}");
        let before = at.checked_sub(1).map(|before| format!("n{before}"));
        run.declare(&name, &before.iter().map(String::as_str).collect::<Vec<_>>(), &x);
        run.change(instance(&resource(&name), InstanceKey::None), Action::Create);
    }
    Ok(run)
}

fn destroy_chain(n: usize) -> Result<Run, Failure> {
    let (mut run, x) = (Run::new(), provider("x"));
    for at in 0..n {
        let addr = instance(&resource(&format!("n{at}")), InstanceKey::None);
        let before = at.checked_sub(1).map(|before| resource(&format!("n{before}")));
        run.exists(addr.clone(), before.into_iter().collect(), &x);
        run.change(addr, Action::Delete);
    }
    Ok(run)
}

fn independent_replace(n: usize) -> Result<Run, Failure> {
    let (mut run, x) = (Run::new(), provider("x"));
    for at in 0..n {
        let name = format!("n{at}");
        run.declare(&name, &[], &x);
        let addr = instance(&resource(&name), InstanceKey::None);
        run.exists(addr.clone(), Vec::new(), &x);
        run.change(addr, REPLACE);
    }
    Ok(run)
}

fn counted_pair(n: usize) -> Result<Run, Failure> {
    let (mut run, x) = (Run::new(), provider("x"));
    run.declare("a", &[], &x).create_before_destroy = true;
    run.declare("b", &["a"], &x);
    for at in 0..n as u64 / 2 {
        for (name, action, dependencies) in
            [("a", REPLACE, vec![]), ("b", Action::Update, vec![resource("a")])]
        {
            let addr = instance(&resource(name), InstanceKey::Int(at));
            run.exists(addr.clone(), dependencies, &x);
            run.change(addr, action);
        }
    }
    Ok(run)
}

fn layered(n: usize) -> Result<Run, Failure> {
    let (mut run, x) = (Run::new(), provider("x"));
    let (layers, width) = (100, n / 100);
    for layer in 0..layers {
        for at in 0..width {
            let name = format!("l{layer}n{at}");
            let below: Vec<String> = if layer == 0 {
                Vec::new()
            } else {
                (0..10).map(|pick| format!("l{}n{}", layer - 1, (at * 7 + pick * 31) % width)).collect()
            };
            let block = run.declare(&name, &below.iter().map(String::as_str).collect::<Vec<_>>(), &x);
            block.create_before_destroy = layer + 1 == layers && at % 100 == 0;
            let addr = instance(&resource(&name), InstanceKey::None);
            run.exists(addr.clone(), below.iter().map(|name| resource(name)).collect(), &x);
            run.change(addr, REPLACE);
        }
    }
    Ok(run)
}

fn cross_provider(n: usize) -> Result<Run, Failure> {
    let (mut run, providers) = (Run::new(), [provider("x"), provider("y")]);
    for at in 0..n {
        let name = format!("n{at}");
        let below = (at % 100 > 0).then(|| format!("n{}", at - 1));
        run.declare(&name, &below.iter().map(String::as_str).collect::<Vec<_>>(), &providers[at % 2]);
        let addr = instance(&resource(&name), InstanceKey::None);
        run.exists(addr.clone(), below.iter().map(|name| resource(name)).collect(), &providers[at % 2]);
        run.change(addr, REPLACE);
    }
    Ok(run)
}

fn in_component(n: usize, policy: CrossProvider) -> Result<Run, Failure> {
    let (mut run, providers) = (Run::new(), [provider("x"), provider("y")]);
    run.options.cross_provider = policy;
    // Half of them configure the provider of the other half.
    let half = n / 2;
    for at in 0..half {
        run.declare(&format!("a{at}"), &[], &providers[0]);
    }
    for at in 0..half {
        run.declare(&format!("b{at}"), &[], &providers[1]);
    }
    for at in 0..half {
        let dependencies = vec![resource(&format!("a{at}"))];
        for (name, provider, recorded) in [("a", 0, Vec::new()), ("b", 1, dependencies)] {
            let addr = instance(&resource(&format!("{name}{at}")), InstanceKey::None);
            run.exists(addr.clone(), recorded, &providers[provider]);
            run.change(addr, REPLACE);
        }
    }
    let all = (0..half).map(|at| DepRef::Resource(resource(&format!("a{at}")))).collect();
    run.options.recorded_only = true;
    run.input.providers = Some(vec![
        ProviderInput { id: providers[0].clone(), config_dependencies: Vec::new() },
        ProviderInput { id: providers[1].clone(), config_dependencies: all },
    ]);
    Ok(run)
}

fn modules(n: usize) -> Result<Run, Failure> {
    let (mut run, x) = (Run::new(), provider("x"));
    for module in 0..n as u64 / 50 {
        let module = ModuleInstance::root().child("m", InstanceKey::Int(module));
        for at in 0..50 {
            let name = |at: u64| Resource::managed("t", &format!("n{at}"));
            let addr = name(at).absolute(module.clone()).instance(InstanceKey::None);
            let below = (0..at).map(|below| name(below).in_module(module.to_config()));
            run.exists(addr.clone(), below.collect(), &x);
            run.change(addr, Action::Delete);
        }
    }
    Ok(run)
}

fn huge_cycle(n: usize) -> Result<Run, Failure> {
    let (mut run, x) = (Run::new(), provider("x"));
    for at in 0..n {
        let addr = instance(&resource(&format!("n{at}")), InstanceKey::None);
        run.exists(addr.clone(), vec![resource(&format!("n{}", (at + 1) % n))], &x);
        run.change(addr, Action::Delete);
    }
    Ok(run)
}

fn reduction(_: usize) -> Result<Run, Failure> {
    let (mut run, x) = (Run::new(), provider("x"));
    run.options.reduce = true;
    let mut seed = 1_u64;
    for at in 0..8_000_u64 {
        let addr = instance(&resource(&format!("n{at}")), InstanceKey::None);
        let mut below = Vec::new();
        for _ in 0..250.min(at) {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            below.push(resource(&format!("n{}", (seed >> 33) % at)));
        }
        run.exists(addr.clone(), below, &x);
        run.change(addr, Action::Delete);
    }
    Ok(run)
}

/// A state of so many instances, each of which records three of those before it, written and read again.
fn state(n: usize) -> Result<Run, Failure> {
    let mut text = String::from(
        r#"{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"a","outputs":{},"resources":["#,
    );
    let mut seed = 1_u64;
    for at in 0..n as u64 {
        let mut below = Vec::new();
        for _ in 0..3.min(at) {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let near = (seed >> 33) % at.min(1_000);
            below.push(format!("\"aws_instance.n{}\"", at - 1 - near));
        }
        let comma = if at > 0 { "," } else { "" };
        write!(
            text,
            r#"{comma}{{"mode":"managed","type":"aws_instance","name":"n{at}","provider":"provider[\"registry.terraform.io/hashicorp/aws\"]","instances":[{{"schema_version":1,"attributes":{{"id":"i-{at:016x}","ami":"ami-0123456789abcdef0","instance_type":"t3.micro","private_ip":"10.0.0.1","tags":{{"Name":"n{at}","Environment":"production"}}}},"sensitive_attributes":[],"private":"bnVsbA==","dependencies":[{}]}}]}}"#,
            below.join(",")
        )?;
    }
    text.push_str("],\"check_results\":null}\n");
    let start = Instant::now();
    let file =
        groundstate_statefile::decode(text.as_bytes(), &groundstate_statefile::DecodeOptions::default())?;
    let decode = start.elapsed();
    println!("{:<28} {:>8} bytes decoded in {decode:.1?}, {} MB", "", text.len(), peak_megabytes());
    let start = Instant::now();
    let input = Input::destroy(&file.state);
    println!(
        "{:<28} {:>8} instances taken from the state in {:.1?}",
        "",
        input.instances.len(),
        start.elapsed()
    );
    Ok(Run { input, options: Options::destroy(), decode: Some(decode) })
}

/// A plan that updates so many resources, each of which refers to three of those before it, in modules of a hundred.
fn plan(n: usize) -> Result<Run, Failure> {
    let (mut calls, mut changes) = (String::new(), String::new());
    for module in 0..n / 100 {
        write!(calls, r#"{}"m{module}":{{"module":{{"resources":["#, if module > 0 { "," } else { "" })?;
        for at in 0..100 {
            let comma = if at > 0 { "," } else { "" };
            let references: Vec<String> =
                (1..=3.min(at)).map(|back| format!("\"t.n{}.id\",\"t.n{}\"", at - back, at - back)).collect();
            let references = references.join(",");
            write!(
                calls,
                r#"{comma}{{"mode":"managed","type":"t","name":"n{at}","expressions":{{"x":{{"references":[{references}]}}}}}}"#
            )?;
            let comma = if changes.is_empty() { "" } else { "," };
            write!(
                changes,
                r#"{comma}{{"address":"module.m{module}.t.n{at}","provider_name":"registry.terraform.io/acme/x","change":{{"actions":["create"],"before":null,"after":{{"name":"n{at}","tags":{{"Environment":"production"}}}}}}}}"#
            )?;
        }
        calls.push_str("]}}");
    }
    let text = format!(
        r#"{{"format_version":"1.2","configuration":{{"root_module":{{"module_calls":{{{calls}}}}}}},"resource_changes":[{changes}]}}"#
    );
    let start = Instant::now();
    let planned = groundstate_ordering::Planned::read(text.as_bytes(), None)?;
    let read = start.elapsed();
    println!("{:<28} {:>8} bytes of a plan read in {read:.1?}, {} MB", "", text.len(), peak_megabytes());
    Ok(Run { input: planned.input, options: planned.options, decode: Some(read) })
}
