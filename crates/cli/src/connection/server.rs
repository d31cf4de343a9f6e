use std::fs;

use anyhow::{Context as _, Result, bail};
use seaway_api::Project;
use seaway_client::{Client, Options, Paging};
use seaway_model::Name;
use uuid::Uuid;

use crate::connection::args::ServerArgs;
use crate::connection::settings::{Settings, decide};
use crate::connection::surroundings::Surroundings;
use crate::failure::WrongUsage;

/// How many projects an error message names.
const NAMED: usize = 20;

/// The server that a command speaks to.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) client: Client,
    /// The project of the context.
    project: Option<String>,
}

impl ServerArgs {
    /// Decides which server is meant. Nothing is sent yet.
    pub(crate) fn server(&self, outer: &Self) -> Result<Server> {
        let Settings { url, token, ca_file, project } =
            decide(&self.or(outer), &Surroundings::look()?)?;
        let mut options = Options { source: "seaway-cli".to_owned(), ..Options::default() };
        if let Some(file) = ca_file {
            let shown = file.display();
            let pem = fs::read(&file).with_context(|| format!("{shown} cannot be read"))?;
            options.certificates = Some(pem);
        }
        let token = token.as_ref().map(|token| token.told());
        Ok(Server { client: Client::new(&url, token, options)?, project })
    }
}

impl Server {
    /// The project that was named, or that of the context, or the only one there is.
    pub(crate) async fn project(&self, named: Option<&Name>) -> Result<String> {
        match (named, &self.project) {
            (Some(named), _) => Ok(named.to_string()),
            (None, Some(usual)) => Ok(usual.clone()),
            (None, None) => self.only_project().await,
        }
    }

    /// The project of the context, if it names one.
    pub(crate) fn usual_project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    /// The project that a deployment belongs to.
    pub(crate) async fn project_of(&self, deployment: Uuid) -> Result<String> {
        Ok(self.client.locate(deployment).await?.project)
    }

    async fn only_project(&self) -> Result<String> {
        let few = Paging { cursor: None, limit: Some(NAMED + 1) };
        let page = self.client.projects(&few).await?;
        match &page.items[..] {
            [] => bail!("there is no project yet; make one with `seaway apply -f`"),
            [one] if page.next.is_none() => Ok(one.name.clone()),
            some => {
                let known = list(some);
                Err(WrongUsage(format!("there are several projects; name one of {known}")).into())
            }
        }
    }
}

fn list(projects: &[Project]) -> String {
    let shown: Vec<&str> = projects.iter().take(NAMED).map(|it| &*it.name).collect();
    let others = if projects.len() > NAMED { " and others" } else { "" };
    format!("{}{others}", shown.join(", "))
}
