use std::borrow::Cow;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span, Tag};

use crate::code::Code;
use crate::limits;
use crate::report::{Draft, Place, Report};
use crate::yaml::builder::{Builder, Stop};
use crate::yaml::node::Node;
use crate::yaml::scalar::{Notation, Scalar};

/// What a text is meant to be, for advice.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// As in "put each … into a file of its own".
    pub what: &'static str,
    /// How one usually begins.
    pub begin: &'static str,
}

impl Subject {
    pub(crate) const SHIPYARD: Self = Self { what: "shipyard", begin: "apiVersion: seaway.dev/v1" };
}

/// The first document of a text. `None` after something that keeps it from being understood at all.
pub fn read(text: &str, subject: Subject, report: &mut Report<'_>) -> Option<Node> {
    let mut documents = each(text, report, Several::One(subject))?.into_iter();
    let root = documents.next();
    if root.is_none() {
        report.push(empty(subject));
    }
    root
}

/// All documents of a text that hold something, for files that may have several.
pub fn read_all(text: &str, subject: Subject, report: &mut Report<'_>) -> Option<Vec<Node>> {
    let documents = each(text, report, Several::All)?;
    if documents.is_empty() {
        report.push(empty(subject));
    }
    Some(documents)
}

/// How many documents a text may have.
#[derive(Clone, Copy, Debug)]
enum Several {
    One(Subject),
    All,
}

fn each(text: &str, report: &mut Report<'_>, several: Several) -> Option<Vec<Node>> {
    if text.len() > limits::TEXT_BYTES {
        let most = limits::TEXT_BYTES >> 20;
        let message = format!("the file is larger than {most} MiB");
        report.push(Draft::error(Code::TooLarge, Place::default(), message));
        return None;
    }
    let mut builder = Builder::default();
    let options = granit_parser::options! { emit_comments: false };
    let mut found = Vec::new();
    let mut begun = 0;
    for next in Parser::new_from_str_with_options(text, options) {
        let (event, span) = match next {
            Ok(next) => next,
            Err(error) => {
                report.push(invalid(&error, text));
                return None;
            }
        };
        match (&event, several) {
            (Event::DocumentStart(..), Several::One(subject)) if begun > 0 => {
                let message = "there is a second document; only the first one is looked at";
                let draft = Draft::error(Code::SeveralDocuments, place(&span), message);
                let hint = format!("put each {} into a file of its own", subject.what);
                report.push(draft.hint(hint));
                break;
            }
            (Event::DocumentStart(..), _) => begun += 1,
            (Event::DocumentEnd, _) => {
                found.extend(builder.finish().filter(|root| !root.is_null()));
            }
            _ => {}
        }
        take(&mut builder, report, event, &span).ok()?;
    }
    Some(found)
}

fn empty(subject: Subject) -> Draft {
    let draft = Draft::error(Code::Empty, Place::default(), "the file is empty");
    draft.hint(format!("begin with `{}`", subject.begin))
}

fn take(
    builder: &mut Builder,
    report: &mut Report<'_>,
    event: Event<'_>,
    span: &Span,
) -> Result<(), Stop> {
    let place = place(span);
    match event {
        Event::Scalar(text, style, anchor, tag) => {
            let marked = tag.as_deref().and_then(Tag::core_suffix).map(|it| it == "str");
            check_tag(report, tag, span);
            let text_by_style = style != ScalarStyle::Plain;
            let notation =
                if marked.unwrap_or(text_by_style) { Notation::Text } else { Notation::Plain };
            builder.scalar(report, Scalar { text: text.into_owned(), notation }, (anchor, place))
        }
        Event::SequenceStart(_, anchor, tag) => {
            check_tag(report, tag, span);
            builder.open_list(report, (anchor, place))
        }
        Event::MappingStart(_, anchor, tag) => {
            check_tag(report, tag, span);
            builder.open_map(report, (anchor, place))
        }
        Event::SequenceEnd | Event::MappingEnd => builder.close(report),
        Event::Alias(anchor) => builder.alias(report, anchor, place),
        _ => Ok(()),
    }
}

fn check_tag(report: &mut Report<'_>, tag: Option<Cow<'_, Tag>>, span: &Span) {
    let Some(tag) = tag.filter(|tag| tag.core_suffix().is_none()) else { return };
    let place = span.tag_span().map_or_else(|| place(span), |span| place(&span));
    let (handle, suffix) = tag.original_parts();
    let draft = Draft::error(Code::Tag, place, format!("the tag `{handle}{suffix}` is unknown"));
    report.push(draft.hint("remove it; only the tags of plain YAML such as `!!str` are read"));
}

fn place(span: &Span) -> Place {
    let offset = span.start.byte_offset().unwrap_or_default();
    let end = span.end.byte_offset().unwrap_or(offset);
    Place { offset, len: end.saturating_sub(offset) }
}

fn invalid(error: &ScanError, text: &str) -> Draft {
    let offset = error.marker().byte_offset().unwrap_or_default();
    let place = Place { offset, len: 1 };
    let wrong = |place, what: &str, hint: &str| {
        let message = format!("this is not valid YAML: {what}");
        Draft::error(Code::Syntax, place, message).hint(hint)
    };
    match error.kind() {
        ErrorKind::RecursionLimitExceeded => too_deep(place),
        ErrorKind::UnknownAnchor => {
            let hint = "mark the value that is meant with `&` and the name, before this";
            wrong(place, &error.info(), hint)
        }
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar => {
            let place = Place { offset: tab(text, offset), len: 1 };
            wrong(place, "there is a tab", "write spaces; YAML takes no tabs here")
        }
        _ => {
            let hint = "look at the indentation, colons and quotes here and on the line before";
            wrong(place, &error.info(), hint)
        }
    }
}

/// The tab that the parser means. It names what stands behind the tab, or the beginning of what the
/// tab is in, which may be lines before it.
fn tab(text: &str, offset: usize) -> usize {
    let Some(before) = text.get(..offset) else { return offset };
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let mut at = start;
    for line in text[start..].split_inclusive('\n') {
        let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
        if let Some(tab) = line[..blank].find('\t') {
            return at + tab;
        }
        at += line.len();
    }
    text[offset..].find('\t').map_or(offset, |tab| offset + tab)
}

pub(super) fn too_deep(place: Place) -> Draft {
    let message = format!("the document is nested more than {} deep", limits::DEPTH);
    Draft::error(Code::TooLarge, place, message)
}
