//! [`Walk`]: the index of a `.tracez` and what it refers to, side by side, from start to end.

use super::bytes::{Bytes, Cursor, Fault};
use super::frames::{Frames, MAX_TEXT};
use crate::import::accelsim::groups::Bounds;

/// The bytes of a thread block in the index before its warps, and of a warp before its chunks.
const BLOCK_BYTES: u64 = 44;
const WARP_BYTES: u64 = 16;

/// Where the parts of a file are.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    /// The dictionary, which the first warp follows.
    pub(super) dictionary: (u64, u32),
    /// The index.
    pub(super) index: u64,
    /// The index's offset, which ends the file.
    pub(super) end: u64,
}

impl Parts {
    /// Finds the parts of a file whose header has `header` bytes.
    pub(super) fn of(bytes: &Bytes, header: u64) -> Result<Self, Fault> {
        let mut cursor = Cursor::new(bytes, "the file", header + 1..bytes.len());
        let size = cursor.u32()?;
        // How many lines chunks have is the writer's affair.
        cursor.u32()?;
        let dictionary = cursor.at;
        let (left, most) = (cursor.left(), 64 << 10);
        if size > most || u64::from(size) > left {
            let message = format!(
                "a dictionary of {size} bytes; expected {most} at most, and the file has {left} more"
            );
            return Err(Fault::At(header + 1, message));
        }
        let data = dictionary + u64::from(size);
        let end = bytes.len().saturating_sub(8);
        if end < data {
            let message = "the file ends before the index; expected its offset at the end";
            return Err(Fault::At(bytes.len(), message.to_owned()));
        }
        let index = Cursor::new(bytes, "the file", end..bytes.len()).u64()?;
        if index < data || index > end.saturating_sub(4) {
            let message = format!(
                "the index is at offset {index}; expected one after the dictionary, which ends at \
                 {data}, and 12 bytes or more before the file's end"
            );
            return Err(Fault::At(end, message));
        }
        Ok(Self { dictionary: (dictionary, size), index, end })
    }
}

/// What comes next.
pub(super) enum WalkStep<'w> {
    /// A thread block: its place in the grid, its cluster's there, its own in the cluster, and its rank.
    Block([u32; 3], [u32; 3], [u32; 3], u32),
    /// A warp of so many instructions.
    Warp(u64, u32),
    /// The offset of a chunk of so many lines, and its text, without an end of the last line.
    Chunk(u64, u32, &'w [u8]),
    /// The end of a thread block.
    BlockEnd,
}

/// Compares the index with what it refers to.
pub(super) struct Walk {
    index: Cursor,
    data: Cursor,
    /// Decompresses; `None` if texts do not matter.
    frames: Option<Frames>,
    bounds: Bounds,
    /// What is left: of the file, of the thread block, of the warp.
    blocks: u32,
    warps: u64,
    chunks: u32,
    lines: u32,
    is_in_block: bool,
    /// The offset in the index of the last block or warp.
    pub(super) at: u64,
}

impl Walk {
    pub(super) fn new(
        bytes: &Bytes,
        parts: &Parts,
        bounds: Bounds,
        has_texts: bool,
    ) -> Result<Self, Fault> {
        let (offset, size) = parts.dictionary;
        let data = offset + u64::from(size);
        let mut dictionary = vec![0; size as usize];
        bytes.read(offset, &mut dictionary)?;
        let frames = || Frames::new(&dictionary).map_err(|message| Fault::At(offset, message));
        let mut walk = Self {
            index: Cursor::new(bytes, "the index", parts.index..parts.end),
            data: Cursor::new(bytes, "the file before the index", data..parts.index),
            frames: if has_texts { Some(frames()?) } else { None },
            bounds,
            blocks: 0,
            warps: 0,
            chunks: 0,
            lines: 0,
            is_in_block: false,
            at: parts.index,
        };
        walk.blocks = walk.index.u32()?;
        let (blocks, grid) = (walk.blocks, bounds.blocks());
        if u128::from(blocks) > grid {
            return Err(walk.wrong(format!("{blocks} thread blocks in a grid of {grid}")));
        }
        walk.check_room(blocks, BLOCK_BYTES)?;
        Ok(walk)
    }

