use std::sync::Arc;

use http::StatusCode;
use seaway_api::Scope;
use seaway_kernel::Actor;
use seaway_model::Name;

use super::scopes::{self, Scopes};
use crate::problem::Failure;

/// Whoever sent a request, as their token says.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) token: Arc<str>,
    /// What the log names.
    pub(crate) name: Arc<str>,
    pub(crate) scopes: Scopes,
    pub(crate) project: Option<Name>,
}

impl Caller {
    pub(crate) fn actor(&self) -> Actor {
        Actor::Named(self.name.clone())
    }

    /// The one decision behind every door. What a token may not see is not there for it.
    pub(crate) fn authorise(&self, scope: Scope, project: Option<&str>) -> Result<(), Failure> {
        if let (Some(only), Some(project)) = (&self.project, project)
            && only.as_str() != project
        {
            return Err(Failure::unknown_project(project));
        }
        if !self.scopes.allows(scope) {
            return Err(self.lacks(scopes::name(scope)));
        }
        if let (Some(only), None, Scope::Admin) = (&self.project, project, scope) {
            return Err(Failure::new(
                StatusCode::FORBIDDEN,
                "denied",
                format!("this needs a token for all projects; this one is for {only}"),
            ));
        }
        Ok(())
    }

    fn lacks(&self, scope: &str) -> Failure {
        let detail = format!(
            "the token {:?} lacks the scope {scope}; use another, or make one with `seaway token \
             create`",
            self.name
        );
        Failure::new(StatusCode::FORBIDDEN, "denied", detail)
    }
}
