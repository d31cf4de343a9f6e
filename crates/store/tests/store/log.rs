use seaway_kernel::{Actor, Detail};
use seaway_model::{Digest, Epoch, Fact, Kind, Revision, Seq, TargetId};
use seaway_store::{AppendError, StoreError};
use seaway_wire::Linked;

use crate::builder::{Builder, deployed, name};
use crate::place::Place;

pub(crate) async fn read_back(place: Place) {
    let (store, mut log) = place.shop().await;
    let shop = log.project.clone();
    let head = store.head(&shop).await.unwrap();
    assert_eq!((head.seq, head.hash), (Seq(0), Digest::GENESIS));

    let (one, two) = (deployed(1, "cart"), deployed(2, "cart"));
    log.alone(1);
    for deployed in [&one, &two] {
        log.record(deployed, "shop", Kind::PipelineStarted, Fact::Finished);
    }
    let appends = [log.take(), log.some(&one, 3), log.some(&two, 4)];
    let mut rows = Vec::new();
    for append in appends.clone() {
        rows.extend(append.rows.clone());
        store.append(append).await.unwrap();
    }

    let head = store.head(&shop).await.unwrap();
    assert_eq!((head.seq, head.hash), (Seq(10), log.hash));
    assert_eq!(head.at, Builder::time(Seq(10)));
    assert_eq!(store.rows(&shop, Seq(0), 100).await.unwrap(), rows);
    assert_eq!(store.rows(&shop, Seq(2), 3).await.unwrap(), rows[2..5]);
    assert_eq!(store.rows(&shop, Seq(10), 3).await.unwrap(), []);
    let record = rows[0].open().unwrap();
    assert_eq!(record.by, Actor::named("ann"));
    assert!(matches!(record.detail.as_deref(), Some(Detail::Answer(_))));

    let of_two = store.deployment_rows(&shop, two.id, Seq(0), 3).await.unwrap();
    assert_eq!(of_two, Linked::pick(&rows, |row| row.deployment == Some(two.id))[..3]);
    assert_eq!(of_two[0].previous, rows[1].hash);
    let rest = store.deployment_rows(&shop, two.id, of_two[2].row.seq, 3).await.unwrap();
    assert_eq!(rest.into_iter().map(|it| it.row).collect::<Vec<_>>(), rows[8..]);

    let targets = store.targets(&shop, TargetId(1), 100).await.unwrap();
    assert_eq!(targets, appends.iter().flat_map(|a| a.targets.clone()).collect::<Vec<_>>());
    let root = store.targets(&shop, TargetId(0), 1).await.unwrap();
    assert_eq!(&*root[0].path, "shop");

    assert_eq!(store.revision(&shop, &name("cart"), "1.2").await.unwrap(), Some(Revision(2)));
    assert_eq!(store.revision(&shop, &name("cart"), "1.3").await.unwrap(), None);
    let precedents = async |id, version| {
        let found = store.precedents(&shop, id, &name("cart"), version, None).await.unwrap();
        (found.started, found.revision)
    };
    assert_eq!(precedents(two.id, "1.1").await, (Some(Seq(3)), Some(Revision(1))));
    assert_eq!(precedents(deployed(9, "cart").id, "1.3").await, (None, None));
    let start = store.deployment(&shop, two.id).await.unwrap();
    assert_eq!(start.as_ref(), Some(&appends[0].starts[1]));

    let stats = store.stats(&shop).await.unwrap();
    assert_eq!((stats.records, stats.deployments, stats.targets), (10, 2, 4));
    assert_eq!(stats.times, Some((Builder::time(Seq(1)), Builder::time(Seq(10)))));
    assert!(stats.bytes > 0);
    assert_eq!(store.verify(&shop, |_| ()).await.unwrap().records, 10);
}

