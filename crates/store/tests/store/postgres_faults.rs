use std::sync::Arc;

use seaway_model::Seq;
use seaway_store::{AppendError, BackupError, OpenError, Store, StoreError};
use tokio::sync::Notify;

use crate::builder::{deployed, name};
use crate::place::{Place, client};

const OTHERS: &str = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_connection_is_told_and_the_next_append_works() {
    let Some(place) = Place::postgres("lost_connection").await else { return };
    let Place::Postgres(url) = &place else { unreachable!() };
    let (store, mut log) = place.shop().await;
    let cart = deployed(1, "cart");
    store.append(log.some(&cart, 3)).await.unwrap();

    // A lock keeps the append waiting on the server until its connection is cut.
    let mut admin = client(url).await;
    let transaction = admin.transaction().await.unwrap();
    transaction.execute("SELECT 1 FROM project FOR UPDATE", &[]).await.unwrap();
    let waiting = tokio::spawn({
        let (store, append) = (store.clone(), log.clone().some(&cart, 2));
        async move { store.append(append).await }
    });
    let blocked = "SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while transaction.query_one(blocked, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        tokio::task::yield_now().await;
    }
    transaction.execute(OTHERS, &[]).await.unwrap();
    let lost = waiting.await.unwrap();
    assert!(matches!(lost, Err(AppendError::Unavailable(_))), "{lost:?}");
    transaction.rollback().await.unwrap();

    store.append(log.some(&cart, 2)).await.unwrap();
    assert_eq!(store.verify(&log.project, |_| ()).await.unwrap().head.hash, log.hash);
}

/// Connections are cut again and again while a log grows; whoever was told `Ok` is right.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_missing_after_connections_were_cut() {
    let Some(place) = Place::postgres("cut_connections").await else { return };
    let Place::Postgres(url) = &place else { unreachable!() };
    let (store, mut log) = place.shop().await;
    let stop = Arc::new(Notify::new());
    let cutter = tokio::spawn({
        let (admin, stop) = (client(url).await, stop.clone());
        async move {
            let mut cuts = 0;
            loop {
                let cut = admin.query(OTHERS, &[]);
                tokio::select! {
                    biased;
                    () = stop.notified() => return cuts,
                    rows = cut => cuts += rows.unwrap().len(),
                }
            }
        }
    });
    let cart = deployed(1, "cart");
    let mut acknowledged = Vec::new();
    let mut lost = 0;
    while log.seq < Seq(40) || lost < 5 {
        let mut next = log.clone();
        match store.append(next.some(&cart, 2)).await {
            Ok(()) => {
                acknowledged.push((next.seq, next.hash));
                log = next;
            }
            Err(AppendError::Unavailable(_)) => {
                lost += 1;
                // What was sent may be in the log; a new owner looks, as an engine would.
                let Ok(head) = store.head(&log.project).await else { continue };
                if head.seq == next.seq {
                    log = next;
                }
            }
            // An append that was thought lost has arrived after all.
            Err(AppendError::Position { .. }) => log = next,
            Err(error) => panic!("{error:?}"),
        }
    }
    stop.notify_one();
    assert!(cutter.await.unwrap() > 0);
    // The readers' own connections may have been cut last.
    while store.head(&log.project).await.is_err() {}
    let rows = store.rows(&log.project, Seq(0), 100_000).await.unwrap();
    for (seq, hash) in acknowledged {
        assert_eq!(rows[usize::try_from(seq.0).unwrap() - 1].hash, hash);
    }
    store.verify(&log.project, |_| ()).await.unwrap();
}

#[tokio::test]
async fn looking_at_a_database_never_changes_it() {
    let Some(place) = Place::postgres("read_only").await else { return };
    let Place::Postgres(url) = &place else { unreachable!() };
    let empty = Store::postgres_read_only(url).await.unwrap_err();
    assert!(matches!(empty, OpenError::NoLog { .. }), "{empty:?}");
    let tables = "SELECT count(*)::TEXT FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(place.ask(tables).await, "0");

    let (store, mut log) = place.shop().await;
    let cart = deployed(1, "cart");
    store.append(log.some(&cart, 3)).await.unwrap();
    let beside = Store::postgres_read_only(url).await.unwrap();
    assert_eq!(beside.verify(&log.project, |_| ()).await.unwrap().records, 3);
    let refused = beside.append(log.clone().some(&cart, 1)).await;
    assert!(matches!(refused, Err(AppendError::ReadOnly)), "{refused:?}");
    let refused = beside.create_project(&name("bank")).await;
    assert!(matches!(refused, Err(StoreError::ReadOnly)), "{refused:?}");

    for version in [0, 99] {
        place.tamper(&format!("UPDATE seaway_schema SET version = {version}")).await;
        let refused = Store::postgres_read_only(url).await.unwrap_err();
        match version {
            0 => assert!(matches!(refused, OpenError::NoLog { .. }), "{refused:?}"),
            _ => assert!(matches!(refused, OpenError::Newer { found: 99, .. }), "{refused:?}"),
        }
    }
}

#[tokio::test]
async fn what_cannot_be_done_says_what_to_do_instead() {
    let nobody = Store::postgres("postgres://127.0.0.1:1/none?user=x").await.unwrap_err();
    assert!(matches!(nobody, OpenError::Unusable { .. }), "{nobody:?}");
    let Some(place) = Place::postgres("instead").await else { return };
    let (store, _) = place.shop().await;
    let refused = store.backup("/tmp/none".as_ref()).await.unwrap_err();
    assert!(matches!(refused, BackupError::UsePgDump));
    assert!(refused.to_string().contains("pg_dump"));
    place.tamper("UPDATE seaway_schema SET version = 99").await;
    let Place::Postgres(url) = &place else { unreachable!() };
    let refused = Store::postgres(url).await.unwrap_err();
    assert!(matches!(refused, OpenError::Newer { found: 99, known: 3 }), "{refused:?}");
    assert_eq!(store.projects(None, 9).await.unwrap(), [name("shop")]);
}
