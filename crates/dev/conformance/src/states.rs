//! The states that managers write in the cases.

use groundstate_statefile::{DecodeOptions, Dialect, File, decode};
use groundstate_states::addr::ModuleInstance;
use groundstate_states::{Lineage, OutputValue, Serial, State, Type, Value};

use crate::failure::{Step, Stop};

/// Two outputs, one of them sensitive, and in a module a resource without instances.
///
/// That resource has no object, and still has to survive.
const INITIAL: &str = r#"{
  "version": 4,
  "serial": 1,
  "lineage": "made-for-the-case",
  "outputs": {
    "nonsensitive_output": {"value": "hello, world!", "type": "string"},
    "sensitive_output": {"value": "it's a secret", "type": "string", "sensitive": true}
  },
  "resources": [
    {
      "module": "module.child",
      "mode": "managed",
      "type": "null_resource",
      "name": "foo",
      "provider": "provider[\"registry.terraform.io/hashicorp/null\"]",
      "instances": []
    }
  ],
  "check_results": null
}"#;

/// One managed object.
const WITH_A_THING: &str = r#"{
  "version": 4,
  "serial": 1,
  "lineage": "made-for-the-case",
  "outputs": {},
  "resources": [
    {
      "mode": "managed",
      "type": "test_thing",
      "name": "foo",
      "provider": "provider[\"registry.terraform.io/hashicorp/test\"]",
      "instances": [{"schema_version": 0, "attributes": {}, "sensitive_attributes": []}]
    }
  ],
  "check_results": null
}"#;

/// The state that Terraform's suite of managers begins with.
pub(crate) fn initial() -> Step<State> {
    state_of(INITIAL)
}

/// A state with a managed object.
pub(crate) fn with_a_thing() -> Step<State> {
    state_of(WITH_A_THING)
}

fn state_of(text: &str) -> Step<State> {
    match decode(text.as_bytes(), &DecodeOptions::default()) {
        Ok(file) => Ok(file.state),
        Err(error) => Err(Stop::Failed {
            expected: "the suite's own state can be read".to_owned(),
            seen: error.to_string(),
            clause: None,
            hint: None,
        }),
    }
}

/// Sets a root output.
pub(crate) fn set_output(state: &mut State, name: &str, value: &str) {
    let output = OutputValue::new(Value::string(value), Type::String);
    state.set_output_value(&ModuleInstance::root(), name, output);
}

/// Whether there is a managed object in it.
pub(crate) fn has_objects(state: Option<&State>) -> bool {
    let Some(state) = state else { return false };
    state.modules().any(|(_, module)| {
        let mut instances = module.resources.values().flat_map(|resource| resource.instances.values());
        instances.any(|instance| instance.has_objects())
    })
}

/// A file of this lineage and serial.
pub(crate) fn file(lineage: &str, serial: u64, state: &State) -> File {
    let mut file = File::new(Dialect::Terraform, Lineage::new(lineage));
    file.serial = Serial::new(serial);
    file.state = state.clone();
    file
}

#[cfg(test)]
mod tests {
    use super::{has_objects, initial, with_a_thing};

    #[test]
    fn the_states_are_what_they_are_called() {
        let (initial, thing) = (initial().unwrap(), with_a_thing().unwrap());
        assert_eq!(initial.outputs().len(), 2);
        assert_eq!(initial.modules().count(), 2, "the resource without instances is there");
        assert!(!has_objects(Some(&initial)) && has_objects(Some(&thing)) && !has_objects(None));
    }
}
