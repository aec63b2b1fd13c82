//! Invented output values. Their number does not depend on the size of the state.

use crate::json::{Json, list, object, sorted};
use crate::rng::Rng;
use crate::text::{NOTE, WORDS, base64};

/// An output that every state of format 4 has.
pub const KNOWN_OUTPUT: &str = "service_endpoint";
const COUNT: usize = 31;

/// An output of the root module.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) name: String,
    pub(crate) value_type: Json,
    pub(crate) value: Json,
    pub(crate) sensitive: bool,
}

/// Outputs of every type, sorted by name.
pub(crate) fn typed(seed: u64) -> Vec<Output> {
    let mut rng = Rng::new(seed, "outputs");
    let mut outputs: Vec<Output> = (0..COUNT).map(|at| output(&mut rng, at)).collect();
    outputs.push(Output {
        name: KNOWN_OUTPUT.to_owned(),
        value_type: "string".into(),
        value: "https://service.example.test/".into(),
        sensitive: false,
    });
    outputs.sort_by(|a, b| a.name.cmp(&b.name));
    outputs
}

fn output(rng: &mut Rng, at: usize) -> Output {
    let (value_type, value) = match at % 8 {
        0 => (
            list(["map", "string"]),
            sorted([("blue", Json::from(rng.hex(12))), ("<green>", rng.hex(12).into())]),
        ),
        1 => {
            let ids: Vec<String> = (0..3).map(|_| format!("net-{}", rng.hex(17))).collect();
            (list(["list", "string"]), list(ids))
        }
        2 => ("string".into(), base64(rng, 24).into()),
        3 => structure(rng),
        4 => (
            list([Json::from("tuple"), list(["string", "number", "dynamic", "bool"])]),
            list([Json::from("a"), 1_usize.into(), Json::Null, false.into()]),
        ),
        5 => {
            let numbers = ["0", "-1", "1.5", "9007199254740993", "0.0000001"];
            ("number".into(), Json::Number(rng.pick(&numbers).to_owned()))
        }
        6 => ("string".into(), NOTE.into()),
        _ => ("bool".into(), true.into()),
    };
    Output { name: format!("{}_{at}", rng.pick(&WORDS)), value_type, value, sensitive: at % 8 == 2 }
}

fn structure(rng: &mut Rng) -> (Json, Json) {
    let tags = list([Json::from("object"), object([("Team", "string".into())])]);
    let members = object([("enabled", "bool".into()), ("port", "number".into()), ("tags", tags)]);
    let tags = object([("Team", rng.pick(&WORDS).into())]);
    let value = object([("enabled", true.into()), ("port", 5432_usize.into()), ("tags", tags)]);
    (list([Json::from("object"), members]), value)
}
