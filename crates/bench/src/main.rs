//! How fast the parts of Seaway are, each beside something that does the same work more simply.

mod append;
mod args;
mod checkpoint;
mod composer;
mod disk;
mod figure;
mod folding;
mod identity;
mod ingest;
mod part;
mod permits;
mod pipeline;
mod plan;
mod replay;
mod sample;
mod scribe;
mod sequences;
mod serve;
mod sheet;
mod watch;
mod web;

use anyhow::Result;
use clap::Parser;

use crate::args::{Args, Bench};
use crate::sheet::Sheet;

/// That of the server, so that baselines do not differ from it in this.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<()> {
    let args = Args::parse();
    if let Some(members) = args.members {
        return plan::answer(members);
    }
    if let Some(part) = args.part {
        return part.play();
    }
    let mut sheet = Sheet::new(args.json);
    for bench in args.benches() {
        sheet.begin(bench.name());
        match bench {
            Bench::Plan => plan::run(args.quick, &mut sheet)?,
            Bench::Append => append::run(args.quick, &mut sheet)?,
            Bench::Replay => replay::run(args.quick, &mut sheet)?,
            Bench::Permits => permits::run(args.quick, &mut sheet)?,
            Bench::Sequences => sequences::run(args.quick, &mut sheet)?,
            Bench::Checkpoint => checkpoint::run(args.quick, &mut sheet)?,
            Bench::Serve => serve::run((args.quick, args.case.as_deref()), &mut sheet)?,
            Bench::Ingest => ingest::run(args.quick, &mut sheet)?,
        }
        sheet.end();
    }
    Ok(())
}
