//! Damaged containers: errors with an offset, and sound images are still found.

use proptest::prelude::*;
use warpload_binary::container::{ContainerErrorKind as Kind, GpuCodeKind, GpuCodes};

use crate::containers::build::{ELF, Entry, PTX, archive, concatenated, fatbin, fatbin_of, record};
use crate::containers::{bytes, sample};

/// The bytes of each image, or its error.
fn outcomes(file: &[u8]) -> Vec<Result<Vec<u8>, Kind>> {
    let read = |image: warpload_binary::container::GpuCode<'_>| {
        image.read().map(|read| read.bytes.to_vec())
    };
    GpuCodes::new(file).map(|image| image.and_then(read).map_err(|error| error.kind)).collect()
}

/// The outcomes of three entries, with the second one changed.
fn with(change: impl FnOnce(&mut Entry)) -> Vec<Result<Vec<u8>, Kind>> {
    let mut damaged = Entry::lz4(PTX, &[b'b'; 100]);
    change(&mut damaged);
    let file = fatbin(&[Entry::plain(PTX, 75, b"first"), damaged, Entry::zstd(PTX, b"third")]);
    outcomes(&file)
}

/// Asserts that only the second entry is damaged, and how.
fn only_second(change: impl FnOnce(&mut Entry)) -> Kind {
    let outcomes = with(change);
    assert_eq!(outcomes[0], Ok(b"first".to_vec()));
    assert_eq!(outcomes[2..], [Ok(b"third".to_vec())], "{outcomes:?}");
    outcomes[1].clone().expect_err("it is damaged")
}

#[test]
fn a_damaged_entry_hides_no_other() {
    assert!(with(|_| {}).iter().all(Result::is_ok));
    assert_eq!(only_second(|e| e.version = 0x0201), Kind::EntryVersion { version: 0x0201 });
    for size in [0, 63, 0xffff_fff8, u32::MAX] {
        let kind = only_second(|e| e.header = size);
        assert!(
            matches!(kind, Kind::EntryHeader { size: s, .. } if s == u64::from(size)),
            "{kind}"
        );
    }
    for size in [1 << 20, 1 << 63, u64::MAX - 7, u64::MAX] {
        let kind = only_second(|e| e.size = size);
        assert!(matches!(kind, Kind::EntryOutside { size: s, .. } if s == size), "{kind}");
    }
    let kind = only_second(|e| e.compressed = u32::MAX);
    assert!(matches!(kind, Kind::CompressedOutside { .. }), "{kind}");
    for flags in [0x11, 0xa011] {
        assert_eq!(only_second(|e| e.flags = flags), Kind::UnknownCompression { flags });
    }
    let kind = only_second(|e| e.payload[1..].fill(0));
    assert!(matches!(kind, Kind::Damaged { claimed: 100, .. }), "{kind}");
    let kind = only_second(|e| e.claimed = 99);
    assert_eq!(kind, Kind::LargerThanClaimed { claimed: 99 });
    let kind = only_second(|e| e.claimed = 101);
    assert_eq!(kind, Kind::SmallerThanClaimed { read: 100, claimed: 101 });
    // 16 stored bytes of PTX may become 64 times as many, and 8 MiB in any case.
    for claimed in [(8 << 20) + 64 * 16 + 1, 1 << 63, u64::MAX] {
        let kind = only_second(|e| e.claimed = claimed);
        assert_eq!(kind, Kind::TooLarge { size: claimed, limit: (8 << 20) + 64 * 16 });
    }
    // An entry without a payload is not damage, so its bytes are not searched for another one.
    let outcomes = with(|e| e.kind = 9);
    assert_eq!(outcomes[1], Ok(vec![b'b'; 100]));
}

