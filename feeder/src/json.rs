//! Answers are JSON, and the standard library writes none.

/// A JSON object under construction.
pub struct Json(String);

impl Json {
    pub fn new() -> Json {
        Json(String::from("{"))
    }

    pub fn raw(mut self, key: &str, value: &str) -> Json {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&quoted(key));
        self.0.push(':');
        self.0.push_str(value);
        self
    }

    pub fn number(self, key: &str, value: u64) -> Json {
        self.raw(key, &value.to_string())
    }

    pub fn text(self, key: &str, value: &str) -> Json {
        let value = quoted(value);
        self.raw(key, &value)
    }

    pub fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// An array of what is JSON already.
pub fn list(items: &[String]) -> String {
    format!("[{}]", items.join(","))
}

pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            letter if (letter as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", letter as u32)),
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_an_answer_is_escaped() {
        assert_eq!(Json::new().text("a", "x\"\\\n").number("b", 1).end(), "{\"a\":\"x\\\"\\\\\\u000a\",\"b\":1}");
    }
}
