//! Lock documents as they are found, also unreadable ones.

use groundstate_common::hex;
use groundstate_statemgr::{LockHolder, LockId, LockInfo};
use md5::{Digest, Md5};

/// Who holds a lock by its document.
///
/// One that cannot be read, or has no id, gets one that is made of its bytes, so that it can be freed like any other.
pub(crate) fn holder(document: &[u8]) -> LockHolder {
    match LockInfo::parse(document) {
        Ok(info) if !info.id.is_empty() => LockHolder::of(info),
        Ok(info) => LockHolder::of(info).with_id(unreadable(document)),
        Err(_) => {
            let info = "the document of the lock cannot be read".to_owned();
            LockHolder::of(LockInfo { info, ..LockInfo::default() }).with_id(unreadable(document))
        }
    }
}

fn unreadable(document: &[u8]) -> LockId {
    LockId::new(&format!("unreadable-{}", md5_hex(document)))
}

/// The MD5 of some bytes in lower-case digits: the digest of Terraform's tables.
pub(crate) fn md5_hex(bytes: &[u8]) -> String {
    hex(&Md5::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::{holder, md5_hex};

    #[test]
    fn every_document_has_an_id_that_frees_it() {
        let rows: [(&[u8], &str); 4] = [
            (br#"{"ID":"1","Who":"me@here"}"#, "1"),
            (br#"{"Who":"me@here"}"#, "unreadable-"),
            (b"", "unreadable-d41d8cd98f00b204e9800998ecf8427e"),
            (b"nonsense", "unreadable-"),
        ];
        for (document, id) in rows {
            let holder = holder(document);
            assert!(holder.id.as_str().starts_with(id), "{holder}");
        }
        assert_ne!(holder(b"a").id, holder(b"b").id);
    }

    #[test]
    fn digests_are_those_of_the_original() {
        assert_eq!(md5_hex(b""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(md5_hex(b"{}"), "99914b932bd37a50b983c5e7c90ae93b");
    }
}
