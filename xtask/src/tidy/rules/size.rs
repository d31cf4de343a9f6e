use crate::tidy::lexer::Form;
use crate::tidy::rules::table::Found;
use crate::tidy::source::{Source, item_end};

const FILE_LINES: usize = 800;
const FUNCTION_LINES: usize = 70;
const COLUMNS: usize = 100;

pub(crate) fn file_length(source: &Source<'_>) -> Found {
    let lines = source.text.lines().count();
    if lines <= FILE_LINES {
        return Vec::new();
    }
    vec![(lines, format!("the file has {lines} lines; split it, {FILE_LINES} are the most"))]
}

pub(crate) fn function_length(source: &Source<'_>) -> Found {
    let mut found = Vec::new();
    for (index, pair) in source.code.windows(2).enumerate() {
        let [keyword, name] = pair else { continue };
        if keyword.form != Form::Word || keyword.text != "fn" || name.form != Form::Word {
            continue;
        }
        let last = source.code[item_end(&source.code, index) - 1].line;
        let lines = last + 1 - keyword.line;
        if lines > FUNCTION_LINES {
            let advice = format!(
                "`{}` has {lines} lines; split it, {FUNCTION_LINES} are the most",
                name.text
            );
            found.push((keyword.line, advice));
        }
    }
    found
}

pub(crate) fn line_width(source: &Source<'_>) -> Found {
    let lines = source.text.lines().enumerate().filter(|_| source.is_rust());
    lines
        .map(|(index, line)| (index + 1, line.chars().count()))
        .filter(|(_, columns)| *columns > COLUMNS)
        .map(|(line, columns)| {
            (line, format!("the line has {columns} columns; break it, {COLUMNS} are the most"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::rules::table::check;

    #[test]
    fn a_long_file_is_found() {
        check(file_length, "docs/a.md", &"x\n".repeat(800), &[]);
        check(file_length, "docs/a.md", &"x\n".repeat(801), &[801]);
    }

    #[test]
    fn a_long_function_is_found() {
        let function = |inside: usize| {
            let body = "    x('{', \"}\");\n".repeat(inside);
            format!("struct A;\n\nfn a(b: [u8; 2]) {{\n{body}}}\n\nfn c();\n")
        };
        check(function_length, "crates/store/src/a.rs", &function(68), &[]);
        check(function_length, "crates/store/tests/a.rs", &function(69), &[3]);
    }

    #[test]
    fn a_wide_line_is_found_in_rust_only() {
        let text = format!("{}\n{}\n", "é".repeat(100), "é".repeat(101));
        check(line_width, "crates/store/src/a.rs", &text, &[2]);
        check(line_width, "docs/a.md", &text, &[]);
    }
}
