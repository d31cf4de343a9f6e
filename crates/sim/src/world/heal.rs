use std::collections::BTreeMap;

use seaway_kernel::{Command, Step, Waiting, WaitingStep};
use seaway_model::{DeploymentId, Digest, Outcome, Seq};

use super::event::{Errand, Event};
use super::life::World;
use super::owner::fold;
use crate::verify::{Rule, Violation};

/// The phase in which faults have stopped and everything must come to an end.
#[derive(Debug, Default)]
pub(super) struct Healing {
    rounds: u32,
    /// Rounds since the log last grew.
    still: u32,
    head: Seq,
    retried: BTreeMap<Step, u32>,
    /// Whether anybody helps where nobody can do a task; decided when it is first asked.
    pub(super) help: Option<Help>,
    /// Everything has ended, and nobody need say any more that it is there.
    pub(super) over: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Help {
    Comes,
    /// Only after everybody has waited in vain for as long as the kernel lets them.
    ComesTooLate,
}

/// A little more than a task waits for an executor.
const IN_VAIN: i64 = 605_000_000;
const PAUSE: i64 = 1_500_000;
/// Long enough for every lease to run out twice.
const STILL: u32 = 30;
const MAX_ROUNDS: u32 = 600;
const RETRIES: u32 = 2;

impl World {
    /// People and executors look around and do what is theirs to do.
    pub(super) fn round(&mut self) -> Result<(), Violation> {
        let head = self.verifier.head();
        let first = {
            let healing = self.healing.as_mut().expect("rounds belong to the heal phase");
            healing.rounds += 1;
            healing.still = if healing.head == head { healing.still + 1 } else { 0 };
            healing.head = head;
            healing.rounds == 1
        };
        if first {
            self.settle_down();
        }
        if self.spins && !self.counters.spun && self.view().is_some() {
            self.counters.spun = true;
            self.spin();
        }
        if self.owners.is_empty() && self.counters.booting == 0 {
            self.boot_soon(None);
        }
        let open: Vec<DeploymentId> = match self.view() {
            Some(kernel) => kernel.deployments().map(|(id, _)| id).collect(),
            None => {
                self.after(PAUSE / 10, Event::Round);
                return self.check_patience(&[]);
            }
        };
        let failed = self.retry_failed();
        if open.is_empty() && !failed && self.is_quiet() {
            self.healing.as_mut().expect("rounds belong to the heal phase").over = true;
            return Ok(());
        }
        let waiting = self.waiting(&open);
        self.check_patience(&waiting)?;
        waiting.iter().for_each(|it| self.attend_to(it));
        let healing = self.healing.as_mut().expect("rounds belong to the heal phase");
        let late = healing.help == Some(Help::ComesTooLate);
        if late {
            healing.help = Some(Help::Comes);
        }
        self.after(if late { IN_VAIN } else { PAUSE }, Event::Round);
        Ok(())
    }

    /// Only the newest owner goes on.
    fn settle_down(&mut self) {
        while self.owners.len() > 1 {
            let owner = self.owners.remove(0);
            self.cut_off(owner);
        }
    }

    fn is_quiet(&self) -> bool {
        let settled = self.owners.last().is_some_and(|owner| owner.writer.is_settled());
        let asked = |event: &Event| match event {
            // Who asks for work when there is none changes nothing.
            Event::Arrive(Errand::Take { .. }) => false,
            Event::Arrive(_) | Event::Offer(..) | Event::Land(_) | Event::Told(_) => true,
            _ => false,
        };
        settled && self.counters.booting == 0 && !self.agenda.values().any(asked)
    }

    fn waiting(&self, open: &[DeploymentId]) -> Vec<WaitingStep> {
        let Some(kernel) = self.view() else { return Vec::new() };
        open.iter().flat_map(|id| kernel.waiting(*id, 200)).collect()
    }

