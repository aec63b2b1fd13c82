//! Many changes from one text, made all together or not at all.
//!
//! The grammar is in `docs/surgery.md`.

mod error;
mod glob;
mod pattern;
mod run;
mod steps;
mod template;
mod words;

use groundstate_states::addr::{AbsResourceInstance, ConfigResource, Target};

use pattern::Source;
use template::Template;
use words::{Misplaced, Word, words};

pub use error::{ScriptError, ScriptFault};
pub use run::{ScriptOptions, ScriptReport, StatementReport};

/// A script that has been read: its form is right, whatever the state holds.
///
/// ```
/// use groundstate_state_edit::{OpenState, Script, ScriptOptions};
///
/// let text = br#"{"version": 4, "serial": 7, "resources": [{"module": "module.old[\"eu\"]", "mode": "managed",
///     "type": "null_resource", "name": "a", "provider": "provider[\"hashicorp/null\"]", "instances": [{}]}]}"#;
/// let script = Script::parse("mv module.old[\"*\"].null_resource.* module.new[\"$1\"].null_resource.b_$2 # renamed")?;
/// let state = OpenState::open(text.to_vec())?;
/// let mut editor = state.editor();
/// let report = editor.run(&script, &ScriptOptions::default())?;
/// assert_eq!(
///     report.statements[0].summary.changes[0].to_string(),
///     r#"Move "module.old[\"eu\"].null_resource.a" to "module.new[\"eu\"].null_resource.b_a""#
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Script {
    statements: Vec<Statement>,
}

#[derive(Clone, Debug)]
struct Statement {
    line: usize,
    verb: Verb,
}

#[derive(Clone, Debug)]
enum Verb {
    Move(Box<MoveStatement>),
    Remove(Vec<Argument<Source>>),
    /// Read when the dialect is known, which gives providers their registry.
    ReplaceProvider {
        from: Argument<String>,
        to: Argument<String>,
    },
    RemoveDependency(Box<DependencyStatement>),
    RemoveIdentity(Vec<Argument<Source>>),
    Taint(Vec<Argument<Source>>),
    Untaint(Vec<Argument<Source>>),
}

#[derive(Clone, Debug)]
struct MoveStatement {
    from: Argument<Source>,
    to: Argument<Template>,
}

#[derive(Clone, Debug)]
struct DependencyStatement {
    from: Argument<Source>,
    on: ConfigResource,
}

/// A word that was read, and where it stands.
#[derive(Clone, Debug)]
struct Argument<T> {
    column: usize,
    value: T,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    ///
    /// The first fault of its form, with line and column.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let mut statements = Vec::new();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (line, number) in text.lines().zip(1..) {
            let verb = words(line).and_then(|words| statement(&words));
            let place = |(column, fault)| ScriptError { line: number, column, fault };
            statements.extend(verb.map_err(place)?.map(|verb| Statement { line: number, verb }));
        }
        Ok(Self { statements })
    }

    /// How many statements there are.
    pub fn len(&self) -> usize {
        self.statements.len()
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }
}

fn statement(words: &[Word<'_>]) -> Result<Option<Verb>, Misplaced> {
    let Some((verb, rest)) = words.split_first() else { return Ok(None) };
    Ok(Some(match verb.text {
        "mv" => {
            let [from, to] = pair("mv", verb, rest)?;
            let source = Source::parse(from)?;
            let template = Template::parse(to, source.captures())?;
            Verb::Move(Box::new(MoveStatement {
                from: Argument { column: from.column, value: source },
                to: Argument { column: to.column, value: template },
            }))
        }
        "rm" => Verb::Remove(sources("rm", verb, rest, Source::parse_object)?),
        "rm-identity" => Verb::RemoveIdentity(sources("rm-identity", verb, rest, Source::parse)?),
        "rm-dependency" => {
            let [from, on] = rest else {
                let wanted = "two words, an address and the resource it depends on";
                let fault = ScriptFault::WordCount { verb: "rm-dependency", wanted, found: rest.len() };
                return Err((verb.column, fault));
            };
            let source = Argument { column: from.column, value: Source::parse(from)? };
            Verb::RemoveDependency(Box::new(DependencyStatement { from: source, on: dependency(on)? }))
        }
        "replace-provider" => {
            let argument = |word: &Word<'_>| Argument { column: word.column, value: word.text.to_owned() };
            let [from, to] = pair("replace-provider", verb, rest)?;
            Verb::ReplaceProvider { from: argument(from), to: argument(to) }
        }
        "taint" => Verb::Taint(sources("taint", verb, rest, instance)?),
        "untaint" => Verb::Untaint(sources("untaint", verb, rest, instance)?),
        other => {
            return Err((verb.column, ScriptFault::UnknownVerb { verb: other.chars().take(40).collect() }));
        }
    }))
}

fn pair<'w, 's>(
    name: &'static str,
    verb: &Word<'_>,
    words: &'w [Word<'s>],
) -> Result<[&'w Word<'s>; 2], Misplaced> {
    match words {
        [from, to] => Ok([from, to]),
        _ => {
            let wanted = "two words, FROM and TO";
            Err((verb.column, ScriptFault::WordCount { verb: name, wanted, found: words.len() }))
        }
    }
}

fn sources(
    name: &'static str,
    verb: &Word<'_>,
    words: &[Word<'_>],
    read: impl Fn(&Word<'_>) -> Result<Source, Misplaced>,
) -> Result<Vec<Argument<Source>>, Misplaced> {
    if words.is_empty() {
        let wanted = "one address or more";
        return Err((verb.column, ScriptFault::WordCount { verb: name, wanted, found: 0 }));
    }
    words.iter().map(|word| Ok(Argument { column: word.column, value: read(word)? })).collect()
}

/// Reads the resource that something depends on. Keys say nothing here: dependencies are recorded without them.
fn dependency(word: &Word<'_>) -> Result<ConfigResource, Misplaced> {
    match pattern::plain(word, word.text)? {
        Target::Module(_) => {
            Err(steps::fault(word, 0, "dependencies are on resources; name one in the module"))
        }
        Target::Resource(resource) => Ok(resource.to_config()),
        Target::Instance(instance) => Ok(instance.resource.to_config()),
    }
}

/// Reads what has to name instances.
fn instance(word: &Word<'_>) -> Result<Source, Misplaced> {
    let source = Source::parse(word)?;
    let is_module = match &source {
        // Read once more for the words that a wrong address gets.
        Source::Plain(Target::Module(_)) => match AbsResourceInstance::parse(word.text) {
            Ok(_) => false,
            Err(error) => return Err((word.column_of(error.position()), ScriptFault::Address(error))),
        },
        Source::Plain(_) | Source::Deposed(_) => false,
        Source::Pattern(pattern) => pattern.is_of_modules(),
    };
    if is_module {
        return Err(steps::fault(
            word,
            0,
            "only instances can be tainted; name a resource behind the module",
        ));
    }
    Ok(source)
}
