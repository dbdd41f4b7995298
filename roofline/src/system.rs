//! What only some systems and processors have: Linux's available memory, Unix's processor time, the
//! prefetch of x86-64.

#[cfg(not(unix))]
pub(crate) use crate::measure::wall_time as cpu_time;

/// Returns the available memory in bytes, as Linux reports it; `None` on other systems.
pub(crate) fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// Returns the processor time of all threads of this process: other processes on the same cores do not
/// count. Other systems than Unix have the time that has passed instead.
#[cfg(unix)]
pub(crate) fn cpu_time() -> std::time::Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ProcessCPUTime);
    // A process's time is never negative, and its nanoseconds are fewer than 10^9.
    std::time::Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Asks the processor to have the bytes at `place` at hand soon; other processors than x86-64 are not
/// asked.
#[inline(always)]
#[allow(unsafe_code)]
pub(crate) fn prefetch(place: *const [u8; 4]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch neither reads nor faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
