//! `groundstate order` of plans, beside what the terraform on the PATH does when it applies them.

use std::collections::BTreeMap;
use std::fs;

use super::support::groundstate;
use super::terraform::Product;

/// A directory whose configuration was applied, and then planned anew with another one.
struct Planned {
    dir: tempfile::TempDir,
    product: Product,
}

impl Planned {
    /// Nothing if there is no terraform.
    fn new(before: &str, after: &str, modules: &[(&str, &str)], options: &[&str]) -> Option<Self> {
        Self::by(Product::terraform(), before, after, modules, options)
    }

    /// The same by another product.
    fn by(
        product: Product,
        before: &str,
        after: &str,
        modules: &[(&str, &str)],
        options: &[&str],
    ) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path();
        product.run(path, &["version"])?;
        for (name, text) in modules {
            fs::create_dir(path.join(name)).unwrap();
            fs::write(path.join(name).join("main.tf"), text).unwrap();
        }
        fs::write(path.join("main.tf"), before).unwrap();
        product.printed(path, &["init", "-no-color"]);
        product.printed(path, &["apply", "-auto-approve", "-no-color"]);
        fs::copy(path.join("terraform.tfstate"), path.join("before.tfstate")).unwrap();
        let planned = Self { dir, product };
        planned.plan(after, options);
        Some(planned)
    }

    /// Plans another configuration.
    fn plan(&self, configuration: &str, options: &[&str]) {
        let path = self.dir.path();
        fs::write(path.join("main.tf"), configuration).unwrap();
        self.product.printed(path, &["init", "-no-color"]);
        self.product.printed(path, &[&["plan", "-no-color", "-out", "tfplan"], options].concat());
        fs::write(path.join("plan.json"), self.product.printed(path, &["show", "-json", "tfplan"])).unwrap();
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }

    /// The edges of the graph: what waits, and what for.
    fn edges(&self, options: &[&str]) -> Vec<(String, String)> {
        let plan = self.path("plan.json");
        let args = [&["order", "plan", &plan, "-f", "json"], options].concat();
        let run = groundstate(&args);
        assert_eq!(run.code, 0, "{run:?}");
        let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let edges = json["edges"].as_array().unwrap().iter();
        let end = |edge: &serde_json::Value, name: &str| edge[name].as_str().unwrap().to_owned();
        edges.map(|edge| (end(edge, "from"), end(edge, "to"))).collect()
    }

    /// Applies the plan, and compares: everything that waits has begun after what it waits for had ended.
    fn apply(&self, edges: &[(String, String)]) -> String {
        let said = self.product.printed(self.dir.path(), &["apply", "-no-color", "tfplan"]);
        let happened = events(&said);
        for (from, to) in edges {
            let (Some((begun, _)), Some((_, ended))) = (happened.get(from), happened.get(to)) else {
                continue;
            };
            assert!(ended < begun, "{from} did not wait for {to}:\n{said}");
        }
        said
    }
}

/// When each operation began and ended, as lines of what Terraform says. Checks say nothing.
fn events(said: &str) -> BTreeMap<String, (usize, usize)> {
    let mut events: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (at, line) in said.lines().enumerate() {
        let Some((address, what)) = line.split_once(": ") else { continue };
        let label = match what.split_whitespace().next() {
            Some("Destroying..." | "Destruction") => format!("{address} (destroy)"),
            Some("Creating..." | "Creation" | "Modifying..." | "Modifications" | "Reading..." | "Read") => {
                address.to_owned()
            }
            _ => continue,
        };
        let entry = events.entry(label).or_insert((at, at));
        if what.contains("complete after") {
            entry.1 = at;
        }
    }
    events
}

#[test]
fn a_removed_instance_that_was_created_before_it_is_destroyed_goes_last() {
    let configuration = |keys: &str| {
        format!(
            "resource \"terraform_data\" \"old\" {{\n  for_each = toset({keys})\n  input = each.key\n  \
             lifecycle {{\n    create_before_destroy = true\n  }}\n}}\n\
             resource \"terraform_data\" \"lb\" {{\n  input = [for k, v in terraform_data.old : v.id]\n}}\n"
        )
    };
    let planned = Planned::new(&configuration("[\"x\", \"y\"]"), &configuration("[\"x\"]"), &[], &[]);
    let Some(planned) = planned else { return };
    let (plan, state) = (planned.path("plan.json"), planned.path("before.tfstate"));
    let old = "terraform_data.old[\"y\"]";
    for args in [
        &["order", "plan", &plan][..],
        &["order", "waves", &plan],
        &["order", "plan", &plan, "-f", "dot"],
        &["order", "why", &plan, old, "terraform_data.lb"],
    ] {
        let message = groundstate(args).failed(5);
        assert!(
            message.contains("terraform_data.old[\"y\"] (destroy)") && message.contains("--state"),
            "{message}"
        );
        assert_eq!(groundstate(&[args, &["--state", &state]].concat()).code, 0, "{args:?}");
    }
    let listing = groundstate(&["order", "plan", &plan, "--state", &state]).clean();
    assert!(
        listing
            .starts_with("1. terraform_data.lb (update)\n2. terraform_data.old[\"y\"] (destroy)  after 1\n")
    );
    planned.apply(&planned.edges(&["--state", &state]));
}

