//! Runs the command as users do.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "helpers of tests fail by panicking"
)]

mod backend_blocks;
mod backups;
mod check;
mod compressed;
mod consent;
mod diagnostics;
mod diff;
mod encryption;
mod encryption_targets;
#[cfg(unix)]
mod encryption_variables;
mod examples;
mod fixtures;
mod foreign;
mod graph;
mod help;
mod hostile;
mod interop;
mod interrupted;
mod journal;
mod json;
mod list;
mod lock_end;
mod lock_hints;
mod lock_stacks;
mod lock_trust;
mod locks;
mod log;
mod log_secrets;
mod migrate;
mod named_commands;
mod odd_files;
mod order;
mod order_campaign;
mod order_plan;
mod order_pulumi;
mod outputs;
mod overwrite;
mod pulumi;
mod pulumi_broken;
mod pulumi_changes;
mod readme;
mod recover;
mod remote;
mod remote_http;
mod remote_workspaces;
mod repair_states;
mod replace;
mod schemas;
mod secrets_provider;
#[cfg(feature = "server")]
mod serve;
#[cfg(feature = "server")]
mod serve_auth;
#[cfg(feature = "server")]
mod serve_encryption;
#[cfg(all(feature = "server", unix))]
mod serve_flood;
#[cfg(all(feature = "server", feature = "postgres"))]
mod serve_nodes;
#[cfg(feature = "server")]
mod serve_pulumi;
#[cfg(feature = "server")]
mod serve_secrets;
mod serve_terraform;
mod service_hostile;
mod service_moves;
mod service_stacks;
mod show;
mod sources;
mod stack_history;
mod stack_move;
mod stack_project;
mod stack_recover;
mod stack_secrets;
mod stacks;
mod stacks_locks;
mod stacks_moves;
mod stacks_verbs;
#[cfg(feature = "server")]
mod store;
#[cfg(feature = "server")]
mod store_places;
mod support;
mod surgery;
#[cfg(target_os = "linux")]
mod terminal;
mod terraform;
mod terraform_surgery;
#[cfg(feature = "server")]
mod token;
mod transfer;
mod undo_pairs;
mod upgrade;
mod version;
mod workspaces;
