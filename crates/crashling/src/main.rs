//! A process to be killed: it drives real deployments on a real store, and prints one line for each
//! command that was acknowledged. Whatever it printed must still be there after any crash.

mod ack;
mod driver;
mod work;

use std::path::Path;

use anyhow::{Context, Result, bail};
use seaway_store::Store;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let (store, mode) = match words[..] {
        ["sqlite", dir, mode] => (Store::sqlite(Path::new(dir))?, mode),
        ["postgres", url, mode] => (Store::postgres(url).await?, mode),
        _ => bail!("usage: seaway-crashling sqlite DIR | postgres URL, then run | drain"),
    };
    match mode {
        "run" => driver::run(store).await,
        "drain" => driver::drain(store).await.context("not everything came to its end"),
        other => bail!("{other:?} is neither run nor drain"),
    }
}
