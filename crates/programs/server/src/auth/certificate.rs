//! Principals of client certificates.

use groundstate_common::one_line;
use serde::Deserialize;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::pattern::Pattern;
use super::principal::{Grant, Principal, PrincipalKind};

/// Which certificates have which roles. Every condition that is given has to hold.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CertificateRule {
    /// The common name of the subject.
    pub common_name: Option<Pattern>,
    /// One of the names of hosts in the subject alternative name.
    pub dns: Option<Pattern>,
    /// One of the URIs in the subject alternative name, such as a SPIFFE id.
    pub uri: Option<Pattern>,
    /// One of the mail addresses in the subject alternative name.
    pub email: Option<Pattern>,
    /// The roles.
    pub grants: Vec<Grant>,
}

/// The names in a certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Names {
    common_name: Option<String>,
    dns: Vec<String>,
    uri: Vec<String>,
    email: Vec<String>,
}

impl CertificateRule {
    /// Whether it asks for anything at all: a rule without a condition would be for every certificate.
    pub(crate) fn has_condition(&self) -> bool {
        [&self.common_name, &self.dns, &self.uri, &self.email].into_iter().any(Option::is_some)
    }

    fn holds(&self, names: &Names) -> bool {
        let one_of = |pattern: &Option<Pattern>, names: &[String]| {
            pattern.as_ref().is_none_or(|pattern| names.iter().any(|name| pattern.matches(name)))
        };
        self.has_condition()
            && one_of(&self.common_name, names.common_name.as_slice())
            && one_of(&self.dns, &names.dns)
            && one_of(&self.uri, &names.uri)
            && one_of(&self.email, &names.email)
    }
}

/// The principal of a certificate that the listener has verified; none if no rule is for it.
pub(crate) fn principal(der: &[u8], rules: &[CertificateRule]) -> Option<Principal> {
    let names = Names::of(der)?;
    let grants: Vec<Grant> =
        rules.iter().filter(|rule| rule.holds(&names)).flat_map(|rule| rule.grants.iter().cloned()).collect();
    if grants.is_empty() {
        return None;
    }
    Some(Principal::new(&format!("certificate:{}", names.shown()), PrincipalKind::Certificate, grants))
}

impl Names {
    fn of(der: &[u8]) -> Option<Self> {
        let (rest, certificate) = X509Certificate::from_der(der).ok()?;
        if !rest.is_empty() {
            return None;
        }
        let mut names = Self::default();
        // Of several, none is the common name: which one was meant is not known.
        let mut common = certificate.subject().iter_common_name();
        if let (Some(name), None) = (common.next(), common.next()) {
            names.common_name = name.as_str().ok().map(str::to_owned);
        }
        let alternative = certificate.subject_alternative_name().ok()?;
        for name in alternative.iter().flat_map(|names| &names.value.general_names) {
            match name {
                GeneralName::DNSName(name) => names.dns.push((*name).to_owned()),
                GeneralName::URI(name) => names.uri.push((*name).to_owned()),
                GeneralName::RFC822Name(name) => names.email.push((*name).to_owned()),
                _ => {}
            }
        }
        Some(names)
    }

    /// The name by which logs name it.
    fn shown(&self) -> String {
        let names = [self.uri.first(), self.email.first(), self.common_name.as_ref(), self.dns.first()];
        one_line(names.into_iter().flatten().next().map_or("", String::as_str)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use groundstate_testkit::Authority;

    use super::{CertificateRule, principal};
    use crate::auth::{Grant, Pattern, Role};

    fn rule(dns: Option<&str>, uri: Option<&str>, role: Role) -> CertificateRule {
        let pattern = |text: Option<&str>| text.map(|text| Pattern::parse(text).unwrap());
        CertificateRule {
            common_name: None,
            dns: pattern(dns),
            uri: pattern(uri),
            email: None,
            grants: vec![Grant::everything(role)],
        }
    }

    #[test]
    fn a_rule_holds_for_the_certificates_whose_names_match() {
        let certificate = Authority::new().certificate(&["runner-7.ci.example.com"]);
        let of = |rules: &[CertificateRule]| principal(certificate.der(), rules);
        let found = of(&[rule(Some("*.ci.example.com"), None, Role::Write)]).unwrap();
        assert!(found.name().starts_with("certificate:") && found.may(Role::Write, "a", "b"));
        for rules in [
            vec![],
            vec![rule(Some("*.example.org"), None, Role::Write)],
            // Every condition, and one at least.
            vec![rule(Some("*.ci.example.com"), Some("*"), Role::Write)],
            vec![rule(None, None, Role::Admin)],
        ] {
            assert_eq!(of(&rules), None, "{rules:?}");
        }
    }

    #[test]
    fn what_is_no_certificate_is_no_principal() {
        let certificate = Authority::new().certificate(&["a.example.com"]);
        let rules = [rule(Some("*"), None, Role::Admin)];
        assert!(principal(certificate.der(), &rules).is_some());
        assert_eq!(principal(&certificate.der()[1..], &rules), None);
        assert_eq!(principal(&[certificate.der(), b"x"].concat(), &rules), None);
        assert_eq!(principal(b"", &rules), None);
    }
}
