use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::layers::table::{FOR_TESTS, LAYERS, Layer, Purity};
use crate::shell::Shell;

/// The part of `cargo metadata` that says who depends on whom.
#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    manifest_path: String,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    kind: Option<Use>,
}

/// When a dependency is built. Cargo leaves it out for the ordinary ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Use {
    Dev,
    Build,
}

pub(crate) fn run(shell: &Shell) -> Result<ExitCode> {
    let found = violations(shell)?;
    for violation in &found {
        println!("{violation}");
    }
    Ok(if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub(crate) fn violations(shell: &Shell) -> Result<Vec<String>> {
    let mut cargo = shell.cargo(&["metadata", "--no-deps", "--format-version", "1"]);
    let output = cargo.output().context("asking cargo for the manifests")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo cannot read the manifests: {}", errors.trim());
    let text = String::from_utf8(output.stdout).context("reading what cargo printed")?;
    violations_of(&text)
}

fn violations_of(metadata: &str) -> Result<Vec<String>> {
    let metadata: Metadata =
        serde_json::from_str(metadata).context("reading what cargo printed")?;
    let mut found = Vec::new();
    for package in &metadata.packages {
        let name = short(&package.name);
        let Some(layer) = LAYERS.iter().find(|it| it.name == name) else {
            found.push(format!("{name}: say what it may use, in xtask/src/layers/table.rs"));
            continue;
        };
        if !package.manifest_path.ends_with(&format!("/{name}/Cargo.toml")) {
            found.push(format!("{name}: its folder has another name; rename one of them"));
        }
        let refused = package.dependencies.iter().filter_map(|it| refusal(layer, it));
        found.extend(refused.map(|why| format!("{name}: {why}")));
    }
    Ok(found)
}

fn short(name: &str) -> &str {
    name.strip_prefix("seaway-").unwrap_or(name)
}

/// Why a crate may not have a dependency. Tests of a pure crate may use anything from outside.
fn refusal(layer: &Layer, dependency: &Dependency) -> Option<String> {
    let name = short(&dependency.name);
    let in_tests = dependency.kind == Some(Use::Dev);
    if LAYERS.iter().any(|it| it.name == name) {
        let for_tests = in_tests && (name == FOR_TESTS || name == layer.name);
        let allowed = for_tests || layer.may_use.contains(&name);
        return (!allowed).then(|| format!("may not use {name}; arrows point the other way"));
    }
    match layer.purity {
        Purity::Pure(allowed) if !in_tests && !allowed.contains(&name) => {
            Some(format!("is pure and may not use {name}; take what it gives as an argument"))
        }
        Purity::Pure(_) | Purity::Free => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(package: &str, dependency: &str, kind: &str, allowed: bool) {
        let folder = short(package);
        let text = format!(
            r#"{{"packages": [{{
                "name": "{package}",
                "manifest_path": "/x/{folder}/Cargo.toml",
                "dependencies": [{{"name": "{dependency}", "kind": {kind}}}]
            }}]}}"#
        );
        let found = violations_of(&text).expect("the text is what cargo prints");
        assert_eq!(found.is_empty(), allowed, "{found:?}");
    }

    #[test]
    fn arrows_point_one_way() {
        check("seaway-wire", "seaway-kernel", "null", true);
        check("seaway-kernel", "seaway-wire", "null", false);
        check("seaway-kernel", "seaway-wire", "\"dev\"", false);
        check("seaway-cli", "seaway-operator", "null", true);
        check("seaway-operator", "seaway-server", "null", false);
        check("seaway-sim", "seaway-engine", "null", true);
        check("seaway-sim", "seaway-executor", "null", false);
        check("seaway-bench", "seaway-engine", "null", true);
        check("xtask", "seaway-model", "null", false);
    }

    #[test]
    fn only_tests_use_the_simulator() {
        check("seaway-engine", "seaway-sim", "null", false);
        check("seaway-engine", "seaway-sim", "\"build\"", false);
        check("seaway-engine", "seaway-sim", "\"dev\"", true);
    }

    #[test]
    fn pure_crates_use_little_from_outside() {
        check("seaway-kernel", "serde", "null", true);
        check("seaway-kernel", "tokio", "null", false);
        check("seaway-model", "serde_json", "null", false);
        check("seaway-kernel", "proptest", "\"dev\"", true);
        check("seaway-wire", "serde_json", "null", true);
        check("seaway-model", "rand", "\"build\"", false);
        check("seaway-store", "tokio", "null", true);
    }

    #[test]
    fn a_crate_has_a_layer_and_the_name_of_its_folder() {
        check("seaway-extra", "serde", "null", false);
        let text = r#"{"packages": [
            {"name": "seaway-wire", "manifest_path": "/x/y/Cargo.toml", "dependencies": []}
        ]}"#;
        assert_eq!(violations_of(text).expect("the text is what cargo prints").len(), 1);
    }

    #[test]
    fn the_workspace_keeps_its_layers() {
        let shell = Shell::new().expect("signals can be watched");
        let found = violations(&shell).expect("cargo reads the manifests");
        assert!(found.is_empty(), "{}", found.join("\n"));
    }
}
