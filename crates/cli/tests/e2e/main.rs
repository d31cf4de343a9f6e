//! One path per user story, on the real binary: servers, workers and executors are processes.

mod delivery;
mod harbor;
mod mistakes;
mod order;
mod page;
mod python;
mod replicas;
mod restart;
mod tls;
