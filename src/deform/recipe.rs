//! The authored choice of the nodes that deform a character.

use super::blend::Painted;
use super::clock::Frames;
use super::springs::Variant;
use super::surface::Crease;
use super::volume::{Firm, Rest};
use super::{Geometric, fast, springs, swing_twist, volume};
use crate::base::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A geometric method, optionally followed by springs, then by the volume or by contact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The settings of the geometric node.
    pub geometric: Geometric,
    /// The settings of the spring node; `None` for a recipe without springs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub springs: Option<springs::Params>,
    /// The settings of the volume node, if any. With [`Rest::Pose`] the volume node adds contact to the preceding
    /// nodes. With [`Rest::Bind`] it deforms the character without springs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<volume::Params>,
    /// Regions of the skin below which the flesh of the volume node is firmer or softer. Settings do not contain them; the
    /// document does.
    #[serde(default, skip_serializing_if = "Firm::is_empty")]
    pub firm: Firm,
    /// Across which edges normals are continuous.
    #[serde(default, skip_serializing_if = "is_default")]
    pub crease: Crease,
}

fn is_default(crease: &Crease) -> bool {
    *crease == Crease::default()
}

impl Default for Recipe {
    fn default() -> Self {
        Self::springs(springs::Params::default())
    }
}

impl Recipe {
    /// The names of all recipes, in the order of reports.
    pub const NAMES: [&'static str; 13] = [
        "rigid",
        "lbs",
        "dqs",
        "blend",
        "irs",
        "cor",
        "stb",
        "swing-twist",
        "fast",
        "springs",
        "fast+springs",
        "thesis",
        "volume",
    ];

    /// Returns a recipe with a geometric method only.
    pub fn geometric(geometric: Geometric) -> Self {
        Self { geometric, springs: None, volume: None, firm: Firm::default(), crease: Crease::Source }
    }

    /// Returns springs after dual quaternion skinning, the geometric method that starts nearest to their equilibrium.
    pub fn springs(params: springs::Params) -> Self {
        Self { springs: Some(params), ..Self::geometric(Geometric::Dqs) }
    }

    /// The volume after dual quaternion skinning.
    pub fn volume(params: volume::Params) -> Self {
        Self { volume: Some(params), ..Self::geometric(Geometric::Dqs) }
    }

    /// Returns the recipe of this name with default settings. The error for an unknown name lists all names.
    pub fn from_name(name: &str) -> Result<Self> {
        match name {
            "springs" => Ok(Self::default()),
            "fast+springs" => {
                let geometric = Geometric::from_name("fast")?;
                Ok(Self { springs: Some(springs::Params::default()), ..Self::geometric(geometric) })
            }
            "thesis" => {
                let springs = Some(springs::Params::thesis());
                Ok(Self { springs, ..Self::geometric(Geometric::Rigid) })
            }
            "volume" => Ok(Self::volume(volume::Params::default())),
            _ if Self::NAMES.contains(&name) => Ok(Self::geometric(Geometric::from_name(name)?)),
            _ => Err(Error::input(
                format!("\"{name}\" is no deformation method"),
                format!("choose one of {}", Self::NAMES.join(", ")),
            )),
        }
    }

