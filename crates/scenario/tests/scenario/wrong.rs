//! Every file in `tests/wrong`, with everything that is said about it.

use std::collections::BTreeMap;

use seaway_scenario::{Yards, parse, play};

const SHIPYARD: &str = "\
apiVersion: seaway.dev/v1
kind: Shipyard
metadata: {name: shop}
spec:
  stages:
  - name: dev
    sequences:
    - name: delivery
      tasks: [{name: deployment}, {name: test}]
";

#[test]
fn every_wrong_scenario_is_told_all_its_problems() {
    let checked = seaway_shipyard::parse(SHIPYARD, "shipyard.yaml").expect("it is right");
    let yards = Yards { first: checked.shipyard, later: BTreeMap::new() };
    insta::glob!("../wrong", "*.yaml", |path| {
        let text = std::fs::read_to_string(path).expect("the file is there");
        let said = parse(&text, "scenario.yaml").and_then(|scenario| play(&scenario, &yards));
        let said = said.map(|_| "nothing").expect_err("it is wrong").plain().to_string();
        let mut settings = insta::Settings::clone_current();
        settings.set_omit_expression(true);
        settings.set_prepend_module_to_snapshot(false);
        settings.bind(|| insta::assert_snapshot!("wrong", said.trim()));
    });
}
