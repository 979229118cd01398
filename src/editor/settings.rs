//! A document's deformer settings as a recipe.

use crate::base::{Error, Result};
use crate::deform::{Geometric, Recipe, fast, springs};
use crate::edit::DeformerSettings;
use serde_json::Value;

/// The recipe that settings name: the method (springs where none is named) with its parameters in place of the
/// defaults. Springs take [`springs::Params`] by field name, and `start`, a geometric method; `blend` takes `factor`;
/// `irs` (also `reach.as_parent` and `reach.as_child`) and `fast` the fields of their own parameters; springs on FAST
/// (`fast+springs`) those of both.
///
/// # Errors
/// [`Error::Input`] for an unknown method or parameter, or a value that does not fit; it lists what there is.
pub fn recipe(settings: &DeformerSettings) -> Result<Recipe> {
    let name = if settings.method.is_empty() { "springs" } else { &settings.method };
    let mut out = Recipe::from_name(name)?;
    let mut given: serde_json::Map<String, Value> = settings.parameters.clone().into_iter().collect();
    if let Some(params) = &mut out.springs {
        if let Some(start) = given.remove("start") {
            out.geometric = Geometric::from_name(start.as_str().unwrap_or_default())?;
        }
        if let Geometric::Fast(params) = &mut out.geometric {
            let own = serde_json::to_value(&*params).unwrap_or_default();
            let is_own = |k: &String| own.get(k).is_some();
            let (own, rest) = given.into_iter().partition(|(k, _)| is_own(k));
            given = rest;
            *params = merged::<fast::Params>(name, params, own)?.sane();
        }
        let changed: springs::Params = merged(name, params, given)?;
        *params = changed.sane();
        return Ok(out);
    }
    match &mut out.geometric {
        Geometric::Blend { factor } => {
            #[derive(serde::Serialize, serde::Deserialize)]
            struct Factor {
                factor: f32,
            }
            *factor = merged::<Factor>(name, &Factor { factor: *factor }, given)?.factor.clamp(0.0, 1.0);
        }
        Geometric::Irs(params) => {
            // Keys know only numbers: those of the reach by themselves.
            let numbers = ["reach.as_parent", "reach.as_child"].map(|n| (n, given.remove(n)));
            *params = merged(name, params, given)?;
            for (name, value) in numbers.into_iter().filter_map(|(n, v)| Some((n, v?))) {
                let bad = || Error::input(format!("irs: {name} is no number"), "give one from 0 to 1");
                out.geometric.set_number(name, value.as_f64().ok_or_else(bad)? as f32);
            }
        }
        Geometric::Fast(params) => *params = merged::<fast::Params>(name, params, given)?.sane(),
        _ if given.is_empty() => {}
        _ => return Err(unknown(name, &given, &[])),
    }
    Ok(out)
}

/// The defaults with the given fields in their place.
fn merged<T: serde::Serialize + serde::de::DeserializeOwned>(
    method: &str,
    defaults: &T,
    given: serde_json::Map<String, Value>,
) -> Result<T> {
    let bad = |what: String| Error::input(format!("{method}: {what}"), "give a value of the field's kind");
    let mut value = serde_json::to_value(defaults).map_err(|e| bad(e.to_string()))?;
    let known: Vec<String> = value.as_object().map_or_else(Vec::new, |f| f.keys().cloned().collect());
    if given.keys().any(|k| !known.contains(k)) {
        return Err(unknown(method, &given, &known));
    }
    // One by one, since the reader's own message does not name the field.
    for (name, new) in given {
        // A keyed count is rounded: keys know only floats.
        let whole = new.as_f64().filter(|n| value[&name].is_u64() && (0.0..=1e9).contains(n));
        value[&name] = whole.map_or(new, |n| Value::from(n.round() as u64));
        T::deserialize(&value).map_err(|e| bad(format!("{name}: {e}")))?;
    }
    serde_json::from_value(value).map_err(|e| bad(e.to_string()))
}

fn unknown(method: &str, given: &serde_json::Map<String, Value>, known: &[String]) -> Error {
    let names: Vec<&str> = given.keys().filter(|k| !known.contains(k)).map(String::as_str).collect();
    let remedy =
        if known.is_empty() { "leave it out".into() } else { format!("it has {}", known.join(", ")) };
    Error::input(format!("{method} has no parameter {}", names.join(", ")), remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(method: &str, parameters: &[(&str, Value)]) -> DeformerSettings {
        DeformerSettings {
            method: method.into(),
            parameters: parameters.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect(),
        }
    }

    #[test]
    fn parameters_take_the_place_of_defaults_and_mistakes_are_named() {
        let out = recipe(&settings("", &[("surface", 0.5.into()), ("start", "lbs".into())])).unwrap();
        assert_eq!((out.geometric, out.springs.unwrap().surface), (Geometric::Lbs, 0.5));
        let out = recipe(&settings("blend", &[("factor", 0.25.into())])).unwrap();
        assert_eq!(out.geometric, Geometric::Blend { factor: 0.25 });
        let both = [("extra", 5.into()), ("surface", 0.5.into())];
        let out = recipe(&settings("fast+springs", &both)).unwrap();
        assert_eq!((out.name(), out.springs.map(|s| s.surface)), ("fast+springs", Some(0.5)));
        assert!(matches!(out.geometric, Geometric::Fast(p) if p.extra == 5));
        for (wrong, word) in [
            (settings("springs", &[("stiffness", 1.into())]), "torsion"),
            (settings("springs", &[("surface", "much".into())]), "surface"),
            (settings("lbs", &[("factor", 1.into())]), "factor"),
            (settings("nurbs", &[]), "rigid"),
            (settings("fast+springs", &[("stiffness", 1.into())]), "torsion"),
        ] {
            let text = recipe(&wrong).unwrap_err().to_string();
            assert!(text.contains(word), "{text}");
        }
    }
}
