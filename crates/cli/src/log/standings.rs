use anyhow::{Result, bail};
use seaway_model::{Name, Seq, TargetId};
use seaway_store::{Ending, Standing, Store};

/// Targets that are read at a time.
const PAGE: usize = 1_000;

/// What a place had finished, what had failed there, and what was in progress.
#[derive(Debug)]
pub(crate) struct Standings {
    /// The path of the place, without run numbers.
    pub(crate) place: String,
    pub(crate) finished: Option<Standing>,
    pub(crate) failed: Option<Standing>,
    pub(crate) in_progress: Vec<Standing>,
    /// There is more in progress than was asked for.
    pub(crate) more: bool,
}

impl Standings {
    /// How many deployments in progress are shown at one place.
    const IN_PROGRESS: usize = 1_000;

    /// Asks for one place.
    pub(crate) async fn at(
        store: &Store,
        project: &Name,
        place: String,
        service: Option<&Name>,
        as_of: Option<Seq>,
    ) -> Result<Self> {
        let limit = Self::IN_PROGRESS;
        let open = store.in_progress(project, &place, service, as_of, None, limit).await?;
        Ok(Self {
            finished: store.latest(project, &place, service, Ending::Finished, as_of).await?,
            failed: store.latest(project, &place, service, Ending::Failed, as_of).await?,
            in_progress: open.items,
            more: open.next.is_some(),
            place,
        })
    }

    /// Asks for the pipeline and for every stage that was used by then, in order of first use.
    pub(crate) async fn at_stages(
        store: &Store,
        project: &Name,
        service: Option<&Name>,
        as_of: Option<Seq>,
    ) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        let known = places(store, project, as_of).await?;
        for place in known.into_iter().filter(|place| is_stage_or_pipeline(place)) {
            all.push(Self::at(store, project, place, service, as_of).await?);
        }
        Ok(all)
    }
}

/// The place that a path means, which may leave out the project and run numbers.
pub(crate) async fn find_place(
    store: &Store,
    project: &Name,
    path: &str,
    as_of: Option<Seq>,
) -> Result<String> {
    let wanted = without_run(path.trim_end_matches('/'));
    let full = format!("{project}/{wanted}");
    let known = places(store, project, as_of).await?;
    if let Some(place) = known.iter().find(|place| **place == wanted || **place == full) {
        if is_sequence_or_task(place) {
            bail!(
                "{path} is a sequence or a task; ask about its stage, or about a group or member"
            );
        }
        return Ok(place.clone());
    }
    let stages: Vec<String> = known.into_iter().filter(|it| is_stage_or_pipeline(it)).collect();
    bail!("nothing has happened at {path}; there is {}, and what lies below", stages.join(", "))
}

/// Every place at which something had happened, without run numbers and executors.
async fn places(store: &Store, project: &Name, as_of: Option<Seq>) -> Result<Vec<String>> {
    let mut places = Vec::new();
    let mut from = TargetId(0);
    loop {
        let page = store.targets(project, from, PAGE).await?;
        let Some(last) = page.last() else { return Ok(places) };
        from = last.def.id.next();
        let used = page.into_iter().filter(|target| {
            let place = target.def.place == target.def.id && !target.def.part.starts_with('@');
            place && as_of.is_none_or(|seq| target.def.since <= seq)
        });
        places.extend(used.map(|target| without_run(&target.path)));
    }
}

fn is_stage_or_pipeline(place: &str) -> bool {
    place.matches('/').count() <= 1
}

fn is_sequence_or_task(place: &str) -> bool {
    (2..=3).contains(&place.matches('/').count())
}

fn without_run(path: &str) -> String {
    let parts = path.split('/').map(|part| part.split_once('#').map_or(part, |(name, _)| name));
    parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_no_run_number() {
        assert_eq!(without_run("shop/beta/delivery#12/test"), "shop/beta/delivery/test");
        assert_eq!(without_run("shop/beta"), "shop/beta");
    }
}
