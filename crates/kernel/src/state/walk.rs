use std::collections::btree_map::Entry;

use seaway_model::planted::{Bug, planted};
use seaway_model::{Seq, TargetTable};

use super::cell::{Cell, Status};
use super::deployment::{Deployment, Stage};
use super::run::{Run, Verdict, worst};
use super::shape::{Role, Shape};
use super::spot::{RunKey, Spot};
use super::world::World;

/// What a walk reads and may name.
pub(crate) struct Ground<'a> {
    pub(crate) world: &'a World,
    pub(crate) targets: &'a mut TargetTable,
    pub(crate) seq: Seq,
}

impl Deployment {
    /// Walks the whole plan afresh: after the start, a structural change, a load.
    pub(crate) fn walk(&mut self, ground: &mut Ground<'_>) {
        self.derived.todo.clear();
        self.derived.in_line.clear();
        self.derived.live = 0;
        self.derived.swept = Spot::PIPELINE_STARTED;
        let orphans = self.attic.iter().filter(|(_, cell)| cell.in_flight());
        self.derived.orphans = orphans.map(|(key, _)| *key).collect();
        for (number, stage) in &mut self.stages {
            stage.triggered = ground.world.is_triggered(*number);
            (stage.reached, stage.held, stage.clear, stage.live) = (false, false, false, false);
        }
        self.runs.values_mut().for_each(|run| run.exits = false);
        let open = self.causes.iter().filter(|(_, cause)| cause.open);
        let due = open.map(|(at, _)| (*at, self.dues(ground.world, *at)));
        self.derived.firing = due.filter(|(_, due)| !due.is_empty()).collect();
        self.note_unended();
        let ripe = self.offers.iter().filter(|(_, offer)| offer.end().is_some());
        self.derived.ripe = ripe.map(|(key, _)| *key).collect();
        self.mark_overtaken(ground.world);
        self.mark_late(ground.world);
        let order: Vec<u32> =
            self.ghosts.keys().copied().chain(ground.world.order.iter().copied()).collect();
        for stage in order {
            let before = self.predecessors(ground.world, stage);
            let through = |it: &u32| self.exits(*it);
            let triggered = |run: &Run| run.cell(Shape::TRIGGERED).is_complete();
            let entered = |it: &Stage| it.started.is_complete();
            let begun =
                self.stages.get(&stage).is_some_and(entered) || self.runs_in(stage).any(triggered);
            let free = before.is_empty() && !ground.world.is_triggered(stage);
            if free || begun || before.iter().any(through) {
                self.reach_stage(ground, stage);
            }
        }
        self.check_end();
    }

    fn is_clear(&self, stage: u32) -> bool {
        self.stages.get(&stage).is_some_and(|stage| stage.clear)
    }

    /// Whether the walk leaves a stage through its end.
    pub(crate) fn exits(&self, number: u32) -> bool {
        let Some(stage) = self.stages.get(&number) else { return false };
        if !stage.finish.is_passed_over() {
            return stage.finish.is_complete();
        }
        let mut runs = self.runs_in(number).peekable();
        let met = runs.peek().is_none() && stage.started.lets_through() && stage.reached;
        met || runs.any(|run| run.exits)
    }

    /// The walk arrives at a stage.
    pub(crate) fn reach_stage(&mut self, ground: &mut Ground<'_>, number: u32) {
        self.arrive_at(ground, number);
        self.refresh(ground, number);
    }

    fn arrive_at(&mut self, ground: &mut Ground<'_>, number: u32) {
        let before = self.predecessors(ground.world, number);
        let held = !before.iter().all(|&stage| self.is_clear(stage));
        self.make_stage(ground, number);
        let stage = self.stages.get_mut(&number).expect("it was made above if it was missing");
        stage.reached = true;
        stage.held = held;
        self.walk_stage(ground, number);
    }

    /// The state of a stage, made now if the deployment never was there.
    pub(crate) fn make_stage(&mut self, ground: &mut Ground<'_>, number: u32) {
        if let Entry::Vacant(vacant) = self.stages.entry(number) {
            let name = ground.world.stages.name(number).as_str();
            let part = ground.targets.intern_part(name);
            let target = ground.targets.intern(TargetTable::ROOT, part, ground.seq);
            let triggered = ground.world.is_triggered(number);
            vacant.insert(Stage { target, triggered, ..Stage::default() });
            self.mark_stage(number);
        }
    }

