use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use seaway_server::Destination;

/// Runs the control plane
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// Where the embedded store, the admin token and the keys are
    #[arg(long, env = "SEAWAY_DATA", value_name = "DIR", default_value = "./seaway-data")]
    pub(crate) data: PathBuf,

    /// The address to listen on; port 0 takes any that is free
    #[arg(long, env = "SEAWAY_LISTEN", value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub(crate) listen: SocketAddr,

    /// A PostgreSQL database instead of the embedded store: postgres://user@host:port/database
    #[arg(long, env = "SEAWAY_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    pub(crate) database_url: Option<String>,

    /// The URL under which other servers on the same database reach this one; needed when it
    /// listens on all addresses, such as 0.0.0.0
    #[arg(long, env = "SEAWAY_ADVERTISE", value_name = "URL", requires = "database_url")]
    pub(crate) advertise: Option<String>,

    /// A file with the certificates to serve TLS with, in PEM form
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,

    /// A file with the key that belongs to them, in PEM form
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,

    /// What webhooks may reach besides public addresses, such as ci.internal:8080; may be repeated
    #[arg(long, env = "SEAWAY_ALLOW_OUTBOUND", value_name = "HOST:PORT", value_delimiter = ',')]
    pub(crate) allow_outbound: Vec<Destination>,

    /// The key that secrets are sealed with, instead of DIR/vault.key; servers that share a
    /// database need the same one
    #[arg(long, env = "SEAWAY_VAULT_KEY_FILE", value_name = "FILE")]
    pub(crate) vault_key_file: Option<PathBuf>,

    /// Where traces go: an OpenTelemetry collector that takes OTLP over HTTP, such as
    /// http://localhost:4318; headers are taken from OTEL_EXPORTER_OTLP_HEADERS
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT", value_name = "URL", hide_env_values = true)]
    pub(crate) otlp_endpoint: Option<String>,

    /// Also carries out tasks as commands, as `seaway worker -f PATH` does; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) with_worker: Vec<PathBuf>,

    /// How logs are written to standard error
    #[arg(long, env = "SEAWAY_LOG_FORMAT", value_name = "FORMAT", default_value = "text")]
    pub(crate) log_format: LogFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people
    Text,
    /// For machines, a line of JSON for each event
    Json,
}

const EXAMPLES: &str = "\
Examples:
  seaway serve                                     on 127.0.0.1:8080, data in ./seaway-data
  seaway serve --data /var/lib/seaway --listen 0.0.0.0:8080
  seaway serve --tls-cert cert.pem --tls-key key.pem
  seaway serve --allow-outbound ci.internal:8080   webhooks may go there, too
  seaway serve --with-worker definitions/          and runs tasks, too
  SEAWAY_LOG=debug seaway serve --log-format json  more, and for machines";
