use crate::Kernel;
use crate::state::{Deployment, Run, Shape, Spot};

impl Kernel {
    /// Every incomplete step that the walk meets, each once, in order: what failed, what could be
    /// done, and joins that something before them has reached; and everything in flight.
    pub(crate) fn frontier(&self, deployment: &Deployment) -> Vec<Spot> {
        let mut met = Vec::new();
        let mut ends = false;
        let stages = self.world.order.iter().chain(deployment.ghosts.keys());
        let mut stages: Vec<u32> = stages.copied().collect();
        stages.sort_unstable();
        for number in stages {
            let Some(stage) = deployment.stages.get(&number).filter(|stage| stage.reached) else {
                continue;
            };
            let dead = stage.finish.status() == crate::state::Status::Superseded;
            if !dead {
                if !stage.started.lets_through() {
                    met.push(Spot::stage_started(number));
                }
                let mut joins = stage.started.lets_through();
                joins &= deployment.runs_in(number).next().is_none();
                for run in deployment.runs_in(number) {
                    let entered = stage.started.lets_through();
                    if entered || run.cell(Shape::TRIGGERED).is_complete() {
                        frontier_of_run(self, run, &mut met);
                    }
                    joins |= run.exits;
                }
                if joins && !stage.finish.lets_through() {
                    met.push(Spot::stage_finished(number));
                }
            } else {
                met.push(Spot::stage_finished(number));
            }
            let last = deployment.followers(&self.world, number).is_empty();
            ends |= deployment.exits(number) && last;
            ends |= stage.finish.is_settled() && !stage.finish.lets_through();
        }
        let busy = deployment.runs.values().filter(|run| run.counts.in_flight > 0);
        met.extend(busy.flat_map(|run| {
            let cells = (0..run.shape.len() as u32).filter(|&cell| run.cell(cell).in_flight());
            cells.map(|cell| Spot::inside(run.key, cell))
        }));
        met.sort_unstable();
        met.dedup();
        if (ends || deployment.derived.live == 0) && !deployment.finish.is_complete() {
            met.push(Spot::PIPELINE_FINISHED);
        }
        met
    }
}

fn frontier_of_run(kernel: &Kernel, run: &Run, met: &mut Vec<Spot>) {
    let mut push = |cell: u32| met.push(Spot::inside(run.key, cell));
    if run.finish().status() == crate::state::Status::Superseded {
        return push(run.shape.finish);
    }
    for cell in [Shape::TRIGGERED, Shape::STARTED] {
        if !run.cell(cell).lets_through() {
            return push(cell);
        }
    }
    let definition = &kernel.world.definitions[run.definition as usize];
    for (number, task) in run.shape.tasks.iter().enumerate() {
        let mut joins = task.groups.is_empty() || !run.condition_holds(definition, number);
        if run.condition_holds(definition, number) {
            for group in task.groups.clone() {
                joins |= frontier_of_group(run, group, &mut push);
            }
        }
        if !joins {
            return;
        }
        let done = run.cell(task.done);
        if !done.lets_through() {
            push(task.done);
            if !done.has_failed() {
                return;
            }
        }
    }
    if !run.finish().lets_through() {
        push(run.shape.finish);
    }
}

/// Tells whether the walk leaves the group through its end.
fn frontier_of_group(run: &Run, group: usize, push: &mut dyn FnMut(u32)) -> bool {
    let shape = &run.shape.groups[group];
    if !run.cell(shape.start).lets_through() {
        push(shape.start);
        return false;
    }
    let mut joins = shape.members.len() == 0;
    for member in 0..shape.members.len() as u32 {
        let mut cells = (0..shape.chain.len() as u32).map(|link| shape.cell(member, link));
        match cells.find(|&cell| !run.cell(cell).lets_through()) {
            Some(cell) => {
                push(cell);
                joins |= run.cell(cell).has_failed();
            }
            None => joins = true,
        }
    }
    let finish = run.cell(shape.finish);
    if joins && !finish.lets_through() {
        push(shape.finish);
    }
    joins && (finish.is_settled() || finish.is_passed_over())
}
