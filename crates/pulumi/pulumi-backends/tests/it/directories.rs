//! Projects, logins and selections of a directory.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use groundstate_pulumi_backends::blobs::{ErrorKind, Result};
use groundstate_pulumi_backends::{
    BackendChoice, BackendUrl, ChosenBackend, Project, PulumiHome, UrlSource, selected_stack,
};

#[expect(clippy::unwrap_used, reason = "a test without its files fails")]
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

/// What a directory means in this environment, with `HOME` in it.
fn choose(folder: &Path, variables: &[(&str, &str)]) -> Result<(BackendChoice, Option<String>)> {
    let mut variables: BTreeMap<&str, String> =
        variables.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    variables.entry("HOME").or_insert_with(|| folder.join("home").display().to_string());
    let variable = |name: &str| variables.get(name).cloned();
    let (project, home) = (Project::find(folder)?, PulumiHome::of(&variable));
    let chosen = ChosenBackend::of_directory(folder, project.as_ref(), &home, false, &variable)?;
    let stack = selected_stack(&home, project.as_ref(), chosen.secret_text(), &variable)?;
    Ok((chosen.bucket()?, stack))
}

const LOGIN: (&str, &str) = (
    "home/.pulumi/credentials.json",
    r#"{"current": "s3://login", "accessTokens": {"s3://login": ""}, "accounts": {"s3://login": {}, "s3://seen?profile=p": {}}}"#,
);

#[test]
fn variable_project_and_login_are_asked_in_this_order() {
    let project = ("Pulumi.yaml", "name: shop\nbackend:\n  url: s3://project\n");
    let all = folder(&[LOGIN, project]);
    let (choice, _) = choose(all.path(), &[("PULUMI_BACKEND_URL", "s3://variable")]).unwrap();
    assert_eq!((choice.source, choice.url.container()), (UrlSource::Variable, "variable"));
    let (choice, _) = choose(all.path(), &[("PULUMI_BACKEND_URL", "")]).unwrap();
    assert_eq!((choice.source, choice.url.container()), (UrlSource::Project, "project"));
    assert!(!choice.origin.is_user());
    let (choice, _) = choose(folder(&[LOGIN, ("Pulumi.yaml", "name: shop\n")]).path(), &[]).unwrap();
    assert_eq!((choice.source, choice.url.container()), (UrlSource::Login, "login"));
    assert!(choice.origin.is_user());
    let error = choose(folder(&[("Pulumi.yaml", "name: shop\n")]).path(), &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("pulumi login"), "{error}");
}

#[test]
fn a_url_of_the_project_that_the_user_logged_in_to_is_the_users() {
    for (url, is_user) in
        [("s3://seen?profile=p", true), ("s3://seen?profile=q", false), ("s3://login", true)]
    {
        let project = format!("name: shop\nbackend: {{url: '{url}'}}\n");
        let (choice, _) = choose(folder(&[LOGIN, ("Pulumi.yaml", &project)]).path(), &[]).unwrap();
        assert_eq!(choice.origin.is_user(), is_user, "{url}");
    }
}

