use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::Command;

use seaway_model::{Epoch, Seq};
use seaway_store::{
    AppendError, BackupError, Checkpoint, OpenError, RestoreError, Store, StoreError, VerifyError,
};

use crate::builder::{Builder, deployed, name};
use crate::place::{Place, skipped, tamper_sqlite};
use crate::tamper::told;

#[tokio::test]
async fn a_backup_made_while_appends_go_on_restores_to_a_verified_log() {
    let place = Place::sqlite();
    let (store, mut log) = place.shop().await;
    let cart = deployed(1, "cart");
    store.append(log.some(&cart, 2_000)).await.unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("seaway.db");
    let appends = async {
        for _ in 0..20 {
            store.append(log.some(&cart, 50)).await.unwrap();
        }
    };
    let (backup, ()) = tokio::join!(store.backup(&copy), appends);
    backup.unwrap();
    let again = store.backup(&copy).await;
    assert!(matches!(again, Err(BackupError::Exists(_))), "{again:?}");

    let restored = Store::sqlite(elsewhere.path()).unwrap();
    let verified = restored.verify(&name("shop"), |_| ()).await.unwrap();
    assert!((2_000..=3_000).contains(&verified.records));
    let row = &store.rows(&name("shop"), Seq(verified.records - 1), 1).await.unwrap()[0];
    assert_eq!(row.hash, verified.head.hash);
    // The copy is a store like any other.
    let epoch = restored.acquire(&name("shop"), "restored").await.unwrap();
    (log.epoch, log.seq, log.hash) = (epoch, row.seq, row.hash);
    restored.append(log.some(&cart, 3)).await.unwrap();
}

#[tokio::test]
async fn only_a_sound_backup_is_restored_and_only_to_an_empty_directory() {
    let place = Place::sqlite();
    let (store, mut log) = place.shop().await;
    store.append(log.some(&deployed(1, "cart"), 5_000)).await.unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let backup = elsewhere.path().join("backup.db");
    store.backup(&backup).await.unwrap();
    let into = |name: &str| elsewhere.path().join(name);

    let Place::Sqlite(used) = &place else { unreachable!() };
    let refused = Store::restore(&backup, used.path()).await.unwrap_err();
    assert!(matches!(refused, RestoreError::NotEmpty(_)), "{refused:?}");
    drop(store);
    let refused = Store::restore(&backup, used.path()).await.unwrap_err();
    assert!(matches!(refused, RestoreError::NotEmpty(_)), "{refused:?}");
    let refused = Store::restore(&into("none.db"), &into("new")).await.unwrap_err();
    assert!(matches!(refused, RestoreError::Unusable(OpenError::Missing(_))), "{refused:?}");

    // Each of these is refused, and leaves nothing that looks like a store.
    let spoiled = |name: &str| {
        let copy = into(name);
        std::fs::copy(&backup, &copy).unwrap();
        copy
    };
    let damaged = spoiled("damaged.db");
    let length = std::fs::metadata(&damaged).unwrap().len();
    overwrite(&damaged, length / 4, length / 2);
    let unordered = spoiled("unordered.db");
    let broken = "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql =
         replace(sql, 'ON answer (project, at)', 'ON answer (project, revision)')
         WHERE name = 'answer_at'; INSERT INTO answer VALUES (1, x'01', 1, NULL, 5)";
    rusqlite::Connection::open(&unordered).unwrap().execute_batch(broken).unwrap();
    let newer = spoiled("newer.db");
    let version = "PRAGMA user_version = 99";
    rusqlite::Connection::open(&newer).unwrap().execute_batch(version).unwrap();
    let foreign = into("foreign.db");
    let table = "CREATE TABLE recipe (cake TEXT); PRAGMA user_version = 1";
    rusqlite::Connection::open(&foreign).unwrap().execute_batch(table).unwrap();
    for (file, reason) in [
        (&damaged, "is damaged; take another one"),
        (&unordered, "is damaged; take another one"),
        (&newer, "schema version 99"),
        (&foreign, "holds no log"),
    ] {
        let refused = Store::restore(file, &into("new")).await.unwrap_err();
        assert!(refused.to_string().contains(reason), "{refused:?}");
        assert!(!into("new").join("seaway.db").exists());
    }

    // What a restore that was killed has left does not matter, nor is the backup changed.
    std::fs::create_dir_all(into("new")).unwrap();
    std::fs::write(into("new").join("seaway.db.restoring"), "half").unwrap();
    let before = std::fs::read(&backup).unwrap();
    Store::restore(&backup, &into("new")).await.unwrap();
    assert!(std::fs::read(&backup).unwrap() == before);
    let restored = Store::sqlite(&into("new")).unwrap();
    let verified = restored.verify(&log.project, |_| ()).await.unwrap();
    assert_eq!(verified.head.hash, log.hash);
}

