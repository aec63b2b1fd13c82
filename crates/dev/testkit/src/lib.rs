//! Servers on the loopback that answer as cloud storage services do, for tests.
//!
//! Each keeps its objects in memory, carries every request out as one step, logs it, and does wrong what it is told to.
//!
//! ```
//! use groundstate_testkit::{Fault, S3Server};
//!
//! let s3 = S3Server::start_blocking();
//! s3.create_bucket("states");
//! // The first client that takes a lock is told of an error, though it has the lock.
//! s3.fault(Fault::after_commit_500().on("PUT", "*.tflock").nth(1));
//! // ... let clients work on `s3.endpoint()` ...
//! assert_eq!(s3.count("PUT", "*.tflock"), 0);
//! ```
//!
//! [`S3Server`] is Amazon S3, and DynamoDB at the same address; [`GcsServer`] is Google Cloud Storage,
//! [`AzureServer`] is Azure Blob Storage, [`HttpStateServer`] is a backend of Terraform's type `http`,
//! [`GoogleKmsServer`] and [`KeyVaultServer`] are key services. All have what [`Server`] has: requests, traffic, faults.
//! [`FaultProxy`] puts the same in front of any other server; [`Recorder`] only records, [`TestIssuer`] issues tokens.
//! [`ConnectProxy`] and [`Authority`] are for clients that insist on a service's own address.
//!
//! [`TestBackend`] is a fresh place for states in such a server, or in one of others, with the settings of a `backend`
//! block. [`PulumiPlace`] is one for Pulumi stacks, and [`PulumiProject`] runs the real pulumi there. [`PgBouncer`] stands
//! between clients and a PostgreSQL server. [`Browser`] is a real Chromium for pages. [`RoundRobin`] stands before several
//! servers, and [`ask`] sends one request to any. [`Traced`] is what a test's own thread traces.
//!
//! # What it does not do
//!
//! Nothing is stored on disk, and nothing listens beyond the loopback. Limits of size and rate are not enforced, and
//! permissions only as far as a test forbids something.

mod asking;
mod azure;
mod backend;
mod browser;
mod certificate;
mod digest;
mod dynamodb;
mod fault;
mod gcs;
mod http;
mod http_state;
mod issuer;
mod keys;
mod log;
mod pattern;
mod pgbouncer;
mod proxy;
mod pulumi;
mod ran;
mod recorder;
mod s3;
mod store;
mod traced;
mod xml;

pub use asking::{Asked, ask, ask_into};
pub use azure::AzureServer;
pub use backend::{S3Locks, TestBackend, is_required, server_of_peer, terraform_takes_part};
pub use browser::{Browser, Page};
pub use certificate::{Authority, Certificate};
pub use fault::Fault;
pub use gcs::GcsServer;
pub use http::{Answer, Request, Server};
pub use http_state::{HttpFlaw, HttpStateServer};
pub use issuer::TestIssuer;
pub use keys::{GoogleKmsServer, KeyVaultServer, new_kms_key, new_transit_key, write_to_openbao};
pub use log::{Mark, Recorded, Traffic};
pub use pgbouncer::PgBouncer;
pub use proxy::{ConnectProxy, FaultProxy, RoundRobin};
#[cfg(unix)]
pub use pulumi::PulumiHolds;
pub use pulumi::{
    PulumiPlace, PulumiProject, pulumi_has_journals, pulumi_python_takes_part, pulumi_takes_part,
};
pub use ran::Ran;
pub use recorder::Recorder;
pub use s3::S3Server;
pub use store::Stored;
pub use traced::Traced;
