//! Whatever is in a file, reading it ends with a pipeline or with problems that can be shown.

use std::time::Duration;

use proptest::prelude::*;
use seaway_shipyard::{Problems, migrate, parse};

const TIME: Duration = Duration::from_secs(2);

/// Parts of shipyards, right and wrong, from which texts are put together.
const PARTS: [&str; 40] = [
    "apiVersion: seaway.dev/v1\n",
    "apiVersion: spec.keptn.sh/0.2.4\n",
    "kind: Shipyard\n",
    "metadata: {name: x}\n",
    "spec:\n",
    "  stages:\n",
    "stages:\n",
    "  - name: beta\n",
    "  - name: prod\n",
    "    batch: {policy: supersede}\n",
    "    sequences:\n",
    "    - name: delivery\n",
    "      triggeredOn:\n",
    "      - event: beta.delivery.finished\n",
    "      - all: [beta.delivery.finished, a.b]\n",
    "        selector: {match: {result: fail}}\n",
    "        selector: {match: {test.result: [pass, failed], a.b: c}}\n",
    "      tasks:\n",
    "      - name: test\n",
    "        properties: {a: [1, 2.5, ~, {b: c}]}\n",
    "        triggeredAfter: 1h30m\n",
    "        retries: {limit: 2}\n",
    "        id: smoke\n",
    "      batch: {from: test, to: smoke}\n",
    "  deployment_strategy: blue_green_service\n",
    "&a ",
    "*a",
    "<<: *a\n",
    "!x ",
    "\"",
    "é∀\u{1F6A2}",
    ": ",
    "- ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "[",
    "}",
    "---\n",
];

fn check(text: &str) {
    let problems = match parse(text, "x.yaml") {
        Ok(checked) => Problems::new(text, "x.yaml", checked.warnings),
        Err(problems) => {
            assert!(problems.errors() > 0, "a refusal has a reason");
            problems
        }
    };
    sound(text, &problems);
    match migrate(text, "x.yaml") {
        Ok(migrated) => {
            let again = parse(&migrated.text, "y.yaml").expect("what was migrated is right");
            assert_eq!(again.warnings, [], "{}", migrated.text);
        }
        Err(problems) => sound(text, &problems),
    }
}

fn sound(text: &str, problems: &Problems) {
    let all = problems.all();
    assert!(all.is_sorted_by_key(|it| it.at.offset), "problems are in the order of the text");
    let also = all.iter().filter_map(|it| it.also.as_ref()).map(|it| it.at);
    for at in all.iter().map(|it| it.at).chain(also) {
        let marked = text.get(at.offset..at.offset + at.len).expect("a place is in the text");
        assert!(!marked.contains('\n'), "a place is on one line");
        let before = &text[..at.offset];
        assert_eq!(at.line, before.matches('\n').count() + 1);
        let line = before.rsplit('\n').next().expect("there is a last line");
        assert_eq!(at.column, line.chars().count() + 1);
    }
    let shown = problems.plain().to_string();
    assert_eq!(shown.is_empty(), all.is_empty());
}

proptest! {
    #[test]
    fn parts_of_shipyards_are_read_or_refused(
        parts in prop::collection::vec(0..PARTS.len(), 0..40),
    ) {
        let text: String = parts.into_iter().map(|index| PARTS[index]).collect();
        check(&text);
    }

    #[test]
    fn a_shipyard_with_a_mistake_is_read_or_refused(
        at in 0..2_000_usize,
        len in 0..20_usize,
        with in ".{0,4}",
    ) {
        let mut text = include_str!("../files/seaway.yaml").to_owned();
        let start = text.floor_char_boundary(at.min(text.len()));
        let end = text.ceil_char_boundary((start + len).min(text.len()));
        text.replace_range(start..end, &with);
        check(&text);
    }
}

#[test]
fn any_text_is_read_or_refused() {
    bolero::check!(name = "text").with_test_time(TIME).for_each(|bytes: &[u8]| {
        if let Ok(text) = std::str::from_utf8(bytes) {
            check(text);
        }
    });
}
