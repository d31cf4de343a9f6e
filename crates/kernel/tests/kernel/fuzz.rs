//! Structure changes out of any bytes are taken or refused, and never leave a kernel that cannot
//! go on.

use std::time::Duration;

use seaway_kernel::{
    Actor, Batch, Command, Edit, Entry, Kernel, Policy, Range, Sequence, StructureChange, Task,
    When,
};
use seaway_model::{DeploymentId, Kind, Name, Timestamp};

use crate::harness::name;

const TIME: Duration = Duration::from_secs(5);
const EDITS: usize = 24;
const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
const KINDS: [Kind; 8] = [
    Kind::MemberStarted,
    Kind::ArtifactReplicated,
    Kind::MemberDeployed,
    Kind::MemberTested,
    Kind::MemberFinished,
    Kind::ArtifactRegistered,
    Kind::TaskDone,
    Kind::PipelineFinished,
];

/// Takes whatever it needs from bytes; nothing is left when they end.
struct Script<'a>(std::slice::Iter<'a, u8>);

impl Script<'_> {
    fn number(&mut self, below: usize) -> usize {
        self.0.next().map_or(0, |byte| usize::from(*byte) % below)
    }

    fn name(&mut self) -> Name {
        name(NAMES[self.number(NAMES.len())])
    }

    fn names(&mut self) -> Vec<Name> {
        (0..self.number(4)).map(|_| self.name()).collect()
    }

    fn batch(&mut self) -> Batch {
        let policy = match self.number(3) {
            0 => Policy::Queue,
            1 => Policy::Parallel,
            _ => Policy::Supersede { max_replaced: self.number(3) as u32 },
        };
        Batch { capacity: self.number(3) as u32, policy }
    }

    fn sequence(&mut self) -> Sequence {
        let tasks: Vec<Task> = (0..self.number(4))
            .map(|_| Task {
                id: (self.number(4) == 0).then(|| self.name()),
                when: [When::Succeeded, When::Failed, When::Always][self.number(3)],
                groups: self.names(),
                ..Task::new(self.name())
            })
            .collect();
        let range = (self.number(3) == 0).then(|| {
            let (first, last) = (self.number(5) as u32, self.number(5) as u32);
            Range { first, last, batch: self.batch() }
        });
        Sequence { tasks, range, ..Sequence::default() }
    }

    fn edit(&mut self) -> Edit {
        let (stage, other) = (self.name(), self.name());
        match self.number(8) {
            0 => {
                let after = self.names().into_iter().collect();
                let batch = (self.number(2) == 0).then(|| self.batch());
                Edit::PutStage { stage, entry: Entry::Ordered, after, batch }
            }
            1 => Edit::RemoveStage { stage },
            2 => Edit::PutSequence { stage, sequence: other, definition: self.sequence() },
            3 => Edit::RemoveSequence { stage, sequence: other },
            4 => {
                let length = self.number(6);
                let chain = (0..length).map(|_| KINDS[self.number(KINDS.len())]).collect();
                Edit::PutGroup { stage, group: other, chain }
            }
            5 => Edit::RemoveGroup { stage, group: other },
            6 => Edit::AddMembers { stage, group: other, members: self.names() },
            _ => Edit::RemoveMembers { stage, group: other, members: self.names() },
        }
    }
}

#[test]
fn any_structure_change_is_taken_or_refused() {
    bolero::check!(name = "structure").with_test_time(TIME).for_each(|bytes: &[u8]| {
        let mut kernel = Kernel::new(&name("shop"));
        let mut script = Script(bytes.iter());
        let mut log = Vec::new();
        for number in 0..EDITS {
            let edits = (0..1 + script.number(3)).map(|_| script.edit()).collect();
            let before = (kernel.digest(), log.len());
            let change = Command::ChangeStructure(StructureChange(edits));
            if kernel.decide(&change, Timestamp(0), &Actor::named("ann"), &mut log).is_err() {
                assert_eq!((kernel.digest(), log.len()), before, "a refusal changes nothing");
            }
            if number % 4 == 3 {
                let deployment = DeploymentId(uuid::Uuid::from_u128(number as u128));
                let (service, version) = (name("cart"), number.to_string().into());
                let start = Command::Start { deployment, service, version, known: None };
                let _ = kernel.decide(&start, Timestamp(0), &Actor::named("ci"), &mut log);
            }
            let _ = kernel.tick(Timestamp(0), 500, &mut log);
        }
        let restored = Kernel::restore(kernel.project(), &kernel.checkpoint().1);
        let restored = restored.expect("a fresh checkpoint can be read");
        assert_eq!(restored.digest(), kernel.digest());
    });
}
