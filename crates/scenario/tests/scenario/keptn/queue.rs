use super::semantics::{BLANK, Here, Row};

const ONE: &str = "
  - name: dev
    sequences:
    - name: delivery
      tasks: [{name: deployment}, {name: test}]
    - name: hotfix
      tasks: [{name: deployment}]
  - name: prod
    sequences:
    - name: delivery
      tasks: [{name: deployment}]
";

pub(super) const ROWS: &[Row] = &[
    Row {
        topic: "queue",
        keptn: "one sequence at a time for a service in a stage, whichever it is",
        stages: ONE,
        scenario: "
service: cart
executors: [{name: x, tasks: [test], takes: 5m}]
steps: [{trigger: dev.delivery}, {trigger: dev.hotfix}]
expect: [{deployment: d2, result: pass}]
",
        says: &["dev.hotfix#1 waits: in line for cart in dev", "5m  d2  dev.hotfix#1 started"],
        ..BLANK
    },
    Row {
        topic: "queue",
        keptn: "other services and other stages do not wait",
        stages: ONE,
        scenario: "
executors: [{name: x, tasks: [test], takes: 5m}]
steps:
- {trigger: dev.delivery, service: cart}
- {trigger: dev.hotfix, service: search}
- {trigger: prod.delivery, service: cart}
until: 1m
expect:
- {deployment: d1, result: open}
- {deployment: d2, result: pass}
- {deployment: d3, result: pass}
",
        ..BLANK
    },
    Row {
        topic: "queue",
        keptn: "those who wait go in the order in which they were triggered",
        stages: ONE,
        scenario: "
service: cart
executors: [{name: x, tasks: [test], takes: 5m}]
steps:
- {trigger: dev.delivery}
- {trigger: dev.delivery}
- {trigger: dev.delivery}
expect: [{deployment: d3, result: pass}]
",
        says: &["     5m  d2  dev.delivery#1 started", "    10m  d3  dev.delivery#1 started"],
        ..BLANK
    },
    Row {
        topic: "queue",
        keptn: "an older version that is triggered again is delivered over a newer one",
        stages: ONE,
        scenario: "
service: cart
steps:
- {trigger: prod.delivery, as: old}
- {at: 1m, trigger: dev.hotfix, as: new}
- {at: 2m, trigger: dev.hotfix, in: old}
expect: [{deployment: new, result: pass}, {ran: dev.hotfix.deployment, times: 1}]
",
        here: Here::Differs("older-never-overwrites"),
        ..BLANK
    },
    Row {
        topic: "queue",
        keptn: "a second run in the same context goes past the queue",
        stages: ONE,
        scenario: "
service: cart
executors: [{name: x, tasks: [test], takes: 5m}]
steps: [{trigger: dev.delivery}, {at: 1m, trigger: dev.hotfix, in: d1}]
expect: [{deployment: d1, result: pass}]
",
        says: &["     5m  d1  dev.hotfix#1 started"],
        here: Here::Differs("same-context-waits"),
        ..BLANK
    },
    Row {
        topic: "queue",
        keptn: "who waits for approval does not block others",
        stages: "
  - name: dev
    sequences:
    - name: delivery
      tasks: [{name: approval}, {name: deployment}]
    - name: hotfix
      tasks: [{name: deployment}]
",
        scenario: "
service: cart
executors: [{name: boss, tasks: [approval], takes: 1h}]
steps: [{trigger: dev.delivery}, {trigger: dev.hotfix}]
until: 1m
expect: [{deployment: d2, result: pass}, {deployment: d1, result: open}]
",
        ..BLANK
    },
    Row {
        topic: "pause",
        keptn: "the task that runs may end, the next is held until it is resumed",
        stages: ONE,
        scenario: "
executors: [{name: x, tasks: [deployment], takes: 5m}]
steps: [{trigger: dev.delivery}, {at: 1m, pause: d1}, {at: 1h, resume: d1}]
expect: [{deployment: d1, result: pass}]
",
        says: &["    5m  d1    test waits: paused", "    1h  d1    -> test.triggered"],
        ..BLANK
    },
    Row {
        topic: "pause",
        keptn: "others of the service may start although a task of the paused one still runs",
        stages: ONE,
        scenario: "
service: cart
executors: [{name: x, tasks: [deployment], answers: {d1/deployment: {takes: 5m}}}]
steps: [{trigger: dev.delivery}, {at: 1m, pause: d1}, {at: 2m, trigger: dev.hotfix}]
until: 1h
expect: [{deployment: d2, result: pass}]
",
        says: &["     5m  d2  dev.hotfix#1 started"],
        here: Here::Differs("pause-ends-its-task-first"),
        ..BLANK
    },
    Row {
        topic: "abort",
        keptn: "what waits in the queue can be aborted",
        stages: ONE,
        scenario: "
service: cart
executors: [{name: x, tasks: [test], takes: 5m}]
steps: [{trigger: dev.delivery}, {trigger: dev.delivery}, {at: 1m, abort: d2}]
expect: [{deployment: d1, result: pass}, {deployment: d2, result: aborted}]
",
        ..BLANK
    },
    Row {
        topic: "shipyard",
        keptn: "a run keeps the tasks that it had when it was started",
        stages: ONE,
        changed: "
  - name: dev
    sequences:
    - name: delivery
      tasks: [{name: deployment}, {name: test}, {name: scan}]
",
        scenario: "
executors: [{name: x, tasks: [test], takes: 5m}]
steps: [{trigger: dev.delivery}, {at: 1m, shipyard: changed.yaml}]
expect: [{deployment: d1, result: pass}, {notRan: dev.delivery.scan}]
",
        ..BLANK
    },
    Row {
        topic: "shipyard",
        keptn: "a run that waits keeps the tasks that it had when it was triggered",
        stages: ONE,
        changed: "
  - name: dev
    sequences:
    - name: delivery
      tasks: [{name: deployment}, {name: test}, {name: scan}]
",
        scenario: "
service: cart
executors: [{name: x, tasks: [test], takes: 5m}]
steps: [{trigger: dev.delivery}, {trigger: dev.delivery}, {at: 1m, shipyard: changed.yaml}]
expect: [{notRan: dev.delivery.scan, in: d1}, {ran: dev.delivery.scan, in: d2}]
",
        here: Here::Differs("pinned-at-its-start"),
        ..BLANK
    },
    Row {
        topic: "shipyard",
        keptn: "what follows comes from the newest shipyard",
        stages: "
  - name: dev
    sequences: [{name: delivery, tasks: [{name: test}]}]
",
        changed: "
  - name: dev
    sequences:
    - {name: delivery, tasks: [{name: test}]}
    - {name: notify, triggeredOn: [{event: dev.delivery.finished}], tasks: [{name: notify}]}
",
        scenario: "
executors: [{name: x, tasks: [test], takes: 5m}]
steps: [{trigger: dev.delivery}, {at: 1m, shipyard: changed.yaml}]
expect: [{ran: dev.notify}]
",
        ..BLANK
    },
    Row {
        topic: "shipyard",
        keptn: "the stages of a project stay as they were created",
        stages: "
  - name: dev
    sequences: [{name: delivery, tasks: [{name: test}]}]
",
        changed: "
  - name: dev
    sequences: [{name: delivery, tasks: [{name: test}]}]
  - name: prod
    sequences:
    - {name: delivery, triggeredOn: [{event: dev.delivery.finished}], tasks: [{name: deployment}]}
",
        scenario: "
executors: [{name: x, tasks: [test], takes: 5m}]
steps: [{trigger: dev.delivery}, {at: 1m, shipyard: changed.yaml}]
expect: [{ran: prod.delivery}, {deployment: d1, result: pass}]
",
        here: Here::Differs("stages-may-change"),
        ..BLANK
    },
    Row {
        topic: "retries",
        keptn: "nothing is ever tried again",
        stages: "
  - name: dev
    sequences:
    - name: delivery
      tasks: [{name: test, retries: {limit: 1}}]
",
        scenario: "
executors: [{name: x, tasks: [test], answers: [fail, pass]}]
steps: [{trigger: dev.delivery}]
expect: [{deployment: d1, result: pass}]
",
        here: Here::Differs("retries"),
        ..BLANK
    },
    Row {
        topic: "retries",
        keptn: "a sequence that failed stays failed",
        stages: ONE,
        scenario: "
executors: [{name: x, tasks: [test], answers: [fail, pass]}]
steps: [{trigger: dev.delivery}, {at: 1h, retry: dev.test}]
expect: [{deployment: d1, result: pass}, {ran: dev.delivery.deployment, times: 1}]
",
        here: Here::Differs("retry-and-skip"),
        ..BLANK
    },
    Row {
        topic: "triggeredAfter",
        keptn: "a task waits so long after the one before it",
        stages: "
  - name: dev
    sequences:
    - name: delivery
      tasks: [{name: deployment}, {name: test, triggeredAfter: 10m}]
    - name: hotfix
      tasks: [{name: deployment}]
",
        scenario: "
steps: [{trigger: dev.delivery}]
expect: [{deployment: d1, result: pass}]
",
        says: &["     10m  d1    -> test.triggered"],
        ..BLANK
    },
    Row {
        topic: "triggeredAfter",
        keptn: "meanwhile it blocks others of the service in the stage",
        stages: "
  - name: dev
    sequences:
    - name: delivery
      tasks: [{name: deployment}, {name: test, triggeredAfter: 10m}]
    - name: hotfix
      tasks: [{name: deployment}]
",
        scenario: "
service: cart
steps: [{trigger: dev.delivery}, {at: 1m, trigger: dev.hotfix}]
expect: [{deployment: d2, result: pass}]
",
        says: &["     10m  d2  dev.hotfix#1 started"],
        ..BLANK
    },
];
