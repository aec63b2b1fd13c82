//! Random histories of several managers on a place that loses answers, delays writes and cannot always be read.

use std::collections::BTreeSet;
use std::sync::Arc;

use groundstate_common::SequenceIds;
use groundstate_statefile::File;
use groundstate_statemgr::{
    ErrorKind, Manager, ManagerOptions, Persisted, Persister, Reader, Refresher, Result, SharedMemory, Writer,
};

use crate::support::{Fault, Script, clock, set_output, stored};

const CLIENTS: usize = 3;
const STEPS: usize = 40;
const SEEDS: u64 = 300;

/// A generator of Lehmer's kind: small, and the same everywhere.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self((seed * 2 + 1) * 48_271 % 2_147_483_647)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0 * 48_271 % 2_147_483_647;
        usize::try_from(self.0).expect("it has 31 bits") / 7 % bound
    }
}

/// What came up, over all histories: a kind of event that never happens is not tested.
#[derive(Debug, Default)]
struct Seen {
    written: usize,
    conflicts: usize,
    ambiguous: usize,
    unavailable: usize,
    late: usize,
    refused_late: usize,
}

struct History {
    seed: u64,
    place: SharedMemory,
    clients: Vec<(Script, Manager)>,
    last: Option<File>,
    names: usize,
}

fn names(file: &File) -> BTreeSet<&str> {
    file.state.outputs().keys().map(|name| &**name).collect()
}

impl History {
    fn new(seed: u64) -> Self {
        let (place, ids) = (SharedMemory::new("history"), Arc::new(SequenceIds::new()));
        let open = |_| {
            let (store, ids) = (Script::new(&place), Arc::<SequenceIds>::clone(&ids));
            let manager = Manager::new(Arc::new(store.clone()), clock(), ids, ManagerOptions::default());
            (store, manager)
        };
        let clients = (0..CLIENTS).map(open).collect();
        Self { seed, place, clients, last: None, names: 0 }
    }

    /// Whether something new is stored, which has to be the next snapshot of the chain, with all that was there before.
    async fn advanced(&mut self) -> Result<bool> {
        let (now, seed) = (stored(&self.place).await?, self.seed);
        let changed = match (&self.last, &now) {
            (Some(before), Some(now)) if before.serial != now.serial => {
                assert_eq!(now.serial.get(), before.serial.get() + 1, "seed {seed}");
                assert_eq!(now.lineage, before.lineage, "seed {seed}");
                assert!(names(now).is_superset(&names(before)), "seed {seed}: an update is lost");
                true
            }
            (Some(before), Some(now)) => {
                assert_eq!(now.state, before.state, "seed {seed}: one serial, two states");
                false
            }
            (None, Some(now)) => now.serial.get() == 1,
            (before, None) => {
                assert!(before.is_none(), "seed {seed}: the state is gone");
                false
            }
        };
        self.last = now;
        Ok(changed)
    }

    async fn persist(&mut self, client: usize, seen: &mut Seen) -> Result<()> {
        let outcome = self.clients[client].1.persist_state().await;
        let (advanced, seed) = (self.advanced().await?, self.seed);
        match outcome.as_ref().map_err(|error| error.kind()) {
            Ok(Persisted::Written) => {
                seen.written += 1;
                let state = self.clients[client].1.state();
                assert_eq!(self.last.as_ref().map(|file| file.state.clone()), state, "seed {seed}");
            }
            Ok(Persisted::Unchanged) => assert!(!advanced, "seed {seed}"),
            Err(ErrorKind::Ambiguous) => seen.ambiguous += 1,
            Err(kind) => {
                assert!(!advanced, "seed {seed}: {kind:?}, and something was written");
                let count = match kind {
                    ErrorKind::Conflict => Some(&mut seen.conflicts),
                    ErrorKind::Unavailable => Some(&mut seen.unavailable),
                    _ => None,
                };
                *count.expect("no other kind is possible here") += 1;
            }
        }
        Ok(())
    }

    async fn step(&mut self, dice: &mut Dice, seen: &mut Seen) -> Result<()> {
        let client = dice.below(CLIENTS);
        let (store, manager) = &self.clients[client];
        match dice.below(8) {
            0 | 1 => {
                // It fails when the place cannot be read, and then nothing may change.
                let readable = manager.refresh_state().await.is_ok();
                seen.unavailable += usize::from(!readable);
            }
            2 => match store.deliver().await {
                Some(true) => seen.late += usize::from(self.advanced().await?),
                Some(false) => seen.refused_late += 1,
                None => {}
            },
            3 => store.unreadable(dice.below(3) == 0),
            4 => self.persist(client, seen).await?,
            _ => {
                self.names += 1;
                let name = format!("n{}", self.names);
                manager.mutate_state(&mut |state| set_output(state.get_or_insert_default(), &name, "x"))?;
                let faults = [
                    Fault::LoseAnswer,
                    Fault::Delay,
                    Fault::Fail(ErrorKind::Ambiguous),
                    Fault::Fail(ErrorKind::Unavailable),
                ];
                if let Some(fault) = faults.get(dice.below(8)) {
                    store.fail_next(*fault);
                }
                self.persist(client, seen).await?;
            }
        }
        assert!(!self.advanced().await?, "seed {}: it was seen already", self.seed);
        Ok(())
    }
}

#[tokio::test]
async fn no_history_loses_an_update_or_gives_a_serial_twice() -> Result<()> {
    let mut seen = Seen::default();
    for seed in 0..SEEDS {
        let (mut history, mut dice) = (History::new(seed), Dice::new(seed));
        for _ in 0..STEPS {
            history.step(&mut dice, &mut seen).await?;
        }
        for client in 0..CLIENTS {
            let (store, manager) = &history.clients[client];
            store.unreadable(false);
            store.forgive();
            manager.refresh_state().await?;
            manager.mutate_state(&mut |state| {
                set_output(state.get_or_insert_default(), &format!("end{client}"), "x")
            })?;
            assert_eq!(manager.persist_state().await?, Persisted::Written, "seed {seed}");
            assert!(history.advanced().await?, "seed {seed}");
        }
    }
    let Seen { written, conflicts, ambiguous, unavailable, late, refused_late } = seen;
    for count in [written, conflicts, ambiguous, unavailable, late, refused_late] {
        assert!(count > 50, "a kind of event hardly came up");
    }
    Ok(())
}