pub(crate) async fn refusals(place: Place) {
    let (store, mut log) = place.shop().await;
    let cart = deployed(1, "cart");
    log.alone(7);
    log.record_n(&cart, "shop", Kind::PipelineStarted, Fact::Finished, 1);
    store.append(log.take()).await.unwrap();

    let mut ahead = log.clone();
    ahead.seq = Seq(5);
    let refused = store.append(ahead.some(&cart, 1)).await;
    let Err(AppendError::Position { expected: Seq(3), found: Seq(6) }) = refused else {
        panic!("{refused:?}");
    };

    let mut twice = log.clone();
    twice.record(&cart, "shop/beta", Kind::StageStarted, Fact::Finished);
    twice.record_n(&cart, "shop", Kind::PipelineStarted, Fact::Finished, 1);
    let refused = store.append(twice.take()).await;
    assert!(matches!(refused, Err(AppendError::Duplicate { .. })), "{refused:?}");

    let mut twice = log.clone();
    twice.alone(7);
    let refused = store.append(twice.take()).await;
    assert!(matches!(refused, Err(AppendError::Duplicate { .. })), "{refused:?}");

    let mut early = log.clone();
    let mut append = early.some(&cart, 1);
    append.rows[0].at = Builder::time(Seq(1));
    let refused = store.append(append).await;
    assert!(matches!(refused, Err(AppendError::Malformed(_))), "{refused:?}");

    let refused = store.append(Builder::new("nowhere", Epoch(1)).some(&cart, 1)).await;
    assert!(matches!(refused, Err(AppendError::UnknownProject(_))), "{refused:?}");

    // Nothing of what was refused is left, and the log goes on.
    assert_eq!(store.head(&log.project).await.unwrap().seq, Seq(2));
    assert_eq!(store.targets(&log.project, TargetId(1), 9).await.unwrap(), []);
    store.append(log.some(&cart, 2)).await.unwrap();
    assert_eq!(store.verify(&log.project, |_| ()).await.unwrap().records, 4);
}

pub(crate) async fn projects(place: Place) {
    let (store, mut shop) = place.shop().await;
    for project in ["bank", "zoo", "bank"] {
        store.create_project(&name(project)).await.unwrap();
    }
    let all = store.projects(None, 10).await.unwrap();
    assert_eq!(all, [name("bank"), name("shop"), name("zoo")]);
    assert_eq!(store.projects(Some(&all[0]), 1).await.unwrap(), all[1..2]);

    let epoch = store.acquire(&name("zoo"), "test").await.unwrap();
    let mut zoo = Builder::new("zoo", epoch);
    let cart = deployed(1, "cart");
    zoo.record_n(&cart, "zoo", Kind::PipelineStarted, Fact::Finished, 1);
    store.append(zoo.take()).await.unwrap();
    // Appends of all projects travel together, but one that fails half-way fails alone.
    let mut twice = zoo.clone();
    twice.record(&cart, "zoo/beta", Kind::StageStarted, Fact::Finished);
    twice.record_n(&cart, "zoo", Kind::PipelineStarted, Fact::Finished, 1);
    let twice = twice.take();
    for _ in 0..20 {
        let (first, good, second) = tokio::join!(
            store.append(twice.clone()),
            store.append(shop.some(&cart, 2)),
            store.append(twice.clone()),
        );
        good.unwrap();
        for refused in [first, second] {
            assert!(matches!(refused, Err(AppendError::Duplicate { .. })), "{refused:?}");
        }
    }
    assert_eq!(store.verify(&shop.project, |_| ()).await.unwrap().records, 40);
    assert_eq!(store.verify(&zoo.project, |_| ()).await.unwrap().records, 1);
    assert_eq!(store.rows(&zoo.project, Seq(0), 9).await.unwrap().len(), 1);
    assert_eq!(store.stats(&zoo.project).await.unwrap().targets, 1);
    let unknown = store.rows(&name("nowhere"), Seq(0), 9).await;
    assert!(matches!(unknown, Err(StoreError::UnknownProject(_))), "{unknown:?}");
}

pub(crate) async fn reopened(place: Place) {
    let (store, mut log) = place.shop().await;
    let cart = deployed(1, "cart");
    store.append(log.some(&cart, 5)).await.unwrap();
    drop(store);

    let store = place.open().await;
    assert_eq!(store.verify(&log.project, |_| ()).await.unwrap().head.hash, log.hash);
    log.epoch = store.acquire(&log.project, "later").await.unwrap();
    assert_eq!(log.epoch, Epoch(2));
    store.append(log.some(&cart, 5)).await.unwrap();
    assert_eq!(store.verify(&log.project, |_| ()).await.unwrap().records, 10);
}

pub(crate) async fn for_people(place: Place) {
    let (store, mut log) = place.shop().await;
    let cart = deployed(1, "cart");
    log.record(&cart, "shop", Kind::PipelineStarted, Fact::Finished);
    log.record(&cart, "shop/beta/delivery#1/test", Kind::TaskDone, Fact::Dispatched);
    store.append(log.take()).await.unwrap();
    let line = "SELECT at || ' ' || CAST(deployment AS TEXT) || ' ' || service || ' ' || version
         || ' ' || target || ' ' || kind || ' ' || fact || ' ' || \"by\" || ' ' || hash
         FROM log WHERE project = 'shop' AND seq = 2";
    let expected = format!(
        "2023-11-14T22:13:40.000000Z {} cart 1.1 shop/beta/delivery#1/test task-done dispatched \
         seaway {}",
        cart.id, log.hash,
    );
    assert_eq!(place.ask(line).await, expected);
}
