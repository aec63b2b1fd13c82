//! The real pulumi and this library on the same stacks, in every place in which Pulumi keeps them.

mod formats;
mod locks;
mod meeting;
mod moves;
mod names;
mod updates;
mod upgrades;

use groundstate_pulumi_backends::pulumi_diy::pulumi_snapshot::{Snapshot, Urn};
use groundstate_pulumi_backends::pulumi_diy::{Backend, Options, Stack};
use groundstate_pulumi_integrity::{Flag, set_flag};
use groundstate_testkit::PulumiPlace;

use crate::support;

/// Runs a test in every place, if there are a pulumi and a server for it.
macro_rules! in_each_place {
    ($($scenario:ident)*) => {
        $(
            mod $scenario {
                use groundstate_testkit::{PulumiPlace, pulumi_takes_part};

                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn in_a_directory() {
                    let folder = tempfile::tempdir().unwrap();
                    if pulumi_takes_part() {
                        super::$scenario(&PulumiPlace::folder(folder.path())).await;
                    }
                }

                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn in_s3() {
                    if pulumi_takes_part() {
                        super::$scenario(&PulumiPlace::s3()).await;
                    }
                }

                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn in_google_cloud_storage() {
                    if pulumi_takes_part() {
                        super::$scenario(&PulumiPlace::gs()).await;
                    }
                }

                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn in_azure() {
                    if pulumi_takes_part() {
                        super::$scenario(&PulumiPlace::azblob()).await;
                    }
                }

                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn in_postgresql() {
                    if pulumi_takes_part()
                        && let Some(place) = PulumiPlace::postgres()
                    {
                        super::$scenario(&place).await;
                    }
                }
            }
        )*
    };
}
pub(crate) use in_each_place;

/// This library in a place.
async fn ours(place: &PulumiPlace) -> Backend {
    ours_with(place, Options::default()).await
}

/// The same with options.
async fn ours_with(place: &PulumiPlace, options: Options) -> Backend {
    let opened = support::store(place.url(), place.environment()).await;
    assert_eq!(opened.notes, [""; 0], "pulumi takes every parameter");
    support::backend(opened.store, options).await
}

/// What a stack has, which pulumi or this library has written.
async fn snapshot(stack: &Stack) -> Snapshot {
    let read = stack.read().await.unwrap().unwrap();
    assert_eq!(read.warnings, []);
    read.decode().unwrap().snapshot.unwrap()
}

/// What the program of the tests leaves: the stack's own resource, the provider, and its two resources.
const NAMES: [&str; 4] = ["shop-dev", "default", "first", "second"];

/// The names of resources in their order.
async fn names(stack: &Stack) -> Vec<String> {
    snapshot(stack).await.resources.iter().map(|one| one.urn.name().to_owned()).collect()
}

/// The names of those that are protected.
async fn protected(stack: &Stack) -> Vec<String> {
    let snapshot = snapshot(stack).await;
    let protected = snapshot.resources.iter().filter(|one| one.protect);
    protected.map(|one| one.urn.name().to_owned()).collect()
}

/// Sets or removes the protection of a resource of the tests' program. Pulumi does not mind it until it is to delete the resource.
async fn protect(stack: &Stack, name: &str, protect: bool) {
    support::edit(stack, |snapshot| {
        let urn: Urn = snapshot.resources.iter().find(|one| one.urn.name() == name).unwrap().urn.clone();
        assert_eq!(set_flag(snapshot, [&urn], Flag::Protect(protect)), Ok(1));
    })
    .await;
}
