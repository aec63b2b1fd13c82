//! Blocks of files, and the variables and locals that they use.

use groundstate_encryption::{
    Configuration, ConfigurationError, Scope, SourceFile, Sources, Target, Value, read_variables,
};

const BLOCK: &str = r#"
    terraform {
      required_version = ">= 1.7"
      encryption {
        key_provider "pbkdf2" "main" {
          passphrase = local.passphrase
        }
        method "aes_gcm" "main" {
          keys = key_provider.pbkdf2.main
        }
        state {
          method = method.aes_gcm.main
        }
      }
    }
"#;

const LOCALS: &str = r#"
    variable "word" {
      type      = string
      sensitive = true
    }
    variable "tail" { default = "battery" }
    locals {
      passphrase = "correct-${var.word}-${local.tail}"
      tail       = var.tail
      unused     = file("nowhere")
    }
"#;

fn read(files: &[SourceFile<'_>], scope: Scope) -> Result<Option<Configuration>, ConfigurationError> {
    let sources = Sources(files);
    let scope = sources.scope(scope)?;
    sources.configuration(&scope)
}

fn file<'a>(name: &'a str, text: &'a str) -> SourceFile<'a> {
    SourceFile { name, text }
}

fn literal(passphrase: &str) -> Configuration {
    let text = format!(
        r#"
        key_provider "pbkdf2" "main" {{ passphrase = "{passphrase}" }}
        method "aes_gcm" "main" {{ keys = key_provider.pbkdf2.main }}
        state {{ method = method.aes_gcm.main }}
        "#
    );
    Configuration::parse("TF_ENCRYPTION", &text, &Scope::new()).unwrap().unwrap()
}

fn state(configuration: &Configuration) -> groundstate_encryption::Chain {
    configuration.chain(&Target::State).unwrap().unwrap()
}

#[test]
fn variables_and_locals_of_all_files_are_used() {
    let files = [file("locals.tf", LOCALS), file("main.tf", BLOCK)];
    let scope = Scope::new().variable("word", Value::text("horse"));
    let configuration = read(&files, scope).unwrap().unwrap();
    assert_eq!(state(&configuration), state(&literal("correct-horse-battery")));
    let error = read(&files, Scope::new()).unwrap().unwrap().chain(&Target::State).unwrap_err().to_string();
    assert_eq!(
        error,
        "main.tf, line 6: option `passphrase` of key_provider.pbkdf2.main: the variable `word` has no value; set TF_VAR_word"
    );
}

#[test]
fn json_files_say_the_same() {
    let json = r#"{
      "variable": {"tail": [{"default": "battery"}]},
      "locals": {"passphrase": "correct-${var.word}-${var.tail}", "n": {"a": [1, true, null]}},
      "terraform": [{"encryption": {
        "key_provider": {"pbkdf2": {"main": {"passphrase": "${local.passphrase}"}}},
        "method": {"aes_gcm": {"main": {"keys": "${key_provider.pbkdf2.main}"}}},
        "state": {"method": "method.aes_gcm.main"}
      }}]
    }"#;
    let scope = Scope::new().variable("word", Value::text("horse"));
    let configuration = read(&[file("main.tf.json", json)], scope).unwrap().unwrap();
    assert_eq!(state(&configuration), state(&literal("correct-horse-battery")));
}

