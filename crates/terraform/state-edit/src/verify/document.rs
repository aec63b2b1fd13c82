//! Rules on the document as a whole: format, lineage, serial, writer, size.

use super::VerifyOptions;
use super::facts::Facts;
use super::finding::Draft;
use super::rule::Rule;
use groundstate_statefile::WriterVersion;

/// The newest releases known when this was written; both products count, since a file does not say whose it is.
const NEWEST: (u64, u64) = (1, 17);

pub(super) fn check(facts: &Facts, size: usize, options: &VerifyOptions, out: &mut Vec<Draft>) {
    out.extend(lineage(facts));
    out.extend(serial(facts));
    out.extend(writer(facts));
    if size > options.large {
        let message = format!("the file has {size} bytes, more than {}", options.large);
        out.push(Draft::new(Rule::Large, 0, message));
    }
}

pub(super) fn old_format(version: u64) -> Draft {
    Draft::new(Rule::OldFormat, 0, format!("the file has format {version}"))
}

fn lineage(facts: &Facts) -> Option<Draft> {
    let offset = facts.member("lineage");
    let missing = facts.complete && !facts.has_member("lineage");
    if missing || (facts.has_member("lineage") && facts.lineage.is_empty()) {
        return Some(Draft::new(Rule::LineageMissing, offset, "the state has no lineage"));
    }
    let unusual = !facts.lineage.is_empty() && !is_uuid(&facts.lineage);
    unusual.then(|| Draft::new(Rule::LineageUnusual, offset, "the lineage is not a UUID in lower case"))
}

fn is_uuid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12]) && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f' | b'-'))
}

fn serial(facts: &Facts) -> Option<Draft> {
    let zero = facts.serial == 0 && (facts.complete || facts.has_member("serial"));
    zero.then(|| Draft::new(Rule::SerialZero, facts.member("serial"), "the serial is 0"))
}

fn writer(facts: &Facts) -> Option<Draft> {
    let offset = facts.member("terraform_version");
    if facts.writer.is_empty() {
        let known = facts.complete || facts.has_member("terraform_version");
        return known.then(|| {
            Draft::new(Rule::WriterMissing, offset, "the file does not say which release wrote it")
        });
    }
    // What is no version is a problem of the reader.
    let version = WriterVersion::parse(&facts.writer).ok()?;
    let number = version.semver();
    let draft = |message| Some(Draft::new(Rule::WriterUnusual, offset, message));
    if (number.major, number.minor) > NEWEST {
        return draft(format!("{version} is newer than every release that is known here"));
    }
    if !number.pre.is_empty() {
        return draft(format!("{version} is a pre-release"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lineage_is_usual_when_it_is_a_uuid_in_lower_case() {
        assert!(is_uuid("3f2a1c00-0000-4000-8000-00000000000f"));
        for text in
            ["", "3F2A1C00-0000-4000-8000-000000000001", "3f2a1c00000040008000000000000001", "a-b-c-d-e"]
        {
            assert!(!is_uuid(text), "{text}");
        }
    }
}
