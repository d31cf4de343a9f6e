//! Which server is spoken to, as whom, and about which project.

mod args;
mod config;
mod place;
mod secret;
mod server;
mod settings;
mod surroundings;

pub(crate) use args::{ProjectArgs, ServerArgs};
pub(crate) use config::{Config, Context, ContextToken};
pub(crate) use place::ConfigFile;
pub(crate) use secret::Secret;
pub(crate) use server::Server;
