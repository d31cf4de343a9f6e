use std::error::Error;

use seaway_model::{Fact, Kind, Seq, TargetId};
use seaway_store::VerifyError;
use seaway_wire::ChainBreak;

use crate::builder::deployed;
use crate::place::Place;

/// An error with its causes, as people see it.
pub(crate) fn told(error: &dyn Error) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Each change is made behind the store's back, found, and taken back.
pub(crate) async fn verify(place: Place) {
    let (store, mut log) = place.shop().await;
    let shop = log.project.clone();
    let cart = deployed(1, "cart");
    log.record(&cart, "shop", Kind::PipelineStarted, Fact::Finished);
    store.append(log.some(&cart, 20)).await.unwrap();
    let check = async || store.verify(&shop, |_| ()).await;
    assert_eq!(check().await.unwrap().records, 21);

    place.tamper("UPDATE record SET data = '{\"answer\":\"x\"}' WHERE seq = 7").await;
    let found = check().await.unwrap_err();
    let changed = matches!(found, VerifyError::Chain(ChainBreak::Changed { seq: Seq(7), .. }));
    assert!(changed, "{found:?}");
    place.tamper("UPDATE record SET data = NULL WHERE seq = 7").await;

    let kind = Kind::TaskDone.code();
    place.tamper("UPDATE record SET kind = 99 WHERE seq = 7").await;
    let found = told(&check().await.unwrap_err());
    assert!(found.contains("record 7 is damaged in its kind"), "{found}");
    assert!(found.contains("means nothing: 99"), "{found}");
    place.tamper(&format!("UPDATE record SET kind = {kind} WHERE seq = 7")).await;

    place.tamper("UPDATE target SET path = 'shop/gamma' WHERE path = 'shop/beta'").await;
    let found = check().await.unwrap_err();
    assert!(matches!(found, VerifyError::Path { id: TargetId(1), .. }), "{found:?}");
    place.tamper("UPDATE target SET path = 'shop/beta' WHERE path = 'shop/gamma'").await;

    // Renaming a target everywhere is found through the hashes of its records.
    place.tamper("UPDATE target SET part = 'probe', path = path || 'x' WHERE part = 'test'").await;
    let renamed = "UPDATE target SET path = 'shop/beta/delivery#1/probe' WHERE part = 'probe'";
    place.tamper(renamed).await;
    let found = check().await.unwrap_err();
    assert!(matches!(found, VerifyError::Chain(ChainBreak::Changed { .. })), "{found:?}");
    let back = "UPDATE target SET part = 'test', path = 'shop/beta/delivery#1/test'
         WHERE part = 'probe'";
    place.tamper(back).await;
    check().await.unwrap();

    let swap = "UPDATE target SET place = 1 WHERE id = 2";
    place.tamper(swap).await;
    let found = check().await.unwrap_err();
    assert!(matches!(found, VerifyError::Place { id: TargetId(2), .. }), "{found:?}");
    place.tamper("UPDATE target SET place = 2 WHERE id = 2").await;

    place.tamper("DELETE FROM record WHERE seq = 21").await;
    let found = check().await.unwrap_err();
    let cut = matches!(found, VerifyError::Truncated { expected: Seq(21), found: Seq(20) });
    assert!(cut, "{found:?}");
    place.tamper("DELETE FROM record WHERE seq = 12").await;
    let found = check().await.unwrap_err();
    let gap = matches!(found, VerifyError::Chain(ChainBreak::Gap { expected: Seq(12), .. }));
    assert!(gap, "{found:?}");
}
