use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A webhook as it is told, and how far it has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Webhook {
    pub name: String,
    pub url: String,
    pub events: Vec<String>,
    /// Everything up to this position of the log was delivered or given up.
    pub position: u64,
}

/// A key to check signatures with. It is told once, when it is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SigningKey {
    /// `whsec_` and base64, as Standard Webhooks has it.
    pub key: String,
}

/// One attempt to deliver one message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// The record that it is about.
    pub record: u64,
    pub event: String,
    pub attempt: u32,
    pub at: String,
    pub state: DeliveryState,
    /// The status that came back, or why none did.
    pub detail: String,
    pub milliseconds: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeliveryState {
    Delivered,
    /// It failed, and is tried again.
    Retrying,
    /// It failed too often.
    GivenUp,
}
