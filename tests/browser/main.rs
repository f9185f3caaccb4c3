//! The dashboard in a browser: what can only be seen there. All tests share one Chromium, one service and its demo shop, and run
//! one after the other; without a Chromium they are skipped, each by its name, unless `BROWSER=required`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test may fail by panicking")]

#[path = "../it/crawl.rs"]
#[expect(dead_code, reason = "the other tests read the pages' text")]
mod crawl;
#[path = "../it/extras.rs"]
mod extras;
#[path = "../it/service.rs"]
#[expect(dead_code, reason = "the other tests use more of it")]
mod service;

mod access;
mod hostile;
mod journey;
mod keyboard;
mod pictures;
mod plain;
mod rig;
mod shop;
mod weight;
mod wishes;

use std::{env, path::PathBuf, pin::Pin, process::ExitCode, sync::Arc};

use libtest_mimic::{Arguments, Trial};
use tokio::runtime::Runtime;

use self::{rig::Programs, shop::World};

/// The executable: cargo has built it before it runs the tests.
const API: &str = env!("CARGO_BIN_EXE_api-under-test");

type Test = fn(Arc<World>) -> Pin<Box<dyn Future<Output = ()>>>;

macro_rules! tests {
    ($($module:ident :: $name:ident),+ $(,)?) => {
        [$((concat!(stringify!($module), "::", stringify!($name)), (|world| {
            Box::pin(async move { $module::$name(&world).await })
        }) as Test)),+]
    };
}

fn main() -> ExitCode {
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    let tests = tests![
        weight::a_link_leads_to_the_first_chart,
        journey::who_signs_up_sees_a_chart_of_their_own_orders,
        weight::the_overview_is_light,
        access::no_page_breaks_a_rule_of_axe,
        access::no_page_is_wider_than_its_window,
        keyboard::the_tabulator_reaches_all_and_shows_where_it_is,
        keyboard::keys_move_and_can_be_switched_off,
        keyboard::a_chart_says_the_values_of_a_day,
        keyboard::a_command_is_copied,
        keyboard::a_form_that_is_pressed_twice_is_sent_once,
        plain::everything_is_read_and_decided_without_a_script,
        wishes::what_the_reader_asks_of_the_system_is_kept,
        wishes::a_page_is_read_at_400_per_cent,
        wishes::a_page_is_printed,
        hostile::names_draw_nothing_but_themselves,
    ];
    let runtime = Runtime::new().unwrap();
    let programs = if arguments.list { None } else { Programs::find() };
    if programs.is_none() && !arguments.list && env::var("BROWSER").is_ok_and(|wish| wish == "required") {
        eprintln!("BROWSER=required, and Chromium with its chromedriver is not on this machine");
        return ExitCode::FAILURE;
    }
    let world = programs.map(|programs| Arc::new(runtime.block_on(World::start(&programs))));
    let ended = match (env::var_os("PICTURES"), &world) {
        (Some(folder), Some(world)) => {
            runtime.block_on(pictures::take(world, &PathBuf::from(folder)));
            ExitCode::SUCCESS
        }
        _ => {
            let trial = |(name, test): (&str, Test)| {
                let known = world.clone();
                let Some(world) = known else {
                    // Named, as others are that need what is not there.
                    eprintln!("SKIPPED: {name} needs a Chromium");
                    return Trial::test(name, || Ok(())).with_ignored_flag(true);
                };
                let runtime = runtime.handle().clone();
                Trial::test(name, move || {
                    runtime.block_on(world.fresh());
                    runtime.block_on(test(world));
                    Ok(())
                })
            };
            libtest_mimic::run(&arguments, tests.into_iter().map(trial).collect()).exit_code()
        }
    };
    if let Some(world) = world {
        runtime.block_on(world.rig.end());
    }
    ended
}
