use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use seaway_model::{Name, Seq};
use seaway_wire::{ArchiveCheck, ArchiveContent, ArchiveText, ChainCheck};

use crate::checkpoint::USABLE;
use crate::decode::{self, Damaged, ROW};
use crate::error::{ArchiveError, Cause, StoreError};
use crate::log_store::{Columns, Query, int};
use crate::store::Store;

/// Records that are in memory at one time, and that one transaction removes.
const PAGE: i64 = 1_000;

/// The longest line that is read: no record is nearly as long.
const LONGEST_LINE: u64 = 64 * 1024 * 1024;

impl Store {
    /// The last record that was archived; position 0 and the genesis hash when none was.
    pub async fn archived(&self, project: &Name) -> Result<ChainCheck, StoreError> {
        let query = Query::new(
            "SELECT base, base_hash FROM project WHERE name = ?1",
            vec![project.as_str().into()],
        );
        let found = self.select(query, base).await?.pop();
        found.ok_or_else(|| StoreError::UnknownProject(project.clone()))
    }

    /// The last position up to `upto` that the log can do without. What is behind it is needed to
    /// load the project: from a checkpoint on, and everything about the deployments that have
    /// records after that checkpoint, because one of them may be a retry, which folds it all.
    pub async fn archivable(&self, project: &Name, upto: Seq) -> Result<Seq, StoreError> {
        let id = self.project_id(project).await?;
        let usable = format!(
            "SELECT c.seq FROM checkpoint c WHERE {USABLE} AND c.length =
               (SELECT sum(length(p.bytes)) FROM checkpoint_piece p
                WHERE p.project = ?1 AND p.seq = c.seq)
             ORDER BY c.seq DESC"
        );
        let usable = self.select(Query::new(usable, vec![id.into()]), decode::first_int).await?;
        let mut possible = int(upto.0).min(usable.first().copied().unwrap_or_default());
        for checkpoint in usable {
            // Each one from the position on may be the one that is used, if others are damaged.
            if checkpoint < possible {
                break;
            }
            let oldest = Query::new(
                "SELECT min(d.seq) FROM record r CROSS JOIN deployment d
                 WHERE r.project = ?1 AND r.seq > ?2 AND d.project = ?1 AND d.id = r.deployment",
                vec![id.into(), checkpoint.into()],
            );
            let oldest = self.select(oldest, |line| line.maybe_int(0)).await?;
            if let Some(oldest) = oldest.first().copied().flatten() {
                possible = possible.min(oldest - 1);
            }
        }
        Ok(Seq(possible.unsigned_abs()))
    }

    /// Moves the records up to a position, from where the last archive ended, to a new file, and
    /// says what is in it. The log goes on from the hash of the last one. Deployments, targets and
    /// what they did where stay; only the records go.
    ///
    /// The file is complete, durable and checked before the log is changed. Whoever owns the
    /// project is fenced then and has to load it again, because it may have just read what is being
    /// archived, to go on with it: `fenced` is awaited at that moment, before records are removed.
    /// What is interrupted while it removes records is made up for by the next one.
    pub async fn archive(
        &self,
        project: &Name,
        upto: Seq,
        file: &Path,
        fenced: impl Future<Output = ()>,
    ) -> Result<ArchiveContent, ArchiveError> {
        self.remove_archived(project).await?;
        let (base, head) = (self.archived(project).await?, self.head(project).await?.seq);
        if upto <= base.seq {
            return Err(ArchiveError::Nothing { base: base.seq });
        }
        self.refuse_needed(project, upto).await?;
        let content = match self.left_before(project, (base, upto), file).await? {
            Some(content) => content,
            None => self.write_archive(project, (base, upto), file).await?,
        };
        // When that fails nobody knows whether it was done, and the file may be the only copy.
        if !self.rebase(project, upto, head).await? {
            // The first error is the one worth telling.
            let _ = on_file(file, |path| std::fs::remove_file(path)).await;
            self.refuse_needed(project, upto).await?;
            let reason = "the log was archived or taken up again at the same time; try again";
            return Err(failed(file, reason.into()));
        }
        fenced.await;
        self.remove_archived(project).await?;
        Ok(content)
    }

    /// A file of an attempt that was interrupted before it was known to have changed the log, and
    /// that has exactly what is to be archived. Any other file that is there is left alone.
    async fn left_before(
        &self,
        project: &Name,
        (base, upto): (ChainCheck, Seq),
        file: &Path,
    ) -> Result<Option<ArchiveContent>, ArchiveError> {
        if !on_file(file, |path| path.try_exists()).await? {
            return Ok(None);
        }
        match Self::verify_archive(file).await {
            Ok(content)
                if (&content.project, content.first, content.last)
                    == (project, base.seq.next(), upto) =>
            {
                Ok(Some(content))
            }
            _ => Err(ArchiveError::Exists(file.to_owned())),
        }
    }

    /// Writes beside the file, so that there is a whole one or none.
    async fn write_archive(
        &self,
        project: &Name,
        (base, upto): (ChainCheck, Seq),
        file: &Path,
    ) -> Result<ArchiveContent, ArchiveError> {
        let mut part = file.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let writing = on_file(&part, |path| File::create(path)).await?;
        let written = self.write_records(project, base, upto, &part, writing.into()).await;
        let content = match written {
            Ok(()) => Self::verify_archive(&part).await,
            Err(error) => Err(error),
        };
        if content.is_err() {
            let _ = on_file(&part, |path| std::fs::remove_file(path)).await;
            return content;
        }
        let whole = file.to_owned();
        on_file(&part, move |part| {
            std::fs::rename(part, &whole)?;
            let dir = whole.parent().filter(|dir| !dir.as_os_str().is_empty());
            File::open(dir.unwrap_or(Path::new(".")))?.sync_all()
        })
        .await?;
        content
    }

