use seaway_api::{Affected, Foreseen, Plan};
use seaway_kernel::{Fate, Kernel, Structure, StructureChange};

use crate::problem::Failure;

/// What a change of the structure means for what is under way; none if it stays as it is.
pub(crate) fn plan_view(
    kernel: &Kernel,
    structure: Option<&Structure>,
) -> Result<Option<Plan>, Failure> {
    let change = structure.and_then(|new| StructureChange::between(kernel.structure(), new));
    let Some(change) = change else { return Ok(None) };
    let plan = kernel.plan(&change, kernel.time())?;
    let affected = plan.affected.into_iter().map(|it| Affected {
        deployment: it.deployment.0,
        service: it.service.to_string(),
        version: it.version.into(),
        revision: it.revision.0,
        changes: it
            .changes
            .into_iter()
            .map(|it| Foreseen { target: it.path, kind: it.kind.to_string(), fate: fate(&it.fate) })
            .collect(),
    });
    let affected = affected.collect();
    Ok(Some(Plan { affected, unaffected: plan.unaffected, whole: plan.whole }))
}

fn fate(fate: &Fate) -> String {
    match fate {
        Fate::Done => "will be done".to_owned(),
        Fate::Skipped(reason) => format!("will be skipped: {reason}"),
        Fate::Lost => "will not be reached any more".to_owned(),
        Fate::Ended => "ends before it begins".to_owned(),
    }
}
