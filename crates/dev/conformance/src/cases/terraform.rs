//! T1 to T3 and T7: what Terraform's own suites do with managers and remote clients.

use std::sync::Arc;

use groundstate_statefile::{DecodeOptions, EncodeOptions, File, decode, encode, encode_equally};
use groundstate_statemgr::{
    ErrorKind, Locker, Manager, Migrator, Persisted, PersistentMeta, Persister, Reader, Refresher,
    SnapshotMeta, Writer, write_and_persist,
};
use groundstate_states::addr::ModuleInstance;
use groundstate_states::{Lineage, Serial, State};

use crate::cx::{Client, Cx, read, reads, reads_nothing};
use crate::failure::{Answer, Step, Stop, describe_bytes, ensure, equal, fail};
use crate::states::{file, initial, set_output};

/// The transient snapshot, which has to be there.
fn state_of(manager: &Manager) -> Step<State> {
    match manager.state() {
        Some(state) => Ok(state),
        None => fail("the manager has a state", "it has none"),
    }
}

/// Both states are the same. Their content is not shown: it is long, and looks like that of a user.
fn same(what: &str, seen: &State, expected: &State) -> Step {
    ensure(seen == expected, format!("{what} is the state that was written"), || {
        "it is another one".to_owned()
    })
}

/// A manager at a place where Terraform's first state is stored.
async fn prepared(cx: &Cx) -> Step<Manager> {
    let writer = cx.manager(cx.open().await?, 1);
    writer.refresh_state().await.succeeds("a refresh where nothing is stored")?;
    write_and_persist(&writer, &initial()?).await.succeeds("the first persist")?;
    Ok(cx.manager(cx.open().await?, 1_000))
}

pub(super) async fn full(cx: &Cx) -> Step {
    let manager = prepared(cx).await?;
    manager.refresh_state().await.succeeds("a refresh")?;
    same("what was refreshed", &state_of(&manager)?, &initial()?)?;
    let first = manager.snapshot_meta();

    let mut current = state_of(&manager)?;
    set_output(&mut current, "bar", "baz");
    manager.write_state(&current).succeeds("writing a state")?;
    same("what was written", &state_of(&manager)?, &current)?;
    manager.persist_state().await.succeeds("a persist")?;
    manager.refresh_state().await.succeeds("a refresh after it")?;
    let second = manager.snapshot_meta();
    follows(&second, &first, true)?;

    // Twice the same: once after a refresh, as Terraform's suite has it, and once without.
    for _ in 0..2 {
        write_and_persist(&manager, &current).await.succeeds("a persist of the same state")?;
        equal("the serial after a persist that changes nothing", &manager.snapshot_meta(), &second)?;
    }
    let mut current = current.clone();
    set_output(&mut current, "serialCheck", "true");
    write_and_persist(&manager, &current).await.succeeds("a persist of a changed state")?;
    let third = manager.snapshot_meta();
    follows(&third, &second, true)?;
    equal("the writer", &third.terraform_version, &second.terraform_version)?;

    let mut copy = state_of(&manager)?;
    let another = ModuleInstance::parse("module.another").map_err(own_fault)?;
    copy.ensure_module(&another);
    ensure(state_of(&manager)? != copy, "a copy of the state is the caller's own", || {
        "the manager's changes with it".to_owned()
    })?;
    let last = state_of(&manager)?;
    ensure(encode_equally(&current, &last), "the state that was written last", || "another one".to_owned())?;
    let reader = cx.manager(cx.open().await?, 2_000);
    reader.refresh_state().await.succeeds("a refresh by another client")?;
    same("what another client refreshes", &state_of(&reader)?, &current)
}

/// The suite itself is wrong.
fn own_fault(error: impl std::fmt::Display) -> Stop {
    Stop::Failed {
        expected: "the suite's own text is valid".to_owned(),
        seen: error.to_string(),
        clause: None,
        hint: None,
    }
}

/// The snapshot is a later one of the same chain, or the same one.
fn follows(new: &SnapshotMeta, old: &SnapshotMeta, later: bool) -> Step {
    equal("the lineage", &new.lineage, &old.lineage)?;
    let expected = format!("a serial {} {}", if later { "larger than" } else { "equal to" }, old.serial);
    ensure((new.serial > old.serial) == later, &expected, || new.serial.to_string())
}

pub(super) async fn remote_client(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let bytes =
        encode(&file("stub-lineage", 2, &initial()?), &EncodeOptions::default()).map_err(own_fault)?;
    let version = crate::cx::put(&a, &bytes).await?;
    reads(&a, "A", &bytes, Some(&version)).await?;
    reads(&b, "B", &bytes, Some(&version)).await?;
    if !cx.capabilities.delete {
        return Ok(());
    }
    a.delete(&groundstate_statemgr::WriteOptions::any()).await.succeeds("a deletion")?;
    reads_nothing(&a, "A").await
}

