use seaway_kernel::{Command, Expression, Operator, Step, Subscription, Waiting};
use seaway_model::{ExecutorName, Span};

use super::event::{Errand, Event};
use super::heal::Help;
use super::life::World;
use super::shape::{SERVICES, name};
use super::tally::Rare;
use super::yard::{STAGES, TASKS};

/// An executor of a shipyard: what it registered for, and whether it still says that it is there.
#[derive(Clone, Debug)]
pub(super) struct Hand {
    subscriptions: Vec<Subscription>,
    ttl: Span,
    pub(super) alive: bool,
    /// It asks for work, and waits for it, instead of looking for it.
    seeks: bool,
    /// Counts its lives, so that the heartbeat of an earlier one stops.
    life: u32,
}

const NAMES: [&str; 4] = ["anchor", "bosun", "dock/test", "winch"];
/// Who helps out when faults have stopped, and stays.
const HELPER: &str = "helper";
const LONG: Span = Span::from_secs(80_000);

fn executor(name: &str) -> ExecutorName {
    ExecutorName(name.into())
}

impl World {
    pub(super) fn hire_crew(&mut self) {
        for name in NAMES {
            if self.dice.chance(85) {
                self.enroll(&executor(name));
            }
        }
    }

    /// An executor registers, with other wishes than before.
    fn enroll(&mut self, who: &ExecutorName) {
        let mut subscriptions = Vec::new();
        for task in TASKS {
            // Mostly it is people who approve.
            if self.dice.chance(if task == "approval" { 20 } else { 60 }) {
                subscriptions.push(self.subscription(task));
            }
        }
        if subscriptions.is_empty() {
            subscriptions.push(self.subscription(TASKS[0]));
        }
        let ttl = Span(self.dice.millis(4_000, 15_000));
        self.sign_on(who, subscriptions, ttl);
    }

    fn subscription(&mut self, task: &str) -> Subscription {
        let stage = STAGES[self.dice.below(STAGES.len())];
        let service = SERVICES[self.dice.below(SERVICES.len())];
        let expression = Expression {
            key: "strategy".into(),
            operator: self.dice.weighted(&[(50, Operator::Exists), (50, Operator::DoesNotExist)]),
            values: Vec::new(),
        };
        Subscription {
            task: name(task),
            stages: if self.dice.chance(8) { vec![name(stage)] } else { Vec::new() },
            services: if self.dice.chance(8) { vec![name(service)] } else { Vec::new() },
            expressions: if self.dice.chance(8) { vec![expression] } else { Vec::new() },
        }
    }

    fn sign_on(&mut self, who: &ExecutorName, subscriptions: Vec<Subscription>, ttl: Span) {
        let life = self.crew.get(who).map_or(0, |hand| hand.life) + 1;
        let seeks = self.dice.chance(50);
        let hand = Hand { subscriptions, ttl, alive: true, seeks, life };
        self.note(|| format!("{who} registers for {}", listed(&hand.subscriptions)));
        self.crew.insert(who.clone(), hand);
        self.say_hello(who);
        if seeks {
            // Replicas of one executor share its work.
            let replicas = self.dice.count(1, 3);
            (0..replicas).for_each(|_| self.seek_soon(who, life));
        }
        // Who asks for work all the time need not say that it is there.
        if !seeks || self.dice.chance(50) {
            self.after(ttl.0 / 3, Event::Pulse(who.clone(), life));
        }
    }

    pub(super) fn is_living(&self, who: &ExecutorName, life: u32) -> bool {
        self.crew.get(who).is_some_and(|hand| hand.alive && hand.life == life)
    }

    /// Registers, also when it has done so before and was given up since.
    pub(super) fn say_hello(&mut self, who: &ExecutorName) {
        let Some(hand) = self.crew.get(who).filter(|hand| hand.alive) else { return };
        let (subscriptions, ttl) = (hand.subscriptions.clone(), hand.ttl);
        let command = Command::Register { executor: who.clone(), subscriptions, ttl };
        let delay = self.dice.millis(1, 30);
        self.after(delay, Event::Arrive(Errand::Crew(who.clone(), command)));
    }

    /// An executor says that it is there, and will again.
    pub(super) fn pulse(&mut self, who: &ExecutorName, life: u32) {
        let Some(hand) = self.crew.get(who).filter(|hand| hand.alive && hand.life == life) else {
            return;
        };
        if self.healing.as_ref().is_some_and(|healing| healing.over) {
            return;
        }
        let ttl = hand.ttl;
        if self.healing.is_none() && self.dice.chance(4) {
            self.fault(|| format!("a heartbeat of {who} is lost"));
        } else {
            let delay = self.dice.millis(1, 30);
            self.after(delay, Event::Arrive(Errand::Alive(who.clone())));
        }
        self.after(ttl.0 / 3, Event::Pulse(who.clone(), life));
    }

