use seaway_model::{Fact, Kind, Seq, Span};
use seaway_store::{Lease, Store};

use crate::builder::{Builder, deployed, name};
use crate::place::Place;

/// A database as the first version of the schema made it, with a project and a deployment.
async fn first_version(place: &Place) {
    let filled = "INSERT INTO project (name, epoch, owner) VALUES ('shop', 1, 'before');
         INSERT INTO target (project, id, parent, part, path, place, since, place_path)
         SELECT id, 0, 0, name, name, 0, 0, name FROM project;";
    match place {
        Place::Sqlite(_) => {
            let tables = include_str!("../../src/sqlite/schema/1.sql");
            place.tamper(&format!("{tables} {filled} PRAGMA user_version = 1")).await;
        }
        Place::Postgres(_) => {
            let tables = include_str!("../../src/postgres/schema/1.sql");
            let append = include_str!("../../src/postgres/schema/append.sql");
            let version = "CREATE TABLE seaway_schema (version BIGINT NOT NULL);
                 INSERT INTO seaway_schema VALUES (1);";
            place.tamper(&format!("{tables} {append} {version} {filled}")).await;
        }
    }
}

pub(crate) async fn upgraded(place: Place) {
    first_version(&place).await;
    let refused = match &place {
        Place::Sqlite(dir) => Store::sqlite_read_only(dir.path()),
        Place::Postgres(url) => Store::postgres_read_only(url).await,
    };
    assert!(refused.unwrap_err().to_string().contains("schema version 1"));
    let store = place.open().await;
    let mut log = Builder::new("shop", seaway_model::Epoch(1));
    let cart = deployed(1, "cart");
    log.record(&cart, "shop", Kind::PipelineStarted, Fact::Finished);
    store.append(log.some(&cart, 5)).await.unwrap();
    assert_eq!(store.archived(&name("shop")).await.unwrap().seq, Seq(0));
    assert_eq!(store.verify(&name("shop"), |_| ()).await.unwrap().records, 6);
    let lease = store.lease(&name("shop"), "after", Span::from_secs(9)).await.unwrap();
    assert!(matches!(lease, Lease::Held { epoch: seaway_model::Epoch(2) }), "{lease:?}");
    drop(store);
    let again = place.open().await;
    assert_eq!(again.find_deployment(cart.id).await.unwrap(), Some(name("shop")));
}
