use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};
use seaway_shipyard::limits::TEXT_BYTES;

/// The text of a file, or of standard input where the file is `-`.
pub(crate) fn read(file: &Path) -> Result<String> {
    let shown = file.display();
    let mut bytes = Vec::new();
    // What is larger is refused by whoever reads the text; one byte more shows that it is.
    let most = TEXT_BYTES as u64 + 1;
    let read = if file == Path::new("-") {
        io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else {
        File::open(file).and_then(|file| file.take(most).read_to_end(&mut bytes))
    };
    read.with_context(|| format!("{shown} cannot be read"))?;
    if bytes.len() > TEXT_BYTES {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            bail!("{shown} is not a text: byte {at} is not UTF-8")
        }
    }
}
