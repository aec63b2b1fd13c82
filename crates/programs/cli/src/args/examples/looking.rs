//! Examples of the commands that look at states.

use super::{Examples, example};

pub(super) const EXAMPLES: &[Examples] = &[
    (
        "list",
        [
            example("List all resource instances of the state in this directory", "groundstate list"),
            example("List those of one module", "groundstate list terraform.tfstate module.network"),
        ],
    ),
    (
        "show",
        [
            example("Show one resource", "groundstate show . module.network.aws_vpc.main"),
            example("Print the whole state as JSON", "groundstate show terraform.tfstate --json"),
        ],
    ),
    (
        "outputs",
        [
            example("Print all outputs as JSON", "groundstate outputs . --json"),
            example("Use one output in a script", "id=$(groundstate outputs . vpc_id --raw)"),
        ],
    ),
    (
        "upgrade",
        [
            example(
                "Write a state of Terraform 0.11 in the current format",
                "groundstate upgrade old.tfstate -o new.tfstate",
            ),
            example(
                "Write a state for OpenTofu",
                "groundstate upgrade old.tfstate --dialect opentofu > tofu.tfstate",
            ),
        ],
    ),
    (
        "check",
        [
            example("Check the state of this directory", "groundstate check ."),
            example(
                "Check several files, and print JSON",
                "groundstate check terraform.tfstate stack.json --json",
            ),
        ],
    ),
    (
        "diff",
        [
            example(
                "Show what has changed since the last backup",
                "groundstate diff terraform.tfstate.backup terraform.tfstate",
            ),
            example("Compare two Pulumi exports", "groundstate diff before.json stack.json"),
        ],
    ),
    (
        "graph",
        [
            example("Draw a state as a picture", "groundstate graph . -f svg -o graph.svg"),
            example("Draw a Pulumi stack for Mermaid", "groundstate graph stack.json -f mermaid"),
        ],
    ),
    (
        "order",
        [
            example("Show the order in which everything can be destroyed", "groundstate order destroy ."),
            example(
                "Show what must be destroyed along with a VPC",
                "groundstate order blast . module.network.aws_vpc.main",
            ),
        ],
    ),
    (
        "order destroy",
        [
            example("Show the order in which everything can be destroyed", "groundstate order destroy ."),
            example(
                "Draw the order for one module",
                "groundstate order destroy . --target module.network -f mermaid",
            ),
        ],
    ),
    (
        "order plan",
        [
            example("Show the order of the changes of a plan", "groundstate order plan plan.json"),
            example("Draw the order as a picture", "groundstate order plan plan.json -f svg -o order.svg"),
        ],
    ),
    (
        "order waves",
        [
            example("Show what can be destroyed in parallel", "groundstate order waves ."),
            example("Show which changes of a plan run in parallel", "groundstate order waves plan.json"),
        ],
    ),
    (
        "order why",
        [
            example(
                "Show why the VPC is destroyed after the security group",
                "groundstate order why . module.network.aws_vpc.main module.network.aws_security_group.web",
            ),
            example(
                "Show why a change of a plan waits for another",
                "groundstate order why plan.json 'terraform_data.subnet[\"a\"]' terraform_data.network",
            ),
        ],
    ),
    (
        "order blast",
        [
            example(
                "Show what must be destroyed along with a VPC",
                "groundstate order blast . module.network.aws_vpc.main",
            ),
            example("Show the same for a module, as JSON", "groundstate order blast . module.network --json"),
        ],
    ),
];
