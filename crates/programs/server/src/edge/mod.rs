//! Listeners, time limits, health and metrics: what stands between a socket and the [`router`](crate::router).
