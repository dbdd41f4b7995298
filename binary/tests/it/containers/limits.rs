//! Bombs: decompressed bytes are limited, and memory grows with them rather than with the sizes that headers claim.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use warpload_binary::container::{ContainerErrorKind as Kind, GpuCodes, Limits};

use crate::containers::build::{ELF, Entry, PTX, concatenated, fatbin, fatbin_of, record};

/// Counts the bytes that this thread has allocated, and their maximum.
struct Counting;

thread_local! {
    /// All that was allocated, whether or not it was freed.
    static TOTAL: Cell<usize> = const { Cell::new(0) };
    static BYTES: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

fn count(change: isize) {
    // A thread that ends has no counter any more.
    let _ = TOTAL.try_with(|total| total.set(total.get() + change.max(0) as usize));
    let _ = BYTES.try_with(|bytes| {
        let (now, most) = bytes.get();
        bytes.set((now + change, most.max(now + change)));
    });
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: all calls are passed on as they are.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// The result of a function, and the most bytes that it had allocated.
fn peak<T>(function: impl FnOnce() -> T) -> (T, isize) {
    let before = BYTES.get().0;
    BYTES.set((before, before));
    let result = function();
    (result, BYTES.get().1 - before)
}

/// Reads all images, one after the other. Returns the error of each, and their total size.
fn read_all(file: &[u8], limits: Limits) -> (Vec<Option<Kind>>, u64) {
    let mut read = 0;
    let kinds = GpuCodes::with_limits(file, limits).map(|image| {
        let result = image.and_then(|image| image.read());
        read += result.as_ref().map_or(0, |read| read.bytes.len() as u64);
        result.err().map(|error| error.kind)
    });
    (kinds.collect(), read)
}

/// The entry claims 8 MiB, the most that so few bytes may, and holds 3 bytes, in each compression.
#[test]
fn a_claim_allocates_nothing() {
    let claimed = 8 << 20;
    for entry in [Entry::lz4, Entry::zlib, Entry::zstd] {
        let file = fatbin(&[Entry { claimed, ..entry(PTX, b"ptx") }]);
        let ((kinds, _), most) = peak(|| read_all(&file, Limits::default()));
        assert_eq!(kinds, [Some(Kind::SmallerThanClaimed { read: 3, claimed })]);
        assert!(most < 1 << 20, "{most} bytes");
    }
    let table = Entry { claimed, ..concatenated(b"ptx", &[record(0, 6 << 20, 75)]) };
    let file = fatbin(&[table]);
    let ((kinds, _), most) = peak(|| read_all(&file, Limits::default()));
    assert_eq!(kinds, [Some(Kind::SmallerThanClaimed { read: 3, claimed })]);
    assert!(most < 1 << 20, "{most} bytes");
}

/// The entry claims 1,000 bytes and holds 64 MiB.
#[test]
fn reading_stops_at_the_claim() {
    let bomb = vec![0; 64 << 20];
    for entry in [Entry::lz4, Entry::zlib, Entry::zstd] {
        let file = fatbin(&[Entry { claimed: 1000, ..entry(PTX, &bomb) }]);
        let ((kinds, _), most) = peak(|| read_all(&file, Limits::default()));
        assert_eq!(kinds, [Some(Kind::LargerThanClaimed { claimed: 1000 })]);
        assert!(most < 1 << 20, "{most} bytes");
    }
}

#[test]
fn limits_are_kept() {
    let entry = Entry::zstd(PTX, &[b'x'; 1000]);
    let limits = Limits::default().image(999);
    let (kinds, _) = read_all(&fatbin(std::slice::from_ref(&entry)), limits);
    assert_eq!(kinds, [Some(Kind::TooLarge { size: 1000, limit: 999 })]);
    let (kinds, _) = read_all(&fatbin(std::slice::from_ref(&entry)), limits.image(1000));
    assert_eq!(kinds, [None]);

    // Small entries that are large together: as many as the limit allows, in the file's order.
    let bomb = Entry::zstd(PTX, &vec![b'x'; 1 << 20]);
    let file = fatbin(&vec![bomb; 100]);
    let limit = Limits::TOTAL_RATIO * file.len() as u64;
    let (kinds, read) = read_all(&file, Limits::default().total(0));
    let allowed = (limit >> 20) as usize;
    assert!(allowed < 50, "{allowed}");
    assert_eq!(kinds[..allowed], vec![None; allowed]);
    assert_eq!(kinds[allowed..], vec![Some(Kind::TotalTooLarge { limit }); 100 - allowed]);
    assert!(read <= limit);
    let (kinds, _) = read_all(&file, Limits::default().total(100 << 20));
    assert_eq!(kinds, vec![None; 100]);
}

/// PTX takes several times as much memory once it is read, so the text that an image may have depends on its stored bytes.
/// A cubin of the same size is not concerned.
#[test]
fn compressed_ptx_is_in_proportion_to_its_stored_bytes() {
    let text = vec![b';'; 12 << 20];
    let entry = Entry::zstd(PTX, &text);
    let stored = entry.payload.len() as u64;
    let limit = (8 << 20) + 64 * stored;
    assert!(limit < 12 << 20, "{stored} bytes");
    let (kinds, read) = read_all(&fatbin(&[entry]), Limits::default());
    assert_eq!(kinds, [Some(Kind::TooLarge { size: 12 << 20, limit })]);
    assert_eq!(read, 0);
    let (kinds, _) = read_all(&fatbin(&[Entry::zstd(ELF, &text)]), Limits::default());
    assert_eq!(kinds, [None]);
    let (kinds, _) = read_all(&fatbin(&[Entry::zstd(PTX, &text[..8 << 20])]), Limits::default());
    assert_eq!(kinds, [None]);
}

/// 100,000 headers of containers that each claim the length of the file. Each byte is searched a few times rather than
/// once for each header.
#[test]
fn nested_containers_take_linear_time() {
    let nested: Vec<u8> = (0..100_000).flat_map(|_| fatbin_of(1 << 40, &[])).collect();
    let (kinds, most) = peak(|| GpuCodes::new(&nested).count());
    assert_eq!(kinds, 100_000);
    assert!(most < 1 << 20, "{most} bytes");
    // With bytes that look like the header of an entry, much later.
    let entry = fatbin(&[Entry::plain(PTX, 75, b"ptx")]);
    let file = [&nested[..], &vec![1; 1 << 20], &entry].concat();
    assert_eq!(GpuCodes::new(&file).filter(Result::is_ok).count(), 1);
}

/// An archive of AIX. Each member is an object that extends to the end of the file, where all share one table of
/// sections.
fn overlapping(members: usize, sections: usize) -> Vec<u8> {
    let number = |value: usize, width: usize| format!("{value:<width$}").into_bytes();
    let header = |size: usize, name: &str| {
        let fields = [number(size, 20), number(0, 20), number(0, 20)].concat();
        let rest = [number(0, 12), number(0, 12), number(0, 12), number(644, 12)].concat();
        [&fields[..], &rest, &number(name.len(), 4), name.as_bytes(), b"`\n"].concat()
    };
    let fat = fatbin(&[Entry::plain(PTX, 90, b"")]);
    let each = header(0, "ab").len() + 64 + fat.len();
    let table = (128 + members * each).next_multiple_of(8);
    let end = table + sections * 64;
    let mut file = vec![0; 128];
    for i in 0..members {
        let data = 128 + i * each + header(0, "ab").len();
        file.extend(header(end - data, "ab"));
        let mut elf = b"\x7fELF\x02\x01\x01".to_vec();
        elf.resize(16, 0);
        elf.extend([1_u16, 62].iter().flat_map(|half| half.to_le_bytes()));
        elf.extend(1_u32.to_le_bytes());
        elf.extend([0, 0, (table - data) as u64].iter().flat_map(|word| word.to_le_bytes()));
        elf.extend(0_u32.to_le_bytes());
        elf.extend([64_u16, 0, 0, 64, 0, 1].iter().flat_map(|half| half.to_le_bytes()));
        file.extend(elf);
        file.extend(&fat);
    }
    file.resize(table, 0);
    for i in 0..sections {
        let mut section = [0; 64];
        section[4] = if i == 1 { 3 } else { u8::from(i > 0) };
        let size = if i == 0 { sections as u64 } else { 10 };
        section[32..40].copy_from_slice(&size.to_le_bytes());
        file.extend(section);
    }
    let offsets = (0..members).flat_map(|i| number(128 + i * each, 20));
    let index: Vec<u8> = number(members, 20).into_iter().chain(offsets).collect();
    let index = [index, b"ab\0".repeat(members)].concat();
    let at = file.len();
    file.extend(header(index.len(), ""));
    file.extend(index);
    let start: Vec<u8> =
        [at, 0, 0, 128, 0, 0].iter().flat_map(|field| number(*field, 20)).collect();
    file[..128].copy_from_slice(&[&b"<bigaf>\n"[..], &start].concat());
    file
}

/// Reading the objects around containers takes memory by the size of the file, not by the sizes of its members
/// together.
#[test]
fn members_that_overlap_are_not_read_again_and_again() {
    let file = overlapping(300, 3000);
    let before = TOTAL.get();
    let outcomes: Vec<_> = GpuCodes::new(&file).collect();
    let allocated = TOTAL.get() - before;
    assert_eq!(outcomes.iter().filter(|image| image.is_ok()).count(), 300);
    let last = outcomes.last().and_then(|last| last.clone().err()).map(|error| error.kind);
    assert_eq!(last, Some(Kind::MembersOverlap));
    // With 24 bytes for each section of each member it would be 21 MB or more.
    assert!(allocated < 3 * file.len(), "{allocated} bytes for a file of {}", file.len());
}
