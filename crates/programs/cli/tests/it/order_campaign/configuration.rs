//! Made-up configurations of `terraform_data` resources in the root module and in one module.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// A small generator of numbers, so that a seed is all there is to reproduce a failure.
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(1))
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    /// True in so many of a hundred cases.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn count(&mut self) -> Option<usize> {
        if self.chance(50) { None } else { Some(self.below(4)) }
    }
}

/// What becomes of a resource that is no longer declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gone {
    Destroyed,
    /// A `removed` block keeps the object.
    Forgotten,
}

#[derive(Clone, Debug)]
struct Block {
    references: Vec<usize>,
    count: Option<usize>,
    in_module: bool,
    create_before_destroy: bool,
    /// References lie in a local value, which a plan does not hold.
    by_local: bool,
    /// The first reference stands in `depends_on`.
    depends_on: bool,
    /// The last reference also triggers a replacement.
    triggered: bool,
    second_provider: bool,
    /// Creating it fails while there is a file `stop`.
    stops: bool,
    input: usize,
    replacements: usize,
    gone: Option<Gone>,
}

/// Resources `r0`, `r1`, …, each of which refers to lower ones only.
pub(super) struct Configuration {
    blocks: Vec<Block>,
    module_count: Option<usize>,
}

fn references(draw: &mut Draw, index: usize) -> Vec<usize> {
    (0..index).filter(|_| draw.chance(40)).collect()
}

impl Configuration {
    pub(super) fn draw(draw: &mut Draw) -> Self {
        let blocks = 3 + draw.below(5);
        let block = |index: usize| Block {
            references: references(draw, index),
            count: draw.count(),
            in_module: draw.chance(30),
            create_before_destroy: draw.chance(25),
            by_local: draw.chance(15),
            depends_on: draw.chance(25),
            triggered: draw.chance(15),
            second_provider: draw.chance(30),
            stops: draw.chance(30),
            input: 0,
            replacements: 0,
            gone: None,
        };
        let blocks = (0..blocks).map(block).collect();
        Self { blocks, module_count: [None, None, Some(1), Some(2)][draw.below(4)] }
    }

    /// Changes arguments, counts, flags and references, and removes resources.
    pub(super) fn change(&mut self, draw: &mut Draw) {
        for (index, block) in self.blocks.iter_mut().enumerate() {
            block.gone = block.gone.or(match draw.below(100) {
                0..15 => Some(Gone::Destroyed),
                15..30 => Some(Gone::Forgotten),
                _ => None,
            });
            block.replacements += usize::from(draw.chance(30));
            block.input += usize::from(draw.chance(30));
            if block.count.is_some() && draw.chance(40) {
                block.count = Some(draw.below(4));
            }
            block.create_before_destroy ^= draw.chance(15);
            if draw.chance(20) {
                block.references = references(draw, index);
            }
        }
    }

    /// What was forgotten has no object left.
    pub(super) fn settle(&mut self) {
        for block in &mut self.blocks {
            block.gone = block.gone.map(|_| Gone::Destroyed);
        }
    }

    pub(super) fn write(&self, dir: &Path) {
        let (mut root, mut module) = (String::new(), String::new());
        root.push_str("provider \"terraform\" {}\nprovider \"terraform\" {\n  alias = \"x\"\n}\n");
        let mut arguments = Vec::new();
        for (index, block) in self.blocks.iter().enumerate() {
            match block.gone {
                Some(Gone::Destroyed) => {}
                Some(Gone::Forgotten) => {
                    let module = if block.in_module { "module.m." } else { "" };
                    let _ = writeln!(
                        root,
                        "removed {{\n  from = {module}terraform_data.r{index}\n  lifecycle {{\n    destroy = false\n  }}\n}}"
                    );
                }
                None if block.in_module => {
                    self.block(&mut module, index, &mut arguments);
                    let _ = writeln!(module, "output \"r{index}\" {{\n  value = {}\n}}", self.ids(index));
                }
                None => self.block(&mut root, index, &mut Vec::new()),
            }
        }
        arguments.sort_unstable();
        arguments.dedup();
        if self.blocks.iter().any(|block| block.in_module) {
            root.push_str("module \"m\" {\n  source = \"./m\"\n");
            if let Some(count) = self.module_count {
                let _ = writeln!(root, "  count = {count}");
            }
            for argument in arguments {
                let _ = writeln!(root, "  r{argument} = {}", self.ids(argument));
                let _ = writeln!(module, "variable \"r{argument}\" {{}}");
            }
            root.push_str("}\n");
        }
        fs::create_dir_all(dir.join("m")).unwrap();
        fs::write(dir.join("main.tf"), root).unwrap();
        fs::write(dir.join("m/main.tf"), module).unwrap();
    }

    fn block(&self, text: &mut String, index: usize, arguments: &mut Vec<usize>) {
        let block = &self.blocks[index];
        let there = |other: &&usize| self.blocks[**other].gone.is_none();
        let all: Vec<usize> = block.references.iter().filter(there).copied().collect();
        let beside: Vec<usize> =
            all.iter().filter(|other| self.blocks[**other].in_module == block.in_module).copied().collect();
        let explicit = beside.first().filter(|_| block.depends_on);
        let mut values: Vec<String> = Vec::new();
        for &other in all.iter().filter(|other| Some(*other) != explicit) {
            let is_outside = block.in_module && !self.blocks[other].in_module;
            values.push(if is_outside {
                arguments.push(other);
                format!("var.r{other}")
            } else if block.in_module == self.blocks[other].in_module {
                self.ids(other)
            } else if self.module_count.is_some() {
                format!("module.m[*].r{other}")
            } else {
                format!("module.m.r{other}")
            });
        }
        let mut values = values.join(", ");
        if block.by_local && !values.is_empty() {
            let _ = writeln!(text, "locals {{\n  r{index} = [{values}]\n}}");
            values = format!("local.r{index}");
        }
        let _ = writeln!(text, "resource \"terraform_data\" \"r{index}\" {{");
        if let Some(count) = block.count {
            let _ = writeln!(text, "  count = {count}");
        }
        if block.second_provider && !block.in_module {
            text.push_str("  provider = terraform.x\n");
        }
        if let Some(other) = explicit {
            let _ = writeln!(text, "  depends_on = [terraform_data.r{other}]");
        }
        let _ = writeln!(text, "  input = [{}, [{values}]]", block.input);
        let _ = writeln!(text, "  triggers_replace = {}", block.replacements);
        let mut lifecycle = String::new();
        if block.create_before_destroy {
            lifecycle.push_str("    create_before_destroy = true\n");
        }
        if let Some(other) = beside.last().filter(|_| block.triggered) {
            let _ = writeln!(lifecycle, "    replace_triggered_by = [terraform_data.r{other}]");
        }
        if !lifecycle.is_empty() {
            let _ = writeln!(text, "  lifecycle {{\n{lifecycle}  }}");
        }
        if block.stops {
            text.push_str(
                "  provisioner \"local-exec\" {\n    command = \"test ! -e ${path.root}/stop\"\n  }\n",
            );
        }
        text.push_str("}\n");
    }

    /// The identifiers of all instances of a resource.
    fn ids(&self, index: usize) -> String {
        match self.blocks[index].count {
            Some(_) => format!("join(\",\", [for it in terraform_data.r{index}[*] : it.id])"),
            None => format!("terraform_data.r{index}.id"),
        }
    }
}
