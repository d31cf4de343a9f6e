//! Every file in `tests/files`, with what is said about it and what it is understood as.

use seaway_shipyard::{Checked, Problems, Shipyard, parse};

#[test]
fn every_file_is_told_all_its_problems() {
    insta::glob!("../files", "*.yaml", |path| {
        let text = std::fs::read_to_string(path).expect("the file is there");
        let file = path.file_name().expect("it is a file").to_string_lossy();
        let said = match parse(&text, &file) {
            Ok(Checked { shipyard, warnings }) => {
                let warnings = Problems::new(&text, &file, warnings);
                format!("{}\n{}", warnings.plain(), outline(&shipyard))
            }
            Err(problems) => format!("{}\nas an error: {problems}", problems.plain()),
        };
        let mut settings = insta::Settings::clone_current();
        settings.set_omit_expression(true);
        settings.set_prepend_module_to_snapshot(false);
        settings.bind(|| insta::assert_snapshot!("file", said.trim()));
    });
}

fn outline(shipyard: &Shipyard) -> String {
    let mut lines = vec![format!("{:?} {:?}", shipyard.dialect, shipyard.name)];
    for stage in &shipyard.stages {
        lines.push(format!("stage {} {:?}", stage.name, stage.batch));
        for sequence in &stage.sequences {
            let json = serde_json::to_string(&sequence.triggered_on).expect("it is plain");
            let tasks: Vec<_> = sequence.tasks.iter().map(|it| it.name.as_str()).collect();
            lines.push(format!("  {}: {}", sequence.name, tasks.join(", ")));
            lines.push(format!("    on {json}"));
        }
    }
    lines.join("\n")
}
