//! `appkit`: the AppKit backend without a Mac. On GNUstep it is built and run; for macOS it is
//! checked as far as that goes without Apple's SDK. Both have a workspace of their own, in
//! `gnustep/`, so that nothing of it reaches those who build for macOS.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use crate::{
    Options, debian,
    program::{self, capture},
    recipes,
    step::{Ended, Steps},
    workspace,
    xvfb::Xvfb,
};

/// What a macOS user's machine is.
const MACOS: &str = "aarch64-apple-darwin";

/// What is compiled for it.
const MACOS_CHECK: &str = "gnustep/macos-check";

/// A check of one program, on a slow machine.
const CHECK: Duration = Duration::from_secs(600);

pub(crate) fn run(options: &Options) -> Result<(), String> {
    let root = workspace::root()?;
    let mut steps = Steps::default();
    if options.has("--check-macos") {
        add_checks(&mut steps, &root);
    } else {
        add_steps(
            &mut steps,
            &root,
            !options.has("--no-install"),
            options.has("--picture"),
        );
    }
    steps.finish()
}

fn add_steps(steps: &mut Steps, root: &Path, may_install: bool, picture: bool) {
    let mut there = false;
    steps.run("packages", || {
        let ended = debian::prepare_for_gnustep(may_install)?;
        there = matches!(ended, Ended::Passed(_));
        Ok(ended)
    });
    if !there {
        return;
    }
    let mut built = Err("it was not built, as said above".to_owned());
    steps.run("appkit: build on GNUstep", || {
        patch_objc2(root)?;
        built = Ok(build(root, &[])?);
        Ok(Ended::Passed(String::new()))
    });
    steps.run("appkit: lints, on GNUstep", || {
        lint("gnustep", root, &["--all-targets"])
    });
    steps.run("recipe appkit_agent: on GNUstep", || {
        let program = named(&built, "appkit_agent")?;
        let xvfb = Xvfb::start()?;
        let folder = root.join("recipes/appkit_agent");
        recipes::converse(program, &folder, |command| xvfb.show(command))
    });
    steps.run("cases: on GNUstep", || {
        let xvfb = Xvfb::start()?;
        let mut cases = Command::new(named(&built, "agent_cases")?);
        // One at a time: GNUstep's apps of one name look for one another as they start, and now and
        // then one that ends just then takes the other along.
        cases
            .current_dir(root)
            .args(["run", "--backend", "appkit", "--jobs", "1"]);
        xvfb.show(&mut cases);
        program::run(&mut cases)?;
        Ok(Ended::Passed(String::new()))
    });
    steps.run("appkit_bench: each thing once, on GNUstep", || {
        let xvfb = Xvfb::start()?;
        let mut bench = Command::new(named(&built, "appkit_bench")?);
        bench.arg("--smoke");
        xvfb.show(&mut bench);
        program::run(&mut bench)?;
        Ok(Ended::Passed(String::new()))
    });
    steps.run("tests: on GNUstep", || {
        let xvfb = Xvfb::start()?;
        let mut test = cargo(&root.join("gnustep"), root);
        // A message to an object that is gone is written to the log.
        test.args(["test", "--locked"])
            .env("NSZombieEnabled", "YES");
        xvfb.show(&mut test);
        let said = capture(&mut test, CHECK)?;
        println!("{}", said.stdout);
        let to_the_dead = said
            .stderr
            .lines()
            .find(|line| line.contains("deallocated instance"));
        match (said.status.success(), to_the_dead) {
            (true, None) => Ok(Ended::Passed(String::new())),
            (true, Some(line)) => Err(format!(
                "an object that was gone was sent a message: {line}"
            )),
            (false, _) => Err(format!(
                "ended with {}; it had said:\n{}",
                said.status, said.stderr
            )),
        }
    });
    if picture {
        steps.run("picture of the recipe", || {
            let xvfb = Xvfb::start()?;
            let mut recipe = Command::new(named(&built, "appkit_agent")?);
            recipe.arg("--picture").arg(root.join("docs/appkit.png"));
            xvfb.show(&mut recipe);
            program::run(&mut recipe)?;
            Ok(Ended::Passed("docs/appkit.png".to_owned()))
        });
    }
}

