use std::collections::{BTreeMap, BTreeSet};

use seaway_scenario::{Transcript, Yards, parse, play};
use seaway_shipyard::Shipyard;

use super::{queue, results, triggers};

const PAGE: &str = include_str!("../../../../../docs/coming-from-keptn.md");

/// One thing that Keptn does.
pub(super) struct Row {
    /// Where the behaviour of Keptn 1.4 was looked up: the topic and the rule.
    pub(super) topic: &'static str,
    pub(super) keptn: &'static str,
    /// The stages of a shipyard.
    pub(super) stages: &'static str,
    /// The stages of `changed.yaml`, if the scenario applies it.
    pub(super) changed: &'static str,
    /// With expectations, all of which have to hold.
    pub(super) scenario: &'static str,
    /// What the transcript has to say.
    pub(super) says: &'static [&'static str],
    pub(super) here: Here,
}

#[derive(Debug)]
pub(super) enum Here {
    Same,
    /// On purpose: the page for those who come from Keptn explains it under this word.
    Differs(&'static str),
}

pub(super) const BLANK: Row = Row {
    topic: "",
    keptn: "",
    stages: "",
    changed: "",
    scenario: "",
    says: &[],
    here: Here::Same,
};

fn shipyard(stages: &str) -> Shipyard {
    let text = format!(
        "apiVersion: spec.keptn.sh/0.2.3\nkind: Shipyard\nmetadata: {{name: shop}}\nspec:\n  \
         stages:\n{stages}"
    );
    match seaway_shipyard::parse(&text, "shipyard.yaml") {
        Ok(checked) => checked.shipyard,
        Err(problems) => panic!("{}", problems.plain()),
    }
}

fn check(row: &Row) -> Result<(), String> {
    let scenario = parse(row.scenario, "scenario.yaml").map_err(|it| it.plain().to_string())?;
    let later = scenario.shipyards().map(|file| (file.to_owned(), shipyard(row.changed)));
    let later: BTreeMap<String, Shipyard> = later.collect();
    let yards = Yards { first: shipyard(row.stages), later };
    let played = play(&scenario, &yards).map_err(|it| it.plain().to_string())?;
    let transcript = Transcript { played: &played, records: false, data: true }.to_string();
    let missing = row.says.iter().find(|text| !transcript.contains(**text));
    match missing {
        Some(text) => Err(format!("it does not say {text:?}:\n{transcript}")),
        None if !played.holds() || played.held.is_empty() => Err(transcript),
        None => Ok(()),
    }
}

#[test]
fn keptn_semantics() {
    let rows = || triggers::ROWS.iter().chain(results::ROWS).chain(queue::ROWS);
    let mut wrong = Vec::new();
    for row in rows() {
        if let Err(what) = check(row) {
            wrong.push(format!("{}: {} ({:?} here)\n{what}", row.topic, row.keptn, row.here));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_difference_to_keptn_is_on_the_page_and_every_one_there_is_tested() {
    let rows = triggers::ROWS.iter().chain(results::ROWS).chain(queue::ROWS);
    let tested: BTreeSet<&str> = rows
        .filter_map(|row| match row.here {
            Here::Differs(word) => Some(word),
            Here::Same => None,
        })
        .collect();
    let table = PAGE.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let listed: BTreeSet<&str> = table.collect();
    assert_eq!(listed, tested, "on the page (left), in the table (right)");
}
