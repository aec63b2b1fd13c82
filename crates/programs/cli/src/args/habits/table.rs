//! The commands of other tools, by the words that lead to them.

/// What does here what a command of another tool does there.
pub(super) enum Means {
    /// A command of our own, which takes the state first and then these.
    Own { verb: &'static str, needs: &'static [&'static str] },
    /// A command on the state of a directory.
    Terraform { verb: &'static str, needs: &'static [&'static str] },
    /// A command on an exported deployment, which is stored again if it was changed.
    Pulumi { verb: &'static str, needs: &'static [&'static str], changes: bool },
    /// Other programs, and what this one has to do with it.
    Program { programs: &'static [&'static str], hint: &'static str },
}

const fn own(verb: &'static str, needs: &'static [&'static str]) -> Means {
    Means::Own { verb, needs }
}

const fn terraform(verb: &'static str, needs: &'static [&'static str]) -> Means {
    Means::Terraform { verb, needs }
}

const fn reads(verb: &'static str) -> Means {
    Means::Pulumi { verb, needs: &[], changes: false }
}

const fn changes(verb: &'static str, needs: &'static [&'static str]) -> Means {
    Means::Pulumi { verb, needs, changes: true }
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
    ("state delete", changes("rm", &["URN"])),
    ("state rename", changes("mv", &["URN", "NAME"])),
    ("state protect", changes("protect", &["URN"])),
    ("state unprotect", changes("unprotect", &["URN"])),
    ("state taint", changes("taint", &["URN"])),
    ("state untaint", changes("untaint", &["URN"])),
    ("state repair", changes("repair", &[])),
    (
        "state edit",
        program(PULUMI, "`groundstate mv`, `rm`, `protect` and `repair` change an exported deployment"),
    ),
    ("state upgrade", program(PULUMI, "")),
    ("stack", reads("list")),
    ("stack export", reads("upgrade")),
    ("stack output", reads("outputs")),
    ("stack graph", reads("graph")),
    ("stack import", program(PULUMI, "`groundstate check FILE` checks the deployment before")),
    ("stack ls", program(PULUMI, "")),
    ("stack init", program(PULUMI, "")),
    ("stack select", program(PULUMI, "")),
    ("stack rm", program(PULUMI, "")),
    ("stack rename", program(PULUMI, "")),
    ("stack history", program(PULUMI, "")),
    ("stack tag", program(PULUMI, "")),
    ("stack unselect", program(PULUMI, "")),
    ("stack change-secrets-provider", program(PULUMI, "")),
    ("up", program(PULUMI, "")),
    ("update", program(PULUMI, "")),
    ("preview", program(PULUMI, "")),
    ("watch", program(PULUMI, "")),
    ("cancel", program(PULUMI, "`groundstate pending list FILE` shows what an interrupted update has left")),
    ("config", program(PULUMI, "")),
    ("new", program(PULUMI, "")),
    ("about", program(PULUMI, "`groundstate version` tells of this program")),
];
