//! The commands of other tools, by the words that lead to them.

/// What does here what a command of another tool does there.
pub(super) enum Means {
    /// A command of our own, which takes the state first and then these.
    Own { verb: &'static str, needs: &'static [&'static str] },
    /// A command on the state of a directory.
    Terraform { verb: &'static str, needs: &'static [&'static str] },
    /// A command on the stack that is selected.
    Stack { verb: &'static str, needs: &'static [&'static str], words: Words },
    /// Other programs, and what this one has to do with it.
    Program { programs: &'static [&'static str], hint: &'static str },
}

/// What the words behind a Pulumi command are here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// The same: addresses, names.
    Same,
    /// The stack.
    Stack,
    /// The new name of the stack.
    Name,
    /// A tag and its value.
    SetTag,
    /// A tag that is removed.
    RemoveTag,
    /// The same; a file with a deployment among them.
    File,
    /// Words that have no counterpart here, and are left out.
    Dropped,
}

const fn own(verb: &'static str, needs: &'static [&'static str]) -> Means {
    Means::Own { verb, needs }
}

const fn terraform(verb: &'static str, needs: &'static [&'static str]) -> Means {
    Means::Terraform { verb, needs }
}

const fn stack(verb: &'static str, needs: &'static [&'static str]) -> Means {
    Means::Stack { verb, needs, words: Words::Same }
}

const fn stacks(verb: &'static str, needs: &'static [&'static str], words: Words) -> Means {
    Means::Stack { verb, needs, words }
}

const fn program(programs: &'static [&'static str], hint: &'static str) -> Means {
    Means::Program { programs, hint }
}

const TERRAFORM: &[&str] = &["terraform", "tofu"];
const PULUMI: &[&str] = &["pulumi"];
const ALL: &[&str] = &["terraform", "tofu", "pulumi"];

/// The longest words that a command line begins with count.
pub(super) const HABITS: &[(&str, Means)] = &[
    ("list", own("list", &[])),
    ("show", own("show", &[])),
    ("mv", own("mv", &["SRC", "DST"])),
    ("rm", own("rm", &["ADDR"])),
    ("taint", own("taint", &["ADDR"])),
    ("untaint", own("untaint", &["ADDR"])),
    ("replace-provider", own("replace-provider", &["FROM", "TO"])),
    // Terraform and OpenTofu.
    ("state", terraform("list", &[])),
    ("state list", terraform("list", &[])),
    ("state show", terraform("show", &["ADDR"])),
    ("state mv", terraform("mv", &["SRC", "DST"])),
    ("state move", terraform("mv", &["SRC", "DST"])),
    ("state rm", terraform("rm", &["ADDR"])),
    ("state remove", terraform("rm", &["ADDR"])),
    ("state pull", terraform("pull", &[])),
    ("state push", terraform("push", &["FILE"])),
    ("state replace-provider", terraform("replace-provider", &["FROM", "TO"])),
    ("state identities", terraform("show", &[])),
    ("force-unlock", terraform("unlock", &["ID"])),
    ("output", terraform("outputs", &[])),
    ("workspace", terraform("workspaces list", &[])),
    ("workspace list", terraform("workspaces list", &[])),
    ("workspace new", terraform("workspaces new", &["NAME"])),
    ("workspace delete", terraform("workspaces delete", &["NAME"])),
    ("workspace show", terraform("workspaces list", &[])),
    (
        "workspace select",
        program(TERRAFORM, "`--workspace NAME` takes another workspace for one command of groundstate"),
    ),
    ("refresh", program(ALL, "")),
    (
        "plan",
        program(
            TERRAFORM,
            "`terraform show -json PLANFILE | groundstate order plan -` shows the order of a plan",
        ),
    ),
    ("apply", program(TERRAFORM, "")),
    ("destroy", program(ALL, "`groundstate order destroy` shows in which order that goes")),
    ("import", program(ALL, "`groundstate push . FILE` stores a whole state file")),
    ("init", program(TERRAFORM, "")),
    ("validate", program(TERRAFORM, "`groundstate check` checks the state")),
    ("fmt", program(TERRAFORM, "`groundstate upgrade` writes a state in canonical form")),
    ("console", program(ALL, "`groundstate show` and `groundstate outputs` show values")),
    ("get", program(TERRAFORM, "")),
    ("test", program(TERRAFORM, "")),
    ("query", program(TERRAFORM, "")),
    ("modules", program(TERRAFORM, "")),
    ("providers", program(TERRAFORM, "`groundstate show` names the provider of each resource")),
    ("metadata", program(TERRAFORM, "")),
    ("login", program(ALL, "")),
    ("logout", program(ALL, "")),
    // Pulumi.
    ("state delete", stack("rm", &["URN"])),
    ("state rename", stack("mv", &["URN", "NAME"])),
    ("state protect", stack("protect", &["URN"])),
    ("state unprotect", stack("unprotect", &["URN"])),
    ("state taint", stack("taint", &["URN"])),
    ("state untaint", stack("untaint", &["URN"])),
    ("state repair", stack("repair", &[])),
    ("state edit", program(PULUMI, "`groundstate mv`, `rm`, `protect` and `repair` change a stack")),
    ("state upgrade", stacks("stacks upgrade", &[], Words::Dropped)),
    ("stack", stack("list", &[])),
    ("stack export", stack("pull", &[])),
    ("stack output", stack("outputs", &[])),
    ("stack graph", stack("graph", &[])),
    ("stack import", stacks("push", &["FILE"], Words::File)),
    ("stack ls", stacks("stacks list", &[], Words::Dropped)),
    ("stack list", stacks("stacks list", &[], Words::Dropped)),
    ("stack init", stacks("stacks create", &["NAME"], Words::Stack)),
    ("stack select", program(PULUMI, "`--stack NAME` takes another stack for one command of groundstate")),
    ("stack rm", stacks("stacks remove", &[], Words::Stack)),
    ("stack remove", stacks("stacks remove", &[], Words::Stack)),
    ("stack rename", stacks("stacks rename", &["NAME"], Words::Name)),
    ("stack history", stack("history", &[])),
    ("stack tag", stacks("stacks tags", &[], Words::Dropped)),
    ("stack tag ls", stacks("stacks tags", &[], Words::Dropped)),
    ("stack tag get", stacks("stacks tags", &[], Words::Dropped)),
    ("stack tag set", stacks("stacks tags", &["NAME", "VALUE"], Words::SetTag)),
    ("stack tag rm", stacks("stacks tags", &["NAME"], Words::RemoveTag)),
    ("stack unselect", program(PULUMI, "")),
    ("stack change-secrets-provider", stack("change-secrets-provider", &["PROVIDER"])),
    ("up", program(PULUMI, "")),
    ("update", program(PULUMI, "")),
    ("preview", program(PULUMI, "")),
    ("watch", program(PULUMI, "")),
    ("cancel", stacks("unlock", &[], Words::Stack)),
    ("config", program(PULUMI, "")),
    ("new", program(PULUMI, "")),
    ("about", program(PULUMI, "`groundstate version` tells of this program")),
];
