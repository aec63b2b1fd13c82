//! What each refusal of a service means for a read and for a write, and how it is said.

use std::time::Duration;

use groundstate_blobs::{BlobStore, Error, ErrorKind, GetOptions, Key, PutOptions};
use groundstate_blobs_cloud::{AzureBlobs, GcsBlobs, S3Blobs};
use groundstate_testkit::{Answer, Recorder};

use crate::context::context;
use crate::{azure, gcs, s3};

use ErrorKind::{
    Ambiguous, Corrupt, Denied, Invalid, LeaseHeld, LeaseLost, NotFound, PreconditionFailed, Throttled,
    Unauthenticated, Unavailable, Unsupported, WrongRegion,
};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Status and code, the kinds for a read and a write, and the reason of the write with the next step.
type Case = (u16, &'static str, ErrorKind, ErrorKind, &'static str);

fn refusal(status: u16, code: &str) -> Answer {
    let body = format!("<Error><Code>{code}</Code><Message>it was said\nhush</Message></Error>");
    Answer::new(status).body(body)
}

/// The errors of a read and of a write.
async fn errors(store: &dyn BlobStore) -> Result<[Error; 2], Box<dyn std::error::Error>> {
    let key = Key::parse("k")?;
    let read = store.get(&key, &GetOptions::default()).await.err().ok_or("the read succeeded")?;
    let write =
        store.put(&key, "1".into(), &PutOptions::default()).await.err().ok_or("the write succeeded")?;
    Ok([read, write])
}

async fn check(
    cases: &[Case],
    open: impl Fn(&str) -> groundstate_blobs::Result<Box<dyn BlobStore>>,
) -> Outcome {
    for &(status, code, of_read, of_write, reason) in cases {
        let server = Recorder::start(refusal(status, code));
        let store = open(&server.endpoint())?;
        let [read, write] = errors(&*store).await?;
        assert_eq!((read.kind(), write.kind()), (of_read, of_write), "{status} {code}: {read}; {write}");
        assert_eq!(write.to_string(), format!("cannot write {store}/k: {reason}"), "{status} {code}");
        for error in [read, write] {
            assert!(
                !format!("{error} {error:?}").contains("hush"),
                "only the first line is shown: {error:?}"
            );
        }
    }
    Ok(())
}

const LOST: &str = "the answer was lost, so the operation may or may not have been carried out";

#[tokio::test]
async fn s3_says_what_a_refusal_means() -> Outcome {
    let cases: [Case; 15] = [
        (
            403,
            "AccessDenied",
            Denied,
            Denied,
            "permission was denied; allow these credentials s3:PutObject, and the use of the key if the bucket is encrypted",
        ),
        (
            403,
            "SignatureDoesNotMatch",
            Unauthenticated,
            Unauthenticated,
            "the secret key is wrong; correct `secret_key` or AWS_SECRET_ACCESS_KEY",
        ),
        (
            400,
            "ExpiredToken",
            Unauthenticated,
            Unauthenticated,
            "the credentials have expired; get new ones: `token` or AWS_SESSION_TOKEN and the keys beside it",
        ),
        (
            400,
            "AuthorizationHeaderMalformed",
            WrongRegion,
            WrongRegion,
            "the bucket b is not in the region us-east-1; set the option `region` or the variable AWS_REGION to the bucket's",
        ),
        (
            404,
            "NoSuchBucket",
            NotFound,
            NotFound,
            "there is no bucket b; create it, or correct the option `bucket`",
        ),
        (409, "OperationAborted", Unavailable, Unavailable, "the service is not available"),
        (
            412,
            "PreconditionFailed",
            PreconditionFailed,
            PreconditionFailed,
            "something else is stored than was expected",
        ),
        (503, "SlowDown", Throttled, Ambiguous, LOST),
        (429, "TooManyRequests", Throttled, Ambiguous, LOST),
        (500, "InternalError", Unavailable, Ambiguous, LOST),
        (
            501,
            "NotImplemented",
            Unsupported,
            Unsupported,
            "the server knows no conditional requests; set the option `conditional_write` to off if you can do without, and lock by a table",
        ),
        (405, "MethodNotAllowed", Unsupported, Unsupported, "the store cannot do this"),
        (
            400,
            "BadDigest",
            Corrupt,
            Corrupt,
            "the body was damaged on its way, and nothing was stored; try again",
        ),
        (400, "EntityTooLarge", Invalid, Invalid, "the service says: it was said"),
        (
            302,
            "Found",
            Invalid,
            Invalid,
            "the service redirects to another address, and redirects are not followed; correct the address of the service, or the proxy before it",
        ),
    ];
    check(&cases, |endpoint| Ok(Box::new(S3Blobs::open(&s3::settings(endpoint, "b"), &context())?))).await
}

