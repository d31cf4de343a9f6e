use std::future::ready;
use std::path::Path;

use seaway_model::{Fact, Kind, Name, Seq, Timestamp};
use seaway_store::{
    AppendError, ArchiveError, Checkpoint, Ending, Filter, Order, Store, StoreError,
};
use seaway_wire::{ArchiveBreak, ChainBreak};

use crate::builder::{Builder, Deployed, deployed};
use crate::place::Place;

/// A deployment that ends after `count` more records.
async fn deploy(store: &Store, log: &mut Builder, by: &Deployed, count: usize) -> Seq {
    log.record(by, "shop", Kind::PipelineStarted, Fact::Finished);
    let started = log.seq;
    store.append(log.some(by, count)).await.unwrap();
    log.record(by, "shop", Kind::PipelineFinished, Fact::Finished);
    store.append(log.take()).await.unwrap();
    started
}

async fn checkpoint(store: &Store, log: &Builder) {
    let (seq, hash) = (log.seq, log.hash);
    let checkpoint = Checkpoint { seq, hash, state_digest: hash, bytes: vec![7; 300_000] };
    store.put_checkpoint(&log.project, &checkpoint).await.unwrap();
}

/// What may be asked as of any position, archived or not.
async fn answers(store: &Store, project: &Name) -> Vec<String> {
    let mut all = Vec::new();
    for seq in [1, 600, 1_203, 1_500, 2_406, 2_500].map(Seq) {
        let latest = store.latest(project, "shop", None, Ending::Finished, Some(seq)).await;
        let open = store.in_progress(project, "shop", None, Some(seq), None, 9).await;
        all.push(format!("{:?} {:?}", latest.unwrap(), open.unwrap().items));
    }
    all
}

async fn listed(store: &Store, project: &Name, order: Order) -> Vec<u64> {
    let (mut seqs, mut cursor) = (Vec::new(), None);
    loop {
        let page = store.list(project, &Filter::default(), order, cursor, 400).await.unwrap();
        seqs.extend(page.items.iter().map(|listed| listed.row.seq.0));
        cursor = page.next;
        if cursor.is_none() {
            return seqs;
        }
    }
}

pub(crate) async fn goes_on(place: Place) {
    let (store, mut log) = place.shop().await;
    let dir = tempfile::tempdir().unwrap();
    let (shop, file) = (log.project.clone(), dir.path().join("one.jsonl"));
    let [one, two, three] = [1, 2, 3].map(|number| deployed(number, "cart"));
    deploy(&store, &mut log, &one, 1_200).await;
    assert_eq!(deploy(&store, &mut log, &two, 1_200).await, Seq(1_203));
    checkpoint(&store, &log).await;
    log.record(&three, "shop", Kind::PipelineStarted, Fact::Finished);
    store.append(log.some(&three, 99)).await.unwrap();
    let before = answers(&store, &shop).await;
    let rows = store.rows(&shop, Seq(0), 9_999).await.unwrap();
    assert_eq!((rows.len(), log.seq), (2_504, Seq(2_504)));

    // Others look at the log while most of it goes away.
    let (upto, hash) = (Seq(2_404), rows[2_403].hash);
    let looking = async {
        for _ in 0..10 {
            store.verify(&shop, |_| ()).await.unwrap();
        }
    };
    let (archived, ()) = tokio::join!(store.archive(&shop, upto, &file, ready(())), looking);
    let archived = archived.unwrap();
    assert_eq!((&archived.project, archived.first, archived.last), (&shop, Seq(1), upto));
    assert_eq!((archived.hash, Store::verify_archive(&file).await.unwrap()), (hash, archived));
    let base = store.archived(&shop).await.unwrap();
    assert_eq!((base.seq, base.hash), (upto, hash));

    assert_eq!(store.rows(&shop, Seq(0), 9_999).await.unwrap(), rows[2_404..]);
    assert_eq!(store.verify(&shop, |_| ()).await.unwrap().records, 100);
    let kept: Vec<_> = (2_405..=2_504).collect();
    assert_eq!(listed(&store, &shop, Order::OldestFirst).await, kept);
    let newest = listed(&store, &shop, Order::NewestFirst).await;
    assert_eq!(newest, kept.into_iter().rev().collect::<Vec<_>>());
    let stats = store.stats(&shop).await.unwrap();
    assert_eq!((stats.records, stats.deployments), (100, 3));
    assert_eq!(stats.times, Some((Builder::time(Seq(2_405)), Builder::time(Seq(2_504)))));
    let at = async |seq| store.seq_at(&shop, Builder::time(Seq(seq))).await.unwrap();
    assert_eq!((at(2_450).await, at(2_404).await, at(17).await), (Seq(2_450), upto, upto));
    assert_eq!(store.seq_at(&shop, Timestamp(i64::MAX)).await.unwrap(), Seq(2_504));
    assert_eq!(answers(&store, &shop).await, before);

    // A deployment is whole or said to be archived, never a part of it.
    let three = store.deployment_rows(&shop, three.id, Seq(0), 9_999).await.unwrap();
    assert_eq!((three.len(), three[0].previous), (100, hash));
    for gone in [&one, &two] {
        let refused = store.deployment_rows(&shop, gone.id, Seq(0), 9).await;
        assert!(matches!(refused, Err(StoreError::Archived { .. })), "{refused:?}");
        assert!(store.deployment(&shop, gone.id).await.unwrap().is_some());
    }
    assert_eq!(store.checkpoint(&shop).await.unwrap().unwrap().seq, upto);

    // Whoever was about to write has to look again.
    let stale = store.append(log.clone().some(&deployed(3, "cart"), 3)).await;
    assert!(matches!(stale, Err(AppendError::Fenced { .. })), "{stale:?}");
    log.epoch = store.acquire(&shop, "again").await.unwrap();
    store.append(log.some(&deployed(3, "cart"), 3)).await.unwrap();
    drop(store);
    let store = place.open().await;
    let verified = store.verify(&shop, |_| ()).await.unwrap();
    assert_eq!((verified.records, verified.head.hash), (103, log.hash));
}

