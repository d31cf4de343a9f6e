use crate::harbor::{Server, TWO_STAGES, seaway, write};

/// The wrong things that somebody tries on the way each explain themselves.
#[test]
fn mistakes_explain_themselves() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let server = Server::start(&data);

    let typo = TWO_STAGES.replace("tasks: [{name: deployment}, {name: test}]", "task: []");
    let typo = write(dir.path(), "typo.yaml", &typo);
    let said = server.fails(1, &["apply", "-f", typo.to_str().unwrap()]);
    assert!(said.contains("typo.yaml:") && said.contains("did you mean `tasks`?"), "{said}");

    let shipyard = write(dir.path(), "shipyard.yaml", TWO_STAGES);
    server.ok(&["apply", "-f", shipyard.to_str().unwrap()]);

    let said = server.fails(2, &["trigger", "shop", "dev.delivery", "--service", "cart"]);
    assert!(said.contains("--version"), "{said}");

    let trigger = ["trigger", "shop", "beta.delivery", "--service", "cart", "--version", "1.0"];
    let said = server.fails(1, &trigger);
    assert!(said.contains("there is no sequence beta.delivery"), "{said}");

    let said = server.fails(1, &["status", "shup"]);
    assert!(said.contains("there is no project \"shup\""), "{said}");

    let said =
        server.command(&["status", "shop"]).env("SEAWAY_TOKEN", "swy_wrong").output().unwrap();
    assert_eq!(said.status.code(), Some(4));
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.contains("the token is not known here"), "{said}");

    let address = server.url.trim_start_matches("http://");
    let other = dir.path().join("other");
    let taken = seaway(&["serve", "--listen", address, "--data"]).arg(&other).output().unwrap();
    assert_eq!(taken.status.code(), Some(1));
    let said = String::from_utf8_lossy(&taken.stderr).into_owned();
    assert!(said.contains("is in use already") && said.contains("--listen"), "{said}");

    let second =
        seaway(&["serve", "--listen", "127.0.0.1:0", "--data"]).arg(&data).output().unwrap();
    assert_eq!(second.status.code(), Some(1));
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(said.contains("is in use by process"), "{said}");

    let nobody = seaway(&["status"]).env("SEAWAY_URL", "http://127.0.0.1:9").output().unwrap();
    assert_eq!(nobody.status.code(), Some(1));
    let said = String::from_utf8_lossy(&nobody.stderr).into_owned();
    assert!(said.contains("seaway serve"), "{said}");
}
