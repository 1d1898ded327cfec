//! Zones as texts, in the words that TChecker uses.

use crate::zone::{Bound, Dbm};

/// The conjunction of all bounds: `(x==0 && 1<=y<3 && x-y<2)`. `names` are those of rows 1 and up.
pub(super) fn zone(zone: &Dbm, names: &[&str]) -> String {
    let mut parts = Vec::new();
    for (i, name) in (1..).zip(names) {
        parts.push(between(zone.get(0, i), name, zone.get(i, 0), true));
    }
    for (i, one) in (1..).zip(names) {
        for (j, other) in (1..).zip(names).skip(i) {
            let (upper, lower) = (zone.get(i, j), zone.get(j, i));
            if upper != Bound::INFINITY && upper.value() == -lower.value() && lower != Bound::INFINITY {
                let more = upper.value();
                parts.push(match more {
                    0 => format!("{one}=={other}"),
                    1.. => format!("{one}=={other}+{more}"),
                    _ => format!("{one}=={other}-{}", more.unsigned_abs()),
                });
            } else if upper != Bound::INFINITY || lower != Bound::INFINITY {
                parts.push(between(lower, &format!("{one}-{other}"), upper, false));
            }
        }
    }
    format!("({})", parts.join(" && "))
}

/// `l<=what<u`, where `lower` bounds what is negated.
fn between(lower: Bound, what: &str, upper: Bound, equal: bool) -> String {
    let sign = |bound: Bound| if bound.0 & 1 == 1 { "<=" } else { "<" };
    if equal && upper != Bound::INFINITY && upper.value() == -lower.value() {
        return format!("{what}=={}", upper.value());
    }
    let mut text = String::new();
    if lower != Bound::INFINITY {
        text.push_str(&format!("{}{}", -lower.value(), sign(lower)));
    }
    text.push_str(what);
    if upper != Bound::INFINITY {
        text.push_str(&format!("{}{}", sign(upper), upper.value()));
    }
    text
}
