use clap::ValueEnum;

/// One part of the test run, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Everything is formatted
    Fmt,
    /// No warnings
    Clippy,
    /// The house style
    Tidy,
    /// Which crate depends on which
    Layers,
    /// Installs PostgreSQL where it is missing and starts a server for the tests
    Postgres,
    /// Sets up a Python with the clients that the tests use
    Python,
    /// The tests of all crates, fuzz targets included
    Tests,
    /// The simulator on fresh worlds
    Sim,
    /// The simulator finds the bugs that were planted for it
    Planted,
    /// Licences and sources of dependencies
    Deny,
    /// Known vulnerabilities of dependencies
    Advisories,
}

impl Part {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fmt => "fmt",
            Self::Clippy => "clippy",
            Self::Tidy => "tidy",
            Self::Layers => "layers",
            Self::Postgres => "postgres",
            Self::Python => "python",
            Self::Tests => "tests",
            Self::Sim => "sim",
            Self::Planted => "planted",
            Self::Deny => "deny",
            Self::Advisories => "advisories",
        }
    }

    /// The parts to run when these were asked for; none means all. Tests need their server.
    pub(crate) fn selected(only: &[Self]) -> Vec<Self> {
        let wanted = |part: Self| {
            only.is_empty()
                || only.contains(&part)
                || (matches!(part, Self::Postgres | Self::Python) && only.contains(&Self::Tests))
        };
        Self::value_variants().iter().copied().filter(|&part| wanted(part)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_bring_their_server() {
        assert_eq!(Part::selected(&[]).len(), Part::value_variants().len());
        assert_eq!(
            Part::selected(&[Part::Tests, Part::Fmt]),
            [Part::Fmt, Part::Postgres, Part::Python, Part::Tests]
        );
    }
}
