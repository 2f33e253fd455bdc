//! `appkit_bench`: measures AppKit and prints its rows of the table, which `cargo xtask bench` puts
//! with the others. With `--smoke` each thing is done once or twice, to see that it works. The apps
//! that are measured are this program again, as `agent_bench::appkit_app` starts it.

mod window;

use agent_bench::{
    appkit_app::Order,
    blocks::Effort,
    toolkit::{APPKIT, Extent},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if let Some(order) = Order::of_this_process()? {
        return window::run(order);
    }
    let args: Vec<String> = std::env::args().skip(1).collect();
    match &args[..] {
        [] => measure(&Extent::VIEWS),
        [smoke] if smoke == "--smoke" => measure(&Extent {
            effort: Effort::SMOKE,
            idle: Extent::SMOKE.idle,
            ..Extent::VIEWS
        }),
        _ => Err("usage: appkit_bench [--smoke]".into()),
    }
}

fn measure(extent: &Extent) -> Result<(), Box<dyn std::error::Error>> {
    for row in APPKIT.measure(extent)? {
        println!("{row}");
    }
    Ok(())
}
