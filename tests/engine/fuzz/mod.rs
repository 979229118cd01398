//! Mutants of every kind of file go through all that commands do with such a file, and end in a result or in an error:
//! no panic, no hang.
//!
//! The mutants of a kind are numbered. Each number is the seed of one mutation, so that a failure names what to run
//! again: `SINEW_FUZZ_SEED=journal:1234 cargo test --test engine fuzz` runs that one alone. `SINEW_FUZZ=10000` runs so many of
//! each kind (five to ten minutes on two cores); without it there are few, so that the suite stays fast. Where checksums
//! or lengths guard a file, half of the mutants have right ones, to get behind the guard.

mod formats;
mod journey;
mod mutate;
mod seeds;

use mutate::Draw;
use rayon::prelude::*;
use seeds::Seeds;
use sinew::base::Random;
use sinew::bind::BindOptions;
use sinew::scene::Model;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{LazyLock, Mutex, Once};
use std::time::{Duration, Instant};

/// The only mutant to run, KIND:NUMBER.
const ONE: &str = "SINEW_FUZZ_SEED";
/// Number of mutants of each kind without `SINEW_FUZZ`.
const FEW: u64 = 120;
/// Time after which a mutant counts as hanging; normal mutants take milliseconds.
const PATIENCE: Duration = Duration::from_secs(120);

static SEEDS: LazyLock<Seeds> = LazyLock::new(Seeds::new);

thread_local! {
    /// Source location of this thread's last panic.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
    /// Whether this thread runs a mutant.
    static MUTANT: Cell<bool> = const { Cell::new(false) };
}

/// Number of kinds that run.
static RUNS: AtomicUsize = AtomicUsize::new(0);

/// Stores the location of a mutant's panic instead of printing it.
fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            // Rayon's threads run code of the mutants too.
            let mutant = MUTANT.get() || rayon::current_thread_index().is_some() && RUNS.load(Relaxed) > 0;
            if !mutant || std::env::var_os(ONE).is_some() {
                usual(info);
            }
            PLACE.with(|p| *p.borrow_mut() = info.to_string());
        }));
    });
}

/// Returns the mutants to run.
fn numbers(kind: &str) -> Vec<u64> {
    if let Ok(one) = std::env::var(ONE) {
        let (of, seed) = one.split_once(':').expect("SINEW_FUZZ_SEED is KIND:NUMBER");
        return if of == kind { vec![seed.parse().unwrap()] } else { Vec::new() };
    }
    let count = std::env::var("SINEW_FUZZ").map_or(FEW, |n| n.parse().expect("SINEW_FUZZ is a number"));
    (0..count).collect()
}

/// Runs the mutants of a kind; `mutant` returns whether the mutant was read to its end.
fn run(kind: &str, mutant: impl Fn(&Path, &mut Random) -> bool + Sync) {
    listen();
    RUNS.fetch_add(1, Relaxed);
    let numbers = numbers(kind);
    let folder = &SEEDS.folder;
    let busy: Vec<Mutex<Option<(u64, Instant)>>> =
        (0..=rayon::current_num_threads()).map(|_| Mutex::default()).collect();
    let (done, waiting) = channel::<()>();
    let begin = Instant::now();
    let outcomes: Vec<Result<bool, String>> = std::thread::scope(|scope| {
        let busy = &busy;
        scope.spawn(move || {
            while waiting.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
                for (seed, since) in busy.iter().filter_map(|b| *b.lock().unwrap()) {
                    if since.elapsed() > PATIENCE {
                        eprintln!("{kind}:{seed} hangs");
                        std::process::abort();
                    }
                }
            }
        });
        let one = |&seed: &u64| {
            let thread = rayon::current_thread_index().map_or(0, |i| i + 1);
            // A waiting rayon task may start another mutant; only the outer mutant counts.
            let before = busy[thread].lock().unwrap().replace((seed, Instant::now()));
            let path = folder.path().join(format!("{kind}-{seed}"));
            let mut random = Random::new(seed ^ u64::from(kind.len() as u32) << 40);
            PLACE.with(|p| p.borrow_mut().clear());
            let outer = MUTANT.replace(true);
            let outcome = catch_unwind(AssertUnwindSafe(|| mutant(&path, &mut random)));
            MUTANT.set(outer);
            *busy[thread].lock().unwrap() = before;
            for left in ["", "saved.glb", "obj"] {
                let _ = std::fs::remove_file(path.with_extension(left));
            }
            outcome.map_err(|cause| {
                let place = PLACE.with(|p| p.borrow().clone());
                let cause = cause
                    .downcast_ref::<String>()
                    .cloned()
                    .or_else(|| cause.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                format!("{kind}:{seed}: {} ({place})", cause.unwrap_or_default())
            })
        };
        let outcomes = numbers.par_iter().map(one).collect();
        drop(done);
        outcomes
    });
    RUNS.fetch_sub(1, Relaxed);
    let read = outcomes.iter().filter(|o| **o == Ok(true)).count();
    println!("{kind}: {} mutants, {read} of them read to the end, {:.1?}", numbers.len(), begin.elapsed());
    let panics: Vec<&String> = outcomes.iter().filter_map(|o| o.as_ref().err()).collect();
    assert!(
        panics.is_empty(),
        "{} panics:\n{}",
        panics.len(),
        panics.iter().take(40).map(|p| format!("{p}\n")).collect::<String>()
    );
    // If no mutant were readable, only the first check would be tested.
    assert!(
        numbers.len() < FEW as usize || read * 50 > numbers.len(),
        "{read} of {} were read",
        numbers.len()
    );
}

