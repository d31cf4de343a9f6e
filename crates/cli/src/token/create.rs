use anyhow::Result;
use clap::Args;
use seaway_api::{CreateToken, Scope};
use seaway_model::Name;

use crate::connection::ServerArgs;
use crate::log::project_name;
use crate::out::Out;
use crate::print::{Length, OutputArgs, value};

/// Makes a token, and prints it this once
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Who will use it: what the log names as the actor
    #[arg(value_name = "NAME")]
    name: String,

    /// What it allows: read, deliver, execute or admin; several with commas
    #[arg(
        long = "scope",
        value_name = "SCOPE",
        value_delimiter = ',',
        required = true,
        value_parser = scope
    )]
    scopes: Vec<Scope>,

    /// Only for this project
    #[arg(short, long, value_name = "NAME", value_parser = project_name)]
    project: Option<Name>,

    /// How long it is good, such as 12h or 90d; otherwise until it is revoked
    #[arg(long, value_name = "DURATION")]
    expires: Option<Length>,

    #[command(flatten)]
    to: OutputArgs,

    #[command(flatten)]
    server: ServerArgs,
}

fn scope(text: &str) -> Result<Scope, String> {
    let known = || "write read, deliver, execute or admin".to_owned();
    serde_json::from_value(text.into()).ok().ok_or_else(known)
}

pub(super) async fn run(args: CreateArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let server = args.server.server(outer)?;
    let create = CreateToken {
        name: args.name,
        scopes: args.scopes,
        project: args.project.as_ref().map(ToString::to_string),
        expires_in_seconds: args.expires.map(|it| it.0.as_secs()),
    };
    let made = server.client.create_token(&create).await?;
    value(out, args.to.output, &made, |out, made| {
        out.line(&made.secret)?;
        let id = &made.token.id;
        out.aside(format_args!("this is the only time that the token is told; its id is {id}"))
    })
}
