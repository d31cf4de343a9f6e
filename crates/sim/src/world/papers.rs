use seaway_kernel::{Command, DocumentEdit, Services, Structure};
use seaway_model::Digest;

use super::life::World;
use super::shape::{SERVICES, name};

const KINDS: [&str; 2] = ["Webhook", "resource"];
const NAMES: [&str; 3] = ["chat", "slo.yaml", "mail"];

impl World {
    /// A change of the whole structure, with documents beside it.
    pub(super) fn apply(&mut self, structure: Structure) -> Command {
        let before = self.view().and_then(|kernel| kernel.services().cloned());
        let services = if self.dice.chance(25) { self.services() } else { before };
        let structure = (!self.dice.chance(15)).then_some(structure);
        let count = self.dice.count(0, 3);
        let documents = (0..count).map(|_| self.document()).collect();
        Command::Apply { structure, services, documents }
    }

    /// The first service is always welcome, so that the world goes on.
    fn services(&mut self) -> Option<Services> {
        let all = SERVICES.map(name);
        match self.dice.below(4) {
            0 => None,
            1 => Some(Services { auto: true, names: Default::default() }),
            2 => Some(Services { auto: false, names: all.into_iter().collect() }),
            _ => Some(Services { auto: false, names: all.into_iter().take(1).collect() }),
        }
    }

    fn document(&mut self) -> DocumentEdit {
        let content = Digest([self.dice.below(3) as u8; 32]);
        DocumentEdit {
            kind: KINDS[self.dice.below(KINDS.len())].into(),
            name: NAMES[self.dice.below(NAMES.len())].into(),
            digest: self.dice.chance(75).then_some(content),
        }
    }
}
