use seaway_engine::core::{CheckpointRejected, LoadError, Loader};
use seaway_kernel::Command;
use seaway_model::{Digest, Outcome, Seq, Span};
use seaway_wire::ChainBreak;

use crate::disk::{Desk, Disk};
use crate::requests::{name, trigger, yard};

/// A log with deployments that finished, failed, were retried, and are under way.
fn busy() -> Desk {
    let mut desk = Desk::new();
    for number in 1..=6 {
        let step = desk.start(number);
        match number % 3 {
            0 => desk.work(step, Outcome::Fail),
            1 => {
                desk.work(step, Outcome::Pass);
                let check = desk.offers.pop().expect("the second task is offered");
                desk.work(check, Outcome::Pass);
            }
            _ => {}
        }
        if number == 3 {
            desk.send(Command::Retry { step, data: None }).expect("a failed step can be retried");
            desk.offers.clear();
        }
    }
    desk
}

#[test]
fn the_state_after_a_load_is_the_state_before_it() {
    let desk = busy();
    assert_eq!(desk.disk.load().kernel().digest(), desk.writer.kernel().digest());
}

#[test]
fn a_load_from_any_checkpoint_gives_the_same_state() {
    let desk = busy();
    let digest = desk.writer.kernel().digest();
    for cut in 0..desk.disk.rows.len() {
        let mut part = desk.disk.clone();
        part.rows.truncate(cut);
        let Ok(replay) = part.replay(part.loader()) else { panic!("the log is sound") };
        let checkpoint = replay.checkpoint();
        assert_eq!(checkpoint.seq, Seq(cut as u64));
        let replay = desk.disk.replay(desk.disk.loader_from(&checkpoint));
        assert_eq!(replay.expect("sound").checkpoint().state_digest, digest, "cut at {cut}");
    }
}

/// A stop lets nothing run out, and otherwise costs a log no time.
#[test]
fn a_log_goes_on_with_the_time_of_day_unless_something_waits_for_a_time() {
    let mut desk = Desk::new();
    desk.send(yard()).expect("it is sound");
    let replay = |desk: &Desk| desk.disk.replay(desk.disk.loader()).expect("sound");
    let idle = replay(&desk);
    let (before, later) = (idle.time() + Span(-9), idle.time() + Span(9));
    assert_eq!(idle.resumes_at(later), later);
    assert_eq!(idle.resumes_at(before), idle.time());
    // Nobody does its task, and it is not waited for very long.
    desk.send(trigger(1)).expect("the sequence is there");
    let busy = replay(&desk);
    assert_eq!(busy.resumes_at(later), busy.time());
}

#[test]
fn a_record_that_was_changed_is_named() {
    let mut disk = busy().disk;
    disk.rows[4].by = "mallory".into();
    let error = disk.replay(disk.loader()).expect_err("the chain is broken");
    assert!(
        matches!(error, LoadError::Chain(ChainBreak::Changed { seq: Seq(5), .. })),
        "{error:?}"
    );
}

#[test]
fn records_that_are_missing_are_noticed() {
    let disk = busy().disk;
    let mut gap = disk.clone();
    gap.rows.remove(6);
    let error = gap.replay(gap.loader()).expect_err("a record is missing");
    assert!(matches!(error, LoadError::Chain(ChainBreak::Gap { expected: Seq(7), .. })));

    let mut short = disk.clone();
    short.rows.pop();
    let end = Loader::from_start(&name("shop"), disk.end());
    let error = short.replay(end).expect_err("the last record is missing");
    assert!(matches!(error, LoadError::Truncated { .. }));
}

#[test]
fn a_checkpoint_that_disagrees_is_rejected() {
    let disk = busy().disk;
    let good = disk.replay(disk.loader()).expect("sound").checkpoint();
    let open = |disk: &Disk, checkpoint: &seaway_store::Checkpoint| {
        let mut loader = Loader::from_checkpoint(&name("shop"), disk.end(), checkpoint)?;
        for target in &disk.targets {
            loader.define(&target.def).expect("targets are in order");
        }
        loader.replay().map(drop)
    };
    open(&disk, &good).expect("it was just made");

    let mut other_state = good.clone();
    other_state.state_digest = Digest([7; 32]);
    let rejected = open(&disk, &other_state);
    assert!(matches!(rejected, Err(CheckpointRejected::Disagrees { .. })), "{rejected:?}");

    for bit in 0..good.bytes.len() * 8 {
        let mut damaged = good.clone();
        damaged.bytes[bit / 8] ^= 1 << (bit % 8);
        let rejected = open(&disk, &damaged);
        assert!(matches!(rejected, Err(CheckpointRejected::Damaged { .. })), "{rejected:?}");
    }

    let mut other_log = good.clone();
    other_log.hash = Digest([7; 32]);
    let rejected = open(&disk, &other_log);
    assert!(matches!(rejected, Err(CheckpointRejected::OtherLog { .. })), "{rejected:?}");
}
