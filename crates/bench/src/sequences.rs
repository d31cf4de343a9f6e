use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use seaway_kernel::{
    Actor, Command, Entry, Event, Kernel, On, Pace, Record, Reply, Report, Selector, Sequence,
    Stage, Step, Structure, StructureChange, Subscription, Task, Trigger,
};
use seaway_model::{ExecutorName, Fact, Kind, Outcome, Span, Timestamp};

use crate::identity::{name, start};
use crate::sheet::Sheet;
use crate::watch::Watch;

/// Tasks of every sequence.
const TASKS: usize = 10;
/// Tasks that are taken and answered while the clock runs.
const ANSWERS: usize = 30_000;
const NOW: Timestamp = Timestamp(1);
const DAY: Span = Span::from_secs(86_400);
const ANSWER: &str = r#"{"deployment": {"deploymentURIsPublic": ["https://cart.example"]}}"#;

/// How much one event (a task is taken, or answered, and what follows from it) costs in a long
/// pipeline with much in flight, against a short one with little.
pub(crate) fn run(quick: bool, sheet: &mut Sheet) -> Result<()> {
    let (stages, deployments) = if quick { (50, 500) } else { (1_000, 10_000) };
    // The first run of a process warms its caches and its allocator up.
    Pipeline::fill(3, 10)?.answer(ANSWERS / 10)?;
    let short = per_event(3, 10)?;
    let long = per_event(stages, deployments)?;
    let case =
        |stages, deployments| format!("stages={stages},tasks={TASKS},deployments={deployments}");
    sheet.put(&case(3, 10), ("us_per_event", "us"), short, None);
    sheet.put(&case(stages, deployments), ("us_per_event", "us"), long, Some(short));
    Ok(())
}

/// The median of three.
fn per_event(stages: usize, deployments: usize) -> Result<f64> {
    let mut figures = Vec::new();
    for _ in 0..3 {
        let took = Pipeline::fill(stages, deployments)?.answer(ANSWERS)?;
        figures.push(took.as_secs_f64() * 1_000_000.0 / (2 * ANSWERS) as f64);
    }
    figures.sort_by(f64::total_cmp);
    Ok(figures[1])
}

/// A line of stages, each triggered by the one before it, with deployments all along it.
#[derive(Debug)]
struct Pipeline {
    kernel: Kernel,
    records: Vec<Record>,
    by: Actor,
    stages: usize,
    services: usize,
    /// Tasks that wait for somebody.
    open: VecDeque<Step>,
}

impl Pipeline {
    fn fill(stages: usize, deployments: usize) -> Result<Self> {
        let mut pipeline = Self {
            kernel: Kernel::new(&name("sequences")),
            records: Vec::new(),
            by: Actor::named("bench"),
            stages,
            services: 0,
            open: VecDeque::new(),
        };
        let structure = structure(stages);
        let change = StructureChange::between(&Structure::default(), &structure);
        pipeline.decide(&Command::ChangeStructure(change.context("there are stages")?))?;
        let subscriptions = (0..TASKS).map(|task| Subscription {
            task: name(&format!("task-{task}")),
            stages: Vec::new(),
            services: Vec::new(),
            expressions: Vec::new(),
        });
        let (subscriptions, ttl) = (subscriptions.collect(), DAY);
        pipeline.decide(&Command::Register { executor: executor(), subscriptions, ttl })?;
        for number in 0..deployments {
            pipeline.enter(number % stages)?;
        }
        Ok(pipeline)
    }

    /// A deployment of a service of its own begins somewhere in the line.
    fn enter(&mut self, stage: usize) -> Result<()> {
        self.services += 1;
        let (deployment, _) = start(&name("any"));
        let trigger = Command::Trigger {
            deployment,
            stage: stage_name(stage),
            sequence: name("delivery"),
            service: name(&format!("service-{}", self.services)),
            version: "1".into(),
            known: None,
            data: Some(r#"{"configurationChange": {"values": {"image": "cart:1"}}}"#.into()),
        };
        self.decide(&trigger)?;
        self.settle();
        Ok(())
    }

    fn decide(&mut self, command: &Command) -> Result<Reply> {
        Ok(self.kernel.decide(command, NOW, &self.by, &mut self.records)?)
    }

    /// Takes tasks and answers them, each of which lets the next begin.
    fn answer(&mut self, count: usize) -> Result<Duration> {
        let watch = Watch::start();
        for number in 0..count {
            if self.open.is_empty() {
                self.enter(number % self.stages)?;
            }
            let step = self.open.pop_front().context("a deployment that enters has a task")?;
            let claim = Command::Claim { step, executor: executor(), ttl: DAY };
            let Reply::Claimed { step, fence, .. } = self.decide(&claim)? else {
                bail!("a claim was answered with something else");
            };
            let report = Report::Ended(Outcome::Pass);
            let answer = Some(ANSWER.into());
            self.decide(&Command::Report { step, fence, report, answer })?;
            self.settle();
        }
        Ok(watch.elapsed())
    }

    fn settle(&mut self) {
        loop {
            let pace = self.kernel.tick(NOW, 4_096, &mut self.records);
            let work = |it: &&Record| it.kind == Kind::TaskDone && it.fact == Fact::Dispatched;
            self.open.extend(self.records.iter().filter(work).filter_map(Record::step));
            self.records.clear();
            self.kernel.sweep();
            if pace == Pace::Idle {
                return;
            }
        }
    }
}

fn executor() -> ExecutorName {
    ExecutorName("bench".into())
}

fn stage_name(number: usize) -> seaway_model::Name {
    name(&format!("stage-{number:04}"))
}

fn structure(stages: usize) -> Structure {
    let stages = (0..stages).map(|number| {
        let tasks = (0..TASKS).map(|task| Task::new(name(&format!("task-{task}")))).collect();
        let before = number.checked_sub(1).map(|before| Trigger {
            on: On::Event(Event::Finished {
                stage: stage_name(before),
                sequence: name("delivery"),
            }),
            selector: Selector::default(),
        });
        let triggers = before.into_iter().collect();
        let definition = Sequence { tasks, triggers, ..Sequence::default() };
        let sequences = [(name("delivery"), Arc::new(definition))].into();
        let stage = Stage { entry: Entry::Triggered, sequences, ..Stage::default() };
        (stage_name(number), Arc::new(stage))
    });
    Structure { stages: stages.collect() }
}
