use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use seaway_api::{Apply, Source, Trigger};
use serde_json::json;

pub(super) const PROJECT: &str = "shop";
const DOCUMENTS: &str = include_str!("example/shop.yaml");
const FILES: [(&str, &str); 4] = [
    ("tasks.yaml", include_str!("example/tasks.yaml")),
    ("deployment.sh", include_str!("example/deployment.sh")),
    ("test.sh", include_str!("example/test.sh")),
    ("rollback.sh", include_str!("example/rollback.sh")),
];

/// What is applied.
pub(super) fn documents() -> Apply {
    Apply { sources: vec![Source { path: "shop.yaml".into(), text: DOCUMENTS.into() }] }
}

/// Writes what the worker runs below a directory, and gives the file with its definitions.
pub(super) fn write(dir: &Path) -> Result<PathBuf> {
    let dir = dir.join("example");
    fs::create_dir_all(&dir).context("the files of the example cannot be written")?;
    fs::write(dir.join("shop.yaml"), DOCUMENTS)?;
    for (name, text) in FILES {
        fs::write(dir.join(name), text)?;
    }
    Ok(dir.join("tasks.yaml"))
}

/// A version that is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Release {
    pub(super) service: &'static str,
    pub(super) version: &'static str,
    /// Requests of forty that it gets wrong.
    pub(super) faults: u32,
}

pub(super) const FIRST: [Release; 3] =
    [release("cart", "1.0"), release("search", "4.2"), release("payment", "2.7")];
pub(super) const FAULTY: Release = Release { faults: 3, ..release("cart", "1.1") };
pub(super) const FIXED: Release = release("cart", "1.2");
pub(super) const NEWER: Release = release("search", "4.3");

const fn release(service: &'static str, version: &'static str) -> Release {
    Release { service, version, faults: 0 }
}

impl Release {
    pub(super) fn trigger(self) -> Trigger {
        let data = match json!({"artifact": {"faults": self.faults}}) {
            serde_json::Value::Object(data) => Some(data),
            _ => None,
        };
        Trigger {
            stage: "dev".into(),
            sequence: "delivery".into(),
            service: self.service.into(),
            version: self.version.into(),
            data,
            deployment: None,
        }
    }
}
