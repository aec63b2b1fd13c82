//! The files in which the tools of AWS keep profiles.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use groundstate_blobs::{Error, ErrorKind, Op, Result};
use groundstate_common::{Origin, shell_word};
use object_store::aws::AwsCredential;

use super::ini::{Property, sections};
use crate::cloud::token;
use crate::settings::Values;

/// Files of profiles are small; this much is read of one.
const LONGEST_FILE: u64 = 4 << 20;

/// What the files say: profiles, sessions of SSO, and endpoints of services.
#[derive(Default)]
pub(super) struct SharedConfig {
    /// The profile that is asked for, or `default`.
    pub(super) name: String,
    profiles: BTreeMap<String, Profile>,
    sso_sessions: BTreeMap<String, Properties>,
    services: BTreeMap<String, Properties>,
}

type Properties = BTreeMap<String, Property>;

/// One profile, put together from all files.
#[derive(Clone, Default)]
pub(super) struct Profile {
    pub(super) name: String,
    properties: Properties,
    /// The three belong together, so they come from one file.
    keys: Option<(String, String, Option<String>)>,
    /// The program that prints credentials is named in a file that the user did not choose.
    process_is_foreign: bool,
}

impl SharedConfig {
    /// Reads the files. Only a profile that is asked for has to be there.
    pub(super) fn read(values: &Values) -> Result<Self> {
        let wanted = values.text("profile");
        let mut config = Self { name: wanted.unwrap_or("default").to_owned(), ..Self::default() };
        // What stands in the file of credentials counts before what stands in the other, and later files before earlier ones.
        for (option, file) in [("shared_config_files", "config"), ("shared_credentials_files", "credentials")]
        {
            let is_foreign = values.origin(option).is_some_and(|origin| !origin.is_user());
            for path in paths(values, option, file) {
                let text = match read(&path, values.text(option).is_some(), is_foreign) {
                    Ok(Some(text)) => text,
                    Ok(None) => continue,
                    Err(error) => {
                        let why = format!("{} cannot be read", path.display());
                        return Err(values.invalid(option, why).with_source(error));
                    }
                };
                config.take(&text, file == "config", is_foreign);
            }
        }
        if let (Some(name), false) = (wanted, config.profiles.contains_key(&config.name)) {
            let why = format!("there is no profile {name:?} in the files of AWS");
            return Err(values.invalid("profile", why));
        }
        Ok(config)
    }

    /// The settings, with what the profile has where neither an option nor a variable says it.
    pub(super) fn complete(&self, values: &Values) -> Result<Values> {
        let (mut values, profile) = (values.clone(), self.selected());
        let files = ["shared_config_files", "shared_credentials_files"];
        let origins = files.into_iter().filter_map(|option| values.origin(option));
        let origin = origins.min().unwrap_or(Origin::Environment);
        for (option, property) in [
            ("region", "region"),
            ("use_fips_endpoint", "use_fips_endpoint"),
            ("use_dualstack_endpoint", "use_dualstack_endpoint"),
            ("custom_ca_bundle", "ca_bundle"),
            ("max_retries", "max_attempts"),
            ("ec2_metadata_service_endpoint", "ec2_metadata_service_endpoint"),
            ("ec2_metadata_service_endpoint_mode", "ec2_metadata_service_endpoint_mode"),
            ("ignore_configured_endpoint_urls", "ignore_configured_endpoint_urls"),
        ] {
            if let Some(text) = profile.text(property) {
                values.or_set(option, text, origin)?;
            }
        }
        if values.flag("ignore_configured_endpoint_urls")? {
            return Ok(values);
        }
        let of_all = values.text("endpoint_url").map(str::to_owned);
        for (option, service) in [
            ("endpoints.s3", "s3"),
            ("endpoints.dynamodb", "dynamodb"),
            ("endpoints.kms", "kms"),
            ("endpoints.sts", "sts"),
            ("endpoints.sso", "sso"),
        ] {
            if values.text(option).is_some() {
                continue;
            }
            let (url, origin) = match &of_all {
                Some(url) => (Some(url.clone()), values.origin("endpoint_url").unwrap_or(origin)),
                None => (self.endpoint(service)?, origin),
            };
            if let Some(url) = url {
                values.or_set(option, &url, origin)?;
            }
        }
        Ok(values)
    }