/// The authority is the container itself, which has all of these entries. The header of a concatenated entry begins with
/// `00 01 01 01`: a search for its version `01 01` must find overlapping matches, because the second one is right. Kind 8
/// is LTO-IR.
#[test]
fn after_damage_the_next_entry_is_found_whatever_its_kind() {
    let stream = [b'x'; 64];
    let mut damaged = Entry::plain(ELF, 75, b"damaged");
    damaged.version = 0x0201;
    for (next, images) in [
        (Entry::plain(ELF, 75, b"elf"), vec![b"elf".to_vec()]),
        (Entry::plain(PTX, 75, b"ptx"), vec![b"ptx".to_vec()]),
        (Entry::plain(8, 75, b"lto-ir"), vec![b"lto-ir".to_vec()]),
        (
            concatenated(&stream, &[record(0, 16, 75), record(16, 48, 80)]),
            vec![vec![b'x'; 16], vec![b'x'; 48]],
        ),
    ] {
        let file = fatbin(&[damaged.clone(), next, Entry::plain(PTX, 75, b"last")]);
        let found: Vec<_> = outcomes(&file).into_iter().map(|outcome| outcome.ok()).collect();
        let padded = |image: &Vec<u8>| Some(image.clone());
        let expected: Vec<_> = [None]
            .into_iter()
            .chain(images.iter().map(padded))
            .chain([Some(b"last".to_vec())])
            .collect();
        let trimmed: Vec<_> = found
            .into_iter()
            .map(|image| {
                image.map(|image| {
                    let end = image.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
                    image[..end].to_vec()
                })
            })
            .collect();
        assert_eq!(trimmed, expected);
    }
}

/// A size that ends within another entry: the overlap is not read twice.
#[test]
fn overlapping_entries_are_errors() {
    let third = Entry::zstd(PTX, b"third");
    let over = 16;
    let mut second = Entry::plain(PTX, 75, b"second");
    second.size += over;
    let file = fatbin(&[Entry::plain(PTX, 75, b"first"), second, third]);
    let outcomes = outcomes(&file);
    assert_eq!(outcomes[0], Ok(b"first".to_vec()));
    assert!(matches!(outcomes[2], Err(Kind::EntryVersion { .. })), "{outcomes:?}");
    assert_eq!(outcomes.len(), 3);
}

#[test]
fn tables_are_checked() {
    let stream = [b'x'; 64];
    let (good, bad) = (record(0, 16, 75), |start, size| record(start, size, 80));
    let of = |records: &[[u8; 64]]| {
        outcomes(&fatbin(&[concatenated(&stream, records), Entry::plain(PTX, 75, b"last")]))
    };
    let x = |n| Ok(vec![b'x'; n]);
    assert_eq!(of(&[good, bad(16, 48)]), [x(16), x(48), Ok(b"last".to_vec())]);
    for (start, size) in
        [(8, 8), (0, 16), (16, 49), (64, 1), (u32::MAX, 8), (16, u64::MAX), (16, 1 << 63)]
    {
        let outcomes = of(&[good, bad(start, size), record(48, 16, 90)]);
        let kind = outcomes[1].clone().unwrap_err();
        assert_eq!(kind, Kind::ImageOutside { start: start.into(), size, stream: 64, before: 16 });
        assert_eq!(
            (&outcomes[0], &outcomes[2], &outcomes[3]),
            (&x(16), &x(16), &Ok(b"last".into()))
        );
    }
    // More than the header holds.
    for count in [3_u32, 1 << 21, u32::MAX] {
        let mut entry = concatenated(&stream, &[good, bad(16, 48)]);
        entry.extra[..4].copy_from_slice(&count.to_le_bytes());
        let outcomes = outcomes(&fatbin(&[entry, Entry::plain(PTX, 75, b"last")]));
        assert!(matches!(outcomes[0], Err(Kind::Table { .. })), "{outcomes:?}");
        assert_eq!(outcomes[1..], [Ok(b"last".to_vec())]);
    }
    for size in [0_u32, 7, 1 << 20, u32::MAX] {
        let mut entry = concatenated(&stream, &[good]);
        entry.extra[4..8].copy_from_slice(&size.to_le_bytes());
        let outcomes = outcomes(&fatbin(&[entry]));
        assert!(matches!(outcomes[..], [Err(Kind::Table { .. })]), "{outcomes:?}");
    }
    // The bytes before the damage are there.
    let text: Vec<u8> =
        (0..400_000_u32).flat_map(|n| n.wrapping_mul(0x9e37_79b9).to_le_bytes()).collect();
    let end = text.len() as u64 - 64;
    let mut entry = concatenated(&text, &[record(0, 64, 75), record(64, end, 80)]);
    let last = entry.payload.len() - 16;
    entry.payload.truncate(last);
    (entry.size, entry.compressed) = (last as u64, last as u32);
    let outcomes = outcomes(&fatbin(&[entry]));
    assert_eq!(outcomes[0], Ok(text[..64].to_vec()));
    assert!(matches!(outcomes[1], Err(Kind::Damaged { .. })), "{outcomes:?}");
}

