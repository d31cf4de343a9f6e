use crate::check::{Checker, Format, format, has_new_form, new_form, shown};
use crate::code::Code;
use crate::document::Dialect;
use crate::migrate::write::write;
use crate::problem::Problem;
use crate::problems::Problems;
use crate::report::{Draft, Report};
use crate::yaml::{self, Node};

/// A shipyard of format 0.1 as one of `spec.keptn.sh/0.2.4`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// What is not carried over, and what was decided on the way, is said in its comments.
    pub text: String,
    /// How many of these comments there are.
    pub decisions: usize,
    /// What of the old file was not understood.
    pub warnings: Vec<Problem>,
}

/// Turns the text of a shipyard of format 0.1 into a newer one. `file` is how messages name it.
pub fn migrate(text: &str, file: &str) -> Result<Migrated, Problems> {
    let mut report = Report::new(text);
    let stages = yaml::read(text, yaml::Subject::SHIPYARD, &mut report).and_then(|root| {
        if let Some(draft) = not_old(&root, file) {
            report.push(draft);
            return None;
        }
        Checker::new(&mut report, Dialect::Keptn).old_stages(&root)
    });
    let failed = report.has_errors();
    let warnings = report.into_problems();
    match stages {
        Some(stages) if !failed => {
            let (text, decisions) = write(&stages, &warnings);
            Ok(Migrated { text, decisions, warnings })
        }
        _ => Err(Problems::new(text, file, warnings)),
    }
}

/// Why there is nothing to migrate in a file.
fn not_old(root: &Node, file: &str) -> Option<Draft> {
    match format(root) {
        Format::Keptn { number, place, .. } | Format::Seaway { number, place } => {
            let message = format!("the file is of version {}, not of 0.1", shown(number));
            let draft = Draft::error(Code::Version, place, message);
            Some(draft.hint(format!("it needs no migration; run `seaway lint {file}`")))
        }
        _ if !has_new_form(root) => None,
        Format::Old { number, place } => {
            Some(new_form(place, &format!("is of version {}", shown(number))))
        }
        Format::Strange { written, place } => {
            Some(new_form(place, &format!("is of version {}", shown(written))))
        }
        Format::Unsaid | Format::Unknown => Some(new_form(root.place, "has no `apiVersion`")),
    }
}
