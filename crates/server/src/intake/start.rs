use seaway_api::{Accepted, Scope};
use seaway_engine::{ProjectHandle, RequestError};
use seaway_kernel::{Command, Refusal, Reply, Report};
use seaway_model::{DeploymentId, Name};

use super::answer;
use super::event::{About, Incoming};
use super::task_id::TaskId;
use crate::app::App;
use crate::auth::Caller;
use crate::clock;
use crate::extract::digest;
use crate::problem::Failure;
use crate::repeated;

/// What an event asks for, by somebody who may.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    caller: &'a Caller,
    event: &'a Incoming<'a>,
    about: About<'a>,
    pub(crate) project: String,
    /// An executor's answer; none: something is to start.
    said: Option<(TaskId, Report)>,
}

impl<'a> Asked<'a> {
    /// Reads an event. Nothing is done for anybody before this, least of all at another server.
    pub(crate) fn read(caller: &'a Caller, event: &'a Incoming<'a>) -> Result<Self, Failure> {
        event.check()?;
        let about = About::read(event.text())?;
        let project = about.project()?.to_owned();
        let said = answer::report(event, &about);
        // What is not understood was meant as an answer.
        let scope = if matches!(said, Ok(None)) { Scope::Deliver } else { Scope::Execute };
        caller.authorise(scope, Some(&project))?;
        Ok(Self { caller, event, about, project, said: said? })
    }

    /// Takes the event in. The answer comes when it is durable.
    pub(crate) async fn take_in(self, app: &App) -> Result<Accepted, Failure> {
        let Self { caller, event, about, project, said } = self;
        let project = app.project(&project).await?;
        let accepted = match said {
            Some((id, said)) => report((app, &project), caller, event, id, said).await?,
            None => {
                let command = command(app, &project, event, &about).await?;
                let key = digest(&["event", &event.source], event.id.as_bytes());
                let reply = project.send_once(command, caller.actor(), Some(key)).await?;
                accepted(&reply)?
            }
        };
        app.metrics.events.inc();
        Ok(accepted)
    }
}

fn accepted(reply: &Reply) -> Result<Accepted, Failure> {
    match reply {
        Reply::Started { at, deployment, revision } => {
            Ok(Accepted { context: deployment.0, at: at.0, revision: Some(revision.0) })
        }
        _ => Err(other_event()),
    }
}

/// What is kept under the id is the answer to an event of another kind.
fn other_event() -> Failure {
    let detail = "this source and id were used for another event; give this one an id of its own";
    Failure::conflict("other-request", detail)
}

/// An executor's answer. Said twice under the same lease it counts once, and is accepted twice.
async fn report(
    (app, project): (&App, &ProjectHandle),
    caller: &Caller,
    event: &Incoming<'_>,
    id: TaskId,
    report: Report,
) -> Result<Accepted, Failure> {
    let (step, fence) = (id.step, id.fence);
    let answer = event.data.map(|data| data.get().into());
    let command = Command::Report { step, fence, report, answer };
    let key =
        (report == Report::Changed).then(|| digest(&["event", &event.source], event.id.as_bytes()));
    let context = step.deployment.0;
    match project.send_once(command, caller.actor(), key).await {
        Ok(Reply::Done { at }) => Ok(Accepted { context, at: at.0, revision: None }),
        Ok(_) => Err(other_event()),
        Err(RequestError::Refused(refusal)) => {
            match repeated::find((&app.store, project.project()), &id, report, &refusal).await? {
                Some(at) => Ok(Accepted { context, at: at.0, revision: None }),
                None => Err(refusal.into()),
            }
        }
        Err(error) => Err(error.into()),
    }
}

/// What an event from outside asks for: a sequence by its name, or whatever is triggered on it.
async fn command(
    app: &App,
    project: &ProjectHandle,
    event: &Incoming<'_>,
    about: &About<'_>,
) -> Result<Command, Failure> {
    let context = event.context()?;
    let known = match context {
        Some(id) if about.service.is_none() || about.version.is_none() => {
            app.store.deployment(project.project(), DeploymentId(id)).await?
        }
        _ => None,
    };
    let service = match (&about.service, &known) {
        (Some(service), _) => named(service, "data.service")?,
        (None, Some(known)) => known.service.clone(),
        (None, None) => {
            let detail = "data.service is missing; name the service that the event is about";
            return Err(Failure::refused("missing-service", detail));
        }
    };
    let version: Box<str> = match (&about.version, known) {
        (Some(version), _) => (&**version).into(),
        (None, Some(known)) => known.version,
        (None, None) => {
            let detail = format!("data.version is missing; name the version of {service}");
            return Err(Failure::refused("missing-version", detail));
        }
    };
    let deployment = DeploymentId(context.unwrap_or_else(clock::new_id));
    let data = event.data.map(|data| data.get().into());
    let stage = about.stage.as_deref().filter(|stage| !stage.is_empty());
    let stage = stage.map(|stage| named(stage, "data.stage")).transpose()?;
    let name = event.name();
    if let Some((first, sequence)) =
        name.strip_suffix(".triggered").and_then(|it| it.split_once('.'))
    {
        let (stage, sequence) = (named(first, "the stage")?, named(sequence, "the sequence")?);
        return Ok(Command::Trigger {
            deployment,
            stage,
            sequence,
            service,
            version,
            known: None,
            data,
        });
    }
    if name.ends_with(".triggered") {
        let detail = format!(
            "{name} is said by Seaway when a task is due; trigger a sequence as \
                              STAGE.SEQUENCE.triggered"
        );
        return Err(Failure::refused("task-event", detail));
    }
    let name = name.into();
    Ok(Command::Happen { deployment, name, stage, service, version, known: None, data })
}

fn named(text: &str, what: &str) -> Result<Name, Failure> {
    Name::new(text).map_err(|error| Failure::refused("bad-name", format!("{what}: {error}")))
}

/// Whether a refusal may mean that the answer is there already.
pub(crate) fn may_be_repeated(refusal: &Refusal) -> bool {
    matches!(
        refusal,
        Refusal::NotOffered
            | Refusal::StaleFence { .. }
            | Refusal::Ended(_)
            | Refusal::UnknownStep(_)
            | Refusal::UnknownDeployment(_)
    )
}
