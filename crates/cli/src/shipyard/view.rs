use std::fmt;

use miette::{
    Diagnostic, LabeledSpan, MietteHandler, MietteHandlerOpts, ReportHandler, SourceCode,
};
use seaway_shipyard::{Problem, Problems};

/// Problems for whoever looks: drawn on a terminal, and plain elsewhere.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) problems: &'a Problems,
    pub(crate) terminal: bool,
}

impl fmt::Display for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { problems, terminal } = self;
        if !terminal {
            return problems.plain().fmt(f);
        }
        let handler = MietteHandlerOpts::new().context_lines(1).build();
        let drawn = |problem| Drawn { diagnostic: Placed { problem, problems }, handler: &handler };
        problems.all().iter().try_for_each(|problem| writeln!(f, "{:?}", drawn(problem)))
    }
}

struct Drawn<'a> {
    diagnostic: Placed<'a>,
    handler: &'a MietteHandler,
}

impl fmt::Debug for Drawn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.handler.debug(&self.diagnostic, f)
    }
}

/// A problem together with the text it is about.
#[derive(Debug)]
struct Placed<'a> {
    problem: &'a Problem,
    problems: &'a Problems,
}

impl fmt::Display for Placed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)
    }
}

impl std::error::Error for Placed<'_> {}

impl Diagnostic for Placed<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.problem.code()
    }

    fn severity(&self) -> Option<miette::Severity> {
        self.problem.severity()
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.problem.help()
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.problems.source_code()
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.problem.labels()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_problem_is_drawn_with_its_place() {
        let text = "apiVersion: seaway.dev/v1\nkind: Shipyard\nmetadata: {name: x}\nspec: {stages: \
                    [{name: beta}, {name: beta, color: red}]}\n";
        let problems = seaway_shipyard::parse(text, "shop.yaml").expect_err("it is wrong");
        let drawn = View { problems: &problems, terminal: true }.to_string();
        for part in ["already a stage `beta`", "shop.yaml:4:38", "`color` is not a key", "`beta`"] {
            assert!(drawn.contains(part), "{part:?} is missing in\n{drawn}");
        }
    }
}
