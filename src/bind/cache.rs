//! A disk cache of expensive results, keyed by their inputs. A lost entry costs only time: an unreadable file counts
//! as absent, and failures to write are ignored.

use crate::base::folders;
use crate::base::math::Vec3;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// The first bytes of every file; they differ between versions of the file format.
const MAGIC: &[u8; 8] = b"sinewc1\n";
const ENDING: &str = "kept";
/// Maximum total size of the platform's cache folder, bytes.
const LIMIT: u64 = 256 << 20;

/// A hash of the inputs of a computation.
#[derive(Clone)]
pub struct Key(blake3::Hasher);

impl Key {
    /// Creates the key of a computation. A change of the computation's code needs a new name.
    pub fn new(name: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
        Self(hasher)
    }

    /// Adds bytes and their number to the hash.
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// Adds points to the hash.
    pub fn points(self, points: &[Vec3]) -> Self {
        self.bytes(bytemuck::cast_slice(points))
    }
}

/// A folder of cached results with a size limit; the oldest files are removed first.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    limit: u64,
}

impl Cache {
    /// Creates a cache in the given folder with at most `limit` bytes. The folder is created by the first write.
    pub fn at(folder: impl AsRef<Path>, limit: u64) -> Self {
        Self { folder: folder.as_ref().to_owned(), limit }
    }

    /// Creates a cache in the platform's cache folder; `None` if the environment does not define one.
    pub fn platform() -> Option<Self> {
        Some(Self::at(platform_folder(|name| std::env::var_os(name))?, LIMIT))
    }

    /// Returns the bytes stored under a key; `None` if they are missing or damaged.
    pub fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let path = self.path(key);
        if fs::metadata(&path).ok()?.len() > self.limit {
            return None;
        }
        let bytes = fs::read(&path).ok()?;
        let whole = bytes.strip_prefix(MAGIC).and_then(|rest| rest.split_first_chunk::<32>());
        let content = whole.filter(|(hash, content)| blake3::hash(content).as_bytes() == *hash);
        match content {
            Some((_, content)) => Some(content.to_vec()),
            None => {
                // Removes a damaged file.
                let _ = fs::remove_file(&path);
                None
            }
        }
    }

    /// Stores bytes under a key. Failures are ignored.
    pub fn put(&self, key: &Key, content: &[u8]) {
        if content.len() as u64 + 40 <= self.limit && self.write(key, content).is_ok() {
            self.trim();
        }
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(format!("{}.{ENDING}", key.0.finalize().to_hex()))
    }

    /// Writes to a temporary file and renames it, so that readers never find a partial file.
    fn write(&self, key: &Key, content: &[u8]) -> std::io::Result<()> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        fs::create_dir_all(&self.folder)?;
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let temporary = self.folder.join(format!("{}-{number}.new.{ENDING}", std::process::id()));
        let write = || {
            let mut file = fs::File::create(&temporary)?;
            file.write_all(MAGIC)?;
            file.write_all(blake3::hash(content).as_bytes())?;
            file.write_all(content)?;
            drop(file);
            fs::rename(&temporary, self.path(key))
        };
        let written = write();
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    /// Removes the oldest files, including temporary files left by a crash, until the total is within the limit.
    fn trim(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
            .filter_map(|entry| {
                let path = entry.ok()?.path();
                let meta = fs::metadata(&path).ok()?;
                let ours = meta.is_file() && path.extension().is_some_and(|e| e == ENDING);
                ours.then(|| (meta.modified().unwrap_or(SystemTime::UNIX_EPOCH), meta.len(), path))
            })
            .collect();
        let mut total: u64 = files.iter().map(|f| f.1).sum();
        files.sort();
        for (_, length, path) in files {
            if total <= self.limit {
                break;
            }
            if fs::remove_file(path).is_ok() {
                total -= length;
            }
        }
    }
}

fn platform_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    folders::caches(variable).map(|caches| caches.join("kept"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_found_again_and_what_is_broken_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().join("a/b"), 10_000);
        let key = Key::new("test").bytes(b"x");
        assert!(cache.get(&key).is_none());
        cache.put(&key, b"content");
        assert_eq!(cache.get(&key).unwrap(), b"content");
        // Another name, other bytes, or the same bytes split differently give another key.
        for other in [
            Key::new("tes").bytes(b"tx"),
            Key::new("test").bytes(b"y"),
            Key::new("test").bytes(b"x").bytes(b""),
        ] {
            assert!(cache.get(&other).is_none());
        }
        let path = cache.path(&key);
        let whole = fs::read(&path).unwrap();
        for damage in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[damage] ^= 1;
            fs::write(&path, &bytes).unwrap();
            assert!(cache.get(&key).is_none(), "byte {damage}");
            assert!(!path.exists());
            fs::write(&path, &whole[..damage]).unwrap();
            assert!(cache.get(&key).is_none(), "cut at {damage}");
        }
        cache.put(&key, b"again");
        assert_eq!(cache.get(&key).unwrap(), b"again");
        // A folder that cannot be created causes no error.
        let file = folder.path().join("file");
        fs::write(&file, "x").unwrap();
        let nowhere = Cache::at(&file, 10_000);
        nowhere.put(&key, b"lost");
        assert!(nowhere.get(&key).is_none());
    }

    #[test]
    fn it_does_not_grow_beyond_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path(), 1000);
        let key = |i: u8| Key::new("test").bytes(&[i]);
        fs::write(folder.path().join("someone's.txt"), [0; 2000]).unwrap();
        for i in 0..20 {
            cache.put(&key(i), &[i; 200]);
            let size: u64 = fs::read_dir(folder.path())
                .unwrap()
                .map(|e| e.unwrap().path())
                .filter(|p| p.extension().is_some_and(|e| e == ENDING))
                .map(|p| fs::metadata(p).unwrap().len())
                .sum();
            assert!(size <= 1000, "{size}");
        }
        cache.put(&key(99), &[0; 5000]);
        assert!(cache.get(&key(99)).is_none(), "larger than all there may be");
        assert!((0..20).any(|i| cache.get(&key(i)).is_some()));
        assert!(folder.path().join("someone's.txt").exists());
    }

    #[test]
    fn the_folder_is_the_platforms() {
        let home = |name: &str| (name == "HOME").then(|| OsString::from("/home/a"));
        if cfg!(target_os = "linux") {
            assert_eq!(platform_folder(home).unwrap(), Path::new("/home/a/.cache/sinew/kept"));
        }
        assert!(platform_folder(|_| None).is_none());
        assert!(platform_folder(|_| Some("relative".into())).is_none());
    }
}
