//! What the refusals of Azure mean, and what to change.

use groundstate_blobs::ErrorKind;

use super::credentials::NO_CREDENTIALS;
use crate::cloud::{Effect, Failure, Meaning};

/// Conflicts with what is stored or configured, which another attempt meets again.
const LASTING_CONFLICTS: [&str; 11] = [
    "BlobArchived",
    "BlobImmutableDueToPolicy",
    "BlobOverwritten",
    "CopyIdMismatch",
    "FeatureVersionMismatch",
    "InvalidBlobType",
    "ResourceAlreadyExists",
    "ResourceTypeMismatch",
    "SnapshotCountExceeded",
    "SnapshotOperationRateExceeded",
    "UnauthorizedBlobOverwrite",
];

pub(super) fn classify(failure: &Failure, container: &str, effect: Effect) -> Meaning {
    match (failure.code.as_str(), failure.status) {
        ("ContainerNotFound", _) => Meaning::no_container("container", container, "container_name"),
        ("LeaseIdMissing", _) => Meaning::plain(ErrorKind::LeaseHeld),
        ("LeaseAlreadyPresent" | "LeaseIsBreakingAndCannotBeAcquired", _) => {
            Meaning::plain(ErrorKind::LeaseHeld)
        }
        (code, 409 | 412) if code.starts_with("Lease") => Meaning::plain(ErrorKind::LeaseLost),
        ("BlobAlreadyExists" | "ConditionNotMet" | "TargetConditionNotMet", 409 | 412) => {
            Meaning::plain(ErrorKind::PreconditionFailed)
        }
        ("ContainerBeingDeleted", _) => Meaning::new(
            ErrorKind::NotFound,
            format!("the container {container} is being deleted"),
            "wait until it is gone and create it, or correct the option `container_name`",
        ),
        ("SnapshotsPresent", _) => Meaning::new(ErrorKind::Invalid, "it has snapshots", "delete those first"),
        ("AuthenticationFailed" | "InvalidAuthenticationInfo", _) if failure.is_about_dates() => {
            Meaning::clock_skew(failure.date.as_deref())
        }
        ("AuthenticationFailed" | "InvalidAuthenticationInfo" | "NoAuthenticationInformation", _)
        | (_, 401) => Meaning::new(
            ErrorKind::Unauthenticated,
            "the service does not accept the credentials, or they have expired",
            format!("correct them: {NO_CREDENTIALS}"),
        ),
        ("KeyBasedAuthenticationNotPermitted", _) => Meaning::new(
            ErrorKind::Denied,
            "the account does not permit keys",
            "unset `access_key` and ARM_ACCESS_KEY, and set `use_azuread_auth` or ARM_USE_AZUREAD",
        ),
        (_, 403) => Meaning::new(
            ErrorKind::Denied,
            "permission was denied",
            "give the identity the role Storage Blob Data Contributor, or the signature the permissions racwdl, and let the network in",
        ),
        ("BlobNotFound" | "ResourceNotFound", _) => Meaning::plain(ErrorKind::NotFound),
        // Another client's operation was under way. This one was not carried out.
        (code, 409) if !LASTING_CONFLICTS.contains(&code) => Meaning::plain(ErrorKind::Unavailable),
        _ => failure.general(effect),
    }
}
