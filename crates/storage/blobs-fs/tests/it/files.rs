//! What the store in a directory does that the suite does not see.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use groundstate_blobs::{
    BlobStore, DeleteOptions, ErrorKind, GetOptions, Key, ListOptions, Precondition, PutOptions,
};
use groundstate_blobs_fs::FileBlobs;
use tempfile::TempDir;

use crate::harness::Harness;

/// A directory for each container.
pub(crate) fn harness() -> Harness {
    let folder = tempfile::tempdir().expect("there is room for a directory");
    Harness::new(Arc::new(move |name| Ok(Arc::new(FileBlobs::create(folder.path().join(name))?))))
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn store() -> Result<(TempDir, FileBlobs), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let store = FileBlobs::open(folder.path())?;
    Ok((folder, store))
}

#[tokio::test]
async fn a_missing_directory_is_said_and_not_created() -> Outcome {
    let (folder, _) = store()?;
    let (gone, key) = (folder.path().join("gone"), Key::parse("k")?);
    let store = FileBlobs::open(&gone)?;
    let errors = [
        store.get(&key, &GetOptions::default()).await.unwrap_err(),
        store.head(&key).await.unwrap_err(),
        store.put(&key, "1".into(), &PutOptions::default()).await.unwrap_err(),
        store.delete(&key, &DeleteOptions::default()).await.unwrap_err(),
        store.list("", &ListOptions::default()).await.unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
        assert!(error.to_string().ends_with("there is no such directory; create it"), "{error}");
    }
    assert!(!gone.exists());
    Ok(())
}

#[tokio::test]
async fn a_blob_and_one_below_it_are_refused_and_not_mixed_up() -> Outcome {
    let (_folder, store) = store()?;
    store.put(&Key::parse("a")?, "1".into(), &PutOptions::default()).await?;
    store.put(&Key::parse("b/c")?, "1".into(), &PutOptions::default()).await?;
    for name in ["a/b", "b", ".groundstate-lock", "x/.groundstate-y"] {
        let error = store.put(&Key::parse(name)?, "2".into(), &PutOptions::default()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidKey, "{name}: {error}");
    }
    for name in ["a/b", "b"] {
        assert_eq!(store.get(&Key::parse(name)?, &GetOptions::default()).await?, None, "{name}");
        assert!(!store.delete(&Key::parse(name)?, &DeleteOptions::default()).await?, "{name}");
    }
    let page = store.list("", &ListOptions::default()).await?;
    assert_eq!(page.blobs.iter().map(|blob| blob.name.as_str()).collect::<Vec<_>>(), ["a", "b/c"]);
    Ok(())
}

