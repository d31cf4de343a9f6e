use seaway_model::Name;

use crate::check::checker::{Checker, joined, shown};
use crate::code::Code;
use crate::document::Event;
use crate::limits;
use crate::report::{Draft, Place};
use crate::yaml::Node;

/// What Keptn puts before the name of an event to make its type.
const PREFIX: &str = "sh.keptn.event.";

/// How many names a hint lists.
const NAMED: usize = 12;

impl Checker<'_, '_> {
    pub(super) fn event(&mut self, node: &Node) -> Option<Event> {
        let text = self.text(node, "an event")?;
        let name = text.strip_prefix(PREFIX).unwrap_or(text);
        if !is_event(name) {
            let message = format!("{} is not the name of an event", shown(text));
            let most = limits::EVENT_CHARS;
            let hint = format!(
                "write parts of up to {part} letters and digits, with `-` or `_` between them and \
                 dots between the parts, such as `<stage>.<sequence>.finished` or `problem.open`; \
                 {most} characters at most",
                part = Name::MAX_LEN
            );
            self.push(Draft::error(Code::EventName, node.place, message).hint(hint));
            return None;
        }
        let parts: Vec<&str> = name.split('.').collect();
        let [stage, sequence, what] = parts[..] else {
            return Some(Event::Domain(name.to_owned()));
        };
        match (self.index.has_stage(stage), what) {
            (true, "finished") => self.finished(node.place, stage, sequence),
            (true, "triggered" | "started") => {
                let message = format!("a sequence cannot be triggered on `{name}`");
                let hint = format!(
                    "only the end of a sequence and domain events trigger another one; write \
                     `{stage}.{sequence}.finished`"
                );
                self.push(Draft::error(Code::NotATrigger, node.place, message).hint(hint));
                None
            }
            (false, "finished") => {
                let message =
                    format!("no stage {} in this file; taken as a domain event", shown(stage));
                let known: Vec<&str> = self.index.stages().take(NAMED + 1).collect();
                let near = self.did_you_mean(stage, self.index.stages());
                let hint = match known.len() {
                    0..=NAMED => joined(near, format!("the stages are {}", known.join(", "))),
                    _ => near.unwrap_or_default(),
                };
                self.push(Draft::warning(Code::UnknownStage, node.place, message).hint(hint));
                Some(Event::Domain(name.to_owned()))
            }
            _ => Some(Event::Domain(name.to_owned())),
        }
    }

    fn finished(&mut self, place: Place, stage: &str, sequence: &str) -> Option<Event> {
        let known = self.index.sequences(stage);
        if known.contains(&sequence) {
            // A name that is not valid was reported where it was given.
            let (stage, sequence) = (Name::new(stage).ok()?, Name::new(sequence).ok()?);
            return Some(Event::Finished { stage, sequence });
        }
        let near = self.did_you_mean(sequence, known.iter().copied());
        let hint = match known.len() {
            0 => "the stage has no sequences".to_owned(),
            1..=NAMED => joined(near, format!("its sequences are {}", known.join(", "))),
            _ => near.unwrap_or_default(),
        };
        let message = format!("stage `{stage}` has no sequence {}", shown(sequence));
        self.push(Draft::error(Code::UnknownSequence, place, message).hint(hint));
        None
    }
}

/// The same as whoever carries out the pipeline asks of an event's name.
fn is_event(name: &str) -> bool {
    name.len() <= limits::EVENT_CHARS && name.split('.').all(|part| Name::new(part).is_ok())
}
