use std::path::PathBuf;

use clap::Args;
use seaway_model::Name;

use crate::connection::secret::Secret;
use crate::log::project_name;

/// Under which heading the help lists how to reach a server.
const SERVER: &str = "Server";

/// How to reach the server. All of it can be left out on the machine where it runs.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ServerArgs {
    /// Where the server is [env: SEAWAY_URL] [default: http://127.0.0.1:8080]
    #[arg(long, help_heading = SERVER, value_name = "URL")]
    pub(super) url: Option<String>,

    /// The token to show [env: SEAWAY_TOKEN]
    #[arg(long, help_heading = SERVER, value_name = "TOKEN", conflicts_with = "token_file")]
    pub(super) token: Option<Secret>,

    /// A file that holds the token
    #[arg(long, help_heading = SERVER, value_name = "FILE")]
    pub(super) token_file: Option<PathBuf>,

    /// More certificates to trust, in PEM form [env: SEAWAY_CA_FILE]
    #[arg(long, help_heading = SERVER, value_name = "FILE")]
    pub(super) ca_file: Option<PathBuf>,

    /// A context of the configuration file; see `seaway context`
    #[arg(long, help_heading = SERVER, value_name = "NAME")]
    pub(super) context: Option<String>,
}

impl ServerArgs {
    /// The same options may stand before the command; those after it count.
    pub(super) fn or(&self, outer: &Self) -> Self {
        let (token, token_file) = match (&self.token, &self.token_file) {
            (None, None) => (&outer.token, &outer.token_file),
            mine => mine,
        };
        Self {
            url: self.url.as_ref().or(outer.url.as_ref()).cloned(),
            token: token.clone(),
            token_file: token_file.clone(),
            ca_file: self.ca_file.as_ref().or(outer.ca_file.as_ref()).cloned(),
            context: self.context.as_ref().or(outer.context.as_ref()).cloned(),
        }
    }

    /// Whether a server is named, here or before the command.
    pub(crate) fn names_one(&self, outer: &Self) -> bool {
        let all = self.or(outer);
        all.url.is_some() || all.context.is_some()
    }
}

/// Which project a command is about.
#[derive(Debug, Args)]
pub(crate) struct ProjectArgs {
    /// The project; may be left out where there is only one, or the context names it
    #[arg(short, long, value_name = "NAME", value_parser = project_name)]
    pub(crate) project: Option<Name>,
}
