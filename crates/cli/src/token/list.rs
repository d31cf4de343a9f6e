use anyhow::Result;
use clap::Args;
use seaway_api::Token;
use seaway_client::{Paging, whole};

use crate::connection::ServerArgs;
use crate::out::Out;
use crate::print::{OutputArgs, list, maybe, word};

/// More tokens than this are not listed.
const MOST: usize = 10_000;

/// Lists tokens, without what they are
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    to: OutputArgs,

    #[command(flatten)]
    server: ServerArgs,
}

pub(super) async fn run(args: ListArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let server = args.server.server(outer)?;
    let read = async |paging: Paging| server.client.tokens(&paging).await;
    let found = whole(MOST, read).await?;
    list(out, args.to.output, &found.items, |out, tokens| {
        let header = ["ID", "NAME", "SCOPES", "PROJECT", "CREATED", "EXPIRES", "REVOKED"];
        out.table(header, tokens.iter().map(row))
    })
}

fn row(token: &Token) -> [String; 7] {
    let scopes: Vec<String> = token.scopes.iter().map(word).collect();
    let project = token.project.clone().unwrap_or_else(|| "all".to_owned());
    [
        token.id.clone(),
        token.name.clone(),
        scopes.join(","),
        project,
        token.created.clone(),
        token.expires.clone().unwrap_or_else(|| "never".to_owned()),
        maybe(token.revoked.as_ref()),
    ]
}
