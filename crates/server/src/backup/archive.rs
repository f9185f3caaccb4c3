//! The file of a back-up: a tar, whose last part holds the SHA-256 of the others, as `sha256sum` writes it. A file that was
//! cut off or changed has no such part, or another sum.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

use anyhow::Context;
use ring::digest::{self, SHA256};
use tar::{Builder, Header};

/// Name of the last part.
const SUMS: &str = "SHA256SUMS";
/// Headers and parts begin at multiples of it.
const BLOCK: u64 = 512;
const CHUNK: usize = 256 * 1_024;
/// Parts that are read as a whole are not larger.
const SMALL: u64 = 16 << 20;

/// Writes the parts one after the other.
pub struct Writer<'a> {
    tar: Builder<&'a mut File>,
    /// Seconds since 1970, for all parts.
    made_at: u64,
    sums: String,
}

impl<'a> Writer<'a> {
    pub fn new(file: &'a mut File, made_at: u64) -> Self {
        Self { tar: Builder::new(file), made_at, sums: String::new() }
    }

    /// Writes a part whose end is found only by reading it.
    ///
    /// # Errors
    /// When `content` cannot be read or the file not be written.
    pub fn add(&mut self, name: &str, content: &mut dyn Read) -> io::Result<()> {
        let sum = self.write(name, content)?;
        self.sums.push_str(&format!("{sum}  {name}\n"));
        Ok(())
    }

    /// Writes the sums and the end.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        let sums = std::mem::take(&mut self.sums);
        self.write(SUMS, &mut sums.as_bytes())?;
        self.tar.finish()
    }

    fn write(&mut self, name: &str, content: &mut dyn Read) -> io::Result<String> {
        let mut header = Header::new_ustar();
        header.set_mode(0o600);
        header.set_mtime(self.made_at);
        let mut part = self.tar.append_writer(&mut header, name)?;
        let sum = copy(content, &mut part)?;
        part.finish()?;
        Ok(sum)
    }
}

/// Copies everything, and gives its SHA-256 in hexadecimal.
fn copy(content: &mut dyn Read, to: &mut dyn Write) -> io::Result<String> {
    let (mut hash, mut chunk) = (digest::Context::new(&SHA256), vec![0; CHUNK]);
    loop {
        let read = match content.read(&mut chunk) {
            Ok(0) => return Ok(hex::encode(hash.finish().as_ref())),
            Ok(read) => chunk.get(..read).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hash.update(read);
        to.write_all(read)?;
    }
}

/// A file whose parts are all there, as they were written.
pub struct Archive {
    file: File,
    /// Begin and size (bytes) of each part.
    parts: BTreeMap<String, (u64, u64)>,
}

impl Archive {
    /// Opens a file, and reads all of it to see that nothing is missing or changed.
    ///
    /// # Errors
    /// When it cannot be read, or is not whole.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let shown = || path.display().to_string();
        let mut file = File::open(path).with_context(shown)?;
        let parts = parts(&mut file).with_context(shown)?;
        let mut archive = Self { file, parts };
        archive.check().with_context(shown)?;
        Ok(archive)
    }

    fn check(&mut self) -> anyhow::Result<()> {
        let sums = self.text(SUMS)?.context("this is not a whole back-up: its end is missing")?;
        let sums: BTreeMap<&str, &str> =
            sums.lines().filter_map(|line| line.split_once("  ")).map(|(sum, name)| (name, sum)).collect();
        let names: Vec<String> = self.parts.keys().filter(|name| *name != SUMS).cloned().collect();
        anyhow::ensure!(
            sums.keys().eq(names.iter().map(String::as_str).collect::<Vec<_>>().iter()),
            "parts are missing"
        );
        for name in names {
            let mut part = self.part(&name)?.context("a part is missing")?;
            let sum = copy(&mut part, &mut io::sink())?;
            anyhow::ensure!(
                sums.get(name.as_str()) == Some(&sum.as_str()),
                "{name} is not as it was written: the file is damaged"
            );
        }
        Ok(())
    }

    /// A part, to be read from its beginning; none when there is no such part.
    pub fn part(&mut self, name: &str) -> anyhow::Result<Option<impl Read>> {
        let Some((begin, size)) = self.parts.get(name).copied() else { return Ok(None) };
        self.file.seek(SeekFrom::Start(begin))?;
        Ok(Some((&self.file).take(size)))
    }

    /// A small part as text.
    pub fn text(&mut self, name: &str) -> anyhow::Result<Option<String>> {
        let Some(part) = self.part(name)? else { return Ok(None) };
        let mut text = String::new();
        part.take(SMALL).read_to_string(&mut text).with_context(|| name.to_owned())?;
        Ok(Some(text))
    }
}

