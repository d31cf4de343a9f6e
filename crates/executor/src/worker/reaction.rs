use std::time::Duration;

use seaway_client::ClientError;

/// What to do about a call that did not go well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reaction {
    /// Make it again, not before this time is over.
    Again(Option<Duration>),
    /// What it was about is not there any more, or is somebody else's.
    Gone,
    /// The token does not allow it.
    Denied,
    /// It will never be taken like this.
    Refused,
}

impl Reaction {
    pub(super) fn to(error: &ClientError) -> Self {
        if let ClientError::Busy { after, .. } = error {
            return Self::Again(Some(*after));
        }
        match error.status() {
            Some(401 | 403) => Self::Denied,
            Some(404 | 409 | 410) => Self::Gone,
            Some(400..=499) => Self::Refused,
            // Whatever else answers there may be in front of a server that comes back.
            _ => match error {
                ClientError::BadName { .. } | ClientError::BadToken | ClientError::BadUrl(_) => {
                    Self::Refused
                }
                _ => Self::Again(None),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seaway_api::Problem;

    fn problem(status: u16) -> ClientError {
        ClientError::Problem(Box::new(Problem {
            about: String::new(),
            title: String::new(),
            status,
            code: String::new(),
            detail: String::new(),
            invalid: Vec::new(),
            request: None,
        }))
    }

    #[test]
    fn only_what_may_go_well_later_is_tried_again() {
        for (status, reaction) in [
            (500, Reaction::Again(None)),
            (401, Reaction::Denied),
            (403, Reaction::Denied),
            (404, Reaction::Gone),
            (409, Reaction::Gone),
            (413, Reaction::Refused),
            (422, Reaction::Refused),
        ] {
            assert_eq!(Reaction::to(&problem(status)), reaction, "{status}");
        }
        let late = Duration::from_secs(30);
        let late = ClientError::TimedOut { url: String::new(), limit: late };
        assert_eq!(Reaction::to(&late), Reaction::Again(None));
    }
}
