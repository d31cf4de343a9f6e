use std::collections::BTreeSet;

use seaway_kernel::{Batch, Command, Edit, Entry, Policy, Range, Sequence, StructureChange, Task};
use seaway_model::{DeploymentId, Kind, Name};
use uuid::Uuid;

pub(super) const PROJECT: &str = "shop";

/// The hosts of production, by group.
const PROD: [(&str, [&str; 2]); 2] = [("eu", ["eu-1", "eu-2"]), ("us", ["us-1", "us-2"])];

/// A version of a service on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Release {
    pub(super) deployment: DeploymentId,
    pub(super) service: &'static str,
    pub(super) version: &'static str,
}

impl Release {
    #[expect(clippy::disallowed_methods, reason = "the edge at which ids are made")]
    fn new(service: &'static str, version: &'static str) -> Self {
        Self { deployment: DeploymentId(Uuid::now_v7()), service, version }
    }

    pub(super) fn start(&self) -> Command {
        Command::Start {
            deployment: self.deployment,
            service: name(self.service),
            version: self.version.into(),
            known: None,
        }
    }
}

/// Everything that is delivered, in the order in which it is started.
#[derive(Debug)]
pub(super) struct Example {
    pub(super) first: Release,
    /// Fails its test.
    pub(super) faulty: Release,
    /// Wait behind the faulty one.
    pub(super) waiting: [Release; 2],
    pub(super) fixed: Release,
}

impl Example {
    pub(super) fn new() -> Self {
        Self {
            first: Release::new("cart", "1.0"),
            faulty: Release::new("cart", "1.1"),
            waiting: [Release::new("search", "4.2"), Release::new("payment", "2.7")],
            fixed: Release::new("cart", "1.2"),
        }
    }

    pub(super) fn release(&self, deployment: DeploymentId) -> Option<Release> {
        let [search, payment] = self.waiting;
        let all = [self.first, self.faulty, search, payment, self.fixed];
        all.into_iter().find(|release| release.deployment == deployment)
    }
}

/// The stages build, beta and prod; in beta, deployment and test are one batch.
pub(super) fn pipeline() -> Command {
    let mut edits = stage("build", None);
    edits.extend(group("build", "artifacts", &["amd64", "arm64"], vec![Kind::ArtifactRegistered]));
    let tasks = vec![task("compile", &[]), task("publish", &["artifacts"])];
    edits.push(sequence("build", "build", Sequence { tasks, range: None, ..Sequence::default() }));

    edits.extend(stage("beta", Some("build")));
    edits.extend(group("beta", "hosts", &["beta-1", "beta-2"], chain(false)));
    let tasks = vec![task("deploy", &["hosts"]), task("test", &[])];
    let batch = Batch { capacity: 1, policy: Policy::Queue };
    let range = Some(Range { first: 0, last: 1, batch });
    edits.push(sequence("beta", "delivery", Sequence { tasks, range, ..Sequence::default() }));

    edits.extend(stage("prod", Some("beta")));
    for (region, hosts) in PROD {
        edits.extend(group("prod", region, &hosts, chain(false)));
    }
    let tasks = vec![task("deploy", &PROD.map(|(region, _)| region))];
    edits.push(sequence(
        "prod",
        "delivery",
        Sequence { tasks, range: None, ..Sequence::default() },
    ));
    Command::ChangeStructure(StructureChange(edits))
}

/// From now on every host of production is tested after it was deployed to.
pub(super) fn introduce_tests() -> Command {
    let put = |(region, _): (&str, _)| Edit::PutGroup {
        stage: name("prod"),
        group: name(region),
        chain: chain(true),
    };
    Command::ChangeStructure(StructureChange(PROD.map(put).into()))
}

pub(super) fn name(text: &str) -> Name {
    Name::new(text).expect("the names of the example are valid")
}

fn chain(tested: bool) -> Vec<Kind> {
    let mut chain = vec![Kind::MemberStarted, Kind::MemberDeployed];
    chain.extend(tested.then_some(Kind::MemberTested));
    chain.push(Kind::MemberFinished);
    chain
}

fn stage(stage: &str, after: Option<&str>) -> Vec<Edit> {
    let after: BTreeSet<Name> = after.into_iter().map(name).collect();
    vec![Edit::PutStage { stage: name(stage), entry: Entry::Ordered, after, batch: None }]
}

fn group(stage: &str, group: &str, members: &[&str], chain: Vec<Kind>) -> [Edit; 2] {
    let (stage, group) = (name(stage), name(group));
    let members = members.iter().map(|member| name(member)).collect();
    [
        Edit::PutGroup { stage: stage.clone(), group: group.clone(), chain },
        Edit::AddMembers { stage, group, members },
    ]
}

fn sequence(stage: &str, sequence: &str, definition: Sequence) -> Edit {
    Edit::PutSequence { stage: name(stage), sequence: name(sequence), definition }
}

fn task(task: &str, groups: &[&str]) -> Task {
    let groups = groups.iter().map(|group| name(group)).collect();
    Task { groups, ..Task::new(name(task)) }
}
