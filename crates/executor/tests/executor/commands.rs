use std::path::Path;

use seaway_executor::{Ended, Outer, RESERVED, Standing, run};
use seaway_model::Outcome;
use serde_json::json;

use crate::stage::{carried_out, command, script, task, with};

#[tokio::test]
async fn a_command_reads_its_message_and_writes_its_result() {
    let definitions = script(
        r#"grep -q '"service":"cart"' "$SEAWAY_MESSAGE" || exit 1
           test "$SEAWAY_TASK $SEAWAY_ATTEMPT $SEAWAY_KEY" = "test 3 key-1" || exit 2
           test "$SEAWAY_PROJECT/$SEAWAY_STAGE/$SEAWAY_SERVICE" = shop/beta/cart || exit 3
           echo measured
           echo '{"result": "warning", "message": "slow", "data": {"test": {"p99": 7}}}' \
             > "$SEAWAY_RESULT"
           exit 5"#,
        "",
    );
    let verdict = carried_out(&definitions).await;
    assert_eq!(verdict.result, Outcome::Warning, "{verdict:?}");
    assert_eq!(verdict.standing, Standing::Succeeded);
    assert_eq!(verdict.message.as_deref(), Some("slow"));
    assert_eq!(verdict.data["test"]["p99"], 7);
    assert_eq!(verdict.log, "measured\n");
}

#[tokio::test]
async fn without_a_result_the_exit_code_decides() {
    for (text, result, message) in [
        ("echo fine >&2", Outcome::Pass, None),
        ("exit 10", Outcome::Warning, Some("exit code 10")),
        ("echo first >&2; echo no route >&2; exit 3", Outcome::Fail, Some("first\nno route")),
    ] {
        let verdict = carried_out(&script(text, "")).await;
        assert_eq!((verdict.result, verdict.message.as_deref()), (result, message), "{text}");
        assert_eq!(verdict.standing, Standing::Succeeded);
    }
    let killed = carried_out(&script("kill -9 $$", "")).await;
    assert_eq!(killed.standing, Standing::Errored);
    assert_eq!(killed.message.as_deref(), Some("the command was ended by signal 9"));
}

#[tokio::test]
async fn a_result_that_cannot_be_used_is_a_failure() {
    for (text, why) in [
        ("echo '[]' > $SEAWAY_RESULT", "is not a JSON object"),
        ("mkfifo $SEAWAY_RESULT", "is not a file"),
        ("ln -s /dev/zero $SEAWAY_RESULT", "is not a file"),
        ("head -c 2000000 /dev/zero > $SEAWAY_RESULT", "is larger than 1 MiB"),
        ("echo '{\"result\": \"ok\"}' > $SEAWAY_RESULT", "write pass, warning or fail"),
    ] {
        let verdict = carried_out(&script(text, "")).await;
        assert_eq!((verdict.result, verdict.standing), (Outcome::Fail, Standing::Errored));
        assert!(verdict.message.as_ref().is_some_and(|it| it.contains(why)), "{verdict:?}");
    }
}

#[tokio::test]
async fn a_value_of_the_message_is_one_argument_and_no_shell_sees_it() {
    let print = json!(["printf", "%s|", "--users={{ test.users }}", "{{ test.name }}", "end"]);
    let definitions = command(&print, "");
    let evil = "a b'; touch hacked; $(exit 1) \\ \" {{ version }}";
    let verdict = with(&definitions.all()[0], &json!({"users": 50, "name": evil})).await;
    assert_eq!(verdict.log, format!("--users=50|{evil}|end|"));
    let verdict = with(&definitions.all()[0], &json!({"users": 50})).await;
    assert_eq!((verdict.result, verdict.standing), (Outcome::Fail, Standing::Errored));
    assert_eq!(
        verdict.message.as_deref(),
        Some(
            "the message has no value at `test.name`, which the command needs; add it to its data"
        )
    );
}

#[tokio::test]
async fn the_environment_is_what_was_declared_and_never_the_token() {
    let mut outer = Outer::new();
    for (name, value) in [
        ("PATH", std::env::var("PATH").expect("there is one").as_str()),
        ("HOME", "/nowhere"),
        ("LANG", "C"),
        ("OTHER", "other"),
        ("SEAWAY_TOKEN", "swy_secret"),
        ("SEAWAY_URL", "http://a"),
    ] {
        outer.insert(name.into(), value.into());
    }
    for (inherit, expected) in [
        (false, "HOME LANG PATH TMPDIR VERSION"),
        (true, "HOME LANG OTHER PATH SEAWAY_URL TMPDIR VERSION"),
    ] {
        let more =
            format!("inheritEnv: {inherit}, env: {{LANG: de, VERSION: 'v{{{{ version }}}}'}}");
        let definitions = command(&json!(["env"]), &more);
        let task = task(1, &json!({}));
        let ended = run(&definitions.all()[0], &task, &outer, std::future::pending()).await;
        let Ended::Done(verdict) = ended else { panic!("nobody took it away") };
        let lines = verdict.log.lines();
        let mut names: Vec<&str> = lines.filter_map(|line| Some(line.split_once('=')?.0)).collect();
        names.sort_unstable();
        let told = names.len();
        names.retain(|name| !RESERVED.contains(name));
        assert_eq!(told - names.len(), RESERVED.len(), "{}", verdict.log);
        assert_eq!(names.join(" "), expected);
        assert!(verdict.log.contains("LANG=de\n") && verdict.log.contains("VERSION=v1.0.0\n"));
    }
}

#[tokio::test]
async fn much_output_is_dropped_and_nothing_waits_for_it() {
    let text = "head -c 50000000 /dev/zero | tr '\\0' x; echo the end >&2; exit 4";
    let verdict = carried_out(&script(text, "outputLimit: 64KiB, timeout: 60s")).await;
    assert_eq!(verdict.message.as_deref(), Some("the end"));
    assert!(verdict.log.len() < 5_000, "{}", verdict.log.len());
    assert!(verdict.log.ends_with("x\n[after 65536 bytes, 49934472 more were dropped]"));
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let dir = tempfile::tempdir().expect("there is room for a directory");
    let file = dir.path().join("test.sh");
    std::fs::write(&file, "#!/bin/sh\n").expect("it can be written");
    let file = file.display().to_string();
    for (program, more, why) in [
        ("no-such-program", "", "there is no program no-such-program"),
        ("./no-such-file", "", "check the command of the definition"),
        (&*file, "", "make it executable with chmod +x"),
        ("true", "workDir: no-such-directory", "no-such-directory to run in; check workDir"),
    ] {
        let verdict = carried_out(&command(&json!([program]), more)).await;
        assert_eq!((verdict.result, verdict.standing), (Outcome::Fail, Standing::Errored));
        assert!(verdict.message.as_ref().is_some_and(|it| it.contains(why)), "{verdict:?}");
    }
}

#[tokio::test]
async fn a_command_has_a_room_of_its_own_that_is_removed() {
    let text = "cat; ls; pwd; mkdir -p kept/in \"$TMPDIR/a\"; touch kept/in/b; chmod 500 kept/in";
    let verdict = carried_out(&script(text, "")).await;
    let room = Path::new(verdict.log.trim());
    assert!(room.is_absolute(), "it began with nothing to read and an empty directory: {room:?}");
    assert!(!room.parent().expect("it is in a directory").exists());
}
