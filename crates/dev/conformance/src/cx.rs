//! What a case works with: a fresh place, clients of it, and documents to store.

use std::ffi::OsString;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use groundstate_common::{SequenceIds, Timestamp, uuid_text};
use groundstate_statemgr::{
    Backend, Capabilities, LockId, LockInfo, Manager, ManagerOptions, StateStore, Stored, Version,
    WriteOptions,
};

use crate::executor::{BoxFuture, interleave, run_aside, stop_first};
use crate::failure::{
    Answer, Step, Stop, describe_bytes, describe_stored, ensure, fail, failed, hint_for_bytes,
};
use crate::fault::Conditions;
use crate::harness::{Address, Harness, TestStore};
use crate::peer::Peer;
use crate::rng::Rng;
use crate::trace::{Trace, Traced};

/// A client, as cases use it.
pub(crate) type Client = Arc<dyn StateStore>;

/// The surroundings of one run of one case.
pub(crate) struct Cx {
    pub(crate) harness: Arc<dyn Harness>,
    pub(crate) place: Arc<dyn TestStore>,
    pub(crate) capabilities: Capabilities,
    pub(crate) conditions: Conditions,
    pub(crate) seed: u64,
    pub(crate) case: &'static str,
    /// The arguments that start this program again as the second process of the case.
    pub(crate) restart: Option<Vec<OsString>>,
    pub(crate) trace: Arc<Trace>,
    /// The serial of the last document.
    pub(crate) serials: AtomicU64,
    /// The number of clients that were opened.
    pub(crate) opened: AtomicUsize,
}

impl Cx {
    /// One more client, under the conditions of the run.
    pub(crate) async fn open(&self) -> Step<Client> {
        self.open_at(&*self.place).await
    }

    /// The same, at another place.
    pub(crate) async fn open_at(&self, place: &dyn TestStore) -> Step<Client> {
        let store = place.open().await.succeeds("opening a client")?;
        Ok(self.client(store))
    }

    /// A store as a client with a letter, under the conditions of the run.
    pub(crate) fn client(&self, store: Client) -> Client {
        let number = self.opened.fetch_add(1, Ordering::SeqCst);
        let name = match u8::try_from(number).ok().filter(|number| *number < 26) {
            Some(number) => char::from(b'A' + number).to_string(),
            None => format!("#{number}"),
        };
        let traced = Traced { store, name, trace: Arc::clone(&self.trace) };
        self.conditions.over(Arc::new(traced), self.rng(&format!("client {number}")))
    }

    /// Two clients.
    pub(crate) async fn two(&self) -> Step<(Client, Client)> {
        Ok((self.open().await?, self.open().await?))
    }

    /// As many clients as asked for.
    pub(crate) async fn clients(&self, count: usize) -> Step<Vec<Client>> {
        let mut clients = Vec::new();
        for _ in 0..count {
            clients.push(self.open().await?);
        }
        Ok(clients)
    }

    /// A second process with a client of the place.
    pub(crate) fn peer(&self) -> Step<Peer> {
        let claim = self.capabilities.exclusion;
        let address = match self.place.address() {
            Address::At(address) => address,
            Address::Unreachable(why) => {
                return Err(Stop::NotShown(format!("the store claims `Exclusion::{claim:?}`, and {why}")));
            }
            Address::Unknown => {
                let expected = format!("the harness shows what the store claims, `Exclusion::{claim:?}`");
                let hint = "implement `TestStore::address` and `Harness::open_at`, so that a second process tries the lock; \
                            claim `Exclusion::Process` if the lock is known to this process only";
                return Err(failed(
                    expected,
                    "`TestStore::address` does not say how another process opens the place",
                )
                .hint(Some(hint)));
            }
        };
        let Some(arguments) = &self.restart else {
            let hint = "say it with `Settings::restart` or `Settings::restart_test`";
            return Err(failed(
                "a second process is started for what the store claims about other processes",
                "the program does not say how it is started again",
            )
            .hint(Some(hint)));
        };
        Peer::start(arguments, &self.harness.name(), &address)
    }

    /// The generator for one part of the case.
    pub(crate) fn rng(&self, part: &str) -> Rng {
        Rng::of(self.seed, &format!("{}/{}/{part}", self.case, self.conditions))
    }

    /// A state document that no other one equals: valid, of the next serial, and of one lineage.
    pub(crate) fn document(&self) -> Vec<u8> {
        self.document_of(0)
    }

    /// The same, of at least this size.
    pub(crate) fn document_of(&self, size: usize) -> Vec<u8> {
        let serial = self.serials.fetch_add(1, Ordering::SeqCst) + 1;
        document(serial, size)
    }

    /// A document to lock with, by an id that `name` decides.
    pub(crate) fn info(&self, name: &str) -> LockInfo {
        LockInfo {
            id: lock_id(self.seed, name),
            operation: "OperationTypeTest".to_owned(),
            info: format!("what {name} locks for"),
            who: format!("{name}@conformance"),
            version: "1.13.3".to_owned(),
            created: Timestamp::from_unix(1_767_225_600, 0).unwrap_or(Timestamp::UNIX_EPOCH),
            ..LockInfo::default()
        }
    }

    /// A manager over a store, with ids that begin at `first`, so that two managers do not make the same ones.
    pub(crate) fn manager(&self, store: Client, first: u64) -> Manager {
        let ids = SequenceIds::starting_at(first);
        Manager::new(store, self.place.clock(), Arc::new(ids), ManagerOptions::default())
    }

