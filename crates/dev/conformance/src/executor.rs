//! Running futures without a runtime: to their end, in a random order, or only part of the way.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use async_trait::async_trait;
use groundstate_statemgr::Sleeper;

use crate::rng::Rng;

/// A future in a box, as `async_trait` makes them.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Runs a future to its end on this thread, which sleeps while the future waits.
///
/// ```
/// assert_eq!(groundstate_conformance::block_on(async { 1 + 1 }), 2);
/// ```
pub fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// Sleeps on a thread of its own, so that no runtime is needed.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadSleeper;

#[async_trait]
impl Sleeper for ThreadSleeper {
    async fn sleep(&self, duration: Duration) {
        run_aside(move || std::thread::sleep(duration)).await;
    }
}

/// Begins work on a thread of its own, and gives a future of what it returns: `None` when it panicked.
pub(crate) fn run_aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Option<T>> + Send {
    let shared = Arc::new(Mutex::new(Aside { done: None, waker: None }));
    let there = Arc::clone(&shared);
    std::thread::spawn(move || {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        let waker = {
            let mut shared = there.lock().unwrap_or_else(PoisonError::into_inner);
            shared.done = Some(outcome.ok());
            shared.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    });
    std::future::poll_fn(move |context| {
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        match shared.done.take() {
            Some(outcome) => Poll::Ready(outcome),
            None => {
                shared.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    })
}

/// What a thread and the future that waits for it share.
struct Aside<T> {
    done: Option<Option<T>>,
    waker: Option<Waker>,
}

/// Lets others run once.
pub(crate) async fn yield_now() {
    let mut yielded = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Lets `future` run until it has waited `waits` times, and drops it then, as a caller does that gives up.
///
/// A caller that gives up before the first wait is one for whom nothing has begun, so `waits` is one or more.
pub(crate) async fn abandon_after<T>(future: BoxFuture<'_, T>, waits: usize) -> Option<T> {
    let mut future = future;
    let mut left = waits.max(1);
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => {
            left -= 1;
            if left == 0 { Poll::Ready(None) } else { Poll::Pending }
        }
    })
    .await
}

/// Runs futures at the same time in one task.
pub(crate) async fn together<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut running: Vec<_> = futures.into_iter().map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        let mut done = true;
        for (future, output) in &mut running {
            if output.is_none() {
                match future.as_mut().poll(context) {
                    Poll::Ready(value) => *output = Some(value),
                    Poll::Pending => done = false,
                }
            }
        }
        if done { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    running.into_iter().filter_map(|(_, output)| output).collect()
}

/// Runs all futures to their ends on this thread, in an order that the generator decides.
pub(crate) async fn interleave<T: Send>(futures: Vec<BoxFuture<'_, T>>, mut rng: Rng) -> Vec<T> {
    // Some races show when everybody goes step by step, others when one gets far while another stands still.
    let plan = match rng.below(4) {
        0 => Plan::Steps,
        1 => Plan::Bursts { favourite: 0, left: 0 },
        _ => Plan::Stop { victim: rng.below(futures.len()), steps: rng.below(8), patience: PATIENCE },
    };
    let tasks = futures.into_iter().map(Task::new).collect();
    Interleave { tasks, rng, plan, timer: None }.await
}

/// Runs the first of the futures for so many steps, then all others to their ends, and then the first to its own.
pub(crate) async fn stop_first<T: Send>(futures: Vec<BoxFuture<'_, T>>, steps: usize, rng: Rng) -> Vec<T> {
    let tasks = futures.into_iter().map(Task::new).collect();
    let plan = Plan::Stop { victim: 0, steps, patience: PATIENCE };
    Interleave { tasks, rng, plan, timer: None }.await
}

struct Task<'a, T> {
    future: Option<BoxFuture<'a, T>>,
    output: Option<T>,
    flag: Arc<Flag>,
}

/// Remembers that a task can go on, and wakes the thread that runs them all.
struct Flag {
    ready: AtomicBool,
    runner: Mutex<Option<Waker>>,
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.ready.store(true, Ordering::SeqCst);
        let runner = self.runner.lock().unwrap_or_else(PoisonError::into_inner).take();
        runner.into_iter().for_each(Waker::wake);
    }
}

impl<'a, T> Task<'a, T> {
    fn new(future: BoxFuture<'a, T>) -> Self {
        let flag = Flag { ready: AtomicBool::new(true), runner: Mutex::default() };
        Self { future: Some(future), output: None, flag: Arc::new(flag) }
    }

    fn can_go_on(&self) -> bool {
        self.future.is_some() && self.flag.ready.load(Ordering::SeqCst)
    }

    /// Lets the task go on until it waits.
    fn step(&mut self) {
        let Some(future) = &mut self.future else { return };
        self.flag.ready.store(false, Ordering::SeqCst);
        let waker = Waker::from(Arc::clone(&self.flag));
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            self.future = None;
            self.output = Some(output);
        }
    }
}

/// Who goes on next.
enum Plan {
    /// Anybody, after every step.
    Steps,
    /// Anybody, for some steps in a row.
    Bursts { favourite: usize, left: usize },
    /// One of them for so many steps, then the others, and that one again when they have ended, or have gone so many
    /// steps: they may be waiting for it.
    Stop { victim: usize, steps: usize, patience: usize },
}

const PATIENCE: usize = 500;
/// The same in time, for stores that wait for something outside.
const STANDSTILL: Duration = Duration::from_millis(40);

struct Interleave<'a, T> {
    tasks: Vec<Task<'a, T>>,
    rng: Rng,
    plan: Plan,
    /// Ends the standstill of one of them.
    timer: Option<BoxFuture<'static, ()>>,
}

