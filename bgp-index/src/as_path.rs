//! AS paths (RFC 4271 4.3 and 5.1.2, RFC 5065, RFC 6793): segments of a type, a count and numbers of 4 bytes.

use crate::reader::Reader;

const SET: u8 = 1;
const SEQUENCE: u8 = 2;
const CONFEDERATION_SEQUENCE: u8 = 3;
const CONFEDERATION_SET: u8 = 4;
/// Stands for a number that does not fit into 2 bytes.
pub const AS_TRANS: u32 = 23456;

/// The path with 4-byte numbers, from one with numbers of 4 bytes (`wide`) or of 2. None where it is malformed.
pub fn widened(value: &[u8], wide: bool) -> Option<Vec<u8>> {
    let mut reader = Reader::new(value);
    let mut path = Vec::with_capacity(value.len() * if wide { 1 } else { 2 });
    while !reader.rest.is_empty() {
        let (kind, count) = (reader.u8()?, reader.u8()?);
        if !(SET..=CONFEDERATION_SET).contains(&kind) || count == 0 {
            return None;
        }
        path.extend_from_slice(&[kind, count]);
        if wide {
            path.extend_from_slice(reader.take(4 * usize::from(count))?);
        } else {
            for number in reader.take(2 * usize::from(count))?.chunks_exact(2) {
                path.extend_from_slice(&[0, 0, number[0], number[1]]);
            }
        }
    }
    Some(path)
}

/// A neighbor that supports only 2-byte numbers passes the others on in AS4_PATH (RFC 6793 4.2.3). The part of the
/// path by which it is longer than AS4_PATH is kept in front.
pub fn merged(path: Vec<u8>, as4_path: &[u8]) -> Vec<u8> {
    let surplus = match length(&path).checked_sub(length(as4_path)) {
        Some(surplus) => surplus,
        None => return path,
    };
    let mut merged = Vec::with_capacity(path.len());
    let mut left = surplus;
    for segment in segments(&path) {
        let kept = match segment.kind {
            SET if left > 0 => segment.len(),
            SEQUENCE => segment.len().min(left),
            CONFEDERATION_SEQUENCE | CONFEDERATION_SET if left > 0 => segment.len(),
            _ => 0,
        };
        if kept == 0 {
            break;
        }
        left -= segment.counted().min(left).min(kept);
        merged.extend_from_slice(&[segment.kind, kept as u8]);
        merged.extend_from_slice(&segment.numbers[..4 * kept]);
    }
    for segment in segments(as4_path).filter(|segment| !segment.is_confederation()) {
        merged.extend_from_slice(&[segment.kind, segment.len() as u8]);
        merged.extend_from_slice(segment.numbers);
    }
    merged
}

/// The path without its first number, if that is this one and is in a sequence.
pub fn without_first(mut path: Vec<u8>, number: u32) -> Vec<u8> {
    if path.len() >= 6 && path[0] == SEQUENCE && path[2..6] == number.to_be_bytes() {
        if path[1] == 1 {
            path.drain(..6);
        } else {
            path[1] -= 1;
            path.drain(2..6);
        }
    }
    path
}

pub struct Segment<'a> {
    kind: u8,
    /// 4 bytes each.
    numbers: &'a [u8],
}

impl<'a> Segment<'a> {
    fn len(&self) -> usize {
        self.numbers.len() / 4
    }

    fn is_confederation(&self) -> bool {
        self.kind >= CONFEDERATION_SEQUENCE
    }

    fn is_sequence(&self) -> bool {
        self.kind == SEQUENCE || self.kind == CONFEDERATION_SEQUENCE
    }

    /// The segment's contribution to the path's length: a set counts as one, and confederations do not count (RFC
    /// 4271 9.1.2.2).
    fn counted(&self) -> usize {
        match self.kind {
            SET => 1,
            SEQUENCE => self.len(),
            _ => 0,
        }
    }

