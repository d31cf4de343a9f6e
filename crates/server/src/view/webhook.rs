use seaway_api::{Delivery, DeliveryState, Webhook};
use seaway_model::Seq;
use seaway_store::DeliveryOutcome;

use crate::clock;
use crate::webhook::WebhookDocument;

/// A webhook, and how far it has come.
pub(crate) fn webhook(document: &WebhookDocument, position: Seq) -> Webhook {
    Webhook {
        name: document.name.to_string(),
        url: document.url.to_string(),
        events: document.events.iter().map(ToString::to_string).collect(),
        position: position.0,
    }
}

pub(crate) fn delivery(stored: &seaway_store::Delivery) -> Delivery {
    Delivery {
        record: stored.record.0,
        event: stored.event.to_string(),
        attempt: stored.attempt,
        at: clock::show(stored.at),
        state: match stored.outcome {
            DeliveryOutcome::Delivered => DeliveryState::Delivered,
            DeliveryOutcome::Retrying => DeliveryState::Retrying,
            DeliveryOutcome::GivenUp => DeliveryState::GivenUp,
        },
        detail: stored.detail.to_string(),
        milliseconds: stored.milliseconds,
    }
}
