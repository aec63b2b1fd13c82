//! A walk over a value: containers open and close, and what is hidden is skipped.

use groundstate_json::{Kind, Tape};

use crate::Marks;
use crate::dynamic::unwrapped;

/// One step of the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// An array or object begins at this token.
    Open(usize),
    /// The innermost container, which began at this token, ends.
    Close(usize),
    /// A value without content of its own.
    Leaf(usize),
    /// A value that is sensitive, of whatever kind.
    Hidden(usize),
}

/// Walks over a value from outside to inside, without the wrappers of dynamic attributes.
#[derive(Debug)]
pub(crate) struct Events<'a> {
    tape: &'a Tape<'a>,
    marks: &'a Marks,
    at: usize,
    end: usize,
    open: Vec<Frame>,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    token: usize,
    /// The walk leaves the container here …
    end: usize,
    /// … and goes on there.
    resume: usize,
}

impl<'a> Events<'a> {
    /// Walks over the value at a token.
    pub(crate) fn new(tape: &'a Tape<'a>, marks: &'a Marks, at: usize) -> Self {
        Self { tape, marks, at, end: tape.next(at), open: Vec::new() }
    }
}

impl Iterator for Events<'_> {
    /// The token of the member's name, inside an object, and the step.
    type Item = (Option<usize>, Event);

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(frame) = self.open.last().copied()
            && self.at >= frame.end
        {
            self.open.pop();
            self.at = frame.resume;
            return Some((None, Event::Close(frame.token)));
        }
        if self.at >= self.end {
            return None;
        }
        let in_object = self.open.last().is_some_and(|frame| self.tape.kind(frame.token) == Kind::Object);
        let name = in_object.then_some(self.at);
        let outer = if in_object { self.at + 1 } else { self.at };
        let token = unwrapped(self.tape, outer);
        let resume = self.tape.next(outer);
        if self.marks.contains(token) {
            self.at = resume;
            return Some((name, Event::Hidden(token)));
        }
        if matches!(self.tape.kind(token), Kind::Array | Kind::Object) {
            self.open.push(Frame { token, end: self.tape.next(token), resume });
            self.at = token + 1;
            return Some((name, Event::Open(token)));
        }
        self.at = resume;
        Some((name, Event::Leaf(token)))
    }
}
