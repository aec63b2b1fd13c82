//! The values of options: what they are called, how they are read from text and from TOML, and how they are written.

use std::fmt;
use std::time::Duration;

use toml::de::DeValue;

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `true` or `false`.
    Switch,
    /// A whole number between these.
    Count(u64, u64),
    /// The same, or `off`.
    CountOrOff(u64, u64),
    /// A number of bytes between these: `64KiB`.
    Size(u64, u64),
    /// The same, or `off`.
    SizeOrOff(u64, u64),
    /// A time between these numbers of seconds: `90s`.
    Time(u64, u64),
    /// The same, or `off`.
    TimeOrOff(u64, u64),
    /// One line of text; the argument is what it names.
    Text(&'static str),
    /// The path of a file; in a file it begins at the folder of that file.
    Path,
    /// Texts, separated by commas where they are one text; the arguments are what each of them is, and an example.
    List(&'static str, &'static str),
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// The value of an option. `Debug` shows no text, since it may be a secret.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Switch(bool),
    Count(u64),
    Size(u64),
    Time(Duration),
    Text(String),
    List(Vec<String>),
    Off,
}

const SIZES: [(&str, u64); 7] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1000),
    ("B", 1),
];

const TIMES: [(&str, u64); 5] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

impl Kind {
    /// Reads a variable or an argument. The error says what the value is not and how to write it, never the value: it may be a
    /// secret that is in the wrong place.
    pub(crate) fn read_text(self, text: &str) -> Result<Value, String> {
        if text.contains(['\n', '\r']) {
            return Err(format!("has a line break; write {} on one line", self.noun()));
        }
        if text.chars().any(char::is_control) {
            return Err("has a control character; remove it".to_owned());
        }
        let wrong = || format!("is not {}; write it as in {}", self.noun(), self.example());
        let is_off = text == "off";
        match self {
            Self::Switch => match text {
                "true" => Ok(Value::Switch(true)),
                "false" => Ok(Value::Switch(false)),
                _ => Err(wrong()),
            },
            Self::CountOrOff(..) | Self::SizeOrOff(..) | Self::TimeOrOff(..) if is_off => Ok(Value::Off),
            Self::Count(..) | Self::CountOrOff(..) => {
                let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                let count = is_number.then(|| text.parse().ok()).flatten();
                self.within(Value::Count(count.ok_or_else(wrong)?))
            }
            Self::Size(..) | Self::SizeOrOff(..) => {
                self.within(Value::Size(scaled(text, &SIZES).ok_or_else(wrong)?))
            }
            Self::Time(..) | Self::TimeOrOff(..) => {
                let millis = scaled(text, &TIMES).ok_or_else(wrong)?;
                self.within(Value::Time(Duration::from_millis(millis)))
            }
            Self::Text(_) | Self::Path if text.is_empty() => Err("is empty".to_owned()),
            Self::Text(_) | Self::Path => Ok(Value::Text(text.to_owned())),
            Self::List(..) => {
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                Ok(Value::List(parts.map(str::to_owned).collect()))
            }
            Self::Choice(words) if words.contains(&text) => Ok(Value::Text(text.to_owned())),
            Self::Choice(_) => Err(wrong()),
        }
    }

