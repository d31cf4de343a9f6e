use anyhow::Result;
use clap::Args;
use seaway_client::{Paging, whole};

use crate::connection::ServerArgs;
use crate::out::Out;
use crate::print::{OutputArgs, list, maybe};
use crate::resource::args::ScopeArgs;

/// More files than this are not listed.
const MOST: usize = 10_000;

/// Lists the files
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    scope: ScopeArgs,

    #[command(flatten)]
    to: OutputArgs,

    #[command(flatten)]
    server: ServerArgs,
}

pub(super) async fn run(args: ListArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let server = args.server.server(outer)?;
    let project = server.project(args.scope.project.project.as_ref()).await?;
    let scope = args.scope.scope();
    let read = async |paging: Paging| server.client.resources(&project, &scope, &paging).await;
    let found = whole(MOST, read).await?;
    list(out, args.to.output, &found.items, |out, files| {
        if files.is_empty() {
            return out.aside("no file matches; keep one with `seaway resource put`");
        }
        let rows = files.iter().map(|it| {
            let (stage, service) = (maybe(it.stage.as_ref()), maybe(it.service.as_ref()));
            let digest = it.digest.chars().take(12).collect();
            [it.path.clone(), stage, service, digest, it.since.to_string()]
        });
        out.table(["PATH", "STAGE", "SERVICE", "DIGEST", "SINCE RECORD"], rows)
    })
}
