//! [`Races`]: finds data races in shared and in global memory.
//!
//! Two threads race if both access a byte, at least one writes, nothing orders the two ([`BlockOrder`]), and the
//! accesses are not morally strong: both strong, to the same bytes in full, with scopes that have both threads. [PTX ISA,
//! "Memory Consistency Model"] Whether a write changes a byte does not matter, because a race that equal bytes hide in
//! one launch shows in the next one. One case is none: lanes of one instruction that store the same value. [CUDA C++
//! Programming Guide, "SIMT Architecture": which of them writes is undefined, that one does is not]
//!
//! Of the accesses to a byte, those are kept that the latest ones do not order, because an access that races with an
//! earlier one races with each later one, too. [FastTrack] A weak access also stays beside later strong ones, which other
//! strong ones do not race with. Of accesses that nothing orders, such as the reads of many blocks, a cell holds the first
//! and the last one, and a list those between: up to 14 for a cell, and a million in all.
//!
//! A strong access also knows what it has observed: the strong write that it reads, and the chain of atomic operations
//! between. What is ordered after it is ordered after these, but only at these bytes. [PTX ISA, "Causality Order"]

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::mem::take;
use std::ops::Range;

use crate::code::Site;
use crate::order::{BlockOrder, Moments, Performers, Releases, Scope};
use crate::warp::lanes;
use warpload::memory::{AddressMap, AddressSpace, Window};

/// The bytes with a common allocation of their history.
const PAGE: u64 = 256;

/// The most accesses between the first and the last one of a cell, and of all cells.
const MORE_OF_CELL: usize = 14;

/// The most strong reads that are remembered at a place.
const MOST_OBSERVERS: usize = 16;
const MORE: usize = 1 << 20;

/// The most bytes of a cell. It has fewer once an access to its page was to parts of such words.
const WORD: u64 = 4;

/// The part of a warp that makes an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Performer {
    Lane(usize),
    /// The lanes of a mask together. No documentation says which lane accesses which element of a `wmma` fragment,
    /// except that fragments of the same kind are distributed alike.
    Warp(u32),
}

/// The kinds of `wmma` fragments with a distribution of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FragmentKind {
    /// The left factor.
    A = 1,
    /// The right factor.
    B,
    /// The sum, and the addend.
    Accumulator,
}

/// A byte that several threads can access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// An offset in the shared memory of the block.
    Shared(u64),
    /// An address.
    Global(u64),
}

impl Place {
    /// The place of an address; `None` in local memory, which is the thread's own, and in constant banks.
    #[inline(always)]
    pub(crate) fn of(space: AddressSpace, address: u64, map: &AddressMap) -> Option<Self> {
        let inside = |window: Window| {
            let offset = address.wrapping_sub(window.base);
            Some(offset).filter(|offset| *offset < window.size)
        };
        match space {
            AddressSpace::Shared => Some(Self::Shared(address)),
            AddressSpace::Global => Some(Self::Global(address)),
            AddressSpace::Generic => match (inside(map.shared()), inside(map.local())) {
                (Some(offset), _) => Some(Self::Shared(offset)),
                (None, Some(_)) => None,
                (None, None) => Some(Self::Global(address)),
            },
            AddressSpace::Local | AddressSpace::Constant { .. } => None,
        }
    }
}

/// An access of a warp: the parts that all of its lanes share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckedAccess {
    /// The size of each lane's access, and of an element of it, in bytes.
    pub(crate) bytes: u32,
    pub(crate) size: u32,
    pub(crate) is_write: bool,
    /// The scope of a strong access.
    pub(crate) strong: Option<Scope>,
    /// Whether a write is atomic.
    pub(crate) is_atomic: bool,
    /// Whether it gives the thread a value. One that does not (`red`) tells it nothing about others.
    pub(crate) reads: bool,
    pub(crate) warp: u32,
    pub(crate) site: Site,
    /// Whether `cp.async` performs it.
    pub(crate) is_copy: bool,
}

/// What the other access of a race did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherAccess {
    /// It read the bytes.
    Read,
    /// It wrote them, or changed them atomically.
    Write,
    /// It is a `cp.async`, which may not have ended.
    Copy,
}

/// The reason why nothing orders two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unordered {
    /// They are by lanes of one warp.
    Warp,
    /// They are by warps of one block.
    Block,
    /// They are by different blocks.
    Grid,
    /// The same, and both are strong, but one's scope is only its block.
    Scope,
    /// Both are strong, but not to the same bytes in full.
    Overlap,
    /// One of them is a `cp.async`.
    Copy,
}

/// A race of an access with an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Race {
    pub(crate) other: Site,
    pub(crate) access: OtherAccess,
    pub(crate) reason: Unordered,
    /// The number of the other thread in its block, and that of its block.
    pub(crate) thread: u32,
    pub(crate) block: u32,
    /// The lane that races, and the first byte.
    pub(crate) lane: usize,
    pub(crate) place: Place,
}

/// Accesses to a byte by lanes of one warp at one instruction and moment. Without lanes, it is none. Packed, because there
/// are five for each word of memory.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, packed(2))]
struct Record {
    moment: u32,
    block: u32,
    lanes: u32,
    site: u32,
    warp: u8,
    /// From bit 0 on: strength, size, copy, kind of fragment.
    kind: u8,
}

/// The accesses to a cell.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    /// The last weak one, and the first and the last strong one.
    writes: [Record; 3],
    /// The first and the last one.
    reads: [Record; 2],
}

