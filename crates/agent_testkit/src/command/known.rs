//! The list of known failures: `{"backend": {"folder/case": "reason"}}`. It is strict both
//! ways: a failure that isn't listed fails the run, and so does a listed case that passes.

use std::{collections::BTreeMap, path::Path};

use serde_json::Value;

use crate::{case::BACKENDS, json};

#[derive(Debug, Default)]
pub(super) struct Known(BTreeMap<String, BTreeMap<String, String>>);

impl Known {
    /// Reads the list; a file that isn't there lists nothing.
    pub(super) fn load(file: &Path) -> Result<Self, String> {
        if !file.exists() {
            return Ok(Self::default());
        }
        let wrong = |what: String| format!("{}: {what}", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
        let Value::Object(backends) = json::parse(&text).map_err(&wrong)? else {
            return Err(wrong("an object of backends is expected".into()));
        };
        let mut known = BTreeMap::new();
        for (backend, cases) in backends {
            if !BACKENDS.contains(&backend.as_str()) {
                return Err(wrong(format!("there is no backend {backend:?}")));
            }
            let Value::Object(cases) = cases else {
                return Err(wrong(format!("{backend}: an object of cases is expected")));
            };
            let mut reasons = BTreeMap::new();
            for (case, reason) in cases {
                match reason.as_str() {
                    Some(reason) if !reason.is_empty() => {
                        reasons.insert(case, reason.to_owned());
                    }
                    _ => return Err(wrong(format!("{backend}: {case}: the reason is missing"))),
                }
            }
            known.insert(backend, reasons);
        }
        Ok(Self(known))
    }

    /// Why this case is known to fail there, if it is.
    pub(super) fn reason(&self, backend: &str, case: &str) -> Option<&str> {
        self.0.get(backend)?.get(case).map(String::as_str)
    }

    /// What is listed for these backends and is none of `cases`.
    pub(super) fn unheard_of(&self, backends: &[String], cases: &[&str]) -> Vec<String> {
        let listed = self.0.iter().filter(|(name, _)| backends.contains(name));
        listed
            .flat_map(|(backend, known)| known.keys().map(move |case| (backend, case)))
            .filter(|(_, case)| !cases.contains(&case.as_str()))
            .map(|(backend, case)| format!("{case} on {backend}"))
            .collect()
    }
}
