//! [`Frames`]: the text of zstd frames.

use zstd::zstd_safe::{DCtx, find_frame_compressed_size, get_error_name, get_frame_content_size};

use crate::import::accelsim::groups::is_instruction;
use warpload_binary::file_kind::FileKind;
use warpload_binary::lines::MAX_LINE_BYTES;

/// The most bytes of the text of a frame; tracers write about 2,048 lines.
pub(super) const MAX_TEXT: u64 = 256 << 20;

/// The most bytes of text of a block of a frame, and the fewest bytes that a block has.
const BLOCK_TEXT: u64 = 128 << 10;
const BLOCK_BYTES: u64 = 4;

/// Decompresses frames that share a dictionary.
pub(super) struct Frames {
    context: DCtx<'static>,
    text: Vec<u8>,
}

impl Frames {
    /// Creates a decompressor with a dictionary, which is empty if there is none.
    pub(super) fn new(dictionary: &[u8]) -> Result<Self, String> {
        // `zstd::bulk` panics without memory for it.
        let context = DCtx::try_create();
        let mut context = context.ok_or("there is no memory for a decoder of zstd")?;
        context
            .load_dictionary(dictionary)
            .map_err(|code| format!("the dictionary is invalid: {}", get_error_name(code)))?;
        Ok(Self { context, text: Vec::new() })
    }

    /// Returns the text of a frame, which must have so many instructions, one a line.
    pub(super) fn text(&mut self, frame: &[u8], lines: u32) -> Result<&[u8], String> {
        self.decompress(frame)?;
        let text = std::str::from_utf8(&self.text).map_err(|error| {
            format!("byte {} of the frame's text is not UTF-8", error.valid_up_to())
        })?;
        check_lines(text.as_bytes(), lines)?;
        Ok(&self.text)
    }

    fn decompress(&mut self, frame: &[u8]) -> Result<(), String> {
        if FileKind::detect(frame) != Some(FileKind::Zstd) {
            return Err("expected a zstd frame".to_owned());
        }
        let size = get_frame_content_size(frame)
            .map_err(|_| "the zstd frame's header is invalid".to_owned())?
            .ok_or("the zstd frame does not say how many bytes of text it has")?;
        let possible = (frame.len() as u64 / BLOCK_BYTES + 1) * BLOCK_TEXT;
        let most = possible.min(MAX_TEXT);
        if size > most {
            let bytes = frame.len();
            return Err(format!(
                "a zstd frame of {bytes} bytes says that it has {size} bytes of text; at most {most} \
                 are possible"
            ));
        }
        let used = find_frame_compressed_size(frame).map_err(get_error_name);
        let used = used.map_err(|error| format!("the zstd frame is invalid: {error}"))?;
        if used != frame.len() {
            let bytes = frame.len();
            return Err(format!("the zstd frame has {used} bytes; expected {bytes}"));
        }
        self.text.clear();
        self.text.reserve(size as usize);
        let count = self.context.decompress(&mut self.text, frame);
        let count =
            count.map_err(|code| format!("the zstd frame is damaged: {}", get_error_name(code)))?;
        if count as u64 != size {
            return Err(format!("the zstd frame has {count} bytes of text; it says {size}"));
        }
        Ok(())
    }
}

/// Checks that a text has `lines` lines, each with an instruction, and no line end after the last one.
fn check_lines(text: &[u8], lines: u32) -> Result<(), String> {
    let (mut start, mut count) = (0, 0);
    for end in memchr::memchr_iter(b'\n', text).chain([text.len()]) {
        count += 1;
        let line = &text[start..end];
        if !is_instruction(line.trim_ascii_start()) {
            return Err(format!("line {count} of the frame's text is not an instruction"));
        }
        if line.len() > MAX_LINE_BYTES {
            return Err(format!(
                "line {count} of the frame's text is longer than {MAX_LINE_BYTES} bytes"
            ));
        }
        start = end + 1;
    }
    if count != u64::from(lines) {
        return Err(format!("the frame's text has {count} lines; the index says {lines}"));
    }
    Ok(())
}
