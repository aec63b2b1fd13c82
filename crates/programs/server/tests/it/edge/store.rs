//! Stores: those that a server accepts, and how it finds out that it cannot use one.

use std::sync::Arc;
use std::time::Duration;

use groundstate_server::blobs::{BlobStore, Context, Key, PutOptions};
use groundstate_server::common::{Clock, FixedClock, OsIds, SystemClock, Timestamp};
use groundstate_server::config::StorePlace;
use groundstate_server::edge::{OpenError, OpenedStore, Opening, StoreNote};
use groundstate_statemgr::TokioSleeper;

fn context() -> Context {
    Context::new(Arc::new(SystemClock), Arc::new(TokioSleeper), Arc::new(OsIds))
}

fn place(path: &std::path::Path) -> StorePlace {
    StorePlace::parse(path.to_str().unwrap()).unwrap()
}

async fn check(place: &StorePlace, context: &Context) -> Result<OpenedStore, OpenError> {
    let mut opened = OpenedStore::open(place, context, &|_| None)?;
    opened.check(place, context, &Opening::default().init(true)).await?;
    Ok(opened)
}

#[tokio::test]
async fn a_directory_is_made_for_its_owner_alone_and_nothing_of_the_check_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/groundstate");
    let place = place(&path);
    for _ in 0..2 {
        assert_eq!(check(&place, &context()).await.unwrap().notes, [""; 0]);
    }
    let mut files: Vec<_> = std::fs::read_dir(path.join("groundstate"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    files.retain(|name| !name.to_string_lossy().starts_with(".groundstate-"));
    assert_eq!(files, ["layout.json"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        // One that was made beforehand is closed to others, and refused if others can write to it. A group is the operator's choice.
        for (before, after) in [(0o755, 0o700), (0o711, 0o700), (0o750, 0o750)] {
            mode(before);
            let notes = check(&place, &context()).await.unwrap().notes;
            assert_eq!(notes.len(), usize::from(before != after), "{notes:?}");
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, after);
        }
        for open in [0o777, 0o1777, 0o702] {
            mode(open);
            let error = check(&place, &context()).await.unwrap_err();
            assert!(matches!(error, OpenError::Open { .. }), "{error:?}");
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, open);
        }
        // Looking changes nothing.
        mode(0o755);
        OpenedStore::open_used(&place, &context(), &|_| None).await.unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);
    }
}

#[tokio::test]
async fn a_store_that_a_newer_server_has_changed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    check(&place, &context()).await.unwrap();
    let mark = folder.path().join("groundstate/layout.json");
    for (content, expected) in [
        ("{\"layout\":3,\"since\":\"2031\"}", "has the layout 3, and this server knows 2"),
        ("{\"layout\":0}", "has the layout 0, and this server knows 2"),
        ("nonsense", "has the layout of no server, and this server knows 2"),
    ] {
        std::fs::write(&mark, content).unwrap();
        let error = check(&place, &context()).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn clocks_that_are_wrong_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(&folder.path().join("states"));
    let with = |clock: Timestamp| {
        let clock: Arc<dyn Clock> = Arc::new(FixedClock::new(clock));
        Context::new(clock, Arc::new(TokioSleeper), Arc::new(OsIds))
    };
    let error = check(&place, &with(Timestamp::UNIX_EPOCH)).await.unwrap_err().to_string();
    assert_eq!(error, "the clock of this machine says 1970-01-01T00:00:00Z, which is in the past; set it");
    let ahead = SystemClock.now().checked_add(Duration::from_secs(7200)).unwrap();
    let notes = check(&place, &with(ahead)).await.unwrap().notes;
    assert!(notes.len() == 1 && notes[0].contains("seconds apart"), "{notes:?}");
}

#[tokio::test]
async fn looking_at_a_store_makes_nothing_and_wants_one_that_a_server_has_used() {
    let folder = tempfile::tempdir().unwrap();
    let look = async |path: &std::path::Path| {
        OpenedStore::open_used(&place(path), &context(), &|_| None).await.map_err(|error| error.to_string())
    };
    let (states, file) = (folder.path().join("states"), folder.path().join("file"));
    std::fs::write(&file, "").unwrap();
    for (path, why) in [
        (&states, "there is no such directory"),
        (&folder.path().to_owned(), "it has no groundstate/layout.json"),
        (&file, "it is not a directory"),
    ] {
        let expected = format!("{} is not the store of a server: {why}", path.display());
        assert_eq!(look(path).await.unwrap_err(), expected);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let error = OpenedStore::open_used(&StorePlace::Memory, &context(), &|_| None).await.unwrap_err();
    assert!(matches!(error, OpenError::NoServer { .. }), "{error:?}");

    let opened = check(&place(&states), &context()).await.unwrap();
    assert!(opened.is_new && !check(&place(&states), &context()).await.unwrap().is_new);
    look(&states).await.unwrap();
    let key = Key::parse("groundstate/layout.json").unwrap();
    opened.store.put(&key, "{\"layout\":3}".into(), &PutOptions::default()).await.unwrap();
    assert!(look(&states).await.unwrap_err().contains("has the layout 3"));
}

/// The superuser may write everywhere, so the directory is one that no user can write to.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_directory_that_cannot_be_written_to_is_refused() {
    let error = check(&StorePlace::parse("/proc/groundstate").unwrap(), &context()).await.unwrap_err();
    assert!(matches!(&error, OpenError::Directory { .. }), "{error:?}");
    let error = check(&StorePlace::parse("/proc").unwrap(), &context()).await.unwrap_err();
    assert!(matches!(&error, OpenError::ReadOnly { .. } | OpenError::Store { .. }), "{error:?}");
    // A file is no directory.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = check(&place(&file), &context()).await.unwrap_err();
    assert!(matches!(&error, OpenError::Directory { .. }), "{error:?}");
}

