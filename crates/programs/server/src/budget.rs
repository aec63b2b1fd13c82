//! Memory of requests: one budget for the process, with a share for each caller and each address.
//!
//! A request has an [`Account`]. It takes bytes before it uses them, for what is unpacked and for what is decoded of it, and everything is given
//! back when its answer is sent.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use bytes::Bytes;
use groundstate_pulumi_service::{Room, Slot};
use http::request::Parts;
use http_body::{Body as _, Frame, SizeHint};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::app::App;
use crate::auth::{Principal, PrincipalKind};
use crate::caller::Origin;
use crate::config::Network;
use crate::problem::{Problem, ProblemType};
use crate::pulumi;

/// How long a request waits for its first bytes.
const WAIT: Duration = Duration::from_secs(5);
/// When a request that got none may succeed, in seconds.
pub(crate) const RETRY_AFTER: u64 = 5;
/// The most that is used where the system does not say how much there is, and where it has plenty.
const MOST: u64 = 2 << 30;
/// The least that a server works with.
pub(crate) const LEAST: u64 = 16 << 20;
/// Answers of at most so many bytes lie in buffers of the connection, which has limits of its own.
const SMALL_ANSWER: u64 = 64 << 10;

tokio::task_local! {
    /// The account of the request that the task works on.
    static ACCOUNT: Account;
}

/// The memory of all requests. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Budget(Arc<Shared>);

struct Shared {
    total: u64,
    books: Mutex<Books>,
    freed: Notify,
}

#[derive(Default)]
struct Books {
    used: u64,
    callers: HashMap<String, u64>,
    addresses: HashMap<IpAddr, u64>,
}

/// Why there are no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Others use them.
    Busy,
    /// One request may not have so many.
    Never {
        /// How many it may have.
        most: u64,
    },
}

impl Refused {
    /// The refusal in the error of a reader or writer.
    pub(crate) fn of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref::<Self>().copied()
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str("the memory for requests is in use"),
            Self::Never { most } => write!(
                f,
                "the request needs more than the {most} bytes of memory that one may use; `limits.memory` sets how much there is"
            ),
        }
    }
}

impl std::error::Error for Refused {}

impl From<Refused> for io::Error {
    fn from(refused: Refused) -> Self {
        Self::other(refused)
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Busy => Self::new(ProblemType::Unavailable, format!("{refused}; try again"))
                .with_retry_after(RETRY_AFTER),
            Refused::Never { .. } => Self::new(ProblemType::TooLarge, refused.to_string()),
        }
    }
}

/// Account of one request. Clones are the same account; the bytes are free again when the last one is dropped.
#[derive(Clone)]
pub(crate) struct Account(Arc<Owner>);

struct Owner {
    budget: Budget,
    caller: Option<String>,
    address: Option<IpAddr>,
    held: Mutex<u64>,
}

impl Budget {
    /// A budget of so many bytes.
    pub(crate) fn new(total: u64) -> Self {
        let total = total.max(LEAST);
        Self(Arc::new(Shared { total, books: Mutex::default(), freed: Notify::new() }))
    }

    /// How many bytes there are.
    pub(crate) fn total(&self) -> u64 {
        self.0.total
    }

    /// An account; without a caller or an address it has no limit but the total.
    pub(crate) fn account(&self, caller: Option<String>, address: Option<IpAddr>) -> Account {
        Account(Arc::new(Owner { budget: self.clone(), caller, address, held: Mutex::default() }))
    }

    /// Share of one caller: a half.
    fn of_caller(&self) -> u64 {
        self.0.total / 2
    }

    /// Share of one address: three quarters.
    fn of_address(&self) -> u64 {
        self.0.total / 4 * 3
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        // Plain numbers, which are changed together.
        self.0.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, owner: &Owner, bytes: u64) -> bool {
        let mut books = self.books();
        let used = |share: Option<&u64>| share.copied().unwrap_or_default().saturating_add(bytes);
        let caller = owner.caller.as_ref().map(|name| used(books.callers.get(name)));
        let address = owner.address.as_ref().map(|address| used(books.addresses.get(address)));
        let total = books.used.saturating_add(bytes);
        let fits = total <= self.0.total
            && caller.is_none_or(|used| used <= self.of_caller())
            && address.is_none_or(|used| used <= self.of_address());
        if fits {
            books.used = total;
            if let (Some(name), Some(used)) = (&owner.caller, caller) {
                books.callers.insert(name.clone(), used);
            }
            if let (Some(address), Some(used)) = (owner.address, address) {
                books.addresses.insert(address, used);
            }
        }
        fits
    }

