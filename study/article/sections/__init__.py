"""The sections, one file each: `section(material)` gives it, or the sentence that says why it is left out."""
