//! Events alone, as fast as the server takes them in, beside a server that only keeps their bytes.

mod cases;
mod flood;
mod keeper;

pub(crate) use cases::run;
pub(crate) use flood::{Flood, flood};
pub(crate) use keeper::keeper;
