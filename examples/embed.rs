//! An orders service that can be inspected while it runs: `cargo run --example embed`, then point an MCP client at the URL.
//!
//! Scripts call its functions as `orders::list()`. They read and change the same data as the program itself.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use remontoire::{
    CountingAllocator, Host, rhai::Array, rhai::EvalAltResult, rhai::FuncRegistration, rhai::Map, rhai::Module,
};
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

/// Without it everything works, but the memory limits of evals are not enforced.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The business of this program: what was ordered. The number of an order is its place, from 1.
#[derive(Clone, Default)]
struct Orders(Arc<Mutex<Vec<String>>>);

impl Orders {
    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn place(&self, item: &str) -> Result<i64, Box<EvalAltResult>> {
        if item.is_empty() {
            return Err("an order needs an item".into());
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(item.to_owned());
        i64::try_from(all.len()).map_err(|_| "there are too many orders".into())
    }
}

/// What scripts can do with the orders. `doc("orders::place")` prints the comments given here, and `manual()` names the module.
fn orders_module(orders: &Orders) -> Module {
    let mut module = Module::new();
    module.set_doc("The orders of this service.");
    let listing = orders.clone();
    FuncRegistration::new("list")
        .with_params_info(["array"])
        .with_comments(["/// All orders, oldest first, as rows `number item`."])
        .set_into_module(&mut module, move || -> Array {
            let row = |(number, item): (i64, String)| {
                Map::from([("number".into(), number.into()), ("item".into(), item.into())]).into()
            };
            (1..).zip(listing.all()).map(row).collect()
        });
    let placing = orders.clone();
    FuncRegistration::new("place")
        .with_params_info(["item: string", "int"])
        .with_comments(["/// Places an order and returns its number. An empty item is an error."])
        .set_into_module(&mut module, move |item: &str| placing.place(item));
    module
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let orders = Orders::default();
    let host = Host::builder().describe("orders service, staging").module("orders", orders_module(&orders)).build()?;
    let server = remontoire::serve(&host, "127.0.0.1:0".parse()?).await?; // nothing was reachable until now
    println!("{} · Ctrl-C ends it", server.url());

    // The program speaks too, and gets live values.
    let placed = host.eval(r#"orders::place("a clock"); orders::list()"#).await?;
    println!("entry {}: {}", placed.id, placed.text);
    if let Err(failed) = host.eval(r#"orders::place("")"#).await {
        println!("{failed}");
    }

    tokio::signal::ctrl_c().await?;
    server.shutdown().await;
    Ok(())
}
