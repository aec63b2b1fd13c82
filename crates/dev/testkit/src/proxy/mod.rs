//! Servers in front of others: one that makes faults, and one that leads tunnels astray.

mod connect;
mod faulty;

pub use connect::ConnectProxy;
pub use faulty::FaultProxy;