    /// Puts everything of a stage that the walk meets on the list.
    pub(crate) fn walk_stage(&mut self, ground: &mut Ground<'_>, number: u32) {
        let started = self.stages[&number].started;
        if !started.is_complete() {
            self.derived.todo.insert(Spot::stage_started(number));
        }
        if started.lets_through() {
            self.enter_stage(ground, number);
        } else {
            let triggered = |run: &&Run| run.cell(Shape::TRIGGERED).is_complete();
            let keys: Vec<RunKey> =
                self.runs_in(number).filter(triggered).map(|run| run.key).collect();
            keys.into_iter().for_each(|key| self.walk_run(ground.world, key));
        }
    }

    pub(crate) fn enter_stage(&mut self, ground: &mut Ground<'_>, number: u32) {
        let (first, last) = ((number, 0), (number, u32::MAX));
        let sequences: Vec<u32> = match ground.world.is_triggered(number) {
            true => Vec::new(),
            false => {
                let current = ground.world.current.range(first..=last);
                current.map(|((_, sequence), _)| *sequence).collect()
            }
        };
        for sequence in sequences {
            let key = RunKey { stage: number, sequence, number: 1 };
            if !self.runs.contains_key(&key) {
                self.ensure_run(ground.world, key, ground.seq, ground.targets);
                self.mark_stage(number);
            }
        }
        let keys: Vec<RunKey> = self.runs_in(number).map(|run| run.key).collect();
        keys.into_iter().for_each(|key| self.walk_run(ground.world, key));
        self.join_stage(number);
    }

    /// `stage-finished` is met once every run of the stage has ended; if it is passed over, once
    /// one of them has.
    fn join_stage(&mut self, number: u32) {
        let stage = &self.stages[&number];
        if !stage.finish.is_idle() {
            return;
        }
        let mut runs = self.runs_in(number).peekable();
        let met = match runs.peek() {
            None => stage.started.lets_through(),
            Some(_) if stage.finish.is_passed_over() => runs.any(|run| run.exits),
            Some(_) => runs.all(|run| run.exits && run.counts.in_flight == 0),
        };
        drop(runs);
        if met {
            self.derived.todo.insert(Spot::stage_finished(number));
        }
    }

    /// Puts everything of a run that the walk meets on the list.
    pub(crate) fn walk_run(&mut self, world: &World, key: RunKey) {
        let run = self.runs.get_mut(&key).expect("walked runs exist");
        let definition = &world.definitions[run.definition as usize];
        let mut met = Vec::new();
        let mut walk = RunWalk { run, met: &mut met };
        walk.whole(definition);
        self.derived.todo.extend(met.into_iter().map(|cell| Spot::inside(key, cell)));
    }

    /// A step inside a run ended: what comes right after it is met.
    pub(crate) fn settled(&mut self, ground: &mut Ground<'_>, key: RunKey, cell: u32) {
        let run = self.runs.get_mut(&key).expect("settled steps are in a run");
        let definition = &ground.world.definitions[run.definition as usize];
        let mut met = Vec::new();
        let mut walk = RunWalk { run, met: &mut met };
        walk.settled(definition, cell);
        let ended = run.exits;
        self.derived.todo.extend(met.into_iter().map(|cell| Spot::inside(key, cell)));
        if ended {
            self.join_stage(key.stage);
        }
        self.refresh(ground, key.stage);
    }

    /// Works out whether a stage is clear and live, and passes the news on: a line of stages may
    /// come through at once.
    pub(crate) fn refresh(&mut self, ground: &mut Ground<'_>, number: u32) {
        let mut fell_idle = 0;
        let mut open = vec![number];
        while let Some(number) = open.pop() {
            let (idle, reached) = self.refresh_one(ground, number);
            fell_idle += u32::from(idle);
            for follower in reached.into_iter().rev() {
                self.arrive_at(ground, follower);
                open.push(follower);
            }
        }
        if fell_idle > 0 {
            self.derived.live -= fell_idle;
            self.check_end();
        }
    }

