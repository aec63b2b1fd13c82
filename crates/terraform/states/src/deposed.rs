//! Keys of deposed objects, and which object of an instance is meant.

use std::fmt;

use crate::addr::{AbsResourceInstance, AddrError};

/// Identifies a deposed object inside its instance: eight bytes, by convention lower-case hexadecimal digits.
///
/// Files may hold any eight bytes of text, and such a key is kept as it is. What users type is held to the
/// convention by [`DeposedKey::parse_strict`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeposedKey([u8; 8]);

/// Text that is not a deposed key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeposedKeyError {
    /// Neither readers nor writers of state files take it.
    #[error("a deposed key has 8 bytes, this text has {length}")]
    Length {
        /// How many bytes it has.
        length: usize,
    },
    /// Eight bytes, but not of the canonical form.
    #[error("a deposed key consists of 8 lower-case hexadecimal digits, such as 0a1b2c3d")]
    NotCanonical,
}

impl DeposedKey {
    /// Reads a key as state files hold it: any text of eight bytes.
    ///
    /// # Errors
    /// When the text has another length.
    pub fn parse(text: &str) -> Result<Self, DeposedKeyError> {
        let length = text.len();
        text.as_bytes().try_into().map(Self).map_err(|_| DeposedKeyError::Length { length })
    }

    /// Reads a key as people are to write it: eight lower-case hexadecimal digits.
    ///
    /// # Errors
    /// When the text has another length, or other characters.
    pub fn parse_strict(text: &str) -> Result<Self, DeposedKeyError> {
        let key = Self::parse(text)?;
        if key.is_canonical() { Ok(key) } else { Err(DeposedKeyError::NotCanonical) }
    }

    /// The key of a number, in canonical form. Upgrades count the deposed objects of old files from 1.
    ///
    /// ```
    /// assert_eq!(groundstate_states::DeposedKey::from_number(26).as_str(), "0000001a");
    /// ```
    #[must_use]
    pub fn from_number(number: u32) -> Self {
        let mut digits = [0; 8];
        for (digit, byte) in number.to_be_bytes().iter().enumerate() {
            digits[digit * 2] = HEX[usize::from(byte >> 4)];
            digits[digit * 2 + 1] = HEX[usize::from(byte & 0xf)];
        }
        Self(digits)
    }

    /// A key that is not in use, from random numbers that the caller draws.
    ///
    /// A source that keeps repeating itself is given up after a few draws; the following numbers are tried then.
    pub fn generate(mut draw: impl FnMut() -> u32, in_use: impl Fn(&Self) -> bool) -> Self {
        const DRAWS: usize = 16;
        let mut number = draw();
        for _ in 1..DRAWS {
            let key = Self::from_number(number);
            if !in_use(&key) {
                return key;
            }
            number = draw();
        }
        // Ends, since no instance can hold as many objects as there are numbers.
        while in_use(&Self::from_number(number)) {
            number = number.wrapping_add(1);
        }
        Self::from_number(number)
    }

    /// Whether the key has the form that keys are generated in.
    #[must_use]
    pub fn is_canonical(&self) -> bool {
        self.0.iter().all(|byte| HEX.contains(byte))
    }

    /// The key as states store it: eight hexadecimal digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).expect("every constructor takes text or hexadecimal digits")
    }
}

const HEX: &[u8; 16] = b"0123456789abcdef";

impl fmt::Display for DeposedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for DeposedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DeposedKey").field(&self.as_str()).finish()
    }
}

impl std::str::FromStr for DeposedKey {
    type Err = DeposedKeyError;

    fn from_str(text: &str) -> Result<Self, DeposedKeyError> {
        Self::parse(text)
    }
}

/// A deposed object of an instance. `Display` gives its address, `ADDR (deposed KEY)`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeposedObject {
    /// The instance.
    pub instance: AbsResourceInstance,
    /// The key of the object.
    pub key: DeposedKey,
}

impl DeposedObject {
    /// Reads the address of a deposed object. Returns `None` if the text does not end with ` (deposed KEY)`.
    ///
    /// ```
    /// use groundstate_states::DeposedObject;
    ///
    /// let text = r#"aws_instance.web["eu"] (deposed 0a1b2c3d)"#;
    /// let object = DeposedObject::parse(text).expect("it ends like one")?;
    /// assert_eq!((object.key.as_str(), object.to_string().as_str()), ("0a1b2c3d", text));
    /// assert!(DeposedObject::parse("aws_instance.web").is_none());
    /// # Ok::<(), groundstate_states::addr::AddrError>(())
    /// ```
    ///
    /// # Errors
    /// Why what stands in front is no address of an instance.
    #[must_use]
    pub fn parse(text: &str) -> Option<Result<Self, AddrError>> {
        let (address, key) = text.trim_end().strip_suffix(')')?.rsplit_once("(deposed ")?;
        let key = DeposedKey::parse(key.trim()).ok()?;
        Some(AbsResourceInstance::parse(address.trim_end()).map(|instance| Self { instance, key }))
    }
}

impl fmt::Display for DeposedObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (deposed {})", self.instance, self.key)
    }
}

/// Which object of an instance. Ordered as lists are: the current one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Generation {
    /// The current object.
    Current,
    /// A deposed object.
    Deposed(DeposedKey),
}
