//! The clock and the random generator of the operating system.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::{Clock, Entropy, EntropyError, IdSource, IdSourceError, Timestamp};

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    /// The present time; a clock set outside the years 0000 to 9999 reads as the nearest instant inside.
    fn now(&self) -> Timestamp {
        timestamp(SystemTime::now())
    }
}

fn timestamp(time: SystemTime) -> Timestamp {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => Timestamp::UNIX_EPOCH.checked_add(since).unwrap_or(Timestamp::MAX),
        Err(before) => {
            // Seconds round down and nanoseconds count up from there, so a fraction before the epoch turns over.
            let until = before.duration();
            let whole = i64::try_from(until.as_secs()).unwrap_or(i64::MAX);
            let (seconds, nanos) = match until.subsec_nanos() {
                0 => (-whole, 0),
                nanos => (-whole - 1, 1_000_000_000 - nanos),
            };
            Timestamp::from_unix(seconds, nanos).unwrap_or(Timestamp::MIN)
        }
    }
}

/// The operating system's random generator.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsIds;

impl IdSource for OsIds {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), IdSourceError> {
        getrandom::fill(bytes).map_err(|error| IdSourceError::new(error.to_string()))
    }
}

/// The operating system's random generator, for keys, salts and nonces.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        getrandom::fill(bytes).map_err(|error| EntropyError::new(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::timestamp;

    #[test]
    fn system_times_on_both_sides_of_the_epoch_convert() {
        for (time, text) in [
            (UNIX_EPOCH, "1970-01-01T00:00:00Z"),
            (UNIX_EPOCH + Duration::new(1, 5), "1970-01-01T00:00:01.000000005Z"),
            (UNIX_EPOCH - Duration::from_secs(1), "1969-12-31T23:59:59Z"),
            (UNIX_EPOCH - Duration::from_millis(1), "1969-12-31T23:59:59.999Z"),
            (UNIX_EPOCH + Duration::from_secs(1 << 40), "9999-12-31T23:59:59.999999999Z"),
            (UNIX_EPOCH - Duration::from_secs(1 << 40), "0000-01-01T00:00:00Z"),
        ] {
            assert_eq!(timestamp(time).to_string(), text);
        }
    }
}
