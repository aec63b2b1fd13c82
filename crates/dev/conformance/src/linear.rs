//! Whether a history of concurrent calls can be explained by the same calls one after the other.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};

/// What calls do to what they share.
pub(crate) trait Model {
    /// What is shared.
    type State: Clone + Eq + Hash;
    /// A call with its answer.
    type Call;

    /// The state after a call, or nothing when this state does not give that answer.
    fn step(state: &Self::State, call: &Self::Call) -> Option<Self::State>;
}

/// A call with its answer, and when both were.
#[derive(Clone, Debug)]
pub(crate) struct Event<C> {
    pub(crate) call: C,
    pub(crate) from: u64,
    /// `None` when the answer never came: the call takes effect at some time after `from`, or never.
    pub(crate) to: Option<u64>,
}

/// Counts moments.
#[derive(Debug, Default)]
pub(crate) struct Moments(AtomicU64);

impl Moments {
    /// A moment later than all before.
    pub(crate) fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }
}

/// The most events that one history may have.
pub(crate) const MOST_EVENTS: usize = 64;

/// Whether there is an order of the calls that agrees with all answers, and in which a call comes before those that
/// began after its answer. This is the search of Wing and Gong, with a memory of what has been tried.
pub(crate) fn is_linearizable<M: Model>(initial: &M::State, events: &[Event<M::Call>]) -> bool {
    let events = &events[..events.len().min(MOST_EVENTS)];
    let mut tried: HashSet<(u64, M::State)> = HashSet::new();
    let mut open = vec![(0_u64, initial.clone())];
    while let Some((done, state)) = open.pop() {
        let left = || events.iter().enumerate().filter(move |(at, _)| done & (1 << at) == 0);
        // Nothing can come after an answer that it was not waiting for, so the earliest answer bounds what is next.
        let Some(bound) = left().filter_map(|(_, event)| event.to).min() else { return true };
        for (at, event) in left().filter(|(_, event)| event.from < bound) {
            let Some(next) = M::step(&state, &event.call) else { continue };
            let next = (done | 1 << at, next);
            if tried.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{Event, Model, is_linearizable};

    /// A register: positive numbers write, negative ones read what is there.
    struct Register;

    impl Model for Register {
        type State = i32;
        type Call = i32;

        fn step(state: &i32, call: &i32) -> Option<i32> {
            if *call > 0 { Some(*call) } else { (-*call == *state).then_some(*state) }
        }
    }

    fn holds(events: &[(i32, u64, Option<u64>)]) -> bool {
        let events: Vec<Event<i32>> =
            events.iter().map(|&(call, from, to)| Event { call, from, to }).collect();
        is_linearizable::<Register>(&0, &events)
    }

    #[test]
    fn histories_are_judged_by_time_and_answers() {
        // Nothing, one write read afterwards, and a read that missed it.
        assert!(holds(&[]));
        assert!(holds(&[(1, 0, Some(1)), (-1, 2, Some(3))]));
        assert!(!holds(&[(1, 0, Some(1)), (0, 2, Some(3))]));
        // A read during a write may see either; two reads in a row may not go back.
        for seen in [0, -1] {
            assert!(holds(&[(1, 0, Some(9)), (seen, 1, Some(2))]));
        }
        assert!(holds(&[(1, 0, Some(9)), (0, 1, Some(2)), (-1, 3, Some(4))]));
        assert!(!holds(&[(1, 0, Some(9)), (-1, 1, Some(2)), (0, 3, Some(4))]));
    }

    #[test]
    fn a_call_without_an_answer_happens_late_or_never() {
        let unanswered = (1, 0, None);
        assert!(holds(&[unanswered, (0, 1, Some(2))]));
        assert!(holds(&[unanswered, (0, 1, Some(2)), (-1, 3, Some(4))]));
        assert!(!holds(&[unanswered, (-1, 1, Some(2)), (0, 3, Some(4))]));
    }
}