    /// Reads a value of a file.
    pub(crate) fn read_toml(self, value: &DeValue<'_>) -> Result<Value, String> {
        let other = |found: &str| {
            format!(
                "is {found}, and it has to be {}; write it as in {}",
                self.noun(),
                self.in_toml(self.example())
            )
        };
        match (self, value) {
            (Self::Switch, DeValue::Boolean(on)) => Ok(Value::Switch(*on)),
            (Self::CountOrOff(..) | Self::SizeOrOff(..) | Self::TimeOrOff(..), DeValue::Boolean(false)) => {
                Ok(Value::Off)
            }
            (Self::Count(..) | Self::CountOrOff(..), DeValue::Integer(number)) => {
                let count = u64::from_str_radix(number.as_str(), number.radix());
                self.within(Value::Count(count.map_err(|_| other("a negative or very large number"))?))
            }
            (Self::Count(..), DeValue::String(_)) => Err(other("a string")),
            (Self::Switch, DeValue::String(_)) => Err(other("a string")),
            (Self::List(..), DeValue::Array(parts)) => {
                let text = |part: &DeValue<'_>| match part {
                    DeValue::String(text) if !text.chars().any(char::is_control) => {
                        Ok(text.clone().into_owned())
                    }
                    DeValue::String(_) => {
                        Err("has an entry with a line break or a control character".to_owned())
                    }
                    part => Err(format!("has an entry that is {}, and not a string", type_of(part))),
                };
                Ok(Value::List(parts.iter().map(|part| text(part.get_ref())).collect::<Result<_, _>>()?))
            }
            (Self::List(..), DeValue::String(text)) if text.contains(',') => {
                Err(other("one string with commas"))
            }
            (_, DeValue::String(text)) => self.read_text(text),
            (_, value) => Err(other(type_of(value))),
        }
    }

    /// The value, if it is inside the bounds.
    fn within(self, value: Value) -> Result<Value, String> {
        let (at_least, at_most) = match self {
            Self::Count(least, most) | Self::CountOrOff(least, most) => {
                (Value::Count(least), Value::Count(most))
            }
            Self::Size(least, most) | Self::SizeOrOff(least, most) => (Value::Size(least), Value::Size(most)),
            Self::Time(least, most) | Self::TimeOrOff(least, most) => {
                (Value::Time(Duration::from_secs(least)), Value::Time(Duration::from_secs(most)))
            }
            _ => return Ok(value),
        };
        match (value.amount() < at_least.amount(), value.amount() > at_most.amount()) {
            (true, _) => Err(format!("is less than {at_least}, the least that is possible")),
            (_, true) => Err(format!("is more than {at_most}, the most that is possible")),
            _ => Ok(value),
        }
    }

    /// What a value is, with its article.
    pub(crate) fn noun(self) -> String {
        match self {
            Self::Switch => "`true` or `false`".to_owned(),
            Self::Count(..) => "a whole number".to_owned(),
            Self::CountOrOff(..) => "a whole number or `off`".to_owned(),
            Self::Size(..) => "a size".to_owned(),
            Self::SizeOrOff(..) => "a size or `off`".to_owned(),
            Self::Time(..) => "a time".to_owned(),
            Self::TimeOrOff(..) => "a time or `off`".to_owned(),
            Self::Text(what) => what.to_owned(),
            Self::Path => "the path of a file".to_owned(),
            Self::List(what, _) => format!("a list of {what}"),
            Self::Choice(words) => {
                let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                match quoted.split_last() {
                    Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
                    _ => quoted.concat(),
                }
            }
        }
    }

    fn example(self) -> &'static str {
        match self {
            Self::Switch => "true",
            Self::Count(..) | Self::CountOrOff(..) => "100",
            Self::Size(..) | Self::SizeOrOff(..) => "64MiB",
            Self::Time(..) | Self::TimeOrOff(..) => "90s",
            Self::List(_, example) => example,
            Self::Text(_) => "text",
            Self::Path => "/etc/groundstate/server.key",
            Self::Choice(words) => words.first().copied().unwrap_or_default(),
        }
    }

    fn in_toml(self, text: &str) -> String {
        match self {
            Self::Switch | Self::Count(..) | Self::CountOrOff(..) => text.to_owned(),
            Self::List(..) => format!("[{text:?}]"),
            _ => format!("{text:?}"),
        }
    }
}

/// A whole number and a unit.
fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim_start())?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

/// What a value of a file is, with its article.
fn type_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a number",
        DeValue::Float(_) => "a number with a point",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or a time of day",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

impl Value {
    fn amount(&self) -> u128 {
        match self {
            Self::Count(amount) | Self::Size(amount) => u128::from(*amount),
            Self::Time(time) => time.as_millis(),
            _ => 0,
        }
    }

