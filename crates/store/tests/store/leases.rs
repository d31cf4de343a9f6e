use std::sync::{Arc, Mutex};
use std::time::Duration;

use seaway_model::{Epoch, Fact, Kind, Name, Span};
use seaway_store::{AppendError, Lease, Store, StoreError};
use tokio::time::Instant;

use crate::builder::{Builder, deployed, name};
use crate::place::Place;

const LONG: Span = Span::from_secs(600);
const SHORT: Span = Span::from_millis(20);

fn held(epoch: u64) -> Lease {
    Lease::Held { epoch: Epoch(epoch) }
}

fn elsewhere(owner: &str, address: Option<&str>) -> Lease {
    Lease::Elsewhere { owner: owner.into(), address: address.map(Into::into) }
}

pub(crate) async fn hand_over(place: Place) {
    let store = place.open().await;
    let beside = place.beside(&store).await;
    let (shop, zoo) = (name("shop"), name("zoo"));
    let unknown = store.lease(&shop, "a", LONG).await;
    assert!(matches!(unknown, Err(StoreError::UnknownProject(_))), "{unknown:?}");
    for project in [&shop, &zoo] {
        store.create_project(project).await.unwrap();
        assert_eq!(store.owner(project).await.unwrap(), None);
    }
    assert_eq!(store.lease(&shop, "a", LONG).await.unwrap(), held(1));
    // Who takes it again means to fence what it has written itself.
    assert_eq!(store.lease(&shop, "a", LONG).await.unwrap(), held(2));
    assert_eq!(beside.lease(&shop, "b", LONG).await.unwrap(), elsewhere("a", None));
    store.announce("a", "http://old").await.unwrap();
    store.announce("a", "http://a").await.unwrap();
    assert_eq!(beside.lease(&shop, "b", LONG).await.unwrap(), elsewhere("a", Some("http://a")));
    let owner = beside.owner(&shop).await.unwrap().unwrap();
    assert_eq!((&*owner.id, owner.address.as_deref()), ("a", Some("http://a")));

    assert_eq!(store.lease(&zoo, "a", LONG).await.unwrap(), held(1));
    let both = [(shop.clone(), Epoch(2)), (zoo.clone(), Epoch(1))];
    assert_eq!(store.renew_leases("a", LONG).await.unwrap(), both);
    assert_eq!(beside.renew_leases("b", LONG).await.unwrap(), []);
    // Only the owner gives something back.
    beside.release_all("b").await.unwrap();
    assert_eq!(beside.lease(&shop, "b", LONG).await.unwrap(), elsewhere("a", Some("http://a")));
    assert_eq!(store.expired(None, 9).await.unwrap(), []);

    // A tool takes what it wants and leaves no lease behind, which nobody has to take over.
    assert_eq!(store.acquire(&shop, "tool").await.unwrap(), Epoch(3));
    store.release_all("tool").await.unwrap();
    assert_eq!(store.expired(None, 9).await.unwrap(), []);
    assert_eq!(store.renew_leases("a", LONG).await.unwrap(), both[1..]);
    assert_eq!(beside.lease(&shop, "b", LONG).await.unwrap(), held(4));
    give_back(&store, &beside).await;
}

/// An owner that stops leaves its projects to whoever looks for them.
async fn give_back(store: &Store, beside: &Store) {
    let projects = ["bar", "inn", "quay"].map(name);
    let [bar, inn, quay] = &projects;
    for project in &projects {
        store.create_project(project).await.unwrap();
    }
    // What was never owned waits for nothing.
    assert_eq!(store.expired(None, 9).await.unwrap(), []);
    for project in &projects {
        assert_eq!(store.lease(project, "c", LONG).await.unwrap(), held(1));
    }
    store.release_all("c").await.unwrap();
    // Others find it at once, and in pages.
    assert_eq!(store.owner(inn).await.unwrap(), None);
    assert_eq!(beside.expired(None, 9).await.unwrap(), projects);
    assert_eq!(beside.expired(None, 2).await.unwrap(), projects[..2]);
    assert_eq!(beside.expired(Some(inn), 2).await.unwrap(), projects[2..]);
    // Once somebody has taken it, it is not found again.
    assert_eq!(beside.lease(inn, "d", LONG).await.unwrap(), held(2));
    store.release_all("c").await.unwrap();
    assert_eq!(beside.expired(None, 9).await.unwrap(), [bar.clone(), quay.clone()]);
    assert_eq!(store.lease(inn, "e", LONG).await.unwrap(), elsewhere("d", None));
}

async fn until_expired(store: &Store, project: &Name) {
    while store.expired(None, 9).await.unwrap() != [project.clone()] {}
    assert_eq!(store.owner(project).await.unwrap(), None);
}

