//! Drives the kernel and the reference side by side, and insists that they agree.

use std::collections::BTreeSet;

use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;
use seaway_kernel::reference::{Reference, Wait};
use seaway_kernel::{
    Actor, Command, Edit, Entry, Kernel, Pace, Reason, Record, Refusal, Reply, Report, Sequence,
    Step, StructureChange, Subscription, Task, Waiting, WaitingStep,
};
use seaway_model::{
    Attempt, DeploymentId, ExecutorName, Fact, Fence, Kind, Name, Outcome, Seq, Span, TargetId,
    Timestamp,
};

pub(crate) struct Harness {
    pub(crate) kernel: Kernel,
    pub(crate) reference: Reference,
    pub(crate) log: Vec<Record>,
    pub(crate) now: Timestamp,
    next_id: u128,
    keys: BTreeSet<RecordKey>,
}

/// What must be unique in the log.
type RecordKey = ((Option<DeploymentId>, TargetId, Kind, Fact), Attempt, u32);

/// The same histories in every run; `PROPTEST_CASES` asks for more of them.
pub(crate) fn histories(cases: u32, seed: u64) -> ProptestConfig {
    ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(cases),
        max_shrink_iters: 500,
        rng_seed: RngSeed::Fixed(seed),
        ..ProptestConfig::default()
    }
}

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).expect("tests use valid names")
}

pub(crate) fn task(text: &str) -> Task {
    Task::new(name(text))
}

pub(crate) fn over(text: &str, groups: &[&str]) -> Task {
    Task { groups: groups.iter().map(|group| name(group)).collect(), ..task(text) }
}

pub(crate) fn stage(text: &str, after: &[&str]) -> Edit {
    let after: BTreeSet<Name> = after.iter().map(|stage| name(stage)).collect();
    Edit::PutStage { stage: name(text), entry: Entry::Ordered, after, batch: None }
}

pub(crate) fn sequence(stage: &str, sequence: &str, tasks: Vec<Task>) -> Edit {
    let definition = Sequence { tasks, range: None, ..Sequence::default() };
    Edit::PutSequence { stage: name(stage), sequence: name(sequence), definition }
}

pub(crate) fn group(stage: &str, group: &str, inner: &[Kind], members: &[&str]) -> [Edit; 2] {
    let chain = [&[Kind::MemberStarted], inner, &[Kind::MemberFinished]].concat();
    let (stage, group) = (name(stage), name(group));
    let put = Edit::PutGroup { stage: stage.clone(), group: group.clone(), chain };
    let members = members.iter().map(|member| name(member)).collect();
    [put, Edit::AddMembers { stage, group, members }]
}

impl Harness {
    pub(crate) fn new() -> Self {
        let project = name("shop");
        Self {
            kernel: Kernel::new(&project),
            reference: Reference::new(&project),
            log: Vec::new(),
            now: Timestamp(1_000_000),
            next_id: 0,
            keys: BTreeSet::new(),
        }
    }

    pub(crate) fn command(&mut self, command: &Command) -> Result<Reply, Refusal> {
        let mut out = Vec::new();
        let by = Actor::named("alice");
        let mut reply = self.kernel.decide(command, self.now, &by, &mut out);
        if let Err(Refusal::NotLoaded(id)) = reply {
            assert!(out.is_empty(), "a refused command changes nothing");
            let past: Vec<Record> =
                self.log.iter().filter(|record| record.deployment == Some(id)).cloned().collect();
            self.kernel.revive(&past).expect("its own records bring a deployment back");
            reply = self.kernel.decide(command, self.now, &by, &mut out);
        }
        if reply.is_err() {
            assert!(out.is_empty(), "a refused command changes nothing");
        }
        self.take(out);
        reply
    }

    fn take(&mut self, records: Vec<Record>) {
        for record in records {
            let key = (record.deployment, record.target, record.kind, record.fact);
            let fresh = self.keys.insert((key, record.attempt, record.n));
            assert!(fresh || record.deployment.is_none(), "{record:?} repeats an earlier key");
            let path = self.kernel.targets().path(record.target).to_string();
            self.reference.fold(&record, &path);
            self.log.push(record);
        }
    }

    /// Lets the scheduler go on until nothing moves, comparing every record.
    pub(crate) fn settle(&mut self) {
        for _ in 0..10_000 {
            let mut out = Vec::new();
            let pace = self.kernel.tick(self.now, 1, &mut out);
            if !out.iter().any(|record| self.is_timed(record)) {
                self.reference.now = self.now;
                self.compare_action(&out);
            }
            self.take(out);
            if pace == Pace::Idle {
                return self.compare_waiting();
            }
        }
        panic!("the scheduler does not come to rest");
    }

