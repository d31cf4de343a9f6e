use crate::tidy::lexer::Form;
use crate::tidy::rules::table::Found;
use crate::tidy::source::Source;

const VAGUE_ENDINGS: [&str; 7] = ["Manager", "Helper", "Helpers", "Util", "Utils", "Info", "Data"];
const VAGUE_FILES: [&str; 4] = ["util.rs", "utils.rs", "helper.rs", "helpers.rs"];

pub(crate) fn types(source: &Source<'_>) -> Found {
    let mut found = Vec::new();
    for pair in source.code.windows(2) {
        let [keyword, name] = pair else { continue };
        let declares = matches!(keyword.text, "struct" | "enum" | "trait" | "type" | "union");
        if !declares || keyword.form != Form::Word || name.form != Form::Word {
            continue;
        }
        if let Some(ending) = VAGUE_ENDINGS.iter().find(|it| name.text.ends_with(**it)) {
            let advice = format!("`{}` ends in {ending}; say what it is instead", name.text);
            found.push((name.line, advice));
        }
    }
    found
}

pub(crate) fn files(source: &Source<'_>) -> Found {
    let name = source.file_name();
    let vague = VAGUE_FILES.contains(&name);
    let advice = format!("`{name}` says nothing; name the file after what is in it");
    vague.then_some((1, advice)).into_iter().collect()
}

/// `lib.rs` and `mod.rs` are a table of contents.
pub(crate) fn logic_in_mod(source: &Source<'_>) -> Found {
    if !matches!(source.file_name(), "lib.rs" | "mod.rs") || source.in_test(1) {
        return Vec::new();
    }
    let logic = source.code.windows(2).filter(|pair| {
        let words = pair.iter().all(|it| it.form == Form::Word);
        let function = words && pair[0].text == "fn";
        function || (pair[0].form == Form::Word && pair[0].text == "impl")
    });
    logic
        .filter(|pair| !source.in_test(pair[0].line))
        .map(|pair| (pair[0].line, "move this into a file named after it".to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::rules::table::check;

    #[test]
    fn vague_types_are_found() {
        for name in ["LeaseManager", "StepHelper", "RowUtils", "HostInfo", "TaskData"] {
            for keyword in ["struct", "pub enum", "trait", "type"] {
                check(types, "crates/store/src/a.rs", &format!("{keyword} {name};"), &[1]);
            }
        }
        check(types, "crates/store/src/a.rs", "struct Informed; fn data() {}", &[]);
    }

    #[test]
    fn vague_files_are_found() {
        check(files, "crates/store/src/util.rs", "", &[1]);
        check(files, "crates/store/tests/helpers.rs", "", &[1]);
        check(files, "crates/store/src/lease.rs", "", &[]);
    }

    #[test]
    fn logic_in_a_table_of_contents_is_found() {
        check(logic_in_mod, "crates/store/src/lib.rs", "mod a;\n\nfn b() {}", &[3]);
        check(logic_in_mod, "crates/store/src/a/mod.rs", "impl A {\n    fn b() {}\n}", &[1, 2]);
        check(logic_in_mod, "crates/store/src/lib.rs", "pub use a::b;\npub type C = fn();", &[]);
        check(logic_in_mod, "crates/store/src/lib.rs", "#[cfg(test)]\nmod t { fn b() {} }", &[]);
        check(logic_in_mod, "crates/store/src/a.rs", "fn b() {}", &[]);
    }
}