pub(crate) async fn take_over(place: Place) {
    let store = place.open().await;
    let beside = place.beside(&store).await;
    let (shop, cart) = (name("shop"), deployed(1, "cart"));
    store.create_project(&shop).await.unwrap();
    assert_eq!(store.lease(&shop, "a", SHORT).await.unwrap(), held(1));
    let mut old = Builder::new("shop", Epoch(1));
    store.append(old.some(&cart, 2)).await.unwrap();

    // Nobody has taken it: the owner may have it back, by the same epoch or by a new one.
    until_expired(&store, &shop).await;
    store.append(old.some(&cart, 2)).await.unwrap();
    assert_eq!(store.renew_leases("a", LONG).await.unwrap(), [(shop.clone(), Epoch(1))]);
    assert_eq!(store.lease(&shop, "a", SHORT).await.unwrap(), held(2));
    old.epoch = Epoch(2);
    until_expired(&store, &shop).await;
    assert_eq!(store.lease(&shop, "a", SHORT).await.unwrap(), held(3));
    old.epoch = Epoch(3);

    until_expired(&store, &shop).await;
    assert_eq!(beside.lease(&shop, "b", LONG).await.unwrap(), held(4));
    let refused = store.append(old.clone().some(&cart, 1)).await;
    assert!(matches!(refused, Err(AppendError::Fenced { current: Epoch(4) })), "{refused:?}");
    assert_eq!(store.renew_leases("a", LONG).await.unwrap(), []);
    assert_eq!(store.lease(&shop, "a", LONG).await.unwrap(), elsewhere("b", None));
    let mut new = old;
    new.epoch = Epoch(4);
    beside.append(new.some(&cart, 1)).await.unwrap();
    assert_eq!(store.verify(&shop, |_| ()).await.unwrap().head.hash, new.hash);
}

/// What is known for certain about the newest lease that anybody was told of.
#[derive(Debug)]
struct Newest {
    epoch: Epoch,
    owner: usize,
    /// The database cannot let it run out before.
    live_until: Instant,
}

#[derive(Clone)]
struct Ledger(Arc<Mutex<Newest>>);

impl Ledger {
    /// Somebody was told that the lease is theirs. Says whether that is news.
    fn held(&self, owner: usize, epoch: Epoch, asked: Instant) -> bool {
        let mut newest = self.0.lock().unwrap();
        if epoch < newest.epoch {
            return false;
        }
        if epoch == newest.epoch {
            assert_eq!(newest.owner, owner);
        } else {
            assert!(newest.live_until <= Instant::now(), "{owner} took {newest:?}");
        }
        // SQLite tells the time in whole milliseconds.
        let told = Duration::from_millis(1);
        let live_until = asked + Duration::from_micros(SHORT.0.unsigned_abs()) - told;
        *newest = Newest { epoch, owner, live_until };
        true
    }

    fn gives_back(&self, epoch: Epoch) {
        let mut newest = self.0.lock().unwrap();
        if newest.epoch == epoch {
            newest.live_until = Instant::now();
        }
    }

    fn epoch(&self) -> Epoch {
        self.0.lock().unwrap().epoch
    }
}

const LAST: Epoch = Epoch(40);

pub(crate) async fn race(place: Place) {
    let store = place.open().await;
    let shop = name("shop");
    store.create_project(&shop).await.unwrap();
    let newest = Newest { epoch: Epoch(0), owner: 0, live_until: Instant::now() };
    let ledger = Ledger(Arc::new(Mutex::new(newest)));
    let mut owners = Vec::new();
    for owner in 0..4 {
        let store = place.beside(&store).await;
        owners.push(tokio::spawn(compete(store, owner, ledger.clone())));
    }
    let mut written = 0;
    for owner in owners {
        written += owner.await.unwrap();
    }
    assert!(ledger.epoch() >= LAST);
    assert_eq!(store.verify(&shop, |_| ()).await.unwrap().records, written);
    assert!(written > 0);
}

/// Takes the project whenever it can, writes a record, and gives it back every other time.
async fn compete(store: Store, owner: usize, ledger: Ledger) -> u64 {
    let (shop, id, cart) = (name("shop"), format!("owner-{owner}"), deployed(1, "cart"));
    let mut written = 0;
    while ledger.epoch() < LAST {
        let asked = Instant::now();
        let Lease::Held { epoch } = store.lease(&shop, &id, SHORT).await.unwrap() else { continue };
        if !ledger.held(owner, epoch, asked) {
            continue;
        }
        let head = store.head(&shop).await.unwrap();
        let mut log = Builder::new("shop", epoch);
        (log.seq, log.hash) = (head.seq, head.hash);
        log.record(&cart, "shop", Kind::StageStarted, Fact::Changed);
        match store.append(log.take()).await {
            Ok(()) => written += 1,
            Err(AppendError::Fenced { current }) => assert!(current > epoch),
            Err(error) => panic!("{error:?}"),
        }
        if epoch.0.is_multiple_of(2) {
            ledger.gives_back(epoch);
            store.release_all(&id).await.unwrap();
        } else {
            // It hangs until its lease has run out.
            while store.owner(&shop).await.unwrap().is_some_and(|owner| *owner.id == *id) {}
        }
    }
    written
}
