//! Drop-in replacements of `std::thread` and `std::sync` that a controlled scheduler can drive.