#[tokio::test]
async fn google_says_what_a_refusal_means() -> Outcome {
    let cases: [Case; 7] = [
        (
            404,
            "NoSuchBucket",
            NotFound,
            NotFound,
            "there is no bucket b; create it, or correct the option `bucket`",
        ),
        (
            403,
            "AccessDenied",
            Denied,
            Denied,
            "permission was denied; allow these credentials storage.objects.create, and storage.objects.delete to replace, and the service the use of the key if one is set",
        ),
        (
            400,
            "ResourceIsEncryptedWithCustomerEncryptionKey",
            Invalid,
            Invalid,
            "it is encrypted with another key; set the option `encryption_key` or the variable GOOGLE_ENCRYPTION_KEY to that key",
        ),
        (
            400,
            "ResourceNotEncryptedWithCustomerEncryptionKey",
            Invalid,
            Invalid,
            "it is not encrypted with a key of yours; unset the option `encryption_key` or the variable GOOGLE_ENCRYPTION_KEY",
        ),
        (
            412,
            "PreconditionFailed",
            PreconditionFailed,
            PreconditionFailed,
            "something else is stored than was expected",
        ),
        (409, "Conflict", Unavailable, Unavailable, "the service is not available"),
        (503, "ServiceUnavailable", Unavailable, Ambiguous, LOST),
    ];
    check(&cases, |endpoint| Ok(Box::new(GcsBlobs::open(&gcs::settings(endpoint, "b"))?))).await
}

#[tokio::test]
async fn azure_says_what_a_refusal_means() -> Outcome {
    let held = "another client holds a lease on it";
    let lost = "the lease is not in force any more";
    let cases: [Case; 12] = [
        (
            404,
            "ContainerNotFound",
            NotFound,
            NotFound,
            "there is no container b; create it, or correct the option `container_name`",
        ),
        (412, "LeaseIdMissing", LeaseHeld, LeaseHeld, held),
        (409, "LeaseAlreadyPresent", LeaseHeld, LeaseHeld, held),
        (409, "LeaseIsBreakingAndCannotBeAcquired", LeaseHeld, LeaseHeld, held),
        (412, "LeaseLost", LeaseLost, LeaseLost, lost),
        (409, "LeaseNotPresentWithBlobOperation", LeaseLost, LeaseLost, lost),
        (
            409,
            "ContainerBeingDeleted",
            NotFound,
            NotFound,
            "the container b is being deleted; wait until it is gone and create it, or correct the option `container_name`",
        ),
        (409, "OperationInProgress", Unavailable, Unavailable, "the service is not available"),
        (409, "BlobArchived", Invalid, Invalid, "the service says: it was said"),
        (409, "SnapshotsPresent", Invalid, Invalid, "it has snapshots; delete those first"),
        (
            403,
            "KeyBasedAuthenticationNotPermitted",
            Denied,
            Denied,
            "the account does not permit keys; unset `access_key` and ARM_ACCESS_KEY, and set `use_azuread_auth` or ARM_USE_AZUREAD",
        ),
        (503, "ServerBusy", Unavailable, Ambiguous, LOST),
    ];
    let open = |endpoint: &str| -> groundstate_blobs::Result<Box<dyn BlobStore>> {
        let account = format!("{endpoint}/devstoreaccount1");
        Ok(Box::new(AzureBlobs::open(&azure::settings(&account, azure::KEY, "b"))?))
    };
    check(&cases, open).await
}

#[tokio::test]
async fn a_service_that_asks_to_wait_is_quoted() -> Outcome {
    for (status, asks) in [(503, true), (429, true), (403, false)] {
        let server = Recorder::start(Answer::new(status).header("retry-after", "7"));
        let store = GcsBlobs::open(&gcs::settings(&server.endpoint(), "b"))?;
        let [read, _] = errors(&store).await?;
        assert_eq!(read.retry_after(), asks.then_some(Duration::from_secs(7)), "{status}");
        assert_eq!(read.to_string().ends_with("; the service asks to wait for 7 seconds"), asks, "{read}");
    }
    Ok(())
}

#[tokio::test]
async fn a_redirect_names_the_host_and_nothing_else_of_the_address() -> Outcome {
    let answer = Answer::new(302).header("location", "https://user:hush@other.example:8443/b/k?token=hush");
    let server = Recorder::start(answer);
    let store = GcsBlobs::open(&gcs::settings(&server.endpoint(), "b"))?;
    for error in errors(&store).await? {
        let text = error.to_string();
        assert!(
            text.contains("the service redirects to other.example, and redirects are not followed"),
            "{text}"
        );
        assert!(!format!("{text} {error:?}").contains("hush"), "{error:?}");
    }
    Ok(())
}
