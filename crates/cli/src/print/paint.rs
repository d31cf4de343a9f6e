use std::env;
use std::fmt;

/// What a colour means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Paint {
    #[default]
    Plain,
    Good,
    Busy,
    Bad,
    Faint,
}

impl Paint {
    /// Text in this colour, if there are colours.
    pub(crate) fn on<T: fmt::Display>(self, colours: bool, text: T) -> Painted<T> {
        let paint = if colours { self } else { Self::Plain };
        Painted { paint, text }
    }

    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Good => Some("32"),
            Self::Busy => Some("33"),
            Self::Bad => Some("31"),
            Self::Faint => Some("2"),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Painted<T> {
    paint: Paint,
    text: T,
}

impl<T: fmt::Display> fmt::Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.paint.code() {
            Some(code) => write!(f, "\u{1b}[{code}m{}\u{1b}[0m", self.text),
            None => self.text.fmt(f),
        }
    }
}

/// Whether the environment of a terminal is fine with colours.
pub(crate) fn wanted() -> bool {
    let refused = env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
    !refused && env::var_os("TERM").is_none_or(|it| it != "dumb")
}