/// The cells of a page: of words, of halves, or of bytes, whichever all accesses to it were to whole ones of.
#[derive(Debug)]
struct Page {
    cells: Vec<Cell>,
    /// The bytes of a cell, as a power of two.
    size: u32,
    more: Lists,
    /// The strong reads at each offset.
    observers: HashMap<u64, Observers>,
}

/// A strong read, or an atomic operation.
#[derive(Clone, Copy, Debug)]
struct Observer {
    read: Record,
    /// The write that it reads, or that with which the chain of atomic operations begins that it reads.
    from: u32,
    is_write: bool,
}

/// The strong reads of a place that may have observed different writes.
#[derive(Debug, Default)]
struct Observers {
    all: Vec<Observer>,
    /// The moment of the last strong write, and of the last one that does not read.
    written: u32,
    from: u32,
    /// Those before this moment may have been forgotten.
    forgotten: u32,
}

impl Observers {
    /// Notes a strong access. Returns the number of remembered reads that it adds.
    fn note(&mut self, access: &CheckedAccess, this: &Record, has_room: bool) -> usize {
        let before = self.all.len();
        let CheckedAccess { is_write, is_atomic, reads, .. } = *access;
        if reads {
            let from = self.from;
            let has_seen_all = |of: &Observer| {
                let read = &of.read;
                read.moment >= self.written
                    && !of.is_write
                    && read.kind == this.kind
                    && read.is_of_warp(this)
                    && this.lanes & !read.lanes == 0
            };
            let is_known = !is_write && self.all.iter().any(has_seen_all);
            match self.all.last_mut() {
                _ if is_known => {}
                Some(last) if last.read.is_alike(this) && last.is_write == is_write => {
                    last.read.add(this);
                }
                _ if !has_room => self.forgotten = this.moment + 1,
                _ => {
                    if self.all.len() == MOST_OBSERVERS {
                        self.forgotten = self.all.remove(0).read.moment + 1;
                    }
                    self.all.push(Observer { read: *this, from, is_write });
                }
            }
        }
        if is_write {
            self.written = this.moment;
            self.from = if is_atomic { self.from } else { this.moment };
        }
        self.all.len() - before
    }
}

/// The accesses between the first and the last one of each cell of a page, each with whether it is a write.
#[derive(Debug, Default)]
struct Lists {
    lists: HashMap<usize, Vec<(Record, bool)>>,
    /// The cells with a list, and with a full one.
    some: [u64; 4],
    full: [u64; 4],
}

/// Whether a cell has a list.
enum More {
    None,
    Some,
    Full,
}

impl Lists {
    #[inline(always)]
    fn get(&self, at: usize) -> More {
        let is_in = |cells: &[u64; 4]| cells[at / 64 % 4] >> (at % 64) & 1 != 0;
        match (is_in(&self.some), is_in(&self.full)) {
            (false, _) => More::None,
            (true, false) => More::Some,
            (true, true) => More::Full,
        }
    }

    /// Adds a read.
    fn push(&mut self, at: usize, read: Record) {
        let list = self.lists.entry(at).or_default();
        list.push((read, false));
        let count = list.len();
        self.mark(at, count);
    }

    fn mark(&mut self, at: usize, count: usize) {
        self.some[at / 64 % 4] |= 1 << (at % 64);
        self.full[at / 64 % 4] |= u64::from(count >= MORE_OF_CELL) << (at % 64);
    }

    fn take(&mut self, at: usize) -> Vec<(Record, bool)> {
        self.some[at / 64 % 4] &= !(1 << (at % 64));
        self.full[at / 64 % 4] &= !(1 << (at % 64));
        self.lists.remove(&at).unwrap_or_default()
    }

    fn put(&mut self, at: usize, list: Vec<(Record, bool)>) {
        if !list.is_empty() {
            self.mark(at, list.len());
            self.lists.insert(at, list);
        }
    }
}

/// Spreads page numbers by a multiplication: they are not chosen by an attacker, only by the kernel itself.
#[derive(Default)]
struct PageHasher(u64);

impl Hasher for PageHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }
}

/// The history of a memory, in pages.
#[derive(Debug, Default)]
pub(crate) struct History {
    pages: Vec<Page>,
    numbers: HashMap<u64, usize, BuildHasherDefault<PageHasher>>,
    /// The page of the last access.
    last: Option<(u64, usize)>,
}

impl History {
    fn page(&mut self, number: u64) -> &mut Page {
        let at = match self.last {
            Some((last, at)) if last == number => at,
            _ => *self.numbers.entry(number).or_insert(self.pages.len()),
        };
        self.last = Some((number, at));
        if at >= self.pages.len() {
            let cells = vec![Cell::default(); (PAGE / WORD) as usize];
            let (size, more) = (WORD.ilog2(), Lists::default());
            self.pages.push(Page { cells, size, more, observers: HashMap::new() });
        }
        &mut self.pages[at]
    }

    /// Forgets the accesses to bytes, which are another variable from now on.
    pub(crate) fn forget(&mut self, start: u64, bytes: u64) {
        for number in start / PAGE..=start.saturating_add(bytes) / PAGE {
            let Some(page) = self.numbers.get(&number).and_then(|at| self.pages.get_mut(*at))
            else {
                continue;
            };
            let is_forgotten =
                |at: u64| (start..start.saturating_add(bytes)).contains(&(number * PAGE + at));
            page.observers.retain(|at, _| !is_forgotten(*at));
            for (at, cell) in page.cells.iter_mut().enumerate() {
                if is_forgotten((at as u64) << page.size) {
                    *cell = Cell::default();
                    page.more.take(at);
                }
            }
        }
    }
}

