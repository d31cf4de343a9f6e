use seaway_shipyard::{Code, parse};

const PAGE: &str = include_str!("../../../../docs/shipyard.md");

#[test]
fn the_reference_names_every_code() {
    for code in Code::ALL {
        assert!(PAGE.contains(&format!("`{code}`")), "{code} is not explained");
    }
}

fn example() -> &'static str {
    let (_, rest) = PAGE.split_once("```yaml\n").expect("there is an example");
    rest.split_once("```").expect("it ends").0
}

#[test]
fn the_example_of_the_reference_is_right() {
    let checked = parse(example(), "example.yaml").expect("it is right");
    assert_eq!(checked.warnings, []);
}

#[test]
fn the_mistake_of_the_reference_is_shown_as_it_is() {
    let wrong = example().replacen("triggeredOn", "triggerdOn", 1);
    let said = parse(&wrong, "shop.yaml").expect_err("it is wrong").plain().to_string();
    let (_, page) = PAGE.split_once("$ seaway lint shop.yaml\n").expect("it is linted");
    assert!(page.starts_with(&said), "{said}");
}