    fn take(&mut self, text: &str, is_config: bool, is_foreign: bool) {
        let (mut plain_default, mut has_named_default) = (None, false);
        for section in sections(text) {
            let header: Vec<&str> = section.header.iter().map(String::as_str).collect();
            match (is_config, &header[..]) {
                // `[profile default]` counts before `[default]`.
                (true, ["default"]) => plain_default = Some(section.properties),
                (true, ["profile", name]) | (false, [name]) => {
                    has_named_default |= *name == "default";
                    self.profile(name).merge(section.properties, is_foreign);
                }
                (true, ["sso-session", name]) => {
                    self.sso_sessions.entry((*name).to_owned()).or_default().extend(section.properties);
                }
                (true, ["services", name]) => {
                    self.services.entry((*name).to_owned()).or_default().extend(section.properties);
                }
                _ => {}
            }
        }
        if let Some(properties) = plain_default.filter(|_| !has_named_default) {
            self.profile("default").merge(properties, is_foreign);
        }
    }

    fn profile(&mut self, name: &str) -> &mut Profile {
        let profile = self.profiles.entry(name.to_owned()).or_default();
        profile.name = name.to_owned();
        profile
    }

    /// The profile that is asked for; an empty one if there is none and none was asked for.
    pub(super) fn selected(&self) -> Profile {
        self.get(&self.name).cloned().unwrap_or(Profile { name: self.name.clone(), ..Profile::default() })
    }

    pub(super) fn get(&self, name: &str) -> Option<&Profile> {
        self.profiles.get(name)
    }

    /// A property of a session of SSO.
    pub(super) fn sso_session(&self, name: &str) -> Option<&Properties> {
        self.sso_sessions.get(name)
    }

    /// The endpoint that the profile has for a service, such as `s3`.
    ///
    /// # Errors
    ///
    /// `Invalid` if the profile names a section of services that is not there: its requests would go to AWS itself.
    pub(super) fn endpoint(&self, service: &str) -> Result<Option<String>> {
        let profile = self.selected();
        if let Some(name) = profile.text("services") {
            let section = self.services.get(name).ok_or_else(|| {
                let error = profile.wrong(format!("there is no section [services {name}]"));
                error.next_step("add it to ~/.aws/config, or remove `services` from the profile")
            })?;
            let endpoint = section.get(service).and_then(|property| property.nested.get("endpoint_url"));
            if let Some(url) = endpoint.filter(|url| !url.is_empty()) {
                return Ok(Some(url.clone()));
            }
        }
        Ok(profile.text("endpoint_url").map(str::to_owned))
    }
}

impl Profile {
    fn merge(&mut self, mut properties: Properties, is_foreign: bool) {
        let mut take = |name: &str| properties.remove(name).map(|property| property.value);
        let id = take("aws_access_key_id").filter(|text| !text.is_empty());
        let (secret, session) = (take("aws_secret_access_key"), take("aws_session_token"));
        if let (Some(id), Some(secret)) = (id, secret.filter(|text| !text.is_empty())) {
            self.keys = Some((id, secret, session.filter(|text| !text.is_empty())));
        }
        if properties.contains_key("credential_process") {
            self.process_is_foreign = is_foreign;
        }
        self.properties.extend(properties);
    }

    /// A property that is set to something.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.properties.get(name).map(|property| property.value.as_str()).filter(|text| !text.is_empty())
    }

    /// A property that has to be set.
    pub(super) fn needed(&self, name: &str) -> Result<&str> {
        self.text(name).ok_or_else(|| self.wrong(format!("it has no `{name}`")))
    }

    /// The keys in the files, if there are any.
    pub(super) fn keys(&self) -> Result<Option<AwsCredential>> {
        let Some((id, secret, session)) = &self.keys else { return Ok(None) };
        let checked = |name: &str, text: &str| match token(text) {
            Ok(text) => Ok(text.to_owned()),
            Err(why) => Err(self.wrong(format!("`{name}` cannot be used: {why}"))),
        };
        Ok(Some(AwsCredential {
            key_id: checked("aws_access_key_id", id)?,
            secret_key: checked("aws_secret_access_key", secret)?,
            token: session.as_ref().map(|text| checked("aws_session_token", text)).transpose()?,
        }))
    }

    /// The program that prints credentials.
    ///
    /// # Errors
    ///
    /// `Denied` if it is named in a file that a directory chose: what runs on a machine is decided by its user.
    pub(super) fn process(&self) -> Result<Option<&str>> {
        match self.text("credential_process") {
            Some(_) if self.process_is_foreign => {
                let error =
                    Error::new(ErrorKind::Denied, Op::Use, format_args!("the profile {:?}", self.name));
                let error = error
                    .because("`credential_process` runs a program, and its file is chosen by a directory");
                Err(error.next_step("name the file in the variable AWS_CONFIG_FILE if you trust it"))
            }
            command => Ok(command),
        }
    }

    /// How to use what nothing here asks a user for: by the keys that the command of AWS gets.
    pub(super) fn export_hint(&self) -> String {
        let command =
            format!("aws configure export-credentials --profile {} --format env", shell_word(&self.name));
        format!("run `{command}`, and set the variables that it prints")
    }

    /// That the profile cannot be used, and why.
    pub(super) fn wrong(&self, why: impl Into<String>) -> Error {
        let place = format!("the profile {:?}", self.name);
        Error::new(ErrorKind::Invalid, Op::Use, place).because(why).next_step("correct ~/.aws/config")
    }
}

