//! Programs that tests and checks run: built once per machine, into the user's cache folder.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::definition::{self, Table};
use super::running::{make, write};
use crate::outcome::{Failure, Outcome, status, stdout};

/// A program described by a file in `xtask/programs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// The name of its file.
    pub(crate) name: String,
    version: String,
    /// The executable it installs.
    binary: String,
    /// Programs without which it cannot be built.
    needs: Vec<String>,
    /// Whether `install` without names builds it.
    by_default: bool,
    source: Source,
}

/// Where a program is built from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    /// A crate.
    Crate(String),
    /// See [`GoModule`].
    Go(GoModule),
    /// A package of Python; the executable is an interpreter that has it.
    Pip(String),
    /// A package of Debian, for programs that no package registry of a language has.
    Debian(String),
}

/// A Go module, and how a program is built from it.
///
/// `go install` refuses modules that have `replace` lines of their own, so the program is built from a module that requires it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct GoModule {
    module: String,
    /// The path of the main package.
    package: String,
    /// Modules that must be had in these versions besides: those of one repository, which only fit each other.
    require: Vec<String>,
    replace: Vec<String>,
    /// Flags of the linker.
    flags: Option<String>,
}

/// All programs, by name.
pub(crate) fn all() -> Outcome<Vec<Program>> {
    let files = definition::files("xtask/programs")?;
    let program = |(name, text): (String, String)| {
        parse(&name, &text).map_err(|why| Failure::Check(format!("xtask/programs/{name}.toml: {why}")))
    };
    files.into_iter().map(program).collect()
}

fn parse(name: &str, text: &str) -> Result<Program, String> {
    let mut tables = definition::tables(text)?;
    let mut top = tables.remove("").unwrap_or_default();
    let mut install = tables.remove("install").ok_or("there is no table [install]")?;
    let program = Program {
        name: name.to_owned(),
        version: definition::word(&mut top, "version")?.ok_or("there is no `version`")?,
        binary: definition::word(&mut top, "binary")?.unwrap_or_else(|| name.to_owned()),
        needs: definition::words(&mut top, "needs")?.unwrap_or_default(),
        by_default: definition::switch(&mut top, "by_default")?.unwrap_or(true),
        source: source(&mut install)?,
    };
    let left = top.keys().chain(install.keys()).chain(tables.keys()).next();
    left.map_or(Ok(program), |key| Err(format!("`{key}` means nothing here")))
}

fn source(table: &mut Table) -> Result<Source, String> {
    let require = definition::words(table, "require")?.unwrap_or_default();
    let replace = definition::words(table, "replace")?.unwrap_or_default();
    let flags = definition::word(table, "flags")?;
    let cargo = definition::words(table, "cargo")?;
    let go = definition::words(table, "go")?;
    let debian = definition::word(table, "debian")?;
    let pip = definition::word(table, "pip")?;
    let is_plain = require.is_empty() && replace.is_empty() && flags.is_none();
    match (cargo.as_deref(), go.as_deref(), debian, pip) {
        (None, None, Some(package), None) if is_plain => Ok(Source::Debian(package)),
        (None, None, None, Some(package)) if is_plain => Ok(Source::Pip(package)),
        (Some([name]), None, None, None) if is_plain => Ok(Source::Crate(name.clone())),
        (None, Some([module, package]), None, None) => {
            let (module, package) = (module.clone(), package.clone());
            Ok(Source::Go(GoModule { module, package, require, replace, flags }))
        }
        _ => {
            let kinds =
                "`cargo` with a crate, `go` with a module and a package, `pip` or `debian` with a package";
            Err(format!("[install] takes either {kinds}"))
        }
    }
}

impl Program {
    /// The folder of this version. Another version has another, so that checkouts of any age can share the cache.
    fn folder(&self, cache: &Path) -> PathBuf {
        cache.join(format!("{}-{}", self.name, self.version.trim_start_matches('v')))
    }

    /// The folder with the executable, once it is built.
    pub(crate) fn found(&self, cache: &Path) -> Option<PathBuf> {
        if let Source::Debian(_) = self.source {
            return folder_on_path(&self.binary);
        }
        let folder = self.folder(cache).join("bin");
        folder.join(&self.binary).is_file().then_some(folder)
    }

    /// Why it cannot be built on this machine, if so.
    fn lacks(&self) -> Option<String> {
        let lacking = self.needs.iter().find(|program| folder_on_path(program).is_none())?;
        Some(format!("there is no `{lacking}` here"))
    }