#[tokio::test]
async fn memory_is_a_store() {
    let opened = check(&StorePlace::Memory, &context()).await.unwrap();
    assert!(opened.store.capabilities().conditional_put);
}

async fn checked(place: &StorePlace, opening: &Opening) -> Result<OpenedStore, OpenError> {
    let mut opened = OpenedStore::open(place, &context(), &|_| None)?;
    opened.check(place, &context(), opening).await?;
    Ok(opened)
}

#[tokio::test]
async fn empty_directory_is_no_new_store_unless_one_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let mount = place(folder.path());
    let error = checked(&mount, &Opening::default()).await.unwrap_err();
    assert!(matches!(&error, OpenError::Absent { .. }), "{error:?}");
    assert!(!folder.path().join("groundstate").exists());
    assert!(checked(&mount, &Opening::default().init(true)).await.unwrap().is_new);
    assert!(!checked(&mount, &Opening::default()).await.unwrap().is_new);
    // A directory that no process made holds no store that is not mounted.
    assert!(checked(&place(&folder.path().join("new")), &Opening::default()).await.unwrap().is_new);
}

#[tokio::test]
async fn remembered_store_that_is_gone_or_another_is_refused_even_where_a_new_one_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let (states, elsewhere) = (folder.path().join("states"), folder.path().join("elsewhere"));
    let note = StoreNote::beside(&folder.path().join("server.toml"));
    let opening = Opening::default().init(true).note(Some(note.clone()));
    checked(&place(&states), &opening).await.unwrap();
    checked(&place(&states), &opening).await.unwrap();
    std::fs::rename(&states, &elsewhere).unwrap();
    let error = checked(&place(&states), &opening).await.unwrap_err();
    assert!(matches!(&error, OpenError::Gone { .. }), "{error:?}");
    assert!(error.to_string().contains(note.path().to_str().unwrap()), "{error}");
    assert!(!states.exists(), "nothing is left of the directory that was made to look");

    checked(&place(&states), &Opening::default()).await.unwrap();
    let error = checked(&place(&states), &opening).await.unwrap_err();
    assert!(matches!(&error, OpenError::Other { .. }), "{error:?}");
    std::fs::remove_dir_all(&states).unwrap();
    std::fs::rename(&elsewhere, &states).unwrap();
    checked(&place(&states), &opening).await.unwrap();
    // A note of another place says nothing of this one.
    checked(&place(&folder.path().join("third")), &opening).await.unwrap();
}

#[tokio::test]
async fn store_without_its_mark_is_no_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(&folder.path().join("states"));
    let opened = checked(&place, &Opening::default()).await.unwrap();
    let key = Key::parse("auth/tokens/x.json").unwrap();
    opened.store.put(&key, "{}".into(), &PutOptions::default()).await.unwrap();
    std::fs::remove_file(folder.path().join("states/groundstate/layout.json")).unwrap();
    let error = checked(&place, &Opening::default().init(true)).await.unwrap_err();
    assert!(matches!(&error, OpenError::Unmarked { .. }), "{error:?}");
    let (damaged, problem) = OpenedStore::open_damaged(&place, &context(), &|_| None).await.unwrap();
    assert!(problem.unwrap().contains("layout.json is missing"));
    OpenedStore::mark_anew(&*damaged.store, &place, &context(), None).await.unwrap();
    checked(&place, &Opening::default()).await.unwrap();
}

#[tokio::test]
async fn store_of_an_earlier_release_gets_an_id() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("groundstate")).unwrap();
    let mark = folder.path().join("groundstate/layout.json");
    std::fs::write(&mark, "{\"layout\":1}\n").unwrap();
    checked(&place(folder.path()), &Opening::default()).await.unwrap();
    let text = std::fs::read_to_string(&mark).unwrap();
    assert!(text.contains("\"id\":\"") && text.contains("\"sum\":\""), "{text}");
}

#[tokio::test]
async fn store_that_is_unmounted_below_a_server_is_neither_read_as_empty_nor_written() {
    let folder = tempfile::tempdir().unwrap();
    let (states, elsewhere) = (folder.path().join("states"), folder.path().join("elsewhere"));
    let opened = checked(&place(&states), &Opening::default()).await.unwrap();
    let server = crate::support::Server::of(groundstate_server::Parts::new(opened.store));
    let client = server.admin();
    client.post("", crate::support::state(1)).await.is(200);
    std::fs::rename(&states, &elsewhere).unwrap();
    for is_there in [false, true] {
        if is_there {
            // As the directory below a mount is.
            std::fs::create_dir(&states).unwrap();
        }
        for (method, body) in
            [("GET", String::new()), ("POST", crate::support::state(2)), ("LOCK", lock_info())]
        {
            let answer = client.call(method, "/tf/shop/network", &body).await.is(503);
            assert!(answer.text().contains("store-unusable"), "{method}: {}", answer.text());
        }
        client.get("/api/v1/states").await.is(503);
    }
    let left: Vec<_> = std::fs::read_dir(&states).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name.to_string_lossy().starts_with(".groundstate-")), "{left:?}");
    std::fs::remove_dir_all(&states).unwrap();
    std::fs::rename(&elsewhere, &states).unwrap();
    client.call("GET", "/tf/shop/network", "").await.is(200);
}

fn lock_info() -> String {
    r#"{"ID":"11111111-1111-1111-1111-111111111111","Operation":"OperationTypeApply"}"#.to_owned()
}
