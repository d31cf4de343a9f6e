use seaway_model::{Digest, Fact, Kind, Revision, Seq, Timestamp};
use seaway_store::{Checkpoint, Ended, Ending, Filter, Order, Standing, Store};

use crate::builder::{Builder, Deployed, deployed, name};
use crate::place::Place;

const STAGE: &str = "shop/beta";

fn start(log: &mut Builder, deployed: &Deployed) {
    log.record(deployed, STAGE, Kind::StageStarted, Fact::Finished);
}

fn end(log: &mut Builder, deployed: &Deployed, fact: Fact) {
    log.record(deployed, STAGE, Kind::StageFinished, fact);
}

fn revision(standing: Option<Standing>) -> Option<u64> {
    standing.map(|standing| standing.revision.0)
}

/// The question as of every position is answered as it would have been answered then.
pub(crate) async fn latest(place: Place) {
    let (store, mut log) = place.shop().await;
    let shop = log.project.clone();
    let cart = |number| deployed(number, "cart");
    let till = |number| deployed(number, "till");
    let endings = [
        (cart(3), Fact::Finished),
        (till(2), Fact::Finished),
        (cart(9), Fact::Failed),
        (till(4), Fact::Finished),
        (cart(1), Fact::Finished),
        (cart(5), Fact::Superseded),
        (cart(6), Fact::Finished),
        (till(7), Fact::Failed),
        (cart(3), Fact::Finished),
    ];
    let mut then = Vec::new();
    for (deployed, fact) in &endings {
        start(&mut log, deployed);
        end(&mut log, deployed, *fact);
        store.append(log.take()).await.unwrap();
        then.push((log.seq, answers(&store, &log, None).await));
    }
    assert_eq!(then.last().unwrap().1, [Some(6), Some(6), Some(4), Some(9), Some(7)]);
    for (as_of, answer) in &then {
        assert_eq!(&answers(&store, &log, Some(*as_of)).await, answer, "as of {as_of}");
    }
    let until = |count: usize| endings[..count].iter();
    for (count, (_, answer)) in then.iter().enumerate() {
        let finished = until(count + 1).filter(|(_, fact)| *fact == Fact::Finished);
        assert_eq!(answer[0], finished.map(|(deployed, _)| deployed.revision.0).max());
    }
    let six = store.latest(&shop, STAGE, None, Ending::Finished, None).await.unwrap().unwrap();
    let ended = Some(Ended { fact: Fact::Finished, seq: Seq(14) });
    assert_eq!((six.opened, six.ended), (Seq(13), ended));
    assert_eq!(store.latest(&shop, "shop/x", None, Ending::Failed, None).await.unwrap(), None);
}

async fn answers(store: &Store, log: &Builder, as_of: Option<Seq>) -> [Option<u64>; 5] {
    let ask = async |service: Option<&str>, ending| {
        let service = service.map(name);
        let place = store.latest(&log.project, STAGE, service.as_ref(), ending, as_of);
        revision(place.await.unwrap())
    };
    [
        ask(None, Ending::Finished).await,
        ask(Some("cart"), Ending::Finished).await,
        ask(Some("till"), Ending::Finished).await,
        ask(None, Ending::Failed).await,
        ask(Some("till"), Ending::Failed).await,
    ]
}

pub(crate) async fn now_at(place: Place) {
    let (store, mut log) = place.shop().await;
    let (one, two, till) = (deployed(1, "cart"), deployed(2, "cart"), deployed(3, "till"));
    for (deployed, fact) in [
        (&two, Fact::Finished),
        (&one, Fact::RolledBack),
        (&two, Fact::Failed),
        (&till, Fact::Finished),
    ] {
        start(&mut log, deployed);
        end(&mut log, deployed, fact);
    }
    store.append(log.take()).await.unwrap();
    let ask = async |service: Option<&str>, as_of| {
        let service = service.map(name);
        let found = store.now_at(&log.project, STAGE, service.as_ref(), as_of);
        revision(found.await.unwrap())
    };
    assert_eq!(ask(None, None).await, Some(3));
    assert_eq!(ask(Some("cart"), None).await, Some(1));
    assert_eq!(ask(None, Some(Seq(6))).await, Some(1));
    assert_eq!(ask(None, Some(Seq(3))).await, Some(2));
    assert_eq!(ask(Some("till"), Some(Seq(7))).await, None);
    assert_eq!(ask(None, Some(Seq(1))).await, None);
}

