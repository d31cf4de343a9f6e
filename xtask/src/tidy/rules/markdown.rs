use crate::tidy::rules::table::Found;
use crate::tidy::source::Source;

pub(crate) fn one_title(source: &Source<'_>) -> Found {
    if !source.path.ends_with(".md") {
        return Vec::new();
    }
    let mut fenced = false;
    let mut titles = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if !fenced && line.starts_with("# ") {
            titles.push(index + 1);
        }
    }
    match titles[..] {
        [_] => Vec::new(),
        [] => vec![(1, "the page has no title; begin it with `# Title`".to_owned())],
        [_, ref more @ ..] => {
            let advice = "the page has a title already; use `##` or another page";
            more.iter().map(|&line| (line, advice.to_owned())).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::rules::table::check;

    #[test]
    fn a_page_has_exactly_one_title() {
        check(one_title, "docs/a.md", "# A\n\n## B\n\n```\n# not a title\n```\n", &[]);
        check(one_title, "docs/a.md", "text\n", &[1]);
        check(one_title, "docs/a.md", "# A\n\n# B\n", &[3]);
        check(one_title, "deny.toml", "# a\n# b\n", &[]);
    }
}
