use seaway_model::{Name, Outcome, Revision};
use seaway_store::Listed;
use seaway_wire::{DeploymentStart, RecordEvent, ShownRecord};
use serde::Serialize;
use uuid::Uuid;

use crate::clock;

/// A record as it is told to those who asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// The same for every attempt, and another one for every record of every log there is.
    pub(crate) id: String,
    /// The name of the event, without prefix.
    pub(crate) event: String,
    /// A CloudEvent in structured form.
    pub(crate) body: Vec<u8>,
}

#[derive(Debug, Serialize)]
struct CloudEvent<'a> {
    specversion: &'static str,
    id: &'a str,
    source: String,
    #[serde(rename = "type")]
    ty: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
    time: &'a str,
    datacontenttype: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    shkeptncontext: Option<Uuid>,
    data: Content<'a>,
}

#[derive(Debug, Serialize)]
struct Content<'a> {
    project: &'a Name,
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<&'a Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<Revision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Outcome>,
    target: &'a str,
    record: ShownRecord<'a>,
}

/// The message about a record, whose deployment began with `start`.
pub(crate) fn message(project: &Name, listed: &Listed, start: Option<&DeploymentStart>) -> Message {
    let Listed { row, path } = listed;
    let event = RecordEvent::of(path, row.kind, row.fact);
    // The name of a project may have dots, which the id must not have, and another server may have
    // a project of that name; the hash of the record differs wherever the log does.
    let id = format!("{}-{}", &row.hash.to_string()[..16], row.seq);
    let time = clock::show(row.at);
    let message = CloudEvent {
        specversion: "1.0",
        id: &id,
        source: format!("seaway/{project}"),
        ty: format!("{}{}", RecordEvent::PREFIX, event.name),
        subject: event.executor,
        time: &time,
        datacontenttype: "application/json",
        shkeptncontext: row.deployment.map(|deployment| deployment.0),
        data: Content {
            project,
            stage: event.stage,
            service: start.map(|start| &start.service),
            version: start.map(|start| &*start.version),
            revision: row.revision,
            result: row.outcome,
            target: path,
            record: ShownRecord::new(row, path, time.clone()),
        },
    };
    let body = serde_json::to_vec(&message).expect("it has only string keys");
    Message { id, event: event.name, body }
}

#[cfg(test)]
mod tests {
    use seaway_model::{Attempt, DeploymentId, Digest, Fact, Kind, Seq, TargetId, Timestamp};
    use seaway_wire::Row;
    use serde_json::{Value, json};

    use super::*;

    fn listed(path: &str, kind: Kind, fact: Fact) -> Listed {
        let row = Row {
            seq: Seq(12),
            at: Timestamp(1_790_000_000_000_001),
            deployment: None,
            target: TargetId(3),
            revision: None,
            kind,
            fact,
            attempt: Attempt(1),
            n: 0,
            outcome: None,
            data: None,
            cause: None,
            by: "seaway".into(),
            hash: Digest([0xab; 32]),
        };
        Listed { row, path: path.into() }
    }

    fn told(listed: &Listed, start: Option<&DeploymentStart>) -> (Message, Value) {
        let message = message(&Name::new("my.shop").unwrap(), listed, start);
        let body = serde_json::from_slice(&message.body).unwrap();
        (message, body)
    }

    #[test]
    fn a_record_of_a_deployment_is_told_with_what_is_deployed() {
        let deployment = DeploymentId(Uuid::from_u128(7));
        let mut listed =
            listed("my.shop/beta/delivery#1/test@jmeter/eu", Kind::TaskDone, Fact::Failed);
        listed.row.deployment = Some(deployment);
        listed.row.revision = Some(Revision(4));
        listed.row.outcome = Some(Outcome::Fail);
        listed.row.data = Some(r#"{"answer":"{\"message\":\"no\"}"}"#.into());
        let service = Name::new("cart").unwrap();
        let (version, seq) = ("1.2".into(), Seq(3));
        let start = DeploymentStart { deployment, service, version, revision: Revision(4), seq };
        let (message, body) = told(&listed, Some(&start));
        assert_eq!(message.event, "test.finished");
        let time = "2026-09-21T14:13:20.000001Z";
        let expected = json!({
            "specversion": "1.0",
            "id": "abababababababab-12",
            "source": "seaway/my.shop",
            "type": "sh.keptn.event.test.finished",
            "subject": "jmeter/eu",
            "time": time,
            "datacontenttype": "application/json",
            "shkeptncontext": "00000000-0000-0000-0000-000000000007",
            "data": {
                "project": "my.shop",
                "stage": "beta",
                "service": "cart",
                "version": "1.2",
                "revision": 4,
                "result": "fail",
                "target": "my.shop/beta/delivery#1/test@jmeter/eu",
                "record": body["data"]["record"],
            },
        });
        assert_eq!(body, expected);
        let record: seaway_api::Record =
            serde_json::from_value(body["data"]["record"].clone()).unwrap();
        assert_eq!((record.seq, &*record.at, record.cause), (12, time, None));
        assert_eq!(record.data.unwrap()["answer"], "{\"message\":\"no\"}");
    }

    #[test]
    fn a_record_of_the_project_has_no_context() {
        let (message, body) = told(&listed("my.shop", Kind::Documents, Fact::Changed), None);
        assert_eq!(message.event, "record.documents.changed");
        assert!(!message.id.contains('.'), "{}", message.id);
        assert_eq!(body["data"]["target"], "my.shop");
        for absent in ["subject", "shkeptncontext"] {
            assert_eq!(body.get(absent), None);
        }
        for absent in ["stage", "service", "version", "revision", "result"] {
            assert_eq!(body["data"].get(absent), None);
        }
    }
}