impl Page {
    /// The numbers of the cells of bytes in the page.
    #[inline(always)]
    fn cells(&mut self, start: u64, bytes: u64) -> Range<usize> {
        let size = (start | bytes).trailing_zeros();
        if size < self.size {
            let count = 1 << (self.size - size);
            self.cells = self
                .cells
                .iter()
                .flat_map(|cell| [*cell; WORD as usize].into_iter().take(count))
                .collect();
            for (at, list) in take(&mut self.more).lists {
                for part in 0..count {
                    self.more.put(at * count + part, list.clone());
                }
            }
            self.size = size;
        }
        (start >> self.size) as usize..((start + bytes) >> self.size) as usize
    }
}

/// The race detector of a launch.
#[derive(Debug, Default)]
pub(crate) struct Races {
    pub(crate) moments: Moments,
    global: History,
    pub(crate) releases: Releases,
    /// Earlier accesses are not judged, because an instruction that is not executed may order them.
    judged_from: u32,
    /// The number of accesses in lists, and of strong reads.
    more: usize,
    observers: usize,
    /// The races of an instruction, each other instruction once for each lane.
    found: Vec<Race>,
}

impl Races {
    /// Judges nothing between accesses up to now and later ones.
    pub(crate) fn forgive(&mut self, order: &mut BlockOrder) {
        order.pass_barrier(&mut self.moments);
        self.judged_from = self.moments.now();
    }

    /// Forgets the accesses to bytes of global memory.
    pub(crate) fn forget(&mut self, start: u64, bytes: u64) {
        self.global.forget(start, bytes);
    }

    /// The last write of a place.
    pub(crate) fn last_write(&self, place: Place, shared: &History) -> Option<Site> {
        let (history, at) = match place {
            Place::Shared(at) => (shared, at),
            Place::Global(at) => (&self.global, at),
        };
        let page = history.pages.get(*history.numbers.get(&(at / PAGE))?)?;
        let cell = page.cells.get(((at % PAGE) >> page.size) as usize)?;
        let written = cell.writes.iter().filter(|write| write.lanes != 0);
        written.max_by_key(|write| write.moment).map(|write| Site(write.site))
    }

    /// The races that [`Self::access`] has found since the last call.
    pub(crate) fn take_found(&mut self) -> Vec<Race> {
        take(&mut self.found)
    }

    /// Records the accesses of lanes to their places. `are_equal` is whether two lanes store the same.
    pub(crate) fn access(
        &mut self,
        access: &CheckedAccess,
        exec: u32,
        place: impl Fn(usize) -> Option<Place>,
        are_equal: &dyn Fn(usize, usize) -> bool,
        order: &BlockOrder,
        shared: &mut History,
    ) {
        let this = Record::new(access, (0, 0), order.number, self.moments.now());
        let performer = Performer::Lane(0);
        let (from, is_atomic) = (self.judged_from, access.is_atomic);
        let mut judge = Judge { this, performer, is_atomic, are_equal, order, from };
        let mut left = exec;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            let Some(at) = place(lane) else { continue };
            let mut same: u32 = 1 << lane;
            // Lanes that read the same are one access, unless it has to be judged.
            while !access.is_write
                && left != 0
                && left.trailing_zeros() as usize == lane + same.count_ones() as usize
                && place(left.trailing_zeros() as usize) == Some(at)
            {
                same |= left & left.wrapping_neg();
                left &= left - 1;
            }
            judge.this.lanes = same;
            self.judge(access, at, &mut judge, shared);
        }
    }

    /// Records an access that lanes make together.
    pub(crate) fn access_together(
        &mut self,
        access: &CheckedAccess,
        (mask, kind): (u32, FragmentKind),
        place: Place,
        order: &BlockOrder,
        shared: &mut History,
    ) {
        let this = Record::new(access, (mask, kind as u8), order.number, self.moments.now());
        let performer = Performer::Warp(mask);
        let (are_equal, from) = (&|_: usize, _: usize| false, self.judged_from);
        let mut judge = Judge { this, performer, is_atomic: false, are_equal, order, from };
        self.judge(access, place, &mut judge, shared);
    }

    fn judge(
        &mut self,
        access: &CheckedAccess,
        place: Place,
        judge: &mut Judge<'_>,
        shared: &mut History,
    ) {
        if self.moments.are_over() {
            return;
        }
        let (history, mut at, is_shared) = match place {
            Place::Shared(start) => (shared, start, true),
            Place::Global(start) => (&mut self.global, start, false),
        };
        let end = at.saturating_add(access.bytes.into());
        let mask = judge.this.lanes;
        while at < end {
            let number = at / PAGE;
            let part = (end - at).min((number + 1) * PAGE - at);
            let page = history.page(number);
            let cells = page.cells(at % PAGE, part);
            let Page { cells: all, size, more: lists, observers } = page;
            for at in cells {
                let Some(cell) = all.get_mut(at) else { continue };
                if is_shared {
                    cell.forget_others(judge.order.number);
                }
                let list = lists.get(at);
                let is_usual = !access.is_write || matches!(list, More::None);
                let added = if is_usual { judge.add_at_once(cell, access.is_write) } else { None };
                if let Some(between) = added {
                    if let (Some(between), false) = (between, matches!(list, More::Full))
                        && self.more < MORE
                    {
                        self.more += 1;
                        lists.push(at, between);
                    }
                    continue;
                }
                let mut more = lists.take(at);
                // The lists of a page that got smaller cells are copies.
                self.more = self.more.saturating_sub(more.len());
                if is_shared {
                    more.retain(|other| { other.0.block } == judge.order.number);
                }
                let mut report = |judge: &Judge<'_>, other: &Record, access, lane, thread| {
                    let (block, reason) = (other.block, judge.reason(other));
                    let other = Site(other.site);
                    let race = Race { other, access, reason, thread, block, lane, place };
                    let is_same = |of: &&mut Race| (of.other, of.lane) == (other, lane);
                    match self.found.iter_mut().find(is_same) {
                        Some(known) if known.reason < reason => *known = race,
                        Some(_) => {}
                        None => self.found.push(race),
                    }
                };
                let place = (at as u64) << *size;
                let observers = |write: &Record| observers.get(&(place & !(write.size() - 1)));
                if matches!(judge.performer, Performer::Warp(_)) {
                    judge.add((cell, &mut more), access.is_write, &observers, &mut report);
                } else {
                    for lane in lanes(mask) {
                        judge.performer = Performer::Lane(lane);
                        judge.this.lanes = 1 << lane;
                        judge.add((cell, &mut more), access.is_write, &observers, &mut report);
                    }
                    judge.this.lanes = mask;
                }
                more.truncate(MORE_OF_CELL.min(MORE.saturating_sub(self.more)));
                self.more += more.len();
                lists.put(at, more);
            }
            if access.strong.is_some() {
                let (mut place, size) = (at % PAGE, judge.this.size());
                while place < at % PAGE + part {
                    let has_room = self.observers < MORE;
                    let observers = observers.entry(place).or_default();
                    self.observers += observers.note(access, &judge.this, has_room);
                    place += size;
                }
            }
            at += part;
        }
    }
}

