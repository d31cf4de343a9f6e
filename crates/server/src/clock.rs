use seaway_model::Timestamp;

/// The wall clock, for what people and other systems read, and for the ends that people set.
#[expect(clippy::disallowed_methods, reason = "the one place of this crate that reads the clock")]
pub(crate) fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_microsecond())
}

/// A new id, which sorts by the time at which it was made.
#[expect(clippy::disallowed_methods, reason = "the one place of this crate that makes ids")]
pub(crate) fn new_id() -> uuid::Uuid {
    uuid::Uuid::now_v7()
}

/// A time as people and machines read it: RFC 3339, in UTC, to the microsecond.
pub(crate) fn show(time: Timestamp) -> String {
    match jiff::Timestamp::from_microsecond(time.0) {
        Ok(time) => format!("{time:.6}"),
        Err(_) => format!("{} microseconds after 1970", time.0),
    }
}
