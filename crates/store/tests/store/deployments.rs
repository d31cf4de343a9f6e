use seaway_model::{Fact, Kind, Seq};
use seaway_store::Ended;

use crate::builder::{Builder, Deployed, deployed, name};
use crate::place::Place;

fn start(log: &mut Builder, deployed: &Deployed) {
    let root = log.project.to_string();
    log.record(deployed, &root, Kind::PipelineStarted, Fact::Finished);
}

pub(crate) async fn listed(place: Place) {
    let (store, mut log) = place.shop().await;
    let shop = log.project.clone();
    assert_eq!(store.first_open(&shop).await.unwrap(), None);
    // Revisions need not be in the order in which they are deployed.
    let all: Vec<_> = [(1, "cart"), (5, "till"), (3, "cart"), (4, "till"), (2, "cart")]
        .map(|(revision, service)| deployed(revision, service))
        .into();
    for deployed in &all {
        start(&mut log, deployed);
    }
    log.record(&all[0], "shop", Kind::PipelineFinished, Fact::Failed);
    log.record(&all[1], "shop", Kind::PipelineFinished, Fact::Finished);
    store.append(log.take()).await.unwrap();

    let ask = async |service: Option<&str>, cursor| {
        let service = service.map(name);
        let page = store.deployments(&shop, service.as_ref(), cursor, 2).await.unwrap();
        let shown = |it: &seaway_store::DeploymentStanding| (it.start.revision.0, it.ended);
        (page.items.iter().map(shown).collect::<Vec<_>>(), page.next)
    };
    let ended = |fact, seq| Some(Ended { fact, seq: Seq(seq) });
    let failed = ended(Fact::Failed, 6);
    let finished = ended(Fact::Finished, 7);
    assert_eq!(ask(None, None).await, (vec![(2, None), (4, None)], Some(Seq(4))));
    assert_eq!(ask(None, Some(Seq(4))).await, (vec![(3, None), (5, finished)], Some(Seq(2))));
    assert_eq!(ask(None, Some(Seq(2))).await, (vec![(1, failed)], None));
    assert_eq!(ask(Some("cart"), Some(Seq(3))).await, (vec![(1, failed)], None));
    assert_eq!(ask(Some("till"), None).await, (vec![(4, None), (5, finished)], Some(Seq(2))));
    assert_eq!(ask(Some("bank"), None).await, (vec![], None));
    assert_eq!(store.first_open(&shop).await.unwrap(), Some(Seq(3)));

    // One that is retried is in progress again, from its beginning.
    log.record(&all[0], "shop/beta/delivery#1/test", Kind::TaskDone, Fact::Retried);
    store.append(log.take()).await.unwrap();
    assert_eq!(ask(None, Some(Seq(2))).await, (vec![(1, None)], None));
    assert_eq!(store.first_open(&shop).await.unwrap(), Some(Seq(1)));

    store.create_project(&name("zoo")).await.unwrap();
    let mut zoo = Builder::new("zoo", store.acquire(&name("zoo"), "test").await.unwrap());
    let ape = deployed(77, "ape");
    start(&mut zoo, &ape);
    store.append(zoo.take()).await.unwrap();
    assert_eq!(store.find_deployment(all[3].id).await.unwrap(), Some(shop));
    assert_eq!(store.find_deployment(ape.id).await.unwrap(), Some(name("zoo")));
    assert_eq!(store.find_deployment(deployed(99, "cart").id).await.unwrap(), None);
}

pub(crate) async fn services(place: Place) {
    let (store, mut log) = place.shop().await;
    let shop = log.project.clone();
    assert_eq!(store.services(&shop, None, 9).await.unwrap(), []);
    for number in 1..=60 {
        start(&mut log, &deployed(number, ["till", "cart", "bank"][number as usize % 3]));
    }
    store.append(log.take()).await.unwrap();
    let [bank, cart, till] = ["bank", "cart", "till"].map(name);
    assert_eq!(
        store.services(&shop, None, 9).await.unwrap(),
        [bank.clone(), cart.clone(), till.clone()]
    );
    assert_eq!(store.services(&shop, None, 2).await.unwrap(), [bank.clone(), cart.clone()]);
    assert_eq!(store.services(&shop, Some(&bank), 9).await.unwrap(), [cart, till.clone()]);
    assert_eq!(store.services(&shop, Some(&till), 9).await.unwrap(), []);
}