    /// The value as a file has it.
    pub(crate) fn to_toml(&self) -> String {
        match self {
            Self::Switch(on) => on.to_string(),
            Self::Count(count) => count.to_string(),
            Self::Size(_) | Self::Time(_) | Self::Off => format!("\"{self}\""),
            Self::Text(text) => quoted(text),
            Self::List(parts) => {
                format!("[{}]", parts.iter().map(|part| quoted(part)).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if groundstate_common::is_hidden(c) => out.push_str(&format!("\\U{:08X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "a text of {} bytes", text.len()),
            Self::List(parts) => write!(f, "a list of {}", parts.len()),
            other => fmt::Display::fmt(other, f),
        }
    }
}

impl fmt::Display for Value {
    /// The value as a variable or an argument has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scaled = |f: &mut fmt::Formatter<'_>, amount: u64, units: &[(&str, u64)]| {
            let fits = units.iter().filter(|(_, factor)| amount.is_multiple_of(*factor));
            match fits.max_by_key(|(_, factor)| *factor) {
                Some((unit, factor)) if amount > 0 => write!(f, "{}{unit}", amount / factor),
                _ => write!(f, "0{}", units.last().map_or("", |(unit, _)| unit)),
            }
        };
        match self {
            Self::Switch(on) => on.fmt(f),
            Self::Count(count) => count.fmt(f),
            // Powers of two, as they were meant.
            Self::Size(bytes) => scaled(f, *bytes, &[SIZES[0], SIZES[1], SIZES[2], SIZES[6]]),
            Self::Time(time) => {
                let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                scaled(f, millis, &[TIMES[4], TIMES[3], TIMES[2], TIMES[0], TIMES[1]])
            }
            Self::Text(text) => f.write_str(text),
            Self::List(parts) => f.write_str(&parts.join(",")),
            Self::Off => f.write_str("off"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Value};

    #[test]
    fn values_are_read_as_they_are_written() {
        for (kind, text) in [
            (Kind::Switch, "true"),
            (Kind::Count(0, 500), "500"),
            (Kind::CountOrOff(1, 5), "off"),
            (Kind::Size(0, 1 << 40), "512MiB"),
            (Kind::Size(0, 1 << 40), "1000B"),
            (Kind::Size(0, 1 << 40), "0B"),
            (Kind::Time(0, 90_000), "90s"),
            (Kind::Time(0, 90_000), "1500ms"),
            (Kind::Time(0, 90_000), "0s"),
            (Kind::TimeOrOff(0, 90_000), "2h"),
            (Kind::Text("a text"), "a b"),
            (Kind::List("texts", "a"), "a,b"),
            (Kind::Choice(&["off", "warn"]), "warn"),
        ] {
            assert_eq!(kind.read_text(text).unwrap().to_string(), text, "{kind:?}");
        }
        assert_eq!(Kind::Size(0, 9000).read_text("8 KB").unwrap(), Value::Size(8000));
        assert_eq!(
            Kind::List("texts", "a").read_text(" a , ,b").unwrap(),
            Value::List(vec!["a".into(), "b".into()])
        );
    }

    #[test]
    fn what_is_wrong_is_said_without_the_value() {
        for (kind, text, expected) in [
            (Kind::Switch, "hush", "is not `true` or `false`; write it as in true"),
            (Kind::Count(1, 5), "hush", "is not a whole number; write it as in 100"),
            (Kind::Count(1, 5), "-1", "is not a whole number; write it as in 100"),
            (Kind::Count(1, 5), "9", "is more than 5, the most that is possible"),
            (Kind::Size(1024, 4096), "hush", "is not a size; write it as in 64MiB"),
            (Kind::Size(1024, 4096), "64", "is not a size; write it as in 64MiB"),
            (Kind::Size(1024, 4096), "1B", "is less than 1KiB, the least that is possible"),
            (Kind::Size(1024, 4096), "99999999999999GiB", "is not a size; write it as in 64MiB"),
            (Kind::TimeOrOff(1, 60), "2m", "is more than 1m, the most that is possible"),
            (Kind::TimeOrOff(1, 60), "0s", "is less than 1s, the least that is possible"),
            (Kind::Text("a text"), "", "is empty"),
            (Kind::Text("a URL"), "hush\n", "has a line break; write a URL on one line"),
            (Kind::Text("a URL"), "hu\u{1b}sh", "has a control character; remove it"),
            (
                Kind::Choice(&["off", "warn", "enforce"]),
                "hush",
                "is not `off`, `warn` or `enforce`; write it as in off",
            ),
        ] {
            assert_eq!(kind.read_text(text).unwrap_err(), expected, "{kind:?} {text}");
        }
    }
}
