//! The shared secret of a cluster. It is never sent: a process proves that it knows the secret by a
//! code (HMAC-SHA256) over the greetings of both ends, which include random numbers.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Length of a proof in bytes.
pub(crate) const PROOF: usize = 32;
/// Length of the random numbers that proofs include.
pub(crate) const NONCE: usize = 32;
/// Minimal length of a secret in characters.
const SHORTEST: usize = 16;

/// The shared secret of a cluster.
#[derive(Clone)]
pub struct Secret {
    bytes: Vec<u8>,
}

/// The error for a secret that can be guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the secret has {length} characters, but needs at least {SHORTEST}")]
pub struct WeakSecret {
    /// Characters of the text.
    pub length: usize,
}

impl Secret {
    /// The secret given by a text. Surrounding whitespace is ignored, since files often end with a
    /// line break.
    pub fn new(text: &str) -> Result<Secret, WeakSecret> {
        let text = text.trim();
        let length = text.chars().count();
        if length < SHORTEST {
            return Err(WeakSecret { length });
        }
        Ok(Secret { bytes: text.as_bytes().to_vec() })
    }

    /// A random secret as text, for processes that are started together.
    pub fn random_text() -> std::io::Result<String> {
        let bytes = random_bytes::<32>()?;
        Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The code that proves knowledge of the secret. `role` prevents a proof from being reflected
    /// as its own answer.
    pub(crate) fn prove(&self, role: Role, transcript: &[u8]) -> [u8; PROOF] {
        self.code(role, transcript).finalize().into_bytes().into()
    }

    /// Verifies a proof, in constant time.
    pub(crate) fn verify(&self, role: Role, transcript: &[u8], proof: &[u8]) -> bool {
        self.code(role, transcript).verify_slice(proof).is_ok()
    }

    fn code(&self, role: Role, transcript: &[u8]) -> Hmac<Sha256> {
        let mut code = Hmac::<Sha256>::new_from_slice(&self.bytes).expect("a key may have any length");
        code.update(b"turnpike cluster proof\0");
        code.update(&[role as u8]);
        code.update(transcript);
        code
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(not shown)")
    }
}

/// The end of a connection that proves its knowledge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Role {
    Caller = 1,
    Called = 2,
}

/// Unpredictable random bytes.
pub(crate) fn random_bytes<const N: usize>() -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proofs_depend_on_secret_role_and_transcript() {
        let secret = Secret::new("sixteen characters").expect("long enough");
        let other = Secret::new("sixteen characterz").expect("long enough");
        let proof = secret.prove(Role::Caller, b"abc");
        assert!(secret.verify(Role::Caller, b"abc", &proof));
        assert!(!secret.verify(Role::Called, b"abc", &proof));
        assert!(!secret.verify(Role::Caller, b"abd", &proof));
        assert!(!secret.verify(Role::Caller, b"abc", &proof[..31]));
        assert!(!other.verify(Role::Caller, b"abc", &proof));
    }

    #[test]
    fn short_secrets_are_refused_and_none_is_shown() {
        assert_eq!(Secret::new(" short \n").err(), Some(WeakSecret { length: 5 }));
        let text = Secret::random_text().expect("random bytes");
        assert_eq!(text.len(), 64);
        assert_ne!(text, Secret::random_text().expect("random bytes"));
        let shown = format!("{:?}", Secret::new(&text).expect("long enough"));
        assert_eq!(shown, "Secret(not shown)");
    }
}