/// References that stand in no plan, and a data source behind a local value.
#[test]
fn records_stand_in_for_what_a_plan_does_not_say() {
    let configuration = |input: &str| {
        format!(
            r#"
resource "terraform_data" "a" {{
  input = "{input}"
}}
locals {{
  l = terraform_data.a.output
}}
data "terraform_remote_state" "d" {{
  backend  = "local"
  config   = {{ path = "${{path.module}}/other.tfstate" }}
  defaults = {{ x = local.l }}
}}
resource "terraform_data" "c" {{
  input = data.terraform_remote_state.d.outputs
}}
resource "terraform_data" "conditioned" {{
  input = "{input}"
  lifecycle {{
    precondition {{
      condition     = terraform_data.a.input != "9"
      error_message = "x"
    }}
  }}
}}
resource "terraform_data" "triggered" {{
  input = 1
  lifecycle {{
    replace_triggered_by = [terraform_data.a]
  }}
}}
"#
        )
    };
    let other = r#"resource "terraform_data" "none" {}"#;
    let Some(planned) = Planned::new(other, other, &[], &[]) else { return };
    let path = planned.dir.path();
    fs::copy(path.join("terraform.tfstate"), path.join("other.tfstate")).unwrap();
    fs::write(path.join("main.tf"), configuration("1")).unwrap();
    planned.product.printed(path, &["apply", "-auto-approve", "-no-color"]);
    fs::write(path.join("main.tf"), configuration("2")).unwrap();
    planned.product.printed(path, &["plan", "-no-color", "-out", "tfplan"]);
    fs::write(path.join("plan.json"), planned.product.printed(path, &["show", "-json", "tfplan"])).unwrap();

    let edges = planned.edges(&["--all-edges"]);
    let waits = |from: &str, to: &str| edges.contains(&(from.to_owned(), to.to_owned()));
    for from in [
        "data.terraform_remote_state.d",
        "terraform_data.c",
        "terraform_data.conditioned",
        "terraform_data.triggered",
    ] {
        assert!(waits(from, "terraform_data.a"), "{from}: {edges:?}");
    }
    let notes = groundstate(&["order", "plan", &planned.path("plan.json")]).stderr;
    for what in ["local.l", "conditions", "replace_triggered_by"] {
        assert!(notes.contains(what), "{what}: {notes}");
    }
    planned.apply(&edges);
}

/// The output needs the quick resource alone; who takes the module as a value waits for the slow one too.
#[test]
fn a_module_as_a_value_is_waited_for_as_a_whole() {
    let module = r#"
resource "terraform_data" "quick" {}
resource "terraform_data" "slow" {
  provisioner "local-exec" {
    command = "sleep 1"
  }
}
output "id" {
  value = terraform_data.quick.id
}
"#;
    let none = r#"resource "terraform_data" "none" {}"#;
    let user = r#"
module "n" {
  source = "./n"
  count  = 2
}
resource "terraform_data" "user" {
  input = [for m in module.n : m.id]
}
"#;
    let Some(planned) = Planned::new(none, none, &[("n", module)], &[]) else { return };
    let path = planned.dir.path();
    fs::write(path.join("main.tf"), user).unwrap();
    planned.product.printed(path, &["init", "-no-color"]);
    planned.product.printed(path, &["plan", "-no-color", "-out", "tfplan"]);
    fs::write(path.join("plan.json"), planned.product.printed(path, &["show", "-json", "tfplan"])).unwrap();
    // The state before holds the flags of what goes.
    let edges = planned.edges(&["--all-edges"]);
    let slow = ("terraform_data.user".to_owned(), "module.n[0].terraform_data.slow".to_owned());
    assert!(edges.contains(&slow), "{edges:?}");
    planned.apply(&edges);
}

