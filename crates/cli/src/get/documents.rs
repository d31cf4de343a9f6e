use anyhow::Result;
use seaway_client::{Paging, Whole, whole};

use crate::connection::Server;
use crate::documents::document_kind;
use crate::failure::WrongUsage;
use crate::get::args::GetArgs;
use crate::out::Out;
use crate::print::{Format, list, value};

pub(super) async fn run(
    server: &Server,
    kind: Option<&str>,
    args: &GetArgs,
    out: &mut Out,
) -> Result<()> {
    let project = server.project(args.project.project.as_ref()).await?;
    if let Some(name) = &args.name {
        let (kind, name) = named(kind, name)?;
        let document = server.client.document(&project, &kind, name).await?;
        return value(out, args.to.output, &document, |out, it| out.line(it.text.trim_end()));
    }
    let read = async |paging: Paging| server.client.documents(&project, kind, &paging).await;
    let Whole { items, next } = whole(args.limit.get(), read).await?;
    list(out, args.to.output, &items, |out, documents| {
        if documents.is_empty() {
            return out.aside(format_args!("no such document in {project}"));
        }
        let digest = |digest: &str| match args.to.output {
            Format::Wide => digest.to_owned(),
            _ => digest.chars().take(12).collect(),
        };
        let rows = documents
            .iter()
            .map(|it| [it.kind.clone(), it.name.clone(), digest(&it.digest), it.since.to_string()]);
        out.table(["KIND", "NAME", "DIGEST", "SINCE RECORD"], rows)
    })?;
    match next {
        Some(_) => out.aside("there are more; raise --limit"),
        None => Ok(()),
    }
}

/// One of all documents is named with its kind: `webhook/chat`.
fn named<'a>(kind: Option<&str>, name: &'a str) -> Result<(String, &'a str)> {
    match (kind, name.split_once('/')) {
        (Some(kind), _) => Ok((kind.to_owned(), name)),
        (None, Some((kind, name))) => Ok((document_kind(kind), name)),
        (None, None) => {
            let advice = format!("{name:?} may be of any kind; write KIND/NAME");
            Err(WrongUsage(advice).into())
        }
    }
}