    fn numbers(&self) -> impl DoubleEndedIterator<Item = u32> + 'a {
        self.numbers.chunks_exact(4).map(|number| u32::from_be_bytes([number[0], number[1], number[2], number[3]]))
    }

    /// The steps of the segment: each number of a sequence separately, the numbers of a set together.
    fn steps(&self) -> impl Iterator<Item = &'a [u8]> + 'a {
        let size = if self.is_sequence() { 4 } else { self.numbers.len().max(4) };
        self.numbers.chunks(size)
    }
}

/// The segments of a path that `widened` or `merged` made.
fn segments(path: &[u8]) -> impl Iterator<Item = Segment<'_>> {
    let mut reader = Reader::new(path);
    std::iter::from_fn(move || {
        let (kind, count) = (reader.u8()?, reader.u8()?);
        Some(Segment { kind, numbers: reader.take(4 * usize::from(count))? })
    })
}

pub fn length(path: &[u8]) -> usize {
    segments(path).map(|segment| segment.counted()).sum()
}

pub fn holds(path: &[u8], number: u32) -> bool {
    segments(path).any(|segment| segment.numbers().any(|other| other == number))
}

/// Whether the path begins with the number, or with a set that contains it.
pub fn begins_with(path: &[u8], number: u32) -> bool {
    match segments(path).find(|segment| !segment.is_confederation()) {
        Some(segment) if segment.is_sequence() => segment.numbers().next() == Some(number),
        Some(segment) => segment.numbers().any(|other| other == number),
        None => false,
    }
}

/// Whether the path ends with the number, or with a set that contains it.
pub fn ends_with(path: &[u8], number: u32) -> bool {
    match segments(path).filter(|segment| !segment.is_confederation()).last() {
        Some(segment) if segment.is_sequence() => segment.numbers().last() == Some(number),
        Some(segment) => segment.numbers().any(|other| other == number),
        None => false,
    }
}

/// Whether the numbers are adjacent in this order; a set matches any one of its numbers.
pub fn passes(path: &[u8], wanted: &[u32]) -> bool {
    let steps: Vec<&[u8]> = segments(path).flat_map(|segment| segment.steps()).collect();
    let is = |step: &[u8], number: u32| step.chunks_exact(4).any(|other| other == number.to_be_bytes());
    steps.windows(wanted.len().max(1)).any(|window| window.iter().zip(wanted).all(|(step, number)| is(step, *number)))
}

