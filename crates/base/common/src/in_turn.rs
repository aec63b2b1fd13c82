//! Work shared between threads, whose results come back in order.

use std::sync::mpsc::sync_channel;
use std::thread;

/// Results of a thread that wait to be taken, at most.
const WAITING: usize = 2;

/// Does `work` on each item, in so many threads beside the calling one, and hands the results to `take` in the order of
/// the items. Fewer than two threads, or items, start none. The first error of `take` ends the work.
///
/// A few results wait at a time, so that memory does not grow with the number of items. Where the system starts no more
/// threads, the calling one does their work.
///
/// # Errors
///
/// Those of `take`.
///
/// ```
/// let lines = ["a b", "c", "d e f"];
/// let mut words = Vec::new();
/// groundstate_common::in_turn(&lines, 2, |line| line.split(' ').count(), |count| {
///     words.push(count);
///     Ok::<(), std::convert::Infallible>(())
/// })?;
/// assert_eq!(words, [2, 1, 3]);
/// # Ok::<(), std::convert::Infallible>(())
/// ```
pub fn in_turn<T: Sync, R: Send, E>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let threads = threads.min(items.len());
    if threads < 2 {
        return items.iter().try_for_each(|item| take(work(item)));
    }
    let work = &work;
    thread::scope(|scope| {
        let mut by_thread = Vec::with_capacity(threads);
        for turn in 0..threads {
            let (sender, results) = sync_channel(WAITING);
            let mut own = items.iter().skip(turn).step_by(threads);
            // Without a receiver there is nothing left to do.
            let run = move || {
                own.all(|item| sender.send(work(item)).is_ok());
            };
            drop(thread::Builder::new().spawn_scoped(scope, run));
            by_thread.push(results);
        }
        let in_order = items.iter().zip(by_thread.iter().cycle());
        in_order.map(|(item, results)| results.recv().unwrap_or_else(|_| work(item))).try_for_each(&mut take)
    })
}

#[cfg(test)]
mod tests {
    use super::in_turn;

    #[test]
    fn results_come_in_the_order_of_the_items_with_any_number_of_threads() {
        for count in [0, 1, 2, 7, 200] {
            let items: Vec<usize> = (0..count).collect();
            for threads in [0, 1, 2, 3, 8] {
                let mut taken = Vec::new();
                let done = in_turn(
                    &items,
                    threads,
                    |item| {
                        // Some take longer than others.
                        (0..item % 5 * 1000).fold(*item, |sum, n| std::hint::black_box(sum ^ n ^ n))
                    },
                    |result| {
                        taken.push(result);
                        Ok::<(), ()>(())
                    },
                );
                assert_eq!((done, &taken), (Ok(()), &items), "{count} items, {threads} threads");
            }
        }
    }

    #[test]
    fn the_first_error_ends_the_work() {
        let items: Vec<usize> = (0..1000).collect();
        for threads in [1, 3] {
            let mut taken = 0;
            let done = in_turn(
                &items,
                threads,
                |item| *item,
                |item| {
                    taken += 1;
                    if item == 5 { Err(item) } else { Ok(()) }
                },
            );
            assert_eq!((done, taken), (Err(5), 6), "{threads} threads");
        }
    }
}