#[test]
fn a_damaged_container_is_an_error() {
    let first = |file: &[u8]| outcomes(file).remove(0).unwrap_err();
    let sound = sample("plain.fatbin");
    assert_eq!(first(&sound[..15]), Kind::ContainerHeaderCutOff { size: 15 });
    for (at, byte, kind) in [
        (4, 2, Kind::ContainerVersion { version: 2, header: 16 }),
        (6, 17, Kind::ContainerVersion { version: 1, header: 17 }),
    ] {
        let mut file = sound.clone();
        file[at] = byte;
        assert_eq!(first(&file), kind);
        // Elsewhere in a file it is not an error, because the magic can be other data.
        assert_eq!(outcomes(&[b"x", &file[..]].concat()), []);
    }
    // However large it claims to be, its images and the containers after it are found.
    for size in [sound.len() as u64, 1 << 63, u64::MAX] {
        let file = fatbin_of(size, &sound[16..]);
        let outcomes = outcomes(&file);
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 7);
        let left = sound.len() as u64 - 16;
        assert_eq!(outcomes[7..], [Err(Kind::ContainerCutOff { size, left })]);
        let two = [&file[..], &sound].concat();
        let outcomes = self::outcomes(&two);
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 14);
    }
    // One that claims less.
    let outcomes = outcomes(&fatbin_of(64 + 16, &sound[16..]));
    assert!(matches!(outcomes[..], [Err(Kind::EntryOutside { .. })]), "{outcomes:?}");
}

/// A truncated file has the images that are still whole, and no others.
#[test]
fn truncated_at_every_byte() {
    for name in ["size.fatbin", "concat.fatbin", "lz4.fatbin", "host.obj"] {
        let file = sample(name);
        let whole: Vec<Vec<u8>> = outcomes(&file).into_iter().map(Result::unwrap).collect();
        for length in 0..file.len() {
            let outcomes = outcomes(&file[..length]);
            let sound: Vec<_> =
                outcomes.iter().filter_map(|outcome| outcome.as_ref().ok()).collect();
            // Padding can be missing.
            let is_same = sound.iter().zip(&whole).all(|(sound, whole)| *sound == whole);
            assert!(is_same && sound.len() <= whole.len(), "{name} {length}");
            let is_damaged = outcomes.len() > sound.len();
            let may_be_sound = length < 16 || name == "host.obj" || sound.len() == whole.len();
            assert!(is_damaged || may_be_sound, "{name} {length}");
        }
    }
}

/// A truncated archive, library or program never has fewer images without an error, even if no container is cut.
#[test]
fn no_file_that_is_cut_off_is_a_whole_one() {
    for name in ["lib.a", "lib.so", "program", "unit.o", "host.obj", "plain.fatbin", "kernel.cubin"]
    {
        let file = sample(name);
        let whole = outcomes(&file);
        assert!(whole.iter().all(Result::is_ok), "{name}: {whole:?}");
        for length in (0..file.len()).step_by(if file.len() > 20_000 { 37 } else { 7 }) {
            let outcomes = outcomes(&file[..length]);
            let sound = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
            // A file without images needs no error. The symbols of a COFF object come after its sections.
            let has_all = name == "host.obj" && sound == whole.len();
            assert!(sound == 0 || has_all || outcomes.len() > sound, "{name} {length}");
            assert!(sound <= whole.len() && outcomes.len() <= whole.len() + 1, "{name} {length}");
        }
    }
}

