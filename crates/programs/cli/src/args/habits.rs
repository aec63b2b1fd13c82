//! What users of other tools type: each habit is answered with the command that does it here, or with the program that does.

mod table;

use std::ffi::OsString;

use groundstate_common::shell_word;

use super::help::grammar;
use table::{HABITS, Means, Words};

/// Options that other tools need and this command does not: nothing asks, and colours follow the terminal.
const NEEDLESS: [&str; 11] = [
    "no-color",
    "auto-approve",
    "input",
    "ignore-remote-version",
    "state-out",
    "backup-out",
    "allow-missing",
    "yes",
    "y",
    "non-interactive",
    "color",
];

/// The answer to a habit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Habit {
    pub(crate) message: String,
    pub(crate) hints: Vec<String>,
}

/// The answer to what was typed behind the name of the command, if it is known from another tool.
pub(crate) fn answer(words: &[OsString]) -> Option<Habit> {
    let words: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
    let line = Line::read(&words?);
    let (words, means) = HABITS
        .iter()
        .filter(|(words, _)| line.begins_with(words))
        .max_by_key(|(words, _)| words.split(' ').count())?;
    let rest = &line.words[words.split(' ').count()..];
    match means {
        Means::Own { verb, needs } => own(&line, verb, needs, rest),
        Means::Terraform { verb, needs } => {
            let place = line.folder.as_deref().unwrap_or(".");
            Some(called(words, verb, &line.globals, &Arguments::read(rest, verb), place, needs))
        }
        Means::Stack { verb, needs, words: meaning } => {
            let mut arguments = Arguments::read(rest, verb);
            // `pulumi stack graph FILE` writes a file.
            if *verb == "graph" {
                let file = arguments.words.drain(..).next();
                file.into_iter().for_each(|file| arguments.option("output", Some(file)));
            }
            let needs = arguments.translate(needs, *meaning);
            // `pulumi cancel` asks which locks are meant as little.
            if *verb == "unlock" && !arguments.options.iter().any(|option| option == "--force") {
                arguments.options.insert(0, "--force".to_owned());
            }
            let stack = arguments.stack.map(|stack| format!("--stack {}", shell_word(stack)));
            arguments.options.extend(stack);
            let place = arguments.folder.or(line.folder.as_deref()).unwrap_or(".");
            Some(called(words, verb, &line.globals, &arguments, place, &needs))
        }
        Means::Program { programs, hint } => {
            let tail: String = rest.iter().map(|word| format!(" {}", shell_word(word))).collect();
            let commands: Vec<String> =
                programs.iter().map(|program| format!("`{program} {words}{tail}`")).collect();
            let message = format!("groundstate has no command `{words}`: it works on states alone");
            let mut hints = vec![format!("{} does that", commands.join(" or "))];
            hints.extend((!hint.is_empty()).then(|| (*hint).to_owned()));
            Some(Habit { message, hints })
        }
    }
}

/// The answer for a command of our own whose state is missing, or whose options are those of Terraform.
fn own(line: &Line<'_>, verb: &str, needs: &[&str], rest: &[&str]) -> Option<Habit> {
    let arguments = Arguments::read(rest, verb);
    let lacks_state =
        arguments.words.len() == needs.len() && arguments.words.first().is_some_and(|word| is_address(word));
    if !lacks_state && arguments.state.is_none() && line.folder.is_none() {
        return None;
    }
    let place = line.folder.as_deref().unwrap_or(".");
    let command = command(verb, &line.globals, &arguments, place, needs);
    let message = format!("`{verb}` takes the state first");
    Some(Habit { message, hints: vec![format!("run `{command}`")] })
}

/// Whether a word looks like the address of a resource, and not like the path of a state.
pub(crate) fn is_address(word: &str) -> bool {
    let is_path = word.starts_with('.') || word.contains("/") && !word.contains('[');
    let is_file = [".tfstate", ".json", ".backup", ".gz"].iter().any(|end| word.ends_with(end));
    word.contains('.') && !is_path && !is_file
}