    /// Returns the recipe named `method` (springs if empty) with `parameters` overriding its defaults. Springs accept
    /// the field names of [`springs::Params`], and `start`, the name of a geometric method. The volume accepts the field
    /// names of [`volume::Params`] and `start`. `blend` accepts `factor` and `painted` ([`Painted`]). `irs`, `fast` and
    /// `swing-twist` accept their parameters' field names; `irs` also `reach.as_parent` and `reach.as_child`, `fast`
    /// also [`fast::Hold::SETTING`]. `fast+springs` accepts the names of `fast` and of springs, `thesis` those of [`springs::thesis::PARAMETERS`] and `start`. Every method accepts
    /// `contact`, and `crease`, degrees (see [`Crease::Angle`]). Other numbers out of range are clamped.
    ///
    /// # Errors
    /// [`Error::Input`] for an unknown method or parameter, or a value of the wrong type. The error lists the valid
    /// names.
    pub fn from_settings<'a>(
        method: &str,
        parameters: impl IntoIterator<Item = (&'a String, &'a Value)>,
    ) -> Result<Self> {
        let name = if method.is_empty() { "springs" } else { method };
        let mut out = Self::from_name(name)?;
        let mut given: Map<String, Value> =
            parameters.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        if let Some(degrees) = given.remove("crease") {
            let sound = degrees.as_f64().filter(|d| (0.0..=180.0).contains(d));
            let bad = || Error::input(format!("{name}: crease is no angle"), "give degrees from 0 to 180");
            out.crease = Crease::Angle(sound.ok_or_else(bad)?.to_radians() as f32);
        }
        if let Some(params) = &mut out.volume {
            if let Some(start) = given.remove("start") {
                out.geometric = Geometric::from_name(start.as_str().unwrap_or_default())?;
            }
            *params = merged::<volume::Params>(name, params, given)?.sane();
            return Ok(out);
        }
        if let Some(contact) = given.remove("contact") {
            let own = Map::from_iter([("contact".to_owned(), contact)]);
            let params = merged::<volume::Params>(name, &volume::Params::only_contact(0), own)?;
            out.volume = (params.contact > 0).then(|| params.sane());
        }
        if let Some(params) = &mut out.springs {
            if let Some(start) = given.remove("start") {
                out.geometric = Geometric::from_name(start.as_str().unwrap_or_default())?;
            }
            if let Geometric::Fast(params) = &mut out.geometric {
                let own = serde_json::to_value(&*params).unwrap_or_default();
                let is_own = |k: &String| own.get(k).is_some() || k.starts_with(fast::Hold::SETTING);
                let (own, rest) = given.into_iter().partition(|(k, _)| is_own(k));
                given = rest;
                *params = of_fast(name, params, own)?;
            }
            let variant = params.variant;
            if variant == Variant::Thesis {
                let is_own = |k: &String| springs::thesis::PARAMETERS.contains(&k.as_str());
                if !given.keys().all(is_own) {
                    let known = springs::thesis::PARAMETERS.map(str::to_owned);
                    return Err(unknown(name, &given, &known));
                }
            }
            let changed: springs::Params = merged(name, params, given)?;
            *params = springs::Params { variant, ..changed.sane() };
            return Ok(out);
        }
        match &mut out.geometric {
            Geometric::Blend { factor, painted } => {
                #[derive(Serialize, Deserialize)]
                struct Factors {
                    factor: f32,
                    painted: Painted,
                }
                let own = Factors { factor: *factor, painted: painted.clone() };
                let own = merged::<Factors>(name, &own, given)?;
                (*factor, *painted) = (own.factor.clamp(0.0, 1.0), own.painted);
            }
            Geometric::Irs(params) => {
                // Keyframes hold numbers only, so each number of the reach is a separate parameter.
                let numbers = ["reach.as_parent", "reach.as_child"].map(|n| (n, given.remove(n)));
                *params = merged(name, params, given)?;
                for (name, value) in numbers.into_iter().filter_map(|(n, v)| Some((n, v?))) {
                    let bad = || Error::input(format!("irs: {name} is no number"), "give one from 0 to 1");
                    out.geometric.set_number(name, value.as_f64().ok_or_else(bad)? as f32);
                }
            }
            Geometric::SwingTwist(params) => {
                *params = merged::<swing_twist::Params>(name, params, given)?.sane();
            }
            Geometric::Fast(params) => *params = of_fast(name, params, given)?,
            _ if given.is_empty() => {}
            _ => return Err(unknown(name, &given, &[])),
        }
        Ok(out)
    }

    /// Sets the grips to which the recipe binds. Methods other than FAST have none, and the volume places the skin itself.
    pub fn set_grips(&mut self, grips: &fast::Grips) {
        if let (Geometric::Fast(params), None) = (&mut self.geometric, &self.volume) {
            params.grips.clone_from(grips);
        }
    }

    /// Sets a numeric setting by name. Clamps values and rounds counts. Returns false if the method has no such
    /// setting. Does not allocate, because animated settings call this in every frame.
    pub fn set_number(&mut self, name: &str, value: f32) -> bool {
        if name == "contact" && !self.is_volume() {
            let cycles = value.round().max(0.0) as u32;
            self.volume = (cycles > 0).then(|| volume::Params::only_contact(cycles));
            return true;
        }
        self.geometric.set_number(name, value)
            || self.springs.as_mut().is_some_and(|springs| springs.set_number(name, value))
            || self.elastic_mut().is_some_and(|volume| volume.set_number(name, value))
    }

    /// Returns a numeric setting by name, as it is used.
    pub fn number(&self, name: &str) -> Option<f32> {
        let geometric = match &self.geometric {
            Geometric::Fast(params) => serde_json::to_value(params).ok(),
            Geometric::SwingTwist(params) => serde_json::to_value(params).ok(),
            Geometric::Blend { factor, .. } => Some(json!({ "factor": factor })),
            Geometric::Irs(params) => {
                let reach = params.reach.sane();
                Some(json!({ "reach.as_parent": reach.as_parent, "reach.as_child": reach.as_child }))
            }
            _ => None,
        };
        // A volume that only keeps contact has numbers of its own, which no setting gives.
        let contact = self.volume.filter(|_| name == "contact");
        let volume = serde_json::to_value(self.elastic().copied().or(contact)).ok();
        let others = [serde_json::to_value(self.springs).ok(), volume];
        let all = geometric.into_iter().chain(others.into_iter().flatten());
        all.into_iter().find_map(|params| params.get(name)?.as_f64()).map(|value| value as f32)
    }

    /// Returns the frequency, hertz, and the damping ratio of the dynamics; `None` if the recipe has neither springs
    /// nor the volume.
    pub fn dynamics(&self) -> Option<[f32; 2]> {
        let springs = self.springs.map(|s| [s.dynamics, s.damping]);
        springs.or(self.elastic().map(|v| [v.dynamics, v.damping]))
    }

    /// Whether frames depend on their time and on earlier frames, because dynamics are on.
    pub fn swings(&self) -> bool {
        self.dynamics().is_some_and(|[frequency, _]| frequency > 0.0)
    }

    /// Whether a frame starts from the result of the previous frame.
    pub fn frames(&self) -> Frames {
        let springs = self.springs.map(|s| s.frames);
        springs.or(self.elastic().map(|v| v.frames)).unwrap_or(Frames::Independent)
    }

    /// Whether a graph bound to this recipe can switch to `other` with [`super::Graph::adopt`].
    pub fn can_become(&self, other: &Self) -> bool {
        let volumes = volume::Params::may_become(self.volume.as_ref(), other.volume.as_ref());
        let springs = self.springs.map(|s| s.variant) == other.springs.map(|s| s.variant);
        springs && volumes && self.crease == other.crease && self.geometric.can_become(&other.geometric)
    }

    /// Whether the method is the volume.
    pub fn is_volume(&self) -> bool {
        self.elastic().is_some()
    }

    fn elastic(&self) -> Option<&volume::Params> {
        self.volume.as_ref().filter(|v| v.rest == Rest::Bind)
    }

    fn elastic_mut(&mut self) -> Option<&mut volume::Params> {
        self.volume.as_mut().filter(|v| v.rest == Rest::Bind)
    }

    /// Returns the recipe's name, as in [`Recipe::NAMES`].
    pub fn name(&self) -> &'static str {
        if self.is_volume() {
            return "volume";
        }
        match (&self.springs, &self.geometric) {
            (Some(params), _) if params.variant == Variant::Thesis => "thesis",
            (Some(_), Geometric::Fast(_)) => "fast+springs",
            (Some(_), _) => "springs",
            (None, geometric) => geometric.name(),
        }
    }
}

