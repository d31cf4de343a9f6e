use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::Method;
use seaway_server::Destination;
use serde_json::{Value, json};
use sha2::Sha256;
use tempfile::TempDir;

use crate::harbor::{Harbor, SHIPYARD};
use crate::receiver::{Answer, Received, Receiver};

const HOOKS: &str = "/v1/projects/shop/webhooks";

fn hook(name: &str, url: &str, events: &[&str]) -> String {
    let events = events.iter().map(|it| format!("\"{it}\"")).collect::<Vec<_>>().join(", ");
    format!(
        "apiVersion: seaway.dev/v1\nkind: Webhook\nmetadata: {{name: {name}}}\n\
         spec: {{url: \"{url}/{name}?token=t\", events: [{events}]}}\n"
    )
}

/// A server that may send to these receivers.
async fn harbor(dir: TempDir, receivers: &[&Receiver]) -> Harbor {
    let allowed = receivers.iter().map(|it| it.address.to_string().parse().unwrap());
    let policy = allowed.collect::<Vec<Destination>>().into_iter().collect();
    Harbor::set_up(dir, |settings| settings.outbound = policy).await
}

async fn new_key(harbor: &Harbor, name: &str) -> Vec<u8> {
    let reply = harbor.post(&format!("{HOOKS}/{name}/key"), Value::Null).await.ok();
    let text = reply["key"].as_str().unwrap().strip_prefix("whsec_").unwrap().to_owned();
    STANDARD.decode(text).unwrap()
}

/// The body of a message that was signed with this key, as Standard Webhooks has it.
#[track_caller]
fn verified(received: &Received, key: &[u8]) -> Value {
    let header = |name: &str| received.headers[name].to_str().unwrap();
    let (id, time) = (header("webhook-id"), header("webhook-timestamp"));
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(format!("{id}.{time}.").as_bytes());
    mac.update(&received.body);
    let expected = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
    assert_eq!(header("webhook-signature"), expected);
    assert!(header("content-type").starts_with("application/cloudevents+json"));
    let body: Value = serde_json::from_slice(&received.body).unwrap();
    assert_eq!(body["id"], id);
    body
}

fn types(received: &[Received]) -> Vec<String> {
    let types = received.iter().map(|it| {
        let body: Value = serde_json::from_slice(&it.body).unwrap();
        let ty = body["type"].as_str().unwrap().to_owned();
        ty.strip_prefix("sh.keptn.event.").unwrap().to_owned()
    });
    types.collect()
}

