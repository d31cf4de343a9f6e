use anyhow::Result;
use seaway_api::Verdict;
use seaway_client::Client;
use uuid::Uuid;

use crate::demo::example::{self, FAULTY, FIRST, FIXED, NEWER, PROJECT, Release};
use crate::demo::narrator::{Narrator, is_over, waits_for_approval};
use crate::look::{read_status, read_why, show_board, show_why};
use crate::out::Out;
use crate::print::Format;

/// What happens in the demo, in order.
pub(super) async fn play(client: &Client, out: &mut Out) -> Result<()> {
    client.apply(PROJECT, &example::documents()).await?;
    out.line(
        "A project with three services, and the stages dev -> staging -> prod. In staging one",
    )?;
    out.line("revision at a time is deployed and tested; prod waits for approval.\n")?;
    let mut play = Play { client, narrator: Narrator::new(client.stream(PROJECT, 0)), out };

    let first = play.deliver(&FIRST).await?;
    play.until_approval(&first).await?;
    play.say("All three are tested, and wait for somebody who lets them into prod.")?;
    for deployment in &first {
        client.approve(PROJECT, *deployment, &Verdict::default()).await?;
    }
    play.until_over(&first).await?;

    play.say("A new cart, which gets some requests wrong.")?;
    let faulty = play.deliver(&[FAULTY]).await?;
    play.until_over(&faulty).await?;

    play.say("A fix of it, and a new search.")?;
    let last = play.deliver(&[FIXED, NEWER]).await?;
    play.until_approval(&last).await?;
    client.pause(PROJECT, last[1]).await?;

    play.say("Why is nothing further?")?;
    show_why(play.out, &read_why(client, PROJECT).await?)?;
    play.say("What is where?")?;
    show_board(&read_status(client, PROJECT, None).await?, Format::Table, play.out)?;
    let verified = client.verify(PROJECT).await?;
    let (records, hash) = (verified.head, verified.hash);
    play.say(&format!("The log is intact: {records} records, the last hash is\n{hash}."))
}

struct Play<'a> {
    client: &'a Client,
    narrator: Narrator,
    out: &'a mut Out,
}

impl Play<'_> {
    fn say(&mut self, text: &str) -> Result<()> {
        self.out.line(format_args!("\n{text}\n"))?;
        self.out.flush()
    }

    async fn deliver(&mut self, releases: &[Release]) -> Result<Vec<Uuid>> {
        let mut deployments = Vec::new();
        for release in releases {
            let triggered = self.client.trigger(PROJECT, &release.trigger()).await?;
            self.narrator.expect(*release, &triggered);
            deployments.push(triggered.deployment);
        }
        Ok(deployments)
    }

    async fn until_approval(&mut self, deployments: &[Uuid]) -> Result<()> {
        self.narrator.tell_until(self.out, deployments, waits_for_approval).await
    }

    async fn until_over(&mut self, deployments: &[Uuid]) -> Result<()> {
        self.narrator.tell_until(self.out, deployments, is_over).await
    }
}
