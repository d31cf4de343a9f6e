use std::sync::Arc;

use anyhow::Result;
use seaway_engine::ProjectHandle;
use seaway_kernel::{Actor, Command};
use seaway_model::{DeploymentId, Fact, Kind, Seq};
use seaway_store::Store;
use tokio::sync::Notify;

use crate::demo::example::{Example, Release, introduce_tests, pipeline};
use crate::demo::narrator::{Narrator, Told};
use crate::demo::why;
use crate::log::{self, Standings};
use crate::out::Out;

/// What happens in the demo, in order.
#[derive(Debug)]
pub(super) struct Scenario<'a> {
    pub(super) store: &'a Store,
    pub(super) project: ProjectHandle,
    pub(super) example: &'a Example,
    pub(super) asked: Arc<Notify>,
    pub(super) out: &'a mut Out,
}

impl Scenario<'_> {
    pub(super) async fn play(self) -> Result<()> {
        let Self { store, project, example, asked, out } = self;
        let name = project.project().clone();
        let records = project.subscribe(Seq(0)).await?;
        let mut narrator = Narrator::new(store, example, &name, records);

        out.line("A project with three services, and the stages build -> beta -> prod.")?;
        out.line("In beta, deployment and test are one batch: one revision at a time.\n")?;
        send(&project, pipeline()).await?;
        send(&project, example.first.start()).await?;
        narrator.tell_until_ended(out, &[example.first.deployment]).await?;

        out.line("\nA second cart is on its way, with a fault; two other services follow it.\n")?;
        send(&project, example.faulty.start()).await?;
        let faulty = example.faulty.deployment;
        narrator
            .tell_until(out, |told| told.is(faulty, Kind::GroupStarted) && in_beta(told))
            .await?;
        for release in example.waiting {
            send(&project, release.start()).await?;
        }
        narrator.tell_until(out, everyone_meets_in_beta(example)).await?;

        out.line("\nWhy is nothing further?\n")?;
        why::show(&project, example, out).await?;
        asked.notify_one();

        out.line("")?;
        narrator.tell_until_ended(out, &[example.faulty.deployment]).await?;

        out.line("\nA fix is started, and from now on hosts in prod are tested, too.\n")?;
        send(&project, introduce_tests()).await?;
        send(&project, example.fixed.start()).await?;
        let rest = example.waiting.iter().chain([&example.fixed]);
        let rest: Vec<DeploymentId> = rest.map(|release| release.deployment).collect();
        narrator.tell_until_ended(out, &rest).await?;

        out.line("\nWhat is where:\n")?;
        let standings = Standings::at_stages(store, &name, None, None).await?;
        log::show_standings(&standings, out)?;
        out.flush()?;

        let verified = store.verify(&name, |_| ()).await?;
        let (records, hash) = (verified.records, verified.head.hash);
        out.line(format_args!("\nThe log is intact: {records} records, the last hash is {hash}."))
    }
}

async fn send(project: &ProjectHandle, command: Command) -> Result<()> {
    project.send(command, Actor::named("demo")).await?;
    Ok(())
}

fn in_beta(told: &Told) -> bool {
    told.path.starts_with("shop/beta/")
}

/// Holds when the test of the faulty revision runs, and the others stand before its batch.
fn everyone_meets_in_beta(example: &Example) -> impl FnMut(&Told) -> bool {
    let faulty = example.faulty.deployment;
    let mut tested = false;
    let mut coming: Vec<Release> = example.waiting.to_vec();
    move |told| {
        let claimed = told.is(faulty, Kind::TaskDone) && told.row.fact == Fact::Claimed;
        tested |= claimed && told.path.ends_with("/test");
        let entered = |it: &Release| told.is(it.deployment, Kind::SequenceStarted);
        coming.retain(|it| !(entered(it) && in_beta(told)));
        tested && coming.is_empty()
    }
}
