//! The instances of a state file, listed without holding the file in memory.
//!
//! A large file is shared between threads. Each begins where a resource seems to begin; if the parts turn out not to
//! meet, the file is laid out in an unusual way and is read from its start once more.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::thread;

use groundstate_statefile::{Listing, ListingPart, ScanError, expect_resource, list, list_part};

use crate::progress::{Count, Extent, Progress};

/// Files below this size are read in less time than threads take to start.
const WORTHWHILE: u64 = 8 << 20;

/// Threads, at most: beyond, the memory is busier than the processors.
const MAX_THREADS: usize = 8;

/// How far a beginning of a resource is looked for.
const SEARCHED: u64 = 1 << 20;

/// Lists the instances in a file.
pub(crate) fn of_file(path: &Path, length: u64, with_ids: bool) -> Result<Listing, ScanError> {
    let starts = starts(path, length)?;
    if starts.len() > 1
        && let Ok(listing) = in_parts(path, length, &starts, with_ids)
    {
        return Ok(listing);
    }
    list(Progress::new(open(path, 0)?, Extent::Bytes(length), Count::default()), with_ids)
}

fn in_parts(path: &Path, length: u64, starts: &[u64], with_ids: bool) -> Result<Listing, ScanError> {
    let count = Count::default();
    thread::scope(|scope| {
        let threads: Vec<_> = starts
            .iter()
            .enumerate()
            .map(|(index, &start)| {
                let stop = starts.get(index + 1).copied();
                let extent = if index == 0 { Extent::Bytes(length) } else { Extent::ShownElsewhere };
                let count = count.clone();
                scope.spawn(move || part(path, start, stop, extent, count, with_ids))
            })
            .collect();
        let parts: Result<Vec<ListingPart>, ScanError> =
            threads.into_iter().map(|thread| thread.join().unwrap_or(Err(ScanError::Whole))).collect();
        Listing::join(parts?)
    })
}

/// Reads one part.
fn part(
    path: &Path,
    start: u64,
    stop: Option<u64>,
    extent: Extent,
    count: Count,
    with_ids: bool,
) -> Result<ListingPart, ScanError> {
    let input = Progress::new(open(path, start)?, extent, count);
    let (start, stop) = (index(start)?, stop.map(index).transpose()?);
    list_part(input, start, stop, with_ids)
}

fn index(offset: u64) -> io::Result<usize> {
    usize::try_from(offset).map_err(|_| io::Error::other("the file is too large for this machine"))
}

/// Where the threads begin.
fn starts(path: &Path, length: u64) -> io::Result<Vec<u64>> {
    let mut starts = vec![0];
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS) as u64;
    if length < WORTHWHILE {
        return Ok(starts);
    }
    for thread in 1..threads {
        let from = length / threads * thread;
        let mut piece = Vec::new();
        open(path, from)?.take(SEARCHED).read_to_end(&mut piece)?;
        starts.extend(expect_resource(&piece).map(|found| from + found as u64));
    }
    starts.dedup();
    Ok(starts)
}

fn open(path: &Path, start: u64) -> io::Result<std::fs::File> {
    let mut file = std::fs::File::open(path)?;
    file.seek(SeekFrom::Start(start))?;
    Ok(file)
}
