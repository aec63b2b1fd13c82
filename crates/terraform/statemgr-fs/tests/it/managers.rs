//! The manager over files: serials, lineages, and what a failed encoding leaves.

use std::fs;
use std::sync::Arc;

use groundstate_common::{OsIds, SystemClock};
use groundstate_conformance::block_on;
use groundstate_statefile::{DecodeOptions, decode};
use groundstate_statemgr::{
    ErrorKind, Manager, ManagerOptions, OutputValues, Persister, Reader, Refresher, Writer,
};
use groundstate_statemgr_fs::{FsOptions, FsStore};
use groundstate_states::State;

use crate::support::Folder;

fn manager(store: FsStore) -> Manager {
    Manager::new(Arc::new(store), Arc::new(SystemClock), Arc::new(OsIds), ManagerOptions::default())
}

fn state_with(output: &str) -> State {
    let text = format!(
        r#"{{"version":4,"serial":1,"lineage":"l","outputs":{{"{output}":{{"value":1,"type":"number"}}}}}}"#
    );
    decode(text.as_bytes(), &DecodeOptions::default()).unwrap().state
}

fn stored(folder: &Folder) -> (u64, String, OutputValues) {
    let file = decode(&fs::read(folder.state()).unwrap(), &DecodeOptions::default()).unwrap();
    (file.serial.get(), file.lineage.to_string(), file.state.outputs().clone())
}

#[test]
fn the_serial_grows_with_each_change_and_the_lineage_stays() {
    let folder = Folder::new();
    let manager = manager(folder.store_with(FsOptions::new()));
    let mut lineages = Vec::new();
    for (output, serial) in [("a", 1), ("a", 1), ("b", 2), ("a", 3)] {
        manager.write_state(&state_with(output)).unwrap();
        block_on(manager.persist_state()).unwrap();
        let (found, lineage, outputs) = stored(&folder);
        assert_eq!((found, outputs.len()), (serial, 1), "{output}");
        lineages.push(lineage);
    }
    lineages.dedup();
    assert_eq!(lineages.len(), 1);
}

/// Over two paths.
#[test]
fn a_snapshot_from_another_path_goes_on_with_its_lineage_and_serial() {
    let folder = Folder::new();
    let text = r#"{"version":4,"serial":7,"lineage":"from-there","outputs":{},"resources":[]}"#;
    fs::write(folder.join("in.tfstate"), text).unwrap();
    let manager = manager(folder.store_with(FsOptions::new().read_from(folder.join("in.tfstate"))));
    block_on(manager.refresh_state()).unwrap();
    manager.write_state(&state_with("a")).unwrap();
    block_on(manager.persist_state()).unwrap();
    let (serial, lineage, _) = stored(&folder);
    assert_eq!((serial, lineage.as_str()), (8, "from-there"));
    assert_eq!(fs::read_to_string(folder.join("in.tfstate")).unwrap(), text);
}

#[test]
fn a_change_by_another_program_is_a_conflict_and_stays() {
    let folder = Folder::new();
    let manager = manager(folder.store_with(FsOptions::new()));
    manager.write_state(&state_with("a")).unwrap();
    block_on(manager.persist_state()).unwrap();
    let other = r#"{"version":4,"serial":9,"lineage":"other","outputs":{},"resources":[]}"#;
    fs::write(folder.state(), other).unwrap();
    manager.write_state(&state_with("b")).unwrap();
    assert_eq!(block_on(manager.persist_state()).unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(fs::read_to_string(folder.state()).unwrap(), other);
    block_on(manager.refresh_state()).unwrap();
    assert!(manager.state().unwrap().outputs().is_empty());
}
