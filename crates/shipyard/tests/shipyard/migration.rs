use seaway_shipyard::{migrate, parse};

const SEED: &str = include_str!("../files/seed-old.yaml");

const EVERYTHING: &str = r#"
apiVersion: spec.keptn.sh/0.1.7
stages:
- name: dev            # a comment
  test_strategy: no
  colour: blue
- name: hardening
  deployment_strategy: "user: managed"
  test_strategy: performance
  approval_strategy: {warning: manual}
  remediation_strategy: none
- name: prod
  approval_strategy: {pass: manual, warning: manual}
  deployment_strategy: blue_green_service
"#;

const WRONG: &str = "
stages:
- name: Dev
  approval_strategy: {pass: sometimes}
- deployment_strategy: [direct]
- name: prod
  remediation_strategy: automatic
- name: prod
";

#[track_caller]
fn golden(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn an_old_shipyard_becomes_one_that_is_right() {
    for (name, text) in [("migrated-seed", SEED), ("migrated-everything", EVERYTHING)] {
        let migrated = migrate(text, "old.yaml").expect("it can be migrated");
        golden(name, &migrated.text);
        let checked = parse(&migrated.text, "new.yaml").expect("the result is right");
        assert_eq!(checked.warnings, []);
        let comments = migrated.text.lines().filter(|it| it.trim_start().starts_with('#'));
        // Two comments say that it was migrated, and about `apiVersion`.
        assert_eq!(migrated.decisions, comments.count() - 2);
    }
}

#[test]
fn what_was_not_understood_is_said() {
    let migrated = migrate(EVERYTHING, "old.yaml").expect("it can be migrated");
    let said: Vec<_> = migrated.warnings.iter().map(|it| (it.at.line, it.at.column)).collect();
    assert_eq!(said, [(6, 3)], "{:?}", migrated.warnings);
}

#[test]
fn what_cannot_be_migrated_is_explained() {
    let wrong = migrate(WRONG, "old.yaml").expect_err("it is wrong");
    let new = migrate(include_str!("../files/keptn-shop.yaml"), "new.yaml");
    let new = new.expect_err("it is new already");
    let form = migrate(include_str!("../files/version-old-new-form.yaml"), "form.yaml");
    let form = form.expect_err("it has the form of 0.2");
    let none = migrate("stages: []\n", "none.yaml").expect_err("it has no stages");
    let all = [wrong, new, form, none].map(|it| it.plain().to_string());
    golden("not-migrated", &all.join("\n"));
}