    /// Checks that a file is an archive as it was written, and says what is in it.
    pub async fn verify_archive(file: &Path) -> Result<ArchiveContent, ArchiveError> {
        let path = file.to_owned();
        let checked = tokio::task::spawn_blocking(move || check(&path)).await;
        checked.unwrap_or_else(|error| Err(failed(file, error.into())))
    }

    async fn refuse_needed(&self, project: &Name, upto: Seq) -> Result<(), ArchiveError> {
        let possible = self.archivable(project, upto).await?;
        if possible < upto { Err(ArchiveError::TooFar { upto, possible }) } else { Ok(()) }
    }

    async fn write_records(
        &self,
        project: &Name,
        base: ChainCheck,
        upto: Seq,
        path: &Path,
        file: Arc<File>,
    ) -> Result<(), ArchiveError> {
        let id = self.project_id(project).await?;
        let append = async |lines: String| {
            let file = file.clone();
            on_file(path, move |_| (&*file).write_all(lines.as_bytes())).await
        };
        let sql = format!(
            "SELECT {ROW}, t.path FROM record r
             JOIN target t ON t.project = r.project AND t.id = r.target
             WHERE r.project = ?1 AND r.seq > ?2 AND r.seq <= ?3 ORDER BY r.seq LIMIT ?4"
        );
        let mut text = ArchiveText::new(base);
        let mut lines = text.begin(project);
        while text.last() < upto {
            let (after, last) = (int(text.last().0), int(upto.0));
            let values = vec![id.into(), after.into(), last.into(), PAGE.into()];
            let page = self.select(Query::new(sql.clone(), values), decode::listed).await?;
            if page.is_empty() {
                return Err(StoreError::Corrupt("the log has a gap".into()).into());
            }
            for listed in page {
                let line = text.record(&listed.row, &listed.path);
                lines.push_str(&line.map_err(ArchiveError::Log)?);
            }
            append(std::mem::take(&mut lines)).await?;
        }
        append(text.end()).await?;
        on_file(path, move |_| file.sync_all()).await
    }

    /// From here on the log begins behind a position, unless somebody has gone on with one of the
    /// deployments before it since `head`. Appends wait meanwhile, and those that were decided
    /// before are refused.
    async fn rebase(&self, project: &Name, upto: Seq, head: Seq) -> Result<bool, StoreError> {
        let id = self.project_id(project).await?;
        // PostgreSQL looks at other tables as they were before it waited for a lock.
        let lock = Query::new("UPDATE project SET base = base WHERE id = ?1", vec![id.into()]);
        let rebase = Query::new(
            "UPDATE project SET base = ?2, epoch = epoch + 1, base_hash =
               (SELECT hash FROM record WHERE project = ?1 AND seq = ?2)
             WHERE id = ?1 AND base < ?2
             AND EXISTS (SELECT 1 FROM checkpoint
               WHERE project = ?1 AND seq >= ?2 AND set_aside IS NULL)
             AND NOT EXISTS (SELECT 1 FROM record r CROSS JOIN deployment d
               WHERE r.project = ?1 AND r.seq > ?3 AND d.project = ?1 AND d.id = r.deployment
               AND d.seq <= ?2)
             RETURNING base",
            vec![id.into(), int(upto.0).into(), int(head.0).into()],
        );
        Ok(self.write(vec![lock, rebase]).await?.is_some())
    }

    /// Removes the records that are archived, oldest first, in small steps.
    async fn remove_archived(&self, project: &Name) -> Result<(), StoreError> {
        let id = self.project_id(project).await?;
        let first = Query::new(
            "SELECT min(r.seq) FROM record r WHERE r.project = ?1 AND r.seq <=
               (SELECT p.base FROM project p WHERE p.id = ?1)",
            vec![id.into()],
        );
        loop {
            let left = self.select(first.clone(), |line| line.maybe_int(0)).await?;
            let Some(first) = left.first().copied().flatten() else { return Ok(()) };
            let step = Query::new(
                "DELETE FROM record WHERE project = ?1 AND seq < ?2 AND seq <=
                   (SELECT base FROM project WHERE id = ?1)",
                vec![id.into(), (first + PAGE).into()],
            );
            self.write(vec![step]).await?;
        }
    }
}

fn base(line: &dyn Columns) -> Result<ChainCheck, Damaged> {
    Ok(ChainCheck { seq: Seq(decode::number(line, 0)?), hash: decode::digest(line, 1)? })
}

/// Does something with a file on a thread that may block.
async fn on_file<T: Send + 'static>(
    file: &Path,
    work: impl FnOnce(&Path) -> std::io::Result<T> + Send + 'static,
) -> Result<T, ArchiveError> {
    let path: PathBuf = file.to_owned();
    let done = tokio::task::spawn_blocking(move || work(&path)).await;
    match done {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(failed(file, error.into())),
        Err(error) => Err(failed(file, error.into())),
    }
}

fn failed(file: &Path, source: Cause) -> ArchiveError {
    ArchiveError::Failed { path: file.to_owned(), source }
}

fn check(path: &Path) -> Result<ArchiveContent, ArchiveError> {
    let broken = |source| ArchiveError::Broken { path: path.to_owned(), source };
    let opened = File::open(path).map_err(|error| failed(path, error.into()))?;
    let (mut lines, mut line) = (BufReader::new(opened), String::new());
    let mut check = ArchiveCheck::default();
    loop {
        line.clear();
        let read = lines.by_ref().take(LONGEST_LINE).read_line(&mut line);
        if read.map_err(|error| failed(path, error.into()))? == 0 {
            return check.finish().map_err(broken);
        }
        check.line(&line).map_err(broken)?;
    }
}
