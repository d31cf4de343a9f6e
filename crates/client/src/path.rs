use reqwest::Url;

use crate::error::ClientError;

/// Where a route is, piece by piece: a name is one piece, whatever is in it.
#[derive(Debug)]
pub(crate) struct Path {
    url: Url,
}

impl Path {
    /// The routes of this version of the interface.
    pub(crate) fn v1(server: &Url) -> Self {
        let mut url = server.clone();
        push(&mut url, "v1");
        Self { url }
    }

    /// A piece of the route itself.
    pub(crate) fn then(mut self, word: &'static str) -> Self {
        push(&mut self.url, word);
        self
    }

    /// A piece that a caller named.
    pub(crate) fn named(mut self, what: &'static str, name: &str) -> Result<Self, ClientError> {
        if !is_piece(name) {
            return Err(ClientError::BadName { what, name: name.to_owned() });
        }
        push(&mut self.url, name);
        Ok(self)
    }

    /// Pieces that a caller named, such as the directories of a file.
    pub(crate) fn below(mut self, what: &'static str, path: &str) -> Result<Self, ClientError> {
        if !path.split('/').all(is_piece) {
            return Err(ClientError::BadName { what, name: path.to_owned() });
        }
        path.split('/').for_each(|piece| push(&mut self.url, piece));
        Ok(self)
    }

    pub(crate) fn into_url(self) -> Url {
        self.url
    }
}

/// Whoever resolves an address takes dots for directories, and nothing for nothing.
fn is_piece(name: &str) -> bool {
    !matches!(name, "" | "." | "..")
}

fn push(url: &mut Url, piece: &str) {
    let mut pieces = url.path_segments_mut().expect("an address with a host has a path");
    pieces.pop_if_empty().push(piece);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v1(server: &str) -> Path {
        Path::v1(&server.parse().expect("it is an address"))
    }

    #[track_caller]
    fn check(path: Result<Path, ClientError>, expected: &str) {
        assert_eq!(path.expect("it is a path").into_url().as_str(), expected);
    }

    #[test]
    fn a_name_is_one_piece() {
        check(
            v1("http://a").then("executors").named("executor", "seaway/test"),
            "http://a/v1/executors/seaway%2Ftest",
        );
        check(v1("http://a/b/").then("c").named("x", "d?e#f%"), "http://a/b/v1/c/d%3Fe%23f%25");
        check(v1("http://a/b").below("file", "c/d e.yaml"), "http://a/b/v1/c/d%20e.yaml");
    }

    #[test]
    fn no_name_leads_elsewhere() {
        for bad in ["", ".", ".."] {
            assert!(v1("http://a").named("project", bad).is_err(), "{bad}");
        }
        for bad in ["", "/a", "a/", "a//b", "a/../b"] {
            assert!(v1("http://a").below("file", bad).is_err(), "{bad}");
        }
    }
}
