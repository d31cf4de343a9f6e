use seaway_model::{Name, Outcome};

use crate::check::checker::{Checker, joined};
use crate::check::index::Outlined;
use crate::code::Code;
use crate::document::{Event, On, When};
use crate::report::{Draft, Place};

impl Checker<'_, '_> {
    /// `<task>.result` is looked at only if that task was the last to run. Where it never is, the
    /// entry never fires, which nobody notices before it should have.
    pub(super) fn last_to_run(
        &mut self,
        task: &Name,
        wanted: Outcome,
        (place, on): (Place, Option<&On>),
    ) {
        let Some(On::Any(Event::Finished { stage, sequence })) = on else { return };
        let Some(tasks) = self.index.tasks(stage.as_str(), sequence.as_str()) else { return };
        let named = |it: &Outlined| it.name == task.as_str();
        let why_not = |at| why_not(tasks, at, wanted);
        let mut places = (0..tasks.len()).filter(|at| named(&tasks[*at])).peekable();
        let draft = if places.peek().is_none() {
            let message = format!("sequence `{sequence}` of `{stage}` has no task `{task}`");
            let meant = tasks.iter().find(|it| it.id.as_deref() == Some(task.as_str()));
            let near = match meant {
                Some(Outlined { name, .. }) => {
                    Some(format!("`{task}` is the id of a task; write its name, `{name}`."))
                }
                None => self.did_you_mean(task.as_str(), tasks.iter().map(|it| it.name.as_str())),
            };
            let hint = joined(near, "as it stands, this never triggers anything");
            Draft::warning(Code::UnknownTask, place, message).hint(hint)
        } else {
            // The last of several with that name has the fewest behind it, and so the best reason.
            let Some(reasons) = places.map(why_not).collect::<Option<Vec<String>>>() else {
                return;
            };
            let why = reasons.last().map_or("", String::as_str);
            let message = format!("`{task}.result` can never be `{wanted}` here: {why}");
            let hint = format!(
                "`{task}.result` counts only if `{task}` was the last task to run; write `result` \
                 for that of the whole sequence"
            );
            Draft::warning(Code::Selector, place, message).hint(hint)
        };
        self.push(draft);
    }
}

/// Why the task at a position cannot be the last to run in a run that ends so.
fn why_not(tasks: &[Outlined], at: usize, wanted: Outcome) -> Option<String> {
    let fails = wanted == Outcome::Fail;
    let task = &tasks[at];
    if !fails && task.when == When::Failed {
        return Some(format!("`{}` runs only after a failure", task.name));
    }
    let runs = |it: &&Outlined| match it.when {
        When::Always => true,
        When::Failed => fails,
        When::Succeeded => !fails,
    };
    let later = tasks[at + 1..].iter().find(runs)?;
    Some(format!("`{}` runs after `{}` then", later.name, task.name))
}
