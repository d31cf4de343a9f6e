/// The parts of a target's path: `shop/beta/delivery#1/test@jmeter`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Path<'a> {
    pub(crate) stage: Option<&'a str>,
    /// With the number of the run.
    pub(crate) run: Option<&'a str>,
    pub(crate) task: Option<&'a str>,
    /// Whether it lies below the task: a group or a member.
    pub(crate) deeper: bool,
    /// Whose share of the task it is.
    pub(crate) executor: Option<&'a str>,
}

impl<'a> Path<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        // The name of an executor is last and may have slashes itself.
        let (path, executor) = match text.split_once('@') {
            Some((path, executor)) => (path, Some(executor)),
            None => (text, None),
        };
        let mut parts = path.split('/').skip(1);
        let (stage, run, task) = (parts.next(), parts.next(), parts.next());
        Self { stage, run, task, deeper: parts.next().is_some(), executor }
    }

    /// The name of the sequence, and the number of its run.
    pub(crate) fn sequence(&self) -> Option<(&'a str, u32)> {
        let run = self.run?;
        let (sequence, number) = run.split_once('#').unwrap_or((run, "1"));
        Some((sequence, number.parse().unwrap_or(1)))
    }

    /// The name of the task, which may be there several times.
    pub(crate) fn task_name(&self) -> Option<&'a str> {
        self.task.map(|task| task.split_once(':').map_or(task, |(name, _)| name))
    }
}

/// A path may be given without the project that it begins with.
pub(crate) fn within(project: &str, path: &str) -> String {
    let path = path.trim_end_matches('/');
    match path.split('/').next() {
        Some(first) if first == project => path.to_owned(),
        _ => format!("{project}/{path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_taken_apart() {
        let path = Path::of("shop/beta/delivery#12/test:2@team/jmeter");
        assert_eq!((path.stage, path.run), (Some("beta"), Some("delivery#12")));
        assert_eq!((path.sequence(), path.task_name()), (Some(("delivery", 12)), Some("test")));
        assert_eq!((path.executor, path.deeper), (Some("team/jmeter"), false));
        assert!(Path::of("shop/beta/delivery#1/deploy/eu/host-7").deeper);
        assert_eq!(Path::of("shop"), Path::default());
    }

    #[test]
    fn the_project_may_be_left_out() {
        for path in ["shop/beta/delivery#1", "beta/delivery#1", "beta/delivery#1/"] {
            assert_eq!(within("shop", path), "shop/beta/delivery#1");
        }
        assert_eq!(within("shop", "shop"), "shop");
    }
}
