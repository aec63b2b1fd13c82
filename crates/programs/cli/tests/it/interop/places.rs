//! The places of the scenarios, by the names of their tests; nothing where they cannot be had.

use groundstate_testkit::{S3Locks, TestBackend, terraform_takes_part};

pub(super) fn local() -> Option<TestBackend> {
    terraform_takes_part().then(TestBackend::local)
}

pub(super) fn s3_lockfile() -> Option<TestBackend> {
    terraform_takes_part().then(|| TestBackend::s3(S3Locks::File))
}

pub(super) fn s3_dynamodb() -> Option<TestBackend> {
    terraform_takes_part().then(|| TestBackend::s3(S3Locks::Table))
}

pub(super) fn s3_both() -> Option<TestBackend> {
    terraform_takes_part().then(|| TestBackend::s3(S3Locks::Both))
}

pub(super) fn gcs() -> Option<TestBackend> {
    terraform_takes_part().then(TestBackend::gcs)
}

pub(super) fn azurerm() -> Option<TestBackend> {
    terraform_takes_part().then(TestBackend::azurerm)
}

pub(super) fn pg() -> Option<TestBackend> {
    terraform_takes_part().then(TestBackend::pg).flatten()
}

pub(super) fn http() -> Option<TestBackend> {
    terraform_takes_part().then(TestBackend::http_here)
}
