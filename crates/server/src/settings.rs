use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use seaway_outbound::Policy;

use crate::otlp::Otlp;

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    pub listen: SocketAddr,
    /// Where the admin token and the vault's key are.
    pub data: PathBuf,
    /// The name of this process among others on the same database.
    pub replica: Box<str>,
    /// Where several servers share one database: how others reach this one.
    pub shared: Option<Shared>,
    pub tls: Option<Tls>,
    /// What messages to the outside may reach beyond public addresses.
    pub outbound: Policy,
    /// The file with the key that secrets are sealed with, which has to be there; none: one in the
    /// data directory, which is made.
    pub vault_key: Option<PathBuf>,
    /// Where traces go.
    pub otlp: Option<Otlp>,
    /// How long open requests may take after the server was asked to stop.
    pub drain: Duration,
    /// Connections at the same time; one more has to wait.
    pub connections: usize,
    /// Bytes of the bodies of all requests under way; one more is refused.
    pub bodies: usize,
    /// How long the body of a request may take to come.
    pub patience: Duration,
}

/// One of several servers.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// The URL under which the others reach this one; none: the address that it listens on.
    pub advertise: Option<String>,
}

/// Files in PEM form.
#[derive(Clone, Debug)]
pub struct Tls {
    pub certificates: PathBuf,
    pub key: PathBuf,
}

impl Settings {
    #[must_use]
    pub fn new(data: PathBuf, listen: SocketAddr) -> Self {
        Self {
            listen,
            data,
            replica: "seaway".into(),
            shared: None,
            tls: None,
            outbound: Policy::default(),
            vault_key: None,
            otlp: None,
            drain: Duration::from_secs(20),
            connections: 10_000,
            bodies: 128 << 20,
            patience: Duration::from_secs(30),
        }
    }
}
