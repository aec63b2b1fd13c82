//! Pulumi's service protocol.

mod appends;
mod automation;
mod basics;
mod bodies;
mod bucket_providers;
mod buckets;
mod calls;
mod checkpoints;
mod dying;
mod events;
mod faults;
mod hostile;
mod interrupted;
mod journal;
mod leases;
mod locks;
mod real;
mod real_buckets;
mod requests;
mod roles;
mod secrets;
mod service;
mod stacks;
mod updates;
mod versions;
mod views;
