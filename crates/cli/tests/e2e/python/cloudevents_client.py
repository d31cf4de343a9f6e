"""Sends events with the official SDK in every form that HTTP has for them."""

import json
import os
import urllib.error
import urllib.request

from cloudevents.core.bindings.http import to_binary_event, to_structured_event
from cloudevents.core.v1.event import CloudEvent

URL, TOKEN = os.environ["SEAWAY_URL"], os.environ["SEAWAY_TOKEN"]


def send(message):
    return post(message.headers, message.body)


def post(headers, body):
    headers = {**headers, "Authorization": f"Bearer {TOKEN}"}
    request = urllib.request.Request(URL + "/v1/events", data=body, headers=headers)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def event(id, version, **attributes):
    return CloudEvent(
        {"type": "sh.keptn.event.dev.delivery.triggered", "source": "python-sdk", "id": id,
         "datacontenttype": "application/json", **attributes},
        {"project": "shop", "service": "cart", "version": version},
    )


structured = event("1", "1.0")
first = send(to_structured_event(structured))
assert first[0] == 200 and first[1]["revision"] == 1, first
assert send(to_structured_event(structured)) == first, "the same event again gets the same answer"
assert send(to_binary_event(structured)) == first, "in another form it is still the same event"

binary = send(to_binary_event(event("2", "1.1")))
assert binary[0] == 200 and binary[1]["revision"] == 2, binary
assert binary[1]["context"] != first[1]["context"]

context = "11111111-2222-4333-8444-555555555555"
given = send(to_structured_event(event("3", "1.2", shkeptncontext=context)))
assert given[0] == 200 and given[1]["context"] == context, given

batch = [json.loads(to_structured_event(event(id, "1.3")).body) for id in ("4", "4", "1")]
batch.append({"specversion": "1.0", "id": "5", "source": "python-sdk", "type": "no.such.event",
              "data": {"project": "shop", "service": "cart", "version": "1"}})
status, answers = post({"Content-Type": "application/cloudevents-batch+json"}, json.dumps(batch).encode())
assert status == 207 and [it["status"] for it in answers] == [200, 200, 200, 422], answers
assert answers[0] == answers[1] and answers[2]["accepted"] == first[1], answers
assert answers[3]["problem"]["code"] == "nothing-triggered", answers

for bad, code in [
    (b"{", "malformed-json"),
    (b"5", "not-a-cloudevent"),
    (b"[]", "not-a-cloudevent"),
    (b'{"specversion": "0.3", "id": "1", "source": "a", "type": "b"}', "not-a-cloudevent"),
    (b'{"specversion": "1.0", "id": "1", "source": "a", "type": "b"}', "missing-project"),
    (b'{"specversion": "1.0", "id": "1", "source": "a", "type": "b", "data": 5}', "invalid-data"),
]:
    status, problem = post({"Content-Type": "application/cloudevents+json"}, bad)
    assert 400 <= status < 500 and problem["code"] == code, (bad, status, problem)