#[tokio::test]
async fn versions_never_come_twice_even_when_files_do() -> Outcome {
    let (_folder, store) = store()?;
    let (a, b) = (Key::parse("a")?, Key::parse("b")?);
    let mut last = 0;
    for at in 0..200 {
        let key = if at % 3 == 0 { &b } else { &a };
        let generation = store.put(key, "same size".into(), &PutOptions::default()).await?.generation();
        assert!(generation > Some(last), "{at}");
        last = generation.unwrap_or_default();
        if at % 5 == 0 {
            store.delete(key, &DeleteOptions::default()).await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn writes_of_other_programs_are_other_versions() -> Outcome {
    let (folder, store) = store()?;
    let key = Key::parse("k")?;
    let version = store.put(&key, "1".into(), &PutOptions::default()).await?;
    fs::write(folder.path().join("k"), "by hand")?;
    let once = PutOptions::expecting(Precondition::Version(version));
    let error = store.put(&key, "2".into(), &once).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
    assert_eq!(error.found().map(|blob| &blob.bytes[..]), Some(&b"by hand"[..]));
    Ok(())
}

#[tokio::test]
async fn what_a_crash_left_aside_is_no_blob_and_no_obstacle() -> Outcome {
    let (folder, store) = store()?;
    fs::write(folder.path().join(".groundstate-new"), "half")?;
    assert!(store.list("", &ListOptions::default()).await?.blobs.is_empty());
    store.put(&Key::parse("k")?, "1".into(), &PutOptions::default()).await?;
    assert!(!folder.path().join(".groundstate-new").exists());
    let slot = |name: &str| slots(folder.path(), name);
    let drafts = slot("lock").into_iter().map(|path| path.with_extension("new"));
    for draft in drafts {
        fs::write(draft, "half")?;
    }
    store.put(&Key::parse("k")?, "2".into(), &PutOptions::default()).await?;
    assert!(slot("new").is_empty());
    let page = store.list("", &ListOptions::default()).await?;
    assert_eq!(page.blobs.iter().map(|blob| blob.name.as_str()).collect::<Vec<_>>(), ["k"]);
    store.delete(&Key::parse("k")?, &DeleteOptions::default()).await?;
    Ok(())
}

/// The store's own files with this ending.
fn slots(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let own = fs::read_dir(folder.join(".groundstate-writes")).unwrap().map(|entry| entry.unwrap().path());
    own.filter(|path| path.extension().is_some_and(|end| end == ending)).collect()
}

/// A thread that writes `k`, and tells how it ended.
fn writing(store: FileBlobs) -> (std::thread::JoinHandle<()>, mpsc::Receiver<bool>) {
    let (teller, told) = mpsc::channel();
    let writer = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime can be had");
        let key = Key::parse("k").expect("it is a key");
        let outcome = runtime.block_on(store.put(&key, "1".into(), &PutOptions::default())).is_ok();
        teller.send(outcome).ok();
    });
    (writer, told)
}

#[tokio::test]
async fn a_writer_waits_for_one_of_the_same_blob_and_not_for_others() -> Outcome {
    let (folder, store) = store()?;
    store.put(&Key::parse("k")?, "0".into(), &PutOptions::default()).await?;
    let [slot] = &slots(folder.path(), "lock")[..] else { return Err("one slot was used".into()) };
    let other = fs::File::open(slot)?;
    fs2::FileExt::lock_exclusive(&other)?;
    let (writer, told) = writing(store.clone());
    assert!(told.recv_timeout(Duration::from_millis(100)).is_err());
    // Were they to wait for it, this would not return.
    for name in ["a", "b/c", "l"] {
        store.put(&Key::parse(name)?, "1".into(), &PutOptions::default()).await?;
    }
    fs2::FileExt::unlock(&other)?;
    assert!(told.recv_timeout(Duration::from_secs(20))?);
    writer.join().map_err(|_| "the writer panicked")?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn folders_come_and_go_under_many_writers_and_no_blob_is_lost() -> Outcome {
    let (folder, _) = store()?;
    let tasks: Vec<_> = (0..8)
        .map(|number| {
            // Each has a client of its own, as processes have.
            let store = FileBlobs::open(folder.path()).unwrap();
            tokio::spawn(async move {
                let key = Key::parse(&format!("a/b/{number}")).unwrap();
                for _ in 0..40 {
                    let absent = PutOptions::expecting(Precondition::Absent);
                    store.put(&key, "1".into(), &absent).await.unwrap();
                    assert!(store.head(&key).await.unwrap().is_some(), "{key}");
                    assert!(store.delete(&key, &DeleteOptions::default()).await.unwrap(), "{key}");
                }
            })
        })
        .collect();
    for task in tasks {
        task.await?;
    }
    assert!(!folder.path().join("a").exists());
    Ok(())
}

#[tokio::test]
async fn folders_go_with_their_last_blob() -> Outcome {
    let (folder, store) = store()?;
    for name in ["a/b/c", "a/d"] {
        store.put(&Key::parse(name)?, "1".into(), &PutOptions::default()).await?;
    }
    store.delete(&Key::parse("a/b/c")?, &DeleteOptions::default()).await?;
    assert!(!folder.path().join("a/b").exists() && folder.path().join("a").exists());
    store.delete(&Key::parse("a/d")?, &DeleteOptions::default()).await?;
    assert!(!folder.path().join("a").exists());
    Ok(())
}

#[test]
fn a_writer_waits_for_a_process_that_locks_the_whole_directory() -> Outcome {
    let (folder, store) = store()?;
    // Locks of this kind belong to open files, so another one of this process is as good as another process.
    let other = fs::File::create(folder.path().join(".groundstate-lock"))?;
    fs2::FileExt::lock_exclusive(&other)?;
    let (writer, told) = writing(store);
    assert!(told.recv_timeout(Duration::from_millis(100)).is_err());
    fs2::FileExt::unlock(&other)?;
    assert!(told.recv_timeout(Duration::from_secs(20))?);
    writer.join().map_err(|_| "the writer panicked")?;
    Ok(())
}

#[cfg(unix)]
#[tokio::test]
async fn new_files_are_their_owners_alone() -> Outcome {
    use std::os::unix::fs::PermissionsExt;
    let (folder, store) = store()?;
    store.put(&Key::parse("k")?, "1".into(), &PutOptions::default()).await?;
    assert_eq!(fs::metadata(folder.path().join("k"))?.permissions().mode() & 0o777, 0o600);
    Ok(())
}

#[cfg(unix)]
#[tokio::test]
async fn locks_cannot_be_opened_by_others_and_those_of_older_releases_are_closed() -> Outcome {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| fs::metadata(path).map(|meta| meta.permissions().mode() & 0o777);
    let (folder, store) = store()?;
    // As a release before made it, in a folder that everyone can look into.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
    let lock = folder.path().join(".groundstate-lock");
    fs::write(&lock, "")?;
    fs::set_permissions(&lock, fs::Permissions::from_mode(0o644))?;
    store.put(&Key::parse("k")?, "1".into(), &PutOptions::default()).await?;
    assert_eq!(mode(&lock)?, 0o600);
    let writes = folder.path().join(".groundstate-writes");
    assert_eq!(mode(&writes)?, 0o700);
    let mut seen = 0;
    for entry in fs::read_dir(&writes)? {
        let path = entry?.path();
        assert_eq!(mode(&path)?, 0o600, "{}", path.display());
        seen += 1;
    }
    assert!(seen > 0);
    Ok(())
}