impl Record {
    fn new(access: &CheckedAccess, (lanes, fragment): (u32, u8), block: u32, moment: u32) -> Self {
        let strength = match access.strong {
            None => 0,
            Some(Scope::Block) => 1,
            Some(Scope::Device) => 2,
        };
        let size = access.size.trailing_zeros() as u8 & 7;
        let kind = strength | size << 2 | u8::from(access.is_copy) << 5 | fragment << 6;
        let (warp, site) = (access.warp as u8, access.site.0);
        Self { moment, block, lanes, site, warp, kind }
    }

    fn performers(&self) -> Performers {
        Performers {
            block: self.block,
            warp: self.warp,
            lanes: self.lanes,
            is_copy: self.is_copy(),
        }
    }

    /// The size of an element, in bytes.
    fn size(&self) -> u64 {
        1 << (self.kind >> 2 & 7)
    }

    fn strength(&self) -> u8 {
        self.kind & 3
    }

    fn is_copy(&self) -> bool {
        self.kind >> 5 & 1 != 0
    }

    /// Whether the other one is by the same warp, at the same instruction and moment.
    fn is_alike(&self, other: &Self) -> bool {
        let all = |of: &Self| (of.moment, of.block, of.warp, of.site, of.kind);
        all(self) == all(other)
    }

    /// Whether nothing is lost if another access takes its place.
    fn is_replaced_by(&self, this: &Self) -> bool {
        self.lanes == 0 || self.is_alike(this) || { self.block } == this.block
    }

    /// Joins lanes that do the same, or takes the place of another access.
    fn add(&mut self, this: &Self) {
        let lanes = if self.is_alike(this) { self.lanes } else { 0 };
        *self = Self { lanes: lanes | this.lanes, ..*this };
    }

    fn is_same_fragment(&self, other: &Self) -> bool {
        self.kind >> 6 != 0 && self.kind >> 6 == other.kind >> 6 && self.is_of_warp(other)
    }

    fn is_of_warp(&self, other: &Self) -> bool {
        let of = |of: &Self| (of.block, of.warp);
        of(self) == of(other)
    }

    /// Whether two strong accesses are morally strong.
    fn are_strong(&self, other: &Self) -> bool {
        let least = self.strength().min(other.strength());
        least > u8::from({ self.block } != other.block) && (self.kind ^ other.kind) >> 2 & 7 == 0
    }
}

impl Cell {
    /// Forgets the accesses of earlier blocks to shared memory, which was another one.
    fn forget_others(&mut self, block: u32) {
        for record in self.writes.iter_mut().chain(&mut self.reads) {
            if { record.block } != block {
                record.lanes = 0;
            }
        }
    }
}

/// How an earlier access stands to the present one.
enum Relation {
    Ordered,
    /// Not ordered, and no race.
    Allowed,
    /// Not ordered: the lane, and the thread of the earlier one.
    Races(usize, u32),
}

/// Judges an access.
struct Judge<'o> {
    this: Record,
    performer: Performer,
    is_atomic: bool,
    are_equal: &'o dyn Fn(usize, usize) -> bool,
    order: &'o BlockOrder,
    from: u32,
}