    /// A client of the backend, when the store belongs to one.
    pub(crate) async fn workspaces(&self) -> Step<Option<Arc<dyn Backend>>> {
        self.place.workspaces().await.succeeds("opening the backend")
    }

    /// Runs all of them on this thread, in an order that the seed decides.
    pub(crate) async fn interleave<T: Send>(&self, part: &str, futures: Vec<BoxFuture<'_, T>>) -> Vec<T> {
        interleave(futures, self.rng(part)).await
    }

    /// Runs the first for so many steps, then the others to their ends, and then the first again.
    pub(crate) async fn stop_first<T: Send>(
        &self,
        part: &str,
        steps: usize,
        futures: Vec<BoxFuture<'_, T>>,
    ) -> Vec<T> {
        stop_first(futures, steps, self.rng(part)).await
    }

    /// Runs each of them on a thread of its own.
    pub(crate) async fn on_threads<T: Send + 'static>(
        &self,
        futures: Vec<BoxFuture<'static, T>>,
    ) -> Step<Vec<T>> {
        // All threads run before the first one is waited for.
        let runs: Vec<_> = futures.into_iter().map(|future| run_aside(self.runner(future))).collect();
        let mut outputs = Vec::new();
        for run in runs {
            match run.await.flatten() {
                Some(output) => outputs.push(output),
                None => return fail("the calls of a client return", "the client's thread panicked"),
            }
        }
        Ok(outputs)
    }

    /// Work that runs the future as the harness wants it.
    fn runner<T: Send + 'static>(
        &self,
        future: BoxFuture<'static, T>,
    ) -> impl FnOnce() -> Option<T> + Send + 'static {
        let harness = Arc::clone(&self.harness);
        move || {
            let slot = Mutex::new(None);
            harness.block_on(Box::pin(async {
                let value = future.await;
                *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
            }));
            slot.into_inner().unwrap_or_else(PoisonError::into_inner)
        }
    }
}

/// The id of a lock of this name. It has the form of a GUID, since some services take no other.
pub(crate) fn lock_id(seed: u64, name: &str) -> LockId {
    let mut rng = Rng::of(seed, name);
    let (high, low) = (u128::from(rng.next()), u128::from(rng.next()));
    LockId::new(&uuid_text((high << 64 | low).to_be_bytes()))
}

/// A valid state of this serial and of at least this size.
pub(crate) fn document(serial: u64, size: usize) -> Vec<u8> {
    let head = format!(
        "{{\n  \"version\": 4,\n  \"terraform_version\": \"1.13.3\",\n  \"serial\": {serial},\n  \"lineage\": \
         \"0c0f0a11-ca5e-0c0f-0a11-ca5e0c0f0a11\",\n  \"outputs\": {{\n    \"probe\": {{\n      \"value\": \"{MARK} {serial} "
    );
    let tail =
        "\",\n      \"type\": \"string\"\n    }\n  },\n  \"resources\": [],\n  \"check_results\": null\n}\n";
    let mut bytes = head.into_bytes();
    // The padding differs from document to document, so that a mixture of two is neither of them.
    let letter = b'a'.wrapping_add(u8::try_from(serial % 26).unwrap_or_default());
    bytes.resize(bytes.len().max(size.saturating_sub(tail.len())), letter);
    bytes.extend_from_slice(tail.as_bytes());
    bytes
}

/// Stands in every document; a store that prints it shows what it stores.
pub(crate) const MARK: &str = "conformance-secret";

/// What a client reads.
pub(crate) async fn read(client: &Client) -> Step<Option<Stored>> {
    client.read().await.succeeds("a read")
}

/// Writes whatever is stored.
pub(crate) async fn put(client: &Client, bytes: &[u8]) -> Step<Version> {
    client
        .write(Bytes::copy_from_slice(bytes), &WriteOptions::any())
        .await
        .succeeds("a write that expects anything")
}

/// The client reads these bytes, of this version if one is given.
pub(crate) async fn reads(
    client: &Client,
    who: &str,
    bytes: &[u8],
    version: Option<&Version>,
) -> Step<Stored> {
    let stored = client.read().await.succeeds(&format!("a read of {who}"))?;
    let same = stored.as_ref().is_some_and(|stored| {
        stored.bytes == bytes && version.is_none_or(|version| *version == stored.version)
    });
    match stored {
        Some(stored) if same => Ok(stored),
        other => {
            let of = version.map_or_else(String::new, |v| format!(" of version {:?}", v.as_str()));
            let expected = format!("{who} reads {}{of}", describe_bytes(bytes));
            let hint = hint_for_bytes(bytes, other.as_ref());
            Err(failed(expected, describe_stored(other.as_ref())).hint(Some(hint)))
        }
    }
}

/// The client reads that nothing is stored.
pub(crate) async fn reads_nothing(client: &Client, who: &str) -> Step {
    let stored = client.read().await.succeeds(&format!("a read of {who}"))?;
    ensure(stored.is_none(), format!("{who} reads nothing"), || describe_stored(stored.as_ref()))
}

/// The client reads exactly what was read before.
pub(crate) async fn reads_the_same(client: &Client, who: &str, before: Option<&Stored>) -> Step {
    match before {
        Some(before) => reads(client, who, &before.bytes, Some(&before.version)).await.map(drop),
        None => reads_nothing(client, who).await,
    }
}
