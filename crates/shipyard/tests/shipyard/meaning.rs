use seaway_model::{Name, Outcome, Span};
use seaway_shipyard::{
    Batch, Dialect, Event, On, Policy, Retries, Sequence, Shipyard, TaskRange, When, parse,
};

const SHOP: &str = include_str!("../files/seaway.yaml");

fn name(text: &str) -> Name {
    Name::new(text).expect("tests use valid names")
}

fn shop() -> Shipyard {
    let checked = parse(SHOP, "seaway.yaml").expect("it is right");
    assert_eq!(checked.warnings, []);
    checked.shipyard
}

fn sequence<'s>(shipyard: &'s Shipyard, stage: &str, sequence: &str) -> &'s Sequence {
    let stage = shipyard.stages.iter().find(|it| it.name.as_str() == stage).expect("it is there");
    stage.sequences.iter().find(|it| it.name.as_str() == sequence).expect("it is there")
}

#[test]
fn everything_in_a_file_arrives() {
    let shop = shop();
    assert_eq!((&*shop.name, shop.dialect), ("shop", Dialect::Seaway));
    let beta = &shop.stages[1];
    let batch = Batch { capacity: 2, policy: Policy::Supersede { max_replaced: 10 } };
    assert_eq!(beta.batch, Some(batch));
    let delivery = sequence(&shop, "beta", "delivery");
    assert_eq!(delivery.timeout, Some(Span::from_secs(5_400)));
    let queue = Batch { capacity: 1, policy: Policy::Queue };
    assert_eq!(delivery.batch, Some(TaskRange { first: 0, last: 2, batch: queue }));
    let test = &delivery.tasks[1];
    assert_eq!(test.retries, Retries { limit: 2, backoff: Span::from_secs(10) });
    assert_eq!((test.when, test.timeout), (When::Always, Some(Span::from_secs(900))));
    assert_eq!(test.properties["threads"], serde_json::json!(4));
    assert_eq!(delivery.tasks[3].triggered_after, Some(Span::from_secs(600)));
}

#[test]
fn triggers_say_what_has_to_happen() {
    let shop = shop();
    let delivery = sequence(&shop, "beta", "delivery");
    let finished = |stage: &str, sequence: &str| Event::Finished {
        stage: name(stage),
        sequence: name(sequence),
    };
    let on: Vec<&On> = delivery.triggered_on.iter().map(|it| &it.on).collect();
    let joined = On::All(vec![finished("build", "amd64"), finished("build", "arm64")]);
    assert_eq!(on, [&joined, &On::Any(Event::Domain("image.pushed".into()))]);
    assert_eq!(delivery.triggered_on[1].selector.data, [("image.tag".into(), "stable".into())]);
    let rollback = sequence(&shop, "beta", "rollback");
    let results = &rollback.triggered_on[0].selector.results;
    let last = Some(name("release"));
    assert_eq!(
        *results,
        [(None, Outcome::Fail), (last.clone(), Outcome::Warning), (last, Outcome::Fail)]
    );
}

#[test]
fn stages_of_a_keptn_file_have_an_evaluation() {
    let text = "apiVersion: spec.keptn.sh/0.2.2\nkind: Shipyard\nmetadata: {name: x}\n\
                spec: {stages: [{name: gate}]}\n";
    let gate = parse(text, "gate.yaml").expect("it is right");
    assert_eq!(gate.warnings, []);
    let tasks: Vec<_> = sequence(&gate.shipyard, "gate", "evaluation").tasks.iter().collect();
    assert_eq!(tasks.len(), 1);
    assert_eq!(tasks[0].name.as_str(), "evaluation");
    let ours = text.replace("spec.keptn.sh/0.2.2", "seaway.dev/v1");
    assert_eq!(parse(&ours, "gate.yaml").expect("it is right").shipyard.stages[0].sequences, []);
}
