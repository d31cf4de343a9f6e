use std::collections::BTreeSet;
use std::path::PathBuf;

use super::census::{Census, Process};

/// What is known of a command that runs.
#[derive(Clone, Debug)]
pub(super) struct Kin {
    /// The process that was started, which leads a group of its own.
    pub(super) root: i32,
    /// What the environment of all its processes says, unless they change it.
    pub(super) mark: PathBuf,
    /// Processes that belonged to it before, by pid and birth.
    pub(super) known: BTreeSet<(i32, u64)>,
}

/// Processes that nobody can be told to own: who could be asked for them.
#[derive(Clone, Debug, Default)]
pub(super) struct Suspects {
    /// When the first command of all was started. What is older came from somewhere else.
    pub(super) first: u64,
    /// When each of the other commands that still run was started.
    pub(super) others: Vec<u64>,
}

/// The processes of a command: its group, what is below it, and what has left both.
pub(super) fn belonging<'c>(
    census: &'c Census,
    kin: &Kin,
    suspects: &Suspects,
) -> Vec<&'c Process> {
    let me = &census.me;
    let sure = |it: &Process| {
        it.pid == kin.root
            || it.group == kin.root
            || kin.known.contains(&(it.pid, it.born))
            || it.mark.as_ref() == Some(&kin.mark)
    };
    let stray = |it: &Process| {
        // What somebody else in this process starts stays in its session.
        it.parent == me.pid
            && it.session != me.session
            && it.mark.is_none()
            && it.born >= suspects.first
            && suspects.others.iter().all(|other| *other > it.born)
    };
    let (mut found, mut rest): (Vec<&Process>, Vec<&Process>) =
        census.below.iter().partition(|it| sure(it) || stray(it));
    loop {
        let related = |it: &&Process| {
            found.iter().any(|kin| {
                let session = it.session == kin.session && it.session != me.session;
                let group = it.group == kin.group && it.group != me.group;
                it.parent == kin.pid || session || group
            })
        };
        let (more, others): (Vec<&Process>, Vec<&Process>) = rest.into_iter().partition(related);
        if more.is_empty() {
            return found;
        }
        found.extend(more);
        rest = others;
    }
}

#[cfg(test)]
mod tests {
    use super::super::census::Life;
    use super::*;

    const ME: i32 = 100;

    fn process((pid, parent): (i32, i32), (group, session): (i32, i32), born: u64) -> Process {
        Process { pid, parent, group, session, born, life: Life::Alive, mark: None }
    }

    fn found(below: Vec<Process>, kin: &Kin, suspects: &Suspects) -> Vec<i32> {
        let census = Census { me: process((ME, 1), (ME, 50), 10), below };
        let mut pids: Vec<i32> =
            belonging(&census, kin, suspects).iter().map(|it| it.pid).collect();
        pids.sort_unstable();
        pids
    }

    fn kin(root: i32) -> Kin {
        Kin { root, mark: PathBuf::from(format!("/tmp/{root}/message")), known: BTreeSet::new() }
    }

    #[test]
    fn whoever_left_the_group_is_found_by_descent_session_and_mark() {
        let marked = Process { mark: Some(kin(200).mark), ..process((230, ME), (230, 50), 24) };
        let other = Process { mark: Some(kin(300).mark), ..process((310, ME), (310, 310), 25) };
        let below = vec![
            process((200, ME), (200, 50), 20),
            process((201, 200), (200, 50), 21),
            process((210, 201), (210, 210), 22),
            process((211, ME), (210, 210), 23),
            marked,
            process((231, 230), (231, 231), 26),
            process((300, ME), (300, 50), 20),
            other,
            process((400, ME), (ME, 50), 30),
        ];
        let suspects = Suspects { first: 20, others: vec![20] };
        assert_eq!(found(below, &kin(200), &suspects), [200, 201, 210, 211, 230, 231]);
    }

    #[test]
    fn a_stray_belongs_to_the_last_command_that_could_have_started_it() {
        let below =
            || vec![process((500, ME), (500, 500), 30), process((501, 500), (501, 501), 31)];
        let stray = |first, others: &[u64]| {
            found(below(), &kin(200), &Suspects { first, others: others.to_vec() })
        };
        assert_eq!(stray(20, &[]), [500, 501]);
        assert_eq!(stray(20, &[40]), [500, 501], "the other one is younger than the stray");
        assert_eq!(stray(20, &[25]), [0; 0], "it may be the child of the other one");
        assert_eq!(stray(40, &[]), [0; 0], "it was there before any command");
    }

    #[test]
    fn a_pid_that_is_used_again_is_somebody_else() {
        let mut kin = kin(200);
        kin.known.insert((600, 22));
        let below = |born| vec![process((600, ME), (ME, 50), born)];
        let suspects = Suspects { first: 20, others: Vec::new() };
        assert_eq!(found(below(22), &kin, &suspects), [600]);
        assert_eq!(found(below(23), &kin, &suspects), [0; 0]);
    }
}