impl Judge<'_> {
    /// Adds a weak access to a cell whose other accesses are before the last barrier of the block, or by the same lane.
    /// Returns `None` if they have to be judged one by one, else an access that has lost its place in the cell.
    #[inline(always)]
    fn add_at_once(&self, cell: &mut Cell, is_write: bool) -> Option<Option<Record>> {
        let this = &self.this;
        let is_before = |other: &Record| {
            other.lanes == 0
                || self.order.is_before_barrier(other.block, other.moment) && !other.is_copy()
                || other.lanes == { this.lanes }
                    && this.lanes.is_power_of_two()
                    && other.is_of_warp(this)
                    && !other.is_copy()
        };
        let is_usual = this.kind & !(7 << 2) == 0 && cell.writes.iter().all(is_before);
        let [first, last] = &mut cell.reads;
        match is_write {
            _ if !is_usual => return None,
            true if !is_before(first) || !is_before(last) => return None,
            true => {
                *cell = Cell {
                    writes: [*this, Record::default(), Record::default()],
                    ..Cell::default()
                }
            }
            false if is_before(first) || first.is_alike(this) => first.add(this),
            false if self.order.knows_barriers_only() => {
                let before = *last;
                last.add(this);
                // Barriers order all reads of this block or none.
                return Some(Some(before).filter(|before| !before.is_replaced_by(this)));
            }
            false => return None,
        }
        Some(None)
    }

    /// Adds the access to a cell, and reports the accesses that it races with.
    fn add<'p>(
        &self,
        (cell, more): (&mut Cell, &mut Vec<(Record, bool)>),
        is_write: bool,
        observers: &impl Fn(&Record) -> Option<&'p Observers>,
        report: &mut impl FnMut(&Self, &Record, OtherAccess, usize, u32),
    ) {
        let Cell { writes, reads } = cell;
        let writes_here = writes.iter_mut().map(|of| (of, true));
        let reads_here = reads.iter_mut().map(|of| (of, false));
        let others = more.iter_mut().map(|(of, is_write)| (of, *is_write));
        for (other, is_other_write) in writes_here.chain(reads_here).chain(others) {
            let conflicts = is_write || is_other_write;
            let observers = observers(other).filter(|_| is_other_write);
            match self.relation(other, is_write && is_other_write, observers) {
                // What its thread has observed is before a write that later accesses observe.
                Relation::Allowed
                    if is_write
                        && other.strength() == self.this.strength()
                        && observers
                            .is_some_and(|of| !self.is_atomic || other.moment < of.from) =>
                {
                    let is_left = |by: &usize| {
                        let of_lane = Record { lanes: 1 << by, ..*other };
                        self.unobserved(&of_lane, observers).is_some()
                    };
                    other.lanes =
                        lanes(other.lanes).filter(is_left).fold(0, |all, by| all | 1 << by);
                    continue;
                }
                Relation::Allowed => continue,
                Relation::Races(lane, thread) if conflicts => {
                    let access = match (is_other_write, other.is_copy()) {
                        (_, true) => OtherAccess::Copy,
                        (true, false) => OtherAccess::Write,
                        (false, false) => OtherAccess::Read,
                    };
                    report(self, other, access, lane, thread);
                }
                Relation::Races(..) => continue,
                // It may race with an access that does not race with this one.
                Relation::Ordered
                    if self.this.strength() > 0 && other.strength() != self.this.strength() =>
                {
                    continue;
                }
                Relation::Ordered => {}
            }
            // A read does not take the place of a write.
            if is_write || !is_other_write {
                other.lanes = 0;
            }
        }
        more.retain(|(other, _)| other.lanes != 0);
        let [first, last] = match (is_write, self.this.strength()) {
            (false, _) => reads,
            (true, 0) => return writes[0].add(&self.this),
            (true, _) => {
                let [_, strong @ ..] = writes;
                strong
            }
        };
        if first.lanes == 0 || first.is_alike(&self.this) {
            return first.add(&self.this);
        }
        if last.lanes != 0 && !last.is_alike(&self.this) {
            more.push((*last, is_write));
        }
        last.add(&self.this);
    }

    #[inline(always)]
    fn relation(&self, other: &Record, is_write: bool, observers: Option<&Observers>) -> Relation {
        let this = &self.this;
        if other.lanes == 0 || other.moment < self.from || this.is_same_fragment(other) {
            return Relation::Ordered;
        }
        let Some((lane, by)) = self.unknown(other, |_| other.lanes) else {
            return Relation::Ordered;
        };
        // Lanes of one instruction.
        let are_equal = || lanes(other.lanes).all(|by| (self.are_equal)(lane, by));
        if this.are_strong(other) || is_write && this.is_alike(other) && are_equal() {
            return Relation::Allowed;
        }
        let found = match observers {
            Some(_) => self.unobserved(other, observers),
            None => Some((lane, by)),
        };
        found.map_or(Relation::Ordered, |(lane, by)| {
            Relation::Races(lane, u32::from(other.warp) * 32 + by)
        })
    }

    /// The first lane that does not know an earlier access, and the lane of that. `of` returns the lanes of the earlier
    /// access that a lane has to know.
    fn unknown(&self, other: &Record, of: impl Fn(usize) -> u32) -> Option<(usize, u32)> {
        let unknown = |lane: usize| {
            let by = Performers { lanes: of(lane), ..other.performers() };
            let warp = self.this.warp.into();
            Some((lane, self.order.unknown(warp, lane, &by, other.moment)?))
        };
        match self.performer {
            Performer::Lane(lane) => unknown(lane),
            Performer::Warp(mask) => lanes(mask).find_map(unknown),
        }
    }

    /// [`Self::unknown`], without what an access has observed that is before this one.
    fn unobserved(&self, write: &Record, observers: Option<&Observers>) -> Option<(usize, u32)> {
        let all = observers.map_or(&[][..], |observers| &observers.all);
        if write.strength() != 0 && observers.is_some_and(|of| write.moment < of.forgotten) {
            return None;
        }
        self.unknown(write, |lane| {
            let mut left = write.lanes;
            for Observer { read, from, is_write } in all {
                // One whose scope does not have the write observes it through others, or has raced with it.
                let is_seen = *from <= write.moment && write.moment <= read.moment;
                if !is_seen || write.strength() == 0 || read.size() != write.size() {
                    continue;
                }
                for by in lanes(read.lanes) {
                    // Lanes of one instruction observe those before them.
                    let is_one = *is_write && read.moment == { write.moment };
                    let seen = if is_one { (1 << by) - 1 } else { u32::MAX };
                    let reader = Performers { lanes: 1 << by, ..read.performers() };
                    let unknown =
                        || self.order.unknown(self.this.warp.into(), lane, &reader, read.moment);
                    if left & seen != 0 && unknown().is_none() {
                        left &= !seen;
                    }
                }
            }
            left
        })
    }

    /// Why nothing orders the access and another one.
    fn reason(&self, other: &Record) -> Unordered {
        let this = &self.this;
        match () {
            () if this.is_copy() || other.is_copy() => Unordered::Copy,
            () if this.strength().min(other.strength()) > 0 => {
                let is_of_scope = (this.kind ^ other.kind) >> 2 & 7 == 0;
                if is_of_scope { Unordered::Scope } else { Unordered::Overlap }
            }
            () if { this.block } != other.block => Unordered::Grid,
            () if this.warp != other.warp => Unordered::Block,
            () => Unordered::Warp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::{CopyGroups, Fence, Strong};

    const BLOCKS: usize = 2;
    const WARPS: usize = 2;
    /// The lanes of a warp.
    const WIDTH: usize = 3;
    const THREADS: usize = BLOCKS * WARPS * WIDTH;

    /// What is known of each thread's accesses, and of each one's copies: how many come before.
    type Known = [u32; 2 * THREADS];

    fn join(known: &mut Known, other: &Known) {
        known.iter_mut().zip(other).for_each(|(here, there)| *here = (*here).max(*there));
    }

    /// Numbers that are the same in every run.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, end: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 33) as usize % end
        }
    }

    /// An access, with the number of the thread or its copies, and its own time.
    #[derive(Clone)]
    struct Made {
        by: usize,
        time: u32,
        place: usize,
        writes: bool,
        scope: Option<Scope>,
        site: u32,
        /// The accesses whose values it has read, directly or through atomic operations.
        observed: Vec<usize>,
        /// The accesses to the same place that are before it, and those that were before what it has observed.
        before: Vec<usize>,
    }

    impl Made {
        fn block(&self) -> usize {
            self.by % THREADS / (WARPS * WIDTH)
        }

        fn is_strong_with(&self, other: &Self) -> bool {
            let is_near = self.block() == other.block();
            let has_both = |of: Option<Scope>| of.is_some_and(|of| is_near || of == Scope::Device);
            has_both(self.scope) && has_both(other.scope)
        }
    }

    /// Happens-before by plain vector clocks, for comparison.
    #[derive(Default)]
    struct Exact {
        known: [Known; THREADS],
        fenced: [[Known; 2]; THREADS],
        has_fenced: [[bool; 2]; THREADS],
        observed: [[Known; 2]; THREADS],
        /// What was released at the flag: to each block, and to all, with the block that it is from.
        flag: [Known; BLOCKS],
        flag_block: Option<usize>,
        flag_all: Known,
        flag_from: Vec<usize>,
        /// The thread that has released there last.
        flag_by: Option<usize>,
        pending: [Known; BLOCKS],
        ended: [Known; BLOCKS],
        groups: [Vec<u32>; THREADS],
        times: [u32; 2 * THREADS],
        made: Vec<Made>,
        /// The strong writes of each place that a strong read observes now.
        chains: [Vec<usize>; 3],
    }

    impl Exact {
        /// The present time of a thread's own accesses is known to itself.
        fn now(&self, thread: usize) -> Known {
            let mut known = self.known[thread];
            known[thread] = self.times[thread];
            known
        }
    }

    struct Both {
        exact: Exact,
        races: Races,
        orders: [BlockOrder; BLOCKS],
        shared: History,
        has_raced: [bool; 3],
        reported: usize,
        racing: usize,
    }

    fn of(block: usize, warp: usize, mask: u32) -> impl Iterator<Item = usize> + Clone {
        let first = (block * WARPS + warp) * WIDTH;
        (0..WIDTH).filter(move |lane| mask >> lane & 1 != 0).map(move |lane| first + lane)
    }

    impl Both {
        fn new() -> Self {
            let mut races = Races::default();
            let mut orders: [BlockOrder; BLOCKS] = Default::default();
            for (number, order) in orders.iter_mut().enumerate() {
                let warps = [(1 << WIDTH) - 1; WARPS].into_iter();
                order.begin(number as u32, warps, &mut races.moments);
            }
            let (exact, shared) = (Exact::default(), History::default());
            Self { exact, races, orders, shared, has_raced: [false; 3], reported: 0, racing: 0 }
        }

        fn step(&mut self, numbers: &mut Numbers) {
            let (block, warp, lane) =
                (numbers.below(BLOCKS), numbers.below(WARPS), numbers.below(WIDTH));
            let thread = (block * WARPS + warp) * WIDTH + lane;
            let (number, bit) = (warp as u32, 1_u32 << lane);
            let mask = numbers.below(1 << WIDTH) as u32 | bit;
            let scope = [Scope::Block, Scope::Device][numbers.below(2)];
            let Self { exact, races, orders, .. } = self;
            let order = &mut orders[block];
            let moments = &mut races.moments;
            match numbers.below(26) {
                0 => {
                    order.pass_barrier(moments);
                    let all = (0..WARPS).flat_map(|warp| of(block, warp, u32::MAX));
                    let mut known = Known::default();
                    all.clone().for_each(|thread| join(&mut known, &exact.now(thread)));
                    all.for_each(|thread| exact.known[thread] = known);
                }
                1..4 => {
                    order.meet(number, mask, moments);
                    let mut known = Known::default();
                    of(block, warp, mask).for_each(|thread| join(&mut known, &exact.now(thread)));
                    of(block, warp, mask).for_each(|thread| exact.known[thread] = known);
                }
                4 => {
                    // A barrier of some threads: lanes of one warp arrive, those of another wait.
                    let other = numbers.below(WARPS);
                    let waiting = numbers.below(1 << WIDTH) as u32 | 1;
                    let mut clock = order.release(number, mask, moments);
                    clock.join(&order.release(other as u32, waiting, moments));
                    order.acquire(other as u32, waiting, &clock.into());
                    let mut known = Known::default();
                    let both = of(block, warp, mask).chain(of(block, other, waiting));
                    both.for_each(|thread| join(&mut known, &exact.now(thread)));
                    of(block, other, waiting).for_each(|at| join(&mut exact.known[at], &known));
                }
                5 | 6 => {
                    let fence = Fence { scope, releases: true, acquires: true, is_sc: false };
                    order.fence(number, bit, fence, moments);
                    let count = if scope == Scope::Device { 2 } else { 1 };
                    for level in 0..count {
                        let seen = std::mem::take(&mut exact.observed[thread][level]);
                        join(&mut exact.known[thread], &seen);
                    }
                    for level in 0..count {
                        exact.fenced[thread][level] = exact.now(thread);
                        exact.has_fenced[thread][level] = true;
                    }
                }
                7 | 8 => {
                    // A strong access to the flag, which may be atomic, with or without an order of its own.
                    let (is_atomic, reads) = (numbers.below(2) == 0, numbers.below(2) == 0);
                    let [releases, acquires] = [0, 1].map(|_| numbers.below(3) == 0);
                    let strong = Strong { scope, releases, acquires };
                    if is_atomic || reads {
                        exact_read(exact, block, thread, strong);
                        order.read(number, lane, (0, strong), &races.releases);
                    }
                    if is_atomic || !reads {
                        let access = (0, strong, is_atomic);
                        order.write(number, lane, access, (&mut races.releases, moments));
                        exact_write(exact, block, thread, strong, is_atomic);
                    }
                }
                9 => {
                    let copies = numbers.below(3) == 0;
                    order.arrive_at(128, number, lane, copies, moments);
                    let mut known = exact.now(thread);
                    if copies {
                        known = Known::default();
                        known[THREADS + thread] = exact.times[THREADS + thread];
                    }
                    join(&mut exact.pending[block], &known);
                }
                10 => {
                    order.end_phase(128);
                    let pending = std::mem::take(&mut exact.pending[block]);
                    join(&mut exact.ended[block], &pending);
                }
                11 => {
                    order.end_wait(128, number, lane);
                    let ended = exact.ended[block];
                    join(&mut exact.known[thread], &ended);
                }
                12 => {
                    let operation = [
                        CopyGroups::Commit,
                        CopyGroups::Wait(0),
                        CopyGroups::Wait(1),
                        CopyGroups::WaitAll,
                    ][numbers.below(4)];
                    order.group_copies(operation, number, bit, moments);
                    let all = exact.times[THREADS + thread];
                    let groups = &mut exact.groups[thread];
                    let complete = match operation {
                        CopyGroups::Commit => {
                            groups.push(all);
                            0
                        }
                        CopyGroups::Wait(pending) => {
                            let count = groups.len().saturating_sub(pending as usize);
                            groups.drain(..count).next_back().unwrap_or(0)
                        }
                        CopyGroups::WaitAll => {
                            groups.clear();
                            all
                        }
                    };
                    let known = &mut exact.known[thread][THREADS + thread];
                    *known = complete.max(*known);
                }
                _ => self.access(numbers, block, thread, scope),
            }
        }

        fn access(&mut self, numbers: &mut Numbers, block: usize, thread: usize, scope: Scope) {
            let Self { exact, races, orders, shared, .. } = self;
            let (writes, is_copy) = (numbers.below(2) == 0, numbers.below(6) == 0);
            let strong = Some(scope).filter(|_| !is_copy && numbers.below(3) == 0);
            let is_atomic = strong.is_some() && writes && numbers.below(2) == 0;
            let reads = !writes || is_atomic && numbers.below(3) != 0;
            let place = numbers.below(3);
            let site = exact.made.last().map_or(0, |last| last.site + 1);
            // Lanes of an atomic operation go one after the other.
            let (first, lane) = (thread - thread % WIDTH, thread % WIDTH);
            let others = if is_atomic { numbers.below(1 << WIDTH) as u32 } else { 0 };
            let exec = 1 << lane | others;
            let mut expected = Vec::new();
            for lane in lanes(exec) {
                let thread = first + lane;
                let by = if is_copy { THREADS + thread } else { thread };
                let known = exact.now(thread);
                exact.times[by] += 1;
                let time = exact.times[by];
                let (observed, before) = (Vec::new(), Vec::new());
                let mut made =
                    Made { by, time, place, writes, scope: strong, site, observed, before };
                let is_here = |of: &(usize, &Made)| of.1.place == place;
                let all = || exact.made.iter().enumerate().filter(is_here);
                // "X precedes Y in base causality order, or for some Z, X precedes Z in observation order, and Z precedes Y in
                // base causality order." Alike accesses before X precede Y, too, because coherence orders them and X.
                let base = || all().filter(|(_, other)| known[other.by] >= other.time);
                let observed = base().flat_map(|(_, read)| &read.observed);
                let of = &exact.made;
                let alike = |at: &usize| {
                    let (scope, before) = (of[*at].scope, of[*at].before.iter());
                    before.filter(move |before| of[**before].scope == scope)
                };
                let observed = observed.flat_map(|at| alike(at).chain([at]));
                made.before = base().map(|(at, _)| at).chain(observed.copied()).collect();
                for (at, other) in all() {
                    let conflicts = writes || other.writes;
                    if conflicts && !made.is_strong_with(other) && !made.before.contains(&at) {
                        expected.push((thread, other.by % THREADS, other.site));
                    }
                }
                let chain = &mut exact.chains[place];
                if strong.is_some() && reads {
                    let is_seen = |at: &&usize| made.is_strong_with(&exact.made[**at]);
                    made.observed = chain.iter().filter(is_seen).copied().collect();
                }
                if writes && !is_atomic {
                    chain.clear();
                }
                if writes && strong.is_some() {
                    chain.push(exact.made.len());
                }
                exact.made.push(made);
            }
            races.moments.tick();
            let access = CheckedAccess {
                bytes: 4,
                size: 4,
                is_write: writes,
                strong,
                is_atomic,
                reads,
                warp: (thread / WIDTH % WARPS) as u32,
                site: Site(site),
                is_copy,
            };
            let at = |_| Some(Place::Global(4 * place as u64));
            races.access(&access, exec, at, &|_, _| false, &orders[block], shared);
            let found = races.take_found();
            for race in &found {
                let other = race.thread as usize / 32 * WIDTH + race.thread as usize % 32;
                let other = race.block as usize * WARPS * WIDTH + other;
                let race = (first + race.lane, other, race.other.0);
                assert!(expected.contains(&race), "a false alarm");
            }
            // The first race at a place. Later ones may be with an access that gave way to the reported one.
            if !expected.is_empty() && !self.has_raced[place] {
                self.has_raced[place] = true;
                self.racing += 1;
                self.reported += usize::from(!found.is_empty());
            }
        }
    }

    fn exact_read(exact: &mut Exact, block: usize, thread: usize, strong: Strong) {
        let mut seen = Vec::new();
        if exact.flag_block == Some(block) {
            seen.push((0, exact.flag[block]));
        }
        let is_own = exact.flag_from.iter().all(|from| *from == block);
        if is_own || strong.scope == Scope::Device {
            seen.push((usize::from(!is_own), exact.flag_all));
        }
        for (level, flag) in seen {
            join(&mut exact.observed[thread][level], &flag);
            if strong.acquires {
                join(&mut exact.known[thread], &flag);
            }
        }
    }

    fn exact_write(
        exact: &mut Exact,
        block: usize,
        thread: usize,
        strong: Strong,
        is_atomic: bool,
    ) {
        if !is_atomic && exact.flag_by != Some(thread) {
            exact.flag_block = None;
            exact.flag_all = Known::default();
            exact.flag_from.clear();
            exact.flag_by = None;
        }
        let now = exact.now(thread);
        let released = |level: usize, own: bool| {
            let mut known = exact.fenced[thread][level];
            let has = own || exact.has_fenced[thread][level];
            if own {
                join(&mut known, &now);
            }
            has.then_some(known)
        };
        let is_far = strong.scope == Scope::Device;
        let near = released(0, strong.releases);
        let far = released(1, strong.releases && is_far).filter(|_| is_far);
        if near.is_some() || far.is_some() {
            exact.flag_by = Some(thread);
        }
        if let Some(known) = near {
            if exact.flag_block != Some(block) {
                exact.flag[block] = Known::default();
            }
            exact.flag_block = Some(block);
            join(&mut exact.flag[block], &known);
        }
        if let Some(known) = far {
            join(&mut exact.flag_all, &known);
            exact.flag_from.push(block);
        }
    }

    /// Random schedules of all kinds of order: each reported race is one, and nearly all are reported.
    #[test]
    fn reported_races_are_races() {
        let (mut reported, mut racing) = (0, 0);
        for seed in 0..4000 {
            let mut numbers = Numbers(seed);
            let mut both = Both::new();
            for _ in 0..60 {
                both.step(&mut numbers);
            }
            reported += both.reported;
            racing += both.racing;
        }
        assert!(reported > 10_000 && reported == racing, "{reported} of {racing}");
    }

    #[test]
    fn nothing_is_judged_without_moments() {
        let mut both = Both::new();
        while !both.races.moments.are_over() {
            both.races.moments.skip(u32::MAX / 2);
        }
        let mut numbers = Numbers(1);
        for _ in 0..1000 {
            both.step(&mut numbers);
        }
        assert!(both.racing > 0 && both.reported == 0);
    }

    #[test]
    fn memory_costs_what_is_accessed() {
        assert_eq!(size_of::<Cell>(), 90);
        let mut history = History::default();
        for page in 0..1000 {
            assert_eq!(history.page(page % 3).cells(4 * (page % 64), 4).len(), 1);
        }
        assert_eq!(history.pages.len(), 3);
        let mut cells = |start, bytes| {
            let page = history.page(0);
            (page.cells(start, bytes), page.cells.len())
        };
        // Words, until halves and bytes are accessed.
        assert_eq!([cells(8, 8), cells(2, 4), cells(8, 4)], [(2..4, 64), (1..3, 128), (4..6, 128)]);
        assert_eq!([cells(1, 1), cells(4, 2)], [(1..2, 256), (4..6, 256)]);
        // Another allocation has no history.
        history.page(1).cells[2].writes[0].lanes = 1;
        history.forget(PAGE + 8, 1);
        assert_eq!({ history.page(1).cells[2].writes[0].lanes }, 0);
    }
}
