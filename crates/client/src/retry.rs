use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};

use crate::options::Options;

/// What is waited for where the server does not say how long.
const UNSAID: Duration = Duration::from_secs(1);

/// How long the server asks to be left alone.
pub(crate) fn after(headers: &HeaderMap) -> Duration {
    let seconds = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    seconds.map_or(UNSAID, Duration::from_secs)
}

/// How long to wait before the call is made again after `tried` times; `None`: not again.
pub(crate) fn wait(options: &Options, tried: u32, asked: Duration) -> Option<Duration> {
    (tried <= options.retries && asked <= options.longest_wait).then_some(asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_server_is_asked_again_a_few_times() {
        let options = Options::default();
        let second = Duration::from_secs(1);
        assert_eq!(wait(&options, 1, second), Some(second));
        assert_eq!(wait(&options, options.retries, second), Some(second));
        assert_eq!(wait(&options, options.retries + 1, second), None);
        assert_eq!(wait(&options, 1, options.longest_wait * 2), None);
    }

    #[test]
    fn the_server_says_how_long() {
        let mut headers = HeaderMap::new();
        assert_eq!(after(&headers), UNSAID);
        headers.insert(RETRY_AFTER, "7".parse().expect("it is a value"));
        assert_eq!(after(&headers), Duration::from_secs(7));
        headers.insert(RETRY_AFTER, "Fri, 31 Dec 1999 23:59:59 GMT".parse().expect("it is one"));
        assert_eq!(after(&headers), UNSAID);
    }
}
