//! The places of the scenarios, by the names of their tests; nothing where they cannot be had.

use groundstate_testkit::{Place, S3Locks, terraform_takes_part};

pub(super) fn local() -> Option<Place> {
    terraform_takes_part().then(Place::local)
}

pub(super) fn s3_lockfile() -> Option<Place> {
    terraform_takes_part().then(|| Place::s3(S3Locks::File))
}

pub(super) fn s3_dynamodb() -> Option<Place> {
    terraform_takes_part().then(|| Place::s3(S3Locks::Table))
}

pub(super) fn s3_both() -> Option<Place> {
    terraform_takes_part().then(|| Place::s3(S3Locks::Both))
}

pub(super) fn gcs() -> Option<Place> {
    terraform_takes_part().then(Place::gcs)
}

pub(super) fn azurerm() -> Option<Place> {
    terraform_takes_part().then(Place::azurerm)
}
