//! What the refusals of Google Cloud Storage mean, and what to change.

use groundstate_blobs::{ErrorKind, Op};

use super::credentials::NO_CREDENTIALS;
use crate::cloud::{Effect, Failure, Meaning};

fn permission(op: Op) -> &'static str {
    match op {
        Op::Read | Op::LookAt => "storage.objects.get",
        Op::Write => "storage.objects.create, and storage.objects.delete to replace",
        Op::Delete => "storage.objects.delete",
        Op::List => "storage.objects.list",
        _ => "what this call needs",
    }
}

pub(super) fn classify(failure: &Failure, op: Op, bucket: &str, effect: Effect) -> Meaning {
    match (failure.code.as_str(), failure.status) {
        ("NoSuchBucket", _) => Meaning::no_container("bucket", bucket, "bucket"),
        ("RequestTimeTooSkewed", _) => Meaning::clock_skew(failure.date.as_deref()),
        (_, 401) => Meaning::new(
            ErrorKind::Unauthenticated,
            "the service does not accept the credentials, or they have expired",
            format!("get a new `access_token` (GOOGLE_OAUTH_ACCESS_TOKEN), or {NO_CREDENTIALS}"),
        ),
        ("ResourceNotEncryptedWithCustomerEncryptionKey", _) => Meaning::new(
            ErrorKind::Invalid,
            "it is not encrypted with a key of yours",
            "unset the option `encryption_key` or the variable GOOGLE_ENCRYPTION_KEY",
        ),
        ("ResourceIsEncryptedWithCustomerEncryptionKey" | "CustomerEncryptionKeyIsIncorrect", _) => {
            Meaning::new(
                ErrorKind::Invalid,
                "it is encrypted with another key",
                "set the option `encryption_key` or the variable GOOGLE_ENCRYPTION_KEY to that key",
            )
        }
        (_, 403) => Meaning::new(
            ErrorKind::Denied,
            "permission was denied",
            format!(
                "allow these credentials {}, and the service the use of the key if one is set",
                permission(op)
            ),
        ),
        // Another client's write or deletion was under way. This one was not carried out.
        (_, 409) => Meaning::plain(ErrorKind::Unavailable),
        // Conditions of generations are the only ones that are sent.
        (_, 412) => Meaning::plain(ErrorKind::PreconditionFailed),
        _ => failure.general(effect),
    }
}
