use crate::check::checker::shown;
use crate::code::Code;
use crate::document::Dialect;
use crate::report::{Draft, Place, Report};
use crate::yaml::{Entry, Node, Value};

const KEPTN: &str = "spec.keptn.sh/";
const SEAWAY: &str = "seaway.dev/";

const KNOWN: &str =
    "write `seaway.dev/v1`, or `spec.keptn.sh/0.2.0` to `spec.keptn.sh/0.2.4` for a Keptn file";

/// By which rules the file is read. `None` where it is of a format that has to be migrated.
pub(super) fn dialect(root: &Node, file: &str, report: &mut Report<'_>) -> Option<Dialect> {
    let Some((written, place)) = version(root) else {
        if has(root, "stages") {
            report.push(old_format(root.place, "has no `apiVersion`", file));
            return None;
        }
        let draft = Draft::error(Code::Version, root.place, "the file needs an `apiVersion`");
        report.push(draft.hint(KNOWN));
        return Some(Dialect::Keptn);
    };
    if let Some(ours) = written.strip_prefix(SEAWAY) {
        if ours != "v1" {
            let message = format!("version {} of this format is unknown", shown(ours));
            report.push(Draft::error(Code::Version, place, message).hint("write `seaway.dev/v1`"));
        }
        return Some(Dialect::Seaway);
    }
    let number = written.strip_prefix(KEPTN).unwrap_or(written);
    match numbers(number) {
        None => {
            let message = format!("{} is not a version of a shipyard", shown(written));
            report.push(Draft::error(Code::Version, place, message).hint(KNOWN));
        }
        Some((0, 0..=1, _)) => {
            report.push(old_format(place, &format!("is of version {}", shown(number)), file));
            return None;
        }
        Some((0, 2, 0..=4)) => {}
        Some(_) => {
            let message = format!("{} is newer than what is known", shown(number));
            let draft = Draft::warning(Code::Version, place, message);
            report.push(draft.hint("it is read like `spec.keptn.sh/0.2.4`"));
        }
    }
    Some(Dialect::Keptn)
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
