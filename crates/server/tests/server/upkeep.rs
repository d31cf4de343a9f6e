use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use seaway_model::Name;
use seaway_store::Store;
use serde_json::json;

use crate::harbor::Harbor;

#[tokio::test]
async fn a_backup_is_a_store_of_its_own() {
    let harbor = Harbor::with_shop().await;
    let made = harbor.post("/v1/backup?file=seaway.db", json!({})).await.ok();
    let file = harbor.dir.path().join("backups/seaway.db");
    assert_eq!(made["file"], file.display().to_string());
    let metadata = std::fs::metadata(&file).unwrap();
    assert_eq!(made["bytes"], metadata.len());
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    let copy = Store::sqlite_read_only(file.parent().unwrap()).unwrap();
    let shop = Name::new("shop").unwrap();
    assert_eq!(copy.head(&shop).await.unwrap(), harbor.store.head(&shop).await.unwrap());

    let again = harbor.post("/v1/backup?file=seaway.db", json!({})).await;
    assert_eq!(again.problem(), (409, "exists"));
    for bad in ["", "?file=", "?file=..", "?file=a%2Fb", "?file=.a", "?name=a"] {
        let reply = harbor.post(&format!("/v1/backup{bad}"), json!({})).await;
        assert_eq!(reply.problem(), (400, "bad-query"), "{bad}");
    }
}

#[tokio::test]
async fn what_has_ended_is_moved_to_a_file_and_the_log_goes_on() {
    let harbor = Harbor::with_shop().await;
    let start = async |version: &str| {
        let body = json!({"stage": "beta", "sequence": "delivery", "service": "cart",
            "version": version});
        harbor.post("/v1/projects/shop/trigger", body).await.ok()
    };
    let archive = async |before: &str| {
        let path = format!("/v1/projects/shop/archive?before={before}");
        harbor.post(&path, json!({})).await
    };
    let ended = start("1").await;
    let ended = format!("/v1/projects/shop/deployments/{}", ended["deployment"].as_str().unwrap());
    harbor.post(&format!("{ended}/abort"), json!({})).await.ok();
    start("2").await;
    let shop = Name::new("shop").unwrap();
    let open = harbor.store.first_open(&shop).await.unwrap().unwrap();

    assert_eq!(archive("soon").await.problem(), (400, "bad-query"));
    assert_eq!(archive("2001-01-01T00:00:00Z").await.problem(), (409, "nothing-to-archive"));
    let archived = archive("2999-01-01T00:00:00Z").await.ok();
    let file = Path::new(archived["file"].as_str().unwrap());
    assert!(file.starts_with(harbor.dir.path().join("archives")), "{archived}");
    let content = Store::verify_archive(file).await.unwrap();
    assert_eq!((content.project, content.first.0, content.last.0), (shop, 1, open.0 - 1));
    assert_eq!((&archived["records"], &archived["last"]), (&json!(open.0 - 1), &json!(open.0 - 1)));
    assert_eq!(archived["hash"], content.hash.to_string());

    // Nobody has to wait for a project that was just archived, and its log is whole.
    start("3").await;
    harbor.get("/v1/projects/shop/verify").await.ok();
    assert_eq!(harbor.get("/v1/projects/shop").await.ok()["deployments"], 3);
    let retried = harbor.post(&format!("{ended}/retry"), json!({})).await;
    assert_eq!(retried.status, 410, "{retried:?}");
    assert_eq!(archive("2999-01-01T00:00:00Z").await.problem(), (409, "nothing-to-archive"));
    let dir = harbor.close().await;
    let harbor = Harbor::at(dir).await;
    harbor.get("/v1/projects/shop/verify").await.ok();
}
