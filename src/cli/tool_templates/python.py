"""The tool NAME. `python3 NAME.py > tools/NAME.yaml` writes its declaration for a registry directory; a program of yours can
also publish it to a service (ToolRegistry.publish), or answer its calls itself (ToolRegistry.serve). Needs the package
atoll."""
import json

from atoll.tools import ToolBase


class Tool(ToolBase):
    name = "NAME"
    description = "Say in one sentence what it does; a model reads this."
    input = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"],
             "additionalProperties": False}
    output = {"type": "object", "properties": {"length": {"type": "integer"}}, "required": ["length"]}
    timeout_seconds = 30
    examples = [{"input": {"text": "abc"}, "output": {"length": 3}}]

    # Inside a sandbox only this class is there: import what you need in here.
    def run(self, text):
        return {"length": len(text)}


if __name__ == "__main__":
    print(json.dumps(Tool().declaration(), indent=2))
