use std::time::Duration;

use seaway_executor::{Cancelled, Ended, Standing, Verdict, run};
use seaway_model::Outcome;
use serde_json::json;
use tokio::time::timeout;

use crate::stage::{
    Book, assert_gone, cancelled, carried_out, is_alive, is_there, outer, script, task, until,
};

/// A command with a process that has left it.
const TWO: &str = r#"(setsid sh -c "$STAY" &); eval "$STAY""#;

#[tokio::test]
async fn a_cancelled_command_leaves_nothing_running() {
    let book = Book::new();
    let text = r#"sh -c "$STAY" &
                  setsid sh -c "$STAY" &
                  (setsid sh -c "$STAY" &)
                  (setsid sh -c 'setsid sh -c "$STAY" & exit' &)
                  eval "$STAY""#;
    let definitions = script(text, &book.env());
    let (ended, pids) = cancelled(&definitions, &book, 5, Cancelled::Stopped).await;
    assert_eq!(ended, Ended::Done(Verdict::errored("the worker was stopped")));
    assert_gone(&pids);
}

#[tokio::test]
async fn a_process_that_hides_everything_is_found_when_it_can_be_nobody_elses() {
    let book = Book::new();
    let text = r#"(env -i BOOK="$BOOK" PATH="$PATH" setsid sh -c "cd /; $STAY" > /dev/null 2>&1 &)
                  eval "$STAY""#;
    let (ended, pids) = cancelled(&script(text, &book.env()), &book, 2, Cancelled::Lost).await;
    assert_eq!(ended, Ended::Lost);
    // Commands of other tests may run at the same time, and could have started it as well.
    let others = async {
        while pids.iter().any(|pid| is_there(*pid)) {
            carried_out(&script("exit 0", "")).await;
        }
    };
    timeout(Duration::from_secs(60), others).await.expect("it is found and waited for");
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_ended() {
    let book = Book::new();
    let text = "echo so far; sh -c \"$STAY\" & wait";
    let more = format!("timeout: 1s, {}", book.env());
    let verdict = carried_out(&script(text, &more)).await;
    assert_eq!((verdict.result, verdict.standing), (Outcome::Fail, Standing::Errored));
    assert_eq!(verdict.message.as_deref(), Some("the command took longer than 1 s"));
    assert_eq!(verdict.log, "so far\n");
    assert_gone(&book.pids());
}

#[tokio::test]
async fn who_does_not_want_to_end_is_killed_after_the_grace_period() {
    let book = Book::new();
    let text = "trap '' TERM; echo $$ >> \"$BOOK\"; while :; do sleep 1; done";
    let more = format!("grace: 100ms, {}", book.env());
    let (_, pids) = cancelled(&script(text, &more), &book, 1, Cancelled::Lost).await;
    assert_gone(&pids);
}

#[tokio::test]
async fn a_command_has_time_to_clean_up() {
    let book = Book::new();
    let text = "trap 'sleep 0.3 && echo clean > \"$BOOK.clean\"; exit 0' TERM
                echo $$ >> \"$BOOK\"; while :; do sleep 0.05; done";
    let more = format!("grace: 20s, {}", book.env());
    let (_, pids) = cancelled(&script(text, &more), &book, 1, Cancelled::Lost).await;
    assert!(book.beside("pids.clean").exists(), "what cleans up was not ended with the rest");
    assert_gone(&pids);
}

#[tokio::test]
async fn what_a_command_leaves_behind_ends_with_it() {
    let book = Book::new();
    let text = r#"touch "$BOOK"; sh -c "$STAY" & (setsid sh -c "$STAY" &); echo done"#;
    let wait = "while [ \"$(wc -l < \"$BOOK\")\" -lt 2 ]; do :; done";
    let verdict = carried_out(&script(&format!("{text}; {wait}"), &book.env())).await;
    assert_eq!((verdict.result, verdict.log.as_str()), (Outcome::Pass, "done\n"));
    let pids = book.pids();
    assert_eq!(pids.len(), 2);
    assert_gone(&pids);
}

#[tokio::test]
async fn a_command_that_nobody_waits_for_any_more_is_killed() {
    let book = Book::new();
    let definitions = script(TWO, &book.env());
    let (task, outer) = (task(1, &json!({})), outer());
    let running = run(&definitions.all()[0], &task, &outer, std::future::pending());
    tokio::select! {
        _ = running => panic!("it stays"),
        () = book.signed(2) => {}
    }
    let pids = book.pids();
    until(|| !pids.iter().any(|pid| is_alive(*pid))).await;
}

#[tokio::test]
async fn children_of_others_in_the_same_process_are_left_alone() {
    let mut child = std::process::Command::new("sleep").arg("1000").spawn().expect("it is there");
    let pid = i32::try_from(child.id()).expect("it is a pid");
    carried_out(&script("exit 0", "")).await;
    assert!(is_alive(pid));
    child.kill().expect("it is alive");
    child.wait().expect("nobody else has waited for it");
}

#[tokio::test]
async fn commands_beside_each_other_keep_their_own() {
    let (first, second) = (Book::new(), Book::new());
    let stays = |book: &Book| script(TWO, &book.env());
    let (one, other) = (stays(&first), stays(&second));
    let both = async {
        first.signed(2).await;
        second.signed(2).await;
        Cancelled::Lost
    };
    let late = async {
        first.signed(2).await;
        until(|| !first.pids().iter().any(|pid| is_alive(*pid))).await;
        assert!(second.pids().iter().all(|pid| is_alive(*pid)), "the other one goes on");
        Cancelled::Lost
    };
    let (task, outer) = (task(1, &json!({})), outer());
    let ended = tokio::join!(
        run(&one.all()[0], &task, &outer, both),
        run(&other.all()[0], &task, &outer, late),
    );
    assert_eq!(ended, (Ended::Lost, Ended::Lost));
    assert_gone(&second.pids());
}
