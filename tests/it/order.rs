//! Terraform never does in an order what our graph forbids: generated configurations are applied, changed and destroyed by
//! the terraform on the PATH, one operation at a time and ten at once, and what it logs is held against the graph.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use groundstate_ordering::{Input, OperationGraph, Options, Planned, Profile, build};
use groundstate_statefile::{DecodeOptions, decode};
use groundstate_states::State;
use groundstate_states::addr::AbsResourceInstance;

use super::terraform::{is_there, printed, run};

/// A small generator of numbers; the seed is all there is to reproduce a failure.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// A `terraform_data` resource of a generated configuration.
struct Block {
    depends_on: Vec<usize>,
    cbd: bool,
    counted: bool,
    /// Another number replaces the resource.
    trigger: usize,
    present: bool,
    /// The last change removed it.
    removed: bool,
    /// The last change gave it another flag.
    flipped: bool,
}

fn blocks(draw: &mut Draw) -> Vec<Block> {
    let count = 8 + draw.below(5);
    let mut blocks = Vec::new();
    for own in 0..count {
        let depends_on = (0..own).filter(|_| draw.chance(35)).collect();
        let (cbd, counted) = (draw.chance(30), draw.chance(30));
        blocks.push(Block {
            depends_on,
            cbd,
            counted,
            trigger: 0,
            present: true,
            removed: false,
            flipped: false,
        });
    }
    blocks
}

/// Replaces some resources and removes others, so that every kind of edge gets its chance.
fn change(blocks: &mut [Block], draw: &mut Draw) {
    for block in blocks.iter_mut() {
        block.trigger += usize::from(draw.chance(50));
        // Who is not declared any more, or declared otherwise, has its old flag in the state.
        block.removed = block.present && draw.chance(15);
        block.present &= !block.removed;
        block.flipped = draw.chance(10);
        block.cbd ^= block.flipped;
    }
}

fn configuration(blocks: &[Block]) -> String {
    let mut text = String::new();
    for (own, block) in blocks.iter().enumerate().filter(|(_, block)| block.present) {
        let references: Vec<String> = block
            .depends_on
            .iter()
            .filter(|&&other| blocks[other].present)
            .map(|other| format!("terraform_data.r{other}[*].id"))
            .collect();
        let _ = writeln!(text, "resource \"terraform_data\" \"r{own}\" {{");
        if block.counted {
            text.push_str("  count = 2\n");
        }
        let _ = writeln!(text, "  input = [{}]", references.join(", "));
        let _ = writeln!(text, "  triggers_replace = {}", block.trigger);
        let _ = writeln!(text, "  lifecycle {{\n    create_before_destroy = {}\n  }}\n}}", block.cbd);
    }
    text
}

/// Where in the log an operation starts, and where it is done.
type Spans = BTreeMap<(String, bool), (usize, usize)>;

/// Reads what `-json` prints of applying: which instances, and whether their objects are destroyed.
fn spans(log: &str) -> Spans {
    let mut spans = Spans::new();
    for (at, line) in log.lines().enumerate() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        let hook = &event["hook"];
        let key = || {
            let destroys = hook["action"] == "delete";
            (hook["resource"]["addr"].as_str().unwrap().to_owned(), destroys)
        };
        match event["type"].as_str() {
            Some("apply_start") => {
                assert!(spans.insert(key(), (at, usize::MAX)).is_none(), "{:?} starts twice", key());
            }
            Some("apply_complete") => spans.get_mut(&key()).unwrap().1 = at,
            _ => {}
        }
    }
    spans
}