fn ids(received: &[Received]) -> Vec<String> {
    received.iter().map(|it| it.headers["webhook-id"].to_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn those_who_asked_are_told_in_order_and_can_tell_who_told_them() {
    let receiver = Receiver::open([]).await;
    let harbor = harbor(tempfile::tempdir().unwrap(), &[&receiver]).await;
    let hook = hook("ci", &receiver.url(), &["staging.delivery.*", "test.*"]);
    harbor.apply("shop", &[("shipyard.yaml", SHIPYARD), ("hook.yaml", &hook)]).await.ok();
    let key = new_key(&harbor, "ci").await;
    harbor.register("helm", &["deployment", "test"]).await;
    let id = harbor.trigger("staging.delivery", "cart", "1.2").await;
    harbor.work("helm", "pass").await;
    harbor.work("helm", "warning").await;
    let received = receiver.taken(6).await;
    let expected = [
        "staging.delivery.triggered",
        "staging.delivery.started",
        "test.triggered",
        "test.finished",
        "test.finished",
        "staging.delivery.finished",
    ];
    assert_eq!(types(&received), expected);
    let bodies: Vec<Value> = received.iter().map(|it| verified(it, &key)).collect();
    assert!(received.iter().all(|it| it.path == "/ci?token=t"));
    assert_eq!((&bodies[3]["subject"], bodies[4].get("subject")), (&json!("helm"), None));
    let last = &bodies[5];
    assert_eq!((&last["source"], &last["shkeptncontext"]), (&json!("seaway/shop"), &json!(id)));
    assert_eq!(last["time"], last["data"]["record"]["at"]);
    let told = ["stage", "service", "version", "result"].map(|it| &last["data"][it]);
    assert_eq!(told, ["staging", "cart", "1.2", "warning"]);
    let records = harbor.get("/v1/projects/shop/records?fact=finished&limit=1000").await.ok();
    let records = records["items"].as_array().unwrap();
    assert!(records.contains(&last["data"]["record"]), "{last}");

    let seq = last["data"]["record"]["seq"].as_u64().unwrap();
    harbor.until(HOOKS, |page| page["items"][0]["position"].as_u64() >= Some(seq)).await;
    let path = format!("{HOOKS}/ci/deliveries");
    let page = harbor.get(&format!("{path}?limit=4")).await.ok();
    let next = page["next"].as_str().unwrap();
    let rest = harbor.get(&format!("{path}?limit=4&cursor={next}")).await.ok();
    assert_eq!((rest["items"].as_array().unwrap().len(), rest.get("next")), (2, None));
    let newest = &page["items"][0];
    let told = ["event", "state", "detail"].map(|it| newest[it].as_str().unwrap());
    assert_eq!(told, ["staging.delivery.finished", "delivered", "204 No Content"]);
    assert_eq!((&newest["record"], &newest["attempt"]), (&json!(seq), &json!(1)));
    harbor.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_fails_is_sent_again_also_by_the_next_server() {
    // Twice to the first server, and once more to the next.
    let receiver = Receiver::open([503, 500].map(Answer::Status)).await;
    let first = harbor(tempfile::tempdir().unwrap(), &[&receiver]).await;
    let hook = hook("ci", &receiver.url(), &["staging.delivery.*"]);
    first.apply("shop", &[("shipyard.yaml", SHIPYARD), ("hook.yaml", &hook)]).await.ok();
    let key = new_key(&first, "ci").await;
    first.register("helm", &["deployment", "test"]).await;
    first.trigger("staging.delivery", "cart", "1").await;
    let path = format!("{HOOKS}/ci/deliveries");
    let failed = first.until(&path, |page| page["items"].as_array().unwrap().len() == 2).await;
    for (position, (attempt, detail)) in
        [(2, "500 Internal Server Error"), (1, "503 Service Unavailable")].into_iter().enumerate()
    {
        let delivery = &failed["items"][position];
        assert_eq!((&delivery["attempt"], &delivery["detail"]), (&attempt.into(), &detail.into()));
        assert_eq!(delivery["state"], "retrying");
    }
    let dir = first.close().await;

    let second = harbor(dir, &[&receiver]).await;
    second.work("helm", "pass").await;
    let dir = {
        receiver.taken(2).await;
        second.close().await
    };
    let third = harbor(dir, &[&receiver]).await;
    third.work("helm", "pass").await;
    let taken = receiver.taken(3).await;
    let expected = ["triggered", "started", "finished"].map(|it| format!("staging.delivery.{it}"));
    assert_eq!(types(&taken), expected);
    taken.iter().for_each(|it| drop(verified(it, &key)));
    let all = ids(&receiver.received());
    assert_eq!(all[..2], [all[2].clone(), all[2].clone()], "every attempt has the same id");
    let finished = third.until(&path, |page| page["items"][0]["record"] != Value::Null).await;
    assert_eq!(finished["items"][0]["state"], "delivered");
    third.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_never_answers_holds_up_nobody_else() {
    let (dead, good) = (Receiver::open([Answer::Silence; 9]).await, Receiver::open([]).await);
    let harbor = harbor(tempfile::tempdir().unwrap(), &[&dead, &good]).await;
    let hooks = [
        hook("dead", &dead.url(), &["*"]),
        hook("good", &good.url(), &["*.triggered"]),
        // Nobody allowed it, and nobody is there.
        hook("denied", "http://127.0.0.1:9", &["*.triggered"]),
    ];
    let hooks = hooks.join("---\n");
    harbor.apply("shop", &[("shipyard.yaml", SHIPYARD), ("hooks.yaml", &hooks)]).await.ok();
    harbor.register("helm", &["deployment"]).await;
    dead.until(|received| !received.is_empty()).await;
    for version in ["1", "2", "3"] {
        harbor.trigger("staging.delivery", "cart", version).await;
    }
    good.taken(4).await;
    let mut held = ids(&dead.received());
    held.dedup();
    assert_eq!(held.len(), 1, "the next message waits for the first");
    let denied = format!("{HOOKS}/denied/deliveries");
    let denied = harbor.until(&denied, |page| page["items"][0] != Value::Null).await;
    let detail = denied["items"][0]["detail"].as_str().unwrap();
    assert!(detail.contains("--allow-outbound 127.0.0.1:9"), "{detail}");
    // Nor does it hold up the end.
    harbor.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_for_a_receiver_that_is_gone_is_given_up() {
    let receiver = Receiver::open([Answer::Status(410)]).await;
    let harbor = harbor(tempfile::tempdir().unwrap(), &[&receiver]).await;
    let hook = hook("ci", &receiver.url(), &["staging.delivery.*"]);
    harbor.apply("shop", &[("shipyard.yaml", SHIPYARD), ("hook.yaml", &hook)]).await.ok();
    harbor.trigger("staging.delivery", "cart", "1").await;
    assert_eq!(types(&receiver.taken(1).await), ["staging.delivery.started"]);
    let path = format!("{HOOKS}/ci/deliveries");
    let page = harbor.until(&path, |page| page["items"][1] != Value::Null).await;
    let told = ["event", "state", "detail"].map(|it| page["items"][1][it].as_str().unwrap());
    assert_eq!(told, ["staging.delivery.triggered", "given-up", "410 Gone"]);
    harbor.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_follows_its_document() {
    let (old, new) = (Receiver::open([]).await, Receiver::open([]).await);
    let harbor = harbor(tempfile::tempdir().unwrap(), &[&old, &new]).await;
    harbor.apply("shop", &[("shipyard.yaml", SHIPYARD)]).await.ok();
    harbor.trigger("staging.delivery", "cart", "0").await;
    let apply = async |receiver: &Receiver| {
        let text = hook("ci", &receiver.url(), &["staging.delivery.triggered"]);
        harbor.apply("shop", &[("hook.yaml", &text)]).await.ok();
    };
    apply(&old).await;
    let first = new_key(&harbor, "ci").await;
    harbor.trigger("staging.delivery", "cart", "1").await;
    let told = verified(&old.taken(1).await[0], &first);
    assert_eq!(told["data"]["version"], "1", "what was before it is not told");

    // A receiver that is away for a moment, and another address meanwhile.
    old.plan([Answer::Status(500)]);
    harbor.trigger("staging.delivery", "cart", "2").await;
    old.until(|received| received.len() == 2).await;
    apply(&new).await;
    let told = verified(&new.taken(1).await[0], &first);
    assert_eq!(told["data"]["version"], "2");

    let path = "/v1/projects/shop/documents/webhook/ci";
    harbor.delete(path).await.ok();
    assert_eq!(harbor.get(&format!("{HOOKS}/ci/deliveries")).await.problem().0, 404);
    harbor.trigger("staging.delivery", "cart", "3").await;
    apply(&new).await;
    let second = new_key(&harbor, "ci").await;
    assert_ne!(first, second);
    harbor.trigger("staging.delivery", "cart", "4").await;
    let told = verified(&new.taken(2).await[1], &second);
    assert_eq!(told["data"]["version"], "4", "it is another one of the same name");
    let path = format!("{HOOKS}/ci/deliveries");
    let page = harbor.until(&path, |page| page["items"][0]["state"] == "delivered").await;
    assert_eq!(page["items"].as_array().unwrap().len(), 1);
    assert_eq!(old.received().len(), 2);
    harbor.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_and_deliveries_are_those_of_webhooks_that_there_are() {
    let harbor = Harbor::with_shop().await;
    for name in ["none", "otlp.traces", "a%20b"] {
        let deliveries = harbor.get(&format!("{HOOKS}/{name}/deliveries")).await;
        assert_eq!(deliveries.problem(), (404, "unknown-webhook"), "{name}");
        let key = harbor.request(Method::POST, &format!("{HOOKS}/{name}/key"));
        let key = harbor.send(key, &harbor.admin).await;
        assert_eq!(key.problem(), (404, "unknown-webhook"), "{name}");
    }
    let two =
        [hook("b", "https://b.example.com", &["x"]), hook("a", "https://a.example.com", &["*"])];
    harbor.apply("shop", &[("hooks.yaml", &two.join("---\n"))]).await.ok();
    let page = harbor.get(&format!("{HOOKS}?limit=1")).await.ok();
    let next = page["next"].as_str().unwrap();
    let last = harbor.get(&format!("{HOOKS}?limit=1&cursor={next}")).await.ok();
    for (page, name) in [(&page, "a"), (&last, "b")] {
        let [webhook] = &page["items"].as_array().unwrap()[..] else { panic!("{page}") };
        let url = format!("https://{name}.example.com/{name}?token=t");
        assert_eq!((&webhook["name"], &webhook["url"]), (&json!(name), &json!(url)));
    }
    assert_eq!(last.get("next"), None);
    harbor.close().await;
}
