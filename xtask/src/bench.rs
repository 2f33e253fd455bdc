//! `bench`: what an agent surface costs on this machine, as the table of `docs/benchmarks.md`.

use std::{path::Path, process::Command, time::Duration};

use crate::{
    Options, appkit,
    program::{self, capture},
    workspace,
};

/// Where the table is kept, from the root.
const PAGE: &str = "docs/benchmarks.md";

/// What the table lies between on that page.
const BEGIN: &str = "<!-- The table of `cargo xtask bench --write` begins here. -->\n";
const END: &str = "<!-- It ends here. -->\n";

pub(crate) fn run(options: &Options) -> Result<(), String> {
    let root = workspace::root()?;
    let measured_on = measured_on()?;
    // Both programs: the one starts the other.
    program::run(
        workspace::cargo(&root)
            .args(["build", "--release", "--locked", "--package", "agent_bench"])
            .arg("--bins"),
    )?;
    let mut table = String::new();
    program::run_reading(
        workspace::cargo(&root)
            .args(["run", "--release", "--locked", "--quiet"])
            .args(["--package", "agent_bench", "--bin", "bench_table"]),
        |line| table += &format!("{line}\n"),
    )?;
    // It has a display and a workspace of its own, so it can't be measured by the same program.
    match appkit::bench(&root)? {
        Some(rows) => table += &rows,
        None => table += "\nAppKit was not measured: GNUstep is not installed on this machine.\n",
    }
    let table = format!("{measured_on}\n\n{table}");
    println!("\n{table}");
    if options.has("--write") {
        write(&root.join(PAGE), &table)?;
        println!("{PAGE} written");
    }
    Ok(())
}

/// On what kind of machine, and when: the numbers mean little without.
fn measured_on() -> Result<String, String> {
    let cores = std::thread::available_parallelism()
        .map_err(|error| format!("could not count the cores: {error}"))?;
    let date = capture(
        Command::new("date").arg("+%Y-%m-%d"),
        Duration::from_secs(5),
    )?;
    let date = date.stdout.trim();
    let (system, processor) = (std::env::consts::OS, std::env::consts::ARCH);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().filter(|load| !load.is_empty());
    let load = load.map_or(String::new(), |load| {
        format!(" The load average was {load} before it began.")
    });
    Ok(format!(
        "Measured on {date}, on {cores} cores, {system}, {processor}.{load}"
    ))
}

fn write(path: &Path, table: &str) -> Result<(), String> {
    let page = std::fs::read_to_string(path)
        .map_err(|error| format!("could not read {}: {error}", path.display()))?;
    let page = with_table(&page, table).ok_or_else(|| {
        format!("{PAGE} has lost the two lines that its table lies between:\n{BEGIN}{END}")
    })?;
    std::fs::write(path, page)
        .map_err(|error| format!("could not write {}: {error}", path.display()))
}

/// The page with this table in the place of the one that it has.
fn with_table(page: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{table}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::{BEGIN, END, with_table};

    #[test]
    fn a_table_takes_the_place_of_the_one_before() {
        let page = format!("above\n{BEGIN}{END}below\n");
        let first = with_table(&page, "one").unwrap();
        assert_eq!(first, format!("above\n{BEGIN}\none\n{END}below\n"));
        let second = with_table(&first, "two").unwrap();
        assert_eq!(second, first.replace("one", "two"));
        assert_eq!(with_table("no place", "one"), None);
    }
}
