//! Opens the file, decompresses it, and shows the progress.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use imports::Failure;
use indicatif::{ProgressBar, ProgressStyle};

pub struct Source {
    path: PathBuf,
    /// Drawn on standard error, and only when that is a terminal.
    progress: ProgressBar,
}

impl Source {
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let length = if path.as_os_str() == "-" {
            None
        } else {
            let about = path.metadata().map_err(|error| unreadable(path, &error))?;
            if about.is_dir() {
                return Err(Failure::Usage(format!("{} is a folder", path.display())));
            }
            Some(about.len())
        };
        let progress = match length {
            Some(length) => ProgressBar::new(length)
                .with_style(style("{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}")),
            None => ProgressBar::no_length().with_style(style("{msg} {spinner} {bytes} {bytes_per_sec}")),
        };
        Ok(Self { path: path.to_owned(), progress: progress.with_message("reading") })
    }

    /// The text of the file. Compression is recognised by the first bytes, not by the name.
    pub fn reader(&self) -> Result<Box<dyn Read + Send>, Failure> {
        let raw: Box<dyn Read + Send> = if self.path.as_os_str() == "-" {
            Box::new(io::stdin())
        } else {
            Box::new(File::open(&self.path).map_err(|error| unreadable(&self.path, &error))?)
        };
        let watched = Watched { inner: raw, progress: self.progress.clone() };
        imports::plain(watched).map_err(|failure| match failure {
            Failure::File(_) | Failure::Usage(_) => Failure::Usage(format!("{}: {failure}", self.path.display())),
            other => other,
        })
    }

    pub fn finish(&self) {
        self.progress.finish_and_clear();
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::Usage(format!("{}: {error}", path.display()))
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Moves the bar; at the end of the file says what takes the rest of the time.
struct Watched<R> {
    inner: R,
    progress: ProgressBar,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if read == 0 && !buffer.is_empty() {
            self.progress.set_message("merging");
        }
        self.progress.inc(read as u64);
        Ok(read)
    }
}