/// Holds a log against a graph; gives how many pairs were in a prescribed order.
fn compare(graph: &OperationGraph, spans: &Spans, what: &str) -> usize {
    let node = |(address, destroys): &(String, bool)| {
        let address = AbsResourceInstance::parse(address).unwrap();
        let mut nodes = graph
            .operations_on(&address)
            .filter(|&node| graph.nodes()[node].key.part().unwrap().is_destroy() == *destroys);
        nodes.next().unwrap_or_else(|| panic!("{what}: no operation for {address}, destroyed: {destroys}"))
    };
    let run: Vec<(usize, &(usize, usize))> = spans.iter().map(|(key, span)| (node(key), span)).collect();
    let mut prescribed = 0;
    for (first, (_, done)) in &run {
        for (then, (start, _)) in &run {
            if graph.precedes(*first, *then) {
                prescribed += 1;
                let [first, then] = [first, then].map(|&node| graph.nodes()[node].key.to_string());
                assert!(done < start, "{what}: terraform starts {then} before {first} is done");
            }
        }
    }
    prescribed
}

fn state(dir: &Path) -> State {
    let text = fs::read(dir.join("terraform.tfstate")).unwrap();
    decode(&text, &DecodeOptions::default()).unwrap().state
}

/// Plans. Where Terraform makes a cycle of its own, which flags and removals can bring about, they are taken back.
fn plan(dir: &Path, blocks: &mut [Block]) {
    const PLAN: [&str; 4] = ["plan", "-input=false", "-no-color", "-out=tfplan"];
    let take_back: [fn(&mut Block); 2] = [
        |block| block.cbd ^= std::mem::take(&mut block.flipped),
        |block| block.present |= std::mem::take(&mut block.removed),
    ];
    for take_back in take_back {
        let output = run(dir, &PLAN);
        if output.status.success() {
            return;
        }
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("Cycle:"), "{message}");
        blocks.iter_mut().for_each(take_back);
        fs::write(dir.join("main.tf"), configuration(blocks)).unwrap();
    }
    printed(dir, &PLAN);
}

/// Applies, changes twice, destroys; gives how many pairs were in a prescribed order.
fn life(seed: u64, parallelism: usize, profile: Profile) -> usize {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path();
    let mut draw = Draw(seed);
    let mut blocks = blocks(&mut draw);
    let parallel = format!("-parallelism={parallelism}");
    let mut prescribed = 0;
    for step in 0..3 {
        fs::write(dir.join("main.tf"), configuration(&blocks)).unwrap();
        if step == 0 {
            printed(dir, &["init", "-no-color"]);
        }
        let before = (step > 0).then(|| state(dir));
        plan(dir, &mut blocks);
        let text = printed(dir, &["show", "-json", "tfplan"]);
        let planned = Planned::read(text.as_bytes(), before.as_ref()).unwrap();
        let mut options = planned.options.clone();
        options.profile = profile;
        let what = format!("seed {seed}, step {step}, {profile:?}, parallelism {parallelism}");
        let graph = build(&planned.input, &options).unwrap_or_else(|errors| panic!("{what}: {errors:?}"));
        let log = printed(dir, &["apply", "-json", &parallel, "tfplan"]);
        prescribed += compare(&graph, &spans(&log), &what);
        change(&mut blocks, &mut draw);
    }
    let mut options = Options::destroy();
    options.profile = profile;
    let graph = build(&Input::destroy(&state(dir)), &options).unwrap();
    let log = printed(dir, &["destroy", "-auto-approve", "-json", &parallel]);
    let spans = spans(&log);
    assert_eq!(spans.len(), graph.nodes().iter().filter(|node| node.key.addr().is_some()).count());
    prescribed + compare(&graph, &spans, &format!("seed {seed}, destroy, {profile:?}"))
}

#[test]
fn terraform_never_does_what_the_graph_forbids() {
    if !is_there() {
        return;
    }
    let mut prescribed = 0;
    for (seed, profile) in [(1, Profile::Fixed), (2, Profile::Classic), (3, Profile::Fixed)] {
        for parallelism in [1, 10] {
            prescribed += life(seed, parallelism, profile);
        }
    }
    assert!(prescribed > 200, "only {prescribed} pairs were in a prescribed order");
}