/// Returns the settings of FAST with the given fields replaced, and with the numbers of single joints.
fn of_fast(method: &str, defaults: &fast::Params, given: Map<String, Value>) -> Result<fast::Params> {
    let (joints, given): (Map<_, _>, _) =
        given.into_iter().partition(|(k, _)| k.starts_with(fast::Hold::SETTING));
    let mut out = merged::<fast::Params>(method, defaults, given)?.sane();
    for (name, value) in joints {
        let number = value.as_f64().ok_or_else(|| {
            let remedy = "give 0 (automatic), 1 (free), 2 (position) or 3 (full)";
            Error::input(format!("{method}: {name} is no number"), remedy)
        })?;
        if !out.set_number(&name, number as f32) {
            let remedy = "write joints. and the joint's number, counted from 0";
            return Err(Error::input(format!("{method}: {name} names no joint"), remedy));
        }
    }
    Ok(out)
}

/// Returns the defaults with the given fields replaced.
fn merged<T: Serialize + serde::de::DeserializeOwned>(
    method: &str,
    defaults: &T,
    given: Map<String, Value>,
) -> Result<T> {
    let bad = |what: String| Error::input(format!("{method}: {what}"), "give a value of the field's kind");
    let mut value = serde_json::to_value(defaults).map_err(|e| bad(e.to_string()))?;
    let known: Vec<String> = value.as_object().map_or_else(Vec::new, |f| f.keys().cloned().collect());
    if given.keys().any(|k| !known.contains(k)) {
        return Err(unknown(method, &given, &known));
    }
    // Each field is checked separately, since serde's error message does not name the field.
    for (name, new) in given {
        // A count from a keyframe is rounded: keyframes are floats, and a curve may fall below zero between keys.
        let kind = match &value[&name] {
            Value::Bool(_) => Some("true or false"),
            Value::Number(n) if n.is_u64() => Some("a whole number, 0 or more"),
            Value::Number(_) => Some("a number"),
            _ => None,
        };
        let given = new.to_string();
        let whole = new.as_f64().filter(|_| value[&name].is_u64() && (new.is_f64() || new.is_u64()));
        value[&name] = whole.map_or(new, |n| Value::from(n.round().clamp(0.0, 1e9) as u64));
        T::deserialize(&value).map_err(|e| match kind {
            Some(kind) => {
                Error::input(format!("{method}: {name}: {given} is not {kind}"), format!("give {kind}"))
            }
            None => bad(format!("{name}: {e}")),
        })?;
    }
    serde_json::from_value(value).map_err(|e| bad(e.to_string()))
}

