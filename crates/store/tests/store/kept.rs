use seaway_model::{Digest, Fact, Kind, Revision, Seq, Timestamp};
use seaway_store::{AppendError, Delivery, DeliveryOutcome, Store, StoreError, StoredToken};
use seaway_wire::KeptAnswer;
use sha2::Digest as _;

use crate::builder::{Builder, deployed, name};
use crate::place::Place;

fn digest(text: impl AsRef<[u8]>) -> Digest {
    Digest(sha2::Sha256::digest(text).into())
}

pub(crate) async fn answers(place: Place) {
    let (store, mut log) = place.shop().await;
    let shop = log.project.clone();
    let cart = deployed(1, "cart");
    let started = KeptAnswer {
        key: digest("a"),
        at: Seq(1),
        deployment: Some(cart.id),
        revision: Some(cart.revision),
    };
    let plain = KeptAnswer { key: digest("b"), at: Seq(2), deployment: None, revision: None };
    log.record(&cart, "shop", Kind::PipelineStarted, Fact::Finished);
    log.record(&cart, "shop/beta", Kind::StageStarted, Fact::Finished);
    let mut append = log.take();
    append.answers = vec![started, plain];
    store.append(append).await.unwrap();

    assert_eq!(store.kept_answer(&shop, &started.key).await.unwrap(), Some(started));
    assert_eq!(store.kept_answer(&shop, &plain.key).await.unwrap(), Some(plain));
    let asked = async |key: Option<Digest>| {
        let found = store.precedents(&shop, cart.id, &cart.service, "1.1", key.as_ref());
        found.await.unwrap()
    };
    let found = asked(Some(plain.key)).await;
    assert_eq!((found.started, found.revision), (Some(Seq(1)), Some(Revision(1))));
    assert_eq!(found.answer, Some(plain));
    assert_eq!(asked(Some(digest("c"))).await.answer, None);
    assert_eq!(asked(None).await.answer, None);

    // Answers become durable with their records or not at all, and a key is given once per project.
    let kept = |key: &str, at: Seq| KeptAnswer { key: digest(key), at, ..plain };
    let mut twice = log.clone().some(&cart, 1);
    twice.answers = vec![kept("c", Seq(3)), kept("a", Seq(3))];
    let refused = store.append(twice).await;
    assert!(matches!(refused, Err(AppendError::Duplicate { seq: Seq(3) })), "{refused:?}");
    assert_eq!(store.head(&shop).await.unwrap().seq, Seq(2));
    assert_eq!(store.kept_answer(&shop, &digest("c")).await.unwrap(), None);
    store.create_project(&name("zoo")).await.unwrap();
    let mut zoo = Builder::new("zoo", store.acquire(&name("zoo"), "test").await.unwrap());
    zoo.alone(1);
    let mut append = zoo.take();
    append.answers = vec![kept("a", Seq(1))];
    store.append(append).await.unwrap();

    // The old ones are forgotten in steps, and only those of the project.
    for number in 3..=12 {
        let mut append = log.some(&cart, 1);
        append.answers = vec![kept(&number.to_string(), log.seq)];
        store.append(append).await.unwrap();
    }
    assert_eq!(store.forget_answers(&shop, Seq(8), 4).await.unwrap(), 4);
    assert_eq!(store.kept_answer(&shop, &digest("4")).await.unwrap(), None);
    assert!(store.kept_answer(&shop, &digest("5")).await.unwrap().is_some());
    assert_eq!(store.forget_answers(&shop, Seq(8), 4).await.unwrap(), 3);
    assert_eq!(store.forget_answers(&shop, Seq(8), 4).await.unwrap(), 0);
    assert!(store.kept_answer(&shop, &digest("8")).await.unwrap().is_some());
    assert!(store.kept_answer(&zoo.project, &digest("a")).await.unwrap().is_some());
}

pub(crate) async fn contents(place: Place) {
    let (store, log) = place.shop().await;
    let shop = log.project.clone();
    let all: Vec<_> = (0..40).map(|n| format!("content {n}").into_bytes()).collect();
    let all: Vec<_> = all.into_iter().map(|bytes| (digest(&bytes), bytes)).collect();
    store.put_contents(&shop, all.clone()).await.unwrap();
    // Again is the same, also together with something new.
    let mut more = all[..2].to_vec();
    let largest = vec![7; Store::CONTENT_LIMIT];
    more.push((digest(&largest), largest));
    store.put_contents(&shop, more.clone()).await.unwrap();
    store.put_contents(&shop, Vec::new()).await.unwrap();

    for (digest, bytes) in all.iter().chain(&more) {
        assert_eq!(store.content(&shop, digest).await.unwrap().as_ref(), Some(bytes));
    }
    let mut asked: Vec<_> = all.iter().map(|(digest, _)| *digest).collect();
    asked.push(digest("nothing"));
    let mut found = store.contents(&shop, &asked).await.unwrap();
    let mut expected = all.clone();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(store.contents(&shop, &[]).await.unwrap(), []);
    store.create_project(&name("zoo")).await.unwrap();
    assert_eq!(store.content(&name("zoo"), &asked[0]).await.unwrap(), None);

    // Nothing is kept of a set with something wrong in it.
    let fine = (digest("fine"), b"fine".to_vec());
    let large = vec![1; Store::CONTENT_LIMIT + 1];
    for wrong in [(digest(&large), large), (digest("x"), b"y".to_vec())] {
        let refused = store.put_contents(&shop, vec![fine.clone(), wrong]).await;
        assert!(matches!(refused, Err(StoreError::Malformed(_))), "{refused:?}");
    }
    assert_eq!(store.content(&shop, &fine.0).await.unwrap(), None);
    place.tamper("UPDATE content SET bytes = digest").await;
    let found = store.content(&shop, &asked[0]).await;
    assert!(matches!(found, Err(StoreError::Corrupt(_))), "{found:?}");
}