/// The error has the right offset, and sound images keep their names.
#[test]
fn damaged_archives() {
    let fat = fatbin(&[Entry::plain(PTX, 75, b"text")]);
    let file = archive(&[("a.o", &fat), ("b.o", &fat)]);
    let found = |file: &[u8]| {
        let found = GpuCodes::new(file).map(|image| match image {
            Ok(image) => Ok(String::from_utf8_lossy(image.member.unwrap_or(b"-")).into_owned()),
            Err(error) => Err((error.offset, error.kind)),
        });
        found.collect::<Vec<_>>()
    };
    let [a, b] = ["a.o", "b.o"].map(|name| Ok(name.to_owned()));
    assert_eq!(found(&file), [a.clone(), b.clone()]);
    let second = 8 + 60 + fat.len();
    let kind = Kind::MemberCutOff { size: fat.len() as u64, left: 8 };
    let start = second + 60;
    assert_eq!(found(&file[..start + 8]), [a.clone(), Err((start as u64, kind))]);
    let cut = Err((second as u64, Kind::ArchiveMember));
    assert_eq!(found(&file[..second + 59]), [a.clone(), cut.clone()]);
    let mut damaged = file.clone();
    damaged[second + 58] = b'x';
    // The container is found all the same, without a name.
    assert_eq!(found(&damaged), [a, Ok("-".to_owned()), cut]);
    assert_eq!(found(b"!<arch>\nnothing"), [Err((0, Kind::ArchiveHeader))]);
    assert_eq!(found(b"!<arch>\n"), []);
}

/// Members that the symbol table names must be there. Otherwise an archive that is cut between two members would look
/// whole.
#[test]
fn archives_that_end_between_members() {
    let fat = fatbin(&[Entry::plain(PTX, 75, b"text")]);
    let table =
        |offset: u32| [&1_u32.to_be_bytes()[..], &offset.to_be_bytes(), b"main\0\0"].concat();
    let file = |offset: u32| archive(&[("", &table(offset)), ("a.o", &fat)]);
    let (first, end) = (8 + 60 + 14, file(0).len() as u32);
    assert_eq!(outcomes(&file(first)).len(), 1);
    let missing = Kind::MemberMissing { size: end.into() };
    assert_eq!(outcomes(&file(end))[1], Err(missing));
}

/// Obfuscated LTO-IR, which only NVIDIA's tools can decompress, hides no other image.
#[test]
fn obfuscated_entries_are_named() {
    let file = sample("obfuscated-ltoir.fatbin");
    let images: Vec<_> = GpuCodes::new(&file).map(Result::unwrap).collect();
    assert_eq!((images.len(), images[0].kind), (1, GpuCodeKind::Other(8)));
    assert_eq!(outcomes(&file), [Err(Kind::Obfuscated { size: 4928 })]);
    // Without the flag or the key the payload is read like any other.
    for change in [42, 48] {
        let mut file = file.clone();
        file[16 + change..][..if change == 42 { 1 } else { 8 }].fill(0);
        assert!(matches!(outcomes(&file)[..], [Err(Kind::Damaged { .. })]), "{change}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Images in other containers are not changed by damage.
    #[test]
    fn random_changes_stay_local(
        name in prop::sample::select(vec!["size.fatbin", "concat.fatbin", "debug.fatbin", "host.obj"]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let sound = sample("ptx-only.fatbin");
        let mut file = sample(name);
        for (at, byte) in changes {
            let at = at.index(file.len());
            file[at] = byte;
        }
        let _ = outcomes(&file);
        let both = [&sound[..], &file].concat();
        prop_assert_eq!(outcomes(&both)[0].clone(), outcomes(&sound)[0].clone());
    }

    #[test]
    fn any_bytes_after_a_header(entries in prop::collection::vec(any::<u8>(), 0..300)) {
        let file = fatbin_of(entries.len() as u64, &entries);
        let count = outcomes(&file).len();
        prop_assert!(count <= entries.len());
    }
}

#[test]
fn an_image_is_an_image_whatever_it_holds() {
    let file = fatbin(&[Entry::plain(ELF, 90, b"not ELF")]);
    let images: Vec<_> = GpuCodes::new(&file).map(Result::unwrap).collect();
    assert_eq!((images[0].kind, bytes(&images[0])), (GpuCodeKind::Cubin, b"not ELF\0".to_vec()));
    assert_eq!(images[0].read().unwrap().sm.unwrap().number(), 90);
}
