//! Addresses in the files that real binaries wrote.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use groundstate_states::addr::{
    AbsResource, AbsResourceInstance, ConfigResource, InstanceKey, ModuleInstance, ProviderConfig,
    ProviderInstance, Resource, TERRAFORM_REGISTRY,
};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// The folder of shared fixtures: named by the environment, or beside the checkout.
fn fixtures() -> Option<PathBuf> {
    let named = env::var_os("GROUNDSTATE_FIXTURES").map(PathBuf::from);
    let beside = || {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .map(|dir| dir.join("shared/fixtures"))
            .find(|dir| dir.is_dir())
    };
    named.or_else(beside)
}

/// All files below `dir` that the predicate picks by name.
fn files(dir: &Path, pick: &dyn Fn(&str) -> bool) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path, pick)?);
        } else if path.file_name().and_then(|name| name.to_str()).is_some_and(pick) {
            found.push(path);
        }
    }
    Ok(found)
}

/// The text of each string member called `name` in an indented JSON file.
fn members(json: &str, name: &str) -> Vec<String> {
    let start = format!("\"{name}\": \"");
    let quoted = json
        .lines()
        .filter_map(|line| line.trim().trim_end_matches(',').strip_prefix(&start)?.strip_suffix('"'));
    quoted.map(|text| text.replace("\\\"", "\"").replace("\\\\", "\\")).collect()
}

#[test]
fn every_listed_address_reads_back_and_sorts_as_listed() -> Outcome {
    let Some(dir) = fixtures() else {
        println!("not run: shared fixtures not present");
        return Ok(());
    };
    // The lists of 0.11 name data resources without `data.`; what 1.11 lists after the upgrade stands in `*.v4.list.txt`.
    let mut lists =
        files(&dir.join("terraform-1.11"), &|name| name.starts_with("list") && name.ends_with(".txt"))?;
    lists.extend(files(&dir.join("terraform-0.11"), &|name| name.ends_with(".v4.list.txt"))?);
    assert!(lists.len() > 15, "{}", lists.len());
    for list in lists {
        let text = fs::read_to_string(&list)?;
        let lines = text.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>();
        let mut instances = Vec::new();
        for line in &lines {
            let instance =
                AbsResourceInstance::parse(line).map_err(|e| format!("{}: {e}", list.display()))?;
            assert_eq!(instance.to_string(), *line, "{}", list.display());
            instances.push(instance);
        }
        instances.sort();
        assert_eq!(
            instances.iter().map(ToString::to_string).collect::<Vec<_>>(),
            lines,
            "{}",
            list.display()
        );
    }
    Ok(())
}

#[test]
fn every_module_and_dependency_in_a_state_reads_back() -> Outcome {
    let Some(dir) = fixtures() else {
        println!("not run: shared fixtures not present");
        return Ok(());
    };
    let mut seen = 0;
    for file in files(&dir, &|name| name.ends_with(".tfstate"))? {
        let json = fs::read_to_string(&file)?;
        for text in members(&json, "module") {
            assert_eq!(ModuleInstance::parse(&text)?.to_string(), text, "{}", file.display());
            seen += 1;
        }
        let mut lines = json.lines().map(str::trim);
        while lines.any(|line| line == "\"dependencies\": [") {
            for line in lines.by_ref().take_while(|line| !line.starts_with(']')) {
                let text = line.trim_end_matches(',').trim_matches('"');
                assert_eq!(AbsResource::parse(text)?.to_config().to_string(), text, "{}", file.display());
                assert!(ConfigResource::is_plain(text), "{text}");
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "{seen}");
    Ok(())
}

#[test]
fn every_provider_in_a_file_is_read_or_known_to_be_bad() -> Outcome {
    let Some(dir) = fixtures() else {
        println!("not run: shared fixtures not present");
        return Ok(());
    };
    let mut refused = BTreeSet::new();
    for file in files(&dir, &|name| [".tfstate", ".in", ".out"].iter().any(|end| name.ends_with(end)))? {
        let json = String::from_utf8_lossy(&fs::read(&file)?).into_owned();
        for text in members(&json, "provider").into_iter().filter(|text| !text.is_empty()) {
            let modern = ProviderConfig::parse(&text, TERRAFORM_REGISTRY);
            match modern.or_else(|_| ProviderConfig::parse_legacy(&text, TERRAFORM_REGISTRY)) {
                Ok(config) => {
                    let again = ProviderConfig::parse(&config.to_string(), TERRAFORM_REGISTRY)?;
                    assert_eq!(again, config, "{}", file.display());
                }
                Err(_) => {
                    refused.insert(text);
                }
            }
        }
    }
    let keyed = r#"provider["registry.opentofu.org/hashicorp/null"].by["k"]"#;
    // The compact form stands only in format 3, and `null` looks like it.
    let bad = ["b.alias", r#"module.m[0].provider["registry.terraform.io/hashicorp/null"]"#, "null", keyed];
    assert_eq!(refused.iter().map(String::as_str).collect::<Vec<_>>(), bad);
    assert_eq!(ProviderInstance::parse(keyed, TERRAFORM_REGISTRY)?.key, InstanceKey::string("k"));
    Ok(())
}

#[test]
fn names_that_are_no_identifiers_print_but_do_not_read() {
    for (name, printed) in [("a b", "null_resource.a b"), ("", "null_resource.")] {
        let address = Resource::managed("null_resource", name).absolute(ModuleInstance::root()).to_string();
        assert_eq!(address, printed);
        assert!(AbsResource::parse(&address).is_err());
        assert!(!AbsResource::is_plain(&address));
    }
}
