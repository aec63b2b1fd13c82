//! From URLs to open stores.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use groundstate_common::{OsIds, Sleeper, SystemClock};
use groundstate_pulumi_backends::blobs::{
    BlobStore, Context, DeleteOptions, GetOptions, Key, ListOptions, Precondition, PutOptions, Result,
};
use groundstate_pulumi_backends::{
    BackendChoice, BackendUrl, ChosenBackend, OpenContext, OpenedStore, Project, PulumiHome,
};
use groundstate_testkit::PulumiPlace;

#[derive(Debug)]
struct NoSleep;

impl Sleeper for NoSleep {
    fn sleep<'a, 'b>(&'a self, _: Duration) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(std::future::ready(()))
    }
}

fn context() -> Context {
    Context::new(Arc::new(SystemClock), Arc::new(NoSleep), Arc::new(OsIds))
}

fn open(url: &str, directory: &Path, variables: &[(&str, &str)]) -> Result<OpenedStore> {
    let context = context();
    let variable =
        |name: &str| variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned());
    BackendChoice::of_user(BackendUrl::parse(url)?).open(OpenContext {
        context: &context,
        variable: &variable,
        directory,
    })
}

#[tokio::test]
async fn directories_are_those_that_the_original_means() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("a b/sub")).unwrap();
    let home = root.display().to_string();
    let env = [("HOME", home.as_str())];
    for (url, expected) in [
        (format!("file://{home}/a%20b"), "a b"),
        (format!("file://{home}/a%20b/../a%20b/./sub?no_tmp_dir=false&metadata=skip"), "a b/sub"),
        ("file://~".to_owned(), ""),
        ("file://~/a b".to_owned(), "a b"),
        ("file://a%20b".to_owned(), "a b"),
        ("file://./a%20b/sub".to_owned(), "a b/sub"),
        (format!("file://{home}/new/deep?create_dir=true&dir_file_mode=0700"), "new/deep"),
    ] {
        let opened = open(&url, &root, &env).unwrap();
        assert_eq!(opened.directory.as_deref(), Some(clean(&root, expected).as_path()), "{url}");
    }
    assert!(root.join("new/deep").is_dir());
    for (url, why) in [
        (format!("file://{home}/none"), "does not exist"),
        ("file://~bob/x".to_owned(), "another user"),
        (format!("file://{home}?hush=1"), "is none of"),
        (format!("file://{home}?base_url=x"), "without the other"),
        (format!("file://{home}?metadata=all"), "`skip`"),
        (format!("file://{home}?create_dir=1&dir_file_mode=rwx"), "file mode"),
        (format!("file://{home}?key=x"), "single object"),
        (format!("file://{home}?prefix=x"), "for buckets"),
    ] {
        let error = open(&url, &root, &env).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

fn clean(root: &Path, part: &str) -> std::path::PathBuf {
    if part.is_empty() { root.to_owned() } else { root.join(part) }
}

#[tokio::test]
async fn a_directory_is_read_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let opened = open(&format!("file://{}", folder.path().display()), folder.path(), &[]).unwrap();
    let key = Key::parse(".pulumi/meta.yaml").unwrap();
    opened.store.put(&key, "version: 1\n".into(), &PutOptions::default()).await.unwrap();
    assert_eq!(std::fs::read(folder.path().join(".pulumi/meta.yaml")).unwrap(), b"version: 1\n");
    assert!(opened.store.get(&key, &GetOptions::default()).await.unwrap().is_some());
    let page = opened.store.list(".pulumi/", &ListOptions::default()).await.unwrap();
    assert_eq!(page.blobs.len(), 1);
}

/// The URLs and variables are those that the real pulumi takes.
#[tokio::test]
async fn every_store_is_read_and_written_below_its_prefix() {
    let folder = tempfile::tempdir().unwrap();
    let mut places = vec![
        PulumiPlace::folder(folder.path()),
        PulumiPlace::s3_here(),
        PulumiPlace::gs_here(),
        PulumiPlace::azblob_here(),
    ];
    places.extend(PulumiPlace::postgres());
    for place in places {
        let variables: Vec<(&str, &str)> =
            place.environment().iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let opened = open(place.url(), Path::new("/"), &variables).unwrap();
        opened.prepare().await.unwrap();
        let (key, other) = (Key::parse(".pulumi/a").unwrap(), Key::parse(".pulumi/b/c").unwrap());
        for key in [&key, &other] {
            opened.store.put(key, "text".into(), &PutOptions::expecting(Precondition::Absent)).await.unwrap();
        }
        let page = opened.store.list(".pulumi/", &ListOptions::default().delimited()).await.unwrap();
        let names: Vec<&str> = page.blobs.iter().map(|blob| blob.name.as_str()).collect();
        assert_eq!(
            (names, page.prefixes),
            (vec![".pulumi/a"], vec![".pulumi/b/".to_owned()]),
            "{}",
            place.url()
        );
        let stored = opened.store.get(&key, &GetOptions::default()).await.unwrap().unwrap();
        assert_eq!(&stored.bytes[..], b"text");
        assert!(opened.store.head(&other).await.unwrap().is_some());
        assert!(opened.store.delete(&key, &DeleteOptions::version(stored.version())).await.unwrap());
        assert!(opened.store.get(&key, &GetOptions::default()).await.unwrap().is_none());
    }
}

