//! The tables of README.md and docs/reference.md agree with the program.

use serde_json::{Value, json};
use sinew::deform::springs::Params;
use sinew::deform::{Geometric, Recipe};
use sinew::document::DeformerSettings;
use sinew::scene::recipe;
use std::path::Path;
use std::process::Command;

/// Returns the rows of the table under a header line, as trimmed cells.
fn table(header: &str) -> Vec<Vec<String>> {
    let files = ["README.md", "docs/reference.md"];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = files.map(|file| std::fs::read_to_string(folder.join(file)).unwrap()).concat();
    let after = text.split(header).nth(1).unwrap_or_else(|| panic!("{files:?} have no table {header}"));
    let rows = after.lines().skip(1).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// Returns the text between the first backticks, or the whole cell without backticks.
fn code(cell: &str) -> &str {
    cell.split('`').nth(1).unwrap_or(cell)
}

/// Parses a cell: a number, a fraction, JSON or a word.
fn value(cell: &str) -> Value {
    let text = code(cell);
    if let Some((a, b)) = text.split_once('/') {
        return json!(a.parse::<f32>().unwrap() / b.parse::<f32>().unwrap());
    }
    match serde_json::from_str::<Value>(text).unwrap_or_else(|_| text.into()) {
        Value::Number(n) if n.is_f64() => json!(n.as_f64().unwrap() as f32),
        other => other,
    }
}

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-7,
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| same(v, w)))
        }
        _ => a == b,
    }
}

/// Sets a parameter of the springs, the volume or FAST and returns its value after clamping.
fn set(method: &str, name: &str, to: Value) -> Value {
    let parameters = [(name.to_owned(), to)].into();
    let recipe = recipe(&DeformerSettings { method: method.into(), parameters }).unwrap();
    if let Geometric::Fast(params) = &recipe.geometric {
        return serde_json::to_value(params).unwrap()[name].clone();
    }
    let springs = recipe.springs.map(|p| serde_json::to_value(p).unwrap());
    springs.or(recipe.volume.map(|p| serde_json::to_value(p).unwrap())).unwrap()[name].clone()
}

#[test]
fn the_parameters_defaults_and_ranges_are_those_of_the_springs() {
    let defaults = serde_json::to_value(Params::default()).unwrap();
    check_parameters("springs", "| `--set` | default | range | meaning |\n", &defaults);
}

#[test]
fn the_parameters_defaults_and_ranges_are_those_of_the_volume() {
    let defaults = serde_json::to_value(sinew::deform::volume::Params::default()).unwrap();
    check_parameters("volume", "| `--set` of `volume` | default | range | meaning |\n", &defaults);
}

/// FAST's table has rows without a default value and one row for all joints.
#[test]
fn the_parameters_and_defaults_are_those_of_fast() {
    let rows = table("| `--set` of `fast` | default | range | meaning |\n");
    let defaults = serde_json::to_value(sinew::deform::fast::Params::deformer()).unwrap();
    let numbers = |v: &Value| v.as_f64();
    let known: Vec<&String> =
        defaults.as_object().unwrap().iter().filter(|d| d.1.is_number()).map(|d| d.0).collect();
    assert!(known.len() >= 5, "{known:?}");
    for name in known {
        let row = rows.iter().find(|r| code(&r[0]) == name).unwrap_or_else(|| panic!("no row of `{name}`"));
        assert_eq!(
            numbers(&value(&row[1])),
            numbers(&defaults[name]),
            "docs/reference.md: default of `{name}`"
        );
        let Some((low, high)) = row[2].split_once(" to ") else { continue };
        let (low, high): (f64, f64) = (low.parse().unwrap(), high.parse().unwrap());
        let whole = defaults[name].is_u64();
        let ends = if whole { [json!(0), json!(u32::MAX)] } else { [json!(-1e9), json!(1e9)] };
        for (given, expected) in ends.into_iter().zip([low, high]) {
            let got = numbers(&set("fast", name, given));
            assert!(
                got.is_some_and(|g| (g - expected).abs() < 1e-6),
                "`{name}` ends at {got:?}, not {expected}"
            );
        }
    }
}

/// Variables that one of the project's programs sets for another one of them.
const BETWEEN_PROGRAMS: [&str; 5] =
    ["SINEW_BLENDER_CHILD", "SINEW_TEST_JOURNAL", "SINEW_TEST_WRITER", "SINEW_XR_PORT", "SINEW_XR_PREFIX"];

