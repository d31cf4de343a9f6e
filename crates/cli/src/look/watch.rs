use std::time::Duration;

use anyhow::Result;
use seaway_client::Client;
use tokio::time::{Instant, timeout_at};

use crate::look::{board, status};
use crate::out::Out;
use crate::print::Format;

/// Changes that follow each other closely are shown together.
const PAUSE: Duration = Duration::from_millis(250);

/// Shows the board again whenever the log has grown, until somebody ends it.
pub(super) async fn run(client: &Client, project: &str, to: Format, out: &mut Out) -> Result<()> {
    let mut now = status::read(client, project, None).await?;
    let mut stream = client.stream(project, now.at);
    loop {
        if out.is_terminal() {
            // Home, and nothing below: what was there is overwritten without a flicker.
            out.bytes(b"\x1b[H\x1b[2J")?;
        }
        board::show(&now, to, out)?;
        out.line(format_args!("{project} at record {}, {}", now.at, now.time))?;
        out.flush()?;
        stream.next().await?;
        let end = Instant::now() + PAUSE;
        while let Ok(record) = timeout_at(end, stream.next()).await {
            record?;
        }
        now = status::read(client, project, None).await?;
    }
}