fn unknown(method: &str, given: &Map<String, Value>, known: &[String]) -> Error {
    let names: Vec<&str> = given.keys().filter(|k| !known.contains(k)).map(String::as_str).collect();
    let mut known: Vec<&str> = known.iter().map(String::as_str).collect();
    let starts: &[&str] = if ["springs", "thesis", "volume"].contains(&method) { &["start"] } else { &[] };
    for everywhere in starts.iter().chain(&["contact", "crease"]) {
        if !known.contains(everywhere) {
            known.push(everywhere);
        }
    }
    Error::input(
        format!("{method} has no parameter {}", names.join(", ")),
        format!("it has {}", known.join(", ")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(method: &str, parameters: &[(&str, Value)]) -> Result<Recipe> {
        let parameters: Map<String, Value> =
            parameters.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect();
        Recipe::from_settings(method, &parameters)
    }

    #[test]
    fn parameters_take_the_place_of_defaults_and_mistakes_are_named() {
        let out = recipe("", &[("surface", 0.5.into()), ("start", "lbs".into())]).unwrap();
        assert_eq!((out.geometric, out.springs.unwrap().surface), (Geometric::Lbs, 0.5));
        let out =
            recipe("springs", &[("max_iterations", (-0.4).into()), ("torsion", (-1e9).into())]).unwrap();
        assert_eq!(out.springs.map(|s| (s.max_iterations, s.torsion)), Some((0, 0.0)), "brought into range");
        let out = recipe("blend", &[("factor", 0.25.into())]).unwrap();
        assert_eq!(out.geometric, Geometric::Blend { factor: 0.25, painted: Painted::NONE });
        let painted = serde_json::json!([[3, 255], [1, 0]]);
        let out = recipe("blend", &[("painted", painted)]).unwrap();
        assert!(matches!(&out.geometric, Geometric::Blend { painted, .. } if painted.len() == 4));
        assert!(recipe("blend", &[("factor", 0.1.into())]).unwrap().can_become(&out));
        let wrong = recipe("blend", &[("painted", serde_json::json!([[3, 999]]))]).unwrap_err().to_string();
        assert!(wrong.contains("up to 255"), "{wrong}");
        let both = [("extra", 5.into()), ("surface", 0.5.into())];
        let out = recipe("fast+springs", &both).unwrap();
        assert_eq!((out.name(), out.springs.map(|s| s.surface)), ("fast+springs", Some(0.5)));
        assert!(matches!(out.geometric, Geometric::Fast(p) if p.extra == 5));
        let out = recipe("volume", &[("volume", 7.into()), ("cycles", 5.into())]).unwrap();
        assert_eq!(
            ["volume", "firmness", "cycles", "torsion"].map(|n| out.number(n)),
            [Some(1.0), Some(0.5), Some(5.0), None]
        );
        for (method, name, value, used) in [
            ("blend", "factor", 7.0, 1.0),
            ("irs", "reach.as_child", -1.0, 0.0),
            ("swing-twist", "cubes", 3.0, 500.0),
            ("fast", "extra", 7.0, 7.0),
        ] {
            assert_eq!(recipe(method, &[(name, value.into())]).unwrap().number(name), Some(used), "{name}");
        }
        for method in Recipe::NAMES {
            let with = |cycles: i32| recipe(method, &[("contact", cycles.into())]).unwrap();
            let (off, on) = (with(0), with(3));
            assert_eq!((off.name(), on.name(), on.dynamics()), (method, method, off.dynamics()));
            assert_eq!(on.volume.map(|v| (v.contact, v.rest == Rest::Bind)), Some((3, method == "volume")));
            assert_eq!(off.volume.is_some(), method == "volume");
            // Contact needs a binding of its own, but the number of cycles does not.
            assert_eq!((off.can_become(&on), with(5).can_become(&on)), (method == "volume", true));
        }
        for (wrong, word) in [
            (recipe("springs", &[("stiffness", 1.into())]), "torsion"),
            (recipe("springs", &[("surface", "much".into())]), "surface"),
            (recipe("lbs", &[("factor", 1.into())]), "factor"),
            (recipe("nurbs", &[]), "rigid"),
            (recipe("fast+springs", &[("stiffness", 1.into())]), "torsion"),
            (recipe("lbs", &[("contact", "much".into())]), "contact"),
            (recipe("volume", &[("rest", "pose".into())]), "firmness"),
            (recipe("volume", &[("nonsense", 1.into())]), "start"),
            (recipe("lbs", &[("nonsense", 1.into())]), "crease"),
        ] {
            let text = wrong.unwrap_err().to_string();
            assert!(text.contains(word), "{text}");
        }
    }
}