/// The limit is what loading the project needs.
pub(crate) async fn limits(place: Place) {
    let (store, mut log) = place.shop().await;
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let shop = log.project.clone();
    let [one, two, three] = [1, 2, 3].map(|number| deployed(number, "cart"));
    deploy(&store, &mut log, &one, 8).await;
    let refused = store.archive(&shop, Seq(5), &path("none"), ready(())).await.unwrap_err();
    assert!(matches!(refused, ArchiveError::TooFar { possible: Seq(0), .. }), "{refused:?}");
    assert!(refused.to_string().contains("checkpoint"), "{refused}");
    assert!(!path("none").exists());
    checkpoint(&store, &log).await;
    let second = deploy(&store, &mut log, &two, 8).await;
    assert_eq!((log.seq, second), (Seq(20), Seq(11)));
    let possible = async |upto| store.archivable(&shop, Seq(upto)).await.unwrap();
    assert_eq!(
        (possible(99).await, possible(10).await, possible(7).await),
        (Seq(10), Seq(10), Seq(7))
    );
    checkpoint(&store, &log).await;
    assert_eq!((possible(99).await, possible(15).await), (Seq(20), Seq(15)));

    // A retry behind the checkpoints folds the deployment from its beginning.
    log.record(&two, "shop/beta/delivery#1/test", Kind::TaskDone, Fact::Retried);
    store.append(log.take()).await.unwrap();
    assert_eq!((possible(99).await, possible(9).await), (Seq(10), Seq(9)));
    store.archive(&shop, Seq(10), &path("one"), ready(())).await.unwrap();
    let nothing = store.archive(&shop, Seq(10), &path("two"), ready(())).await.unwrap_err();
    assert!(matches!(nothing, ArchiveError::Nothing { base: Seq(10) }), "{nothing:?}");

    // The first checkpoint behind what is archived outlives all newer ones.
    log.epoch = store.acquire(&shop, "again").await.unwrap();
    for _ in 0..3 {
        store.append(log.some(&three, 5)).await.unwrap();
        checkpoint(&store, &log).await;
    }
    for seq in [36, 31] {
        assert_eq!(store.checkpoint(&shop).await.unwrap().unwrap().seq, Seq(seq));
        store.set_aside_checkpoint(&shop, Seq(seq), "damaged").await.unwrap();
    }
    assert_eq!(store.checkpoint(&shop).await.unwrap().unwrap().seq, Seq(10));
}

/// Somebody goes on with a deployment while it is archived: one of the two has to give way.
pub(crate) async fn race(place: Place) {
    let (store, mut log) = place.shop().await;
    let dir = tempfile::tempdir().unwrap();
    let shop = log.project.clone();
    let (mut archived, mut retried) = (0, 0);
    for number in 1..=30 {
        let cart = deployed(number, "cart");
        deploy(&store, &mut log, &cart, 20).await;
        checkpoint(&store, &log).await;
        let file = dir.path().join(number.to_string());
        let mut next = log.clone();
        let retry = async {
            for _ in 0..number % 6 {
                store.head(&shop).await.unwrap();
            }
            let read = store.deployment_rows(&shop, cart.id, Seq(0), 99).await;
            if let Err(error) = read {
                assert!(matches!(error, StoreError::Archived { .. }), "{error:?}");
                return false;
            }
            next.record(&cart, "shop/beta/delivery#1/test", Kind::TaskDone, Fact::Retried);
            match store.append(next.take()).await {
                Ok(()) => true,
                Err(AppendError::Fenced { .. }) => false,
                Err(error) => panic!("{error:?}"),
            }
        };
        match tokio::join!(store.archive(&shop, log.seq, &file, ready(())), retry) {
            (Ok(_), false) => archived += 1,
            (Err(ArchiveError::TooFar { .. }), true) => {
                assert!(!file.exists());
                retried += 1;
                log = next;
            }
            other => panic!("round {number}: {other:?}"),
        }
        log.epoch = store.acquire(&shop, "again").await.unwrap();
        store.verify(&shop, |_| ()).await.unwrap();
    }
    assert_eq!(archived + retried, 30);
}