pub(crate) async fn in_progress(place: Place) {
    let (store, mut log) = place.shop().await;
    let shop = log.project.clone();
    let carts: Vec<_> = (1..=5).map(|number| deployed(number, "cart")).collect();
    let group = |number: usize| format!("shop/beta/delivery#{number}/deployment/eu");
    for (index, cart) in carts.iter().enumerate() {
        log.record(cart, &group(index + 1), Kind::GroupStarted, Fact::Finished);
    }
    log.record(&carts[1], &group(2), Kind::GroupFinished, Fact::Failed);
    store.append(log.take()).await.unwrap();

    let ask = async |as_of, cursor| {
        let (till, other) = (name("till"), group(7));
        let none = store.in_progress(&shop, &other, Some(&till), as_of, cursor, 3);
        assert_eq!(none.await.unwrap().items, []);
        // All runs of a sequence share their places, however the question spells them.
        let place = "shop/beta/delivery/deployment/eu";
        let page = store.in_progress(&shop, place, None, as_of, cursor, 3);
        let page = page.await.unwrap();
        assert!(page.items.iter().all(|standing| standing.ended.is_none()));
        let revisions: Vec<_> = page.items.iter().map(|standing| standing.revision.0).collect();
        (revisions, page.next)
    };
    assert_eq!(ask(None, None).await, (vec![1, 3, 4], Some(Seq(4))));
    assert_eq!(ask(None, Some(Seq(4))).await, (vec![5], None));
    assert_eq!(ask(Some(Seq(5)), None).await, (vec![1, 2, 3], Some(Seq(3))));
    assert_eq!(ask(Some(Seq(2)), None).await, (vec![1, 2], None));

    // A retry opens what had failed, and only that.
    let member = format!("{}/host-7", group(2));
    log.record(&carts[1], &member, Kind::MemberDeployed, Fact::Retried);
    store.append(log.take()).await.unwrap();
    assert_eq!(ask(None, Some(Seq(4))).await, (vec![5, 2], None));
    let latest = store.latest(&shop, &group(2), None, Ending::Failed, None).await.unwrap();
    assert_eq!(revision(latest), Some(2));
    log.record(&carts[1], &group(2), Kind::GroupFinished, Fact::Finished);
    store.append(log.take()).await.unwrap();
    assert_eq!(ask(None, Some(Seq(4))).await, (vec![5], None));
    assert_eq!(ask(Some(Seq(7)), Some(Seq(4))).await, (vec![5, 2], None));
}

pub(crate) async fn list(place: Place) {
    let (store, mut log) = place.shop().await;
    let (cart, till) = (deployed(1, "cart"), deployed(2, "till"));
    for deployed in [&cart, &till] {
        log.record(deployed, "shop", Kind::PipelineStarted, Fact::Finished);
        for path in ["shop/beta", "shop/beta2", "shop/beta/delivery#1/test"] {
            log.record(deployed, path, Kind::TaskDone, Fact::Dispatched);
            log.record(deployed, path, Kind::TaskDone, Fact::Finished);
        }
    }
    log.alone(1);
    store.append(log.take()).await.unwrap();
    let ask = async |filter: Filter| {
        let mut all = Vec::new();
        for order in [Order::NewestFirst, Order::OldestFirst] {
            let (mut seqs, mut cursor) = (Vec::new(), None);
            loop {
                let page = store.list(&log.project, &filter, order, cursor, 2).await.unwrap();
                seqs.extend(page.items.iter().map(|listed| listed.row.seq.0));
                cursor = page.next;
                if cursor.is_none() {
                    break;
                }
            }
            all.push(seqs);
        }
        all[0].reverse();
        assert_eq!(all[0], all[1]);
        all.remove(0)
    };
    let any = Filter::default;
    assert_eq!(ask(any()).await, (1..=15).collect::<Vec<_>>());
    assert_eq!(
        ask(Filter { deployment: Some(till.id), ..any() }).await,
        [8, 9, 10, 11, 12, 13, 14]
    );
    let under = Some("shop/beta".into());
    assert_eq!(ask(Filter { under, ..any() }).await, [2, 3, 6, 7, 9, 10, 13, 14]);
    let (kind, fact) = (Some(Kind::TaskDone), Some(Fact::Finished));
    assert_eq!(ask(Filter { kind, fact, ..any() }).await, [3, 5, 7, 10, 12, 14]);
    let service = Some(name("cart"));
    let (since, until) = (Some(Seq(2)), Some(Seq(4)));
    assert_eq!(ask(Filter { service, since, until, ..any() }).await, [2, 3, 4]);
    let (revision, kind) = (Some(Revision(2)), Some(Kind::PipelineStarted));
    assert_eq!(ask(Filter { revision, kind, ..any() }).await, [8]);
    assert!(ask(Filter { kind: Some(Kind::Executor), ..any() }).await.is_empty());
    let first =
        store.list(&log.project, &any(), Order::OldestFirst, Some(Seq(6)), 1).await.unwrap();
    assert_eq!(&*first.items[0].path, "shop/beta/delivery#1/test");
}

