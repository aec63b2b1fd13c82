//! What of a journal arrives, and in which order.

use std::sync::Arc;

use groundstate_pulumi_deployment::Secrets;
use groundstate_pulumi_journal::{DecodeOptions, Entry, decode_entry, encode_entry};

use crate::dice::Dice;
use crate::engine::{Engine, Outcome, same, show, sound};
use crate::naive::Replay;

/// Entries that may be all there is: with each, everything that had to be there before it could be made.
fn closed(dice: &Dice<'_>, before: &[Vec<usize>]) -> Vec<usize> {
    let mut is_there = vec![false; before.len()];
    // Few are missing by themselves; what follows from them is missing too.
    for (at, needed) in before.iter().enumerate() {
        is_there[at] = needed.iter().all(|needed| is_there[*needed]) && !dice.chance(12);
    }
    (0..before.len()).filter(|at| is_there[*at]).collect()
}

/// Replays what may be there when everything stops, in any order: it is sound, and the order does not matter.
pub(crate) fn arrivals(engine: &Engine<'_>, dice: &Dice<'_>, replay: &Replay, times: u32) -> Outcome {
    let entries = engine.entries();
    for _ in 0..times {
        let there: Vec<Arc<Entry>> =
            closed(dice, &engine.before).into_iter().map(|at| Arc::clone(&entries[at])).collect();
        let mut shuffled = there.clone();
        for last in (1..shuffled.len()).rev() {
            shuffled.swap(last, dice.roll(last + 1));
        }
        let names = || there.iter().map(|entry| entry.sequence.to_string()).collect::<Vec<_>>().join(" ");
        let in_order = replay(&engine.start, &there)?;
        sound(&in_order).map_err(|error| format!("with {} alone: {error}: {}", names(), show(&in_order)))?;
        let as_arrived = replay(&engine.start, &shuffled)?;
        same(&in_order, &as_arrived).map_err(|error| format!("{} in another order: {error}", names()))?;
    }
    Ok(())
}

/// Every entry is the same after it has been text.
pub(crate) fn texts(entries: &[Arc<Entry>]) -> Outcome {
    for entry in entries {
        let text = encode_entry(entry, Secrets::Sealed).map_err(|error| error.to_string())?;
        let again = decode_entry(&text, &DecodeOptions::default()).map_err(|error| error.to_string())?;
        let twice = encode_entry(&again, Secrets::Sealed).map_err(|error| error.to_string())?;
        if text != twice || again.to_string() != entry.to_string() {
            return Err(format!("the text of {entry} changes"));
        }
    }
    Ok(())
}
