//! The whole text of every error in the catalogue, with the place of each problem.

use groundstate_statefile::ReadError;

use crate::support::{
    PROVIDER, TOFU_PROVIDER, document, refused, verdict, with_instances, with_output, with_resource,
};

/// One line for each problem: its code, byte, line and column, path, and what is said about it.
#[track_caller]
fn shown(text: impl AsRef<[u8]>) -> String {
    let error = refused(&text);
    assert!(!verdict(text.as_ref()));
    let kind = match error {
        ReadError::NoState => "no state",
        ReadError::NotState(_) => "not a state",
        ReadError::Unusable(_) => "unusable",
        _ => "new kind",
    };
    let mut out = String::from(kind);
    for problem in error.problems() {
        let place = &problem.place;
        let (offset, line, column) = (place.offset, place.line, place.column);
        out.push_str(&format!("\n{} at {offset} = {line}:{column}", problem.code.id()));
        if !place.path.is_empty() {
            out.push_str(&format!(" in {}", place.path));
        }
        if let Some(address) = &problem.address {
            out.push_str(&format!(" of {address}"));
        }
        out.push_str(&format!("\n  {}: {}", problem.code.summary(), problem.message()));
    }
    out
}

fn table<T: AsRef<[u8]>>(rows: &[(&str, T)]) -> String {
    let rows: Vec<String> = rows.iter().map(|(name, text)| format!("# {name}\n{}", shown(text))).collect();
    rows.join("\n")
}

