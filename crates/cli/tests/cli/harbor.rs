use std::collections::BTreeSet;
use std::path::Path;

use seaway_engine::{Engine, Notice, Options, ProjectHandle};
use seaway_kernel::{
    Actor, Batch, Command, Edit, Effect, Entry, Policy, Range, Reply, Report, Sequence, Step,
    StructureChange, Task,
};
use seaway_model::{DeploymentId, ExecutorName, Kind, Name, Outcome, Span};
use seaway_store::Store;
use tempfile::TempDir;
use tokio::sync::mpsc;
use uuid::Uuid;

/// An engine on a data directory. What it is told leads to the same log each time, but for times
/// and hashes.
pub(crate) struct Harbor {
    engine: Engine,
    project: ProjectHandle,
    notices: mpsc::Receiver<Notice>,
}

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).expect("tests use valid names")
}

impl Harbor {
    pub(crate) async fn open(dir: &Path, project: &str) -> Self {
        let store = Store::sqlite(dir).expect("the store opens");
        store.create_project(&name(project)).await.expect("the project is made");
        let (effects, notices) = mpsc::channel(1_000);
        let options = Options { effects: Some(effects), ..Options::default() };
        let engine = Engine::start(store, options);
        let project = engine.project(&name(project));
        let harbor = Self { engine, project, notices };
        harbor.send(structure()).await;
        harbor
    }

    pub(crate) async fn close(self) {
        self.engine.stop().await;
    }

    /// Starts a deployment and answers all its tasks: the test with `test`, the others with pass.
    pub(crate) async fn deliver(&mut self, number: u128, what: (&str, &str), test: Outcome) {
        self.start(number, what).await;
        loop {
            match self.notices.recv().await.expect("the engine runs").effect {
                Effect::Offer { step, .. } => {
                    let look = move |kernel: &seaway_kernel::Kernel| {
                        kernel.targets().path(step.target).to_string()
                    };
                    let path = self.project.inspect(look).await.expect("it is in memory");
                    let outcome = if path.ends_with("/test") { test } else { Outcome::Pass };
                    self.work(step, outcome).await;
                }
                Effect::Ended { .. } => return,
                Effect::Cancel { .. } => {}
            }
        }
    }

    pub(crate) async fn start(&mut self, number: u128, (service, version): (&str, &str)) {
        let deployment = DeploymentId(Uuid::from_u128(number));
        let (service, version) = (name(service), version.into());
        self.send(Command::Start { deployment, service, version, known: None }).await;
    }

    async fn work(&self, step: Step, outcome: Outcome) {
        let executor = ExecutorName("agent".into());
        let claim = Command::Claim { step, executor, ttl: Span::from_secs(60) };
        let Reply::Claimed { fence, .. } = self.send(claim).await else {
            panic!("an offered task can be claimed");
        };
        let answer = (outcome == Outcome::Fail).then(|| "2 of 9 checks\nfailed".into());
        let report = Report::Ended(outcome);
        self.send(Command::Report { step, fence, report, answer }).await;
    }

    async fn send(&self, command: Command) -> Reply {
        self.project.send(command, Actor::named("ann")).await.expect("it is carried out")
    }
}

/// Beta deploys to two hosts and tests, as one batch; prod has one task.
fn structure() -> Command {
    let task = |text, groups| Task { groups, ..Task::new(name(text)) };
    let stage = |text, after: &[&str]| Edit::PutStage {
        stage: name(text),
        entry: Entry::Ordered,
        after: after.iter().map(|stage| name(stage)).collect::<BTreeSet<_>>(),
        batch: None,
    };
    let sequence = |text, definition| Edit::PutSequence {
        stage: name(text),
        sequence: name("delivery"),
        definition,
    };
    let batch = Batch { capacity: 1, policy: Policy::Queue };
    let (beta, eu) = (name("beta"), name("eu"));
    let chain = vec![Kind::MemberStarted, Kind::MemberDeployed, Kind::MemberFinished];
    let members = vec![name("host-1"), name("host-2")];
    let in_beta = Sequence {
        tasks: vec![task("deploy", vec![eu.clone()]), task("test", vec![])],
        range: Some(Range { first: 0, last: 1, batch }),
        ..Sequence::default()
    };
    let in_prod =
        Sequence { tasks: vec![task("deploy", vec![])], range: None, ..Sequence::default() };
    Command::ChangeStructure(StructureChange(vec![
        stage("beta", &[]),
        Edit::PutGroup { stage: beta.clone(), group: eu.clone(), chain },
        Edit::AddMembers { stage: beta, group: eu, members },
        sequence("beta", in_beta),
        stage("prod", &["beta"]),
        sequence("prod", in_prod),
    ]))
}

/// A directory with the project `shop`: one revision was delivered, one failed its test, and one
/// has just begun.
pub(crate) async fn shop() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut harbor = Harbor::open(dir.path(), "shop").await;
    harbor.deliver(1, ("cart", "1.0"), Outcome::Pass).await;
    harbor.deliver(2, ("cart", "1.1"), Outcome::Fail).await;
    harbor.start(3, ("search", "7")).await;
    harbor.close().await;
    dir
}
