//! The examples of the pages do what the pages say.

use std::collections::BTreeMap;

use seaway_scenario::{Transcript, Yards, parse, play};

const SIMULATE: &str = include_str!("../../../../docs/simulate.md");
const EVENTS: &str = include_str!("../../../../docs/events-and-data.md");

/// The blocks of a page from a heading on: a shipyard, a scenario, and what is printed.
fn example(page: &'static str) -> (&'static str, &'static str, &'static str) {
    let (_, rest) = page.split_once("\n## An example\n").expect("there is an example");
    let mut blocks = rest.split("```").skip(1).step_by(2);
    let mut block = || blocks.next().expect("the example has three blocks");
    let (shipyard, scenario, printed) = (block(), block(), block());
    let yaml = |text: &'static str| text.strip_prefix("yaml\n").expect("it is YAML");
    (yaml(shipyard), yaml(scenario), printed)
}

fn check(page: &'static str, data: bool) {
    let (shipyard, scenario, printed) = example(page);
    let checked = seaway_shipyard::parse(shipyard, "shipyard.yaml").expect("it is right");
    let scenario = parse(scenario, "scenario.yaml").expect("it is right");
    let yards = Yards { first: checked.shipyard, later: BTreeMap::new() };
    let played = play(&scenario, &yards).expect("it names what is there");
    assert!(played.holds());
    let transcript = Transcript { played: &played, records: false, data }.to_string();
    let (_, printed) = printed.trim_start().split_once('\n').expect("the command comes first");
    assert_eq!(printed.trim(), transcript.trim(), "page (left) and play (right)");
}

#[test]
fn the_example_of_the_scenario_page_is_right() {
    check(SIMULATE, false);
}

#[test]
fn the_example_of_the_page_about_events_is_right() {
    check(EVENTS, true);
}
