use seaway_engine::core::{Ask, Seen};
use seaway_kernel::{Actor, Command, Reply};
use seaway_model::{DeploymentId, Digest};
use seaway_wire::KeptAnswer;

use super::event::{Errand, Event};
use super::life::World;
use super::tally::Rare;
use crate::verify::Violation;

/// Something that somebody asks for: perhaps under a key, so that it can be asked for again.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pub(super) command: Command,
    key: Option<u64>,
    /// How often it was sent before.
    tries: u32,
}

const SENDS: u32 = 5;

impl Wish {
    pub(super) fn plain(command: Command) -> Self {
        Self { command, key: None, tries: 0 }
    }

    pub(super) fn has_key(&self) -> bool {
        self.key.is_some()
    }

    fn digest(&self) -> Option<Digest> {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&self.key?.to_le_bytes());
        Some(Digest(bytes))
    }

    /// Whoever asks under a key acts under a name of its own, so that the log tells its requests
    /// apart.
    pub(super) fn actor(&self, who: &str) -> Actor {
        match self.key {
            Some(key) => Actor::named(&format!("{who}#{key}")),
            None => Actor::named(who),
        }
    }
}

impl Errand {
    pub(super) fn wish(&self) -> Option<&Wish> {
        match self {
            Self::Person(wish) | Self::Ship { wish, .. } => Some(wish),
            _ => None,
        }
    }

    /// Who asks under a key.
    pub(super) fn once(&self) -> Option<Actor> {
        let who = if matches!(self, Self::Person(_)) { "ann" } else { "ci" };
        self.wish().filter(|wish| wish.has_key()).map(|wish| wish.actor(who))
    }
}

impl World {
    /// Half of all wishes have a key.
    pub(super) fn wish(&mut self, command: Command) -> Wish {
        let keyed = self.dice.chance(50);
        self.counters.keys += u64::from(keyed);
        Wish { command, key: keyed.then_some(self.counters.keys), tries: 0 }
    }

    /// How long after it was sent a wish with a key is sent once more, if it is.
    pub(super) fn comes_twice(&mut self, wish: &Wish) -> Option<i64> {
        if self.healing.is_some() || !wish.has_key() || !self.dice.chance(35) {
            return None;
        }
        let later = if self.dice.chance(50) { 3 } else { 2_500 };
        let later = self.dice.millis(0, later);
        self.note(|| format!("it is sent once more {later} µs later"));
        Some(later)
    }

    /// Nobody answered, or the answer was of no use: a wish with a key is sent again.
    pub(super) fn wish_again(&mut self, errand: Errand) {
        let again = |wish: Wish| Wish { tries: wish.tries + 1, ..wish };
        let errand = match errand {
            Errand::Person(wish) => Errand::Person(again(wish)),
            Errand::Ship { wish, .. } => Errand::Ship { wish: again(wish), fresh: false },
            _ => return,
        };
        if errand.wish().is_some_and(|wish| wish.has_key() && wish.tries < SENDS) {
            let delay = self.dice.millis(50, 900);
            self.after(delay, Event::Arrive(errand));
        }
    }

    /// What the store has kept under the key of a request.
    pub(super) fn kept(&mut self, errand: &Errand) -> Result<Option<Reply>, Violation> {
        let key = errand.wish().and_then(Wish::digest);
        let Some(&answer) = key.and_then(|key| self.disk.kept(&key)) else { return Ok(None) };
        self.tally.saw(Rare::AnswerKept);
        let reply = told_again(answer);
        self.borne_out(errand, &reply)?;
        Ok(Some(reply))
    }

    /// The command of a wish, with what the store knows about it.
    pub(super) fn looked_up(&self, wish: &Wish, who: &str) -> Ask {
        let mut command = wish.command.clone();
        let mut fresh = false;
        if let Command::Trigger { deployment, service, version, known, .. }
        | Command::Happen { deployment, service, version, known, .. } = &mut command
        {
            *known = self.disk.known(service, version);
            fresh = !self.disk.has_started(*deployment);
        }
        let seen = Seen { as_of: self.disk.head().seq, fresh };
        Ask::Command { command, by: wish.actor(who), seen, key: wish.digest() }
    }
}

fn told_again(answer: KeptAnswer) -> Reply {
    match (answer.deployment, answer.revision) {
        (Some(deployment), Some(revision)) => {
            Reply::Started { at: answer.at, deployment, revision }
        }
        _ => Reply::Done { at: answer.at },
    }
}

/// The deployment that a command is for which may start one.
pub(super) fn launched(command: &Command) -> Option<DeploymentId> {
    match command {
        Command::Trigger { deployment, .. } | Command::Happen { deployment, .. } => {
            Some(*deployment)
        }
        _ => None,
    }
}
