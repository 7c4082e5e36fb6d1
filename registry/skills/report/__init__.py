"""Write reports as Markdown and HTML."""
