use crate::check::{Checker, Format, Index, format, shown};
use crate::code::Code;
use crate::document::Dialect;
use crate::migrate::write::write;
use crate::problems::Problems;
use crate::report::{Draft, Report};
use crate::yaml;

/// The text of a shipyard of format 0.1 as one of `spec.keptn.sh/0.2.4`. What is not carried over,
/// and what was decided on the way, is said in its comments.
pub fn migrate(text: &str, file: &str) -> Result<String, Problems> {
    let mut report = Report::new(text);
    let stages = yaml::read(text, yaml::Subject::SHIPYARD, &mut report).and_then(|root| {
        if let Format::Keptn { number, place, .. } | Format::Seaway { number, place } =
            format(&root)
        {
            let message = format!("the file is of version {}, not of 0.1", shown(number));
            let draft = Draft::error(Code::Version, place, message);
            report.push(draft.hint(format!("it needs no migration; run `seaway lint {file}`")));
            return None;
        }
        let (dialect, index) = (Dialect::Keptn, Index::default());
        Checker { report: &mut report, dialect, index }.old_stages(&root)
    });
    let failed = report.has_errors();
    let problems = report.into_problems();
    match stages {
        Some(stages) if !failed => Ok(write(&stages, &problems)),
        _ => Err(Problems::new(text, file, problems)),
    }
}
