//! The `sinew` program: parses arguments and runs a front end.

fn main() -> anyhow::Result<()> {
    Ok(())
}
