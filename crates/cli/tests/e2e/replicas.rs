use std::path::Path;
use std::process::Command;
use std::time::Duration;

use seaway_api::{Claim, Register, Subscription, Task, Trigger};
use seaway_client::{Answer, Client, ClientError, Options};
use serde_json::json;
use tokio::time::Instant;

use crate::harbor::{PATIENCE, Server, TWO_STAGES, runtime, skipped, write};

const POSTGRES: &str = "SEAWAY_TEST_POSTGRES";

/// A database of its own for a test, where there is a PostgreSQL.
fn database(name: &str) -> Option<String> {
    let Ok(url) = std::env::var(POSTGRES) else {
        skipped(&format!("{name} on PostgreSQL; set {POSTGRES}=postgres://… to run it"));
        return None;
    };
    let ctl = std::env::var("SEAWAY_TEST_PG_CTL").expect("it comes with the server");
    let psql = Path::new(&ctl).with_file_name("psql");
    for statement in ["DROP DATABASE IF EXISTS", "CREATE DATABASE"] {
        let done = Command::new(&psql)
            .args([&url, "-c", &format!("{statement} {name}")])
            .output()
            .expect("it comes with the server");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    let (base, _) = url.rsplit_once('/').expect("it names a database");
    Some(format!("{base}/{name}"))
}

fn client(server: &Server, token: &str) -> Client {
    // As long as the project has no owner, the answer is to come again.
    let options = Options { retries: 30, ..Options::default() };
    Client::new(&server.url, Some(token), options).expect("it is a URL")
}

async fn take(client: &Client, seconds: u32) -> Task {
    let claim = Claim { max: 1, wait_seconds: 20, lease_seconds: seconds };
    let claimed = client.claim("shop", "e", &claim).await.expect("it is registered");
    claimed.tasks.into_iter().next().expect("there is work")
}

#[test]
fn another_server_takes_over_what_a_killed_one_owned() {
    let Some(url) = database("seaway_replicas") else { return };
    let dir = tempfile::tempdir().unwrap();
    let start = |name: &str| {
        let data = dir.path().join(name);
        Server::start_with(&data, &["--database-url", &url])
    };
    let first = start("first");
    let token = first.token.clone();
    let second = start("second");
    let shipyard = write(dir.path(), "shipyard.yaml", TWO_STAGES);
    first.ok(&["apply", "-f", shipyard.to_str().unwrap()]);

    runtime().block_on(async {
        let (one, two) = (client(&first, &token), client(&second, &token));
        let tasks = ["deployment", "test"];
        let subscriptions =
            tasks.map(|task| Subscription { task: task.into(), ..Subscription::default() }).into();
        let register = Register { subscriptions, ttl_seconds: 600 };
        two.register("shop", "e", &register).await.expect("either answers any request");
        let trigger = |version: &str| Trigger {
            stage: "dev".into(),
            sequence: "delivery".into(),
            service: "cart".into(),
            version: version.into(),
            data: None,
            deployment: None,
        };
        let started = two.trigger("shop", &trigger("1.0")).await.expect("either answers");
        let old = take(&two, 1).await;
        let seen = one.deployment("shop", started.deployment).await.expect("either answers");
        assert_eq!(seen.deployment.version, "1.0");
        let before = one.project("shop").await.expect("either answers");

        first.process.kill();
        let killed = Instant::now();
        two.trigger("shop", &trigger("1.1")).await.expect("the other goes on");
        let after = two.project("shop").await.expect("the other goes on");
        assert!(killed.elapsed() < Duration::from_secs(10), "{:?}", killed.elapsed());
        assert!(after.head > before.head, "nothing that was acknowledged is lost");

        // The lease of the old holder ran out; another took the task, and the late answer is
        // refused.
        let again = take(&two, 600).await;
        assert_eq!((&again.key, again.lease), (&old.key, old.lease + 1));
        let pass = json!({"result": "pass"}).as_object().cloned().unwrap();
        let late = two.answer(&old, Answer::Finished, pass.clone()).await;
        let Err(ClientError::Problem(problem)) = late else { panic!("{late:?}") };
        assert_eq!((problem.status, &*problem.code), (409, "stale-fence"));
        two.answer(&again, Answer::Finished, pass).await.expect("the newest holder counts");
        two.verify("shop").await.expect("the log is whole");
    });
    assert_eq!(second.process.stop(), Some(0));
}

/// A task that is not waited for any longer some seconds after it was begun.
const IMPATIENT: &str = "\
apiVersion: seaway.dev/v1
kind: Shipyard
metadata: {name: shop}
spec:
  stages:
  - name: dev
    sequences:
    - name: delivery
      tasks: [{name: deployment, timeout: 4s}]
";

#[test]
fn another_server_goes_on_with_what_a_stopped_one_owned() {
    let Some(url) = database("seaway_replicas_stopped") else { return };
    let dir = tempfile::tempdir().unwrap();
    let start = |name: &str| {
        let data = dir.path().join(name);
        Server::start_with(&data, &["--database-url", &url])
    };
    let first = start("first");
    let token = first.token.clone();
    let mut second = start("second");
    let shipyard = write(dir.path(), "shipyard.yaml", IMPATIENT);
    first.ok(&["apply", "-f", shipyard.to_str().unwrap()]);
    let trigger = Trigger {
        stage: "dev".into(),
        sequence: "delivery".into(),
        service: "cart".into(),
        version: "1.0".into(),
        data: None,
        deployment: None,
    };
    let started = runtime().block_on(async {
        let client = client(&first, &token);
        let subscription = Subscription { task: "deployment".into(), ..Subscription::default() };
        let register = Register { subscriptions: vec![subscription], ttl_seconds: 600 };
        client.register("shop", "e", &register).await.expect("it owns the project");
        let started = client.trigger("shop", &trigger).await.expect("it owns the project");
        let task = take(&client, 600).await;
        client.answer(&task, Answer::Started, Default::default()).await.expect("it is held");
        started
    });

    assert_eq!(first.process.stop(), Some(0));
    // Nobody asks the other one for anything.
    second.process.wait_for("taking over a project");
    runtime().block_on(async {
        let client = client(&second, &token);
        let mut records = client.stream("shop", 0);
        let ended = async { while records.next().await.unwrap().kind != "pipeline-finished" {} };
        tokio::time::timeout(PATIENCE, ended).await.expect("the task times out");
        let view = client.deployment("shop", started.deployment).await.unwrap();
        assert_eq!(view.result.as_deref(), Some("fail"));
    });
    assert_eq!(second.process.stop(), Some(0));
}
