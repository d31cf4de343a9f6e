use seaway_engine::core::{
    AppendFailure, Ask, Limits, Obstacle, Output, Overloaded, Request, RequestError, Ticket, Writer,
};
use seaway_kernel::{Command, Refusal};
use seaway_model::{Epoch, Fact, Outcome, Timestamp};
use seaway_wire::{Append, Linked};

use crate::disk::{Desk, Disk, request};
use crate::requests::{by, deployment, start, structure};

const NOW: Timestamp = Timestamp(1_000);

fn poll(writer: &mut Writer) -> (Option<Append>, Vec<Output>) {
    let mut out = Vec::new();
    let append = writer.poll_append(NOW, &mut out);
    (append, out)
}

fn committed(writer: &mut Writer) -> Vec<Output> {
    let mut out = Vec::new();
    writer.committed(&mut out);
    out
}

/// The tickets of the replies, and whether each was granted.
fn replies(out: &[Output]) -> Vec<(u64, bool)> {
    let reply = |output: &Output| match output {
        Output::Reply { ticket, result } => Some((ticket.0, result.is_ok())),
        _ => None,
    };
    out.iter().filter_map(reply).collect()
}

fn refused() -> Command {
    Command::Resume { deployment: deployment(1) }
}

#[test]
fn nothing_is_told_before_it_is_durable() {
    let mut writer = Disk::default().load();
    writer.offer(request(1, structure())).unwrap();
    let (append, out) = poll(&mut writer);
    let append = append.expect("the change is written");
    assert_eq!(out, []);
    let out = committed(&mut writer);
    assert_eq!(out[0], Output::Durable { head: append.rows.last().unwrap().seq });
    assert_eq!(replies(&out), [(1, true)]);
    assert_eq!(writer.durable(), writer.kernel().head());
}

#[test]
fn the_next_append_is_decided_while_the_former_is_written() {
    let mut writer = Disk::default().load();
    let mut disk = Disk::default();
    writer.offer(request(1, structure())).unwrap();
    disk.write(poll(&mut writer).0.expect("first append"));
    writer.offer(request(2, start(1))).unwrap();
    disk.write(poll(&mut writer).0.expect("second append"));
    writer.offer(request(3, start(2))).unwrap();
    assert_eq!(poll(&mut writer), (None, vec![]));
    assert_eq!(writer.next_wakeup(), None);

    assert_eq!(replies(&committed(&mut writer)), [(1, true)]);
    disk.write(poll(&mut writer).0.expect("third append"));
    assert_eq!(replies(&committed(&mut writer)), [(2, true)]);
    assert_eq!(replies(&committed(&mut writer)), [(3, true)]);
    assert_eq!(disk.load().kernel().digest(), writer.kernel().digest());
}

#[test]
fn a_refusal_waits_for_the_appends_it_may_rest_on() {
    let Desk { mut writer, .. } = Desk::new();
    writer.offer(request(8, refused())).unwrap();
    let (append, out) = poll(&mut writer);
    assert!(append.is_none());
    assert!(!replies(&out).is_empty() || matches!(out[..], [Output::Load { .. }]));

    writer.offer(request(9, start(1))).unwrap();
    assert!(poll(&mut writer).0.is_some());
    writer.offer(request(10, Command::Resume { deployment: deployment(1) })).unwrap();
    assert_eq!(poll(&mut writer), (None, vec![]));
    assert_eq!(replies(&committed(&mut writer)), [(9, true), (10, false)]);
}

#[test]
fn a_full_mailbox_refuses_and_says_when_to_come_back() {
    let limits = Limits { mailbox: 2, ..Limits::default() };
    let disk = Disk::default();
    let replay = disk.replay(disk.loader()).unwrap();
    let mut writer = replay.finish(Epoch(1), NOW, limits);
    writer.offer(request(1, structure())).unwrap();
    writer.offer(request(2, start(1))).unwrap();
    let overloaded = Overloaded { retry_after: limits.retry_after };
    assert_eq!(writer.offer(request(3, start(2))), Err(overloaded));
    assert!(poll(&mut writer).0.is_some());
    assert_eq!(replies(&committed(&mut writer)), [(1, true), (2, true)]);
    writer.offer(request(4, start(2))).unwrap();
}

/// One append outstanding with a grant and a refusal, and one request still queued.
fn caught_in_the_middle() -> Writer {
    let Desk { mut writer, .. } = Desk::new();
    writer.offer(request(1, start(1))).expect("there is room");
    writer.offer(request(2, start(1))).expect("there is room");
    assert!(poll(&mut writer).0.is_some());
    writer.offer(request(3, start(2))).expect("there is room");
    writer
}

#[test]
fn a_failed_append_tells_everyone_whether_its_outcome_is_known() {
    let retry_after = Limits::default().retry_after;
    let not_written = |why| RequestError::NotWritten { why, retry_after };
    let tickets = [Ticket(1), Ticket(2), Ticket(3)];
    let all = |error: RequestError| tickets.map(|ticket| (ticket, error.clone())).to_vec();

    let failure = AppendFailure::NotWritten(Obstacle::DiskFull);
    let answers = caught_in_the_middle().failed(failure);
    assert_eq!(answers, all(not_written(Obstacle::DiskFull)));

    let answers = caught_in_the_middle().failed(AppendFailure::Fenced);
    assert_eq!(answers, all(RequestError::NotOwner));

    let answers = caught_in_the_middle().failed(AppendFailure::Unknown);
    let mut expected = all(not_written(Obstacle::Unavailable));
    expected[0].1 = RequestError::Unknown;
    assert_eq!(answers, expected);
}

