//! The instances of a state file, listed without holding the file in memory.
//!
//! A large file is shared between threads. Each begins where a resource seems to begin; if the parts turn out not to
//! meet, the file is laid out in an unusual way and is read from its start once more.

use std::fs::File;
use std::io::{self, Read};
use std::thread;

use groundstate_statefile::{Listing, ListingPart, ScanError, expect_resource, list, list_part};

use crate::input::reader::{Input, Reader, index};
use crate::input::threads::threads;
use crate::report::progress::{Count, Extent, Progress};

/// Files below this size are read in less time than threads take to start.
const WORTHWHILE: u64 = 1 << 19;

/// How far a beginning of a resource is looked for, in bytes.
const SEARCHED: u64 = 1 << 20;

/// Lists the instances in a file.
pub(crate) fn of_file(file: &File, length: u64, with_ids: bool) -> Result<Listing, ScanError> {
    let input = Input::File(file, length);
    let starts = starts(input)?;
    if starts.len() > 1
        && let Ok(listing) = in_parts(input, &starts, with_ids)
    {
        return Ok(listing);
    }
    list(Progress::new(input.from(0), Extent::Bytes(length), Count::default()), with_ids)
}

fn in_parts(input: Input<'_>, starts: &[u64], with_ids: bool) -> Result<Listing, ScanError> {
    let count = Count::default();
    thread::scope(|scope| {
        let threads: Vec<_> = starts
            .iter()
            .enumerate()
            .map(|(index, &start)| {
                let stop = starts.get(index + 1).copied();
                let extent = if index == 0 { Extent::Bytes(input.len()) } else { Extent::ShownElsewhere };
                let count = count.clone();
                let read = move || part(input, start, stop, extent, count, with_ids);
                thread::Builder::new().spawn_scoped(scope, read)
            })
            .collect();
        let parts: Result<Vec<ListingPart>, ScanError> =
            threads.into_iter().map(|thread| thread?.join().unwrap_or(Err(ScanError::Whole))).collect();
        Listing::join(parts?)
    })
}

/// Reads one part.
fn part(
    input: Input<'_>,
    start: u64,
    stop: Option<u64>,
    extent: Extent,
    count: Count,
    with_ids: bool,
) -> Result<ListingPart, ScanError> {
    let input = Progress::new(input.from(start), extent, count);
    let (start, stop) = (index(start)?, stop.map(index).transpose()?);
    list_part(input, start, stop, with_ids)
}

/// Where the threads begin.
fn starts(input: Input<'_>) -> io::Result<Vec<u64>> {
    let mut starts = vec![0];
    let (length, threads) = (input.len(), threads() as u64);
    if length < WORTHWHILE {
        return Ok(starts);
    }
    for thread in 1..threads {
        let from = length / threads * thread;
        starts.extend(find_resource(input.from(from))?.map(|found| from + found as u64));
    }
    starts.dedup();
    Ok(starts)
}

/// Finds the next beginning of a resource. Most are near, so little is read at first.
fn find_resource(mut file: Reader<'_>) -> io::Result<Option<usize>> {
    let mut piece = Vec::new();
    for length in [SEARCHED / 64, SEARCHED] {
        file.by_ref().take(length - piece.len() as u64).read_to_end(&mut piece)?;
        if let Some(found) = expect_resource(&piece) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