/// Copies are written, not copied by the server, so no key has to be encoded in a header.
#[tokio::test]
async fn keys_that_urls_have_other_meanings_for_are_stored_as_they_are() {
    for place in [PulumiPlace::s3_here(), PulumiPlace::gs_here(), PulumiPlace::azblob_here()] {
        let url = place.url().replace("/team/one", "/a+b/c.d%25e");
        let opened = crate::support::store(&url, place.environment()).await;
        let backend = crate::support::backend(
            opened.store,
            groundstate_pulumi_backends::pulumi_diy::Options::default(),
        )
        .await;
        let stack = backend.stack(&crate::support::reference("v1.2.json_x-"));
        let unguarded = || Arc::new(groundstate_pulumi_backends::pulumi_diy::Unguarded);
        stack.create(unguarded(), None).await.unwrap();
        let saved = stack.writer(unguarded()).save(stack.new_document()).await.unwrap();
        let copies = stack.copies().await.unwrap();
        assert_eq!(
            copies.iter().map(|copy| Some(copy.key.clone())).collect::<Vec<_>>(),
            [saved.backup],
            "{url}"
        );
        assert_eq!(stack.read_copy(&copies[0]).await.unwrap().bytes, stack.new_document(), "{url}");
        assert_eq!(
            backend.stack_names(&Default::default()).await.unwrap(),
            [stack.reference().clone()],
            "{url}"
        );
    }
}

#[test]
fn a_project_file_does_not_name_the_server_that_gets_a_password() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("Pulumi.yaml"),
        "name: a\nbackend:\n  url: postgres://evil.example/d\n",
    )
    .unwrap();
    let context = context();
    let variable = |name: &str| (name == "PGPASSWORD").then(|| "hush".to_owned());
    let project = Project::find(folder.path()).unwrap();
    let home = PulumiHome::of(&variable);
    let with = OpenContext { context: &context, variable: &variable, directory: folder.path() };
    for (trusts, is_refused) in [(false, true), (true, false)] {
        let choice = ChosenBackend::of_directory(folder.path(), project.as_ref(), &home, trusts, &variable);
        let opened = choice.unwrap().bucket().unwrap().open(with);
        assert_eq!(opened.is_err(), is_refused);
        assert!(opened.is_ok() || format!("{opened:?}").contains("your password would be sent to"));
    }
}

#[test]
fn clouds_open_with_the_parameters_of_pulumi() {
    let folder = Path::new("/");
    let keys = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "hush")];
    let opened = open("s3://b/team/x?region=eu-west-1&awssdk=v2", folder, &keys).unwrap();
    assert_eq!(opened.store.to_string(), "s3://b/team/x");
    let opened = open("gs://b?access_id=x", folder, &[("STORAGE_EMULATOR_HOST", "127.0.0.1:9")]).unwrap();
    assert!(opened.notes.iter().any(|note| note.contains("access_id")), "{:?}", opened.notes);
    let sas = [("AZURE_STORAGE_SAS_TOKEN", "sv=1&sig=hush")];
    assert!(open("azblob://c?storage_account=acc", folder, &sas).is_ok());
    for (url, why) in [
        ("s3://hush@b?region=x", "user or a password"),
        ("s3://b?region=x&secret_key=hush", "is none of"),
        ("gs://b?token=hush", "is none of"),
        ("azblob://c?storage_account=a&storage_account=hush", "twice"),
        ("azblob://c", "AZURE_STORAGE_ACCOUNT"),
        ("postgres://ana:hush@h/d?sslinline=1", "the parameter sslinline"),
    ] {
        let error = open(url, folder, &keys).unwrap_err();
        let text = format!("{error} {error:?}");
        assert!(text.contains(why) && !text.contains("hush"), "{text}");
    }
}

#[test]
fn a_project_file_does_not_decide_who_gets_credentials() {
    let context = context();
    let sas = ("AZURE_STORAGE_SAS_TOKEN", "sv=1&sig=hush");
    for (url, variables, name) in [
        ("s3://b?region=x&endpoint=http://evil.example", vec![], "`endpoint`"),
        ("s3://b?region=x&profile=prod", vec![], "`profile`"),
        ("s3://b?region=x&role=arn", vec![], "`role`"),
        ("gs://b?universe_domain=evil.example", vec![], "`universe_domain`"),
        ("azblob://c?storage_account=acc&domain=evil.example", vec![], "`domain`"),
        ("azblob://c?storage_account=evil", vec![sas], "`storage_account`"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("Pulumi.yaml"), format!("name: a\nbackend:\n  url: {url}\n"))
            .unwrap();
        let variable = |name: &str| {
            variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
        };
        let project = Project::find(folder.path()).unwrap();
        let home = PulumiHome::of(&variable);
        let with = OpenContext { context: &context, variable: &variable, directory: folder.path() };
        let choose = |trusts| {
            let chosen =
                ChosenBackend::of_directory(folder.path(), project.as_ref(), &home, trusts, &variable);
            chosen.unwrap().bucket().unwrap()
        };
        let error = choose(false).open(with).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("--trust-directory"), "{error}");
        if let Err(error) = choose(true).open(with) {
            assert!(!error.to_string().contains("--trust-directory"), "{error}");
        }
    }
}