    /// Returns the error of what was read last in the index.
    fn wrong(&self, message: String) -> Fault {
        Fault::At(self.at, message)
    }

    /// Checks that the index has room for `count` entries.
    fn check_room(&self, count: u32, bytes: u64) -> Result<(), Fault> {
        let left = self.index.left();
        if u64::from(count) * bytes > left {
            let message = format!("{count} entries, but the index has {left} more bytes");
            return Err(self.wrong(message));
        }
        Ok(())
    }

    /// Returns what comes next; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<WalkStep<'_>>, Fault> {
        if self.chunks > 0 {
            return self.chunk().map(Some);
        }
        if self.warps > 0 {
            return self.warp().map(Some);
        }
        if self.is_in_block {
            self.is_in_block = false;
            return Ok(Some(WalkStep::BlockEnd));
        }
        if self.blocks > 0 {
            return self.block().map(Some);
        }
        for (cursor, name) in [(&self.data, "the last warp"), (&self.index, "the index")] {
            if cursor.left() > 0 {
                let message = format!("{} bytes after {name}", cursor.left());
                return Err(Fault::At(cursor.at, message));
            }
        }
        Ok(None)
    }

    fn block(&mut self) -> Result<WalkStep<'_>, Fault> {
        self.at = self.index.at;
        let mut three = || -> Result<[u32; 3], Fault> {
            Ok([self.index.u32()?, self.index.u32()?, self.index.u32()?])
        };
        let (cta, cluster, place) = (three()?, three()?, three()?);
        let rank = self.index.u32()?;
        let (warps, expected) = (self.index.u32()?, self.bounds.warps());
        if u64::from(warps) != expected {
            let message = format!("a thread block of {warps} warps; the header says {expected}");
            return Err(self.wrong(message));
        }
        self.check_room(warps, WARP_BYTES)?;
        (self.blocks, self.warps, self.is_in_block) = (self.blocks - 1, expected, true);
        Ok(WalkStep::Block(cta, cluster, place, rank))
    }

    fn warp(&mut self) -> Result<WalkStep<'_>, Fault> {
        let number = self.bounds.warps() - self.warps;
        self.at = self.index.at;
        let (lines, chunks) = (self.index.u32()?, self.index.u32()?);
        let (offset, found) = (self.index.u64()?, self.data.at);
        if offset != found {
            return Err(self.wrong(format!("a warp at offset {offset}; expected {found}")));
        }
        let told = (self.data.u32()?, self.data.u32()?);
        if told != (lines, chunks) {
            let message = format!(
                "a warp of {} instructions in {} chunks; the index says {lines} in {chunks}",
                told.0, told.1
            );
            return Err(Fault::At(offset, message));
        }
        if chunks > lines || (chunks == 0) != (lines == 0) {
            let message = format!("{lines} instructions in {chunks} chunks");
            return Err(Fault::At(offset, message));
        }
        self.check_room(chunks, 4)?;
        (self.lines, self.chunks, self.warps) = (lines, chunks, self.warps - 1);
        Ok(WalkStep::Warp(number, lines))
    }

    fn chunk(&mut self) -> Result<WalkStep<'_>, Fault> {
        let in_index = self.index.at;
        let (lines, offset) = (self.index.u32()?, self.data.at);
        self.chunks -= 1;
        let is_last = self.chunks == 0;
        if lines == 0 || lines > self.lines || is_last && lines != self.lines {
            let left = self.lines;
            let message = format!(
                "a chunk of {lines} lines; its warp has {left} more, and {} more chunks",
                self.chunks
            );
            return Err(Fault::At(in_index, message));
        }
        self.lines -= lines;
        let size = u64::from(self.data.u32()?);
        // What does not shrink is stored, with a few bytes for each block.
        let most = MAX_TEXT + (MAX_TEXT >> 8);
        if size > most {
            let message = format!("a zstd frame of {size} bytes; expected {most} at most");
            return Err(Fault::At(offset, message));
        }
        let frame = self.data.take(size)?;
        let text = match &mut self.frames {
            Some(frames) => {
                frames.text(frame, lines).map_err(|message| Fault::At(offset + 4, message))?
            }
            None => b"",
        };
        Ok(WalkStep::Chunk(offset + 4, lines, text))
    }
}
