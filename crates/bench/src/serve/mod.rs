//! Sequences through the real server, worked on by an external executor over HTTP, beside a
//! skeleton that writes the same rows for the same requests and decides nothing.

mod cases;
mod echo;
mod load;
mod round;
mod rows;
mod skeleton;
pub(crate) mod work;

pub(crate) use cases::{program, run};
pub(crate) use echo::echo;
pub(crate) use load::{Load, apply, load};
pub(crate) use round::seaway;
pub(crate) use skeleton::skeleton;
