/// Prints a line. Whoever read the output and went away has seen enough.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        if writeln!(std::io::stdout(), $($text)*).is_err() {
            std::process::exit(0);
        }
    }};
}

mod args;
mod hunt;
mod many;
mod one;
mod pool;

pub(crate) use args::Args;
