//! Plays a pipeline against a script of who answers what and when, on virtual time.
//!
//! Pure: texts in, a transcript out. The same kernel decides as in production, and nothing waits.

mod document;
mod play;
mod read;
mod tell;

pub use document::{
    Action, Answer, Answers, Conduct, Executor, Expectation, Named, Place, Ran, Scenario, Ship,
    Step, TaskAddress, Times, Verdict,
};
pub use play::{Ended, Held, MOST_RECORDS, Played, Stopped, Waits, Yards, play};
pub use read::parse;
pub use tell::{Grain, Line, Transcript, offset};
