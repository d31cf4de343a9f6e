use crate::check::check;
use crate::document::Shipyard;
use crate::problem::Problem;
use crate::problems::Problems;
use crate::report::Report;
use crate::yaml;

/// A pipeline that can be used, and what its author should still know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    pub shipyard: Shipyard,
    pub warnings: Vec<Problem>,
}

/// Reads and checks a shipyard. `file` is how messages name it.
pub fn parse(text: &str, file: &str) -> Result<Checked, Problems> {
    let mut report = Report::new(text);
    let root = yaml::read(text, yaml::Subject::SHIPYARD, &mut report);
    let shipyard = root.and_then(|root| check(&root, file, &mut report));
    match shipyard {
        Some(shipyard) if !report.has_errors() => {
            Ok(Checked { shipyard, warnings: report.into_problems() })
        }
        _ => Err(Problems::new(text, file, report.into_problems())),
    }
}