    fn give_back(&self, owner: &Owner, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let mut books = self.books();
        books.used = books.used.saturating_sub(bytes);
        if let Some(name) = &owner.caller {
            lower(&mut books.callers, name, bytes);
        }
        if let Some(address) = &owner.address {
            lower(&mut books.addresses, address, bytes);
        }
        drop(books);
        self.0.freed.notify_waiters();
    }
}

/// Lowers a share, which is forgotten when nothing of it is used.
fn lower<K: Eq + Hash>(shares: &mut HashMap<K, u64>, of: &K, bytes: u64) {
    if let Some(used) = shares.get_mut(of) {
        *used = used.saturating_sub(bytes);
        if *used == 0 {
            shares.remove(of);
        }
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget").field("total", &self.0.total).finish_non_exhaustive()
    }
}

impl Account {
    /// The account of a request, which the service opens before anything else.
    pub(crate) fn of(app: &App, parts: &Parts) -> Self {
        parts.extensions.get::<Self>().cloned().unwrap_or_else(|| app.budget().account(None, None))
    }

    /// How many bytes one request may use.
    fn most(&self) -> u64 {
        let budget = &self.0.budget;
        let caller = self.0.caller.as_ref().map(|_| budget.of_caller());
        let address = self.0.address.map(|_| budget.of_address());
        [caller, address].into_iter().flatten().fold(budget.0.total, u64::min)
    }

    fn held(&self) -> MutexGuard<'_, u64> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes bytes at once.
    ///
    /// # Errors
    ///
    /// If others use them, or one request may not have so many.
    pub(crate) fn take(&self, bytes: u64) -> Result<(), Refused> {
        let mut held = self.held();
        let most = self.most();
        if held.saturating_add(bytes) > most {
            return Err(Refused::Never { most });
        }
        if !self.0.budget.take(&self.0, bytes) {
            return Err(Refused::Busy);
        }
        *held += bytes;
        Ok(())
    }

    /// Takes bytes, and waits for a while until there are some. Only a request that holds none waits, so no two wait for each other.
    ///
    /// # Errors
    ///
    /// Errors of [`take`](Self::take).
    pub(crate) async fn take_first(&self, bytes: u64) -> Result<(), Refused> {
        if *self.held() > 0 {
            return self.take(bytes);
        }
        let taken = async {
            loop {
                let freed = self.0.budget.0.freed.notified();
                tokio::pin!(freed);
                // From here on nothing that is given back is missed.
                freed.as_mut().enable();
                match self.take(bytes) {
                    Err(Refused::Busy) => freed.await,
                    other => return other,
                }
            }
        };
        timeout(WAIT, taken).await.unwrap_or(Err(Refused::Busy))
    }

    /// Gives back all but so many bytes.
    fn keep(&self, bytes: u64) {
        let mut held = self.held();
        if let Some(spare) = held.checked_sub(bytes) {
            *held = bytes;
            self.0.budget.give_back(&self.0, spare);
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let held = *self.held.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.budget.clone().give_back(self, held);
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account").field("held", &*self.held()).finish_non_exhaustive()
    }
}

/// Opens the account of a request, and closes it when the answer is sent.
pub(crate) async fn with_account(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let extensions = request.extensions();
    let address = extensions.get::<Origin>().and_then(|origin| origin.remote).map(Network::of_client);
    // Programs of this machine that need no credentials are many under one name and one address.
    let (caller, address) = match extensions.get::<Principal>() {
        Some(local) if local.kind() == PrincipalKind::Local => (None, None),
        Some(principal) => (Some(principal.name().to_owned()), address),
        None if pulumi::has_lease(request.uri().path(), request.headers()) => {
            (Some(format!("lease {}", pulumi::stack_part(request.uri().path()))), address)
        }
        None => (Some(String::new()), address),
    };
    let account = app.budget().account(caller, address);
    request.extensions_mut().insert(account.clone());
    let response = ACCOUNT.scope(account.clone(), next.run(request)).await;
    match response.body().size_hint().exact() {
        Some(..=SMALL_ANSWER) => response,
        exact => {
            if let Some(size) = exact {
                account.keep(size);
            }
            response.map(|body| Body::new(Charged { body, _account: account }))
        }
    }
}

/// An answer that holds what it uses until it is sent.
struct Charged {
    body: Body,
    _account: Account,
}

impl http_body::Body for Charged {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The budget as the stacks see it.
#[derive(Debug)]
pub(crate) struct StackRoom(pub(crate) Budget);

impl Room for StackRoom {
    fn most(&self) -> u64 {
        ACCOUNT.try_with(Account::most).unwrap_or(self.0.0.total)
    }

