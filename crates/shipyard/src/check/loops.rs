use std::collections::{BTreeMap, BTreeSet};

use seaway_model::{Name, Outcome};

use crate::check::checker::Checker;
use crate::code::Code;
use crate::document::{Event, On, Trigger};
use crate::report::{Draft, Place};

/// How many sequences of a loop a message names.
const NAMED: usize = 8;

/// A sequence: its stage and its name.
type Spot = (Name, Name);

/// Which sequence follows which whenever it passes, and where that is written.
#[derive(Debug, Default)]
pub(crate) struct Follows(BTreeMap<Spot, Vec<(Spot, Place)>>);

impl Follows {
    /// Takes note of an entry, if nothing but a failure keeps it from firing.
    pub(super) fn note(&mut self, trigger: &Trigger, by: &Spot, place: Place) {
        let On::Any(Event::Finished { stage, sequence }) = &trigger.on else { return };
        let selector = &trigger.selector;
        let on_pass = selector.results.is_empty()
            || selector.results.iter().any(|(task, it)| task.is_none() && *it == Outcome::Pass);
        if on_pass && selector.data.is_empty() {
            let after = self.0.entry((stage.clone(), sequence.clone())).or_default();
            after.push((by.clone(), place));
        }
    }
}

/// How far the search has come with a sequence.
enum Visit {
    /// On the way to where the search is, with so many of its followers looked at.
    Open(usize),
    Done,
}

impl Checker<'_, '_> {
    /// Reports sequences that start each other again whenever they pass. The bound on runs ends
    /// such a loop, but hardly anybody wants a hundred deliveries.
    pub(super) fn loops(&mut self) {
        let Follows(follows) = std::mem::take(&mut self.follows);
        let mut visits: BTreeMap<&Spot, Visit> = BTreeMap::new();
        let mut told: BTreeSet<&Spot> = BTreeSet::new();
        for start in follows.keys() {
            let mut way: Vec<&Spot> = Vec::new();
            let mut next = (!visits.contains_key(start)).then_some(start);
            loop {
                if let Some(spot) = next.take() {
                    visits.insert(spot, Visit::Open(0));
                    way.push(spot);
                }
                let Some(spot) = way.last().copied() else { break };
                let after = follows.get(spot).map_or(&[][..], Vec::as_slice);
                let Some(Visit::Open(at)) = visits.get_mut(spot) else { break };
                let Some((follower, place)) = after.get(*at) else {
                    visits.insert(spot, Visit::Done);
                    way.pop();
                    continue;
                };
                *at += 1;
                match visits.get(follower) {
                    None => next = Some(follower),
                    Some(Visit::Open(_)) if !told.contains(spot) => {
                        let begin = way.iter().position(|it| *it == follower).unwrap_or(0);
                        told.extend(&way[begin..]);
                        self.push(endless(&way[begin..], *place));
                    }
                    Some(_) => {}
                }
            }
        }
    }
}

fn endless(way: &[&Spot], place: Place) -> Draft {
    let names: Vec<String> = way.iter().map(|(stage, name)| format!("`{stage}.{name}`")).collect();
    let (message, which) = match &names[..] {
        [first, rest @ ..] if !rest.is_empty() => {
            let mut shown: Vec<&str> = rest.iter().take(NAMED).map(String::as_str).collect();
            if rest.len() > NAMED {
                shown.push("…");
            }
            let shown = shown.join(" triggers ");
            let message = format!("{first} triggers {shown} triggers {first}, on every pass");
            (message, "one of these triggers")
        }
        names => (format!("{} triggers itself on every pass", names.concat()), "it"),
    };
    let hint = format!(
        "give {which} a `selector` that ends the loop; as it stands, it ends when a sequence has \
         run 100 times in one deployment"
    );
    Draft::warning(Code::TriggerLoop, place, message).hint(hint)
}