#[test]
fn variables_come_from_files_of_variables() {
    let scope = read_variables(file("terraform.tfvars", "word = \"horse\"\n"), Scope::new()).unwrap();
    let scope = read_variables(file("x.auto.tfvars.json", r#"{"tail": "staple-staple"}"#), scope).unwrap();
    let configuration = read(&[file("a.tf", LOCALS), file("b.tf", BLOCK)], scope).unwrap().unwrap();
    assert_eq!(state(&configuration), state(&literal("correct-horse-staple-staple")));
}

#[test]
fn files_without_a_block_are_no_configuration() {
    assert_eq!(read(&[], Scope::new()), Ok(None));
    assert_eq!(read(&[file("a.tf", "# encryption of disks\n")], Scope::new()), Ok(None));
    // What is not looked at may have any syntax.
    assert_eq!(read(&[file("a.tf", "this is not }} parsed")], Scope::new()), Ok(None));
}

#[test]
fn a_second_block_is_refused_and_an_override_is_merged() {
    let error = read(&[file("a.tf", BLOCK), file("b.tf", BLOCK)], Scope::new()).unwrap_err().to_string();
    assert_eq!(error, "b.tf, line 4: this is the second encryption block, and there is one at most");
    let over = r#"
        terraform {
          encryption {
            key_provider "pbkdf2" "main" {
              passphrase = "of-the-override-file"
            }
          }
        }
    "#;
    let configuration =
        read(&[file("a.tf", BLOCK), file("a_override.tf", over)], Scope::new()).unwrap().unwrap();
    assert_eq!(state(&configuration), state(&literal("of-the-override-file")));
}

#[test]
fn locals_that_lead_to_themselves_or_multiply_are_not_known() {
    let circle = "locals {\n  passphrase = local.other\n  other = local.passphrase\n}\n";
    let chain = |locals: &str| {
        read(&[file("a.tf", BLOCK), file("b.tf", locals)], Scope::new())
            .unwrap()
            .unwrap()
            .chain(&Target::State)
    };
    assert!(chain(circle).unwrap_err().to_string().contains("leads to itself"));
    let mut many = String::from("locals {\n  l0 = \"0123456789abcdef\"\n");
    for index in 0..40 {
        many.push_str(&format!("  l{} = \"${{local.l{index}}}${{local.l{index}}}\"\n", index + 1));
    }
    many.push_str("  passphrase = local.l40\n}\n");
    assert!(chain(&many).unwrap_err().to_string().contains("insert more than 16 MiB"));
}

#[test]
fn heredocs_are_texts() {
    let text = "key_provider \"pbkdf2\" \"main\" {\n  passphrase = <<-EOT\n    correct-horse-staple\n  EOT\n}\nmethod \"aes_gcm\" \"main\" {\n  keys = key_provider.pbkdf2.main\n}\nstate {\n  method = method.aes_gcm.main\n}\n";
    let configuration = Configuration::parse("TF_ENCRYPTION", text, &Scope::new()).unwrap().unwrap();
    assert_eq!(state(&configuration), state(&literal("correct-horse-staple\\n")));
}

fn evaluated(declaration: &str, text: &str, template: &str) -> Value {
    let scope = Scope::new().text("v", text);
    Sources(&[file("main.tf", declaration)]).scope(scope).unwrap().template(template)
}

#[test]
fn text_of_the_environment_is_read_by_the_type_of_its_variable() {
    let typed = |of_type: &str| format!("variable \"v\" {{ type = {of_type} }}");
    for (declaration, text, template, expected) in [
        ("variable \"v\" {}".to_owned(), "{a = 1}", "x-${var.v}", "x-{a = 1}"),
        (typed("string"), "05", "x-${var.v}", "x-05"),
        (typed("number"), "5", "x-${var.v}", "x-5"),
        (typed("bool"), "1", "x-${var.v}", "x-true"),
        (typed("map(string)"), r#"{prod = "p"}"#, "x-${var.v.prod}", "x-p"),
        (typed("any"), r#"["a", "b"]"#, "x-${var.v[1]}", "x-b"),
    ] {
        assert_eq!(evaluated(&declaration, text, template), Value::text(expected), "{declaration}");
    }
    for (of_type, text) in [("number", "05"), ("number", "5.0"), ("bool", "yes"), ("list(string)", "[")] {
        let value = evaluated(&typed(of_type), text, "x-${var.v}");
        assert!(matches!(value, Value::Unknown(_)), "{of_type} {text}: {value:?}");
    }
    let json = r#"{"variable": {"v": {"type": "${list(string)}"}}}"#;
    let scope = Sources(&[file("main.tf.json", json)]).scope(Scope::new().text("v", r#"["a"]"#)).unwrap();
    assert_eq!(scope.template("${var.v[0]}"), Value::text("a"));
}

#[test]
fn override_files_replace_variables_and_locals_whatever_their_names_are() {
    let over = file("a_override.tf", "variable \"v\" { default = \"over\" }\nlocals { l = \"over\" }");
    let plain = file("main.tf", "variable \"v\" { default = \"plain\" }\nlocals { l = \"plain\" }");
    let scope = Sources(&[over, plain]).scope(Scope::new()).unwrap();
    assert_eq!(scope.template("${var.v} ${local.l}"), Value::text("over over"));
}

#[test]
fn doubt_about_variables_makes_values_unknown_until_a_later_value() {
    let declared = file("main.tf", "variable \"v\" { default = \"d\" }\nvariable \"w\" { default = \"d\" }");
    let scope = Scope::new().text("v", "environment").doubted("of the test").text("w", "certain");
    let scope = Sources(&[declared]).scope(scope).unwrap();
    assert_eq!(scope.template("${var.v}"), Value::Unknown("of the test".to_owned()));
    assert_eq!(scope.template("${local.l}"), Value::Unknown("of the test".to_owned()));
    assert_eq!(scope.template("${var.w}"), Value::text("certain"));
}

#[test]
fn messages_about_paths_show_no_value() {
    let scope = Scope::new().variable("v", Value::Map(Vec::new())).text("secret", "hunter2");
    let value = scope.template("x-${var.v[var.secret]}");
    assert!(matches!(&value, Value::Unknown(why) if !why.contains("hunter2")), "{value:?}");
    let scope = Sources(&[file("l.tf.json", r#"{"locals": {"a": "%{ if true }x%{ endif }", "b": "${"}}"#)]);
    let scope = scope.scope(Scope::new()).unwrap();
    for name in ["a", "b"] {
        let value = scope.template(&format!("${{local.{name}}}"));
        assert!(matches!(value, Value::Unknown(_)), "{name}: {value:?}");
    }
}
