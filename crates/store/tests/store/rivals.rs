use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use seaway_model::{Epoch, Seq};
use seaway_store::{AppendError, Store};
use seaway_wire::Row;

use crate::builder::{Builder, deployed};
use crate::place::Place;

pub(crate) async fn fenced(place: Place) {
    let (store, mut old) = place.shop().await;
    let cart = deployed(1, "cart");
    store.append(old.some(&cart, 2)).await.unwrap();

    let mut new = old.clone();
    new.epoch = store.acquire(&old.project, "successor").await.unwrap();
    assert_eq!(new.epoch, Epoch(2));
    let refused = store.append(old.some(&cart, 1)).await;
    assert!(matches!(refused, Err(AppendError::Fenced { current: Epoch(2) })), "{refused:?}");
    store.append(new.some(&cart, 1)).await.unwrap();
    assert_eq!(store.verify(&new.project, |_| ()).await.unwrap().head.hash, new.hash);
}

/// Several tasks believe that they own the project and write wherever the log ends.
pub(crate) async fn race(place: Place) {
    let (store, log) = place.shop().await;
    let writers: Vec<_> =
        (0..4).map(|_| tokio::spawn(write_until(store.clone(), log.clone(), Seq(200)))).collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let rows = store.rows(&log.project, Seq(0), 1_000).await.unwrap();
    assert!(rows.len() >= 200);
    assert!(rows.iter().enumerate().all(|(index, row)| row.seq.0 == index as u64 + 1));
    store.verify(&log.project, |_| ()).await.unwrap();
}

async fn write_until(store: Store, mut log: Builder, end: Seq) {
    let cart = deployed(1, "cart");
    while log.seq < end {
        let mut next = log.clone();
        match store.append(next.some(&cart, 2)).await {
            Ok(()) => log = next,
            Err(AppendError::Position { .. }) => {
                let head = store.head(&log.project).await.unwrap();
                (log.seq, log.hash) = (head.seq, head.hash);
                // The paths of the winner are in the store; this table has the same ones.
                log.target("shop/beta/delivery#1/test");
                log.forget_new_targets();
            }
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// Readers follow a log, and look at it through other connections, while it grows.
pub(crate) async fn follow(place: Place) {
    let (store, mut log) = place.shop().await;
    let done = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (1..4)
        .map(|limit| {
            let (store, done, shop) = (store.clone(), done.clone(), log.project.clone());
            tokio::spawn(async move {
                let mut seen: Vec<Row> = Vec::new();
                loop {
                    let last = done.load(Ordering::SeqCst);
                    let after = seen.last().map_or(Seq(0), |row| row.seq);
                    let rows = store.rows(&shop, after, limit * 7).await.unwrap();
                    if last && rows.is_empty() {
                        return seen;
                    }
                    seen.extend(rows);
                }
            })
        })
        .collect();
    let cart = deployed(1, "cart");
    let mut written = Vec::new();
    for count in (1..6).cycle().take(100) {
        let append = log.some(&cart, count);
        written.extend(append.rows.clone());
        store.append(append).await.unwrap();
    }
    done.store(true, Ordering::SeqCst);
    for reader in readers {
        assert_eq!(reader.await.unwrap(), written);
    }
}
