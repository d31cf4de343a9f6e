//! Every file in `tests/files`, with what is said about it and what it is understood as.

use std::fmt::Write;

use seaway_shipyard::{Problems, parse};

#[test]
fn every_file_is_told_all_its_problems() {
    insta::glob!("../files", "*.yaml", |path| {
        let text = std::fs::read_to_string(path).expect("the file is there");
        let file = path.file_name().expect("it is a file").to_string_lossy();
        let said = match parse(&text, &file) {
            Ok(checked) => {
                let warnings = Problems::new(&text, &file, checked.warnings);
                let json = serde_json::to_string_pretty(&checked.shipyard);
                let mut said = warnings.plain().to_string();
                write!(said, "\n{}", json.expect("it is plain")).expect("it is memory");
                said
            }
            Err(problems) => format!("{}\n{problems}", problems.plain()),
        };
        let mut settings = insta::Settings::clone_current();
        settings.set_omit_expression(true);
        settings.set_prepend_module_to_snapshot(false);
        settings.bind(|| insta::assert_snapshot!("file", said.trim()));
    });
}
