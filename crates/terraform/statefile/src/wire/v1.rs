//! Members of format 1 (Terraform before 0.7), as slices of the document.

use super::legacy::{self, Member, StringMap, enter, list, literal, map, members, strings};
use crate::json::{Cursor, Stop, Str};
use crate::sink::Sink;

/// The whole document.
#[derive(Debug, Default)]
pub(crate) struct Document<'a> {
    pub(crate) serial: i64,
    pub(crate) serial_offset: usize,
    /// Where the member stands.
    pub(crate) remote: Option<usize>,
    pub(crate) modules: Vec<Module<'a>>,
    pub(crate) extra: Vec<Member<'a>>,
}

/// A module and everything in it.
#[derive(Debug, Default)]
pub(crate) struct Module<'a> {
    pub(crate) offset: usize,
    pub(crate) path: Vec<Str<'a>>,
    /// Values are string literals.
    pub(crate) outputs: Vec<(Str<'a>, &'a [u8])>,
    pub(crate) resources: Vec<(Str<'a>, Resource<'a>)>,
    pub(crate) depends_on: Vec<Str<'a>>,
    pub(crate) extra: Vec<Member<'a>>,
}

/// One instance of a resource, by its legacy address.
#[derive(Debug, Default)]
pub(crate) struct Resource<'a> {
    pub(crate) type_name: Option<Str<'a>>,
    pub(crate) depends_on: Vec<Str<'a>>,
    pub(crate) primary: Option<Instance<'a>>,
    pub(crate) tainted: Vec<Instance<'a>>,
    pub(crate) deposed: Vec<Instance<'a>>,
    pub(crate) provider: Option<Str<'a>>,
    pub(crate) extra: Vec<Member<'a>>,
}

/// One remote object.
#[derive(Debug, Default)]
pub(crate) struct Instance<'a> {
    pub(crate) offset: usize,
    pub(crate) id: Option<Str<'a>>,
    pub(crate) attributes: Option<StringMap<'a>>,
    /// Values are string literals.
    pub(crate) meta: Vec<(Str<'a>, &'a [u8])>,
    pub(crate) extra: Vec<Member<'a>>,
}

impl<'a> Document<'a> {
    /// Reads a document whose version is known to be 1.
    pub(crate) fn read(text: &'a [u8], sink: &mut Sink) -> Result<Self, Stop> {
        let mut cursor = Cursor::new(text);
        let mut document = Self::default();
        cursor.space();
        if sink.object(&mut cursor)? {
            let known = ["version", "serial", "remote", "modules"];
            document.extra = members(&mut cursor, sink, known, |name, cursor, sink| {
                match name {
                    "serial" => {
                        document.serial_offset = cursor.offset();
                        document.serial = legacy::signed(cursor, sink)?;
                    }
                    "remote" => document.remote = legacy::remote(cursor, sink)?,
                    "modules" => document.modules = list(cursor, sink, Module::read)?,
                    _ => cursor.skip()?,
                }
                Ok(())
            })?;
        }
        cursor.end()?;
        Ok(document)
    }
}

impl<'a> Module<'a> {
    fn read(cursor: &mut Cursor<'a>, sink: &mut Sink) -> Result<Option<Self>, Stop> {
        if !enter(cursor, sink, 1, "a module")? {
            return Ok(None);
        }
        let mut module = Self { offset: cursor.offset() - 1, ..Self::default() };
        let known = ["path", "outputs", "resources", "depends_on"];
        module.extra = members(cursor, sink, known, |name, cursor, sink| {
            match name {
                "path" => module.path = strings(cursor, sink)?,
                "outputs" => module.outputs = map(cursor, sink, literal)?,
                "resources" => module.resources = map(cursor, sink, Resource::read)?,
                _ => module.depends_on = strings(cursor, sink)?,
            }
            Ok(())
        })?;
        Ok(Some(module))
    }
}

impl<'a> Resource<'a> {
    fn read(cursor: &mut Cursor<'a>, sink: &mut Sink) -> Result<Option<Self>, Stop> {
        if !enter(cursor, sink, 1, "a resource")? {
            return Ok(None);
        }
        let mut resource = Self::default();
        let known = ["type", "depends_on", "primary", "tainted", "deposed", "provider"];
        resource.extra = members(cursor, sink, known, |name, cursor, sink| {
            match name {
                "type" => resource.type_name = sink.string(cursor)?,
                "depends_on" => resource.depends_on = strings(cursor, sink)?,
                "primary" => resource.primary = Instance::read(cursor, sink)?,
                "tainted" => resource.tainted = list(cursor, sink, Instance::read_item)?,
                "deposed" => resource.deposed = list(cursor, sink, Instance::read_item)?,
                _ => resource.provider = sink.string(cursor)?,
            }
            Ok(())
        })?;
        Ok(Some(resource))
    }
}

impl<'a> Instance<'a> {
    fn read_item(cursor: &mut Cursor<'a>, sink: &mut Sink) -> Result<Option<Self>, Stop> {
        let entered = enter(cursor, sink, 1, "an object of a resource")?;
        entered.then(|| Self::read_members(cursor, sink)).transpose()
    }

    fn read(cursor: &mut Cursor<'a>, sink: &mut Sink) -> Result<Option<Self>, Stop> {
        sink.object(cursor)?.then(|| Self::read_members(cursor, sink)).transpose()
    }

    fn read_members(cursor: &mut Cursor<'a>, sink: &mut Sink) -> Result<Self, Stop> {
        let mut instance = Self { offset: cursor.offset() - 1, ..Self::default() };
        let known = ["id", "attributes", "meta"];
        instance.extra = members(cursor, sink, known, |name, cursor, sink| {
            match name {
                "id" => instance.id = sink.string(cursor)?,
                "attributes" => instance.attributes = StringMap::read(cursor, sink)?,
                _ => instance.meta = map(cursor, sink, literal)?,
            }
            Ok(())
        })?;
        Ok(instance)
    }
}
