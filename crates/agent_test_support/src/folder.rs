//! A place for files and sockets.

pub use tempfile::TempDir;

/// A folder that nobody else may look into, gone at the end.
pub fn folder() -> TempDir {
    use std::os::unix::fs::PermissionsExt as _;
    tempfile::Builder::new()
        .permissions(std::fs::Permissions::from_mode(0o700))
        .tempdir()
        .unwrap()
}
