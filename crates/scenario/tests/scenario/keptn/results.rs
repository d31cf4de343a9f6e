use super::semantics::{BLANK, Here, Row};

const ONE: &str = "
  - name: dev
    sequences:
    - name: delivery
      tasks:
      - {name: deployment, properties: {strategy: blue_green}}
      - {name: test}
      - {name: release}
";

pub(super) const ROWS: &[Row] = &[
    Row {
        topic: "results",
        keptn: "of several executors any fail counts",
        stages: ONE,
        scenario: "
executors: [{name: x, tasks: [test]}, {name: y, tasks: [test], answers: fail}]
steps: [{trigger: dev.delivery}]
expect: [{deployment: d1, result: fail}, {notRan: dev.delivery.release}]
",
        ..BLANK
    },
    Row {
        topic: "results",
        keptn: "of several executors any warning counts unless one failed, and the next task runs",
        stages: ONE,
        scenario: "
executors: [{name: x, tasks: [test]}, {name: y, tasks: [test], answers: warning}]
steps: [{trigger: dev.delivery}]
expect: [{ran: dev.delivery.release, data: {result: warning}}]
",
        ..BLANK
    },
    Row {
        topic: "results",
        keptn: "the result of a sequence is that of its last task",
        stages: ONE,
        scenario: "
executors: [{name: x, tasks: [test], answers: warning}]
steps: [{trigger: dev.delivery}]
expect: [{ran: dev.delivery.release, data: {result: warning}}, {deployment: d1, result: warning}]
",
        here: Here::Differs("worst-result"),
        ..BLANK
    },
    Row {
        topic: "results",
        keptn: "errored stops the sequence, but can leave the result pass and promote",
        stages: ONE,
        scenario: "
executors: [{name: x, tasks: [test], answers: errored}]
steps: [{trigger: dev.delivery}]
expect: [{deployment: d1, result: fail}, {notRan: dev.delivery.release}]
",
        here: Here::Differs("errored-is-fail"),
        ..BLANK
    },
    Row {
        topic: "results",
        keptn: "an executor that is fast ends the task before a slow one has started",
        stages: ONE,
        scenario: "
executors: [{name: fast, tasks: [test]}, {name: slow, tasks: [test], delay: 1m, answers: fail}]
steps: [{trigger: dev.delivery}]
expect: [{deployment: d1, result: fail}, {notRan: dev.delivery.release}]
",
        here: Here::Differs("waits-for-all"),
        ..BLANK
    },
    Row {
        topic: "data",
        keptn: "what a task adds goes to the tasks after it, and to the next stages",
        stages: "
  - name: dev
    sequences: [{name: delivery, tasks: [{name: build}, {name: test}]}]
  - name: prod
    sequences:
    - {name: delivery, triggeredOn: [{event: dev.delivery.finished}], tasks: [{name: deployment}]}
",
        scenario: "
executors: [{name: x, tasks: [build], answers: {data: {build: {image: \"cart:1\"}}}}]
steps: [{trigger: dev.delivery, data: {labels: {owner: me}}}]
expect:
- {ran: dev.delivery.test, data: {build: {image: \"cart:1\"}, labels: {owner: me}}}
- ran: prod.delivery.deployment
  data: {build: {image: \"cart:1\"}, labels: {owner: me}, stage: prod}
",
        ..BLANK
    },
    Row {
        topic: "data",
        keptn: "properties of the shipyard are in the space of the task, over what is there",
        stages: ONE,
        scenario: "
steps: [{trigger: dev.delivery, data: {deployment: {strategy: direct, replicas: 2}}}]
expect: [{ran: dev.delivery.deployment, data: {deployment: {strategy: blue_green, replicas: 2}}}]
",
        ..BLANK
    },
    Row {
        topic: "data",
        keptn: "texts: the newer wins; maps are merged",
        stages: ONE,
        scenario: "
executors: [{name: x, tasks: [deployment], answers: {data: {a: {t: new, more: 1}}}}]
steps: [{trigger: dev.delivery, data: {a: {t: old, keep: 1}}}]
expect: [{ran: dev.delivery.test, data: {a: {t: new, keep: 1, more: 1}}}]
",
        ..BLANK
    },
    Row {
        topic: "data",
        keptn: "numbers and truth values: the older stays",
        stages: ONE,
        scenario: "
executors: [{name: x, tasks: [deployment], answers: {data: {index: 2, done: true}}}]
steps: [{trigger: dev.delivery, data: {index: 1, done: false}}]
expect: [{ran: dev.delivery.test, data: {index: 2, done: true}}]
",
        here: Here::Differs("numbers-take-the-latest"),
        ..BLANK
    },
    Row {
        topic: "data",
        keptn: "lists: the newer entries first",
        stages: ONE,
        scenario: "
executors: [{name: x, tasks: [deployment], answers: {data: {uris: [c]}}}]
steps: [{trigger: dev.delivery, data: {uris: [a, b]}}]
expect: [{ran: dev.delivery.test, data: {uris: [c, a, b]}}]
",
        ..BLANK
    },
    Row {
        topic: "data",
        keptn: "lists: what is there twice stays there twice",
        stages: ONE,
        scenario: "
executors: [{name: x, tasks: [deployment], answers: {data: {uris: [c, a]}}}]
steps: [{trigger: dev.delivery, data: {uris: [a, b]}}]
expect: [{ran: dev.delivery.test, data: {uris: [c, a, b]}}]
",
        here: Here::Differs("lists-without-duplicates"),
        ..BLANK
    },
    Row {
        topic: "data",
        keptn: "the message of a task is not that of the next",
        stages: ONE,
        scenario: "
executors: [{name: x, tasks: [deployment], answers: {data: {message: all is well}}}]
steps: [{trigger: dev.delivery}]
expect: [{ran: dev.delivery.test, data: {message: \"\"}}]
",
        ..BLANK
    },
    Row {
        topic: "timeouts",
        keptn: "a task that nobody takes up fails its sequence after ten minutes",
        stages: ONE,
        scenario: "
nobody: [test]
steps: [{trigger: dev.delivery}]
expect: [{deployment: d1, result: fail}]
",
        says: &["     10m  d1    test finished: fail"],
        ..BLANK
    },
    Row {
        topic: "timeouts",
        keptn: "that nobody is there for a task shows only then",
        stages: ONE,
        scenario: "
nobody: [test]
steps: [{trigger: dev.delivery}]
until: 1m
expect: [{deployment: d1, result: open, because: no executor for}]
",
        here: Here::Differs("nobody-is-said-at-once"),
        ..BLANK
    },
    Row {
        topic: "timeouts",
        keptn: "who has started may take for ever, and blocks the service",
        stages: "
  - name: dev
    sequences:
    - name: delivery
      tasks: [{name: test, timeout: 10m}]
",
        scenario: "
executors: [{name: x, tasks: [test], answers: silent}]
steps: [{trigger: dev.delivery}]
expect: [{deployment: d1, result: fail}]
",
        says: &["     10m  d1    test finished: fail, timed out"],
        here: Here::Differs("task-timeouts"),
        ..BLANK
    },
    Row {
        topic: "timeouts",
        keptn: "an executor that is gone never ends its task",
        stages: ONE,
        scenario: "
executors: [{name: x, tasks: [test], replicas: 2, answers: [dies, pass]}]
steps: [{trigger: dev.delivery}]
expect: [{deployment: d1, result: pass}]
",
        here: Here::Differs("leases"),
        ..BLANK
    },
];
