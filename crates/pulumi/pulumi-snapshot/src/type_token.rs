//! Type tokens.

use crate::text::text_id;

/// The type of the root resource of a stack.
pub const ROOT_STACK_TYPE: &str = "pulumi:pulumi:Stack";
/// The module of the types of providers.
pub const PROVIDERS_MODULE: &str = "pulumi:providers";

text_id! {
    /// The type of a resource, `<package>:<module>:<name>`.
    ///
    /// Any text is kept. What stands before the second colon is the module, what comes after it the name.
    ///
    /// ```
    /// use groundstate_pulumi_snapshot::TypeToken;
    ///
    /// let token = TypeToken::from("aws:s3/bucket:Bucket");
    /// assert_eq!(token.split(), Some(("aws:s3/bucket", "Bucket")));
    /// assert!(TypeToken::from("pulumi:providers:aws").is_provider());
    /// ```
    pub struct TypeToken;
}

impl TypeToken {
    /// Module and name, split at the second colon; nothing if there is none.
    pub fn split(&self) -> Option<(&str, &str)> {
        split(self.as_str())
    }

    /// The package: what stands before the first colon.
    pub fn package(&self) -> &str {
        self.as_str().split_once(':').map_or("", |(package, _)| package)
    }

    /// Whether it is the type of a provider: the module is `pulumi:providers` and there is a name.
    pub fn is_provider(&self) -> bool {
        is_provider(self.as_str())
    }

    /// Whether it is the type of the root resource of a stack.
    pub fn is_root_stack(&self) -> bool {
        self.as_str() == ROOT_STACK_TYPE
    }
}

/// Splits at the second colon.
pub(crate) fn split(token: &str) -> Option<(&str, &str)> {
    let (second, _) = token.match_indices(':').nth(1)?;
    Some((&token[..second], &token[second + 1..]))
}

pub(crate) fn is_provider(token: &str) -> bool {
    split(token).is_some_and(|(module, name)| module == PROVIDERS_MODULE && !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_providers_have_the_module_and_a_name() {
        for (token, expected) in [
            ("pulumi:providers:", false),
            ("pulumi:providers:a", true),
            ("pulumi:providers", false),
            ("pulumi:providers:a::b", true),
            ("pulumi:providers:a::default_1_0_0", true),
            ("Pulumi:providers:a", false),
            ("pulumi:pulumi:Stack", false),
            ("", false),
        ] {
            assert_eq!(TypeToken::from(token).is_provider(), expected, "{token}");
        }
    }

    #[test]
    fn tokens_split_at_the_second_colon() {
        for (token, expected, package) in [
            ("a:b:c", Some(("a:b", "c")), "a"),
            ("a:b:c:d", Some(("a:b", "c:d")), "a"),
            ("a::c", Some(("a:", "c")), "a"),
            ("a:b", None, "a"),
            ("a", None, ""),
        ] {
            assert_eq!(TypeToken::from(token).split(), expected, "{token}");
            assert_eq!(TypeToken::from(token).package(), package, "{token}");
        }
        assert!(TypeToken::from(ROOT_STACK_TYPE).is_root_stack());
    }
}
