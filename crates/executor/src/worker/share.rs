/// The most tasks that one claim may ask for.
const MOST: usize = 100;
/// How long a claim waits for tasks.
const PATIENT: u32 = 30;
const CONTESTED: u32 = 2;

/// How many places of the worker the claims of one project take while they wait for tasks.
///
/// Who is alone takes all that is free. Beside others a project begins with one place and doubles
/// it as long as its claims come back full, so that a quiet project keeps nobody waiting.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    next: usize,
}

impl Share {
    pub(super) fn new() -> Self {
        Self { next: 1 }
    }

    /// How many tasks to ask for, of `free` places that could be had.
    pub(super) fn ask(self, free: usize, projects: usize) -> usize {
        let wanted = if projects > 1 { self.next } else { free };
        wanted.clamp(1, free.clamp(1, MOST))
    }

    pub(super) fn came(&mut self, asked: usize, got: usize) {
        self.next = if got >= asked { (asked * 2).min(MOST) } else { got.max(1) };
    }
}

/// How many seconds to wait for tasks: not for long with the last place that others need, too.
pub(super) fn patience(left: usize, projects: usize) -> u32 {
    if projects > 1 && left == 0 { CONTESTED } else { PATIENT }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_that_is_alone_takes_all_that_is_free() {
        let share = Share::new();
        assert_eq!((share.ask(8, 1), share.ask(500, 1)), (8, 100));
        assert_eq!(patience(0, 1), 30);
    }

    #[test]
    fn beside_others_a_busy_project_grows_and_a_quiet_one_holds_one_place() {
        let mut share = Share::new();
        let mut asked = Vec::new();
        for _ in 0..4 {
            let ask = share.ask(6, 2);
            asked.push(ask);
            share.came(ask, ask);
        }
        assert_eq!(asked, [1, 2, 4, 6]);
        share.came(6, 0);
        assert_eq!(share.ask(6, 2), 1);
        assert_eq!((patience(0, 2), patience(3, 2)), (2, 30));
    }
}
