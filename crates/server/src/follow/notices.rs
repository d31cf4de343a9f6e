use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use seaway_model::Name;
use tokio::sync::Notify;

/// The projects whose documents may have changed since somebody looked.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    projects: Mutex<BTreeSet<Name>>,
    bell: Notify,
}

impl Notices {
    pub(crate) fn leave(&self, project: Name) {
        self.projects.lock().unwrap_or_else(PoisonError::into_inner).insert(project);
        self.bell.notify_one();
    }

    /// Waits until there are some, and takes them. Dropping the future loses none.
    pub(super) async fn take(&self) -> BTreeSet<Name> {
        loop {
            let taken = {
                let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
                std::mem::take(&mut *projects)
            };
            if !taken.is_empty() {
                return taken;
            }
            self.bell.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_project_is_told_once_for_all_its_notices() {
        let notices = Notices::default();
        let name = |text| Name::new(text).unwrap();
        for project in ["shop", "bank", "shop"] {
            notices.leave(name(project));
        }
        assert_eq!(notices.take().await, BTreeSet::from([name("bank"), name("shop")]));
        let later = async { notices.leave(name("bank")) };
        let (taken, ()) = tokio::join!(notices.take(), later);
        assert_eq!(taken, BTreeSet::from([name("bank")]));
    }
}