#[test]
fn projects_are_found_upwards_json_before_yaml() {
    let folder = folder(&[
        ("Pulumi.json", r#"{"name": "j"}"#),
        ("Pulumi.yaml", "name: y\n"),
        ("sub/deep/x", ""),
        ("sub/Pulumi.yml", "name: m\n"),
    ]);
    let name = |path: &str| Project::find(&folder.path().join(path)).unwrap().unwrap().name().to_string();
    assert_eq!((name(""), name("sub/deep")), ("j".to_owned(), "m".to_owned()));
}

#[test]
fn the_selection_is_that_of_project_file_and_backend() {
    let folder = folder(&[LOGIN, ("Pulumi.yaml", "name: shop\n"), ("home/.pulumi/workspaces/x", "")]);
    // The name of the file as Pulumi 3.259 makes it.
    let path = folder.path().join("Pulumi.yaml");
    let hash: String = {
        use sha1::{Digest, Sha1};
        Sha1::digest(path.display().to_string()).iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let file = folder.path().join(format!("home/.pulumi/workspaces/shop-{hash}-workspace.json"));
    for (text, variables, expected) in [
        (r#"{"stack": "dev"}"#, vec![], Some("dev")),
        (
            r#"{"stack": "dev", "stacks": {"s3://login": "organization/shop/prod"}}"#,
            vec![],
            Some("organization/shop/prod"),
        ),
        (r#"{"stacks": {"s3://other": "x"}}"#, vec![], None),
        (r#"{"stack": "dev"}"#, vec![("PULUMI_STACK", "qa")], Some("qa")),
    ] {
        fs::write(&file, text).unwrap();
        assert_eq!(choose(folder.path(), &variables).unwrap().1.as_deref(), expected, "{text}");
    }
    fs::write(&file, "{\"stack\": 5}").unwrap();
    let error = choose(folder.path(), &[]).unwrap_err().to_string();
    assert!(error.contains("--stack"), "{error}");
}

#[test]
fn damaged_files_are_named_and_show_nothing() {
    let huge = format!("name: shop\n#{}", "hush".repeat(1 << 19));
    for (name, content, why) in [
        ("Pulumi.yaml", huge.as_str(), "1024 KiB"),
        ("Pulumi.yaml", "name: \"hush", "not YAML at line"),
        ("Pulumi.yaml", "name: [hush]", "not a text"),
        ("Pulumi.yaml", "runtime: hush", "no `name`"),
        ("Pulumi.yaml", "name: \"hu\\nsh\"", "not that of a project"),
        ("Pulumi.json", "{\"name\": hush}", "not JSON"),
        ("Pulumi.yaml", "name: a\nbackend: {url: 's3://hush@b?x=hush\u{7}'}", ""),
        ("Pulumi.yaml", "name: a\nbackend: {url: 'https://hush:hush@app.example/'}", "app.example"),
        ("home/.pulumi/credentials.json", "{\"current\": hush}", "credentials.json"),
        ("home/.pulumi/credentials.json", "{\"current\": {\"hush\": 1}}", "credentials.json"),
        ("home/.pulumi/credentials.json", "{\"$pulumiSecureStore\": 1, \"data\": \"hush\"}", "encrypted"),
        (
            "home/.pulumi/credentials.json",
            "{\"current\": \"https://hush@api.example\"}",
            "log in with `pulumi login`",
        ),
    ] {
        let error = choose(folder(&[(name, content)]).path(), &[]).unwrap_err();
        let text = format!("{error} {error:?}");
        assert!(text.contains(why) && !text.contains("hush"), "{text}");
    }
}

#[test]
fn a_service_is_told_from_a_bucket_once_and_its_selection_is_found() {
    let login = r#"{"current": "http://127.0.0.1:1/x/", "accounts": {"http://127.0.0.1:1/x/": {"accessToken": "hush"}}}"#;
    let chosen = |files: &[(&str, &str)], variables: &[(&str, &str)]| {
        let folder = folder(files);
        let variables: BTreeMap<&str, &str> = variables.iter().copied().collect();
        let home = folder.path().join("home").display().to_string();
        let variable = |name: &str| match name {
            "HOME" => Some(home.clone()),
            name => variables.get(name).map(|value| (*value).to_owned()),
        };
        let project = Project::find(folder.path()).unwrap();
        let home = PulumiHome::of(&variable);
        ChosenBackend::of_directory(folder.path(), project.as_ref(), &home, false, &variable)
            .map(|chosen| (chosen.to_string(), chosen.source()))
    };
    let project = ("Pulumi.yaml", "name: shop\n");
    let stored = ("home/.pulumi/credentials.json", login);
    assert_eq!(
        chosen(&[project, stored], &[]).unwrap(),
        ("http://127.0.0.1:1/x".to_owned(), UrlSource::Login)
    );
    let token = ("PULUMI_ACCESS_TOKEN", "hush");
    assert_eq!(
        chosen(&[project], &[token]).unwrap(),
        ("https://api.pulumi.com".to_owned(), UrlSource::Default)
    );
    assert_eq!(
        chosen(&[project, stored], &[token, ("PULUMI_BACKEND_URL", "https://b.example")]).unwrap(),
        ("https://b.example".to_owned(), UrlSource::Variable)
    );
    let error =
        chosen(&[project, stored], &[("PULUMI_BACKEND_URL", "https://hush:hush@b.example")]).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hush"), "{error}");
}

#[cfg(unix)]
#[test]
fn pipes_and_folders_are_no_project_files() {
    let folder = folder(&[("Pulumi.yaml/x", ""), ("home/.pulumi/credentials.json/x", "")]);
    assert!(Project::find(folder.path()).unwrap().is_none());
    let error = choose(folder.path(), &[]).unwrap_err();
    assert!(
        error.to_string().contains("not a regular file") || error.to_string().contains("directory"),
        "{error}"
    );
    let pipe = self::folder(&[]);
    let made = std::process::Command::new("mkfifo").arg(pipe.path().join("Pulumi.yaml")).status().unwrap();
    assert!(made.success());
    assert!(Project::find(pipe.path()).unwrap().is_none());
}

#[test]
fn what_is_no_backend_is_told_from_it() {
    for (text, expected) in
        [("s3://b", true), ("HTTPS://h", true), ("file://~", true), ("az://c", false), ("b", false)]
    {
        assert_eq!(BackendUrl::is_backend(text), expected, "{text}");
    }
}
