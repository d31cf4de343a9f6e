use seaway_api::{Why, WhyLine};
use seaway_client::{Client, ClientError, Paging};

/// Things that wait that are looked at; where there are more, something probably moves.
const MOST: usize = 500;

/// What a line says about whether anything moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hope {
    /// Something happens without anybody's doing.
    Moves,
    /// It goes on when others have.
    AfterOthers,
    /// Only a person, or an executor that is not there, can help.
    Stuck,
}

/// Why a deployment can go no further by itself; `None` while it may.
///
/// One that is in line for another is stuck as well if nothing at all moves in the project.
pub(super) async fn chain(client: &Client, mut why: Why) -> Result<Option<Why>, ClientError> {
    match hope(&why.lines) {
        None | Some(Hope::Moves) => Ok(None),
        Some(Hope::Stuck) => Ok(Some(why)),
        Some(Hope::AfterOthers) => {
            let first = Paging { cursor: None, limit: Some(MOST) };
            let all = client.project_why(&why.project, &first).await?;
            if all.next.is_some() || hope(&all.lines) == Some(Hope::Moves) {
                return Ok(None);
            }
            let own = |line: &WhyLine| why.lines.iter().any(|it| it.deployment == line.deployment);
            let stuck = |line: &WhyLine| hope_of(line) == Some(Hope::Stuck);
            let others = all.lines.into_iter().filter(|line| stuck(line) && !own(line));
            let others: Vec<WhyLine> = others.collect();
            why.lines.extend(others);
            Ok(Some(why))
        }
    }
}

/// The best that can be hoped for; `None` where nothing is known.
fn hope(lines: &[WhyLine]) -> Option<Hope> {
    let all = || lines.iter().filter_map(hope_of);
    [Hope::Moves, Hope::AfterOthers, Hope::Stuck]
        .into_iter()
        .find(|it| all().any(|hope| hope == *it))
}

fn hope_of(line: &WhyLine) -> Option<Hope> {
    match &*line.reason {
        // What waits for a step before it is explained by that step.
        "before" => None,
        "in-line" | "join" => Some(Hope::AfterOthers),
        "approval" | "no-executor" | "unclaimed" | "paused" | "failed" | "overtaken" => {
            Some(Hope::Stuck)
        }
        _ => Some(Hope::Moves),
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[track_caller]
    fn check(reasons: &[&str], expected: Option<Hope>) {
        let line = |reason: &&str| WhyLine {
            deployment: Uuid::nil(),
            service: "cart".into(),
            version: "1".into(),
            revision: 1,
            target: "shop".into(),
            reason: (*reason).into(),
            text: String::new(),
            ended_by: String::new(),
            since: None,
            until: None,
        };
        assert_eq!(hope(&reasons.iter().map(line).collect::<Vec<_>>()), expected);
    }

    #[test]
    fn only_what_nobody_works_on_is_stuck() {
        check(&["no-executor", "before"], Some(Hope::Stuck));
        check(&["approval", "paused"], Some(Hope::Stuck));
        check(&["approval", "working"], Some(Hope::Moves));
        check(&["in-line", "approval"], Some(Hope::AfterOthers));
        check(&["something new"], Some(Hope::Moves));
        check(&["before"], None);
        check(&[], None);
    }
}