pub(crate) async fn seq_at(place: Place) {
    let (store, log) = place.shop().await;
    let ask = async |at| store.seq_at(&log.project, at).await.unwrap();
    assert_eq!(ask(Timestamp(i64::MAX)).await, Seq(0));
    let append = log.clone().some(&deployed(1, "cart"), 37);
    store.append(append).await.unwrap();
    for seq in (0..=37).map(Seq) {
        let Timestamp(at) = Builder::time(seq);
        assert_eq!(ask(Timestamp(at)).await, seq);
        assert_eq!(ask(Timestamp(at - 1)).await, Seq(seq.0.saturating_sub(1)));
    }
    assert_eq!(ask(Timestamp(i64::MAX)).await, Seq(37));
}

pub(crate) async fn checkpoints(place: Place) {
    let (store, mut log) = place.shop().await;
    let shop = log.project.clone();
    let cart = deployed(1, "cart");
    assert_eq!(store.checkpoint(&shop).await.unwrap(), None);
    let mut all = Vec::new();
    for number in 1..=4u8 {
        store.append(log.some(&cart, 3)).await.unwrap();
        let checkpoint = Checkpoint {
            seq: log.seq,
            hash: log.hash,
            state_digest: Digest([number; 32]),
            bytes: vec![number; usize::from(number) * 300_000],
        };
        store.put_checkpoint(&shop, &checkpoint).await.unwrap();
        assert_eq!(store.checkpoint(&shop).await.unwrap().as_ref(), Some(&checkpoint));
        all.push(checkpoint);
    }
    // Writing one again replaces it.
    store.put_checkpoint(&shop, &all[3]).await.unwrap();
    assert_eq!(store.checkpoint(&shop).await.unwrap().as_ref(), Some(&all[3]));
    store.set_aside_checkpoint(&shop, all[3].seq, "its digest is wrong").await.unwrap();
    assert_eq!(store.checkpoint(&shop).await.unwrap().as_ref(), Some(&all[2]));
    store.set_aside_checkpoint(&shop, all[2].seq, "this one too").await.unwrap();
    assert_eq!(store.checkpoint(&shop).await.unwrap(), None);

    // A checkpoint of a history that is not this one is of no use. One that lost a piece is handed
    // out as it is: its reader finds out and sets it aside.
    store.append(log.some(&cart, 3)).await.unwrap();
    let mut foreign = Checkpoint { seq: log.seq, ..all[1].clone() };
    store.put_checkpoint(&shop, &foreign).await.unwrap();
    assert_eq!(store.checkpoint(&shop).await.unwrap(), None);
    foreign.hash = log.hash;
    store.put_checkpoint(&shop, &foreign).await.unwrap();
    place.tamper("DELETE FROM checkpoint_piece WHERE number = 1").await;
    let damaged = store.checkpoint(&shop).await.unwrap().expect("it is still the newest");
    assert!(damaged.seq == foreign.seq && damaged.bytes.len() < foreign.bytes.len());
}