    /// What failed is retried, also in deployments that have ended. Tells whether there was any.
    fn retry_failed(&mut self) -> bool {
        let mut any = false;
        for step in self.verifier.failed_steps() {
            let healing = self.healing.as_mut().expect("rounds belong to the heal phase");
            let tries = healing.retried.entry(step).or_default();
            if *tries < RETRIES {
                *tries += 1;
                any = true;
                self.ask_for(Command::Retry { step, data: None });
            }
        }
        any
    }

    fn attend_to(&mut self, waiting: &WaitingStep) {
        let WaitingStep { step, why } = waiting;
        match why {
            Waiting::Unclaimed => self.claim(*step),
            Waiting::Approval { .. } => {
                let (outcome, comment) = (Outcome::Pass, None);
                self.ask_for(Command::Approve { step: *step, outcome, comment });
            }
            Waiting::Paused { .. } => self.ask_for(Command::Resume { deployment: step.deployment }),
            Waiting::Overtaken => {
                self.ask_for(Command::Skip { step: *step, reason: "came too late".into() });
            }
            why => self.tend(*step, why),
        }
    }

    /// A deployment that nothing moves any more must say why, and may not be a zombie.
    fn check_patience(&self, waiting: &[WaitingStep]) -> Result<(), Violation> {
        let healing = self.healing.as_ref().expect("rounds belong to the heal phase");
        if healing.still < STILL && healing.rounds < MAX_ROUNDS {
            return Ok(());
        }
        let all: Vec<String> = waiting
            .iter()
            .map(|it| {
                let path = self.verifier.path(it.step.target);
                format!("{} {path} {}: {}", it.step.deployment.0.as_u128(), it.step.kind, it.why)
            })
            .collect();
        let open = self.view().map_or(0, |kernel| kernel.deployments().count());
        let still = healing.still;
        let detail =
            format!("{open} deployments, {still} rounds without a record: {}", all.join("; "));
        Err(Violation::new(Rule::Progress, detail))
    }

    /// After everything ended: a fold from the first record and one from a checkpoint agree.
    pub(super) fn check_end(&mut self) -> Result<(), Violation> {
        if self.healing.is_none() {
            return Err(Violation::new(Rule::Progress, "the world ran out of events"));
        }
        self.absorb()?;
        self.disk.checkpoint = None;
        let fresh = fold(&self.disk, &self.project, 500)?;
        let checkpoint = fresh.replay.checkpoint();
        self.compare(checkpoint.state_digest, "folded afresh")?;
        self.disk.checkpoint = Some(checkpoint);
        let restored = fold(&self.disk, &self.project, 500)?;
        if !restored.checkpoint_used {
            let why = restored.set_aside.unwrap_or_default();
            let detail = format!("a sound checkpoint was set aside: {why}");
            return Err(Violation::new(Rule::Replay, detail));
        }
        self.compare(restored.replay.checkpoint().state_digest, "from a checkpoint")?;
        let Some(kernel) = self.view() else {
            return Err(Violation::new(Rule::Progress, "no owner at the end"));
        };
        self.verifier.check_applied(kernel)?;
        self.compare(kernel.digest(), "live at the end")
    }

    /// Now and then, when all of the live state is durable, it is compared with the replayed one.
    pub(super) fn check_replay(&mut self) -> Result<(), Violation> {
        self.counters.commits += 1;
        let Some(kernel) = self.view() else { return Ok(()) };
        if !self.counters.commits.is_multiple_of(8) || kernel.head() != self.verifier.head() {
            return Ok(());
        }
        self.verifier.check_applied(kernel)?;
        self.compare(kernel.digest(), "live")
    }

    pub(super) fn compare(&self, found: Digest, what: &str) -> Result<(), Violation> {
        if found == self.shadow.digest() {
            return Ok(());
        }
        let detail =
            format!("the state {what} at {} is not what replay gives", self.verifier.head());
        Err(Violation::new(Rule::Replay, detail))
    }
}
