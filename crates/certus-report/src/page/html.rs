//! The little of HTML that sections are made of.

use serde_json::Value;

use crate::scale::short;
use crate::svg::Picture;
pub(crate) use crate::svg::escaped;

/// A page under construction: the pictures so far, and names for what needs one.
#[derive(Default)]
pub(crate) struct Page {
    /// Pictures that can be saved alone, with their names.
    pub(crate) figures: Vec<(String, Picture)>,
    used: usize,
}

impl Page {
    /// A name that nothing else on the page has.
    pub(crate) fn name(&mut self, what: &str) -> String {
        self.used += 1;
        format!("{what}-{}", self.used)
    }

    /// A picture with its caption (which is HTML), kept for saving under a name.
    pub(crate) fn figure(&mut self, stem: &str, picture: &Picture, label: &str, caption: &str) -> String {
        self.keep(stem, picture);
        format!("<figure>{}<figcaption>{caption}</figcaption></figure>\n", picture.inline(label))
    }

    /// Keeps a picture for saving.
    pub(crate) fn keep(&mut self, stem: &str, picture: &Picture) {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let stem: String = stem.chars().map(plain).collect();
        self.figures.push((format!("{:02}-{}", self.figures.len() + 1, stem.trim_matches('-')), picture.clone()));
    }
}

/// A number as it is shown, with all of its digits in the element's value.
pub(crate) fn data(value: f64) -> String {
    if value.is_finite() {
        format!(r#"<data value="{}">{}</data>"#, Value::from(value), short(value))
    } else {
        short(value)
    }
}

/// A bound that was proved: what is shown is never on the wrong side of it.
pub(crate) fn bound(value: f64, up: bool) -> String {
    let safe = |text: &str| text.parse::<f64>().is_ok_and(|read| if up { read >= value } else { read <= value });
    let step = if up { 4e-6 } else { -4e-6 } * value.abs();
    let candidates = (0..8).map(|count| short(value + f64::from(count) * step));
    match candidates.into_iter().find(|text| safe(text)) {
        Some(text) => format!(r#"<data value="{}">{text}</data>"#, Value::from(value)),
        None => data(value),
    }
}

/// A table; head and cells are HTML. The first column names the rows.
pub(crate) fn table(caption: &str, head: &[String], rows: &[Vec<String>]) -> String {
    let mut html = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table><caption>{}</caption><thead><tr>",
        escaped(caption),
        escaped(caption)
    );
    for cell in head {
        html += &format!("<th scope=\"col\">{cell}</th>");
    }
    html += "</tr></thead><tbody>\n";
    for row in rows {
        html += "<tr>";
        for (column, cell) in row.iter().enumerate() {
            match column {
                0 => html += &format!("<th scope=\"row\">{cell}</th>"),
                // Narrow pages show cells below each other, each with the name of its column.
                _ if head.len() <= 8 && !head[column].contains('<') => {
                    html += &format!("<td data-head=\"{}\">{cell}</td>", head[column])
                }
                _ => html += &format!("<td>{cell}</td>"),
            }
        }
        html += "</tr>\n";
    }
    html + "</tbody></table></div>\n"
}

/// Data for the page's script.
pub(crate) fn script_data(id: &str, value: &Value) -> String {
    // `<` could end the element; in JSON it stands inside of texts only, where it has another spelling.
    let text = value.to_string().replace('<', "\\u003c");
    format!("<script type=\"application/json\" id=\"{id}\">{text}</script>\n")
}

/// A list of notes, if there are any.
pub(crate) fn notes(notes: &[String]) -> String {
    if notes.is_empty() {
        return String::new();
    }
    let items: String = notes.iter().map(|note| format!("<li>{}</li>", escaped(note))).collect();
    format!("<ul class=\"notes\">{items}</ul>\n")
}

/// What was left out of a picture or a table, said where it was.
pub(crate) fn thinned(text: &str) -> String {
    format!("<p class=\"thinned\">{}</p>\n", escaped(text))
}

/// A choice among names.
pub(crate) fn select(label: &str, class: &str, names: &[String], chosen: usize) -> String {
    let mut html = format!("<label>{} <select class=\"{class}\">", escaped(label));
    for (index, name) in names.iter().enumerate() {
        let selected = if index == chosen { " selected" } else { "" };
        html += &format!("<option value=\"{index}\"{selected}>{}</option>", escaped(name));
    }
    html + "</select></label>"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn shown_bounds_were_proved() {
        for value in [0.1, 0.123_456_789, -0.123_456_789, 3.053_740_573e-6, 0.999_999_999, 123_456.789, 0.0, 1.0, -7.0]
        {
            for up in [false, true] {
                let html = bound(value, up);
                let text = html.split(['>', '<']).nth(2).unwrap();
                let read: f64 = text.parse().unwrap();
                assert!(if up { read >= value } else { read <= value }, "{value} {up}: {html}");
                assert!((read - value).abs() <= 1e-4 * value.abs(), "{value} {up}: {html}");
            }
        }
    }

    #[test]
    fn markup_in_a_head_stays_out_of_attributes() {
        let shown = table(
            "c",
            &["a".to_owned(), "<b>x</b>".to_owned(), "y &amp; z".to_owned()],
            &[vec!["1".to_owned(), "2".to_owned(), "3".to_owned()]],
        );
        assert!(shown.contains("<td>2</td><td data-head=\"y &amp; z\">3</td>"), "{shown}");
    }

    #[test]
    fn data_keeps_every_digit_and_cannot_end_its_element() {
        assert_eq!(data(0.1 + 0.2), r#"<data value="0.30000000000000004">0.3</data>"#);
        let embedded = script_data("x", &json!({"a</script>": "<b>"}));
        assert_eq!(embedded.matches("</script>").count(), 1, "{embedded}");
    }
}
