use crate::harbor::shop;
use crate::program::{command, golden, log, run, unread};

#[tokio::test]
async fn a_list_is_a_table_for_people() {
    let dir = shop().await;
    golden("list", dir.path(), &log(dir.path(), &["list"]).ok());
    golden(
        "list-wide",
        dir.path(),
        &log(dir.path(), &["list", "-o", "wide", "--limit", "3"]).shown(),
    );
}

#[tokio::test]
async fn a_list_is_json_for_machines() {
    let dir = shop().await;
    let args = ["list", "-o", "json", "--deployment", "00000000-0000-0000-0000-000000000002"];
    golden("list-json", dir.path(), &log(dir.path(), &args).ok());
}

#[tokio::test]
async fn filters_restrict_a_list() {
    let dir = shop().await;
    let mut shown = String::new();
    for filter in [
        &["--kind", "task-done", "--fact", "failed"][..],
        &["--kind", "task-failed"],
        &["--kind", "stage-finished-successfully", "--revision", "1"],
        &["--service", "search"],
        &["--target", "shop/beta/delivery#1/deploy/eu/host-1", "--fact", "finished"],
        &["--target", "shop/prod/", "--fact", "claimed"],
        &["--target", "prod", "--fact", "claimed"],
        &["--since", "#3", "--until", "4"],
        &["--after", "9223372036854775807"],
        &["--limit", "0"],
        &["--newest-first", "--limit", "2"],
        &["--newest-first", "--limit", "1", "--after", "5"],
        &["--until", "1999-01-01T00:00:00Z"],
        &["--since", "now"],
    ] {
        let args = [&["list"], filter].concat();
        let answer = log(dir.path(), &args).shown();
        shown.push_str(&format!("$ seaway log {}\n{answer}\n\n", args.join(" ")));
    }
    golden("list-filters", dir.path(), &shown);
}

#[tokio::test]
async fn pages_add_up_to_the_whole() {
    let dir = shop().await;
    for order in [&[][..], &["--newest-first"]] {
        let list =
            |more: &[&str]| log(dir.path(), &[&["list", "-o", "json"], order, more].concat());
        let whole = list(&["--limit", "1000"]).ok();
        let (mut pages, mut cursor) = (String::new(), None::<String>);
        loop {
            let page = match &cursor {
                None => list(&["--limit", "7"]),
                Some(cursor) => list(&["--limit", "7", "--after", cursor]),
            };
            pages.push_str(&page.stdout);
            let next = page.stderr.trim().rsplit_once(' ').map(|(_, cursor)| cursor.to_owned());
            match next {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        assert_eq!(pages, whole);
    }
}

#[tokio::test]
async fn a_time_that_was_printed_finds_its_record() {
    let dir = shop().await;
    let first = log(dir.path(), &["list", "--limit", "1"]).stdout;
    let time = first.split_whitespace().find(|word| word.ends_with('Z')).expect("it has a time");
    let until = log(dir.path(), &["list", "--until", time]).ok();
    assert!(until.contains("structure-changed"), "{until}");
    let since = log(dir.path(), &["list", "--since", time]).ok();
    assert_eq!(since, log(dir.path(), &["list"]).ok());
}

#[tokio::test]
async fn a_reader_that_has_seen_enough_ends_the_program_quietly() {
    let dir = shop().await;
    for format in ["table", "json"] {
        let mut list = command(&["log", "list", "-o", format]);
        assert_eq!(unread(list.env("SEAWAY_DATA", dir.path())), (0, String::new()));
    }
}

#[test]
fn the_program_explains_itself() {
    let none = std::path::Path::new("");
    golden("help", none, &run(&["--help"]).ok());
    golden("help-log-list", none, &run(&["log", "list", "--help"]).ok());
    assert_eq!(run(&["--version"]).ok(), format!("seaway {}\n", env!("CARGO_PKG_VERSION")));
}
