use seaway_model::{Fact, Kind, Name, Seq, TargetId};
use seaway_store::{Ended, Ending, Figures, ServiceStanding, Store};

use crate::builder::{Builder, Deployed, deployed, name};
use crate::place::Place;

const STAGE: &str = "shop/beta";

fn enter(log: &mut Builder, deployed: &Deployed) {
    log.record(deployed, "shop", Kind::PipelineStarted, Fact::Finished);
    log.record(deployed, STAGE, Kind::StageStarted, Fact::Finished);
}

fn leave(log: &mut Builder, deployed: &Deployed, fact: Fact) {
    log.record(deployed, STAGE, Kind::StageFinished, fact);
}

/// More services than one statement asks for, each in a state of its own.
pub(crate) async fn board(place: Place) {
    let (store, mut log) = place.shop().await;
    let shop = log.project.clone();
    let services: Vec<Name> = (0..350).map(|number| name(&format!("s{number:03}"))).collect();
    let mut revision = 0;
    for (number, service) in services.iter().enumerate() {
        for round in 0..3 {
            revision += 1;
            let deployed = deployed(revision, service.as_str());
            enter(&mut log, &deployed);
            match (number + round) % 5 {
                0 => leave(&mut log, &deployed, Fact::Finished),
                1 => leave(&mut log, &deployed, Fact::Failed),
                2 => leave(&mut log, &deployed, Fact::RolledBack),
                3 => leave(&mut log, &deployed, Fact::Cancelled),
                _ => {}
            }
        }
    }
    let busy = name("busy");
    for _ in 0..5 {
        revision += 1;
        enter(&mut log, &deployed(revision, "busy"));
    }
    store.append(log.take()).await.unwrap();
    let mut all = services;
    all.extend([busy.clone(), name("never")]);

    let head = store.head(&shop).await.unwrap().seq;
    for as_of in [1, 3, 40, 777, head.0].map(Seq) {
        let board = store.board(&shop, STAGE, &all, as_of).await.unwrap();
        for service in &all {
            let found = board.get(service).cloned().unwrap_or_default();
            assert_eq!(found, one(&store, &shop, service, as_of).await, "{service} {as_of}");
        }
        assert!(!board.contains_key("never"), "{as_of}");
    }
    let board = store.board(&shop, STAGE, std::slice::from_ref(&busy), head).await.unwrap();
    assert_eq!((board.len(), board[&busy].count, board[&busy].moving.len()), (1, 5, Store::MOVING));
    assert!(store.board(&shop, "shop/prod", &all, head).await.unwrap().is_empty());

    assert_eq!(store.stages_used(&shop, Seq(1)).await.unwrap(), []);
    assert_eq!(store.stages_used(&shop, head).await.unwrap(), [name("beta")]);
    // Nothing above ends a pipeline.
    let Figures { projects, in_progress, bytes } = store.figures().await.unwrap();
    assert_eq!((projects, in_progress), (1, revision));
    assert!(bytes > 0);
}

/// What the questions about one service say.
async fn one(store: &Store, shop: &Name, service: &Name, as_of: Seq) -> ServiceStanding {
    let (service, as_of) = (Some(service), Some(as_of));
    let open = store.in_progress(shop, STAGE, service, as_of, None, 100).await.unwrap().items;
    ServiceStanding {
        current: store.now_at(shop, STAGE, service, as_of).await.unwrap(),
        failed: store.latest(shop, STAGE, service, Ending::Failed, as_of).await.unwrap(),
        count: open.len() as u64,
        moving: open.into_iter().take(Store::MOVING).collect(),
    }
}

pub(crate) async fn records(place: Place) {
    let (store, mut log) = place.shop().await;
    let shop = log.project.clone();
    let (cart, till) = (deployed(1, "cart"), deployed(2, "till"));
    let run = "shop/beta/delivery#1/test";
    for it in [&cart, &till] {
        enter(&mut log, it);
        log.record(it, run, Kind::TaskDone, Fact::Dispatched);
        log.record(it, run, Kind::TaskDone, Fact::Failed);
        leave(&mut log, it, Fact::Failed);
    }
    log.record(&cart, "shop", Kind::PipelineFinished, Fact::Failed);
    store.append(log.take()).await.unwrap();

    let ask = async |after, limit| {
        let found = store.deployment_records(&shop, cart.id, after, limit).await.unwrap();
        found.iter().map(|it| (it.row.seq.0, it.path.to_string())).collect::<Vec<_>>()
    };
    let first = [(1, "shop"), (2, STAGE), (3, run)].map(|(seq, path)| (seq, path.to_owned()));
    let rest = [(4, run), (5, STAGE), (11, "shop")].map(|(seq, path)| (seq, path.to_owned()));
    assert_eq!(ask(Seq(0), 3).await, first);
    assert_eq!(ask(Seq(3), 100).await, rest);

    let standing = async |it: &Deployed| store.deployment_standing(&shop, it.id).await.unwrap();
    let failed = Some(Ended { fact: Fact::Failed, seq: Seq(11) });
    let found = standing(&cart).await.unwrap();
    assert_eq!((found.start.service.as_str(), found.ended), ("cart", failed));
    assert_eq!(standing(&till).await.unwrap().ended, None);
    assert_eq!(standing(&deployed(9, "cart")).await, None);
    log.record(&cart, run, Kind::TaskDone, Fact::Retried);
    store.append(log.take()).await.unwrap();
    assert_eq!(standing(&cart).await.unwrap().ended, None);

    let wanted: Vec<TargetId> = (0..40).map(TargetId).collect();
    let mut paths = store.paths(&shop, &wanted).await.unwrap();
    paths.sort();
    let shown: Vec<&str> = paths.iter().map(|(_, path)| &**path).collect();
    assert_eq!(shown, ["shop", STAGE, "shop/beta/delivery#1", run]);
}