impl<T> Interleave<'_, T> {
    /// Who goes on next, if anybody can.
    fn choose(&mut self) -> Option<usize> {
        let Self { tasks, rng, plan, timer: _ } = self;
        let can = |at: usize| tasks.get(at).is_some_and(Task::can_go_on);
        let mut ready: Vec<usize> = (0..tasks.len()).filter(|at| can(*at)).collect();
        match plan {
            Plan::Steps => {}
            Plan::Bursts { favourite, left } if *left > 0 && can(*favourite) => {
                *left -= 1;
                return Some(*favourite);
            }
            Plan::Bursts { favourite, left } => {
                *favourite = *ready.get(rng.below(ready.len()))?;
                *left = rng.below(12);
                return Some(*favourite);
            }
            Plan::Stop { patience: 0, .. } => *plan = Plan::Steps,
            Plan::Stop { victim, steps, .. } if *steps > 0 && can(*victim) => {
                *steps -= 1;
                return Some(*victim);
            }
            Plan::Stop { victim, steps, patience } => {
                *patience -= 1;
                // While it has steps left it is only waiting, and the others wait with it.
                let has_begun = *steps == 0 || tasks[*victim].future.is_none();
                let others = (0..tasks.len()).any(|at| at != *victim && tasks[at].future.is_some());
                ready.retain(|at| if *at == *victim { !others } else { has_begun });
            }
        }
        ready.get(rng.below(ready.len())).copied()
    }

    /// Whether everybody waits, and one of them has stood still for so long that it may be the one they wait for.
    fn gives_up_stopping(&mut self, context: &mut Context<'_>) -> bool {
        let Plan::Stop { victim, steps: 0, .. } = self.plan else { return false };
        if !self.tasks.get(victim).is_some_and(Task::can_go_on) {
            return false;
        }
        let timer =
            self.timer.get_or_insert_with(|| Box::pin(async { ThreadSleeper.sleep(STANDSTILL).await }));
        let over = timer.as_mut().poll(context).is_ready();
        if over {
            self.plan = Plan::Steps;
        }
        over
    }
}

// The futures are pinned in boxes of their own; outputs are only ever moved out.
impl<T> Unpin for Interleave<'_, T> {}

impl<T> Future for Interleave<'_, T> {
    type Output = Vec<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Vec<T>> {
        let this = &mut *self;
        for task in &this.tasks {
            let mut runner = task.flag.runner.lock().unwrap_or_else(PoisonError::into_inner);
            *runner = Some(context.waker().clone());
        }
        loop {
            while let Some(chosen) = this.choose() {
                this.tasks[chosen].step();
            }
            if this.tasks.iter().all(|task| task.future.is_none()) {
                return Poll::Ready(this.tasks.iter_mut().filter_map(|task| task.output.take()).collect());
            }
            if !this.gives_up_stopping(context) {
                return Poll::Pending;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::{
        BoxFuture, ThreadSleeper, abandon_after, block_on, interleave, run_aside, stop_first, yield_now,
    };
    use crate::rng::Rng;
    use groundstate_statemgr::Sleeper;

    fn orders(seed: u64) -> String {
        let text = Mutex::new(String::new());
        let futures = ["a", "b", "c"].map(|name| -> BoxFuture<'_, usize> {
            let text = &text;
            Box::pin(async move {
                for _ in 0..3 {
                    text.lock().unwrap().push_str(name);
                    yield_now().await;
                }
                name.len()
            })
        });
        assert_eq!(block_on(interleave(futures.into(), Rng::new(seed))), [1, 1, 1]);
        text.into_inner().unwrap()
    }

    #[test]
    fn the_seed_decides_the_order_and_nothing_else_does() {
        assert_eq!(orders(1), orders(1));
        assert!((0..20).map(orders).any(|order| order != orders(0)));
    }

    #[test]
    fn the_first_stands_still_where_it_was_told_to() {
        for (steps, expected) in [(0, "bbaa"), (1, "abba"), (2, "aabb"), (9, "aabb")] {
            let text = Mutex::new(String::new());
            let futures = ["a", "b"].map(|name| -> BoxFuture<'_, ()> {
                let text = &text;
                Box::pin(async move {
                    for _ in 0..2 {
                        text.lock().unwrap().push_str(name);
                        yield_now().await;
                    }
                })
            });
            block_on(stop_first(futures.into(), steps, Rng::new(0)));
            assert_eq!(text.into_inner().unwrap(), expected, "{steps}");
        }
    }

    #[test]
    fn futures_that_wait_for_real_are_waited_for() {
        let sleep = |ms| -> BoxFuture<'static, u64> {
            Box::pin(async move {
                ThreadSleeper.sleep(std::time::Duration::from_millis(ms)).await;
                ms
            })
        };
        for seed in 0..10 {
            assert_eq!(block_on(interleave(vec![sleep(3), sleep(1), sleep(2)], Rng::new(seed))), [3, 1, 2]);
        }
    }

    #[test]
    fn a_future_is_dropped_at_the_wait_that_was_asked_for() {
        for (waits, expected) in [(1, (None, 1)), (3, (None, 3)), (4, (Some(()), 3))] {
            let steps = Mutex::new(0);
            let future = Box::pin(async {
                for _ in 0..3 {
                    *steps.lock().unwrap() += 1;
                    yield_now().await;
                }
            });
            let outcome = block_on(abandon_after(future, waits));
            assert_eq!((outcome, *steps.lock().unwrap()), expected, "{waits}");
        }
    }

    #[test]
    fn a_panic_aside_is_an_absent_answer() {
        assert_eq!(block_on(run_aside(|| 3)), Some(3));
        assert_eq!(block_on(run_aside(|| -> u8 { panic!("as wanted") })), None);
    }
}
