use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use seaway_model::Name;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use super::followed::{Followed, Shared};
use super::look::{Look, look};
use crate::app::App;
use crate::trace::Exporter;

/// How late followers may hear of a new record.
const HEADS: Duration = Duration::from_millis(50);
/// How often projects are looked for that came here, or went.
const PROJECTS: Duration = Duration::from_secs(2);
/// How long a project that goes on is followed without looking at its documents again. Whoever
/// changes them leaves a notice; this is for changes whose sender did not wait for the answer.
const AGAIN: Duration = Duration::from_secs(30);
/// Projects that are looked at together.
const AT_ONCE: usize = 16;

/// Keeps followers for everything that asks for some in the projects of this process.
pub(crate) async fn follow_projects(app: Arc<App>, exporter: Option<Arc<Exporter>>) {
    let mut hub = Hub {
        shared: Shared::new(app.clone(), exporter),
        projects: BTreeMap::new(),
        looking: JoinSet::new(),
        queue: BTreeMap::new(),
    };
    let mut heads = interval(HEADS);
    let mut projects = interval(PROJECTS);
    for ticks in [&mut heads, &mut projects] {
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    }
    loop {
        tokio::select! {
            _ = heads.tick() => hub.pass_on(),
            _ = projects.tick() => hub.find_projects().await,
            named = app.notices.take() => named.into_iter().for_each(|it| hub.enqueue(it)),
            Some(looked) = hub.looking.join_next() => hub.looked(looked.ok()).await,
            () = app.stopped() => break,
        }
        hub.look();
    }
    hub.projects.values().for_each(Followed::ask_to_finish);
    for followed in hub.projects.into_values() {
        followed.finished().await;
    }
}

struct Hub {
    shared: Shared,
    projects: BTreeMap<Name, Followed>,
    looking: JoinSet<(Name, Look)>,
    /// What is to be looked at, and whether somebody does.
    queue: BTreeMap<Name, Looking>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looking {
    Not,
    Now,
    /// It has to be looked at once more: something happened meanwhile.
    Again,
}

impl Hub {
    fn pass_on(&self) {
        self.projects.values().for_each(|it| it.pass_on(&self.shared.app.engine));
    }

    fn enqueue(&mut self, project: Name) {
        let looking = self.queue.entry(project).or_insert(Looking::Not);
        if *looking == Looking::Now {
            *looking = Looking::Again;
        }
    }

    fn look(&mut self) {
        let room = AT_ONCE.saturating_sub(self.looking.len());
        let waiting = self.queue.iter_mut().filter(|(_, looking)| **looking == Looking::Not);
        for (project, looking) in waiting.take(room) {
            *looking = Looking::Now;
            let (app, name) = (self.shared.app.clone(), project.clone());
            self.looking.spawn(async move {
                // A name that does not come back would never be looked at again.
                let seen = AssertUnwindSafe(look(app, name.clone())).catch_unwind().await;
                let seen = seen.unwrap_or_else(|_panic| {
                    tracing::error!(project = %name, "looking at a project panicked");
                    Look::Unclear
                });
                (name, seen)
            });
        }
    }

    async fn looked(&mut self, looked: Option<(Name, Look)>) {
        let Some((project, look)) = looked else { return };
        if self.queue.remove(&project) == Some(Looking::Again) {
            self.queue.insert(project.clone(), Looking::Not);
        }
        match look {
            Look::Seen(sight) => {
                let new = || Followed::new(&project, &sight, &self.shared);
                let followed = self.projects.entry(project.clone()).or_insert_with(new);
                followed.update(sight, &self.shared).await;
            }
            Look::NotHere => {
                if let Some(gone) = self.projects.remove(&project) {
                    gone.stop().await;
                }
            }
            Look::Unclear => {
                if let Some(followed) = self.projects.get_mut(&project) {
                    followed.look_again();
                }
            }
        }
    }

    /// Looks at projects that came here, that went, and now and then at those that go on.
    async fn find_projects(&mut self) {
        const PAGE: usize = 1_000;
        let engine = &self.shared.app.engine;
        let due = self
            .projects
            .iter()
            .filter(|(name, followed)| !engine.has(name) || followed.is_stale(engine, AGAIN));
        let due: Vec<Name> = due.map(|(name, _)| name.clone()).collect();
        let mut last = None;
        let mut new = Vec::new();
        loop {
            let page = match self.shared.app.store.projects(last.as_ref(), PAGE).await {
                Ok(page) => page,
                Err(error) => {
                    tracing::warn!(%error, "projects to follow cannot be looked for");
                    break;
                }
            };
            let full = page.len() == PAGE;
            last = page.last().cloned();
            let here = |name: &Name| engine.has(name) && !self.projects.contains_key(name);
            new.extend(page.into_iter().filter(here));
            if !full {
                break;
            }
        }
        due.into_iter().chain(new).for_each(|it| self.enqueue(it));
    }
}