/// As FRR writes it: `65001 65010 {65020,65021}`, and `(65100 65101)` and `[65100,65101]` of confederations.
pub fn text(path: &[u8]) -> String {
    let mut text = String::new();
    for segment in segments(path) {
        if !text.is_empty() {
            text.push(' ');
        }
        let (open, between, close) = match segment.kind {
            SET => ("{", ",", "}"),
            CONFEDERATION_SEQUENCE => ("(", " ", ")"),
            CONFEDERATION_SET => ("[", ",", "]"),
            _ => ("", " ", ""),
        };
        text.push_str(open);
        for (at, number) in segment.numbers().enumerate() {
            if at > 0 {
                text.push_str(between);
            }
            text.push_str(&number.to_string());
        }
        text.push_str(close);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(segments: &[(u8, &[u32])]) -> Vec<u8> {
        let bytes = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_be_bytes()).collect::<Vec<u8>>();
        segments.iter().flat_map(|(kind, numbers)| [&[*kind, numbers.len() as u8], &bytes(numbers)[..]].concat()).collect()
    }

    fn narrow(segments: &[(u8, &[u16])]) -> Vec<u8> {
        let bytes = |numbers: &[u16]| numbers.iter().flat_map(|number| number.to_be_bytes()).collect::<Vec<u8>>();
        segments.iter().flat_map(|(kind, numbers)| [&[*kind, numbers.len() as u8], &bytes(numbers)[..]].concat()).collect()
    }

    #[test]
    fn a_path_of_either_width_is_read_and_nothing_else() {
        let wide = path(&[(2, &[65001, 4_200_000_000]), (1, &[7, 8])]);
        assert_eq!(widened(&wide, true), Some(wide.clone()));
        assert_eq!(widened(&wide, false), None);
        let read = widened(&narrow(&[(2, &[65001, 23456]), (1, &[7])]), false).expect("a path");
        assert_eq!(text(&read), "65001 23456 {7}");
        assert_eq!(widened(&[], true), Some(vec![]));
        for wrong in [&[2][..], &[2, 0], &[0, 1, 0, 0, 0, 1], &[5, 1, 0, 0, 0, 1], &[2, 2, 0, 0, 0, 1]] {
            assert_eq!(widened(wrong, true), None, "{:?}", wrong);
        }
    }

    #[test]
    fn numbers_of_4_bytes_come_back_from_behind_a_neighbor_that_knows_2() {
        let read = |segments: &[(u8, &[u16])]| widened(&narrow(segments), false).expect("a path");
        let as4 = path(&[(2, &[70000, 80000]), (1, &[90000, 5])]);
        let long = read(&[(2, &[65001, 65002, 23456, 23456]), (1, &[23456, 5])]);
        assert_eq!(text(&merged(long, &as4)), "65001 65002 70000 80000 {90000,5}");
        let same = read(&[(2, &[23456, 23456]), (1, &[23456, 5])]);
        assert_eq!(text(&merged(same, &as4)), "70000 80000 {90000,5}");
        let shorter = read(&[(2, &[65001])]);
        assert_eq!(text(&merged(shorter, &as4)), "65001");
        let with_set = read(&[(1, &[65001, 65002]), (2, &[65003, 23456, 23456]), (1, &[23456])]);
        assert_eq!(text(&merged(with_set, &as4)), "{65001,65002} 65003 70000 80000 {90000,5}");
        let confederation = read(&[(3, &[65100]), (2, &[65001, 23456, 23456]), (1, &[23456])]);
        assert_eq!(text(&merged(confederation, &as4)), "(65100) 65001 70000 80000 {90000,5}");
    }

    #[test]
    fn the_first_number_is_taken_away_where_it_is_the_one() {
        let of = |segments: &[(u8, &[u32])], number| text(&without_first(path(segments), number));
        assert_eq!(of(&[(2, &[65000, 65001])], 65000), "65001");
        assert_eq!(of(&[(2, &[65000]), (1, &[1, 2])], 65000), "{1,2}");
        assert_eq!(of(&[(2, &[65001, 65000])], 65000), "65001 65000");
        assert_eq!(of(&[(1, &[65000])], 65000), "{65000}");
        assert_eq!(of(&[], 65000), "");
    }

    #[test]
    fn a_path_is_asked_about_its_numbers() {
        let one = path(&[(3, &[65100, 65101]), (2, &[65001, 65001, 65010]), (1, &[65020, 65021])]);
        assert_eq!(text(&one), "(65100 65101) 65001 65001 65010 {65020,65021}");
        assert_eq!(length(&one), 4);
        assert!(holds(&one, 65021) && holds(&one, 65100) && !holds(&one, 65002));
        assert!(begins_with(&one, 65001) && !begins_with(&one, 65100) && !begins_with(&one, 65010));
        assert!(ends_with(&one, 65020) && ends_with(&one, 65021) && !ends_with(&one, 65010));
        for wanted in [&[65001, 65001][..], &[65001, 65010], &[65010, 65021], &[65001, 65010, 65020], &[65021], &[65101, 65001]] {
            assert!(passes(&one, wanted), "{:?}", wanted);
        }
        for wanted in [&[65010, 65001][..], &[65020, 65021], &[65001, 65020], &[65001, 65001, 65001], &[65021, 65010]] {
            assert!(!passes(&one, wanted), "{:?}", wanted);
        }
        assert!(!holds(&[], 1) && !begins_with(&[], 1) && !ends_with(&[], 1) && !passes(&[], &[1]));
        assert!(ends_with(&path(&[(2, &[1, 2])]), 2));
    }
}