pub(crate) async fn tokens(place: Place) {
    let store = place.open().await;
    let mut all: Vec<_> = (1..=5u8)
        .map(|number| StoredToken {
            id: format!("t{number}").into(),
            name: "ci".into(),
            hash: digest([number]),
            scopes: number | 0x80,
            project: (number % 2 == 0).then(|| name("shop")),
            created: Timestamp(i64::from(number)),
            expires: (number > 2).then_some(Timestamp(99)),
            revoked: None,
        })
        .collect();
    for token in &all {
        store.add_token(token).await.unwrap();
        assert_eq!(store.token_by_hash(&token.hash).await.unwrap().as_ref(), Some(token));
    }
    assert!(store.add_token(&all[0]).await.is_err());
    assert_eq!(store.token_by_hash(&digest("other")).await.unwrap(), None);
    assert_eq!(store.tokens(None, 3).await.unwrap(), all[..3]);
    assert_eq!(store.tokens(Some("t3"), 3).await.unwrap(), all[3..]);

    assert!(store.revoke_token("t2", Timestamp(50)).await.unwrap());
    assert!(store.revoke_token("t2", Timestamp(60)).await.unwrap());
    assert!(!store.revoke_token("t9", Timestamp(50)).await.unwrap());
    all[1].revoked = Some(Timestamp(50));
    assert_eq!(store.tokens(None, 9).await.unwrap(), all);
}

pub(crate) async fn webhooks(place: Place) {
    let (store, log) = place.shop().await;
    let (shop, chat, pager) = (log.project.clone(), name("chat"), name("pager"));
    assert_eq!(store.webhook_key(&shop, &chat).await.unwrap(), None);
    assert_eq!(store.webhook_position(&shop, &chat).await.unwrap(), None);
    for sealed in [vec![1; 60], vec![2; 70]] {
        store.put_webhook_key(&shop, &chat, sealed.clone()).await.unwrap();
        assert_eq!(store.webhook_key(&shop, &chat).await.unwrap(), Some(sealed));
        assert_eq!(store.webhook_position(&shop, &chat).await.unwrap(), None);
    }
    for (seq, then) in [(7, 7), (9, 9), (8, 9)] {
        store.advance_webhook(&shop, &chat, Seq(seq)).await.unwrap();
        assert_eq!(store.webhook_position(&shop, &chat).await.unwrap(), Some(Seq(then)));
    }
    assert!(store.webhook_key(&shop, &chat).await.unwrap().is_some());
    store.advance_webhook(&shop, &pager, Seq(1)).await.unwrap();
    assert_eq!(store.webhook_key(&shop, &pager).await.unwrap(), None);

    let delivery = |number: u64| Delivery {
        record: Seq(number / 3),
        attempt: u32::try_from(number % 3).unwrap() + 1,
        at: Timestamp(number as i64 * 1_000),
        outcome: match number % 3 {
            0 => DeliveryOutcome::Retrying,
            1 => DeliveryOutcome::GivenUp,
            _ => DeliveryOutcome::Delivered,
        },
        event: "sh.keptn.event.test.finished".into(),
        detail: format!("status {number}").into(),
        milliseconds: number,
    };
    for number in 1..=1_003 {
        store.note_delivery(&shop, &chat, &delivery(number)).await.unwrap();
    }
    // Several that are noted at once are all remembered.
    let (a, b) = (delivery(1), delivery(2));
    let both = tokio::join!(
        store.note_delivery(&shop, &pager, &a),
        store.note_delivery(&shop, &pager, &b)
    );
    assert!(both.0.is_ok() && both.1.is_ok(), "{both:?}");
    assert_eq!(store.deliveries(&shop, &pager, None, 9).await.unwrap().len(), 2);

    let (mut found, mut before) = (Vec::new(), None);
    loop {
        let page = store.deliveries(&shop, &chat, before, 300).await.unwrap();
        let Some((last, _)) = page.last() else { break };
        before = Some(*last);
        found.extend(page);
    }
    let expected: Vec<_> = (4..=1_003).rev().map(|number| (number, delivery(number))).collect();
    assert_eq!(found, expected);

    store.drop_webhook(&shop, &chat).await.unwrap();
    store.note_delivery(&shop, &chat, &delivery(1)).await.unwrap();
    assert_eq!(store.deliveries(&shop, &chat, None, 9).await.unwrap(), []);
    assert_eq!(store.webhook_key(&shop, &chat).await.unwrap(), None);
    assert_eq!(store.deliveries(&shop, &pager, None, 9).await.unwrap().len(), 2);
}