#[tokio::test]
async fn a_data_directory_has_one_owner_and_any_number_of_readers() {
    let place = Place::sqlite();
    let Place::Sqlite(dir) = &place else { unreachable!() };
    let missing = Store::sqlite_read_only(dir.path()).unwrap_err();
    assert!(matches!(missing, OpenError::Missing(_)), "{missing:?}");
    let (store, mut log) = place.shop().await;
    store.append(log.some(&deployed(1, "cart"), 9)).await.unwrap();

    let locked = Store::sqlite(dir.path()).unwrap_err().to_string();
    assert!(locked.contains(&dir.path().display().to_string()), "{locked}");
    assert!(locked.contains(&std::process::id().to_string()), "{locked}");

    let beside = Store::sqlite_read_only(dir.path()).unwrap();
    assert_eq!(beside.verify(&log.project, |_| ()).await.unwrap().records, 9);
    let refused = beside.append(log.clone().some(&deployed(1, "cart"), 1)).await;
    assert!(matches!(refused, Err(AppendError::ReadOnly)), "{refused:?}");
    drop((store, beside));
    let alone = Store::sqlite_read_only(dir.path()).unwrap();
    assert_eq!(alone.verify(&log.project, |_| ()).await.unwrap().records, 9);
    assert!(matches!(alone.acquire(&log.project, "x").await, Err(StoreError::ReadOnly)));
    place.open().await;
}

#[tokio::test]
async fn appends_that_nobody_waits_for_are_written_in_order_and_none_behind_a_refused_one() {
    let place = Place::sqlite();
    let (store, mut log) = place.shop().await;
    assert!(store.keeps_order());
    let cart = deployed(1, "cart");
    let mut receipts = Vec::new();
    for count in 1..=20 {
        receipts.push(store.hand_in(log.some(&cart, count)).await.unwrap());
    }
    for receipt in receipts {
        receipt.await.unwrap();
    }
    assert_eq!(store.verify(&log.project, |_| ()).await.unwrap().head.hash, log.hash);

    let mut late = log.clone();
    let missing = late.some(&cart, 1);
    let behind = late.some(&cart, 1);
    let mut stale = missing.clone();
    stale.epoch = Epoch(0);
    let first = store.hand_in(stale).await.unwrap();
    let second = store.hand_in(behind).await.unwrap();
    assert!(matches!(first.await, Err(AppendError::Fenced { .. })));
    assert!(matches!(second.await, Err(AppendError::Position { .. })));
    store.append(missing).await.unwrap();
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let place = Place::sqlite();
    let Place::Sqlite(dir) = &place else { unreachable!() };
    drop(place.shop().await);
    tamper_sqlite(dir.path(), "PRAGMA user_version = 99");
    let before = std::fs::read(dir.path().join("seaway.db")).unwrap();
    for refused in [Store::sqlite(dir.path()), Store::sqlite_read_only(dir.path())] {
        let refused = refused.unwrap_err();
        assert!(matches!(refused, OpenError::Newer { found: 99, .. }), "{refused:?}");
    }
    assert!(std::fs::read(dir.path().join("seaway.db")).unwrap() == before);
}

#[test]
fn a_file_without_a_log_is_said_to_have_none() {
    let dir = tempfile::tempdir().unwrap();
    let database = dir.path().join("seaway.db");
    // A writer that was killed before its first commit leaves an empty file.
    File::create(&database).unwrap();
    let empty = Store::sqlite_read_only(dir.path()).unwrap_err();
    assert!(matches!(empty, OpenError::NoLog { .. }), "{empty:?}");
    tamper_sqlite(dir.path(), "CREATE TABLE recipe (cake TEXT); PRAGMA user_version = 1");
    let foreign = Store::sqlite_read_only(dir.path()).unwrap_err();
    assert!(matches!(foreign, OpenError::NoLog { .. }), "{foreign:?}");
    assert!(foreign.to_string().contains("seaway.db holds no log"), "{foreign}");

    std::fs::remove_file(&database).unwrap();
    drop(Store::sqlite(dir.path()).unwrap());
    tamper_sqlite(dir.path(), "PRAGMA user_version = 0");
    let older = Store::sqlite_read_only(dir.path()).unwrap_err();
    assert!(matches!(older, OpenError::Older { found: 0, known: 3 }), "{older:?}");
}