/// AppKit's rows of the benchmarks' table, as Markdown, a line each; measured on GNUstep. `None`: it
/// is not installed, as has been said.
pub(crate) fn bench(root: &Path) -> Result<Option<String>, String> {
    let Some(program) = built(root, "appkit_bench", &["--release"])? else {
        return Ok(None);
    };
    let xvfb = Xvfb::start()?;
    let mut bench = Command::new(program);
    xvfb.show(&mut bench);
    let mut rows = String::new();
    program::run_reading(&mut bench, |line| rows += &format!("{line}\n"))?;
    Ok(Some(rows))
}

/// A program of the workspace, on GNUstep. `None`: that is not installed, as has been said.
pub(crate) fn program(root: &Path, name: &str) -> Result<Option<PathBuf>, String> {
    built(root, name, &[])
}

fn built(root: &Path, name: &str, options: &[&str]) -> Result<Option<PathBuf>, String> {
    if let Ended::Skipped(why) = debian::prepare_for_gnustep(false)? {
        println!("{name} is left out: {why}");
        return Ok(None);
    }
    patch_objc2(root)?;
    let built = build(root, options);
    named(&built, name).map(|program| Some(program.to_owned()))
}

/// Cargo in one of the two workspaces; what it makes goes where everything else does.
fn cargo(workspace: &Path, root: &Path) -> Command {
    let mut cargo = workspace::cargo(workspace);
    cargo.env("CARGO_TARGET_DIR", workspace::target(root));
    cargo
}

/// Checks what the main workspace doesn't reach, by clippy where that is installed. Its own command
/// looks at the members of a workspace alone, and here most are crates beside it; so each is handed to
/// it.
fn check(workspace: &str, root: &Path, options: &[&str]) -> Command {
    let mut check = cargo(&root.join(workspace), root);
    check
        .args(["check", "--locked", "--message-format", "short"])
        .args(options);
    if has_clippy() {
        check
            .env("RUSTC_WRAPPER", "clippy-driver")
            // What clippy compiles, rustc would compile anew, and the other way round.
            .env("CARGO_TARGET_DIR", workspace::target(root).join("lints"));
    }
    check
}

fn has_clippy() -> bool {
    program::is_installed("clippy-driver")
}

/// The same, with warnings denied.
fn lint(workspace: &str, root: &Path, options: &[&str]) -> Result<Ended, String> {
    let said = capture(&mut check(workspace, root, options), CHECK)?;
    // The copy of objc2 is not ours.
    let warned: Vec<&str> = said
        .stderr
        .lines()
        .filter(|line| line.contains(": warning: ") && !line.starts_with("objc2/"))
        .collect();
    match (said.status.success(), warned.is_empty(), has_clippy()) {
        (true, true, true) => Ok(Ended::Passed(String::new())),
        (true, true, false) => Ok(Ended::Passed(
            "by the compiler alone; for clippy: rustup component add clippy".to_owned(),
        )),
        (true, false, _) => Err(format!("it warns:\n{}", warned.join("\n"))),
        (false, ..) => Err(format!(
            "ended with {}; it had said:\n{}",
            said.status, said.stderr
        )),
    }
}

fn build(root: &Path, options: &[&str]) -> Result<Vec<PathBuf>, String> {
    let mut cargo = cargo(&root.join("gnustep"), root);
    cargo.args(["build", "--locked", "--bins"]).args(options);
    workspace::build(&mut cargo)
}

fn named<'a>(built: &'a Result<Vec<PathBuf>, String>, name: &str) -> Result<&'a Path, String> {
    let is = |program: &&PathBuf| program.file_name().is_some_and(|file| file == name);
    let found = built.as_ref()?.iter().find(is);
    found
        .map(PathBuf::as_path)
        .ok_or_else(|| format!("cargo made no program {name}"))
}

