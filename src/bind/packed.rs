//! Byte format of cached data, little-endian: counts as `u32`, numbers as `f64`. Reading returns `None` if bytes are
//! missing or a number is not finite.

/// Appends values to a byte buffer.
#[derive(Default)]
pub struct Writer(pub Vec<u8>);

impl Writer {
    /// Appends a count or an index as `u32`.
    pub fn count(&mut self, n: usize) {
        self.0.extend((n as u32).to_le_bytes());
    }

    /// Appends a number as `f64`.
    pub fn float(&mut self, v: f64) {
        self.0.extend(v.to_le_bytes());
    }

    /// Appends numbers without their count.
    pub fn floats(&mut self, v: &[f64]) {
        v.iter().for_each(|v| self.float(*v));
    }

    /// Appends a list of indices with a number each; [`Reader::row`] reads it.
    pub fn row(&mut self, row: impl ExactSizeIterator<Item = (usize, f64)>) {
        self.count(row.len());
        for (index, number) in row {
            self.count(index);
            self.float(number);
        }
    }
}

/// Reads values from the front of a byte slice.
pub struct Reader<'a>(pub &'a [u8]);

impl Reader<'_> {
    /// Reads `N` counts or indices.
    pub fn counts<const N: usize>(&mut self) -> Option<[usize; N]> {
        let mut out = [0; N];
        for n in &mut out {
            let (head, rest) = self.0.split_first_chunk::<4>()?;
            *n = u32::from_le_bytes(*head) as usize;
            self.0 = rest;
        }
        Some(out)
    }

    fn float(&mut self) -> Option<f64> {
        let (head, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(f64::from_le_bytes(*head)).filter(|v| v.is_finite())
    }

    /// Reads `count` numbers.
    pub fn floats(&mut self, count: usize) -> Option<Vec<f64>> {
        let (head, rest) = self.0.split_at_checked(count.checked_mul(8)?)?;
        self.0 = rest;
        let out: Vec<f64> = head.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
        out.iter().all(|v| v.is_finite()).then_some(out)
    }

    /// Reads a list of indices with a number each, as written by [`Writer::row`].
    pub fn row(&mut self) -> Option<Vec<(usize, f64)>> {
        let [count] = self.counts()?;
        (0..count).map(|_| Some((self.counts::<1>()?[0], self.float()?))).collect()
    }
}
