use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use seaway_engine::{Obstacle, Options, RequestError};
use seaway_kernel::Kernel;
use seaway_model::Seq;
use seaway_store::Store;

use crate::harbor::{Harbor, eventually};
use crate::postgres::skipped;
use crate::requests::{by, deployment, name, start};

/// A file system of a few megabytes, which only root can make.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let options = ["-t", "tmpfs", "-o", "size=4m", "tmpfs"];
        let mounted = Command::new("mount").args(options).arg(dir.path()).output();
        mounted.is_ok_and(|output| output.status.success()).then_some(Self(dir))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.0.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()), "the disk is still in use");
    }
}

/// Takes all the space there is.
fn fill(path: &Path) {
    let mut file = File::create(path).expect("there is room for a name");
    while file.write_all(&[0; 4_096]).is_ok() {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_full_disk_reads_go_on_and_writes_come_back_with_the_space() {
    let Some(disk) = SmallDisk::mount() else {
        skipped("an engine on a full disk, which needs a mount of its own; run the tests as root");
        return;
    };
    let dir = disk.0.path().join("store");
    let backoff = (Duration::from_millis(1), Duration::from_millis(20));
    let options = Options { backoff, ..Options::default() };
    let harbor = Harbor::on(Store::sqlite(&dir).expect("it opens"), options.clone()).await;
    harbor.define().await;
    let shop = harbor.shop();
    let (mut number, mut granted) = (0, Vec::new());
    for round in 0..3 {
        let ballast = disk.0.path().join("ballast");
        fill(&ballast);
        let refused = loop {
            number += 1;
            match shop.send(start(number), by()).await {
                Ok(_) => granted.push(number),
                Err(error) => break error,
            }
        };
        let full = |error: &RequestError| {
            matches!(error, RequestError::NotWritten { why: Obstacle::DiskFull, .. })
        };
        assert!(full(&refused), "round {round}: {refused:?}");
        let again = shop.send(start(number), by()).await;
        assert!(again.as_ref().is_err_and(full), "round {round}: {again:?}");

        // Reading needs no space: neither from the state, which was loaded again, nor from the log.
        let known = shop.inspect(|kernel| kernel.deployments().count()).await;
        assert_eq!(known, Ok(granted.len()));
        let mut reader = shop.subscribe(Seq(0)).await.expect("the log can be read");
        assert_eq!(reader.next().await.expect("it has records")[0].seq, Seq(1));

        std::fs::remove_file(ballast).expect("it is there");
        number += 1;
        eventually("writing", async || shop.send(start(number), by()).await.ok()).await;
        granted.push(number);
    }
    let digest = shop.inspect(Kernel::digest).await.expect("it can be looked at");
    drop(shop);
    harbor.stop().await;

    let harbor = Harbor::on(Store::sqlite(&dir).expect("it opens again"), options).await;
    assert_eq!(harbor.digest(&name("shop")).await, digest);
    harbor.store.verify(&name("shop"), |_| ()).await.expect("the log is sound");
    for number in granted {
        let found = harbor.store.deployment(&name("shop"), deployment(number)).await;
        assert!(found.expect("it can be asked").is_some(), "{number} was acknowledged");
    }
    harbor.stop().await;
}
