use crate::check::checker::shown;
use crate::code::Code;
use crate::document::Dialect;
use crate::report::{Draft, Place, Report};
use crate::yaml::{Entry, Node, Value};

const KEPTN: &str = "spec.keptn.sh/";
const SEAWAY: &str = "seaway.dev/";

const KNOWN: &str =
    "write `seaway.dev/v1`, or `spec.keptn.sh/0.2.0` to `spec.keptn.sh/0.2.4` for a Keptn file";

/// What a file says about its own format.
#[derive(Debug)]
pub(crate) enum Format<'n> {
    /// It has stages at the top, as 0.1 did, and says nothing.
    Unsaid,
    /// It says nothing, and does not look like any format.
    Unknown,
    /// It says 0.1 or older.
    Old {
        number: &'n str,
        place: Place,
    },
    Keptn {
        number: &'n str,
        place: Place,
        version: Version,
    },
    Seaway {
        number: &'n str,
        place: Place,
    },
    /// It says something that is no version.
    Strange {
        written: &'n str,
        place: Place,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    Known,
    Newer,
}

pub(crate) fn format(root: &Node) -> Format<'_> {
    let Some((written, place)) = version(root) else {
        return if has(root, "stages") { Format::Unsaid } else { Format::Unknown };
    };
    if let Some(number) = written.strip_prefix(SEAWAY) {
        return Format::Seaway { number, place };
    }
    let keptn = written.strip_prefix(KEPTN);
    let number = keptn.unwrap_or(written);
    match numbers(number) {
        None => Format::Strange { written, place },
        // Other files have versions, too: `v1` is one of Kubernetes, and `3.8` one of Compose.
        Some((1.., ..)) if keptn.is_none() => Format::Strange { written, place },
        Some((0, 0..=1, _)) => Format::Old { number, place },
        Some((0, 2, 0..=4)) => Format::Keptn { number, place, version: Version::Known },
        Some(_) => Format::Keptn { number, place, version: Version::Newer },
    }
}

/// By which rules the file is read. `None` where it is of a format that has to be migrated.
pub(super) fn dialect(root: &Node, file: &str, report: &mut Report<'_>) -> Option<Dialect> {
    match format(root) {
        Format::Unsaid => {
            report.push(old_format(root.place, "has no `apiVersion`", file));
            None
        }
        Format::Old { number, place } if has_new_form(root) => {
            report.push(new_form(place, &format!("is of version {}", shown(number))));
            Some(Dialect::Keptn)
        }
        Format::Old { number, place } => {
            report.push(old_format(place, &format!("is of version {}", shown(number)), file));
            None
        }
        Format::Unknown => {
            let draft = Draft::error(Code::Version, root.place, "the file needs an `apiVersion`");
            report.push(draft.hint(KNOWN));
            Some(Dialect::Keptn)
        }
        Format::Strange { written, place } => {
            let message = format!("{} is not a version of a shipyard", shown(written));
            report.push(Draft::error(Code::Version, place, message).hint(KNOWN));
            Some(Dialect::Keptn)
        }
        Format::Keptn { version: Version::Known, .. } => Some(Dialect::Keptn),
        Format::Keptn { number, place, version: Version::Newer } => {
            let message = format!("{} is newer than what is known", shown(number));
            let draft = Draft::warning(Code::Version, place, message);
            report.push(draft.hint("it is read like `spec.keptn.sh/0.2.4`"));
            Some(Dialect::Keptn)
        }
        Format::Seaway { number: "v1", .. } => Some(Dialect::Seaway),
        Format::Seaway { number, place } => {
            let message = format!("version {} of this format is unknown", shown(number));
            report.push(Draft::error(Code::Version, place, message).hint("write `seaway.dev/v1`"));
            Some(Dialect::Seaway)
        }
    }
}

/// The file has the form of 0.2, whatever it says about its version.
pub(crate) fn has_new_form(root: &Node) -> bool {
    has(root, "spec") && !has(root, "stages")
}

pub(crate) fn new_form(place: Place, how: &str) -> Draft {
    let message = format!("the file {how}, but it has `spec`, as shipyards have since 0.2");
    let hint = "write `apiVersion: spec.keptn.sh/0.2.4`; there is nothing to migrate";
    Draft::error(Code::Version, place, message).hint(hint)
}

fn old_format(place: Place, how: &str, file: &str) -> Draft {
    let message = format!("the file {how}, so it is a shipyard of the old format 0.1");
    Draft::error(Code::OldFormat, place, message).hint(format!("run `seaway migrate {file}`"))
}

/// What stands under `apiVersion`, or under `version`, as early texts about the format had it.
fn version(root: &Node) -> Option<(&str, Place)> {
    let Value::Map(entries) = &root.value else { return None };
    let find = |key: &str| entries.iter().find(|it| it.key.text == key);
    let Entry { value, .. } = find("apiVersion").or_else(|| find("version"))?;
    Some((value.text()?, value.place))
}

fn has(root: &Node, key: &str) -> bool {
    match &root.value {
        Value::Map(entries) => entries.iter().any(|it| it.key.text == key),
        Value::Scalar(_) | Value::List(_) => false,
    }
}

/// Major, minor and patch of `0.2.4`, `0.2` or `v0.2.4-rc1`.
fn numbers(text: &str) -> Option<(u32, u32, u32)> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let core = text.split(['-', '+']).next()?;
    let parts: Vec<u32> = core.split('.').map(|it| it.parse().ok()).collect::<Option<_>>()?;
    match parts[..] {
        [major] => Some((major, 0, 0)),
        [major, minor] => Some((major, minor, 0)),
        [major, minor, patch] => Some((major, minor, patch)),
        _ => None,
    }
}
