use std::os::unix::fs::PermissionsExt as _;

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
