use std::fmt;

use seaway_model::{Attempt, DeploymentId, ExecutorName, Name, Revision, Timestamp};

use crate::record::{Actor, Step};
use crate::schedule::{Judgement, Need};
use crate::state::{Course, Deployment, Offer, PermitKey, Spot, known_key_of};
use crate::{Kernel, fold};

/// Why a step does not move, typed, with what it takes to say what would end it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// It can be done and will be with the next tick.
    Scheduled,
    /// Offered, and nobody has taken it.
    Unclaimed,
    /// Somebody is doing it.
    Working {
        executor: ExecutorName,
        since: Timestamp,
    },
    /// Offered to those who subscribed; some may be working on it.
    Offered {
        to: Vec<ExecutorName>,
        working: Vec<(ExecutorName, Timestamp)>,
    },
    /// A person has to say yes or no.
    Approval {
        since: Timestamp,
    },
    /// Nobody subscribed to it.
    NoExecutor {
        task: Name,
        /// When it fails for that.
        until: Timestamp,
    },
    /// It goes some time after what came before it.
    Delayed {
        until: Timestamp,
    },
    /// It failed and is tried again by itself.
    Retrying {
        until: Timestamp,
        attempt: Attempt,
    },
    Paused {
        by: Actor,
        since: Timestamp,
    },
    Aborting {
        by: Actor,
        since: Timestamp,
    },
    /// Other steps have to end first.
    Before {
        open: Vec<Step>,
    },
    /// In line for a permit.
    InLine {
        permit: String,
        holders: Vec<Revision>,
        ahead: usize,
    },
    /// It failed, and nothing more happens by itself.
    Failed,
    /// A newer revision took over.
    Superseded,
    /// Something after it has finished, so that it would come out of order.
    Overtaken,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingStep {
    pub step: Step,
    pub why: Waiting,
}

impl Kernel {
    /// Everything of a deployment that does not move, and why: at most `limit` steps.
    #[must_use]
    pub fn waiting(&self, deployment: DeploymentId, limit: usize) -> Vec<WaitingStep> {
        let Some(deployment) = self.deployments.get(&deployment) else { return Vec::new() };
        let frontier = self.frontier(deployment);
        let steps = frontier.iter().filter_map(|&spot| {
            let step = self.step_at(deployment, spot)?;
            Some(WaitingStep { step, why: self.why(deployment, spot, &frontier) })
        });
        steps.take(limit).collect()
    }

    /// The address of a spot, unless its member was never named.
    pub(crate) fn step_at(&self, deployment: &Deployment, spot: Spot) -> Option<Step> {
        use crate::state::Position;
        let (target, kind) = match spot.position() {
            Position::Inside(key, cell) => {
                let run = &deployment.runs[&key];
                match known_key_of(&run.shape, run.target, cell, &self.targets) {
                    Ok(key) => key,
                    Err((group, _, kind)) => (group, kind),
                }
            }
            _ => fold::name_outside(deployment, spot)?,
        };
        Some(Step { deployment: deployment.id, target, kind })
    }

