use anyhow::Result;
use clap::Args;
use seaway_api::Written;
use seaway_client::Client;
use uuid::Uuid;

use crate::connection::ServerArgs;
use crate::out::Out;
use crate::print::{OutputArgs, deployment_id, value};

/// Which deployment is meant, and who is told.
#[derive(Debug, Args)]
pub(super) struct ShipArgs {
    /// The deployment, by its id
    #[arg(value_name = "DEPLOYMENT", value_parser = deployment_id)]
    deployment: Uuid,

    #[command(flatten)]
    to: OutputArgs,

    #[command(flatten)]
    server: ServerArgs,
}

/// A deployment, and the server that knows it.
#[derive(Debug)]
pub(super) struct Ship {
    pub(super) client: Client,
    pub(super) project: String,
    pub(super) id: Uuid,
}

impl ShipArgs {
    pub(super) async fn find(&self, outer: &ServerArgs) -> Result<Ship> {
        let server = self.server.server(outer)?;
        let project = server.project_of(self.deployment).await?;
        Ok(Ship { client: server.client, project, id: self.deployment })
    }

    /// Says that it was done; `what` as in "0190… is paused".
    pub(super) fn say(&self, written: &Written, what: &str, out: &mut Out) -> Result<()> {
        value(out, self.to.output, written, |out, Written { at }| {
            out.line(format_args!("{} {what}, with record {at}", self.deployment))
        })
    }
}

impl Ship {
    /// The path of a step, which may be given without the project that it begins with.
    pub(super) fn target(&self, path: Option<&String>) -> Option<String> {
        path.map(|path| match path.split_once('/') {
            Some((first, _)) if first == self.project => path.clone(),
            _ => format!("{}/{path}", self.project),
        })
    }
}
