//! What the refusals of S3 mean, and what to change.

use groundstate_blobs::{ErrorKind, Op};

use super::address::BucketAddress;
use super::credentials::NO_CREDENTIALS;
use crate::cloud::{Effect, Failure, Meaning};

/// The permission that an operation needs.
fn permission(op: Op) -> &'static str {
    match op {
        Op::Read | Op::LookAt => {
            "s3:GetObject (and s3:ListBucket, without which a missing object looks like a forbidden one)"
        }
        Op::Write => "s3:PutObject",
        Op::Delete => "s3:DeleteObject",
        Op::List => "s3:ListBucket",
        _ => "what this call needs",
    }
}

pub(super) fn classify(failure: &Failure, op: Op, place: &BucketAddress, effect: Effect) -> Meaning {
    let elsewhere = failure.region.as_deref().filter(|region| *region != place.services.region);
    match (failure.code.as_str(), failure.status) {
        ("NoSuchBucket", _) => Meaning::no_container("bucket", &place.bucket, "bucket"),
        ("RequestTimeTooSkewed" | "RequestExpired", _) => Meaning::clock_skew(failure.date.as_deref()),
        ("InvalidAccessKeyId" | "UnrecognizedClientException", _) => Meaning::new(
            ErrorKind::Unauthenticated,
            "the service does not know the access key",
            format!("correct it: {NO_CREDENTIALS}"),
        ),
        ("SignatureDoesNotMatch" | "InvalidSignatureException", _) => Meaning::new(
            ErrorKind::Unauthenticated,
            "the secret key is wrong",
            "correct `secret_key` or AWS_SECRET_ACCESS_KEY",
        ),
        ("ExpiredToken" | "ExpiredTokenException" | "TokenRefreshRequired" | "InvalidToken", _) => {
            Meaning::new(
                ErrorKind::Unauthenticated,
                "the credentials have expired",
                "get new ones: `token` or AWS_SESSION_TOKEN and the keys beside it",
            )
        }
        ("PermanentRedirect" | "AuthorizationHeaderMalformed" | "IllegalLocationConstraintException", _)
        | (_, 301) => wrong_region(place, elsewhere),
        // A HEAD has no body to say more in.
        (_, 307 | 400) if elsewhere.is_some() => wrong_region(place, elsewhere),
        ("AccessDenied" | "AccessDeniedException" | "AllAccessDisabled" | "", 403) => Meaning::new(
            ErrorKind::Denied,
            "permission was denied",
            format!(
                "allow these credentials {}, and the use of the key if the bucket is encrypted",
                permission(op)
            ),
        ),
        ("NotImplemented", 501) if effect == Effect::Change => Meaning::new(
            ErrorKind::Unsupported,
            "the server knows no conditional requests",
            "set the option `conditional_write` to off if you can do without, and lock by a table",
        ),
        // Another client's write or deletion was under way. This one was not carried out.
        ("ConditionalRequestConflict" | "OperationAborted", _) => Meaning::plain(ErrorKind::Unavailable),
        ("SlowDown" | "Throttling" | "ThrottlingException" | "RequestLimitExceeded", _)
            if effect == Effect::Read =>
        {
            Meaning::plain(ErrorKind::Throttled)
        }
        ("BadDigest" | "XAmzContentSHA256Mismatch" | "InvalidDigest" | "XAmzContentChecksumMismatch", _) => {
            Meaning::new(
                ErrorKind::Corrupt,
                "the body was damaged on its way, and nothing was stored",
                "try again",
            )
        }
        _ => failure.general(effect),
    }
}

fn wrong_region(place: &BucketAddress, region: Option<&str>) -> Meaning {
    let why = format!("the bucket {} is not in the region {}", place.bucket, place.services.region);
    let step = match region {
        Some(region) => format!("set the option `region` or the variable AWS_REGION to {region}"),
        None => "set the option `region` or the variable AWS_REGION to the bucket's".to_owned(),
    };
    Meaning::new(ErrorKind::WrongRegion, why, step)
}
