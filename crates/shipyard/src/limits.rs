//! How large a shipyard may be. Each refusal names its limit.

use seaway_model::Span;

pub const TEXT_BYTES: usize = 1 << 20;
pub const DEPTH: usize = 32;
/// Values of the document, with aliases written out.
pub const NODES: usize = 50_000;
/// Text in the values of the document, with aliases written out.
pub const EXPANDED_BYTES: usize = 4 << 20;
pub const STAGES: usize = 1_000;
pub const SEQUENCES: usize = 100;
pub const TASKS: usize = 1_000;
pub const TRIGGERS: usize = 100;
/// Events in one `all:`.
pub const JOINED: usize = 50;
/// Problems that are reported of one file.
pub const PROBLEMS: usize = 500;

pub const EVENT_CHARS: usize = 200;
pub const PATH_CHARS: usize = 200;
pub const TITLE_CHARS: usize = 200;
pub const RETRIES: u32 = 20;
pub const CAPACITY: u32 = 10_000;
pub const REPLACED: u32 = 10_000;
pub const LONGEST: Span = Span::from_secs(30 * 24 * 60 * 60);
pub const SHORTEST_TIMEOUT: Span = Span::from_secs(1);
pub const BACKOFF: Span = Span::from_secs(10);
/// `maxReplaced` where none is given.
pub const DEFAULT_REPLACED: u32 = 10;
