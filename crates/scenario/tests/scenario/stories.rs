//! Every folder of `tests/scenarios`, with the transcript of what happens in it.

use std::collections::BTreeMap;
use std::path::Path;

use seaway_scenario::{Transcript, Yards, parse, play};
use seaway_shipyard::{Checked, Shipyard};

#[test]
fn every_story_goes_as_its_transcript_says() {
    insta::glob!("../scenarios", "*/scenario.yaml", |path| {
        let folder = path.parent().expect("it is in a folder");
        let text = std::fs::read_to_string(path).expect("the scenario is there");
        let scenario = match parse(&text, "scenario.yaml") {
            Ok(scenario) => scenario,
            Err(problems) => panic!("{}", problems.plain()),
        };
        let later = scenario.shipyards().map(|file| (file.to_owned(), shipyard(folder, file)));
        let later: BTreeMap<String, Shipyard> = later.collect();
        let yards = Yards { first: shipyard(folder, "shipyard.yaml"), later };
        let played = match play(&scenario, &yards) {
            Ok(played) => played,
            Err(problems) => panic!("{}", problems.plain()),
        };
        let data = text.contains("# with data");
        let transcript = Transcript { played: &played, records: false, data }.to_string();
        assert!(played.holds(), "{}\n{transcript}", folder.display());
        let transcript = match text.contains("# only the ends") {
            true => ends(&transcript),
            false => transcript,
        };
        let mut settings = insta::Settings::clone_current();
        settings.set_omit_expression(true);
        settings.set_prepend_module_to_snapshot(false);
        settings.remove_input_file();
        settings.remove_snapshot_suffix();
        settings.set_snapshot_path(folder);
        settings.bind(|| insta::assert_snapshot!("transcript", transcript));
    });
}

/// The first and the last lines of a long one.
fn ends(transcript: &str) -> String {
    let lines: Vec<&str> = transcript.lines().collect();
    let (first, last) = (&lines[..14], &lines[lines.len() - 22..]);
    format!("{}\n...\n{}\n", first.join("\n"), last.join("\n"))
}

fn shipyard(folder: &Path, file: &str) -> Shipyard {
    let text = std::fs::read_to_string(folder.join(file)).expect("the shipyard is there");
    match seaway_shipyard::parse(&text, file) {
        Ok(Checked { shipyard, .. }) => shipyard,
        Err(problems) => panic!("{}", problems.plain()),
    }
}
