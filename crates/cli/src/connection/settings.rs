use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::connection::args::ServerArgs;
use crate::connection::config::{Context, ContextToken};
use crate::connection::secret::Secret;
use crate::connection::surroundings::Surroundings;
use crate::failure::WrongUsage;

const DEFAULT_URL: &str = "http://127.0.0.1:8080";

/// Where a server keeps its first token, in its data directory.
const ADMIN_TOKEN: &str = "admin.token";

/// A token is far shorter than this.
const MOST_TOKEN: u64 = 4_096;

/// Everything that was left open, decided.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) url: String,
    pub(super) token: Option<Secret>,
    pub(super) ca_file: Option<PathBuf>,
    /// The project of the context.
    pub(super) project: Option<String>,
}

/// What is said on the command line counts before the environment, and that before the context
/// that is current.
pub(super) fn decide(args: &ServerArgs, around: &Surroundings) -> Result<Settings> {
    let named = match &args.context {
        Some(name) => Some(find(around, name)?),
        None => None,
    };
    let current = around.config.current.as_ref().and_then(|it| around.config.contexts.get(it));
    let mut url = args.url.as_deref().or(named.map(|it| &*it.url));
    url = url.or(around.url.as_deref()).or(current.map(|it| &*it.url));
    let url = url.unwrap_or(DEFAULT_URL).trim_end_matches('/').to_owned();
    // The token of a context is for its server, and for no other.
    let context = named.or(current).filter(|it| it.url.trim_end_matches('/') == url);
    let project = named.or(context).and_then(|it| it.project.clone());
    let ca_file = args.ca_file.clone().or_else(|| around.ca_file.clone());
    let token = match (&args.token, &args.token_file) {
        (Some(token), _) => Some(token.clone()),
        (None, Some(file)) => Some(read_token(file)?),
        (None, None) => {
            let explicit = named.and(context).and_then(|it| it.token.as_ref());
            let usual = context.and_then(|it| it.token.as_ref());
            match (explicit, &around.token, usual) {
                (Some(token), _, _) | (None, None, Some(token)) => Some(open(token)?),
                (None, Some(token), _) => Some(token.clone()),
                (None, None, None) => local(&url, &around.data)?,
            }
        }
    };
    Ok(Settings { url, token, ca_file, project })
}

fn find<'a>(around: &'a Surroundings, name: &str) -> Result<&'a Context> {
    around.config.contexts.get(name).ok_or_else(|| {
        let known: Vec<&str> = around.config.contexts.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let advice = format!(
            "there is no context {name:?}; there is {known}; make one with `seaway context set`"
        );
        WrongUsage(advice).into()
    })
}

fn open(token: &ContextToken) -> Result<Secret> {
    match token {
        ContextToken::Here(token) => Ok(token.clone()),
        ContextToken::File(file) => read_token(file),
    }
}

/// The token of a server that runs here on a data directory, if there is one.
fn local(url: &str, data: &Path) -> Result<Option<Secret>> {
    if !is_local(url) {
        return Ok(None);
    }
    let file = data.join(ADMIN_TOKEN);
    match file.metadata() {
        // It belongs to somebody else, or is not there: the server says what it needs.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => {
            Ok(None)
        }
        _ => read_token(&file).map(Some),
    }
}

fn is_local(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return false };
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|it| it.is_loopback())
}

fn read_token(file: &Path) -> Result<Secret> {
    let shown = file.display();
    let mut text = String::new();
    let read = File::open(file).and_then(|file| file.take(MOST_TOKEN).read_to_string(&mut text));
    read.with_context(|| format!("the token file {shown} cannot be read"))?;
    match text.trim() {
        "" => Err(WrongUsage(format!("the token file {shown} is empty")).into()),
        token => Ok(Secret::new(token)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::connection::config::Config;

    const CONFIG: &str = "current: home\ncontexts:\n  home: {url: http://home, token: t-home, \
                          project: garden}\n  work: {url: http://work, token: t-work, project: \
                          shop}\n  bare: {url: http://bare}\n";

    fn around(url: Option<&str>, token: Option<&str>) -> Surroundings {
        Surroundings {
            url: url.map(Into::into),
            token: token.map(Secret::new),
            data: "no such directory".into(),
            config: Config::parse(CONFIG, "config.yaml").expect("it is right"),
            ca_file: None,
        }
    }

    fn args(url: Option<&str>, token: Option<&str>, context: Option<&str>) -> ServerArgs {
        ServerArgs {
            url: url.map(Into::into),
            token: token.map(Secret::new),
            context: context.map(Into::into),
            ..ServerArgs::default()
        }
    }

    #[track_caller]
    fn check(args: ServerArgs, around: Surroundings, expected: (&str, &str, &str)) {
        let decided = decide(&args, &around).expect("it can be decided");
        let token = decided.token.as_ref().map_or("", Secret::told);
        let project = decided.project.as_deref().unwrap_or_default();
        assert_eq!((&*decided.url, token, project), expected);
    }

    #[test]
    fn arguments_count_before_the_environment_and_that_before_the_current_context() {
        check(args(None, None, None), around(None, None), ("http://home", "t-home", "garden"));
        check(
            args(None, None, None),
            around(Some("http://env"), Some("e")),
            ("http://env", "e", ""),
        );
        check(args(None, None, None), around(None, Some("e")), ("http://home", "e", "garden"));
        let work = || args(None, None, Some("work"));
        check(work(), around(Some("http://env"), Some("e")), ("http://work", "t-work", "shop"));
        check(args(None, None, Some("bare")), around(None, Some("e")), ("http://bare", "e", ""));
        let all = args(Some("http://arg/"), Some("a"), None);
        check(all, around(Some("http://env"), Some("e")), ("http://arg", "a", ""));
        assert!(decide(&args(None, None, Some("play")), &around(None, None)).is_err());
    }

    #[test]
    fn the_token_of_a_context_never_goes_to_another_server() {
        check(args(Some("http://evil"), None, None), around(None, None), ("http://evil", "", ""));
        let both = args(Some("http://evil"), None, Some("work"));
        check(both, around(None, None), ("http://evil", "", "shop"));
        check(
            args(Some("http://home"), None, None),
            around(None, None),
            ("http://home", "t-home", "garden"),
        );
    }

    #[test]
    fn the_server_on_this_machine_needs_no_token() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        fs::write(dir.path().join(ADMIN_TOKEN), "swy_first\n").expect("it is written");
        let here = || Surroundings { data: dir.path().into(), ..Surroundings::default() };
        check(ServerArgs::default(), here(), (DEFAULT_URL, "swy_first", ""));
        check(
            args(Some("http://[::1]:9"), None, None),
            here(),
            ("http://[::1]:9", "swy_first", ""),
        );
        check(args(Some("http://10.0.0.1"), None, None), here(), ("http://10.0.0.1", "", ""));
        check(args(Some("http://localhost.a"), None, None), here(), ("http://localhost.a", "", ""));
    }
}