/// That a command is called otherwise here.
fn called(
    words: &str,
    verb: &str,
    globals: &[String],
    arguments: &Arguments<'_>,
    place: &str,
    needs: &[&str],
) -> Habit {
    let command = command(verb, globals, arguments, place, needs);
    let message = format!("groundstate has no command `{words}`: its `{verb}` does that");
    Habit { message, hints: vec![format!("run `{command}`")] }
}

/// The whole command, quoted for the shell. What is missing is named as the help names it.
fn command(verb: &str, globals: &[String], arguments: &Arguments<'_>, place: &str, needs: &[&str]) -> String {
    let mut command = format!("groundstate {verb} {}", shell_word(arguments.state.unwrap_or(place)));
    let given = arguments.words.iter().map(|word| shell_word(word).into_owned());
    let missing = needs.iter().skip(arguments.words.len()).map(|name| (*name).to_owned());
    for word in given.chain(missing).chain(arguments.options.iter().cloned()).chain(globals.iter().cloned()) {
        command.push(' ');
        command.push_str(&word);
    }
    command
}

/// What was typed, without the options that every command has.
struct Line<'w> {
    words: Vec<&'w str>,
    /// Options of every command, as they are typed here.
    globals: Vec<String>,
    /// Terraform's `-chdir`.
    folder: Option<String>,
}

impl<'w> Line<'w> {
    fn read(typed: &[&'w str]) -> Self {
        let mut line = Self { words: Vec::new(), globals: Vec::new(), folder: None };
        let mut typed = typed.iter().copied().peekable();
        // A habit of the fingers: `groundstate terraform state list`.
        typed.next_if(|word| matches!(*word, "terraform" | "tofu" | "pulumi"));
        while let Some(word) = typed.next() {
            match word {
                "--workspace" | "--log-format" | "--var" | "--var-file" => {
                    let value = typed.next().map(shell_word).unwrap_or_default();
                    line.globals.push(format!("{word} {value}"));
                }
                "--trust-directory" | "-v" | "-vv" | "--verbose" => line.globals.push(word.to_owned()),
                _ if ["--workspace=", "--log-format=", "--var=", "--var-file="]
                    .iter()
                    .any(|name| word.starts_with(name)) =>
                {
                    line.globals.push(shell_word(word).into_owned());
                }
                _ => match word.strip_prefix("-chdir=") {
                    Some(folder) => line.folder = Some(folder.to_owned()),
                    None => line.words.push(word),
                },
            }
        }
        line
    }

    fn begins_with(&self, words: &str) -> bool {
        let mut typed = self.words.iter();
        words.split(' ').all(|word| typed.next() == Some(&word))
    }
}

/// The arguments behind the words of a command, as this command writes them.
#[derive(Default)]
struct Arguments<'w> {
    words: Vec<&'w str>,
    options: Vec<String>,
    state: Option<&'w str>,
    stack: Option<&'w str>,
    folder: Option<&'w str>,
}

