//! Upgrades against what Terraform makes of the same files.

use std::fs;
use std::path::Path;

use groundstate_statefile::{DecodeOptions, EncodeOptions, WriterVersion, decode, encode};

use crate::files::files;
use crate::shared::fixtures;

/// Terraform 1.11.4 puts its own version into what it prints, and no line break behind it.
#[track_caller]
fn check(input: &Path, expected: &Path, options: &DecodeOptions) {
    let mut file = decode(&fs::read(input).unwrap(), options).unwrap();
    assert!(file.style.source_version < 4, "{}", input.display());
    file.terraform_version = WriterVersion::parse("1.11.4").ok();
    let written = encode(&file, &EncodeOptions::default().allow_loss(true)).unwrap();
    let expected = fs::read_to_string(expected).unwrap();
    assert_eq!(String::from_utf8(written).unwrap().trim_end(), expected.trim_end(), "{}", input.display());
}

#[test]
fn states_of_terraform_0_11_become_the_bytes_that_terraform_1_11_makes_of_them() {
    let Some(dir) = fixtures() else { return };
    let expected = files(&dir.join("terraform-0.11"), &|name| name.ends_with(".v4.tfstate"));
    assert!(expected.len() >= 8, "{}", expected.len());
    for expected in expected {
        let name = expected.to_string_lossy().replace(".v4.tfstate", ".tfstate");
        check(Path::new(&name), &expected, &DecodeOptions::default());
    }
}

#[test]
fn odd_files_of_old_formats_become_the_bytes_that_terraform_1_11_makes_of_them() {
    let Some(dir) = fixtures() else { return };
    let is_old = |name: &str| ["v1-", "v2-", "v3-"].iter().any(|start| name.starts_with(start));
    let outs = files(&dir.join("terraform-1.11/odd-files"), &|name| is_old(name) && name.ends_with(".out"));
    assert!(outs.len() >= 9, "{}", outs.len());
    for expected in outs {
        // Keeping the tainted instances is where we differ on purpose.
        check(&expected.with_extension("in"), &expected, &DecodeOptions::default().drop_v1_tainted(true));
    }
}

#[test]
fn odd_files_of_old_formats_that_terraform_refuses_are_refused() {
    let Some(dir) = fixtures() else { return };
    let is_old = |name: &str| ["v1-", "v2-", "v3-"].iter().any(|start| name.starts_with(start));
    let inputs = files(&dir.join("terraform-1.11/odd-files"), &|name| is_old(name) && name.ends_with(".in"));
    let refused: Vec<_> = inputs.iter().filter(|input| !input.with_extension("out").exists()).collect();
    assert!(refused.len() >= 5, "{}", refused.len());
    for input in refused {
        let error = decode(&fs::read(input).unwrap(), &DecodeOptions::default()).unwrap_err();
        assert!(error.to_string().contains("from version 3 to 4"), "{}: {error}", input.display());
    }
}

#[test]
fn states_of_terraform_0_11_that_no_other_release_read_upgrade_without_loss() {
    let Some(dir) = fixtures() else { return };
    let inputs = files(&dir.join("terraform-0.11"), &|name| {
        name.ends_with(".tfstate") && !name.ends_with(".v4.tfstate")
    });
    assert!(inputs.len() >= 18, "{}", inputs.len());
    for input in inputs {
        let file = decode(&fs::read(&input).unwrap(), &DecodeOptions::default()).unwrap();
        assert!(encode(&file, &EncodeOptions::default()).is_ok(), "{}", input.display());
    }
}
