//! Values as text: counts, sizes, durations, seeds. Error messages are the second half of a
//! sentence that names the wrong value.

use std::time::Duration;

/// A whole number from 0. Underscores may group digits.
pub fn count<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let digits: String = text.chars().filter(|&c| c != '_').collect();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("it must be a whole number".to_owned());
    }
    digits
        .parse::<u64>()
        .ok()
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| "the number is too large".to_owned())
}

/// A whole number from 1.
pub fn positive<T: TryFrom<u64> + PartialEq + Default>(text: &str) -> Result<T, String> {
    let number = count::<T>(text)?;
    if number == T::default() { Err("it must be at least 1".to_owned()) } else { Ok(number) }
}

/// Bytes: `4G`, `512MiB`, `100000`. Units are powers of 1024.
pub fn size(text: &str) -> Result<u64, String> {
    const FORM: &str = "it must be a number of bytes, or one with K, M, G or T after it, such as 4G";
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '_' && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let shift = match unit.trim().to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        "T" | "TB" | "TIB" => 40,
        _ => return Err(FORM.to_owned()),
    };
    let bytes = if number.contains('.') {
        let number: f64 = number.parse().map_err(|_| FORM.to_owned())?;
        (number * (1u64 << shift) as f64) as u64
    } else {
        let number: u64 = count(number).map_err(|_| FORM.to_owned())?;
        number.checked_mul(1 << shift).ok_or_else(|| "the number is too large".to_owned())?
    };
    if bytes == 0 { Err("it must not be zero".to_owned()) } else { Ok(bytes) }
}

/// Parses a duration such as `30s` or `1h 30m`.
pub fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .map_err(|error| format!("{error}; write a number and a unit, such as 500ms, 30s, 10m or 2h"))
}

/// Writes a duration for [`duration`]: `90s`, `1500ms`.
pub fn write_duration(time: Duration) -> String {
    match time.subsec_nanos() {
        0 => format!("{}s", time.as_secs()),
        nanos if nanos % 1_000_000 == 0 => format!("{}ms", time.as_millis()),
        nanos if nanos % 1_000 == 0 => format!("{}us", time.as_micros()),
        _ => format!("{}s {}ns", time.as_secs(), time.subsec_nanos()),
    }
}

/// Writes bytes for the user: `4.0 GiB`.
pub fn write_bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = number as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{number} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

/// Writes small seeds in decimal, and derived ones as the 64 bits they are.
pub fn write_seed(seed: u64) -> String {
    if seed <= u64::from(u32::MAX) { seed.to_string() } else { format!("{seed:#018x}") }
}

/// Parses a seed: any 64-bit number, decimal or hexadecimal.
pub fn seed(text: &str) -> Result<u64, String> {
    let digits: String = text.chars().filter(|&c| c != '_').collect();
    let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let (digits, radix) = hexadecimal.map_or((digits.as_str(), 10), |digits| (digits, 16));
    if digits.starts_with('+') {
        return Err("a seed is a number without a sign".to_owned());
    }
    u64::from_str_radix(digits, radix).map_err(|_| {
        "a seed is a whole number from 0 to 18446744073709551615, or 0x and up to 16 hexadecimal digits"
            .to_owned()
    })
}

/// Serialises durations as text: `"30s"`.
pub(crate) mod time {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(crate) fn serialize<S: Serializer>(time: &Option<Duration>, out: S) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => out.serialize_some(&super::write_duration(*time)),
            None => out.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Duration>, D::Error> {
        let text = Option::<String>::deserialize(input)?;
        text.map(|text| super::duration(&text)).transpose().map_err(de::Error::custom)
    }
}

/// Serialises arguments of programs as text. Arguments that are not text cannot be serialised.
pub(crate) mod words {
    use std::ffi::OsString;

    use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};

    pub(crate) fn serialize<S: Serializer>(words: &[OsString], out: S) -> Result<S::Ok, S::Error> {
        let texts: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
        texts.ok_or_else(|| ser::Error::custom("an argument is not valid UTF-8"))?.serialize(out)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<OsString>, D::Error> {
        Ok(Vec::<String>::deserialize(input)?.into_iter().map(OsString::from).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read() {
        assert_eq!(count::<u64>("12_000"), Ok(12_000));
        assert_eq!(count::<u32>("0"), Ok(0));
        assert_eq!(positive::<u32>("7"), Ok(7));
        assert_eq!(size("100"), Ok(100));
        assert_eq!(size("4G"), Ok(4 << 30));
        assert_eq!(size("1.5k"), Ok(1536));
        assert_eq!(size("3 MiB"), Ok(3 << 20));
        assert_eq!(seed("7"), Ok(7));
        assert_eq!(seed("0xffff_ffff_ffff_ffff"), Ok(u64::MAX));
        assert_eq!(duration("1m 30s"), Ok(Duration::from_secs(90)));
    }

    #[test]
    fn mistakes_are_explained() {
        for text in ["", "-1", "1.5", "x", "+2", "99999999999999999999"] {
            assert!(count::<u64>(text).is_err(), "{text}");
        }
        assert!(count::<u32>("4294967296").is_err_and(|error| error.contains("too large")));
        assert!(positive::<u64>("0").is_err_and(|error| error.contains("at least 1")));
        for text in ["", "G", "4X", "-4G", "4GG", "1.2.3G", "99999999999T", "0", "0K"] {
            assert!(size(text).is_err(), "{text}");
        }
        for text in ["", "0x", "-1", "+1", "0x10000000000000000", "18446744073709551616", "seed"] {
            assert!(seed(text).is_err(), "{text}");
        }
        for text in ["", "30", "ten", "s", "-3s"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
