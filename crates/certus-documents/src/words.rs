//! Enumerations that documents spell as words.

/// Declares an enumeration with the word that stands for each variant in a document.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$said:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        pub enum $name {
            $($(#[$said])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// The word that documents use.
            pub fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.word())
            }
        }
    };
}