#[test]
fn a_deployment_that_failed_and_left_memory_comes_back_for_a_retry() {
    let mut desk = Desk::new();
    let step = desk.start(1);
    desk.work(step, Outcome::Fail);
    assert_eq!(desk.writer.kernel().service(deployment(1)), None);

    desk.send(Command::Retry { step, data: None }).expect("a failed step can be retried");
    let again = desk.offers.pop().expect("it is offered again");
    assert_eq!(again, step);
    desk.work(step, Outcome::Pass);
    assert_eq!(desk.disk.load().kernel().digest(), desk.writer.kernel().digest());
}

/// Everything that the log has about a deployment.
fn rows_of(disk: &Disk, number: u128) -> Vec<Linked> {
    Linked::pick(&disk.rows, |row| row.deployment == Some(deployment(number)))
}

#[test]
fn records_of_another_owner_are_not_taken_over() {
    let mut new = Desk::new();
    // This one lost the project here, and does not know.
    let mut old = new.disk.load();
    let step = new.start(1);
    new.work(step, Outcome::Fail);
    let digest = old.kernel().digest();

    old.offer(request(1, Command::Retry { step, data: None })).unwrap();
    assert_eq!(poll(&mut old), (None, vec![Output::Load { deployment: deployment(1) }]));
    let mut out = Vec::new();
    old.revive(deployment(1), &rows_of(&new.disk, 1), &mut out);
    let result = Err(RequestError::NotOwner);
    assert_eq!(out, [Output::Reply { ticket: Ticket(1), result }]);
    assert_eq!(old.kernel().digest(), digest);
    assert!(old.is_settled());

    old.offer(request(2, start(2))).unwrap();
    let append = poll(&mut old).0.expect("it does not know yet");
    assert!(append.rows[0].seq <= new.disk.end().seq, "the store will refuse it");
}

#[test]
fn records_that_may_be_of_an_append_under_way_are_not_taken_over() {
    let mut desk = Desk::new();
    let mut elsewhere = Desk::on(desk.disk.clone());
    let step = elsewhere.start(1);
    elsewhere.work(step, Outcome::Fail);

    desk.writer.offer(request(50, Command::Retry { step, data: None })).unwrap();
    let load = Output::Load { deployment: deployment(1) };
    assert_eq!(poll(&mut desk.writer), (None, vec![load]));
    for number in 2..=20 {
        desk.writer.offer(request(number, start(number.into()))).unwrap();
    }
    assert!(poll(&mut desk.writer).0.is_some());
    let mut out = Vec::new();
    desk.writer.revive(deployment(1), &rows_of(&elsewhere.disk, 1), &mut out);
    let retry_after = Limits::default().retry_after;
    let result = Err(RequestError::NotWritten { why: Obstacle::Conflict, retry_after });
    assert_eq!(out, [Output::Reply { ticket: Ticket(50), result }]);
}

#[test]
fn a_deployment_that_started_while_the_store_was_asked_for_it_is_decided_as_it_is() {
    let mut desk = Desk::new();
    desk.writer.offer(request(50, Command::Pause { deployment: deployment(1) })).unwrap();
    let load = Output::Load { deployment: deployment(1) };
    assert_eq!(poll(&mut desk.writer), (None, vec![load]));
    desk.start(1);
    let mut out = Vec::new();
    desk.writer.revive(deployment(1), &rows_of(&desk.disk, 1), &mut out);
    assert_eq!(out, []);
    desk.disk.write(poll(&mut desk.writer).0.expect("the pause is written"));
    assert_eq!(replies(&committed(&mut desk.writer)), [(50, true)]);
    assert_eq!(desk.disk.load().kernel().digest(), desk.writer.kernel().digest());
}

#[test]
fn a_deployment_whose_records_were_changed_is_not_brought_back() {
    let mut desk = Desk::new();
    let step = desk.start(1);
    desk.work(step, Outcome::Fail);
    let failed = desk.disk.rows.iter_mut().find(|row| row.fact == Fact::Failed);
    let failed = failed.expect("the task failed");
    (failed.fact, failed.outcome) = (Fact::Finished, Some(Outcome::Pass));
    let answer = desk.send(Command::Retry { step, data: None });
    assert!(matches!(answer, Err(RequestError::Unreadable { .. })), "{answer:?}");
}

#[test]
fn a_deployment_that_never_was_is_refused() {
    let mut desk = Desk::new();
    let answer = desk.send(Command::Pause { deployment: deployment(7) });
    let unknown = Refusal::UnknownDeployment(deployment(7));
    assert_eq!(answer, Err(RequestError::Refused(unknown)));
}

#[test]
fn an_id_that_came_and_went_since_the_store_was_asked_is_refused() {
    let mut desk = Desk::new();
    let step = desk.start(1);
    desk.work(step, Outcome::Fail);
    let exists = Refusal::DeploymentExists(deployment(1));
    assert_eq!(desk.send(start(1)), Err(RequestError::Refused(exists)));
}

#[test]
fn a_look_into_the_store_grows_stale_when_too_many_started_since() {
    let mut desk = Desk::new();
    let as_of = desk.disk.end().seq;
    for number in 1..=6_001 {
        desk.start(number);
    }
    let stale = Ask::command(start(20_000), by(), as_of);
    desk.writer.offer(Request { ticket: Ticket(90_000), ask: stale }).unwrap();
    let (append, out) = poll(&mut desk.writer);
    let result = Err(RequestError::StaleLookup);
    assert_eq!((append, out), (None, vec![Output::Reply { ticket: Ticket(90_000), result }]));
    desk.send(start(20_000)).expect("a fresh look is good");
}