    /// Builds it beside its folder and renames it into place, so that an interrupted build leaves nothing to find.
    fn build(&self, cache: &Path) -> Outcome {
        if let Source::Debian(package) = &self.source {
            return install_package(package);
        }
        let building = cache.join(format!("building-{}-{}", self.name, std::process::id()));
        let bin = building.join("bin");
        make(&bin)?;
        let built = self.build_in(&building, &bin);
        if built.is_ok() {
            let folder = self.folder(cache);
            match std::fs::rename(&building, &folder) {
                Ok(()) => return Ok(()),
                // Another process built it meanwhile.
                Err(_) if self.found(cache).is_some() => {}
                Err(error) => {
                    return Err(Failure::Missing(format!("cannot create {}: {error}", folder.display())));
                }
            }
        }
        let removed = std::fs::remove_dir_all(&building);
        built.and(
            removed
                .map_err(|error| Failure::Missing(format!("cannot remove {}: {error}", building.display()))),
        )
    }

    fn build_in(&self, building: &Path, bin: &Path) -> Outcome {
        match &self.source {
            Source::Crate(name) => {
                let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
                command.current_dir(building).args([
                    "install",
                    "--quiet",
                    // Optimising the tool takes longer than a check that it makes once.
                    "--debug",
                    "--locked",
                    "--no-track",
                    "--version",
                ]);
                command.args([&self.version, name]).arg("--root").arg(building);
                status(
                    command.arg("--target-dir").arg(building.join("target")).env_remove("CARGO_INCREMENTAL"),
                )?;
                let removed = std::fs::remove_dir_all(building.join("target"));
                removed.map_err(|error| Failure::Missing(format!("cannot remove what cargo built: {error}")))
            }
            Source::Go(go) => {
                let source = building.join("source");
                make(&source)?;
                write(&source.join("go.mod"), &go.text(&self.version))?;
                let mut command = Command::new("go");
                command.current_dir(&source).env("GOFLAGS", "").args([
                    "build",
                    "-trimpath",
                    "-mod=mod",
                    "-o",
                ]);
                command.arg(bin.join(&self.binary));
                if let Some(flags) = &go.flags {
                    command.args(["-ldflags", flags]);
                }
                status(command.arg(&go.package))
            }
            Source::Pip(package) => {
                let folder = building.join("python");
                status(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
                let mut pip = Command::new(folder.join("bin/python3"));
                pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
                status(pip.arg(format!("{package}=={}", self.version)))?;
                // The folder gets another name, so the interpreter is found from where the executable is.
                let interpreter =
                    "exec \"$(dirname \"$(readlink -f \"$0\")\")/../python/bin/python3\" \"$@\"";
                let executable = bin.join(&self.binary);
                write(&executable, &format!("#!/bin/sh\n{interpreter}\n"))?;
                status(Command::new("chmod").arg("+x").arg(&executable))
            }
            Source::Debian(package) => install_package(package),
        }
    }
}

/// The folder of the path that has a program.
fn folder_on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).find(|folder| folder.join(program).is_file())
}

