//! What two runs say about growth.

use std::time::Duration;

/// The exponent of the time that is allowed: n log n and noise stay below.
const MOST_EXPONENT: f64 = 1.25;

/// Times below this are the noise of starting a process, and count as this.
const NOISE: Duration = Duration::from_millis(20);

/// Memory that is allowed for each byte of input.
const MOST_FACTOR: u64 = 12;

/// Memory that is allowed whatever the input.
const CONSTANT: u64 = 32 << 20;

/// The beginning of the table.
pub(super) const HEADING: &str = "\
    | shape | size | input, MB | time | exponent | peak memory, MB | exponent | memory / input | |\n\
    | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |";

/// What a run cost, without what the program takes to do nothing. Times are those of the processor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) size: usize,
    pub(super) bytes: u64,
    pub(super) time: Duration,
    pub(super) peak: u64,
}

/// The runs of a shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    pub(super) small: Run,
    pub(super) large: Run,
}

impl Growth {
    /// The exponent of the time over the bytes of the input.
    fn of_time(&self) -> f64 {
        let seconds = |run: &Run| run.time.max(NOISE).as_secs_f64();
        self.exponent(seconds(&self.small), seconds(&self.large))
    }

    /// The exponent of the memory beyond what is allowed whatever the input.
    fn of_memory(&self) -> f64 {
        self.exponent(self.small.peak.max(1) as f64, self.large.peak.max(1) as f64)
    }

    fn exponent(&self, small: f64, large: f64) -> f64 {
        (large / small).ln() / (self.large.bytes as f64 / self.small.bytes as f64).ln()
    }

    /// Whether time and memory grow no faster than they may.
    pub(super) fn held(&self) -> bool {
        self.time_held() && self.memory_held()
    }

    fn time_held(&self) -> bool {
        self.of_time() <= MOST_EXPONENT
    }

    fn memory_held(&self) -> bool {
        [self.small, self.large].iter().all(|run| run.peak <= MOST_FACTOR * run.bytes + CONSTANT)
    }

    /// A line of the table, about the larger run.
    pub(super) fn row(&self, name: &str) -> String {
        let Run { size, bytes, time, peak } = self.large;
        let verdict = match (self.time_held(), self.memory_held()) {
            (true, true) => "held",
            (false, true) => "**missed**: time",
            (true, false) => "**missed**: memory",
            (false, false) => "**missed**: time and memory",
        };
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        format!(
            "| {name} | {size} | {:.2} | {:.2} s | {:.2} | {:.1} | {:.2} | {:.1} | {verdict} |",
            megabytes(bytes),
            time.as_secs_f64(),
            self.of_time(),
            megabytes(peak),
            self.of_memory(),
            peak as f64 / bytes as f64,
        )
    }
}

/// A line about a shape whose command did not come to its end.
pub(super) fn failed_row(name: &str, status: &str) -> String {
    format!("| {name} | | | | | | | | **missed**: {status} |")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Growth, Run};

    fn growth(small: (u64, u64, u64), large: (u64, u64, u64)) -> Growth {
        let run = |(bytes, millis, peak)| Run { size: 1, bytes, time: Duration::from_millis(millis), peak };
        Growth { small: run(small), large: run(large) }
    }

    #[test]
    fn a_time_that_grows_with_the_square_is_missed() {
        let memory = 40 << 20;
        assert!(growth((1 << 20, 100, memory), (4 << 20, 400, memory)).held());
        assert!(growth((1 << 20, 100, memory), (4 << 20, 520, memory)).held(), "n log n");
        let square = growth((1 << 20, 100, memory), (4 << 20, 1600, memory));
        assert!(!square.held());
        assert!(square.row("x").contains("| 2.00 |") && square.row("x").ends_with("**missed**: time |"));
    }

    #[test]
    fn times_in_the_noise_do_not_grow() {
        assert!(growth((1 << 20, 1, 0), (4 << 20, 19, 0)).held());
        assert!(!growth((1 << 20, 1, 0), (4 << 20, 320, 0)).held());
    }

    #[test]
    fn memory_has_a_factor_and_a_constant() {
        let most = |bytes: u64| 12 * bytes + (32 << 20);
        let (small, large) = (1_u64 << 20, 4_u64 << 20);
        assert!(growth((small, 1, most(small)), (large, 1, most(large))).held());
        let over = growth((small, 1, 0), (large, 1, most(large) + 1));
        assert!(!over.held() && over.row("x").ends_with("**missed**: memory |"));
    }
}