/// Makes the copy of objc2 that GNUstep is built with: as published, but that it looks classes up
/// by name, as GCC's runtime wants it, and has what that runtime lacks appended.
fn patch_objc2(root: &Path) -> Result<(), String> {
    let from = published(root, "objc2")?;
    let to = root.join("gnustep/objc2");
    let failed = |error: std::io::Error| format!("no copy of objc2 in {}: {error}", to.display());
    let patch = fs::read_to_string(root.join("gnustep/objc2.patch.rs")).map_err(failed)?;
    // What it was made from: as long as that is the same, nothing is built again.
    let made_from = format!("{}\n{patch}", from.display());
    let note = to.join("made-from.txt");
    if fs::read_to_string(&note).is_ok_and(|before| before == made_from) {
        return Ok(());
    }
    if to.exists() {
        fs::remove_dir_all(&to).map_err(failed)?;
    }
    copy(&from, &to).map_err(failed)?;
    let manifest = fs::read_to_string(to.join("Cargo.toml")).map_err(failed)?;
    let manifest = without_static_classes(&manifest)
        .ok_or("objc2's manifest has no feature gnustep-1-7 any more; see gnustep/Cargo.toml")?;
    fs::write(to.join("Cargo.toml"), manifest).map_err(failed)?;
    // In the middle of a file there is no documentation of the whole.
    let patch = patch.replace("//!", "//");
    let lib = to.join("src/lib.rs");
    let source = fs::read_to_string(&lib).map_err(failed)?;
    fs::write(&lib, source + "\n" + &patch).map_err(failed)?;
    fs::write(note, made_from).map_err(failed)
}

/// Its feature for GNUstep, emptied: what it switches on are classes by symbols, which libraries
/// built by GCC do not have.
fn without_static_classes(manifest: &str) -> Option<String> {
    let name = "\ngnustep-1-7 = [";
    let from = manifest.find(name)? + name.len();
    let to = from + manifest.get(from..)?.find(']')?;
    let (before, after) = (manifest.get(..from)?, manifest.get(to..)?);
    Some(format!("{before}{after}"))
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

/// A version's numbers, which compare as numbers: 0.10 is newer than 0.9.
fn version(text: &str) -> Vec<u64> {
    let release = text.split(['-', '+']).next().unwrap_or_default();
    release
        .split('.')
        .map(|number| number.parse().unwrap_or_default())
        .collect()
}

/// Where cargo keeps a crate that is in our lock file, in the newest version that is there.
fn published(root: &Path, name: &str) -> Result<PathBuf, String> {
    let mut metadata = workspace::cargo(root);
    metadata.args(["metadata", "--locked", "--format-version", "1"]);
    let said = capture(&mut metadata, CHECK)?;
    let all: serde_json::Value = serde_json::from_str(&said.stdout)
        .map_err(|error| format!("cargo metadata: {error}; it had said:\n{}", said.stderr))?;
    let packages = all.get("packages").and_then(serde_json::Value::as_array);
    let found = packages
        .into_iter()
        .flatten()
        .filter(|package| package.get("name").and_then(serde_json::Value::as_str) == Some(name))
        .filter_map(|package| {
            Some((
                version(package.get("version")?.as_str()?),
                package.get("manifest_path")?.as_str()?,
            ))
        });
    let (_, manifest) = found
        .max()
        .ok_or_else(|| format!("{name} is not in Cargo.lock"))?;
    let folder = Path::new(manifest).parent();
    Ok(folder.unwrap_or(Path::new("")).to_owned())
}

fn add_checks(steps: &mut Steps, root: &Path) {
    let mut there = false;
    steps.run(&format!("the standard library of {MACOS}"), || {
        if !program::is_installed("rustup") {
            return Ok(Ended::Skipped("no rustup, which has it".to_owned()));
        }
        program::run(Command::new("rustup").args(["target", "add", MACOS]))?;
        there = true;
        Ok(Ended::Passed(String::new()))
    });
    if !there {
        return;
    }
    steps.run(
        "macOS: what an app compiles is accepted, without a warning",
        || lint(MACOS_CHECK, root, &["--target", MACOS]),
    );
    steps.run("macOS: a wrong type is refused", || {
        let wrong = ["--target", MACOS, "--features", "wrong", "--bin", "wrong"];
        let said = capture(&mut check(MACOS_CHECK, root, &wrong), CHECK)?;
        if said.status.success() {
            return Err("it was accepted, so the check checks nothing".to_owned());
        }
        if !(said.stderr.contains("E0308") && said.stderr.contains("wrong.rs")) {
            return Err(format!(
                "it was refused for another reason:\n{}",
                said.stderr
            ));
        }
        Ok(Ended::Passed(
            "mismatched types, as it should be".to_owned(),
        ))
    });
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(version("0.10.0") > version("0.9.12"));
        assert!(version("1.0.0-beta.1") > version("0.9.0"));
    }
}
