mod args;
mod hunt;
mod many;
mod one;
mod pool;

pub(crate) use args::Args;
