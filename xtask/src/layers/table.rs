/// What one crate of the workspace may depend on.
#[derive(Debug)]
pub(crate) struct Layer {
    /// Without the `seaway-` prefix; the name of its folder.
    pub(crate) name: &'static str,
    /// Crates of the workspace that it may use, as a part of the list below.
    pub(crate) may_use: &'static [&'static str],
    pub(crate) purity: Purity,
}

#[derive(Debug)]
pub(crate) enum Purity {
    /// No clock, randomness, files, network or runtime: only these from outside.
    Pure(&'static [&'static str]),
    /// Anything from outside.
    Free,
}

/// The crates from the ground up: each may use those before it.
const ORDER: &[&str] = &["model", "shipyard", "kernel", "wire", "store", "engine"];

/// The crate that tests of any other may use, because no product is built from it.
pub(crate) const FOR_TESTS: &str = "sim";

const PURE: Purity = Purity::Pure(&[
    "hashbrown",
    "postcard",
    "rustc-hash",
    "serde",
    "sha2",
    "smallvec",
    "thiserror",
    "uuid",
]);

/// What knows data and stored records also knows their form.
const PURE_WITH_JSON: Purity = Purity::Pure(&[
    "hashbrown",
    "postcard",
    "rustc-hash",
    "serde",
    "serde_json",
    "sha2",
    "smallvec",
    "thiserror",
    "uuid",
]);

/// The document also knows YAML, how its problems are shown, and its schema.
const PURE_WITH_YAML: Purity =
    Purity::Pure(&["granit-parser", "miette", "schemars", "serde", "serde_json", "thiserror"]);

/// The shapes of the interface also know how they are described.
const PURE_WITH_OPENAPI: Purity = Purity::Pure(&["serde", "serde_json", "utoipa", "uuid"]);

pub(crate) const LAYERS: &[Layer] = &[
    Layer { name: "model", may_use: &[], purity: PURE },
    Layer { name: "shipyard", may_use: ORDER.split_at(1).0, purity: PURE_WITH_YAML },
    Layer { name: "kernel", may_use: ORDER.split_at(2).0, purity: PURE_WITH_JSON },
    Layer { name: "scenario", may_use: ORDER.split_at(3).0, purity: PURE_WITH_JSON },
    Layer { name: "wire", may_use: ORDER.split_at(3).0, purity: PURE_WITH_JSON },
    Layer { name: "store", may_use: ORDER.split_at(4).0, purity: Purity::Free },
    Layer { name: "engine", may_use: ORDER.split_at(5).0, purity: Purity::Free },
    Layer { name: "api", may_use: &[], purity: PURE_WITH_OPENAPI },
    Layer { name: "outbound", may_use: &[], purity: Purity::Free },
    Layer { name: "vault", may_use: &[], purity: Purity::Free },
    Layer { name: "client", may_use: &["api"], purity: Purity::Free },
    Layer {
        name: "executor",
        may_use: &["model", "shipyard", "api", "client"],
        purity: Purity::Free,
    },
    Layer {
        name: "server",
        may_use: &[
            "model", "shipyard", "kernel", "wire", "store", "engine", "api", "outbound", "vault",
        ],
        purity: Purity::Free,
    },
    Layer {
        name: "cli",
        may_use: &[
            "model", "shipyard", "kernel", "scenario", "wire", "store", "engine", "api", "client",
            "outbound", "executor", "server",
        ],
        purity: Purity::Free,
    },
    Layer { name: "sim", may_use: ORDER.split_at(6).0, purity: Purity::Free },
    Layer { name: "crashling", may_use: ORDER.split_at(6).0, purity: Purity::Free },
    Layer { name: "bench", may_use: ORDER.split_at(6).0, purity: Purity::Free },
    Layer { name: "xtask", may_use: &[], purity: Purity::Free },
];