    /// Whether a record comes from a clock, or from the answers of executors: the reference takes
    /// these as they are.
    fn is_timed(&self, record: &Record) -> bool {
        let path = self.kernel.targets().path(record.target).to_string();
        let task = record.kind == Kind::TaskDone;
        match record.fact {
            Fact::LeaseExpired | Fact::ExecutorLeft => true,
            Fact::Finished | Fact::Failed if task => {
                let out_of_time = record.reason() == Some(&Reason::RunTimedOut);
                out_of_time
                    || self
                        .reference
                        .is_in_flight(record.deployment.expect("tasks have one"), &path)
            }
            Fact::Retried if task => {
                self.reference.is_backing_off(record.deployment.expect("tasks have one"), &path)
            }
            _ => path.contains('@'),
        }
    }

    fn compare_action(&self, out: &[Record]) {
        let expected = self.reference.next_action();
        let made = out.first().map(|record| seaway_kernel::reference::Action {
            deployment: record.deployment.expect("the scheduler moves deployments"),
            path: self.kernel.targets().path(record.target).to_string(),
            kind: record.kind,
            fact: record.fact,
            attempt: record.attempt,
            outcome: record.outcome,
            reason: record.reason().cloned(),
        });
        assert_eq!(made, expected, "kernel (left) and reference (right) differ in what is next");
    }

    fn compare_waiting(&mut self) {
        self.reference.now = self.now;
        for (id, _) in self.kernel.deployments() {
            let mut waits: Vec<(String, Kind, Wait)> = self
                .kernel
                .waiting(id, usize::MAX)
                .into_iter()
                .map(|it| (self.path(it.step), it.step.kind, class(&it.why)))
                .collect();
            let mut expected: Vec<(String, Kind, Wait)> = self
                .reference
                .waiting(id)
                .into_iter()
                .map(|(path, kind, wait)| (self.known(path), kind, wait))
                .collect();
            waits.sort();
            expected.sort();
            assert_eq!(waits, expected, "kernel (left) and reference (right) differ in waiting");
        }
    }

    fn path(&self, step: Step) -> String {
        self.kernel.targets().path(step.target).to_string()
    }

    /// The kernel names a member that was never used by its group.
    fn known(&self, path: String) -> String {
        match self.kernel.targets().find(&path) {
            Some(_) => path,
            None => path.rsplit_once('/').map_or(path.clone(), |(group, _)| group.to_owned()),
        }
    }

    pub(crate) fn change(&mut self, edits: Vec<Edit>) -> Result<Reply, Refusal> {
        self.command(&Command::ChangeStructure(StructureChange(edits)))
    }

    pub(crate) fn next_id(&mut self) -> DeploymentId {
        self.next_id += 1;
        DeploymentId(uuid::Uuid::from_u128(self.next_id))
    }

    pub(crate) fn start(&mut self, service: &str, version: &str) -> DeploymentId {
        let deployment = self.next_id();
        let (service, version) = (name(service), version.into());
        let start = Command::Start { deployment, service, version, known: None };
        self.command(&start).expect("deployments can be started");
        deployment
    }

    /// The steps in flight of one deployment, by path and kind.
    pub(crate) fn in_flight(&self, id: DeploymentId) -> Vec<(String, Kind)> {
        let flying = |why: &Waiting| matches!(why, Waiting::Unclaimed | Waiting::Working { .. });
        let waiting = self.kernel.waiting(id, usize::MAX);
        waiting
            .iter()
            .filter(|it| flying(&it.why))
            .map(|it| (self.path(it.step), it.step.kind))
            .collect()
    }

    pub(crate) fn step(&self, deployment: DeploymentId, path: &str, kind: Kind) -> Step {
        let target = self.kernel.targets().find(path);
        let target = target.unwrap_or_else(|| panic!("{path} is not a target"));
        Step { deployment, target, kind }
    }

    /// Ends a step in flight, without a claim.
    pub(crate) fn end(&mut self, id: DeploymentId, path: &str, kind: Kind, outcome: Outcome) {
        let step = self.step(id, path, kind);
        let attempt = self.last_dispatch(step).attempt;
        let fence = Fence { attempt, lease: 0 };
        let report = Command::Report { step, fence, report: Report::Ended(outcome), answer: None };
        self.command(&report).unwrap_or_else(|refusal| panic!("{path} {kind}: {refusal}"));
        self.settle();
    }

    pub(crate) fn last_dispatch(&self, step: Step) -> &Record {
        let dispatches =
            |record: &&Record| record.step() == Some(step) && record.fact == Fact::Dispatched;
        self.log.iter().rev().find(dispatches).expect("the step was dispatched")
    }

