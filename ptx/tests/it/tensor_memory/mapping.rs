//! The mapping of every shape and repeat, exhaustively.

use std::collections::HashSet;

use warpload_ptx::tensor::{CellOffset, Form, Repeat, Shape, TensorLoad};

use super::naive;

/// All loads without packing and reduction.
fn loads() -> impl Iterator<Item = TensorLoad> {
    Shape::ALL.into_iter().flat_map(|shape| {
        Repeat::ALL.into_iter().filter_map(move |repeat| {
            let split = (shape == Shape::S16x32bx2).then_some(0);
            let num = repeat.get() as u32;
            TensorLoad::new(Form { split, ..Form::plain(shape, num) }).ok()
        })
    })
}

#[test]
fn each_cell_of_the_rectangle_goes_to_one_register() {
    let mut count = 0;
    for load in loads() {
        let shape = load.shape();
        let cells: HashSet<CellOffset> =
            (0..32).flat_map(|t| (0..load.registers()).map(move |r| shape.cell(t, r))).collect();
        let halves = [false, true].into_iter().take(shape.halves());
        let rectangle: HashSet<CellOffset> = halves
            .flat_map(|second_half| {
                (0..shape.lanes()).flat_map(move |lane| {
                    (0..load.columns()).map(move |column| CellOffset { second_half, lane, column })
                })
            })
            .collect();
        // There are as many cells as registers, so no two registers share a cell.
        assert_eq!(cells.len(), 32 * load.registers(), "{load}");
        assert_eq!(cells, rectangle, "{load}");
        count += 1;
    }
    assert_eq!(count, 8 + 8 + 7 + 6 + 8);
}

#[test]
fn owners_are_the_way_back() {
    for load in loads() {
        let shape = load.shape();
        for t in 0..32 {
            for r in 0..load.registers() {
                assert_eq!(shape.owner(shape.cell(t, r)), (t, r), "{load}");
            }
        }
    }
}

#[test]
fn the_table_is_the_formulas() {
    for load in loads() {
        let shape = load.shape();
        assert_eq!(load.registers(), load.repeat().get() * naive::registers(shape));
        assert_eq!(load.columns(), load.repeat().get() * naive::columns(shape));
        for t in 0..32 {
            for r in 0..load.registers() {
                let cell = shape.cell(t, r);
                assert_eq!((cell.lane, cell.column), naive::place(shape, t, r), "{load}");
                assert_eq!(cell.second_half, shape == Shape::S16x32bx2 && t >= 16);
            }
        }
    }
}

/// The first columns, row by row, as other documentation draws them.
#[test]
fn rows_as_they_are_drawn() {
    let row = |shape: Shape, lane, columns: usize| -> Vec<(usize, usize)> {
        let cell = |column| CellOffset { second_half: false, lane, column };
        (0..columns).map(|column| shape.owner(cell(column))).collect()
    };
    assert_eq!(row(Shape::S16x64b, 0, 4), [(0, 0), (2, 0), (0, 1), (2, 1)]);
    assert_eq!(row(Shape::S16x64b, 7, 2), [(28, 0), (30, 0)]);
    assert_eq!(row(Shape::S16x64b, 8, 2), [(1, 0), (3, 0)]);
    assert_eq!(row(Shape::S16x128b, 1, 4), [(4, 0), (5, 0), (6, 0), (7, 0)]);
    assert_eq!(row(Shape::S16x128b, 9, 4), [(4, 1), (5, 1), (6, 1), (7, 1)]);
    assert_eq!(row(Shape::S16x256b, 0, 4), [(0, 0), (0, 1), (1, 0), (1, 1)]);
    assert_eq!(row(Shape::S16x256b, 15, 2), [(28, 2), (28, 3)]);
    assert_eq!(row(Shape::S32x32b, 31, 2), [(31, 0), (31, 1)]);
}
