//! Members of format 2 (Terraform 0.7 and 0.8), as slices of the document.

use super::legacy::{self, Member, StringMap, any, enter, list, map, members, strings};
use crate::json::{Cursor, Stop, Str};
use crate::sink::Sink;

/// The whole document.
#[derive(Debug, Default)]
pub(crate) struct Document<'a> {
    pub(crate) terraform_version: Option<Str<'a>>,
    pub(crate) serial: i64,
    pub(crate) serial_offset: usize,
    pub(crate) lineage: Option<Str<'a>>,
    /// Where the member stands.
    pub(crate) remote: Option<usize>,
    /// Where the member stands.
    pub(crate) backend: Option<usize>,
    pub(crate) modules: Vec<Module<'a>>,
    pub(crate) extra: Vec<Member<'a>>,
}

/// A module and everything in it.
#[derive(Debug, Default)]
pub(crate) struct Module<'a> {
    pub(crate) offset: usize,
    pub(crate) path: Vec<Str<'a>>,
    pub(crate) outputs: Vec<(Str<'a>, Output<'a>)>,
    pub(crate) resources: Vec<(Str<'a>, Resource<'a>)>,
    pub(crate) depends_on: Vec<Str<'a>>,
    pub(crate) extra: Vec<Member<'a>>,
}

/// An output value.
#[derive(Debug, Default)]
pub(crate) struct Output<'a> {
    pub(crate) sensitive: bool,
    pub(crate) type_name: Option<Str<'a>>,
    /// Any JSON.
    pub(crate) value: Option<&'a [u8]>,
    pub(crate) value_offset: usize,
    pub(crate) extra: Vec<Member<'a>>,
}

/// One instance of a resource, by its legacy address.
#[derive(Debug, Default)]
pub(crate) struct Resource<'a> {
    pub(crate) type_name: Option<Str<'a>>,
    pub(crate) depends_on: Vec<Str<'a>>,
    pub(crate) primary: Option<Instance<'a>>,
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
    /// Values are any JSON.
    pub(crate) meta: Vec<(Str<'a>, &'a [u8])>,
    pub(crate) tainted: bool,
    pub(crate) extra: Vec<Member<'a>>,
}

impl<'a> Document<'a> {
    /// Reads a document of this structure; `version` is 2 or 3 and goes into error texts.
    pub(crate) fn read(text: &'a [u8], version: u64, sink: &mut Sink) -> Result<Self, Stop> {
        let mut cursor = Cursor::new(text);
        let mut document = Self::default();
        cursor.space();
        if sink.object(&mut cursor)? {
            document.extra = document.read_members(&mut cursor, version, sink)?;
        }
        cursor.end()?;
        Ok(document)
    }

    fn read_members(
        &mut self,
        cursor: &mut Cursor<'a>,
        version: u64,
        sink: &mut Sink,
    ) -> Result<Vec<Member<'a>>, Stop> {
        let known = ["version", "terraform_version", "serial", "lineage", "remote", "backend", "modules"];
        members(cursor, sink, known, |name, cursor, sink| {
            match name {
                "terraform_version" => self.terraform_version = sink.string(cursor)?,
                "serial" => {
                    self.serial_offset = cursor.offset();
                    self.serial = legacy::signed(cursor, sink)?;
                }
                "lineage" => self.lineage = sink.string(cursor)?,
                "remote" => self.remote = legacy::remote(cursor, sink)?,
                "backend" => self.backend = legacy::backend(cursor, sink)?,
                "modules" => {
                    self.modules = list(cursor, sink, |cursor, sink| Module::read(cursor, version, sink))?;
                }
                _ => cursor.skip()?,
            }
            Ok(())
        })
    }
}

impl<'a> Module<'a> {
    fn read(cursor: &mut Cursor<'a>, version: u64, sink: &mut Sink) -> Result<Option<Self>, Stop> {
        if !enter(cursor, sink, version, "a module")? {
            return Ok(None);
        }
        let mut module = Self { offset: cursor.offset() - 1, ..Self::default() };
        let known = ["path", "outputs", "resources", "depends_on"];
        module.extra = members(cursor, sink, known, |name, cursor, sink| {
            match name {
                "path" => module.path = strings(cursor, sink)?,
                "outputs" => module.outputs = map(cursor, sink, |c, sink| Output::read(c, version, sink))?,
                "resources" => {
                    module.resources = map(cursor, sink, |c, sink| Resource::read(c, version, sink))?;
                }
                _ => module.depends_on = strings(cursor, sink)?,
            }
            Ok(())
        })?;
        Ok(Some(module))
    }
}

impl<'a> Output<'a> {
    fn read(cursor: &mut Cursor<'a>, version: u64, sink: &mut Sink) -> Result<Option<Self>, Stop> {
        if !enter(cursor, sink, version, "an output")? {
            return Ok(None);
        }
        let mut output = Self::default();
        output.extra = members(cursor, sink, ["sensitive", "type", "value"], |name, cursor, sink| {
            match name {
                "sensitive" => output.sensitive = sink.bool(cursor)?.unwrap_or(false),
                "type" => output.type_name = sink.string(cursor)?,
                _ => {
                    output.value_offset = cursor.offset();
                    output.value = any(cursor, sink)?;
                }
            }
            Ok(())
        })?;
        Ok(Some(output))
    }
}

impl<'a> Resource<'a> {
    fn read(cursor: &mut Cursor<'a>, version: u64, sink: &mut Sink) -> Result<Option<Self>, Stop> {
        if !enter(cursor, sink, version, "a resource")? {
            return Ok(None);
        }
        let mut resource = Self::default();
        let known = ["type", "depends_on", "primary", "deposed", "provider"];
        resource.extra = members(cursor, sink, known, |name, cursor, sink| {
            match name {
                "type" => resource.type_name = sink.string(cursor)?,
                "depends_on" => resource.depends_on = strings(cursor, sink)?,
                "primary" => {
                    let present = sink.object(cursor)?;
                    resource.primary = present.then(|| Instance::read_members(cursor, sink)).transpose()?;
                }
                "deposed" => {
                    resource.deposed = list(cursor, sink, |cursor, sink| {
                        let entered = enter(cursor, sink, version, "a deposed object")?;
                        entered.then(|| Instance::read_members(cursor, sink)).transpose()
                    })?;
                }
                _ => resource.provider = sink.string(cursor)?,
            }
            Ok(())
        })?;
        Ok(Some(resource))
    }
}

impl<'a> Instance<'a> {
    fn read_members(cursor: &mut Cursor<'a>, sink: &mut Sink) -> Result<Self, Stop> {
        let mut instance = Self { offset: cursor.offset() - 1, ..Self::default() };
        let known = ["id", "attributes", "meta", "tainted"];
        instance.extra = members(cursor, sink, known, |name, cursor, sink| {
            match name {
                "id" => instance.id = sink.string(cursor)?,
                "attributes" => instance.attributes = StringMap::read(cursor, sink)?,
                "meta" => instance.meta = map(cursor, sink, any)?,
                _ => instance.tainted = sink.bool(cursor)?.unwrap_or(false),
            }
            Ok(())
        })?;
        Ok(instance)
    }
}
