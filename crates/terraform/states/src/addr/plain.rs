//! Checks for the addresses that make up nearly all of a state file, without building them.
//!
//! A text that passes is a valid address and is spelled as it prints. A text that does not pass may still be
//! either: the parser decides.

use super::ident::ascii_identifier_len;

/// `module.NAME` steps, each with a plain key or none.
pub(super) fn is_module_instance(text: &[u8]) -> bool {
    let mut scan = Scan(text);
    loop {
        if !(scan.word(b"module.") && scan.module(true)) {
            return false;
        }
        if !scan.word(b".") {
            return scan.0.is_empty();
        }
    }
}

/// A resource in a module instance, or with `keys` false, in a module.
pub(super) fn is_resource(text: &[u8], keys: bool) -> bool {
    let mut scan = Scan(text);
    scan.module_prefix(keys) && scan.resource() && scan.0.is_empty()
}

/// An instance of a resource, with a plain key or none.
pub(super) fn is_instance(text: &[u8]) -> bool {
    let mut scan = Scan(text);
    scan.module_prefix(true) && scan.resource() && scan.key() && scan.0.is_empty()
}

/// A provider configuration whose source has three parts in lower case.
pub(super) fn is_provider_config(text: &[u8]) -> bool {
    let mut scan = Scan(text);
    scan.module_prefix(false)
        && scan.word(b"provider[\"")
        && scan.host()
        && scan.word(b"/")
        && scan.source_part()
        && scan.word(b"/")
        && scan.provider_type()
        && scan.word(b"\"]")
        && (scan.0.is_empty() || (scan.word(b".") && scan.name() && scan.0.is_empty()))
}

/// What is left to look at.
struct Scan<'a>(&'a [u8]);

impl<'a> Scan<'a> {
    fn word(&mut self, word: &[u8]) -> bool {
        match self.0.strip_prefix(word) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    /// Splits off as many bytes as pass.
    fn run(&mut self, pass: impl Fn(u8) -> bool) -> &'a [u8] {
        let len = self.0.iter().position(|b| !pass(*b)).unwrap_or(self.0.len());
        let (run, rest) = self.0.split_at(len);
        self.0 = rest;
        run
    }

    fn name(&mut self) -> bool {
        let len = ascii_identifier_len(self.0);
        self.0 = &self.0[len..];
        len > 0
    }

    fn module(&mut self, keys: bool) -> bool {
        self.name() && (!keys || self.key())
    }

    fn module_prefix(&mut self, keys: bool) -> bool {
        while self.word(b"module.") {
            if !(self.module(keys) && self.word(b".")) {
                return false;
            }
        }
        true
    }

    fn resource(&mut self) -> bool {
        if !self.word(b"data.") {
            self.word(b"ephemeral.");
        }
        self.name() && self.word(b".") && self.name()
    }

    /// No key, an index as it prints, or a quoted key that needs no escape.
    fn key(&mut self) -> bool {
        if !self.word(b"[") {
            return true;
        }
        if self.word(b"\"") {
            self.run(|b| matches!(b, b' '..=b'~') && !matches!(b, b'"' | b'\\' | b'$' | b'%'));
            return self.word(b"\"]");
        }
        let digits = self.run(|b| b.is_ascii_digit());
        // Eighteen digits always fit; the rare longer index is left to the parser.
        let canonical = matches!(digits, [b'0'] | [b'1'..=b'9', ..]) && digits.len() <= 18;
        canonical && self.word(b"]")
    }

    /// Labels of lower-case letters, digits and inner single dashes, joined by single dots.
    fn host(&mut self) -> bool {
        loop {
            if !self.source_part() {
                return false;
            }
            if !self.word(b".") {
                return true;
            }
        }
    }

    fn source_part(&mut self) -> bool {
        let part = self.run(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'));
        is_plain_part(part)
    }

    fn provider_type(&mut self) -> bool {
        let rest = self.0;
        self.source_part() && !has_product_prefix(rest)
    }
}

/// Lower-case letters and digits with single dashes between them.
pub(super) fn is_plain_part(part: &[u8]) -> bool {
    part.split(|b| *b == b'-')
        .all(|word| !word.is_empty() && word.iter().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9')))
}

fn has_product_prefix(type_name: &[u8]) -> bool {
    type_name.starts_with(b"terraform-") || type_name.starts_with(b"opentofu-")
}
