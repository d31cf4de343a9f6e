//! Scenarios that were cut or lost a line: whatever is wrong with them is said, and nothing breaks.

use std::collections::BTreeMap;

use seaway_scenario::{Yards, parse, play};

#[test]
fn torn_scenarios_are_refused_or_played() {
    insta::glob!("../scenarios", "*/scenario.yaml", |path| {
        let folder = path.parent().expect("it is in a folder");
        let text = std::fs::read_to_string(path).expect("the scenario is there");
        let shipyard = folder.join("shipyard.yaml");
        let shipyard = std::fs::read_to_string(shipyard).expect("the shipyard is there");
        let checked = seaway_shipyard::parse(&shipyard, "shipyard.yaml").expect("it is right");
        let yards = Yards { first: checked.shipyard, later: BTreeMap::new() };
        let lines: Vec<&str> = text.lines().collect();
        for cut in (0..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            // Where it can be read it is a scenario, of which less happens.
            let _ = parse(&text[..cut], "cut.yaml");
        }
        for missing in 0..lines.len() {
            let kept = lines.iter().enumerate().filter(|(line, _)| *line != missing);
            let kept: Vec<&str> = kept.map(|(_, line)| *line).collect();
            if let Ok(scenario) = parse(&kept.join("\n"), "torn.yaml") {
                let _ = play(&scenario, &yards);
            }
        }
    });
}
