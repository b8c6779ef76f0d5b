//! The formatter: a formatted file says the same as before, and stays as it is when it is formatted again.

use certus_lang::Source;

use crate::campaign::Tally;
use crate::compare::{Class, Judged};
use crate::rows::Study;
use crate::systems::Case;
use crate::truth::Truth;

/// How the formatter is called in reports.
pub const NAME: &str = "fmt";

/// Compares what the interpreter says of a file and of the formatted one.
pub fn compare(study: &Study<'_>, tally: &mut Tally) -> Result<(), String> {
    let formatted = formatted(&study.case.text)?;
    let again = formatted_again(&formatted);
    let other = Case { text: formatted, ..study.case.clone() };
    for (property, truth) in study.case.properties.iter().zip(study.truths) {
        let Some(truth) = truth else { continue };
        let judged = match (&again, Truth::of(&other, property)) {
            (Some(different), _) => Judged::Wrong(Class::FormattedWrongly, format!("another time: {different}")),
            (None, Ok(own)) if own.in_words() == truth.in_words() => Judged::Right("same"),
            (None, Ok(own)) => Judged::Wrong(Class::FormattedWrongly, format!("{}\n{}", own.in_words(), other.text)),
            (None, Err(message)) => Judged::Wrong(Class::FormattedWrongly, message),
        };
        tally.note((study.number, study.case, property, NAME), judged, || truth.in_words());
    }
    Ok(())
}

fn formatted(text: &str) -> Result<String, String> {
    certus_lang::format(&Source::new("<text>", text)).map_err(|errors| errors.render(false))
}

/// The text that formatting makes of formatted text, if that is another one.
fn formatted_again(text: &str) -> Option<String> {
    match formatted(text) {
        Ok(again) => Some(again).filter(|again| again != text),
        Err(message) => Some(message),
    }
}
