//! The name of an object's class, for a full description.

use objc2::runtime::AnyObject;

pub(crate) fn name(object: &AnyObject) -> String {
    object.class().name().to_string_lossy().into_owned()
}
