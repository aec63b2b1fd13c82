//! One attribute by its path: read without the rest, and changed without touching another byte.

use groundstate_statefile::{AttributeError, Document, Edit};
use groundstate_states::RawJson;
use groundstate_states::addr::AbsResourceInstance;

const TEXT: &str = r#"{
  "version": 4,
  "terraform_version": "1.11.4",
  "serial": 3,
  "lineage": "3f2a1c00-0000-4000-8000-000000000001",
  "outputs": {},
  "resources": [
    {
      "mode": "managed",
      "type": "aws_instance",
      "name": "web",
      "provider": "provider[\"registry.terraform.io/hashicorp/aws\"]",
      "instances": [
        {
          "index_key": 0,
          "deposed": "00000001",
          "schema_version": 1,
          "attributes": {"id": "old"}
        },
        {
          "index_key": 0,
          "schema_version": 1,
          "attributes": {
            "id":   "i-1",
            "a.b": 1,
            "disks": [
              {
                "size": 1.50
              }
            ],
            "note": "a\u0062<c",
            "tags": {
              "Name": "web"
            },
            "future": [1,   2]
          },
          "future": true
        },
        {
          "index_key": 1,
          "schema_version": 0,
          "attributes_flat": {
            "id": "i-2",
            "disks.0.size": "8"
          }
        }
      ]
    }
  ],
  "check_results": null
}
"#;

fn web(key: u8) -> AbsResourceInstance {
    AbsResourceInstance::parse(&format!("aws_instance.web[{key}]")).unwrap()
}

fn json(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

#[test]
fn an_attribute_is_read_as_it_is_spelled() {
    let document = Document::open(TEXT.as_bytes().to_vec()).unwrap();
    let read = |key, path| document.attribute(&web(key), path).map(|value| value.as_str().to_owned());
    for (key, path, value) in [
        (0, "id", Some(r#""i-1""#)),
        (0, "disks[0].size", Some("1.50")),
        (0, "disks", Some(r#"[{"size":1.50}]"#)),
        (0, r#""a.b""#, Some("1")),
        (0, "tags.Name", Some(r#""web""#)),
        (0, "disks[1]", None),
        (0, "tags[0]", None),
        (0, "id.x", None),
        (0, "no", None),
        (1, "id", Some(r#""i-2""#)),
        (1, "disks[0].size", Some(r#""8""#)),
        (1, "disks.0.size", Some(r#""8""#)),
        (2, "id", None),
    ] {
        assert_eq!(read(key, path).as_deref(), value, "{key} {path}");
    }
    assert_eq!(document.attribute(&web(0), "note").unwrap().to_text().unwrap(), "ab<c");
    // The whole model gives the same.
    let file = document.to_file().unwrap();
    let resource = file.state.resource(&web(0).resource).unwrap();
    let object = resource.instances[&web(0).key].current.as_ref().unwrap();
    assert_eq!(object.attributes.text("tags.Name").as_deref(), Some("web"));
    assert_eq!(object.attributes.get("disks[0].size").unwrap().as_str(), "1.50");
}

/// The document with one piece of text in the place of another that it has once.
fn changed(document: &Document, change: impl FnOnce(&mut Edit<'_>) -> Result<(), AttributeError>) -> String {
    let mut edit = document.edit();
    change(&mut edit).unwrap();
    String::from_utf8(edit.to_vec().unwrap()).unwrap()
}

#[test]
fn a_change_of_one_attribute_keeps_every_other_byte() {
    let document = Document::open(TEXT.as_bytes().to_vec()).unwrap();
    for (path, value, before, after) in [
        ("id", r#""i-9""#, r#""id":   "i-1""#, r#""id":   "i-9""#),
        ("disks[0].size", "2.0", "\"size\": 1.50", "\"size\": 2.0"),
        (
            "tags",
            r#"{"Name":"shop","Team":"a"}"#,
            "{\n              \"Name\": \"web\"\n            }",
            "{\n              \"Name\": \"shop\",\n              \"Team\": \"a\"\n            }",
        ),
        ("future", "[]", "[1,   2]", "[]"),
    ] {
        assert_eq!(TEXT.matches(before).count(), 1, "{before}");
        let text = changed(&document, |edit| edit.attribute(&web(0), path, &json(value)).map(drop));
        assert_eq!(text, TEXT.replace(before, after), "{path}");
    }
    // Two attributes, and what else an edit changes.
    let text = changed(&document, |edit| {
        edit.attribute(&web(0), "tags.Name", &json(r#""shop""#))?;
        edit.attribute(&web(0), "id", &json(r#""i-9""#))?;
        edit.serial(groundstate_states::Serial::new(4));
        Ok(())
    });
    let expected = TEXT.replace("\"web\"\n            }", "\"shop\"\n            }");
    assert_eq!(text, expected.replace("\"i-1\"", "\"i-9\"").replace("\"serial\": 3", "\"serial\": 4"));
}

#[test]
fn what_is_not_there_or_overlaps_is_refused() {
    let document = Document::open(TEXT.as_bytes().to_vec()).unwrap();
    let mut edit = document.edit();
    let absent = edit.attribute(&web(0), "ami", &json("1")).unwrap_err();
    assert_eq!(absent.to_string(), "aws_instance.web[0] has no attribute ami to change");
    edit.attribute(&web(0), "tags.Name", &json("1")).unwrap();
    assert!(matches!(edit.attribute(&web(0), "tags", &json("{}")), Err(AttributeError::Overlaps { .. })));
    // The same attribute once more counts as it was put last.
    edit.attribute(&web(0), "tags.Name", &json("2")).unwrap();
    assert!(String::from_utf8(edit.to_vec().unwrap()).unwrap().contains("\"Name\": 2\n"));
    // The whole resource takes the place of its attributes, and none is changed beside it.
    let address = web(0).resource;
    edit.resource(address, None);
    assert!(matches!(edit.attribute(&web(0), "id", &json("1")), Err(AttributeError::Overlaps { .. })));
    assert!(!String::from_utf8(edit.to_vec().unwrap()).unwrap().contains("aws_instance"));
}