    /// Tells whether the stage was live and is not any more, and which stages are reached anew.
    fn refresh_one(&mut self, ground: &mut Ground<'_>, number: u32) -> (bool, Vec<u32>) {
        let stage = &self.stages[&number];
        let settled = stage.finish.is_settled() || stage.finish.is_passed_over();
        let dead = |end: Cell| end.status() == Status::Superseded;
        let (mut in_flight, mut quiet, mut stale) = (0, true, false);
        if settled || stage.held {
            for run in self.runs_in(number) {
                let definition = &ground.world.definitions[run.definition as usize];
                in_flight += run.counts.in_flight;
                if !dead(stage.finish) && !dead(run.finish()) {
                    stale |= run.is_stale(definition);
                }
                quiet &= run.is_quiet(definition);
            }
        }
        let more = settled && self.has_frontier(number);
        let clear = settled && quiet && !more && self.exits(number) && !stage.held;
        let begun = stage.held && self.runs_in(number).any(|run| run.pinned && !run.exits);
        let open = (!stage.held || begun) && (!settled || stale || more);
        let stage = &self.stages[&number];
        let live = stage.reached && (in_flight > 0 || open);
        let (was_clear, was_live) = (stage.clear, stage.live);
        let stage = self.stages.get_mut(&number).expect("the stage was just read");
        (stage.clear, stage.live) = (clear, live);
        if live && !was_live {
            self.derived.live += 1;
        }
        let reached = match self.exits(number) {
            true => {
                let news = clear && !was_clear;
                let followers = self.followers(ground.world, number).iter().copied();
                let known = |stage: &u32| self.stages.get(stage).is_some_and(|it| it.reached);
                followers.filter(|follower| news || !known(follower)).collect()
            }
            false => Vec::new(),
        };
        (was_live && !live, reached)
    }

    /// Whether something in a stage that has ended is still to be done: a member may join a group
    /// whose end was skipped.
    fn has_frontier(&self, number: u32) -> bool {
        let stage = Spot::stage_started(number)..=Spot::stage_finished(number);
        let todo = self.derived.todo.range(stage.clone());
        let in_line = self.derived.in_line.range(stage).map(|(spot, _)| spot);
        todo.chain(in_line).any(|&spot| {
            let cell = self.cell(spot);
            cell.is_idle() && !cell.is_passed_over()
        })
    }

    /// The same as [`Self::refresh`], where only the end of a stage could have hidden a change.
    pub(crate) fn refresh_ended(&mut self, ground: &mut Ground<'_>, spot: Spot) {
        if let Some(number) = spot.stage()
            && self.stages.get(&number).is_some_and(|stage| stage.finish.is_settled())
        {
            self.refresh(ground, number);
        }
    }

    /// When nothing can happen any more without a person, the deployment ends.
    pub(crate) fn check_end(&mut self) {
        if self.derived.live == 0 && self.finish.is_idle() {
            self.derived.todo.insert(Spot::PIPELINE_FINISHED);
        }
    }

    pub(crate) fn stage_verdict(&self, number: u32) -> Verdict {
        worst(self.runs_in(number).filter(|run| self.is_latest(run)).map(Run::finish))
    }

    /// Whether no later run of its sequence says how it went.
    fn is_latest(&self, run: &Run) -> bool {
        let after = RunKey { number: run.key.number + 1, ..run.key };
        let end = RunKey { number: u32::MAX, ..run.key };
        !self.runs.range(after..=end).any(|(_, run)| !run.withdrawn)
    }

    /// The worst of everything that happened, also where the end of a stage was skipped.
    pub(crate) fn pipeline_verdict(&self, world: &World) -> Verdict {
        let here = |stage: &u32| world.stage(*stage).is_some() || self.ghosts.contains_key(stage);
        let stages = self.stages.iter().filter(|(number, _)| here(number));
        let ends = worst(stages.map(|(_, stage)| stage.finish));
        let counts = |run: &&Run| here(&run.key.stage) && !run.withdrawn && self.is_latest(run);
        let runs = || self.runs.values().filter(counts);
        let superseded = |run: &Run| run.finish().status() == Status::Superseded;
        match ends {
            Verdict::Failed => Verdict::Failed,
            _ if runs().any(|run| run.counts.failed > 0) => Verdict::Failed,
            _ if runs().any(superseded) => Verdict::Superseded,
            Verdict::Passed if runs().any(|run| run.counts.warned > 0) => Verdict::Warned,
            verdict => verdict,
        }
    }
}

/// A walk over one run.
struct RunWalk<'a> {
    run: &'a mut Run,
    met: &'a mut Vec<u32>,
}

