//! Servers in front of others: one that makes faults, one that leads tunnels astray, and one that takes several in turn.

mod connect;
mod faulty;
mod round_robin;

pub use connect::ConnectProxy;
pub use faulty::FaultProxy;
pub use round_robin::RoundRobin;
