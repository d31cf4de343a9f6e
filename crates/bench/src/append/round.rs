use std::time::Duration;

use anyhow::{Context, Result};
use seaway_engine::{Engine, Options};
use seaway_kernel::Actor;
use seaway_model::Name;
use seaway_store::Store;
use tokio::task::JoinSet;

use super::baseline;
use super::caller::{Caller, explore};
use super::place::{Backend, Place};
use super::written::{Written, transactions};
use crate::identity::name;
use crate::pipeline::two_stages;
use crate::sample::Latencies;
use crate::watch::{Watch, per_second};

/// What is measured: who calls, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) backend: Backend,
    pub(super) callers: usize,
    pub(super) projects: usize,
    /// How long the engine runs, and the plain inserts at least.
    pub(super) lasts: Duration,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    pub(super) records_per_s: f64,
    pub(super) p50_ms: f64,
    pub(super) p99_ms: f64,
}

impl Case {
    pub(super) fn name(&self) -> String {
        let Self { backend, callers, projects, .. } = self;
        match projects {
            1 => format!("{},callers={callers}", backend.name()),
            _ => format!("{},callers={callers},projects={projects}", backend.name()),
        }
    }

    /// The engine, and right after it the plain inserts of what it has written.
    pub(super) async fn round(&self) -> Result<(Rates, Rates)> {
        let place = Place::new(self.backend).await?;
        let store = place.store().await?;
        let projects: Vec<Name> =
            (0..self.projects).map(|number| name(&format!("project-{number}"))).collect();
        let engine = self.drive(&store, &projects).await?;
        let mut all = Vec::new();
        for project in &projects {
            all.push(Written::read(&store, project).await?);
        }
        drop(store);
        place.remove().await?;
        let transactions = transactions(all, self.callers)?;
        let rest = (&projects[..], self.lasts);
        Ok((engine, baseline::insert(self.backend, &transactions, rest).await?))
    }

    async fn drive(&self, store: &Store, projects: &[Name]) -> Result<Rates> {
        let engine = Engine::start(store.clone(), Options::default());
        let callers = self.callers(&engine, store, projects).await?;
        let before = records(&engine, projects);
        let (clock, until) = (Watch::start(), self.lasts);
        let mut tasks = JoinSet::new();
        for caller in callers {
            tasks.spawn(caller.run(clock, until));
        }
        let mut latencies = Latencies::default();
        while let Some(ended) = tasks.join_next().await {
            latencies.extend(ended.context("a caller panicked")??);
        }
        let took = clock.elapsed();
        let count = records(&engine, projects) - before;
        engine.stop().await;
        let (p50_ms, p99_ms) = (latencies.quantile(0.5), latencies.quantile(0.99));
        Ok(Rates { records_per_s: per_second(count, took), p50_ms, p99_ms })
    }

    /// Callers that are spread over the projects, each with a service of its own: two of one
    /// service would wait for each other in every stage.
    async fn callers(
        &self,
        engine: &Engine,
        store: &Store,
        projects: &[Name],
    ) -> Result<Vec<Caller>> {
        let mut ready = Vec::new();
        for name in projects {
            store.create_project(name).await?;
            let project = engine.project(name);
            project.send(two_stages(), Actor::named("bench")).await?;
            let route = explore(&project).await?;
            ready.push((project, route));
        }
        let caller = |number: usize| {
            let (project, route) = ready[number % ready.len()].clone();
            Caller { project, route, service: name(&format!("service-{number}")) }
        };
        Ok((0..self.callers).map(caller).collect())
    }
}

fn records(engine: &Engine, projects: &[Name]) -> usize {
    let heads = projects.iter().map(|name| engine.project(name).durable().0);
    usize::try_from(heads.sum::<u64>()).expect("a run writes fewer records")
}