pub(super) async fn remote_locks(cx: &Cx) -> Step {
    let (a, b) = (cx.manager(cx.open().await?, 1), cx.manager(cx.open().await?, 1_000));
    two_lockers(cx, &a, &b).await
}

/// A locks, B is refused, A releases, and B locks under another id.
pub(super) async fn two_lockers(cx: &Cx, a: &Manager, b: &Manager) -> Step {
    let mut infos = [cx.info("clientA"), cx.info("clientB")];
    for info in &mut infos {
        info.operation = "test".to_owned();
    }
    let [info_a, info_b] = &infos;
    let first = granted(a.lock(info_a).await, "a lock of client A")?;
    b.lock(info_b).await.refused(ErrorKind::Locked, "a lock of client B while A holds it")?;
    a.unlock(&first).await.succeeds("the release of client A")?;
    let second = granted(b.lock(info_b).await, "a lock of client B")?;
    ensure(first != second, "two locks have different ids", || format!("{:?} twice", first.as_str()))?;
    b.unlock(&second).await.succeeds("the release of client B")
}

/// The id of a lock that was granted.
pub(super) fn granted(
    outcome: groundstate_statemgr::Result<Option<groundstate_statemgr::LockGrant>>,
    what: &str,
) -> Step<groundstate_statemgr::LockId> {
    match outcome.succeeds(what)? {
        Some(grant) => Ok(grant.id),
        None => fail(format!("{what} locks something"), "the manager has locking switched off"),
    }
}

/// The file that is stored.
async fn stored(client: &Client) -> Step<File> {
    let Some(stored) = read(client).await? else { return fail("a state is stored", "nothing is") };
    let bytes = describe_bytes(&stored.bytes);
    decode(&stored.bytes, &DecodeOptions::default())
        .or_else(|error| fail("what is stored is a state", format!("{bytes}: {error}")))
}

/// What a step of [`remote_sequence`] does before it persists.
enum Change {
    Write(State),
    Force(Lineage, Serial),
}

pub(super) async fn remote_sequence(cx: &Cx) -> Step {
    let reader = cx.open().await?;
    let manager = cx.manager(cx.open().await?, 1);
    manager.refresh_state().await.succeeds("a refresh where nothing is stored")?;
    let first = initial()?;
    let mut without_child = first.clone();
    let child = ModuleInstance::parse("module.child").map_err(own_fault)?;
    without_child.remove_module(&child).map_err(own_fault)?;
    let mut with_output = without_child.clone();
    set_output(&mut with_output, "new", "here");
    let mut with_other_output = without_child.clone();
    set_output(&mut with_other_output, "new", "there");
    let mock = || Lineage::new("mock-lineage");
    let written = Persisted::Written;
    let steps = [
        ("a first state", Change::Write(first), written, 1),
        ("another lineage", Change::Force(mock(), Serial::new(1)), written, 2),
        ("resources removed", Change::Write(without_child), written, 3),
        // Equal content keeps the serial it comes with; Terraform would count it once more.
        ("a serial one larger", Change::Force(mock(), Serial::new(4)), written, 4),
        ("an output added", Change::Write(with_output), written, 5),
        ("an output changed", Change::Write(with_other_output.clone()), written, 6),
        ("nothing changed", Change::Write(with_other_output), Persisted::Unchanged, 6),
        ("an older serial by force", Change::Force(mock(), Serial::new(2)), written, 3),
    ];
    for (what, change, persisted, serial) in steps {
        match change {
            Change::Write(state) => manager.write_state(&state).succeeds("writing a state")?,
            Change::Force(lineage, serial) => {
                let Some(mut file) = manager.state_for_migration() else {
                    return fail("the manager has a snapshot", "it has none");
                };
                (file.lineage, file.serial) = (lineage, serial);
                manager.write_state_for_migration(file, true).succeeds("an import by force")?;
            }
        }
        let outcome = manager.persist_state().await.succeeds(&format!("a persist with {what}"))?;
        equal(&format!("what a persist with {what} does"), &outcome, &persisted)?;
        let found = stored(&reader).await?;
        equal(&format!("the stored serial after a persist with {what}"), &found.serial.get(), &serial)?;
        same(&format!("what is stored after a persist with {what}"), &found.state, &state_of(&manager)?)?;
    }
    equal("the stored lineage", &stored(&reader).await?.lineage, &mock())
}

/// A manager that knows what is stored, ready to be shared.
pub(super) async fn refreshed(cx: &Cx, client: Client, first: u64) -> Step<Arc<Manager>> {
    let manager = cx.manager(client, first);
    manager.refresh_state().await.succeeds("a refresh")?;
    Ok(Arc::new(manager))
}
