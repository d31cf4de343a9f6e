use seaway_shipyard::{Code, parse};

const PAGE: &str = include_str!("../../../../docs/shipyard.md");

#[test]
fn the_reference_names_every_code() {
    for code in Code::ALL {
        assert!(PAGE.contains(&format!("`{code}`")), "{code} is not explained");
    }
}

#[test]
fn the_example_of_the_reference_is_right() {
    let (_, rest) = PAGE.split_once("```yaml\n").expect("there is an example");
    let (example, _) = rest.split_once("```").expect("it ends");
    let checked = parse(example, "example.yaml").expect("it is right");
    assert_eq!(checked.warnings, []);
}