/// Installs a package for the whole machine, which only root may do.
fn install_package(package: &str) -> Outcome {
    if stdout(Command::new("id").arg("-u"))?.trim() != "0" {
        let why = format!("only root installs it; run `apt-get install {package}`");
        return Err(Failure::Missing(why));
    }
    let apt = |args: &[&str]| {
        status(Command::new("apt-get").arg("-qq").args(args).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    apt(&["update"])?;
    apt(&["install", "--yes", "--no-install-recommends", package])
}

impl GoModule {
    /// The `go.mod` of the module that requires it.
    fn text(&self, version: &str) -> String {
        let lines = |word: &str, lines: &[String]| -> String {
            lines.iter().map(|line| format!("{word} {line}\n")).collect()
        };
        let (module, require, replace) =
            (&self.module, lines("require", &self.require), lines("replace", &self.replace));
        format!("module example.test/program\n\ngo 1.26\n\nrequire {module} {version}\n{require}\n{replace}")
    }
}

/// The folder that keeps built programs: the user's cache folder, whatever checkout builds them.
pub(crate) fn cache() -> Outcome<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    let folder =
        folder.ok_or_else(|| Failure::Missing("neither XDG_CACHE_HOME nor HOME is set".to_owned()))?;
    Ok(folder.join("groundstate"))
}

/// Builds the programs that are not in the cache. What cannot be built on this machine is named, and is no failure.
pub(super) fn install(names: &[String]) -> Outcome {
    let (programs, cache) = (all()?, cache()?);
    if let Some(name) = names.iter().find(|name| programs.iter().all(|program| program.name != **name)) {
        let known: Vec<&str> = programs.iter().map(|program| program.name.as_str()).collect();
        return Err(Failure::Usage(format!("there is no program `{name}`, but {}", known.join(", "))));
    }
    let wanted = |program: &&Program| {
        if names.is_empty() { program.by_default } else { names.contains(&program.name) }
    };
    for program in programs.iter().filter(wanted) {
        let name = &program.name;
        if let Some(folder) = program.found(&cache) {
            println!("{name}: {} is in {}", program.version, folder.display());
            continue;
        }
        let built = program.lacks().map_or_else(|| program.build(&cache), |why| Err(Failure::Missing(why)));
        match built {
            Ok(()) => println!("{name}: built {}", program.version),
            // A registry that cannot be reached looks like any other failure of the build.
            Err(failure) => println!("{name}: not built: {failure}"),
        }
    }
    Ok(())
}

/// The folders of built programs, in front of those in which the shell looks.
pub(crate) fn path() -> Outcome<OsString> {
    let (programs, cache) = (all()?, cache()?);
    let found = programs.iter().filter_map(|program| program.found(&cache));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let known: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let new: Vec<PathBuf> = found.filter(|folder| !known.contains(folder)).collect();
    std::env::join_paths(new.into_iter().chain(known))
        .map_err(|error| Failure::Missing(format!("cannot put programs in front of PATH: {error}")))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Source, all, parse};

    const GO: &str = "version = \"v1.2.3\"\nbinary = \"t\"\nneeds = [\"go\"]\nby_default = false\n[install]\n\
        go = [\"example.test/m\", \"example.test/m/cmd/t\"]\nrequire = [\"example.test/n v1\"]\n\
        replace = [\"a v1 => b v2\"]\nflags = \"-X a=b\"\n";

    #[test]
    fn a_file_says_how_a_program_is_built() {
        let program = parse("x", GO).unwrap();
        assert_eq!((program.binary.as_str(), program.by_default), ("t", false));
        assert_eq!(program.folder(Path::new("c")), Path::new("c/x-1.2.3"));
        let Source::Go(go) = &program.source else { unreachable!("it is a module") };
        assert_eq!(go.flags.as_deref(), Some("-X a=b"));
        let text = go.text(&program.version);
        let expected = "require example.test/m v1.2.3\nrequire example.test/n v1\n\nreplace a v1 => b v2\n";
        assert!(text.ends_with(expected), "{text}");
    }

    #[test]
    fn a_package_of_debian_is_found_on_the_path_in_any_version() {
        let text = "version = \"any\"\nbinary = \"sh\"\n[install]\ndebian = \"dash\"\n";
        let program = parse("x", text).unwrap();
        assert_eq!(program.source, Source::Debian("dash".to_owned()));
        assert!(program.found(Path::new("no-cache")).unwrap().join("sh").is_file());
        let program = parse("x", &text.replace("\"sh\"", "\"no-such-program\"")).unwrap();
        assert_eq!(program.found(Path::new("no-cache")), None);
    }

    #[test]
    fn what_a_file_gets_wrong_is_named() {
        for (text, expected) in [
            ("version = \"1\"\n", "there is no table [install]"),
            ("[install]\ncargo = [\"a\"]\n", "there is no `version`"),
            ("version = \"1\"\n[install]\ncargo = [\"a\"]\ndebian = \"a\"\n", "[install] takes either"),
            ("version = \"1\"\n[install]\ncargo = [\"a\", \"b\"]\n", "[install] takes either"),
            ("version = \"1\"\n[install]\ncargo = [\"a\"]\nflags = \"x\"\n", "[install] takes either"),
            ("version = \"1\"\n[install]\ncargo = [\"a\"]\nrequire = [\"x\"]\n", "[install] takes either"),
            ("version = \"1\"\n[install]\ngo = [\"a\"]\n", "[install] takes either"),
            ("version = \"1\"\n[install]\npip = \"a\"\nflags = \"x\"\n", "[install] takes either"),
            ("version = \"1\"\nx = 1\n[install]\ncargo = [\"a\"]\n", "`x` means nothing here"),
        ] {
            let error = parse("x", text).unwrap_err();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }

    #[test]
    fn the_files_of_all_programs_can_be_read() {
        let names: Vec<String> = all().unwrap().into_iter().map(|program| program.name).collect();
        let expected = [
            "cargo-deny",
            "cargo-fuzz",
            "chromium",
            "pulumi",
            "pulumi-language-yaml",
            "pulumi-python",
            "tofu",
        ];
        assert!(expected.iter().all(|name| names.contains(&(*name).to_owned())), "{names:?}");
    }

    #[test]
    fn a_program_is_found_only_when_its_executable_is_there() {
        let cache = std::env::temp_dir().join(format!("groundstate-xtask-programs-{}", std::process::id()));
        let program = parse("x", GO).unwrap();
        assert_eq!(program.found(&cache), None);
        std::fs::create_dir_all(cache.join("x-1.2.3/bin")).unwrap();
        assert_eq!(program.found(&cache), None);
        std::fs::write(cache.join("x-1.2.3/bin/t"), "").unwrap();
        assert_eq!(program.found(&cache), Some(cache.join("x-1.2.3/bin")));
        std::fs::remove_dir_all(cache).unwrap();
    }
}
