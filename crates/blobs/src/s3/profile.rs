//! The files in which the tools of AWS keep profiles.

use std::fs;
use std::io;
use std::path::Path;

use object_store::aws::AwsCredential;

use super::S3Settings;
use crate::error::{Error, ErrorKind, Result};

/// What the files say of one profile.
#[derive(Default)]
pub(super) struct Profile {
    pub(super) region: Option<String>,
    pub(super) credential: Option<AwsCredential>,
}

#[derive(Default)]
struct Entries {
    key_id: Option<String>,
    secret_key: Option<String>,
    token: Option<String>,
    region: Option<String>,
    /// Something that needs a program or a login to become credentials.
    needs: Option<&'static str>,
    is_there: bool,
}

impl Profile {
    /// Reads the profile that is asked for, or the default one. Only one that is asked for has to be there.
    pub(super) fn read(settings: &S3Settings) -> Result<Self> {
        let values = &settings.0;
        let wanted = values.text("profile");
        let name = wanted.unwrap_or("default");
        let mut entries = Entries::default();
        // What stands in the file of credentials counts before what stands in the other.
        for (option, file, prefix) in
            [("shared_credentials_files", "credentials", ""), ("shared_config_files", "config", "profile ")]
        {
            let is_default = name == "default";
            let section = if is_default { name.to_owned() } else { format!("{prefix}{name}") };
            let paths: Vec<String> = match (values.text(option), values.text("home")) {
                (Some(paths), _) => paths.split(',').map(|path| path.trim().to_owned()).collect(),
                (None, Some(home)) => vec![format!("{home}/.aws/{file}")],
                (None, None) => continue,
            };
            for path in paths {
                match fs::read_to_string(Path::new(&path)) {
                    Ok(text) => entries.read(&text, &section),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => {
                        return Err(values
                            .invalid(option, format!("{path} cannot be read"))
                            .with_source(error));
                    }
                }
            }
        }
        if let (Some(name), false) = (wanted, entries.is_there) {
            return Err(
                values.invalid("profile", format!("there is no profile {name} in the files of credentials"))
            );
        }
        match (entries.key_id, entries.secret_key, entries.needs) {
            (Some(key_id), Some(secret_key), _) => {
                let credential = Some(AwsCredential { key_id, secret_key, token: entries.token });
                Ok(Self { region: entries.region, credential })
            }
            (_, _, Some(needs)) if wanted.is_some() => {
                Err(Error::new(ErrorKind::Unsupported, "use", format_args!("the profile {name}"))
                    .because(format!("it has `{needs}`, which this store does not carry out"))
                    .next_step(format!("run `aws configure export-credentials --profile {name} --format env` and take over what it prints")))
            }
            _ => Ok(Self { region: entries.region, credential: None }),
        }
    }
}

impl Entries {
    fn read(&mut self, text: &str, section: &str) {
        let mut is_inside = false;
        for line in text.lines() {
            let line = line.trim();
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                is_inside = name.split_whitespace().eq(section.split_whitespace());
                self.is_there |= is_inside;
                continue;
            }
            if !is_inside || line.starts_with(['#', ';']) {
                continue;
            }
            if let Some((name, value)) = line.split_once('=') {
                self.take(name.trim(), value.trim());
            }
        }
    }

    fn take(&mut self, name: &str, value: &str) {
        let slot = match name {
            "aws_access_key_id" => &mut self.key_id,
            "aws_secret_access_key" => &mut self.secret_key,
            "aws_session_token" => &mut self.token,
            "region" => &mut self.region,
            "credential_process" => return self.needs = Some("credential_process"),
            "role_arn" => return self.needs = Some("role_arn"),
            "sso_session" | "sso_start_url" => return self.needs = Some("sso_session"),
            "login_session" => return self.needs = Some("login_session"),
            _ => return,
        };
        slot.get_or_insert_with(|| value.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::{Profile, S3Settings};
    use crate::ErrorKind;

    fn read(profile: &str) -> crate::Result<Profile> {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".aws")).unwrap();
        let credentials = "[default]\naws_access_key_id = D\naws_secret_access_key = s\n\n# comment\n[dev]\naws_access_key_id=V\naws_secret_access_key=t\naws_session_token=u\n";
        let config = "[default]\nregion = eu-west-1\n[profile dev]\nregion=us-east-2\n[profile sso]\nsso_session = x\n";
        std::fs::write(home.path().join(".aws/credentials"), credentials).unwrap();
        std::fs::write(home.path().join(".aws/config"), config).unwrap();
        let settings =
            S3Settings::new().with("home", home.path().to_str().unwrap())?.with("profile", profile)?;
        Profile::read(&settings)
    }

    #[test]
    fn profiles_are_found_in_both_files() {
        for (name, key, region) in [("", "D", "eu-west-1"), ("dev", "V", "us-east-2")] {
            let profile = read(name).unwrap();
            assert_eq!(profile.credential.unwrap().key_id, key);
            assert_eq!(profile.region.unwrap(), region);
        }
    }

    #[test]
    fn a_profile_that_is_not_there_or_needs_a_login_is_said() {
        assert_eq!(read("none").err().unwrap().kind(), ErrorKind::Invalid);
        let error = read("sso").err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("export-credentials"), "{error}");
    }
}
