//! Workspaces of places in the network: what a new one holds, and which one the command line names.

use std::fs;

use serde_json::Value;

use super::remote::everywhere;
use super::support::{resource, with_resources};

#[test]
fn a_new_workspace_names_a_writer_that_opentofu_can_read() {
    for work in everywhere() {
        work.run(&["workspaces", "new", ".", "first"]).clean();
        let written = |name: &str| {
            let text = work.run(&["pull", ".", "--workspace", name]).clean();
            serde_json::from_str::<Value>(&text).unwrap()["terraform_version"].clone()
        };
        assert_eq!(written("first"), "1.0.0");
        // Where others have one, it is theirs.
        work.push(&["one"]);
        work.run(&["workspaces", "new", ".", "second"]).clean();
        assert_eq!(written("second"), "1.11.4");
        let again = work.run(&["workspaces", "new", ".", "second"]).failed(9);
        assert!(again.contains("it exists already"), "{again}");
    }
}

#[test]
fn a_new_workspace_beside_encrypted_ones_is_refused() {
    for work in everywhere() {
        let envelope =
            r#"{"serial":1,"lineage":"l","meta":{},"encrypted_data":"abc","encryption_version":"v0"}"#;
        work.place.put_state(envelope.as_bytes());
        let refused = work.run(&["workspaces", "new", ".", "dev"]).failed(2);
        assert!(
            refused.contains("is encrypted by OpenTofu") && refused.contains("tofu workspace new"),
            "{refused}"
        );
        assert_eq!(work.run(&["workspaces", "list", "."]).clean(), "* default\n");
    }
}

#[test]
fn the_workspace_of_the_command_line_is_not_that_of_files() {
    for work in everywhere() {
        work.run(&["workspaces", "new", ".", "dev"]).clean();
        let dev = |args: &[&str]| work.run(&[&["--workspace", "dev"], args].concat());
        for name in ["one", "two"] {
            fs::write(work.path().join("new.json"), with_resources(&resource("a", name, "{}"))).unwrap();
            assert_eq!(dev(&["push", ".", "new.json", "--force"]).code, 0);
            assert_eq!(dev(&["list", "."]).clean(), format!("a.{name}\n"));
        }
        assert_eq!(dev(&["diff", ".", "new.json"]).code, 1, "lineage and serial differ");
        assert_eq!(dev(&["undo", "."]).code, 0);
        assert_eq!(dev(&["list", "."]).clean(), "a.one\n");
    }
}