#[test]
fn the_environment_variables_of_program_and_tests_are_in_the_reference() {
    let told =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference.md")).unwrap();
    let mut text = String::new();
    for folder in ["src", "tests"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut text);
    }
    let mut seen = std::collections::BTreeSet::new();
    for (at, _) in text.match_indices("SINEW_") {
        let name: String = text[at..].chars().take_while(|c| c.is_ascii_uppercase() || *c == '_').collect();
        seen.insert(name.trim_end_matches('_').to_owned());
    }
    seen.remove("SINEW");
    assert!(seen.len() > 10, "{seen:?}");
    for name in seen.iter().filter(|n| !BETWEEN_PROGRAMS.contains(&n.as_str())) {
        assert!(told.contains(&format!("`{name}")), "docs/reference.md, Environment: no {name}");
    }
}

fn check_parameters(method: &str, header: &str, defaults: &Value) {
    let rows = table(header);
    let defaults = defaults.as_object().unwrap();
    let named: Vec<&str> = rows.iter().map(|r| code(&r[0])).collect();
    for name in defaults.keys() {
        assert_eq!(
            named.iter().filter(|n| *n == name).count(),
            1,
            "`{name}` has not one row in docs/reference.md"
        );
    }
    assert_eq!(
        rows.len(),
        defaults.len() + 1,
        "docs/reference.md has parameters that {method} has not: {named:?}"
    );
    for row in &rows {
        let (name, told) = (code(&row[0]), value(&row[1]));
        if name == "start" {
            let start = Recipe::from_name(method).unwrap().geometric;
            assert_eq!(told, start.name());
            Geometric::ALL
                .iter()
                .for_each(|g| assert!(row[3].contains(&format!("`{}`", g.name())), "{row:?}"));
            continue;
        }
        assert!(
            same(&told, &defaults[name]),
            "docs/reference.md: `{name}` is {told}, not {}",
            defaults[name]
        );
        let Some((low, high)) = row[2].split_once(" to ") else { continue };
        let (low, high): (f64, f64) = (low.parse().unwrap(), high.parse().unwrap());
        // The number of `stop` is a field of its value.
        let of = |v: f64| if name == "stop" { json!({ "move": v }) } else { json!(v) };
        let whole = defaults[name].is_u64();
        let (below, above) = if whole { (json!(0), json!(u32::MAX)) } else { (of(-1e9), of(1e9)) };
        for (given, expected) in [(below, low), (above, high)] {
            let expected = if whole { json!(expected as u64) } else { of(expected) };
            let got = set(method, name, given);
            assert!(same(&got, &expected), "docs/reference.md: `{name}` ends at {expected}, not {got}");
        }
    }
}

#[test]
fn the_methods_and_commands_are_those_of_the_program() {
    let rows = table("| `--method` | | `--set` |\n");
    let methods: Vec<&str> = rows.iter().map(|r| code(&r[0])).collect();
    let known: Vec<&str> = Geometric::ALL
        .iter()
        .map(|g| g.name())
        .chain(["fast", "springs", "fast+springs", "thesis", "volume"])
        .collect();
    assert_eq!(methods, known);
    let programs = [
        (env!("CARGO_BIN_EXE_sinew"), "| command | makes |\n"),
        (env!("CARGO_BIN_EXE_sinew-lab"), "| command of `sinew-lab` | makes |\n"),
    ];
    for (program, header) in programs {
        let out = Command::new(program).arg("--help").output().unwrap();
        let help = String::from_utf8(out.stdout).unwrap();
        let list = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
        let mut commands: Vec<&str> = list.lines().filter_map(|l| l.split_whitespace().next()).collect();
        commands.retain(|c| *c != "help");
        let rows = table(header);
        let mut told: Vec<&str> = rows.iter().map(|r| code(&r[0])).collect();
        commands.sort_unstable();
        told.sort_unstable();
        assert_eq!(told, commands, "{program}");
    }
}

/// All text of the Rust files below a folder.
fn sources(folder: &Path, out: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn the_tests_and_figures_in_the_tables_of_the_papers_exist() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(folder.join("docs/papers.md")).unwrap();
    let mut code = String::new();
    for part in ["src", "tests"] {
        sources(&folder.join(part), &mut code);
    }
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| section"))
        .map(|line| line.trim_matches('|').split('|').collect())
        .collect();
    assert!(rows.len() > 40);
    let names =
        |cell: &str| -> Vec<String> { cell.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    for row in &rows {
        let [_, what, face, tests, figures] = row[..] else { panic!("{row:?} has not five cells") };
        for test in names(tests) {
            assert!(code.contains(&format!("fn {test}(")), "{what}: there is no test {test}");
        }
        for figure in names(figures) {
            assert!(code.contains(&format!("name: \"{figure}\"")), "{what}: there is no figure {figure}");
        }
        assert!(face.contains("not built") || !names(tests).is_empty(), "{what} has no test");
    }
}