#[tokio::test]
async fn damage_beside_the_log_is_found_by_a_verification() {
    let place = Place::sqlite();
    let Place::Sqlite(dir) = &place else { unreachable!() };
    let (store, mut log) = place.shop().await;
    store.append(log.some(&deployed(1, "cart"), 50)).await.unwrap();
    let (seq, hash) = (log.seq, log.hash);
    let bytes = vec![0x5c; 100_000];
    let checkpoint = Checkpoint { seq, hash, state_digest: hash, bytes };
    store.put_checkpoint(&log.project, &checkpoint).await.unwrap();
    store.verify(&log.project, |_| ()).await.unwrap();
    drop(store);

    // The first bytes of a page that is full of the checkpoint say where it goes on.
    let database = dir.path().join("seaway.db");
    let file = std::fs::read(&database).unwrap();
    let page = file.chunks(4_096).position(|page| page[4..].iter().all(|byte| *byte == 0x5c));
    overwrite(&database, page.unwrap() as u64 * 4_096, 4);
    let store = place.open().await;
    let found = store.verify(&log.project, |_| ()).await.unwrap_err();
    assert!(matches!(found, VerifyError::Elsewhere(_)), "{found:?}");
    assert_eq!(store.rows(&log.project, Seq(0), 100).await.unwrap().len(), 50);
}

#[tokio::test]
async fn damage_to_the_file_is_named_as_such() {
    let place = Place::sqlite();
    let Place::Sqlite(dir) = &place else { unreachable!() };
    let (store, mut log) = place.shop().await;
    store.append(log.some(&deployed(1, "cart"), 5_000)).await.unwrap();
    drop(store);
    let database = dir.path().join("seaway.db");
    let length = std::fs::metadata(&database).unwrap().len();
    overwrite(&database, length / 4, length / 2);
    let store = place.open().await;
    let found = store.verify(&log.project, |_| ()).await.unwrap_err();
    assert!(matches!(found, VerifyError::Store(StoreError::Corrupt(_))), "{found:?}");
    drop(store);
    overwrite(&database, 0, 200);
    for refused in [Store::sqlite(dir.path()), Store::sqlite_read_only(dir.path())] {
        let refused = refused.unwrap_err();
        assert!(matches!(refused, OpenError::Damaged { .. }), "{refused:?}");
        let told = told(&refused);
        assert_eq!(told.matches("file is not a database").count(), 1, "{told}");
    }
}

fn overwrite(path: &Path, from: u64, length: u64) {
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(from)).unwrap();
    file.write_all(&vec![0xa5; usize::try_from(length).unwrap()]).unwrap();
}

/// A file system of a few megabytes, which only root can make.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
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

#[tokio::test]
async fn a_full_disk_refuses_appends_until_there_is_space_again() {
    let Some(disk) = SmallDisk::mount() else {
        skipped("a full disk, which needs a mount of its own; run the tests as root");
        return;
    };
    let dir = disk.0.path().join("store");
    let store = Store::sqlite(&dir).unwrap();
    store.create_project(&name("shop")).await.unwrap();
    let epoch = store.acquire(&name("shop"), "test").await.unwrap();
    let mut log = Builder::new("shop", epoch);
    let cart = deployed(1, "cart");
    for round in 0..3 {
        let ballast = disk.0.path().join("ballast");
        fill(&ballast);
        let refused = loop {
            let mut next = log.clone();
            match store.append(next.some(&cart, 40)).await {
                Ok(()) => log = next,
                Err(error) => break error,
            }
        };
        assert!(matches!(refused, AppendError::DiskFull), "round {round}: {refused:?}");
        let verified = store.verify(&log.project, |_| ()).await.unwrap();
        assert_eq!(verified.head.hash, log.hash);
        std::fs::remove_file(ballast).unwrap();
        store.append(log.some(&cart, 40)).await.unwrap();
    }
    drop(store);
    let store = Store::sqlite(&dir).unwrap();
    assert_eq!(store.verify(&log.project, |_| ()).await.unwrap().head.hash, log.hash);
}

/// Takes all the space there is.
fn fill(path: &Path) {
    let mut file = File::create(path).unwrap();
    while file.write_all(&[0; 4_096]).is_ok() {}
}