    /// Passes everything that is in flight, again and again, until the deployment rests.
    pub(crate) fn pass_all(&mut self, id: DeploymentId) {
        self.settle();
        loop {
            let flying = self.in_flight(id);
            let Some((path, kind)) = flying.first() else { return };
            let (path, kind) = (path.clone(), *kind);
            self.end(id, &path, kind, Outcome::Pass);
        }
    }

    /// People resume what is paused and skip what is stuck, executors pass everything, and nobody
    /// changes the structure: then everything ends.
    pub(crate) fn drain(&mut self) {
        self.settle();
        for _ in 0..20_000 {
            let open: Vec<DeploymentId> = self.kernel.deployments().map(|(id, _)| id).collect();
            let waits = open.iter().flat_map(|id| self.kernel.waiting(*id, usize::MAX));
            let helped = waits.collect::<Vec<_>>().into_iter().any(|it| self.help(&it));
            if !helped {
                self.kernel.sweep();
                let open: Vec<DeploymentId> = self.kernel.deployments().map(|(id, _)| id).collect();
                let stuck = open.iter().map(|id| (id, self.kernel.waiting(*id, usize::MAX)));
                let stuck: Vec<_> = stuck.map(|(id, waits)| self.told(*id, &waits)).collect();
                assert!(stuck.is_empty(), "nothing ends these:\n{}", stuck.join("\n"));
                return;
            }
        }
        let open: Vec<DeploymentId> = self.kernel.deployments().map(|(id, _)| id).collect();
        let waits = open.iter().map(|id| self.told(*id, &self.kernel.waiting(*id, usize::MAX)));
        panic!("the deployments do not end:\n{}", waits.collect::<Vec<_>>().join("\n"));
    }

    fn told(&self, id: DeploymentId, waits: &[WaitingStep]) -> String {
        let waits = waits
            .iter()
            .map(|wait| format!("  {} {}: {:?}", self.path(wait.step), wait.step.kind, wait.why));
        format!("{id}\n{}", waits.collect::<Vec<_>>().join("\n"))
    }

    /// Does what ends a wait, if somebody outside can.
    fn help(&mut self, wait: &WaitingStep) -> bool {
        let step = wait.step;
        let command = match wait.why {
            Waiting::Paused { .. } => Command::Resume { deployment: step.deployment },
            Waiting::Delayed { until } | Waiting::Retrying { until, .. } => {
                self.now = self.now.max(until);
                self.settle();
                return true;
            }
            Waiting::NoExecutor { ref task, .. } => {
                let all = Subscription {
                    task: task.clone(),
                    stages: Vec::new(),
                    services: Vec::new(),
                    expressions: Vec::new(),
                };
                let executor = ExecutorName(format!("helper/{task}").into());
                let ttl = Span::from_secs(80_000);
                Command::Register { executor, subscriptions: vec![all], ttl }
            }
            Waiting::Offered { ref to, ref working } => {
                return self.do_share(step, to.first(), working.first().map(|(name, _)| name));
            }
            Waiting::Approval { .. } => {
                Command::Approve { step, outcome: Outcome::Pass, comment: None }
            }
            Waiting::Overtaken => Command::Skip { step, reason: "it is too late for it".into() },
            Waiting::Unclaimed | Waiting::Working { .. } => {
                let offers = |it: &&Record| matches!(it.fact, Fact::Dispatched | Fact::Claimed);
                let mut past = self.log.iter().rev().filter(|it| it.step() == Some(step));
                let last = past.find(offers).expect("what is in flight was dispatched");
                let fence = Fence { attempt: last.attempt, lease: last.n };
                let report = Report::Ended(Outcome::Pass);
                Command::Report { step, fence, report, answer: None }
            }
            _ => return false,
        };
        self.command(&command).expect("what is waited for can be done");
        self.settle();
        true
    }

    /// Passes one executor's share of a task, taking it first if nobody has.
    fn do_share(
        &mut self,
        step: Step,
        to: Option<&ExecutorName>,
        working: Option<&ExecutorName>,
    ) -> bool {
        let (share, fence) = match working {
            Some(executor) => {
                let path = format!("{}@{executor}", self.path(step));
                let share = self.step(step.deployment, &path, step.kind);
                let mut past = self.log.iter().rev().filter(|it| it.step() == Some(share));
                let claim = past.find(|it| it.fact == Fact::Claimed).expect("it was claimed");
                (share, Fence { attempt: claim.attempt, lease: claim.n })
            }
            None => {
                let executor = to.expect("somebody is offered it").clone();
                let claim = Command::Claim { step, executor, ttl: Span::from_secs(80_000) };
                match self.command(&claim).expect("what is offered can be taken") {
                    Reply::Claimed { step, fence, .. } => (step, fence),
                    other => panic!("a claim was answered with {other:?}"),
                }
            }
        };
        let report = Report::Ended(Outcome::Pass);
        let report = Command::Report { step: share, fence, report, answer: None };
        self.command(&report).expect("who holds a share may answer");
        self.settle();
        true
    }