/// Without refresh, what the configuration says only now does not order what is destroyed; and a note says where the rules
/// of groundstate would.
#[test]
fn the_order_is_that_of_the_product_and_differences_are_told() {
    let before = r#"
resource "terraform_data" "a" {}
resource "terraform_data" "u" {
  input = terraform_data.a.id
  provisioner "local-exec" {
    when    = destroy
    command = "sleep 1"
  }
}
"#;
    let after = "moved {\n  from = terraform_data.a\n  to   = terraform_data.a2\n}\n".to_owned()
        + &before.replace("\"a\"", "\"a2\"").replace("terraform_data.a.id", "1");
    let Some(planned) = Planned::new(before, &after, &[], &["-destroy", "-refresh=false"]) else { return };
    assert_eq!(planned.edges(&[]), []);
    let run = groundstate(&["order", "plan", &planned.path("plan.json")]);
    let note = "Terraform does not let terraform_data.a2 (destroy) wait for terraform_data.u (destroy), \
                `--profile fixed` does";
    assert!(run.code == 0 && run.stderr.contains(note), "{run:?}");
    let fixed = [("terraform_data.a2 (destroy)".to_owned(), "terraform_data.u (destroy)".to_owned())];
    assert_eq!(planned.edges(&["--profile", "fixed"]), fixed);
    let happened = events(&planned.apply(&[]));
    let [(a2, _), (_, u)] = [happened["terraform_data.a2 (destroy)"], happened["terraform_data.u (destroy)"]];
    assert!(a2 < u, "Terraform waits by now: {happened:?}");
}

/// A resource for which the first instance of the module takes a second, and one that needs it.
const MODULE_WITH_PAUSE: &str = r#"
variable "seconds" {}
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "sleep ${var.seconds}"
  }
}
resource "terraform_data" "b" {
  input = terraform_data.a.id
}
"#;

/// A plan for two instances of that module.
fn two_instances(product: Product) -> Option<Planned> {
    let none = r#"resource "terraform_data" "none" {}"#;
    let two = "module \"n\" {\n  source  = \"./n\"\n  count   = 2\n  seconds = [1, 0][count.index]\n}\n";
    let planned = Planned::by(product, none, none, &[("n", MODULE_WITH_PAUSE)], &[])?;
    planned.plan(two, &[]);
    Some(planned)
}

/// Whether `b` of the second instance waits for `a` of the first.
fn joins(planned: &Planned, options: &[&str]) -> bool {
    let joined = ("module.n[1].terraform_data.b".to_owned(), "module.n[0].terraform_data.a".to_owned());
    planned.edges(&[options, &["--all-edges"]].concat()).contains(&joined)
}

#[test]
fn instances_of_a_module_are_joined_as_terraform_joins_them() {
    let Some(planned) = two_instances(Product::terraform()) else { return };
    assert!(joins(&planned, &[]) && joins(&planned, &["--profile", "terraform"]));
    assert!(!joins(&planned, &["--profile", "opentofu"]));
    let happened = events(&planned.apply(&planned.edges(&["--all-edges"])));
    let begun = happened["module.n[1].terraform_data.b"].0;
    assert!(begun > happened["module.n[0].terraform_data.a"].1, "Terraform does not wait: {happened:?}");
}

#[test]
fn instances_of_a_module_are_kept_apart_as_opentofu_keeps_them_apart() {
    let Some(planned) = two_instances(Product::tofu()) else { return };
    assert!(!joins(&planned, &[]) && !joins(&planned, &["--profile", "opentofu"]));
    assert!(joins(&planned, &["--profile", "terraform"]));
    let happened = events(&planned.apply(&planned.edges(&["--all-edges"])));
    let begun = happened["module.n[1].terraform_data.b"].0;
    assert!(begun < happened["module.n[0].terraform_data.a"].1, "OpenTofu waits by now: {happened:?}");
}

/// The state alone says that `net` was to go last, and with it `vm` changes first. Without it, the edges close a circle that
/// Terraform does not have.
#[test]
fn cycle_that_hangs_on_a_flag_of_the_state_is_a_doubt_and_not_advice_to_edit() {
    let resource = |name: &str, body: &str| {
        format!(
            "resource \"terraform_data\" \"{name}\" {{\n  {body}\n  lifecycle {{\n    create_before_destroy = true\n  }}\n}}\n"
        )
    };
    let before = resource("net", "") + &resource("vm", "triggers_replace = [1, terraform_data.net.id]");
    let after = resource("vm", "triggers_replace = [2]");
    let Some(planned) = Planned::new(&before, &after, &[], &[]) else { return };
    let (plan, state) = (planned.path("plan.json"), planned.path("before.tfstate"));
    for args in [
        &["order", "plan", &plan][..],
        &["order", "plan", &plan, "--profile", "classic"],
        &["order", "waves", &plan],
        &["order", "why", &plan, "terraform_data.net", "terraform_data.vm"],
    ] {
        let message = groundstate(args).failed(5);
        assert!(message.contains("--state") && message.contains("terraform_data.net (destroy)"), "{message}");
        assert!(!message.contains("rm-dependency") && !message.contains("Cycle"), "{message}");
    }
    let edges = planned.edges(&["--state", &state, "--all-edges"]);
    let destroyed = "terraform_data.net (destroy)".to_owned();
    assert!(edges.contains(&(destroyed, "terraform_data.vm".to_owned())), "{edges:?}");
    planned.apply(&edges);
}
