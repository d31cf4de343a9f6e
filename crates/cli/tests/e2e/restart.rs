use seaway_api::{Claim, Register, Subscription, Trigger};
use serde_json::json;

use crate::harbor::{PATIENCE, Server, TWO_STAGES, runtime, write};

/// The server is killed in the middle of a delivery, again and again; nothing that it acknowledged
/// is lost, and the delivery ends.
#[test]
fn a_delivery_survives_a_server_that_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let mut server = Server::start(&data);
    let shipyard = write(dir.path(), "shipyard.yaml", TWO_STAGES);
    server.ok(&["apply", "-f", shipyard.to_str().unwrap()]);
    let runtime = runtime();
    let trigger = Trigger {
        stage: "dev".into(),
        sequence: "delivery".into(),
        service: "cart".into(),
        version: "1.0".into(),
        data: None,
        deployment: None,
    };
    let register = Register {
        subscriptions: ["deployment", "test"]
            .map(|task| Subscription { task: task.into(), ..Subscription::default() })
            .into(),
        ttl_seconds: 600,
    };
    let started = runtime.block_on(async {
        server.client().register("shop", "e", &register).await.unwrap();
        server.client().trigger("shop", &trigger).await.unwrap()
    });
    let claim = Claim { max: 1, wait_seconds: 20, lease_seconds: 600 };
    let mut acknowledged = vec![started.at];
    for _ in 0..3 {
        let client = server.client();
        let task = runtime.block_on(async {
            let claimed = client.claim("shop", "e", &claim).await.unwrap();
            claimed.tasks.into_iter().next().expect("there is work")
        });
        server.process.kill();
        server = Server::start(&data);
        let client = server.client();
        let pass = json!({"result": "pass"}).as_object().cloned().unwrap();
        // The lease that was handed out before still counts, also when it is answered twice.
        runtime.block_on(async {
            for _ in 0..2 {
                let done = client.answer(&task, seaway_client::Answer::Finished, pass.clone());
                acknowledged.push(done.await.unwrap().at);
            }
        });
        server.process.kill();
        server = Server::start(&data);
    }
    let head = runtime.block_on(async {
        let client = server.client();
        let mut records = client.stream("shop", 0);
        let ended = async { while records.next().await.unwrap().kind != "pipeline-finished" {} };
        tokio::time::timeout(PATIENCE, ended).await.expect("the delivery ends");
        let view = client.deployment("shop", started.deployment).await.unwrap();
        assert_eq!(view.result.as_deref(), Some("pass"));
        client.verify("shop").await.unwrap().head
    });
    assert!(acknowledged.iter().all(|at| *at <= head), "{acknowledged:?} {head}");
}
