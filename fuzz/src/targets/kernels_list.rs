use super::folder::{self, leads_out};
use super::import::{import, is_compressed, replay_import};

/// Any text is refused, or is a list of kernels. The import does not depend on the number of threads. The list can name
/// files in a temporary folder; the input after its first NUL is one of them, `input.traceg`.
pub(super) fn kernels_list_does_not_panic(input: &[u8]) {
    let (list, file) = match input.iter().position(|byte| *byte == 0) {
        Some(end) => (&input[..end], &input[end + 1..]),
        None => (input, &[][..]),
    };
    if leads_out(list) || is_compressed(list) || is_compressed(file) {
        return;
    }
    folder::with(|folder| {
        folder::write(&folder.join("input.traceg"), file);
        let name = folder.join("kernelslist.g");
        let one = import(list, &name, 1);
        let two = import(list, &name, 2);
        assert_eq!(one, two);
        if let Ok(trace) = one {
            replay_import(trace);
        }
    });
}