    fn why(&self, deployment: &Deployment, spot: Spot, frontier: &[Spot]) -> Waiting {
        let cell = deployment.cell(spot);
        match cell.status() {
            crate::state::Status::Failed => return Waiting::Failed,
            crate::state::Status::Superseded => return Waiting::Superseded,
            crate::state::Status::Backoff => return self.retrying(deployment, spot),
            _ => {}
        }
        if cell.in_flight() {
            let key = self.step_at(deployment, spot).map(|step| (step.target, step.kind));
            if let Some(offer) = key.and_then(|key| deployment.offers.get(&key)) {
                return self.offered_to(deployment, spot, offer);
            }
            return match key.and_then(|key| deployment.leases.get(&key)) {
                Some(lease) => {
                    Waiting::Working { executor: lease.executor.clone(), since: lease.since }
                }
                None => Waiting::Unclaimed,
            };
        }
        match &deployment.course {
            Course::Running => {}
            Course::Paused { by, since } => {
                return Waiting::Paused { by: by.clone(), since: *since };
            }
            Course::Aborting { by, since } => {
                return Waiting::Aborting { by: by.clone(), since: *since };
            }
        }
        let known = deployment.derived.todo.contains(&spot);
        let in_line = deployment.derived.in_line.contains_key(&spot);
        match self.judge(deployment, spot) {
            Judgement::Stale => Waiting::Overtaken,
            Judgement::Later(until) => Waiting::Delayed { until },
            Judgement::InLine(needs) if known || in_line => {
                self.in_line(deployment, spot, &needs[needs.len() - 1])
            }
            Judgement::Held | Judgement::Over => self.before(deployment, spot, frontier),
            _ if known => Waiting::Scheduled,
            _ => self.before(deployment, spot, frontier),
        }
    }

    fn retrying(&self, deployment: &Deployment, spot: Spot) -> Waiting {
        let key = self.step_at(deployment, spot).map(|step| (step.target, step.kind));
        let until = key.and_then(|key| deployment.backoffs.get(&key)).copied();
        let attempt = key.map_or(Attempt(1), |key| deployment.tries(key).attempt);
        Waiting::Retrying { until: until.unwrap_or_default(), attempt: attempt.next() }
    }

    fn offered_to(&self, deployment: &Deployment, spot: Spot, offer: &Offer) -> Waiting {
        if let Some(since) = offer.alone {
            let step = self.step_at(deployment, spot).map(|step| (step.target, step.kind));
            let task = step.and_then(|key| self.task_of(deployment.id, key));
            let task = task.map_or_else(|| self.project.clone(), |task| task.name.clone());
            return Waiting::NoExecutor { task, until: since + fold::GRACE };
        }
        let open = offer.parts.iter().filter(|part| part.end.is_none());
        if open.clone().any(|part| &*part.executor.0 == fold::BY_PERSON) {
            return Waiting::Approval { since: offer.since };
        }
        let (mut to, mut working) = (Vec::new(), Vec::new());
        for part in open {
            match deployment.leases.get(&(part.target, seaway_model::Kind::TaskDone)) {
                Some(lease) => working.push((part.executor.clone(), lease.since)),
                None => to.push(part.executor.clone()),
            }
        }
        Waiting::Offered { to, working }
    }

    /// The steps that a step has to wait for: a few of them, for people.
    fn before(&self, deployment: &Deployment, spot: Spot, frontier: &[Spot]) -> Waiting {
        const SHOWN: usize = 5;
        let open = frontier.iter().filter(|&&other| self.comes_before(deployment, other, spot));
        let open = open.filter_map(|&other| self.step_at(deployment, other));
        Waiting::Before { open: open.take(SHOWN).collect() }
    }

    fn in_line(&self, deployment: &Deployment, spot: Spot, need: &Need) -> Waiting {
        let (revision, started) = deployment.rank();
        let me = crate::state::Waiter { revision, started, spot };
        let holders = self.permits.holders(need.key).iter().map(|holder| holder.revision);
        let ahead = self.permits.line(need.key).take_while(|waiter| **waiter < me).count();
        let permit = self.permit_text(need.key);
        Waiting::InLine { permit, holders: holders.collect(), ahead }
    }

    fn permit_text(&self, key: PermitKey) -> String {
        let part = |part: u32| self.targets.part(part);
        let stage = |stage: u32| self.world.stages.name(stage);
        match key {
            PermitKey::Stage(number) => format!("batch of {}", stage(number)),
            PermitKey::Range(number, sequence) => {
                let sequence = self.world.sequences.name(sequence);
                format!("batch in {}.{sequence}", stage(number))
            }
            PermitKey::Service(number, service) => {
                format!("{} in {}", part(service), stage(number))
            }
            PermitKey::Member(member, service) => format!("{} on {}", part(service), part(member)),
        }
    }
}

