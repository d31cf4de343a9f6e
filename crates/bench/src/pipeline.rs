use std::collections::BTreeSet;

use seaway_kernel::{Command, Edit, Entry, Report, Sequence, Step, StructureChange, Task};
use seaway_model::{Attempt, Fence, Kind, Name, Outcome};

use crate::identity::name;

/// The steps that each member of a fleet goes through.
pub(crate) const CHAIN: [Kind; 5] = [
    Kind::MemberStarted,
    Kind::ArtifactReplicated,
    Kind::MemberDeployed,
    Kind::MemberTested,
    Kind::MemberFinished,
];

/// Those of them that somebody has to report.
pub(crate) const REPORTED: [Kind; 3] =
    [Kind::ArtifactReplicated, Kind::MemberDeployed, Kind::MemberTested];

/// Members that one edit adds.
const CHUNK: usize = 100_000;

/// Two stages; in each, two hosts are deployed to and tested, then everything is checked.
pub(crate) fn two_stages() -> Command {
    let mut edits = Vec::new();
    for (text, after) in [("beta", None), ("prod", Some("beta"))] {
        let after = after.into_iter().map(name).collect();
        let chain = vec![CHAIN[0], CHAIN[2], CHAIN[3], CHAIN[4]];
        edits.extend(stage(text, after, chain));
        edits.push(add_members(text, 0..2));
        edits.push(sequence(text, vec![task("deploy", &["hosts"]), task("check", &[])]));
    }
    Command::ChangeStructure(StructureChange(edits))
}

/// One stage with a single task, without groups.
pub(crate) fn one_task() -> Command {
    let put = Edit::PutStage {
        stage: name("prod"),
        entry: Entry::Ordered,
        after: BTreeSet::new(),
        batch: None,
    };
    Command::ChangeStructure(StructureChange(vec![put, sequence("prod", vec![task("do", &[])])]))
}

/// One stage that goes over a single group of so many members, in edits of a sensible size.
pub(crate) fn fleet(members: usize) -> Vec<Command> {
    let mut edits = stage("prod", BTreeSet::new(), CHAIN.to_vec());
    edits.push(sequence("prod", vec![task("deploy", &["hosts"])]));
    let chunks = (0..members).step_by(CHUNK);
    let chunks = chunks.map(|from| vec![add_members("prod", from..members.min(from + CHUNK))]);
    let changes = std::iter::once(edits).chain(chunks);
    changes.map(|edits| Command::ChangeStructure(StructureChange(edits))).collect()
}

/// A step that nobody claimed ends well.
pub(crate) fn done(step: Step) -> Command {
    let fence = Fence { attempt: Attempt(1), lease: 0 };
    Command::Report { step, fence, report: Report::Ended(Outcome::Pass), answer: None }
}

fn stage(stage: &str, after: BTreeSet<Name>, chain: Vec<Kind>) -> Vec<Edit> {
    let stage = name(stage);
    vec![
        Edit::PutStage { stage: stage.clone(), entry: Entry::Ordered, after, batch: None },
        Edit::PutGroup { stage, group: name("hosts"), chain },
    ]
}

fn add_members(stage: &str, numbers: std::ops::Range<usize>) -> Edit {
    let members = numbers.map(|number| name(&format!("host-{number:07}"))).collect();
    Edit::AddMembers { stage: name(stage), group: name("hosts"), members }
}

fn sequence(stage: &str, tasks: Vec<Task>) -> Edit {
    let definition = Sequence { tasks, range: None, ..Sequence::default() };
    Edit::PutSequence { stage: name(stage), sequence: name("delivery"), definition }
}

fn task(text: &str, groups: &[&str]) -> Task {
    let groups = groups.iter().map(|group| name(group)).collect();
    Task { groups, ..Task::new(name(text)) }
}