pub(crate) async fn interrupted(place: Place) {
    let (store, mut log) = place.shop().await;
    let dir = tempfile::tempdir().unwrap();
    let [first, second, broken] = ["1", "2", "3"].map(|name| dir.path().join(name));
    let shop = log.project.clone();
    deploy(&store, &mut log, &deployed(1, "cart"), 38).await;
    checkpoint(&store, &log).await;
    store.archive(&shop, Seq(20), &first, ready(())).await.unwrap();
    let exists = store.archive(&shop, Seq(30), &first, ready(())).await.unwrap_err();
    assert!(matches!(exists, ArchiveError::Exists(_)), "{exists:?}");

    // One that was killed in the middle of removing leaves some that are in its file.
    let half = "UPDATE project SET base = 25, base_hash = (SELECT hash FROM record WHERE seq = 25);
         DELETE FROM record WHERE seq <= 22";
    place.tamper(half).await;
    assert_eq!(store.verify(&shop, |_| ()).await.unwrap().records, 15);
    assert_eq!(listed(&store, &shop, Order::OldestFirst).await, (26..=40).collect::<Vec<_>>());
    let rest = store.archive(&shop, Seq(30), &second, ready(())).await.unwrap();
    assert_eq!((rest.first, rest.last), (Seq(26), Seq(30)));

    // A log that was changed is not archived, and nothing of it is removed.
    place.tamper("UPDATE record SET attempt = 9 WHERE seq = 35").await;
    let refused = store.archive(&shop, Seq(40), &broken, ready(())).await.unwrap_err();
    assert!(matches!(refused, ArchiveError::Log(_)), "{refused:?}");
    assert!(!broken.exists());
    assert_eq!(store.archived(&shop).await.unwrap().seq, Seq(30));
    assert_eq!(store.rows(&shop, Seq(0), 99).await.unwrap().len(), 10);
}

#[tokio::test]
async fn what_is_done_to_an_archive_is_found() {
    let (place, dir) = (Place::sqlite(), tempfile::tempdir().unwrap());
    let (store, mut log) = place.shop().await;
    deploy(&store, &mut log, &deployed(1, "cart"), 8).await;
    log.alone(1);
    store.append(log.take()).await.unwrap();
    checkpoint(&store, &log).await;
    let file = dir.path().join("archive");
    store.archive(&log.project, Seq(11), &file, ready(())).await.unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 13);

    let spoiled = async |lines: &[&str]| {
        std::fs::write(&file, lines.join("\n")).unwrap();
        match Store::verify_archive(&file).await {
            Err(ArchiveError::Broken { source, .. }) => source,
            other => panic!("{other:?}"),
        }
    };
    let cut = spoiled(&lines[..12]).await;
    assert!(matches!(cut, ArchiveBreak::Incomplete), "{cut:?}");
    let gap = spoiled(&[&lines[..5], &lines[6..]].concat()).await;
    assert!(matches!(gap, ArchiveBreak::Chain(ChainBreak::Gap { .. })), "{gap:?}");
    let short = spoiled(&[&lines[..11], &lines[12..]].concat()).await;
    assert!(matches!(short, ArchiveBreak::OtherEnd { last: Seq(10) }), "{short:?}");
    let long = spoiled(&[&lines[..], &lines[12..]].concat()).await;
    assert!(matches!(long, ArchiveBreak::BehindTheEnd { line: 14 }), "{long:?}");
    for (from, to) in [("ann", "bob"), ("größer", "kleiner"), ("structure-changed", "changed")] {
        let changed = lines[11].replace(from, to);
        assert_ne!(changed, lines[11]);
        let found = spoiled(&[&lines[..11], &[&changed], &lines[12..]].concat()).await;
        assert!(matches!(found, ArchiveBreak::Chain(ChainBreak::Changed { .. })), "{found:?}");
    }
    let renamed = lines[3].replace("shop/beta", "shop/prod");
    let found = spoiled(&[&lines[..3], &[&renamed], &lines[4..]].concat()).await;
    assert!(matches!(found, ArchiveBreak::Chain(ChainBreak::Changed { .. })), "{found:?}");
    let newer = lines[0].replace("\"version\":1", "\"version\":2");
    let found = spoiled(&[&[&*newer], &lines[1..]].concat()).await;
    assert!(matches!(found, ArchiveBreak::Version(2)), "{found:?}");
    let other = spoiled(&["# A shopping list"]).await;
    assert!(matches!(other, ArchiveBreak::Unreadable { line: 1, .. }), "{other:?}");
    let missing = Store::verify_archive(Path::new("nowhere")).await.unwrap_err();
    assert!(matches!(missing, ArchiveError::Failed { .. }), "{missing:?}");
}