impl Waiting {
    /// Who or what would end the wait.
    #[must_use]
    pub fn ended_by(&self) -> String {
        match self {
            Self::Scheduled => "the next tick".to_owned(),
            Self::Unclaimed => "an executor that claims it, or a person who skips it".to_owned(),
            Self::Working { executor, .. } => {
                format!("an answer of {executor}, or its lease's end")
            }
            Self::Offered { to, working } => {
                let all = working.iter().map(|(executor, _)| executor).chain(to);
                format!("the answer of {}", listed(all))
            }
            Self::Approval { .. } => "a person who approves or rejects it".to_owned(),
            Self::NoExecutor { task, .. } => {
                format!("an executor that subscribes to {task}, or a person who skips it")
            }
            Self::Delayed { .. } => "its time".to_owned(),
            Self::Retrying { attempt, .. } => {
                format!("attempt {attempt}, or a person who retries or skips it now")
            }
            Self::Paused { by, .. } => format!("resume (paused by {by})"),
            Self::Aborting { by, .. } => {
                format!("the end of what is in flight (aborted by {by})")
            }
            Self::Before { open } => format!("the end of {} step(s) before it", open.len()),
            Self::InLine { holders, ahead, .. } => {
                let holders: Vec<String> =
                    holders.iter().map(|revision| format!("revision {revision}")).collect();
                let before = match ahead {
                    0 => String::new(),
                    ahead => format!(", then {ahead} ahead in line"),
                };
                format!("{} giving it back{before}", holders.join(", "))
            }
            Self::Failed => "a retry, or a skip with a reason".to_owned(),
            Self::Superseded => "nothing; deploy the newer revision".to_owned(),
            Self::Overtaken => "a skip with a reason".to_owned(),
        }
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheduled => f.write_str("about to be dispatched"),
            Self::Unclaimed => f.write_str("no executor has taken it"),
            Self::Working { executor, .. } => write!(f, "{executor} is working on it"),
            Self::Offered { to, working } if working.is_empty() => {
                write!(f, "offered to {}", listed(to))
            }
            Self::Offered { to, working } => {
                write!(f, "{} working on it", listed(working.iter().map(|(name, _)| name)))?;
                if to.is_empty() { Ok(()) } else { write!(f, ", offered to {}", listed(to)) }
            }
            Self::Approval { .. } => f.write_str("waiting for approval"),
            Self::NoExecutor { task, .. } if is_reserved(task) => write!(
                f,
                "no executor for reserved task {:?}; register one or map it to a definition",
                task.as_str()
            ),
            Self::NoExecutor { task, .. } => write!(f, "no executor for task {:?}", task.as_str()),
            Self::Delayed { .. } => f.write_str("delayed"),
            Self::Retrying { attempt, .. } => write!(f, "failed, attempt {attempt} follows"),
            Self::Paused { by, .. } => write!(f, "paused by {by}"),
            Self::Aborting { by, .. } => write!(f, "being aborted by {by}"),
            Self::Before { open } => write!(f, "{} step(s) before it are open", open.len()),
            Self::InLine { permit, .. } => write!(f, "in line for {permit}"),
            Self::Failed => f.write_str("failed"),
            Self::Superseded => f.write_str("superseded by a newer revision"),
            Self::Overtaken => f.write_str("something after it has finished already"),
        }
    }
}

/// The tasks whose meaning is known, and that will be done by executors that are built in.
fn is_reserved(task: &Name) -> bool {
    const RESERVED: [&str; 9] = [
        "approval",
        "deployment",
        "evaluation",
        "release",
        "rollback",
        "remediation",
        "get-action",
        "action",
        "test",
    ];
    RESERVED.contains(&task.as_str())
}

fn listed<'a>(names: impl IntoIterator<Item = &'a ExecutorName>) -> String {
    names.into_iter().map(|name| name.0.as_ref()).collect::<Vec<&str>>().join(", ")
}
