use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::connection::ServerArgs;
use crate::out::Out;
use crate::print::{OutputArgs, value, word};
use crate::resource::args::ScopeArgs;

/// The largest file that is kept.
const MOST: u64 = 1 << 20;

/// Keeps a file, in the place of one that is there
#[derive(Debug, Args)]
pub(crate) struct PutArgs {
    /// The name under which it is kept, such as slo.yaml or tests/load.js
    #[arg(value_name = "PATH")]
    path: String,

    /// The file; - is standard input
    #[arg(short, long, value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    scope: ScopeArgs,

    #[command(flatten)]
    to: OutputArgs,

    #[command(flatten)]
    server: ServerArgs,
}

pub(super) async fn run(args: PutArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let content = read(&args.file)?;
    let server = args.server.server(outer)?;
    let project = server.project(args.scope.project.project.as_ref()).await?;
    let scope = args.scope.scope();
    let change = server.client.put_resource(&project, &scope, &args.path, content).await?;
    value(out, args.to.output, &change, |out, it| {
        out.line(format_args!("{} is {}", it.name, word(it.change)))
    })
}

fn read(file: &Path) -> Result<Vec<u8>> {
    let shown = file.display();
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        io::stdin().lock().take(MOST + 1).read_to_end(&mut bytes)
    } else {
        File::open(file).and_then(|file| file.take(MOST + 1).read_to_end(&mut bytes))
    };
    read.with_context(|| format!("{shown} cannot be read"))?;
    ensure!(bytes.len() as u64 <= MOST, "{shown} is larger than {} MiB", MOST >> 20);
    Ok(bytes)
}