/// Refuses pipes and devices, which a directory may name to block readers. What is not there is left to the reader.
pub(super) fn only_regular(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => Err(io::Error::other("it is not a regular file")),
        _ => Ok(()),
    }
}

fn paths(values: &Values, option: &'static str, file: &str) -> Vec<PathBuf> {
    let home = values.text("home").map(Path::new);
    let Some(paths) = values.text(option) else {
        return home.map(|home| home.join(".aws").join(file)).into_iter().collect();
    };
    let of_home = |path: &str| Some(home?.join(path.strip_prefix("~/")?));
    paths.split(',').map(str::trim).map(|path| of_home(path).unwrap_or_else(|| path.into())).collect()
}

/// The text of a file, if it is there. One in the home that cannot be opened counts as not there, as with the SDKs.
fn read(path: &Path, is_named: bool, is_foreign: bool) -> io::Result<Option<String>> {
    use io::ErrorKind::{NotADirectory, NotFound};
    use io::Read as _;
    if is_foreign {
        only_regular(path)?;
    }
    let file = match fs::File::open(path) {
        Err(error) if !is_named || matches!(error.kind(), NotFound | NotADirectory) => return Ok(None),
        file => file?,
    };
    let mut bytes = Vec::new();
    file.take(LONGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST_FILE {
        return Err(io::Error::other("it is larger than 4 MiB"));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| io::Error::other("it is not valid UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::SharedConfig;
    use crate::s3::S3Settings;
    use groundstate_blobs::ErrorKind;

    fn read(profile: &str) -> groundstate_blobs::Result<SharedConfig> {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".aws")).unwrap();
        let credentials = "[default]\naws_access_key_id = D\naws_secret_access_key = s\n\n# comment\n[dev]\naws_access_key_id=V\naws_secret_access_key=t\naws_session_token=u\n";
        let config = "[default]\nregion = eu-west-1\naws_access_key_id = other\naws_secret_access_key = o\n\
            aws_session_token = o\n[profile dev]\nregion=us-east-2\nservices = local\nendpoint_url = http://h:1\n\
            [services local]\ns3 =\n  endpoint_url = http://h:2\n[profile lost]\nservices = none\n[bare]\nregion = x\n";
        std::fs::write(home.path().join(".aws/credentials"), credentials).unwrap();
        std::fs::write(home.path().join(".aws/config"), config).unwrap();
        let settings =
            S3Settings::new().with("home", home.path().to_str().unwrap())?.with("profile", profile)?;
        SharedConfig::read(&settings.0)
    }

    #[test]
    fn profiles_are_found_in_both_files() {
        for (name, key, region, has_token) in [("", "D", "eu-west-1", false), ("dev", "V", "us-east-2", true)]
        {
            let profile = read(name).unwrap().selected();
            let keys = profile.keys().unwrap().unwrap();
            // Keys of one file never mix with the session of another.
            assert_eq!((keys.key_id.as_str(), keys.token.is_some()), (key, has_token));
            assert_eq!(profile.text("region").unwrap(), region);
        }
    }

    #[test]
    fn profiles_that_are_not_there_are_said() {
        for name in ["none", "bare"] {
            assert_eq!(read(name).err().unwrap().kind(), ErrorKind::Invalid, "{name}");
        }
    }

    #[test]
    fn endpoints_of_services_count_before_that_of_the_profile() {
        let config = read("dev").unwrap();
        assert_eq!(config.endpoint("s3").unwrap().as_deref(), Some("http://h:2"));
        assert_eq!(config.endpoint("sts").unwrap().as_deref(), Some("http://h:1"));
        assert_eq!(read("").unwrap().endpoint("s3").unwrap(), None);
        let error = read("lost").unwrap().endpoint("s3").unwrap_err();
        assert!(error.to_string().contains("[services none]"), "{error}");
    }
}
