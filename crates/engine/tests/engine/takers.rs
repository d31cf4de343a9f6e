//! Executors that wait for work, as the state machine serves them.

use seaway_engine::core::{AppendFailure, Ask, Limits, Obstacle, Overloaded, RequestError};
use seaway_kernel::{Command, Refusal, Reply, Taken};
use seaway_model::{Fact, Span, Timestamp};

use crate::quay::Quay;
use crate::requests::{by, deployment, executor, trigger};

fn quay() -> Quay {
    Quay::new(Limits::default())
}

fn numbers(tasks: Option<&[Taken]>) -> Option<Vec<u128>> {
    tasks.map(|tasks| tasks.iter().map(|it| it.step.deployment.0.as_u128()).collect())
}

#[test]
fn who_waits_gets_work_in_the_append_that_offers_it_and_not_before_it_is_durable() {
    let mut quay = quay();
    let waiting = quay.take(5, 4);
    assert!(quay.poll().is_none(), "waiting is not a record");
    quay.send(trigger(1));
    let append = quay.poll().expect("the deployment starts");
    let facts: Vec<Fact> = append.rows.iter().map(|row| row.fact).collect();
    assert!(facts.ends_with(&[Fact::Dispatched, Fact::Claimed]), "{facts:?}");
    assert_eq!(quay.answer(waiting), None);
    let last = append.rows.last().expect("it has rows").seq;
    quay.commit(append);
    let Some(Ok(Reply::Taken { at, tasks })) = quay.answer(waiting) else {
        panic!("{:?}", quay.answer(waiting));
    };
    assert_eq!((*at, tasks.len(), tasks[0].fence.lease), (last, 1, 1));
    assert!(quay.poll().is_none());
}

#[test]
fn those_who_asked_first_are_served_first_and_nobody_gets_what_another_has() {
    let mut quay = quay();
    let line: Vec<u64> = (0..3).map(|_| quay.take(1, 4)).collect();
    quay.settle();
    quay.send(trigger(1));
    quay.send(trigger(2));
    quay.settle();
    assert_eq!(numbers(quay.taken(line[0])), Some(vec![1]));
    assert_eq!(numbers(quay.taken(line[1])), Some(vec![2]));
    assert_eq!(quay.taken(line[2]), None, "there is nothing left for it");
    let gone = quay.taken(line[0]).expect("it was served")[0].clone();
    let (step, fence) = (gone.step, gone.fence);
    quay.send(Command::GiveBack { step, fence });
    quay.settle();
    let again = quay.taken(line[2]).expect("what was given back is handed out");
    assert_eq!((again[0].step, again[0].fence.lease), (step, 2));
}

#[test]
fn patience_ends_with_nothing_and_is_a_sign_of_life() {
    let mut quay = quay();
    let (start, seconds) = (quay.now, Span::from_secs);
    let waiting = quay.take(1, 4);
    quay.settle();
    assert_eq!(quay.writer.next_wakeup(), Some(start + seconds(4)));
    quay.wait(3);
    assert_eq!(quay.taken(waiting), None);
    quay.wait(1);
    assert_eq!(numbers(quay.taken(waiting)), Some(vec![]));
    // It was there until the fourth second, and counts as there for ten more.
    assert_eq!(quay.writer.next_wakeup(), Some(start + seconds(14)));
    quay.wait(9);
    assert!(quay.disk.rows.iter().all(|row| row.fact != Fact::ExecutorLeft));
    quay.wait(1);
    assert!(quay.disk.rows.iter().any(|row| row.fact == Fact::ExecutorLeft));
}

#[test]
fn an_executor_does_not_fall_silent_because_it_waits_for_long() {
    let mut quay = quay();
    for _ in 0..5 {
        let waiting = quay.take(1, 60);
        quay.settle();
        quay.wait(4);
        assert_eq!(quay.taken(waiting), None);
        quay.wait(1);
        assert_eq!(numbers(quay.taken(waiting)), Some(vec![]), "it is heard of again in time");
    }
    assert!(quay.disk.rows.iter().all(|row| row.fact != Fact::ExecutorLeft));
}

#[test]
fn who_waits_for_an_executor_that_left_is_told_so() {
    let mut quay = quay();
    let waiting = quay.take(1, 4);
    quay.send(Command::Leave { executor: executor("winch") });
    quay.settle();
    quay.wait(4);
    let unknown = Refusal::UnknownExecutor(executor("winch"));
    assert_eq!(quay.answer(waiting), Some(&Err(RequestError::Refused(unknown.clone()))));
    let late = quay.take(1, 4);
    quay.settle();
    assert_eq!(quay.answer(late), Some(&Err(RequestError::Refused(unknown))));
}