    /// Executors come and go.
    pub(super) fn change_crew(&mut self) {
        let who = executor(NAMES[self.dice.below(NAMES.len())]);
        let alive = self.crew.get(&who).is_some_and(|hand| hand.alive);
        match self.dice.below(4) {
            0 if alive => self.dies(&who),
            1 if alive => {
                self.note(|| format!("{who} leaves"));
                let leave = Command::Leave { executor: who.clone() };
                self.after(5_000, Event::Arrive(Errand::Crew(who.clone(), leave)));
                self.crew.get_mut(&who).expect("it is alive").alive = false;
            }
            _ => self.enroll(&who),
        }
    }

    /// An executor is gone without a word.
    pub(super) fn dies(&mut self, who: &ExecutorName) {
        if let Some(hand) = self.crew.get_mut(who).filter(|hand| hand.alive) {
            hand.alive = false;
            self.fault(|| format!("{who} dies"));
            self.hang_up(who);
        }
    }

    /// A task of a shipyard may be taken, or one executor's share of it once more.
    pub(super) fn offered_to_crew(&mut self, step: Step) {
        let task = self.verifier.task_name(step.target);
        let wants = |it: &Subscription| Some(it.task.as_str()) == task.as_deref();
        let hands = self.crew.iter().filter(|(_, hand)| hand.alive && !hand.seeks);
        let takers = hands.filter(|(_, hand)| hand.subscriptions.iter().any(wants));
        let takers: Vec<ExecutorName> = takers.map(|(who, _)| who.clone()).collect();
        takers.into_iter().for_each(|who| self.take_share(step, who));
    }

    pub(super) fn take_share(&mut self, step: Step, executor: ExecutorName) {
        if !self.crew.get(&executor).is_some_and(|hand| hand.alive && !hand.seeks) {
            return;
        }
        let ttl = Span(self.dice.millis(2_000, 8_000));
        let delay = self.dice.millis(1, 400);
        self.after(delay, Event::Arrive(Errand::Claim { step, executor, ttl }));
    }

    /// What an executor adds to the data.
    pub(super) fn answer(&mut self, who: &ExecutorName) -> Option<Box<str>> {
        let color = if self.dice.chance(60) { "blue" } else { "green" };
        let number = self.dice.below(5);
        match self.dice.below(20) {
            0..8 => {
                Some(format!(r#"{{"{who}": [{number}], "labels": {{"color": "{color}"}}}}"#).into())
            }
            8 => Some("[]".into()),
            _ => None,
        }
    }

    /// What executors of a shipyard do about a step that waits for them.
    pub(super) fn tend(&mut self, step: Step, why: &Waiting) {
        match why {
            Waiting::Offered { to, .. } => {
                to.iter().for_each(|who| self.take_share(step, who.clone()));
            }
            Waiting::NoExecutor { .. } if self.healing.is_some() => {
                let who = executor(HELPER);
                if self.nobody_helps() {
                    return;
                }
                if !self.crew.contains_key(&who) {
                    let everything = |task: &str| Subscription {
                        task: name(task),
                        stages: Vec::new(),
                        services: Vec::new(),
                        expressions: Vec::new(),
                    };
                    let all = TASKS.into_iter().map(everything).collect();
                    self.tally.saw(Rare::HelperCame);
                    self.sign_on(&who, all, LONG);
                } else {
                    self.say_hello(&who);
                }
            }
            _ => {}
        }
    }

    /// In some worlds help comes only after the tasks that wait for it have failed.
    fn nobody_helps(&mut self) -> bool {
        let unknown = self.healing.as_ref().is_some_and(|healing| healing.help.is_none());
        let late = unknown && self.dice.chance(10);
        let healing = self.healing.as_mut().expect("the caller asked");
        let help = if late { Help::ComesTooLate } else { Help::Comes };
        *healing.help.get_or_insert(help) == Help::ComesTooLate
    }

    /// When faults stop, some of those who died come back, the others are gone for good.
    pub(super) fn gather_crew(&mut self) {
        let gone = self.crew.iter().filter(|(_, hand)| !hand.alive);
        let gone: Vec<ExecutorName> = gone.map(|(who, _)| who.clone()).collect();
        for who in gone {
            if self.dice.chance(50) {
                self.enroll(&who);
            }
        }
    }
}

fn listed(subscriptions: &[Subscription]) -> String {
    subscriptions.iter().map(|it| it.task.as_str()).collect::<Vec<&str>>().join(", ")
}
