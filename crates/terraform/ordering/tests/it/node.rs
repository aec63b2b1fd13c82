//! Labels and order of nodes.

use groundstate_ordering::{NodeKey, Part};
use groundstate_states::DeposedKey;
use groundstate_states::addr::{AbsResourceInstance, ProviderConfig, TERRAFORM_REGISTRY};

fn operation(addr: &str, part: Part) -> NodeKey {
    NodeKey::operation(AbsResourceInstance::parse(addr).unwrap(), part)
}

#[test]
fn labels_say_instance_and_operation() {
    let key = DeposedKey::from_number(0x1a2b);
    let provider = ProviderConfig::parse(r#"provider["acme/x"].west"#, "registry.example.org").unwrap();
    let a = "module.m[0].net.a[\"x\"]";
    for (node, label) in [
        (operation(a, Part::Apply), a.to_owned()),
        (operation(a, Part::Destroy), format!("{a} (destroy)")),
        (operation(a, Part::DestroyDeposed(key)), format!("{a} (destroy deposed 00001a2b)")),
        (operation(a, Part::Forget), format!("{a} (forget)")),
        (operation(a, Part::ForgetDeposed(key)), format!("{a} (forget deposed 00001a2b)")),
        (NodeKey::Provider(provider.clone()), r#"provider["registry.example.org/acme/x"].west"#.to_owned()),
        (
            NodeKey::ProviderClose(provider),
            r#"provider["registry.example.org/acme/x"].west (close)"#.to_owned(),
        ),
    ] {
        assert_eq!(node.to_string(), label);
    }
}

#[test]
fn nodes_are_ordered_by_class_address_and_part() {
    let provider = ProviderConfig::parse(r#"provider["acme/x"]"#, TERRAFORM_REGISTRY).unwrap();
    let ordered = [
        NodeKey::Provider(provider.clone()),
        operation("net.z", Part::Apply),
        operation("vm.a", Part::Apply),
        operation("vm.a", Part::Forget),
        operation("vm.a", Part::ForgetDeposed(DeposedKey::from_number(9))),
        operation("vm.a", Part::Destroy),
        operation("vm.a", Part::DestroyDeposed(DeposedKey::from_number(2))),
        operation("vm.a", Part::DestroyDeposed(DeposedKey::from_number(10))),
        operation("vm.a[2]", Part::Apply),
        operation("vm.a[10]", Part::Apply),
        operation("vm.a[\"10\"]", Part::Apply),
        operation("data.a.a", Part::Apply),
        operation("module.a.module.z.net.a", Part::Apply),
        operation("module.b.net.a", Part::Apply),
        operation("module.b[0].net.a", Part::Apply),
        NodeKey::ProviderClose(provider),
    ];
    for pair in ordered.windows(2) {
        assert!(pair[0] < pair[1], "{} before {}", pair[0], pair[1]);
    }
}