#[test]
fn only_so_many_wait() {
    let limits = Limits { takers: 2, ..Limits::default() };
    let mut quay = Quay::new(limits);
    let tickets: Vec<u64> = (0..3).map(|_| quay.take(1, 4)).collect();
    quay.settle();
    let overloaded = Overloaded { retry_after: limits.retry_after };
    assert_eq!(quay.answer(tickets[2]), Some(&Err(RequestError::Overloaded(overloaded))));
    assert_eq!((quay.taken(tickets[0]), quay.taken(tickets[1])), (None, None));
    quay.send(trigger(1));
    quay.settle();
    let next = quay.take(1, 4);
    quay.settle();
    assert_eq!(quay.answer(next), None, "there is room again");
}

#[test]
fn who_wants_nothing_or_will_not_wait_is_answered_at_once_and_blocks_nobody() {
    let mut quay = quay();
    let (nothing, hasty, patient) = (quay.take(0, 4), quay.take(1, 0), quay.take(1, 4));
    quay.settle();
    assert_eq!(numbers(quay.taken(nothing)), Some(vec![]));
    assert_eq!(numbers(quay.taken(hasty)), Some(vec![]));
    quay.send(trigger(1));
    quay.settle();
    assert_eq!(numbers(quay.taken(patient)), Some(vec![1]));
}

#[test]
fn what_an_aborted_deployment_had_hides_nothing_from_those_who_wait() {
    let mut quay = quay();
    quay.send(trigger(1));
    quay.send(trigger(2));
    quay.settle();
    quay.send(Command::Abort { deployment: deployment(1) });
    let waiting = quay.take(1, 4);
    quay.settle();
    assert_eq!(numbers(quay.taken(waiting)), Some(vec![2]));
}

#[test]
fn a_stop_sends_everybody_away() {
    let mut quay = quay();
    let tickets: Vec<u64> = (0..3).map(|_| quay.take(1, 4)).collect();
    quay.settle();
    let mut out = Vec::new();
    quay.writer.dismiss(&mut out);
    quay.tell(out);
    assert!(tickets.iter().all(|ticket| numbers(quay.taken(*ticket)) == Some(vec![])));
    quay.send(trigger(1));
    quay.settle();
    assert_eq!(quay.disk.rows.last().map(|row| row.fact), Some(Fact::Dispatched));
}

#[test]
fn a_failed_append_answers_those_who_wait_and_those_who_were_served_in_it() {
    let retry_after = Limits::default().retry_after;
    let not_written = |why| RequestError::NotWritten { why, retry_after };
    let cases = [
        (AppendFailure::Fenced, RequestError::NotOwner, RequestError::NotOwner),
        (AppendFailure::Unknown, RequestError::Unknown, not_written(Obstacle::Unavailable)),
    ];
    for (failure, served, waiting) in cases {
        let mut quay = quay();
        let (first, second) = (quay.take(1, 4), quay.take(1, 4));
        quay.send(trigger(1));
        assert!(quay.poll().is_some());
        let answers = quay.writer.failed(failure);
        let told = |ticket: u64| {
            let mut answers = answers.iter().filter(|(it, _)| it.0 == ticket);
            let answer = answers.next().map(|(_, error)| error.clone());
            assert!(answers.next().is_none(), "it is told once");
            answer
        };
        assert_eq!(told(first), Some(served));
        assert_eq!(told(second), Some(waiting));
    }
}

#[test]
fn after_a_load_work_that_was_offered_before_is_there_for_who_asks() {
    let mut quay = quay();
    quay.send(trigger(1));
    quay.settle();
    quay.crash();
    let taker = quay.take(1, 4);
    quay.settle();
    assert_eq!(numbers(quay.taken(taker)), Some(vec![1]));
}

#[test]
fn appends_that_are_small_make_nobody_wait_for_the_next_request() {
    let limits = Limits { records: 2, requests: 1, outstanding: 1, ..Limits::default() };
    let mut quay = Quay::new(limits);
    let tickets: Vec<u64> = (0..10).map(|_| quay.take(1, 4)).collect();
    for number in 1..=10 {
        quay.send(trigger(number));
    }
    for _ in 0..200 {
        // As a driver does: only when there is a reason to.
        let due = quay.writer.next_wakeup().is_some_and(|at| at <= quay.now);
        match quay.poll() {
            Some(append) => quay.commit(append),
            None if !due => break,
            None => {}
        }
    }
    assert!(tickets.iter().all(|ticket| quay.taken(*ticket).is_some_and(|it| it.len() == 1)));
    assert_eq!(quay.now, Timestamp(1_000));
}

#[test]
fn one_executor_does_not_get_what_waits_for_another() {
    let mut quay = quay();
    let ask = |who: &str| Ask::Take {
        executor: executor(who),
        max: 9,
        ttl: Span::from_secs(60),
        patience: Span::from_secs(4),
        by: by(),
    };
    quay.send(crate::requests::register("bosun", 10));
    let (winch, bosun) = (quay.ask(ask("winch")), quay.ask(ask("bosun")));
    quay.send(trigger(1));
    quay.settle();
    let (one, two) = (quay.taken(winch).unwrap(), quay.taken(bosun).unwrap());
    assert_eq!((one.len(), two.len()), (1, 1), "each has a share of its own");
    assert_ne!(one[0].step, two[0].step);
}
