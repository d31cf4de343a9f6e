use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::time::{Instant, sleep};

use super::family::Family;

/// How long a process may take to end after it was killed. One that hangs in the kernel does not.
const AFTER_KILL: Duration = Duration::from_secs(10);
/// So often nobody has to be seen until nobody is left.
const QUIET: u32 = 2;
const SHORTEST: Duration = Duration::from_millis(5);
const LONGEST: Duration = Duration::from_millis(100);

/// Ends all processes of a command: asks them to, and kills them when the grace period is over.
/// Returns how many could not be ended.
pub(crate) async fn end(mut family: Family, grace: Duration) -> usize {
    let begun = Instant::now();
    let mut asked = false;
    let mut wait = SHORTEST;
    let mut quiet = 0;
    loop {
        let remaining;
        (family, remaining) = family.swept().await;
        let alive = remaining.alive;
        let passed = begun.elapsed();
        let given_up = passed >= grace.saturating_add(AFTER_KILL);
        // One look takes a while, in which a process can start another one and end unseen.
        quiet = if alive.is_empty() && remaining.dead == 0 { quiet + 1 } else { 0 };
        if quiet == QUIET || given_up {
            family.is_over();
            return alive.len();
        }
        if quiet > 0 {
            continue;
        }
        if passed >= grace {
            family.signal(Signal::SIGKILL, &alive);
        } else if !asked {
            // Only once: what is started to clean up is to have its time, too.
            family.signal(Signal::SIGTERM, &alive);
            asked = true;
        }
        sleep(wait.min(grace.saturating_sub(passed).max(SHORTEST))).await;
        wait = (wait * 2).min(LONGEST);
    }
}
