//! The ids of versions, uploads and steps.

use groundstate_common::{IdSource, IdSourceError, Timestamp, hex};

/// Hexadecimal digits of the milliseconds since 1970 in the id of a version, enough until the year 2527.
const TIME: usize = 11;
/// Hexadecimal digits of a random part.
const RANDOM: usize = 12;
/// Hexadecimal digits of an epoch.
const EPOCH: usize = 8;

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

groundstate_common::string_id! {
    /// The id of a version: when its writer wrote it, in milliseconds, and a random part.
    pub struct VersionId: "version id" = |text: &str| match is_hex(text, TIME + RANDOM) {
        true => Ok(()),
        false => Err("it is not 23 lower-case hexadecimal digits"),
    };
    /// The id of an upload: the epoch of the document in which it began, and a random part.
    pub(crate) struct UploadId: "upload id" = |text: &str| match is_hex(text, EPOCH + RANDOM) {
        true => Ok(()),
        false => Err("it is not 20 lower-case hexadecimal digits"),
    };
    /// The id of one attempt to replace a head.
    pub(crate) struct AttemptId: "attempt id" = |text: &str| match is_hex(text, RANDOM) {
        true => Ok(()),
        false => Err("it is not 12 lower-case hexadecimal digits"),
    };
}

fn random(ids: &dyn IdSource) -> Result<String, IdSourceError> {
    let mut bytes = [0; RANDOM / 2];
    ids.fill(&mut bytes)?;
    Ok(hex(&bytes))
}

impl VersionId {
    pub(crate) fn new(ids: &dyn IdSource, now: Timestamp) -> Result<Self, IdSourceError> {
        let millis =
            u64::try_from(now.seconds()).unwrap_or_default() * 1000 + u64::from(now.nanos() / 1_000_000);
        let longest = (1 << (4 * TIME)) - 1;
        Ok(Self(format!("{:0TIME$x}{}", millis.min(longest), random(ids)?).into()))
    }

    /// When the version was written, by the clock of its writer.
    pub fn time(&self) -> Timestamp {
        let millis = self.as_str().get(..TIME).and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let millis = millis.unwrap_or_default();
        let nanos = u32::try_from(millis % 1000).unwrap_or_default() * 1_000_000;
        let seconds = i64::try_from(millis / 1000).unwrap_or(i64::MAX);
        Timestamp::from_unix(seconds, nanos).unwrap_or(Timestamp::MAX)
    }
}

impl UploadId {
    pub(crate) fn new(ids: &dyn IdSource, epoch: u32) -> Result<Self, IdSourceError> {
        Ok(Self(format!("{epoch:0EPOCH$x}{}", random(ids)?).into()))
    }

    pub(crate) fn epoch(&self) -> u32 {
        let digits = self.as_str().get(..EPOCH);
        digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or_default()
    }
}

impl AttemptId {
    pub(crate) fn new(ids: &dyn IdSource) -> Result<Self, IdSourceError> {
        Ok(Self(random(ids)?.into()))
    }
}

/// Ids are their texts in JSON.
macro_rules! as_text {
    ($($name:ident),+) => {$(
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <String as serde::Deserialize>::deserialize(deserializer)?
                    .try_into()
                    .map_err(serde::de::Error::custom)
            }
        }
    )+};
}

as_text!(VersionId, UploadId, AttemptId);

#[cfg(test)]
mod tests {
    use groundstate_common::{SequenceIds, Timestamp};

    use super::{AttemptId, UploadId, VersionId};

    #[test]
    fn ids_tell_their_time_and_their_epoch() {
        let ids = SequenceIds::new();
        let time = Timestamp::parse("2026-03-01T12:30:00.25Z").unwrap();
        let id = VersionId::new(&ids, time).unwrap();
        assert_eq!((id.as_str(), id.time()), ("19ca960823a000000000001", time));
        let upload = UploadId::new(&ids, 258).unwrap();
        assert_eq!((upload.as_str(), upload.epoch()), ("00000102000000000002", 258));
        assert_eq!(AttemptId::new(&ids).unwrap().as_str(), "000000000003");
        for end in [Timestamp::MIN, Timestamp::MAX] {
            let id = VersionId::new(&ids, end).unwrap();
            assert_eq!(VersionId::parse(id.as_str()).unwrap(), id);
        }
        for text in ["", "19ca960823a00000000000", "19CA960823A000000000001", "19ca960823a00000000000g"] {
            assert!(VersionId::parse(text).is_err(), "{text}");
        }
    }
}