fn resource(name: &str, tail: &str) -> String {
    with_resource(&format!(r#""mode":"managed","type":"t","name":"{name}","provider":{PROVIDER}{tail}"#))
}

#[test]
fn what_is_no_state_file() {
    let rows: [(&str, &[u8]); 22] = [
        ("empty", b""),
        ("binary", b"tfstate\x01"),
        ("cut off", b"{\n  \"version\": 4,\n  \"serial\""),
        ("one blank", b" "),
        ("text", b"no state"),
        ("byte-order mark", b"\xef\xbb\xbf{\"version\":4}"),
        ("UTF-16", b"{\0\"\0"),
        ("UTF-16 with mark", b"\xff\xfe{\0"),
        ("NUL bytes", b"{\"version\":4,\0\0\0"),
        ("control character", b"{\"version\":4,\"lineage\":\"\x01\"}"),
        ("escape", b"{\"version\":4,\"lineage\":\"\\u12g4\"}"),
        ("invalid UTF-8", b"{\"version\":4,\n\"lineage\":\"\xc3\xa9\xff\"}"),
        ("garbage behind", b"{\"version\":4} x"),
        ("string", b"{\"version\":\"4\"}"),
        ("number", b"{\"version\":4.0}"),
        ("twice", b"{\"version\":4,\n \"version\":5}"),
        ("array", b"[]"),
        ("missing", b"{}"),
        ("encrypted", b"{\"encryption_version\":\"v0\"}"),
        ("zero", b"{\"version\":0}"),
        ("newer, named", b"{\"version\":5,\"terraform_version\":\"9.9.9\"}"),
        ("newer", b"{\"version\":5}"),
    ];
    insta::assert_snapshot!(table(&rows), @r#"
    # empty
    no state
    # binary
    unusable
    GS0101 at 0 = 1:1
      unsupported state file format: this is the binary format from before Terraform 0.7; convert it with Terraform 0.6.16 or older first, by any command that writes state
    # cut off
    not a state
    GS0102 at 28 = 3:11
      unsupported state file format: syntax error at byte offset 28: the file ends too early; it was probably cut off while it was written: restore a backup or an older version
    GS0103 at 28 = 3:11
      unsupported state file format: without valid JSON there is no version to find, so the format is unknown
    # one blank
    not a state
    GS0102 at 1 = 1:2
      unsupported state file format: syntax error at byte offset 1: the file ends too early; it was probably cut off while it was written: restore a backup or an older version
    GS0103 at 1 = 1:2
      unsupported state file format: without valid JSON there is no version to find, so the format is unknown
    # text
    not a state
    GS0102 at 1 = 1:2
      unsupported state file format: syntax error at byte offset 2: this character is not allowed here
    GS0103 at 1 = 1:2
      unsupported state file format: without valid JSON there is no version to find, so the format is unknown
    # byte-order mark
    not a state
    GS0102 at 0 = 1:1
      unsupported state file format: syntax error at byte offset 1: this character is not allowed here; the file begins with a byte-order mark: save it as UTF-8 without one
    GS0103 at 0 = 1:1
      unsupported state file format: without valid JSON there is no version to find, so the format is unknown
    # UTF-16
    not a state
    GS0102 at 1 = 1:2
      unsupported state file format: syntax error at byte offset 2: this character is not allowed here; the file looks like UTF-16: convert it to UTF-8 without a byte-order mark
    GS0103 at 1 = 1:2
      unsupported state file format: without valid JSON there is no version to find, so the format is unknown
    # UTF-16 with mark
    not a state
    GS0102 at 0 = 1:1
      unsupported state file format: syntax error at byte offset 1: this character is not allowed here; the file looks like UTF-16: convert it to UTF-8 without a byte-order mark
    GS0103 at 0 = 1:1
      unsupported state file format: without valid JSON there is no version to find, so the format is unknown
    # NUL bytes
    not a state
    GS0102 at 13 = 1:14
      unsupported state file format: syntax error at byte offset 14: this character is not allowed here; NUL bytes are what a crash leaves of a file: restore a backup or an older version
    GS0103 at 13 = 1:14
      unsupported state file format: without valid JSON there is no version to find, so the format is unknown
    # control character
    not a state
    GS0102 at 24 = 1:25 in lineage
      unsupported state file format: syntax error at byte offset 25: a control character must be escaped in a string
    GS0103 at 24 = 1:25 in lineage
      unsupported state file format: without valid JSON there is no version to find, so the format is unknown
    # escape
    not a state
    GS0102 at 28 = 1:29 in lineage
      unsupported state file format: syntax error at byte offset 29: JSON has no such escape sequence
    GS0103 at 28 = 1:29 in lineage
      unsupported state file format: without valid JSON there is no version to find, so the format is unknown
    # invalid UTF-8
    not a state
    GS0102 at 27 = 2:13 in lineage
      unsupported state file format: syntax error at byte offset 28: this is not UTF-8
    GS0103 at 27 = 2:13 in lineage
      unsupported state file format: without valid JSON there is no version to find, so the format is unknown
    # garbage behind
    not a state
    GS0102 at 14 = 1:15
      unsupported state file format: syntax error at byte offset 15: this character is not allowed here
    GS0103 at 14 = 1:15
      unsupported state file format: without valid JSON there is no version to find, so the format is unknown
    # string
    not a state
    GS0104 at 11 = 1:12 in version
      unsupported state file format: the version is string; it has to be a whole number of at least 0
    # number
    not a state
    GS0104 at 11 = 1:12 in version
      unsupported state file format: the version is number 4.0; it has to be a whole number of at least 0
    # twice
    not a state
    GS0104 at 25 = 2:12 in version
      unsupported state file format: "version" appears twice with different values, so the format is unknown; remove the wrong one
    # array
    not a state
    GS0105 at 0 = 1:1
      unsupported state file format: the document is array; a state file is an object with a "version"
    GS0103 at 0 = 1:1
      unsupported state file format: so there is no version to find, and the format cannot be told
    # missing
    not a state
    GS0106 at 0 = 1:1
      unsupported state file format: a state file needs the member "version", a whole number that names its format
    # encrypted
    not a state
    GS0107 at 0 = 1:1
      unsupported state file format: the state is encrypted by OpenTofu and no encryption is configured; decrypt it first, for example with `tofu state pull`
    # zero
    unusable
    GS0108 at 11 = 1:12 in version
      unsupported state file format: the version is 0, but no JSON format had that number; the file was damaged or made by hand
    # newer, named
    unusable
    GS0109 at 11 = 1:12 in version
      unsupported state file format: format version 5 is not known to groundstate 0.1.0, which reads 1 to 4; the file was written by release 9.9.9: look for a newer groundstate
    # newer
    unusable
    GS0109 at 11 = 1:12 in version
      unsupported state file format: format version 5 is not known to groundstate 0.1.0, which reads 1 to 4; the file may come from a newer release: look for a newer groundstate
    "#);
}

#[test]
fn what_a_document_must_not_hold() {
    let rows = [
        ("serial", r#"{"version":4,"serial":"1"}"#.to_owned()),
        ("schema version", with_instances(r#"{"schema_version":-3}"#)),
        ("null resource", document(r#""resources":[null]"#)),
        ("private", with_instances(r#"{"private":"!!"}"#)),
        ("writer", r#"{"version":4,"terraform_version":"not a version"}"#.to_owned()),
        (
            "mode",
            with_resource(&format!(r#""mode":"ephemeral","type":"t","name":"n","provider":{PROVIDER}"#)),
        ),
        ("no mode", with_resource(&format!(r#""type":"t","name":"n","provider":{PROVIDER}"#))),
        ("module", resource("n", r#","module":"nope""#)),
        ("provider", with_resource(r#""mode":"managed","type":"t","name":"n","provider":"free text""#)),
        ("provider of an instance", with_instances(r#"{"provider":"provider.aws"}"#)),
        ("provider missing", with_resource(r#""mode":"managed","type":"t","name":"n","instances":[{}]"#)),
        (
            "providers differ",
            with_resource(&format!(
                r#""mode":"managed","type":"t","name":"n","instances":[
                {{"index_key":0,"provider":{TOFU_PROVIDER}}},{{"index_key":1,"provider":{PROVIDER}}}]"#
            )),
        ),
        ("bool key", with_instances(r#"{"index_key":true}"#)),
        ("fraction", with_instances(r#"{"index_key":1.5}"#)),
        ("negative", with_instances(r#"{"index_key":-1}"#)),
        ("status", with_instances(r#"{"index_key":"a","status":"planned"}"#)),
        ("deposed", with_instances(r#"{"deposed":"abc"}"#)),
        ("two current objects", with_instances("{},\n{}")),
        (
            "two deposed objects",
            with_instances(r#"{"index_key":0,"deposed":"0000000a"},{"index_key":0,"deposed":"0000000a"}"#),
        ),
        ("dependency", with_instances(r#"{"dependencies":["t.a","t"]}"#)),
        ("dependency with key", with_instances(r#"{"dependencies":["t.a[0]"]}"#)),
        ("sensitive path", with_instances(r#"{"sensitive_attributes":[[{"type":"splat"}],[]]}"#)),
        ("no list", with_instances(r#"{"sensitive_attributes":{}}"#)),
        ("no type", with_output(r#""value":1"#)),
        ("bad type", with_output(r#""value":1,"type":["list"]"#)),
        ("no value", with_output(r#""type":"number""#)),
        ("misfit", with_output(r#""value":{"a":{}},"type":["object",{"a":"string"}]"#)),
        (
            "check address",
            document(
                r#""check_results":[{"object_kind":"resource","config_addr":"module.a[0].t.n","status":"pass","objects":null}]"#,
            ),
        ),
    ];
    insta::assert_snapshot!(table(&rows), @r#"
    # serial
    unusable
    GS0111 at 22 = 1:23 in serial
      invalid state file format: expected a whole number from 0 to 18446744073709551615, found string
    # schema version
    unusable
    GS0111 at 220 = 1:221 in resources[0].instances[0].schema_version of test_a.b
      invalid state file format: expected a whole number from 0 to 18446744073709551615, found number -3
    # null resource
    unusable
    GS0111 at 80 = 1:81 in resources[0]
      invalid state file format: expected a resource, found null
    # private
    unusable
    GS0113 at 213 = 1:214 in resources[0].instances[0].private of test_a.b
      invalid state file format: private is not base64; it is data of the provider, so take it from a backup or remove the member
    # writer
    unusable
    GS0114 at 33 = 1:34 in terraform_version
      invalid version string: terraform_version: "not a version" is not a version such as 1.11.4
    # mode
    unusable
    GS0116 at 88 = 1:89 in resources[0].mode
      invalid resource mode in state: mode "ephemeral" of "t" "n" is neither "managed" nor "data"
    # no mode
    unusable
    GS0116 at 80 = 1:81 in resources[0]
      invalid resource mode in state: mode "" of "t" "n" is neither "managed" nor "data"
    # module
    unusable
    GS0117 at 193 = 1:194 in resources[0].module
      invalid module address in state: invalid module address `nope`: a module path begins with `module.` (at byte 0); write `module.NAME`
    # provider
    unusable
    GS0118 at 131 = 1:132 in resources[0].provider of t.n
      invalid provider address in state: invalid provider configuration address `free text`: `provider` is missing (at byte 0); write `provider["host/namespace/type"]`
    # provider of an instance
    unusable
    GS0118 at 214 = 1:215 in resources[0].instances[0].provider of test_a.b
      invalid provider address in state: provider of an instance: invalid provider instance address `provider.aws`: the source address is not quoted in brackets (at byte 9); write `provider["host/namespace/type"]`
    # provider missing
    unusable
    GS0119 at 133 = 1:134 in resources[0].instances[0] of t.n
      provider missing in state: neither the resource nor this instance names a provider; add the member "provider"
    # providers differ
    unusable
    GS0120 at 256 = 2:123 in resources[0].instances[1].provider of t.n
      provider conflict in state: instances name different providers, provider["registry.opentofu.org/hashicorp/test"] and provider["registry.terraform.io/hashicorp/test"]; they have to agree
    # bool key
    unusable
    GS0121 at 215 = 1:216 in resources[0].instances[0].index_key of test_a.b
      invalid instance metadata in state: index_key is bool; it has to be a number or a string
    # fraction
    unusable
    GS0121 at 215 = 1:216 in resources[0].instances[0].index_key of test_a.b
      invalid instance metadata in state: index_key is number 1.5; it has to be a whole number from 0 to 9223372036854775807 or a string
    # negative
    unusable
    GS0121 at 215 = 1:216 in resources[0].instances[0].index_key of test_a.b
      invalid instance metadata in state: index_key is number -1; it has to be a whole number from 0 to 9223372036854775807 or a string
    # status
    unusable
    GS0122 at 228 = 1:229 in resources[0].instances[0].status of test_a.b["a"]
      invalid instance metadata in state: status "planned" is not known; leave it out for a usable object or write "tainted"
    # deposed
    unusable
    GS0123 at 213 = 1:214 in resources[0].instances[0].deposed of test_a.b
      invalid instance metadata in state: deposed key "abc" is not eight bytes long
    # two current objects
    unusable
    GS0124 at 206 = 2:1 in resources[0].instances[1] of test_a.b
      duplicate resource instance in state: test_a.b has two current objects; remove one of them
    # two deposed objects
    unusable
    GS0125 at 239 = 1:240 in resources[0].instances[1] of test_a.b
      duplicate resource instance in state: test_a.b[0] has two deposed objects 0000000a; remove one of them
    # dependency
    unusable
    GS0126 at 225 = 1:226 in resources[0].instances[0].dependencies[1] of test_a.b
      invalid dependency in state: dependency is not a resource address: invalid resource address `t`: a resource needs a type and a name (at byte 1); write `TYPE.NAME`
    # dependency with key
    unusable
    GS0126 at 219 = 1:220 in resources[0].instances[0].dependencies[0] of test_a.b
      invalid dependency in state: dependency is not a resource address: invalid resource address `t.a[0]`: the key of an instance cannot follow a whole resource (at byte 3); leave out the key
    # sensitive path
    unusable
    GS0128 at 236 = 1:237 in resources[0].instances[0].sensitive_attributes[0][0].type of test_a.b
      invalid sensitive attribute path in state: a step of the path has an unknown type; known are "get_attr" and "index"
    # no list
    unusable
    GS0128 at 226 = 1:227 in resources[0].instances[0].sensitive_attributes of test_a.b
      invalid sensitive attribute path in state: expected an array of paths, found an object
    # no type
    unusable
    GS0129 at 78 = 1:79 in outputs.a of output.a
      invalid output type in state: output "a" has no type; add the member "type", for example "string"
    # bad type
    unusable
    GS0129 at 100 = 1:101 in outputs.a.type of output.a
      invalid output type in state: output "a" has an invalid type: the type "list" lacks its second element
    # no value
    unusable
    GS0130 at 78 = 1:79 in outputs.a of output.a
      invalid output value in state: output "a" has no value; add the member "value"
    # misfit
    unusable
    GS0130 at 96 = 1:97 in outputs.a.value.a of output.a
      invalid output value in state: output "a" has a value that does not conform to its type: expected a string, found an object
    # check address
    unusable
    GS0131 at 124 = 1:125 in check_results[0].config_addr
      invalid check address in state: invalid resource instance address `module.a[0].t.n`: a module cannot have a key here (at byte 8); leave out the key
    "#);
}

#[test]
fn several_problems_are_told_together() {
    let text = r#"{
  "version": 4,
  "serial": -1,
  "outputs": {
    "é": { "value": "x", "type": "number" }
  },
  "resources": [
    {
      "mode": "managed", "type": "t", "name": "n", "module": "module.m[\"a.b\"]",
      "provider": "provider[\"a/b\"]",
      "instances": [ { "status": "odd" }, { "index_key": [] }, { "dependencies": [7] } ]
    }
  ]
}"#;
    insta::assert_snapshot!(refused(text), @r#"
    unusable state file: 5 problems:

    - invalid state file format: expected a whole number from 0 to 18446744073709551615, found number -1 at line 3, column 13 (serial)
    - invalid output value in state: output "é" has a value that does not conform to its type: expected a number, found a string that is not a decimal number [output.é] at line 5, column 21 (outputs.é.value)
    - invalid instance metadata in state: status "odd" is not known; leave it out for a usable object or write "tainted" [module.m["a.b"].t.n] at line 11, column 34 (resources[0].instances[0].status)
    - invalid instance metadata in state: index_key is array; it has to be a number or a string [module.m["a.b"].t.n] at line 11, column 58 (resources[0].instances[1].index_key)
    - invalid state file format: expected a string, found number 7 [module.m["a.b"].t.n] at line 11, column 83 (resources[0].instances[2].dependencies[0])
    "#);
    insta::assert_snapshot!(shown(text), @r#"
    unusable
    GS0111 at 30 = 3:13 in serial
      invalid state file format: expected a whole number from 0 to 18446744073709551615, found number -1
    GS0130 at 70 = 5:21 in outputs.é.value of output.é
      invalid output value in state: output "é" has a value that does not conform to its type: expected a number, found a string that is not a decimal number
    GS0122 at 276 = 11:34 in resources[0].instances[0].status of module.m["a.b"].t.n
      invalid instance metadata in state: status "odd" is not known; leave it out for a usable object or write "tainted"
    GS0121 at 300 = 11:58 in resources[0].instances[1].index_key of module.m["a.b"].t.n
      invalid instance metadata in state: index_key is array; it has to be a number or a string
    GS0111 at 325 = 11:83 in resources[0].instances[2].dependencies[0] of module.m["a.b"].t.n
      invalid state file format: expected a string, found number 7
    "#);
}

#[test]
fn paths_lead_to_the_member_without_list_positions() {
    let error = refused(with_instances(r#"{"schema_version":-3}"#));
    let place = &error.problems()[0].place;
    assert_eq!(place.path, "resources[0].instances[0].schema_version");
    assert_eq!(place.member_path(), "resources.instances.schema_version");
}

#[test]
fn a_file_with_a_problem_on_every_line_is_told_briefly() {
    let instances = vec![r#"{"status":"odd"}"#; 5000].join(",\n");
    let error = refused(with_instances(&instances));
    assert_eq!(error.problems().len(), 100);
    assert!(error.to_string().contains("and 4900 more problems"), "{error}");
}

#[test]
fn no_error_shows_a_value_that_may_be_secret() {
    let secret = "hunter2";
    let texts = [
        with_output(r#""value":"hunter2","type":"number","sensitive":true"#),
        with_output(r#""value":{"hunter2x":"hunter2"},"type":["object",{"a":"string"}]"#),
        with_output(r#""value":["hunter2"],"type":["map","string"]"#),
        with_output(r#""value":"hunter2","type":"dynamic""#),
        with_instances(r#"{"private":"hunter2"}"#),
        with_instances(r#"{"attributes":{"a":"hunter2"},"schema_version":"hunter2"}"#),
        with_instances(r#"{"attributes_flat":{"a":["hunter2"]}}"#),
        with_instances(r#"{"sensitive_attributes":[[{"type":"index","value":"hunter2"}]]}"#),
        with_instances(r#"{"attributes":{"a":"hunter2"},"status":"x"}"#),
        r#"{"version":4,"serial":"hunter2"}"#.to_owned(),
        r#"{"version":"hunter2"}"#.to_owned(),
        r#""hunter2""#.to_owned(),
        r#"{"version":4,"outputs":{"a":{"value":"hunter2"#.to_owned(),
    ];
    for text in texts {
        let error = refused(&text);
        let text = error.to_string().replace("hunter2x", "");
        assert!(!text.contains(secret), "{text}");
        assert!(!format!("{error:?}").replace("hunter2x", "").contains(secret), "{error:?}");
    }
}