fn write(path: &Path, content: &[u8]) {
    std::fs::write(path, content).unwrap();
}

#[test]
fn journals() {
    run("journal", |path, random| {
        let mut content = SEEDS.journal.clone();
        if random.once_in(3) {
            mutate::bytes(&mut content, random);
        } else {
            let mut records = formats::journal_records(&content);
            formats::reorder(&mut records, random);
            let at = random.below(records.len());
            if let Some(record) = records.get_mut(at).filter(|_| !random.once_in(4)) {
                mutate::tree(record, random);
            }
            content = formats::journal(&records);
        }
        write(path, &content);
        journey::told(journey::document_file(path, random))
    });
}

#[test]
fn takes() {
    run("take", |path, random| {
        let mut content = SEEDS.take.clone();
        if random.once_in(4) {
            mutate::bytes(&mut content, random);
        } else {
            let (head, mut records) = formats::take_records(&content);
            formats::reorder(&mut records, random);
            for _ in 0..1 + random.below(4) {
                let at = random.below(records.len());
                if let Some(record) = records.get_mut(at) {
                    formats::mutate_record(record, random);
                }
            }
            content = formats::take(&head, &records);
        }
        write(path, &content);
        journey::told(journey::take(path, random))
    });
}

#[test]
fn poses() {
    let hero = Model::load(&SEEDS.hero, &BindOptions::default()).unwrap();
    run("pose", |path, random| {
        let mut text = random.pick(&SEEDS.poses).clone().into_bytes();
        if random.once_in(3) {
            mutate::bytes(&mut text, random);
        } else {
            let mut json = serde_json::from_slice(&text).unwrap();
            mutate::tree(&mut json, random);
            text = serde_json::to_vec(&json).unwrap();
        }
        let Ok(text) = String::from_utf8(text) else { return false };
        journey::told(journey::pose(path, &text, &hero, random))
    });
}

/// Returns a .glb with mutated JSON, mutated bytes or both.
fn mutated_glb(content: &[u8], at: &str, random: &mut Random) -> Vec<u8> {
    let mut content = content.to_vec();
    if random.once_in(5) {
        mutate::bytes(&mut content, random);
        return content;
    }
    let (mut json, mut bin) = formats::glb_parts(&content);
    match json.pointer_mut(at) {
        Some(part) if !random.once_in(3) => mutate::tree(part, random),
        _ => mutate::tree(&mut json, random),
    }
    if random.once_in(3) && !bin.is_empty() {
        mutate::bytes(&mut bin, random);
    }
    if random.once_in(4) {
        return formats::embedded(&json, &bin);
    }
    formats::glb(&json, &bin, random)
}

#[test]
fn projects() {
    run("project", |path, random| {
        let content = mutated_glb(&SEEDS.project, "/extensions/SINEW_project/document", random);
        write(path, &content);
        journey::told(journey::document_file(path, random))
    });
}

#[test]
fn models() {
    run("model", |path, random| {
        let parts =
            ["/accessors", "/animations", "/meshes", "/skins", "/nodes", "/bufferViews", "/images", ""];
        let (seed, part) = (random.pick(&SEEDS.models), random.pick(&parts));
        let content = mutated_glb(seed, part, random);
        journey::told(journey::model(path, &content, random))
    });
}
