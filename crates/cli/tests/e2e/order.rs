use seaway_api::{Claim, Register, Subscription, Trigger};
use serde_json::json;

use crate::harbor::{Server, runtime, write};

const ONE_TASK: &str = "\
apiVersion: seaway.dev/v1
kind: Shipyard
metadata: {name: shop}
spec:
  stages:
  - name: dev
    sequences:
    - name: delivery
      tasks: [{name: deployment}]
";

/// A thousand sequences that wait for one service start in the order in which they came.
#[test]
fn a_thousand_sequences_of_one_service_start_in_order() {
    const MANY: usize = 1_000;
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(&dir.path().join("data"));
    let shipyard = write(dir.path(), "shipyard.yaml", ONE_TASK);
    server.ok(&["apply", "-f", shipyard.to_str().unwrap()]);
    let client = server.client();
    runtime().block_on(async {
        let mut expected = Vec::new();
        for number in 0..MANY {
            let trigger = Trigger {
                stage: "dev".into(),
                sequence: "delivery".into(),
                service: "cart".into(),
                version: format!("1.{number}"),
                data: None,
                deployment: None,
            };
            expected.push(client.trigger("shop", &trigger).await.unwrap().deployment);
        }
        let subscription = Subscription { task: "deployment".into(), ..Subscription::default() };
        let register = Register { subscriptions: vec![subscription], ttl_seconds: 600 };
        client.register("shop", "e", &register).await.unwrap();
        let claim = Claim { max: 10, wait_seconds: 20, lease_seconds: 600 };
        let pass = json!({"result": "pass"}).as_object().cloned().unwrap();
        let mut got = Vec::new();
        while got.len() < MANY {
            let tasks = client.claim("shop", "e", &claim).await.unwrap().tasks;
            assert_eq!(tasks.len(), 1, "one run at a time for a service in a stage");
            for task in tasks {
                got.push(task.deployment);
                let done = client.answer(&task, seaway_client::Answer::Finished, pass.clone());
                done.await.unwrap();
            }
        }
        assert_eq!(got, expected);
    });
}
