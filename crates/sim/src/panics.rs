use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::RefCell;

thread_local! {
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps panics off the terminal: a world that panics is reported like any other that failed.
pub fn quiet() {
    std::panic::set_hook(Box::new(|panic| {
        let payload = panic.payload();
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        // Where it came from is captured only when RUST_BACKTRACE asks for it.
        let mut shown = format!("{} at {place}", text.unwrap_or_default());
        let trace = Backtrace::capture();
        if trace.status() == BacktraceStatus::Captured {
            shown.push_str(&format!("\n{trace}"));
        }
        LAST.set(shown);
    }));
}

/// What the last panic of this thread said.
pub(crate) fn last() -> String {
    LAST.with_borrow(Clone::clone)
}
