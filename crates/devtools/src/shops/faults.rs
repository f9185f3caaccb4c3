//! Faults that are to come, by name: each so many times, with a value where it needs one.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::Serialize;

/// What every fake platform can do wrong: names with what they do.
pub const COMMON: &[(&str, &str)] = &[
    ("drop_reply", "the request is done, the connection breaks off before its answer"),
    ("server_error", "the request is not done and answered with the status `value`, or 500"),
    ("slow", "the answer waits `value` milliseconds"),
    ("throttle", "429 with a Retry-After of `value` seconds, or 1"),
    ("hook_lost", "a hook is not sent"),
    ("hook_twice", "a hook is sent twice"),
    ("hook_held", "a hook is sent after the next one"),
];

/// A fault that is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Ahead {
    /// So many times more.
    pub times: u32,
    pub value: u64,
}

/// The faults that are to come.
#[derive(Default)]
pub struct Faults(Mutex<BTreeMap<&'static str, Ahead>>);

impl Faults {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, Ahead>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn set(&self, name: &'static str, times: u32, value: u64) {
        if times == 0 {
            self.lock().remove(name);
        } else {
            self.lock().insert(name, Ahead { times, value });
        }
    }

    /// Whether the fault is due now, which uses one of its times; its value.
    pub fn take(&self, name: &str) -> Option<u64> {
        let mut faults = self.lock();
        let Ahead { times, value } = faults.get_mut(name)?;
        let value = *value;
        *times -= 1;
        if *times == 0 {
            faults.remove(name);
        }
        Some(value)
    }

    pub fn ahead(&self) -> BTreeMap<&'static str, Ahead> {
        self.lock().clone()
    }

    pub fn clear(&self) {
        self.lock().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_comes_as_often_as_it_was_asked_for() {
        let faults = Faults::default();
        faults.set("slow", 2, 5);
        assert_eq!([faults.take("slow"), faults.take("slow"), faults.take("slow")], [Some(5), Some(5), None]);
    }
}
