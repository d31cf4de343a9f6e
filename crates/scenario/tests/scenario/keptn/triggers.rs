use super::semantics::{BLANK, Here, Row};

const TWO: &str = "
  - name: dev
    sequences:
    - name: delivery
      tasks: [{name: deployment}, {name: test}, {name: evaluation}]
  - name: prod
    sequences:
    - name: delivery
      triggeredOn: [{event: dev.delivery.finished}]
      tasks: [{name: deployment}]
";

const ROLLBACK: &str = "
  - name: dev
    sequences:
    - name: delivery
      tasks: [{name: deployment}, {name: test}, {name: evaluation}]
    - name: rollback
      triggeredOn:
      - event: dev.delivery.finished
        selector: {match: {result: fail}}
      tasks: [{name: rollback}]
";

pub(super) const ROWS: &[Row] = &[
    Row {
        topic: "triggeredOn",
        keptn: "without a selector a sequence follows on pass",
        stages: TWO,
        scenario: "
steps: [{trigger: dev.delivery}]
expect: [{ran: prod.delivery, times: 1}]
",
        ..BLANK
    },
    Row {
        topic: "triggeredOn",
        keptn: "without a selector a sequence follows on warning as well",
        stages: TWO,
        scenario: "
executors: [{name: x, tasks: [test], answers: warning}]
steps: [{trigger: dev.delivery}]
expect: [{ran: prod.delivery, times: 1}]
",
        ..BLANK
    },
    Row {
        topic: "triggeredOn",
        keptn: "without a selector nothing follows on fail",
        stages: TWO,
        scenario: "
executors: [{name: x, tasks: [test], answers: fail}]
steps: [{trigger: dev.delivery}]
expect: [{notRan: prod.delivery}]
",
        ..BLANK
    },
    Row {
        topic: "triggeredOn",
        keptn: "a selector compares the result of the sequence",
        stages: ROLLBACK,
        scenario: "
executors: [{name: x, tasks: [test], answers: {bad/test: fail}}]
steps:
- {trigger: dev.delivery, as: good}
- {at: 1m, trigger: dev.delivery, as: bad}
expect: [{notRan: dev.rollback, in: good}, {ran: dev.rollback, in: bad}]
",
        ..BLANK
    },
    Row {
        topic: "triggeredOn",
        keptn: "`failed` never matches, although the specification writes it",
        stages: "
  - name: dev
    sequences:
    - name: delivery
      tasks: [{name: test}]
    - name: rollback
      triggeredOn:
      - event: dev.delivery.finished
        selector: {match: {result: failed}}
      tasks: [{name: rollback}]
",
        scenario: "
executors: [{name: x, tasks: [test], answers: fail}]
steps: [{trigger: dev.delivery}]
expect: [{ran: dev.rollback}]
",
        here: Here::Differs("failed-is-fail"),
        ..BLANK
    },
    Row {
        topic: "triggeredOn",
        keptn: "`<task>.result` matches if that task was the last to run",
        stages: "
  - name: dev
    sequences:
    - name: delivery
      tasks: [{name: test}, {name: evaluation}]
    - name: after-test
      triggeredOn:
      - event: dev.delivery.finished
        selector: {match: {test.result: pass}}
      tasks: [{name: notify}]
    - name: after-evaluation
      triggeredOn:
      - event: dev.delivery.finished
        selector: {match: {evaluation.result: pass}}
      tasks: [{name: notify}]
",
        scenario: "
steps: [{trigger: dev.delivery}]
expect: [{notRan: dev.after-test}, {ran: dev.after-evaluation}]
",
        ..BLANK
    },
    Row {
        topic: "triggeredOn",
        keptn: "several results are alternatives",
        stages: "
  - name: dev
    sequences:
    - name: delivery
      tasks: [{name: test}]
    - name: notify
      triggeredOn:
      - event: dev.delivery.finished
        selector: {match: {result: fail, test.result: warning}}
      tasks: [{name: notify}]
",
        scenario: "
executors: [{name: x, tasks: [test], answers: [pass, warning, fail]}]
service: cart
steps:
- {trigger: dev.delivery, as: a}
- {at: 1m, trigger: dev.delivery, as: b}
- {at: 2m, trigger: dev.delivery, as: c}
expect: [{notRan: dev.notify, in: a}, {ran: dev.notify, in: b}, {ran: dev.notify, in: c}]
",
        ..BLANK
    },
    Row {
        topic: "triggeredOn",
        keptn: "keys other than results are ignored",
        stages: "
  - name: dev
    sequences:
    - name: delivery
      tasks: [{name: test}]
  - name: canary
    sequences:
    - name: delivery
      triggeredOn:
      - event: dev.delivery.finished
        selector: {match: {kind: canary}}
      tasks: [{name: deployment}]
",
        scenario: "
steps:
- {trigger: dev.delivery, as: plain, service: cart}
- {trigger: dev.delivery, as: canary, service: search, data: {kind: canary}}
expect: [{notRan: canary.delivery, in: plain}, {ran: canary.delivery, in: canary}]
",
        here: Here::Differs("selector-on-data"),
        ..BLANK
    },
    Row {
        topic: "triggeredOn",
        keptn: "everything that matches starts, in the same context",
        stages: "
  - name: dev
    sequences: [{name: delivery, tasks: [{name: test}]}]
  - name: eu
    sequences:
    - {name: delivery, triggeredOn: [{event: dev.delivery.finished}], tasks: [{name: deployment}]}
  - name: us
    sequences:
    - {name: delivery, triggeredOn: [{event: dev.delivery.finished}], tasks: [{name: deployment}]}
",
        scenario: "
steps: [{trigger: dev.delivery}]
expect: [{ran: eu.delivery, in: d1}, {ran: us.delivery, in: d1}, {deployment: d1, result: pass}]
",
        ..BLANK
    },
    Row {
        topic: "triggeredOn",
        keptn: "only the end of a sequence triggers anything",
        stages: "
  - name: production
    sequences:
    - {name: remediation, triggeredOn: [{event: problem.open}], tasks: [{name: action}]}
",
        scenario: "
steps: [{event: problem.open, stage: production}]
expect: [{ran: production.remediation}]
",
        here: Here::Differs("domain-events"),
        ..BLANK
    },
    Row {
        topic: "triggeredOn",
        keptn: "a stage has a sequence `evaluation` without declaring it",
        stages: TWO,
        scenario: "
steps: [{trigger: dev.evaluation}]
expect: [{ran: dev.evaluation.evaluation}, {deployment: d1, result: pass}]
",
        ..BLANK
    },
    Row {
        topic: "the end of a sequence",
        keptn: "after a failure the other tasks are never triggered",
        stages: ROLLBACK,
        scenario: "
executors: [{name: x, tasks: [deployment], answers: fail}]
steps: [{trigger: dev.delivery}]
expect: [{notRan: dev.delivery.test}, {notRan: dev.delivery.evaluation}, {ran: dev.rollback}]
",
        ..BLANK
    },
    Row {
        topic: "the end of a sequence",
        keptn: "there is no task for the case that another failed",
        stages: "
  - name: dev
    sequences:
    - name: delivery
      tasks: [{name: test}, {name: notify, when: failed}]
",
        scenario: "
executors: [{name: x, tasks: [test], answers: fail}]
steps: [{trigger: dev.delivery}]
expect: [{ran: dev.delivery.notify}, {deployment: d1, result: fail}]
",
        here: Here::Differs("when"),
        ..BLANK
    },
    Row {
        topic: "the end of a sequence",
        keptn: "after a timeout nothing is triggered, not even a rollback",
        stages: ROLLBACK,
        scenario: "
nobody: [test]
steps: [{trigger: dev.delivery}]
expect: [{ran: dev.rollback}]
",
        here: Here::Differs("rollback-after-timeout"),
        ..BLANK
    },
    Row {
        topic: "the end of a sequence",
        keptn: "after an abort nothing is triggered",
        stages: ROLLBACK,
        scenario: "
executors: [{name: x, tasks: [test], takes: 5m}]
steps: [{trigger: dev.delivery}, {at: 1m, abort: d1}]
expect: [{notRan: dev.rollback}, {deployment: d1, result: aborted}]
",
        ..BLANK
    },
    Row {
        topic: "the end of a sequence",
        keptn: "executors are not told that a task was aborted or timed out",
        stages: ROLLBACK,
        scenario: "
executors: [{name: x, tasks: [test], takes: 5m}]
steps: [{trigger: dev.delivery}, {at: 1m, abort: d1}]
expect: [{deployment: d1, result: aborted}]
",
        says: &["-> x: stop test: aborted"],
        here: Here::Differs("executors-are-told"),
        ..BLANK
    },
    Row {
        topic: "the end of a sequence",
        keptn: "a sequence that is not there is accepted, and ends errored",
        stages: TWO,
        scenario: "
steps: [{trigger: dev.deliver, refused: there is no sequence dev.deliver}]
expect: [{deployment: d1, result: absent}]
",
        here: Here::Differs("unknown-is-refused"),
        ..BLANK
    },
];