/// Where each part is, by the headers.
fn parts(file: &mut File) -> anyhow::Result<BTreeMap<String, (u64, u64)>> {
    const NOT_WHOLE: &str = "this is not a whole back-up made by `api backup`";
    let (length, mut parts) = (file.metadata()?.len(), BTreeMap::new());
    file.rewind()?;
    for part in tar::Archive::new(&*file).entries_with_seek().context(NOT_WHOLE)? {
        let part = part.context(NOT_WHOLE)?;
        let name = part.path().context(NOT_WHOLE)?.to_string_lossy().into_owned();
        let (begin, size) = (part.raw_file_position(), part.size());
        let end = size.checked_next_multiple_of(BLOCK).and_then(|size| begin.checked_add(size)).context(NOT_WHOLE)?;
        anyhow::ensure!(end <= length && parts.insert(name, (begin, size)).is_none(), NOT_WHOLE);
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn written(folder: &Path, dump: &[u8]) -> std::path::PathBuf {
        let path = folder.join("backup");
        let mut file = File::create(&path).unwrap();
        let mut writer = Writer::new(&mut file, 1_767_225_600);
        writer.add("manifest.json", &mut &b"{}"[..]).unwrap();
        writer.add("database.dump", &mut &dump[..]).unwrap();
        writer.finish().unwrap();
        path
    }

    #[test]
    fn what_is_written_is_read_and_every_tar_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let dump = vec![7; 3 * CHUNK + 1];
        let path = written(folder.path(), &dump);
        let mut archive = Archive::open(&path).unwrap();
        let mut read = Vec::new();
        archive.part("database.dump").unwrap().unwrap().read_to_end(&mut read).unwrap();
        assert_eq!((archive.text("manifest.json").unwrap().as_deref(), read == dump), (Some("{}"), true));
        assert!(archive.text("data_keys").unwrap().is_none());
        let unpacked = Command::new("tar").arg("-xf").arg(&path).current_dir(folder.path()).status();
        if unpacked.is_ok_and(|status| status.success()) {
            assert!(std::fs::read(folder.path().join("database.dump")).unwrap() == dump);
            let sums = Command::new("sha256sum").args(["-c", "--quiet", SUMS]).current_dir(folder.path()).status();
            assert!(sums.is_ok_and(|status| status.success()));
        }
    }

    #[test]
    fn no_beginning_of_a_file_and_no_file_with_another_byte_is_taken_for_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), &[7; 700]);
        let whole = std::fs::read(&path).unwrap();
        // Behind the last header block that is needed there are two empty ones, of which one says that this is the end.
        for length in (0..=whole.len() - 1_024).step_by(17) {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert!(Archive::open(&path).is_err(), "{length} bytes of {}", whole.len());
        }
        // In a header, in the manifest, in the dump, in the sums.
        for at in [0, 130, 512, 3 * 512 + 5, 6 * 512 + 3] {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            std::fs::write(&path, changed).unwrap();
            assert!(Archive::open(&path).is_err(), "byte {at}");
        }
    }
}
