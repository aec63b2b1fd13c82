//! The lock document, byte for byte, and as it is shown.

use groundstate_common::{SequenceIds, Timestamp};
use groundstate_statemgr::{ErrorKind, LockDocument, LockId, LockInfo, Result};

use crate::support::kind;

/// Written by Terraform 1.11.4.
const OBSERVED: &str = r#"{"ID":"681fbb37-7302-b5fd-bac8-6224f8cc5180","Operation":"OperationTypeApply","Info":"","Who":"root@vm","Version":"1.11.4","Created":"2026-11-21T00:32:24.937235782Z","Path":"tfb/p/a.tfstate"}"#;

#[test]
fn a_document_of_terraform_comes_out_byte_for_byte() -> Result<()> {
    let document = LockDocument::parse(OBSERVED.as_bytes().to_vec())?;
    assert_eq!(document.info().to_json(), OBSERVED);
    assert_eq!(document.bytes(), OBSERVED.as_bytes());
    Ok(())
}

#[test]
fn is_shown_in_one_column() -> Result<()> {
    let info = LockInfo::parse(OBSERVED.as_bytes())?;
    let shown = "Lock Info:
  ID:        681fbb37-7302-b5fd-bac8-6224f8cc5180
  Path:      tfb/p/a.tfstate
  Operation: OperationTypeApply
  Who:       root@vm
  Version:   1.11.4
  Created:   2026-11-21 00:32:24.937235782 +0000 UTC
  Info:      \n";
    assert_eq!(info.to_string(), shown);
    Ok(())
}

#[test]
fn a_new_document_has_a_fresh_id_and_all_members() -> Result<()> {
    let now = Timestamp::parse("2026-11-21T01:00:00.50+01:00").unwrap();
    let info = LockInfo::new(&SequenceIds::new(), now, "state-mv")?;
    let json = r#"{"ID":"00000000-0000-0000-0000-000000000001","Operation":"state-mv","Info":"","Who":"","Version":"","Created":"2026-11-21T00:00:00.5Z","Path":""}"#;
    assert_eq!(info.to_json(), json);
    Ok(())
}

#[test]
fn escapes_as_go_does() -> Result<()> {
    let text = "<a> & \u{2028}\u{2029} \"\\/ \n\r\t\u{8}\u{c}\u{1} é\u{7f}";
    let info = LockInfo { info: text.to_owned(), ..LockInfo::default() };
    let escaped = r#""\u003ca\u003e \u0026 \u2028\u2029 \"\\/ \n\r\t\b\f\u0001 é"#.to_owned() + "\u{7f}\"";
    let json = info.to_json();
    assert!(json.contains(&format!(r#""Info":{escaped},"#)), "{json}");
    assert_eq!(LockInfo::parse(json.as_bytes())?, info);
    Ok(())
}

#[test]
fn reads_what_the_originals_read() -> Result<()> {
    let empty = LockInfo::default();
    assert!(empty.to_json().contains(r#""Created":"0001-01-01T00:00:00Z""#));
    let with_id = |id: &str| LockInfo { id: LockId::new(id), ..LockInfo::default() };
    let rows: [(&[u8], LockInfo); 7] = [
        (b"{}", empty.clone()),
        (b" {\"id\":\"a\"}\n", with_id("a")),
        (br#"{"ID":"a","iD":"b"}"#, with_id("b")),
        (br#"{"ID":"a","ID":null}"#, with_id("a")),
        (br#"{"ID":"a","Ttl":{"seconds":[1,2]}}"#, with_id("a")),
        (b"{\"ID\":\"\xff\"}", with_id("\u{fffd}")),
        (
            br#"{"Created":"2026-01-01T00:00:00+01:00"}"#,
            LockInfo { created: Timestamp::parse("2025-12-31T23:00:00Z").unwrap(), ..empty },
        ),
    ];
    for (document, expected) in rows {
        assert_eq!(LockInfo::parse(document)?, expected, "{}", String::from_utf8_lossy(document));
    }
    Ok(())
}

#[test]
fn refuses_what_is_no_document() {
    let rows: [&[u8]; 7] =
        [b"", b"null", b"[]", b"{", b"{} {}", br#"{"ID":7}"#, br#"{"Created":"yesterday"}"#];
    for document in rows {
        let found = kind(LockInfo::parse(document));
        assert_eq!(found, Some(ErrorKind::Corrupt), "{}", String::from_utf8_lossy(document));
    }
}
