use axum::body::Bytes;
use http::{HeaderMap, StatusCode};
use serde_json::value::RawValue;

use crate::extract::{content_type, malformed};
use crate::problem::Failure;

/// How events came: alone, in one of two forms, or several at once.
#[derive(Debug)]
pub(crate) enum Form {
    One,
    Batch,
}

/// At most so many events at once.
const MAX_BATCH: usize = 1_000;

/// Reads the events of a request. In binary form the attributes are headers and the body is the
/// data; the body is then made into the structured form, so that there is one way from here on.
pub(crate) fn read(headers: &HeaderMap, body: &mut Bytes) -> Result<Form, Failure> {
    let kind = content_type(headers);
    match kind.as_str() {
        "application/cloudevents-batch+json" => Ok(Form::Batch),
        "application/cloudevents+json" => Ok(Form::One),
        _ if headers.contains_key("ce-type") => {
            *body = structured(headers, body, &kind)?;
            Ok(Form::One)
        }
        "application/json" | "" => Ok(Form::One),
        other => Err(Failure::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported-media-type",
            format!(
                "the body is {other}; send application/cloudevents+json, or ce- headers with a \
                     JSON body"
            ),
        )),
    }
}

/// The text of one event, or those of all in a batch, which are read one by one: what is wrong with
/// one of them is not the business of the others.
pub(crate) fn texts<'a>(form: &Form, body: &'a [u8]) -> Result<Vec<&'a str>, Failure> {
    let text = std::str::from_utf8(body).map_err(|_not| {
        Failure::bad_request("malformed-json", "the body is not UTF-8, which JSON has to be")
    })?;
    let texts: Vec<&'a str> = match form {
        Form::One => vec![text],
        Form::Batch => {
            let all: Vec<&'a RawValue> =
                serde_json::from_str(text).map_err(|error| malformed(&error))?;
            all.into_iter().map(RawValue::get).collect()
        }
    };
    if texts.len() > MAX_BATCH {
        let detail = format!("a batch has at most {MAX_BATCH} events; send several");
        return Err(Failure::refused("too-many-events", detail));
    }
    Ok(texts)
}

fn structured(headers: &HeaderMap, body: &[u8], kind: &str) -> Result<Bytes, Failure> {
    let json = kind.is_empty() || kind == "application/json" || kind.ends_with("+json");
    if !json {
        let detail = format!("the data of the event is {kind}; send JSON");
        return Err(Failure::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported-media-type",
            detail,
        ));
    }
    let mut event = serde_json::Map::new();
    for (name, value) in headers {
        let Some(name) = name.as_str().strip_prefix("ce-") else { continue };
        let text = percent_decoded(value.as_bytes());
        let text = text.ok_or_else(|| {
            Failure::bad_request("not-a-cloudevent", format!("the header ce-{name} is not UTF-8"))
        })?;
        event.insert(name.to_owned(), text.into());
    }
    let data: Box<RawValue> = match body.is_empty() {
        true => serde_json::from_str("{}"),
        false => serde_json::from_slice(body),
    }
    .map_err(|error| malformed(&error))?;
    let mut text = serde_json::to_string(&event).expect("texts are plain data");
    text.truncate(text.len() - 1);
    if !event.is_empty() {
        text.push(',');
    }
    text.push_str("\"data\":");
    text.push_str(data.get());
    text.push('}');
    Ok(text.into())
}

/// Headers carry what is not plain ASCII percent-encoded.
fn percent_decoded(bytes: &[u8]) -> Option<String> {
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter().copied();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        let digits = std::str::from_utf8(&digits).ok()?;
        decoded.push(u8::from_str_radix(digits, 16).ok()?);
    }
    String::from_utf8(decoded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::Incoming;

    #[test]
    fn the_binary_form_becomes_the_structured_one() {
        let mut headers = HeaderMap::new();
        for (name, value) in
            [("ce-type", "test.finished"), ("ce-id", "1"), ("ce-source", "a%20b%C3%A4")]
        {
            headers.insert(name, value.parse().unwrap());
        }
        headers.insert("ce-specversion", "1.0".parse().unwrap());
        headers.insert("content-type", "application/json; charset=utf-8".parse().unwrap());
        let mut body = Bytes::from_static(b"{\"project\": \"shop\"}");
        let form = read(&headers, &mut body).unwrap();
        let texts = texts(&form, &body).unwrap();
        let event = Incoming::read(texts[0]).unwrap();
        assert_eq!((&*event.ty, &*event.id, &*event.source), ("test.finished", "1", "a bä"));
        assert_eq!(event.text(), "{\"project\": \"shop\"}");
        event.check().unwrap();
    }
}
