//! Large arenas on Linux: huge pages, and the amount of memory left. Other systems have neither here.

/// The size from which an arena is large: worth huge pages, and worth asking whether there is enough memory.
pub(super) const LARGE: usize = 64 << 20;

/// Zeroes on huge pages; `None` if they would be few or the system does not have such pages.
#[cfg(all(feature = "mmap", target_os = "linux"))]
pub(super) fn huge_pages(size: usize) -> Option<memmap2::MmapMut> {
    if size < LARGE {
        return None;
    }
    let map = memmap2::MmapMut::map_anon(size).ok()?;
    // Before the first write, which takes the pages.
    map.advise(memmap2::Advice::HugePage).ok()?;
    Some(map)
}

#[cfg(all(feature = "mmap", not(target_os = "linux")))]
pub(super) fn huge_pages(_: usize) -> Option<memmap2::MmapMut> {
    None
}

/// The memory that can be allocated without swapping; 64 GiB if the system does not tell.
pub(super) fn available() -> u64 {
    let told = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1 << 10)
    });
    told.unwrap_or(64 << 30)
}
