use http::StatusCode;
use seaway_kernel::Refusal;

/// The stable code of a refusal, and its status: what is not there is 404, what came too late or at
/// the wrong moment is 409, what can never be carried out as it is 422.
pub(crate) fn code(refusal: &Refusal) -> (StatusCode, &'static str) {
    const GONE: StatusCode = StatusCode::NOT_FOUND;
    const LATE: StatusCode = StatusCode::CONFLICT;
    const NEVER: StatusCode = StatusCode::UNPROCESSABLE_ENTITY;
    const FULL: StatusCode = StatusCode::TOO_MANY_REQUESTS;
    match refusal {
        Refusal::UnknownDeployment(_) => (GONE, "unknown-deployment"),
        Refusal::UnknownStep(_) => (GONE, "unknown-step"),
        Refusal::UnknownExecutor(_) => (GONE, "unknown-executor"),
        Refusal::NotLoaded(_) => (LATE, "not-loaded"),
        Refusal::DeploymentExists(_) => (LATE, "deployment-exists"),
        Refusal::Ended(_) => (LATE, "ended"),
        Refusal::Superseded(_) => (LATE, "superseded"),
        Refusal::Aborting(_) => (LATE, "aborting"),
        Refusal::Aborted(_) => (LATE, "aborted"),
        Refusal::Archived(_) => (LATE, "archived"),
        Refusal::AlreadyPaused(_) => (LATE, "already-paused"),
        Refusal::NotPaused(_) => (LATE, "not-paused"),
        Refusal::NotOffered => (LATE, "not-offered"),
        Refusal::HeldBy(_) => (LATE, "held"),
        Refusal::StaleFence { .. } => (LATE, "stale-fence"),
        Refusal::NotFailed => (LATE, "not-failed"),
        Refusal::AlreadyComplete => (LATE, "already-complete"),
        Refusal::NotReached => (LATE, "not-reached"),
        Refusal::LaterInFlight => (LATE, "later-in-flight"),
        Refusal::NoApproval => (LATE, "no-approval"),
        Refusal::NotSubscribed(_) => (LATE, "not-subscribed"),
        Refusal::OtherRevision { .. } => (LATE, "other-revision"),
        Refusal::TooManyInProgress => (FULL, "too-many-deployments"),
        Refusal::TooManyExecutors => (FULL, "too-many-executors"),
        Refusal::TooManyRuns => (NEVER, "too-many-runs"),
        Refusal::TooManyDocuments => (NEVER, "too-many-documents"),
        Refusal::IsMarker(_) => (NEVER, "not-a-task"),
        Refusal::BadReason => (NEVER, "bad-reason"),
        Refusal::BadVersion => (NEVER, "bad-version"),
        Refusal::BadActor(_) => (NEVER, "bad-actor"),
        Refusal::BadTtl => (NEVER, "bad-ttl"),
        Refusal::AnswerTooLong => (NEVER, "answer-too-long"),
        Refusal::NoStructure => (NEVER, "no-shipyard"),
        Refusal::UnknownSequence { .. } => (NEVER, "unknown-sequence"),
        Refusal::UnknownService { .. } => (NEVER, "unknown-service"),
        Refusal::NothingTriggered(_) => (NEVER, "nothing-triggered"),
        Refusal::EndOfSequence(_) => (NEVER, "end-of-sequence"),
        Refusal::InNoStage { .. } => (NEVER, "no-stage"),
        Refusal::NotInStage { .. } => (NEVER, "not-in-stage"),
        Refusal::NotSelected(_) => (NEVER, "not-selected"),
        Refusal::NotAnObject => (NEVER, "not-an-object"),
        Refusal::TooMuchData => (NEVER, "too-much-data"),
        Refusal::BadEvent(_) => (NEVER, "bad-event"),
        Refusal::BadExecutor(_) => (NEVER, "bad-executor"),
        Refusal::ReservedExecutor(_) => (NEVER, "reserved-executor"),
        Refusal::BadSubscriptions => (NEVER, "bad-subscriptions"),
        Refusal::BadDocument(_) => (NEVER, "bad-document"),
        Refusal::DocumentTwice(_) => (NEVER, "document-twice"),
        Refusal::Structure(_) => (NEVER, "bad-structure"),
    }
}