impl RunWalk<'_> {
    /// From the start, through everything that is complete, passed over or failed.
    fn whole(&mut self, definition: &crate::Sequence) {
        self.run.exits = self.run.finish().is_settled();
        for cell in [Shape::TRIGGERED, Shape::STARTED] {
            if !self.pass(cell) {
                return;
            }
        }
        for task in 0..self.run.shape.tasks.len() {
            if !self.walk_task(definition, task) {
                return;
            }
        }
        self.run.exits |= self.pass(self.run.shape.finish);
    }

    /// Meets a step; tells whether the walk goes on through it.
    fn pass(&mut self, cell: u32) -> bool {
        let value = self.run.cell(cell);
        if value.is_idle() {
            self.met.push(cell);
        }
        value.lets_through()
    }

    /// Tells whether the walk goes on behind the task.
    fn walk_task(&mut self, definition: &crate::Sequence, task: usize) -> bool {
        let shape = &self.run.shape.tasks[task];
        let (done, groups) = (shape.done, shape.groups.clone());
        if !groups.is_empty() && self.run.condition_holds(definition, task) {
            let left = groups.filter(|group| self.walk_group(*group)).count();
            let join = self.run.cell(done);
            let waits = join.is_idle() && !join.is_passed_over();
            if left == 0 || (waits && !self.run.groups_settled(task)) {
                return false;
            }
        }
        self.pass(done) || self.run.cell(done).has_failed()
    }

    /// Tells whether the walk leaves the group through its end.
    fn walk_group(&mut self, group: usize) -> bool {
        let shape = &self.run.shape.groups[group];
        let (start, finish) = (shape.start, shape.finish);
        let (members, links) = (shape.members.len() as u32, shape.chain.len() as u32);
        if !self.pass(start) {
            return false;
        }
        let mut left = members == 0;
        for member in 0..members {
            let first = self.run.shape.groups[group].cell(member, 0);
            let stop = (first..first + links).find(|&cell| !self.pass(cell));
            left |= stop.is_none_or(|cell| self.run.cell(cell).has_failed());
        }
        let join = self.run.cell(finish);
        let waits = join.is_idle() && !join.is_passed_over();
        if !left || (waits && self.run.counts.groups[group].open > 0) {
            return false;
        }
        self.pass(finish) || join.has_failed()
    }

    /// One step ended: meets what comes right after it, and goes on through what is passed over.
    fn settled(&mut self, definition: &crate::Sequence, cell: u32) {
        match self.run.shape.role(cell) {
            Role::Triggered => self.meet(definition, Shape::STARTED),
            Role::Started => self.enter_task(definition, 0),
            Role::GroupStarted { group } => {
                let shape = &self.run.shape.groups[group];
                let (start, links) = (shape.start + 1, shape.chain.len() as u32);
                let (members, finish) = (shape.members.len() as u32, shape.finish);
                (0..members).for_each(|member| self.meet(definition, start + member * links));
                if self.run.counts.groups[group].open == 0 {
                    self.meet(definition, finish);
                }
            }
            Role::Link { group, member, .. } => self.link_settled(definition, group, member, cell),
            Role::GroupFinished { group } => {
                let task = self.run.shape.groups[group].task;
                let done = self.run.shape.tasks[task].done;
                if self.run.groups_settled(task) || self.run.cell(done).is_passed_over() {
                    self.meet(definition, done);
                }
            }
            Role::TaskDone { task } => self.enter_task(definition, task + 1),
            Role::Finished => self.run.exits = true,
        }
    }

    /// The chain goes on at its first link that is not through: usually the next one, but a link
    /// may have been put before one that was in flight.
    fn link_settled(&mut self, definition: &crate::Sequence, group: usize, member: u32, cell: u32) {
        let shape = &self.run.shape.groups[group];
        let (first, finish) = (shape.cell(member, 0), shape.finish);
        let links = shape.chain.len() as u32;
        if self.run.cell(cell).is_finished() {
            for before in first..cell {
                if !self.run.cell(before).overtaken() {
                    self.run.change(before, |cell| cell.set_overtaken(true));
                }
            }
        }
        let _stop = (first..first + links).find(|&link| !self.pass(link));
        let last = u32::from(planted(Bug::JoinTooEarly));
        let open = self.run.counts.groups[group].open;
        if open <= last || self.run.cell(finish).is_passed_over() {
            self.meet(definition, finish);
        }
    }

    fn enter_task(&mut self, definition: &crate::Sequence, task: usize) {
        let Some(shape) = self.run.shape.tasks.get(task) else {
            return self.meet(definition, self.run.shape.finish);
        };
        let (done, groups) = (shape.done, shape.groups.clone());
        if groups.is_empty() || !self.run.condition_holds(definition, task) {
            return self.meet(definition, done);
        }
        for group in groups {
            self.meet(definition, self.run.shape.groups[group].start);
        }
    }

    fn meet(&mut self, definition: &crate::Sequence, cell: u32) {
        let value = self.run.cell(cell);
        if value.is_idle() {
            self.met.push(cell);
        }
        // A join that somebody came late to is behind us already: the walk goes on through it.
        let behind = value.is_complete() || value.has_failed();
        if value.is_passed_over() || behind {
            self.settled(definition, cell);
        }
    }
}
