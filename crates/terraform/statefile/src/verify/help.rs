//! What to do about the problems of the reader, and about files that are damaged as a whole.

use crate::problem::Code;

/// What to do about a problem.
pub(super) fn for_problem(code: Code) -> &'static str {
    match code {
        Code::BinaryFormat => "convert it with a Terraform release before 0.7, then with newer ones",
        Code::Syntax | Code::VersionUnreadable => "restore a backup or an older version of the file",
        Code::VersionType | Code::VersionMissing | Code::NotAnObject => {
            "make sure that this is a state file, and not a plan, a configuration or the answer of a server"
        }
        Code::Encrypted => "decrypt it with OpenTofu, for example by `tofu state pull`, and check the result",
        Code::VersionZero => {
            "write the version that the file really has; states of Terraform since 0.12 have 4"
        }
        Code::VersionUnsupported => "look for a newer groundstate",
        Code::WrongType => "write a value of the type that is named",
        Code::Malformed => "take the value from a backup, or remove the member",
        Code::WriterVersion => "write a version such as 1.11.4, or the empty string",
        Code::UpgradeFailed => "correct the place that is named, and try again",
        Code::ResourceMode => "write \"managed\" for a resource block and \"data\" for a data block",
        Code::ModuleAddress => "write an address such as module.a[\"key\"].module.b",
        Code::ProviderAddress | Code::ProviderMissing => {
            "correct the address before Terraform writes this state: releases before 1.17 drop the whole resource \
             without a word"
        }
        Code::ProviderConflict => "let all instances of the resource name the same provider configuration",
        Code::IndexKey => "write a whole number of at least 0, a string, or nothing",
        Code::Status => "leave the status out for a usable object, or write \"tainted\"",
        Code::DeposedKey => {
            "write eight lower-case hexadecimal digits, different for each object of the instance"
        }
        Code::DuplicateCurrent | Code::DuplicateDeposed => {
            "find out which of the remote objects is in use, and remove the other entry"
        }
        Code::Dependency => "write an address such as module.a.aws_instance.web, without a key at its end",
        Code::DependsOn => "write an address such as module.a.aws_instance.web[0]",
        Code::SensitivePath => "write a list of lists of steps, or take the member from a backup",
        Code::OutputType => "write a type such as \"string\" or [\"list\",\"string\"]",
        Code::OutputValue => {
            "write a value of the output's type, or remove the output; the next apply writes it anew"
        }
        Code::CheckAddress => "remove the element; the next plan or apply writes all check results anew",
    }
}

/// What to do with a file that stops being JSON at `offset`.
pub(super) fn for_damage(text: &[u8], offset: usize) -> &'static str {
    let rest = text.get(offset..).unwrap_or_default();
    let blank = |bytes: &[u8]| bytes.iter().all(|b| matches!(b, 0 | b' ' | b'\t' | b'\r' | b'\n'));
    match text {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, b'{', ..] | [b'{', 0, ..] => {
            "convert the file, for example with `iconv -f UTF-16 -t UTF-8`; nothing in it is lost"
        }
        [0xef, 0xbb, 0xbf, ..] if offset == 0 => {
            "save the file without a byte-order mark (its first three bytes); what follows was checked nevertheless"
        }
        [0x1f, 0x8b, ..] => "unpack the file first, it is compressed with gzip",
        [b'P', b'K', 3, 4, ..] => "unpack the file first; a ZIP archive may be a plan, which is no state",
        _ if blank(text) => "nothing can be recovered from this file: restore a backup or an older version",
        _ if rest.first() == Some(&0) && blank(rest) => {
            "a crash left NUL bytes at the end: restore a backup or an older version; if there is none, what stands \
             before them can be saved by cutting there and closing the open brackets"
        }
        _ if rest.is_empty() => {
            "the file was cut off: restore a backup, an older version or errored.tfstate; if there is none, what is \
             left can be saved by cutting behind the last whole resource and closing the open brackets"
        }
        _ if conflicted(rest) => {
            "resolve the merge conflict; the sides are two states, of which only one is right"
        }
        _ if text.trim_ascii_start().first() == Some(&b'<') => {
            "this is an HTML or XML page, most likely an error message of a server: fetch the state again"
        }
        _ if ends_before(text, offset) => {
            "remove what follows the first document, once it is known to be the right one"
        }
        _ => "correct the place that is named, or restore a backup or an older version",
    }
}

/// Whether the text goes on with the markers that version control leaves in conflicting files.
fn conflicted(rest: &[u8]) -> bool {
    [b"<<<<<<<", b"=======", b">>>>>>>"].iter().any(|marker| rest.starts_with(*marker))
}

/// Whether a whole document ends before the offset.
fn ends_before(text: &[u8], offset: usize) -> bool {
    let mut cursor = crate::json::Cursor::new(text);
    cursor.space();
    cursor.skip().is_ok() && cursor.offset() <= offset && cursor.end().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_told_apart() {
        let cases: [(&[u8], usize, &str); 11] = [
            (b"\xff\xfe{\0", 0, "convert"),
            (b"{\0\"\0", 1, "convert"),
            (b"\xef\xbb\xbf{}", 0, "save the file without"),
            (b"\x1f\x8b\x08", 0, "unpack"),
            (b"PK\x03\x04", 0, "unpack"),
            (b"\0\0\0", 0, "nothing can"),
            (b"{\"a\": [1\0\0\n", 8, "a crash"),
            (b"{\"a\": [1", 8, "the file was cut"),
            (b"<<<<<<< HEAD", 0, "resolve"),
            (b" <html>", 1, "this is an HTML"),
            (b"{}\n{}", 3, "remove what follows"),
        ];
        for (text, offset, expected) in cases {
            let help = for_damage(text, offset);
            assert!(help.starts_with(expected), "{text:?}: {help}");
        }
        assert!(for_damage(b"{\"a\" 1}", 5).starts_with("correct the place"));
    }
}