impl<'w> Arguments<'w> {
    /// Translates options that `verb` has under another name or in another form; others stay as they are.
    fn read(typed: &[&'w str], verb: &str) -> Self {
        let mut read = Self::default();
        let mut typed = typed.iter().copied();
        while let Some(word) = typed.next() {
            let name = word.trim_start_matches('-');
            if name.len() == word.len() || name.is_empty() {
                read.words.push(word);
                continue;
            }
            let (name, value) =
                name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value)));
            match name {
                "state" => read.state = value.or_else(|| typed.next()),
                "stack" | "s" => read.stack = value.or_else(|| typed.next()),
                "cwd" | "C" => read.folder = value.or_else(|| typed.next()),
                "lock" if value == Some("false") => read.flag("no-lock", verb),
                "lock" => {}
                // Terraform asks before it frees a lock by its id, and this is for not asking.
                "force" if verb == "unlock" => {}
                "remove-backups" if verb == "stacks remove" => read.options.push("--backups".to_owned()),
                "preserve-config" if verb == "stacks remove" => {}
                "project" | "p" if verb == "stacks list" => {
                    read.option("project", value.or_else(|| typed.next()));
                }
                "tag" | "t" if verb == "stacks list" => read.option("tag", value.or_else(|| typed.next())),
                "all" | "a" | "organization" | "o" if verb == "stacks list" => {
                    if matches!(name, "organization" | "o") && value.is_none() {
                        typed.next();
                    }
                }
                "secrets-provider" if verb == "stacks create" => {
                    value.or_else(|| typed.next());
                }
                "yes" | "y" if has(verb, "yes") => read.options.push("--yes".to_owned()),
                "f" if verb == "stacks remove" => read.options.push("--force".to_owned()),
                "file" if verb == "pull" => read.option("output", value.or_else(|| typed.next())),
                "file" if verb == "push" => read.words.extend(value.or_else(|| typed.next())),
                "id" | "backup" | "lock-timeout" | "page" | "page-size" => {
                    let value = value.or_else(|| typed.next());
                    if has(verb, name) {
                        read.option(name, value);
                    }
                }
                "json" | "raw" | "dry-run" | "force" | "target-dependents" | "show-secrets" => {
                    read.flag(name, verb);
                }
                _ if NEEDLESS.contains(&name) => {}
                _ => read.options.push(shell_word(word).into_owned()),
            }
        }
        read
    }

    /// Makes what the words of a Pulumi command mean out of them. Gives what is still needed behind the state.
    fn translate(&mut self, needs: &[&'static str], meaning: Words) -> Vec<&'static str> {
        let mut words = std::mem::take(&mut self.words).into_iter();
        let mut next = |at: usize| words.next().or_else(|| needs.get(at).copied());
        match meaning {
            Words::Same | Words::Name | Words::File => {
                self.words = words.collect();
                return needs.to_vec();
            }
            Words::Dropped => {}
            Words::Stack => self.stack = next(0).or(self.stack),
            Words::SetTag => {
                let (name, value) = (next(0).unwrap_or_default(), next(1).unwrap_or_default());
                self.option("set", Some(&format!("{name}={value}")));
            }
            Words::RemoveTag => self.option("remove", next(0)),
        }
        Vec::new()
    }

    fn flag(&mut self, name: &str, verb: &str) {
        if has(verb, name) {
            self.options.push(format!("--{name}"));
        }
    }

    fn option(&mut self, name: &str, value: Option<&str>) {
        self.options.push(format!("--{name} {}", shell_word(value.unwrap_or_default())));
    }
}

/// Whether a command has an option of this name.
fn has(verb: &str, option: &str) -> bool {
    let mut command = grammar();
    for word in verb.split(' ') {
        match command.find_subcommand(word) {
            Some(inner) => command = inner.clone(),
            None => return false,
        }
    }
    let is_named = |arg: &clap::Arg| {
        arg.get_long() == Some(option)
            || arg.get_visible_aliases().is_some_and(|names| names.contains(&option))
    };
    command.get_arguments().any(is_named)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::CommandFactory;

    use super::super::cli::Cli;
    use super::answer;
    use super::table::{HABITS, Means};

    fn hints(line: &[&str]) -> Vec<String> {
        let words: Vec<OsString> = line.iter().map(OsString::from).collect();
        answer(&words).map(|habit| habit.hints).unwrap_or_default()
    }

    #[test]
    fn habits_are_answered_with_the_whole_command() {
        for (line, expected) in [
            (&["state", "list"][..], "run `groundstate list .`"),
            (&["state", "list", "-id=vpc-1", "module.a"], "run `groundstate list . module.a --id vpc-1`"),
            (&["state", "show", "-state", "a b", "x.y"], "run `groundstate show 'a b' x.y`"),
            (
                &["-chdir=infra", "state", "rm", "a.b[\"c\"]", "-lock=false"],
                "run `groundstate rm infra 'a.b[\"c\"]' --no-lock`",
            ),
            (&["state", "mv", "a.b"], "run `groundstate mv . a.b DST`"),
            (
                &["--workspace", "p q", "state", "pull", "-no-color"],
                "run `groundstate pull . --workspace 'p q'`",
            ),
            (&["force-unlock", "-force", "1-2"], "run `groundstate unlock . 1-2`"),
            (&["output", "-raw", "vpc"], "run `groundstate outputs . vpc --raw`"),
            (&["workspace", "new", "dev"], "run `groundstate workspaces new . dev`"),
            (&["state", "delete", "urn:x", "--yes"], "run `groundstate rm . urn:x`"),
            (&["state", "delete", "urn:x", "-s", "dev"], "run `groundstate rm . urn:x --stack dev`"),
            (&["pulumi", "stack", "init", "a b"], "run `groundstate stacks create . --stack 'a b'`"),
            (&["stack", "init"], "run `groundstate stacks create . --stack NAME`"),
            (
                &["stack", "rm", "dev", "--remove-backups", "-f", "-y"],
                "run `groundstate stacks remove . --backups --force --yes --stack dev`",
            ),
            (&["stack", "rm", "-C", "shop"], "run `groundstate stacks remove shop`"),
            (&["stack", "ls", "-a", "-p", "shop"], "run `groundstate stacks list . --project shop`"),
            (&["stack", "rename", "prod", "-s", "dev"], "run `groundstate stacks rename . prod --stack dev`"),
            (&["state", "upgrade", "-y"], "run `groundstate stacks upgrade . --yes`"),
            (&["stack", "tag", "ls"], "run `groundstate stacks tags .`"),
            (&["stack", "tag", "set", "owner", "an a"], "run `groundstate stacks tags . --set 'owner=an a'`"),
            (&["stack", "tag", "rm", "owner"], "run `groundstate stacks tags . --remove owner`"),
            (&["cancel", "dev", "--yes"], "run `groundstate unlock . --force --stack dev`"),
            (&["cancel"], "run `groundstate unlock . --force`"),
            (
                &["stack", "import", "--file", "a.json", "-s", "dev"],
                "run `groundstate push . a.json --stack dev`",
            ),
            (
                &["stack", "history", "--stack", "dev", "--page-size", "5"],
                "run `groundstate history . --page-size 5 --stack dev`",
            ),
            (&["stack", "output", "url"], "run `groundstate outputs . url`"),
            (&["taint", "a.b"], "run `groundstate taint . a.b`"),
            (&["plan", "-out=a b"], "`terraform plan '-out=a b'` or `tofu plan '-out=a b'` does that"),
            (&["stack", "select", "dev"], "`pulumi stack select dev` does that"),
            (&["terraform", "state", "list"], "run `groundstate list .`"),
        ] {
            assert_eq!(hints(line).first().map(String::as_str), Some(expected), "{line:?}");
        }
        for line in [&["nope"][..], &["mv", "x.tfstate", "a.b"], &["rm"], &["list", "--nope"]] {
            assert!(hints(line).is_empty(), "{line:?}");
        }
    }

    #[test]
    fn every_habit_leads_to_a_command_that_parses() {
        for (words, means) in HABITS {
            let line: Vec<&str> = words.split(' ').collect();
            let (Means::Terraform { needs, .. } | Means::Stack { needs, .. }) = means else { continue };
            let found = hints(&[&line[..], needs].concat());
            let command = found[0].strip_prefix("run `").and_then(|rest| rest.strip_suffix('`')).unwrap();
            let parsed = Cli::command().try_get_matches_from(command.split(' '));
            assert!(parsed.is_ok(), "{words}: {command}: {}", parsed.unwrap_err());
        }
    }
}