    /// The log of one deployment as short lines: path below the project, kind and fact.
    pub(crate) fn lines(&self, id: DeploymentId) -> Vec<String> {
        let mine = self.log.iter().filter(|record| record.deployment == Some(id));
        mine.map(|record| {
            let path = self.kernel.targets().path(record.target).to_string();
            let below = path.strip_prefix("shop/").unwrap_or("").to_owned();
            let kind = record.kind.shown(record.fact);
            let mut line = format!("{below} {kind}").trim().to_owned();
            match (record.fact, record.reason()) {
                (Fact::Finished | Fact::Failed, _) => {}
                (fact, Some(reason)) => line += &format!(" {fact} ({reason})"),
                (fact, None) => line += &format!(" {fact}"),
            }
            line
        })
        .collect()
    }

    pub(crate) fn ended(&self, id: DeploymentId) -> Option<Fact> {
        let end = |record: &&Record| {
            record.deployment == Some(id) && record.kind == Kind::PipelineFinished
        };
        self.log.iter().rev().find(end).map(|record| record.fact)
    }

    /// State is the same live, replayed from the start, and from a checkpoint.
    pub(crate) fn check_replay(&mut self) {
        self.kernel.sweep();
        let digest = self.kernel.digest();
        let restored = Kernel::restore(self.kernel.project(), &self.kernel.checkpoint().1)
            .expect("a fresh checkpoint can be read");
        assert_eq!(restored.digest(), digest, "a checkpoint restores the state");
        let mut replayed = Kernel::new(self.kernel.project());
        for def in self.kernel.targets().defined_from(1) {
            replayed.define_target(&def).expect("definitions come in order");
        }
        for (position, record) in self.log.iter().enumerate() {
            if let Some(id) = replayed.absent(record) {
                let past = self.log[..position].iter();
                let past: Vec<Record> =
                    past.filter(|it| it.deployment == Some(id)).cloned().collect();
                replayed.revive(&past).expect("its own records bring a deployment back");
            }
            replayed.apply(record).expect("the log can be replayed");
            let end = record.kind == Kind::PipelineFinished;
            if end {
                replayed.sweep();
            }
        }
        replayed.sweep();
        assert_eq!(replayed.head(), Seq(self.log.len() as u64));
        assert_eq!(replayed.digest(), digest, "replay gives the same state");
    }

    /// From here on with a kernel that was read from a checkpoint.
    pub(crate) fn restart(&mut self) {
        self.kernel.sweep();
        let bytes = self.kernel.checkpoint().1;
        self.kernel = Kernel::restore(&name("shop"), &bytes).expect("checkpoints can be read");
        self.kernel.renew_all(self.now);
    }

    pub(crate) fn claim(&mut self, step: Step, executor: &str) -> Result<Fence, Refusal> {
        let (executor, ttl) = (ExecutorName(executor.into()), Span::from_secs(10));
        match self.command(&Command::Claim { step, executor, ttl })? {
            Reply::Claimed { fence, .. } => Ok(fence),
            other => panic!("a claim was answered with {other:?}"),
        }
    }
}

fn class(why: &Waiting) -> Wait {
    match why {
        Waiting::Scheduled => Wait::Scheduled,
        Waiting::Unclaimed => Wait::Unclaimed,
        Waiting::Working { .. } => Wait::Working,
        Waiting::Offered { working, .. } if !working.is_empty() => Wait::Working,
        Waiting::Offered { .. } | Waiting::Approval { .. } | Waiting::NoExecutor { .. } => {
            Wait::Unclaimed
        }
        Waiting::Delayed { .. } => Wait::Delayed,
        Waiting::Retrying { .. } => Wait::Retrying,
        Waiting::Paused { .. } => Wait::Paused,
        Waiting::Aborting { .. } => Wait::Aborting,
        Waiting::Before { .. } => Wait::Before,
        Waiting::InLine { .. } => Wait::InLine,
        Waiting::Failed => Wait::Failed,
        Waiting::Superseded => Wait::Superseded,
        Waiting::Overtaken => Wait::Overtaken,
    }
}