    fn take(&self, bytes: u64) -> Option<Slot> {
        let account = ACCOUNT.try_with(Clone::clone).unwrap_or_else(|_| self.0.account(None, None));
        // What has to be done is done alone where it needs more than there is.
        let left = account.most().saturating_sub(*account.held());
        account.take(bytes.min(left)).ok()?;
        Some(Box::new(account))
    }
}

/// How much requests use together where nothing is configured: a third of what the process may have, and not more than 2 GiB.
pub(crate) fn default_memory() -> u64 {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let limits = [
        of_limits(&read("/proc/self/limits")),
        of_group(&read("/proc/self/cgroup"), &read),
        of_machine(&read("/proc/meminfo")),
    ];
    let least = limits.into_iter().flatten().min();
    least.map_or(MOST, |bytes| (bytes / 3).clamp(LEAST, MOST))
}

/// The soft limit of the address space.
fn of_limits(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The limit of the control group, version 2.
fn of_group(text: &str, read: &dyn Fn(&str) -> String) -> Option<u64> {
    let group = text.lines().find_map(|line| line.strip_prefix("0::"))?;
    // The groups around it have limits too.
    let folders = std::path::Path::new(group).ancestors();
    let limit = |folder: &std::path::Path| {
        read(&format!("/sys/fs/cgroup/{}/memory.max", folder.display())).trim().parse::<u64>().ok()
    };
    folders.filter_map(limit).min()
}

/// The memory of the machine.
fn of_machine(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use tokio::time::{Instant, advance};

    use super::{Budget, LEAST, Refused, WAIT, of_group, of_limits, of_machine};

    const TOTAL: u64 = 64 << 20;
    const HERE: Option<IpAddr> = Some(IpAddr::V4(Ipv4Addr::LOCALHOST));

    fn named(name: &str) -> Option<String> {
        Some(name.to_owned())
    }

    #[test]
    fn caller_address_and_total_each_have_their_limit() {
        let budget = Budget::new(TOTAL);
        let first = budget.account(named("ann"), HERE);
        assert_eq!(first.take(TOTAL), Err(Refused::Never { most: TOTAL / 2 }));
        first.take(TOTAL / 2).unwrap();
        let same = budget.account(named("ann"), None);
        assert_eq!(same.take(1), Err(Refused::Busy));
        let neighbour = budget.account(named("ben"), HERE);
        neighbour.take(TOTAL / 4).unwrap();
        assert_eq!(neighbour.take(1), Err(Refused::Busy), "the address has its share");
        let other = budget.account(named("cem"), None);
        other.take(TOTAL / 4).unwrap();
        assert_eq!(budget.account(None, None).take(1), Err(Refused::Busy));
        drop((first, neighbour));
        budget.account(named("ann"), HERE).take(TOTAL / 2).unwrap();
        drop((same, other));
        assert!(budget.books().callers.is_empty() && budget.books().addresses.is_empty());
        assert_eq!(budget.books().used, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn empty_account_waits_for_bytes_and_full_one_is_refused_at_once() {
        let budget = Budget::new(TOTAL);
        let holder = budget.account(None, None);
        holder.take(TOTAL).unwrap();
        let start = Instant::now();
        let late = budget.account(named("ann"), None);
        assert_eq!(late.take_first(1).await, Err(Refused::Busy));
        assert_eq!(start.elapsed(), WAIT);

        let waiting = tokio::spawn(async move { late.take_first(1).await });
        tokio::task::yield_now().await;
        advance(WAIT / 2).await;
        holder.keep(TOTAL - 1);
        waiting.await.unwrap().unwrap();

        let start = Instant::now();
        holder.take(1).unwrap();
        assert_eq!(holder.take_first(1).await, Err(Refused::Never { most: TOTAL }));
        assert_eq!(start.elapsed(), std::time::Duration::ZERO);
    }

    #[test]
    fn limits_of_the_system_are_read() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max address space         1073741824           unlimited            bytes\n";
        assert_eq!(of_limits(limits), Some(1 << 30));
        assert_eq!(of_limits("Max address space         unlimited            unlimited   bytes\n"), None);
        assert_eq!(of_machine("MemTotal:       24683520 kB\n"), Some(24_683_520 << 10));
        let read = |path: &str| match path {
            "/sys/fs/cgroup//a/b/memory.max" => "max\n".to_owned(),
            "/sys/fs/cgroup//a/memory.max" => "536870912\n".to_owned(),
            _ => String::new(),
        };
        assert_eq!(of_group("0::/a/b\n", &read), Some(512 << 20));
        assert_eq!(of_group("", &read), None);
        assert!(super::default_memory() >= LEAST);
    }
}
