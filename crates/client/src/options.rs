use std::time::Duration;

/// How a client behaves. The default is right for people and for executors.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long a call may take from its beginning to the end of its answer. What is known to
    /// take longer has more.
    pub timeout: Duration,
    /// How long it may take until a connection is there.
    pub connect_timeout: Duration,
    /// How often a call is made again that the server was too busy for.
    pub retries: u32,
    /// The longest wait between two of them, whatever the server asks for.
    pub longest_wait: Duration,
    /// The `source` of the events that this client makes.
    pub source: String,
    /// A PEM file's content: certificates that are trusted beside those of the system.
    pub certificates: Option<Vec<u8>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(5),
            retries: 4,
            longest_wait: Duration::from_secs(10),
            source: "seaway-client".to_owned(),
            certificates: None,
        }
    }
}
