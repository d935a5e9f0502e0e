# SPDX-License-Identifier: Apache-2.0
"""Manual pages of file formats: sections of the documents, and members of the configuration by its schema."""
import json
import re

import helptext
import roff

# page: (what it is, [(document, heading)], commands that read or write it)
FORMATS = {
    "silken-switch.json": ("configuration of a switch", [
        ("manual.md", "## A switch: `silken run -c CONFIG.json`")], ["run", "replay", "schema", "ctl"]),
    "silken-stf": ("packet scripts", [
        ("manual.md", "## Packet scripts: `silken test PROG.p4 SCRIPT.stf...`")], ["test"]),
    "silken-trace": ("the path of a packet, as text and as JSON", [
        ("manual.md", "## A packet's way: `--trace`")], ["test", "replay", "run", "ctl"]),
    "silken-state.json": ("the state that packets left in a switch", [
        ("manual.md", "### The state that is left")], ["replay", "ctl", "twin"]),
    "silken-captures": ("captures of a running switch", [
        ("manual.md", "## Recording: `silken record`")], ["record", "replay"]),
    "silken-job.json": ("a job of ATP, for its stations", [
        ("manual.md", "## Jobs of ATP: `silken server` and `silken worker --protocol atp`")], ["worker", "server"]),
    "silken-layout": ("the hot parameters of a sparse model", [
        ("manual.md", "## The hot parameters of a sparse model: `silken libra profile`")], ["libra"]),
    "silken-scenario.json": ("a network to simulate, and the results", [
        ("simulation.md", "## A scenario"), ("simulation.md", "## Results")], ["sim"]),
}
KEYWORDS = {"type", "enum", "const", "pattern", "minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "items",
            "anyOf", "allOf", "oneOf", "not", "if", "then", "required", "dependentRequired", "dependentSchemas", "properties",
            "additionalProperties", "description", "default", "$ref", "title", "uniqueItems", "minProperties", "$schema", "$defs"}


class Schema:
    """The schema of configurations, as text."""

    def __init__(self, schema):
        self.definitions = schema["$defs"]
        self.members = schema["properties"]
        self.required = schema.get("required", [])
        self.shown = []  # definitions of objects, which become sections

    def resolved(self, node):
        unknown = set(node) - KEYWORDS
        if unknown:
            raise ValueError(f"the schema has a keyword that no manual page shows: {sorted(unknown)}")
        return node

    def kind(self, node):
        """A value in a few words: "number 0 to 3", "array of port"."""
        self.resolved(node)
        if "$ref" in node:
            _, where, name = node["$ref"].split("/", 2)
            if where == "properties":
                return "as " + name.replace("/properties/", ".")
            target = self.definitions[name]
            if "properties" in target:
                if name not in self.shown:
                    self.shown.append(name)
                return f"object {name} (below)"
            return self.kind({**target, **{k: v for k, v in node.items() if k != "$ref"}})
        if "enum" in node:
            return ", ".join(json.dumps(v) for v in node["enum"][:-1]) + (" or " if len(node["enum"]) > 1 else "") + json.dumps(node["enum"][-1])
        if "const" in node:
            return json.dumps(node["const"])
        kinds = [node["type"]] if isinstance(node.get("type"), str) else node.get("type", [])
        # numbers without a type are ranges of the one that is here
        ways = [self.kind({"type": node["type"], **w} if "type" in node else w) for w in node.get("anyOf", node.get("oneOf", []))
                if set(w) - {"required"}]
        if ways:
            first = ways[0].split()[0]
            return " or ".join(dict.fromkeys([ways[0]] + [w.removeprefix(first + " ") if re.match(r"integer \d", w) else w for w in ways[1:]]))
        text = " or ".join(kinds) or "any value"
        if "minimum" in node or "maximum" in node:
            text += f" {node['minimum']} to {node['maximum']}" if "minimum" in node and "maximum" in node else (
                f" from {node['minimum']}" if "minimum" in node else f" up to {node['maximum']}")
        if kinds == ["array"]:
            text = "array"
            if "minItems" in node or "maxItems" in node:
                text += f" of {node.get('minItems', 0)} to {node['maxItems']}" if "maxItems" in node else f" of at least {node['minItems']}"
            text += ": " + self.kind(node["items"]) if "items" in node else ""
        if kinds == ["object"] and isinstance(node.get("additionalProperties"), dict):
            text += " of names and values: " + self.kind(node["additionalProperties"])
        return text

    def object_of(self, node):
        """The object whose members are shown below |node|, or null."""
        if "properties" in node:
            return node
        return self.object_of(node["items"]) if "items" in node and "$ref" not in node["items"] else None

    def show(self, page, members, required):
        for name, node in members.items():
            text = self.kind(node) + (", required" if name in required else "")
            if "description" in node:
                text += ": " + node["description"]
            if "default" in node:
                text += f" (default: {json.dumps(node['default'])})"
            page.item(roff.bold(name), roff.escape(text))
            inner = self.object_of(node)
            if inner:
                page.lines.append(".RS")
                self.show(page, inner["properties"], inner.get("required", []))
                page.lines.append(".RE")


def switch_members(page, schema):
    """Sections with all members, and with those of objects that they name."""
    page.section("members")
    page.paragraph(roff.inline("As `silken schema --config` has them; `silken schema PROGRAM.p4` adds the program's tables, keys "
                               "and actions."))
    schema.show(page, schema.members, schema.required)
    at = 0
    while at < len(schema.shown):
        name = schema.shown[at]
        page.subsection("Object " + name)
        node = schema.definitions[name]
        schema.show(page, node["properties"], node.get("required", []))
        at += 1


def pages(program, version, documents):
    """{file name: text}. |documents|: {name: text}."""
    made = {}
    for name, (summary, sections, commands) in FORMATS.items():
        page = roff.Page(name, 5, version, summary)
        for i, (document, heading) in enumerate(sections):
            page.section("description" if i == 0 else heading.lstrip("# "))
            roff.markdown(page, roff.section_of(documents[document], heading))
        if name == "silken-switch.json":
            switch_members(page, Schema(json.loads(helptext.ask(program, "schema", "--config"))))
            page.section("files")
            page.item(roff.bold("/etc/silken/switch.json"), roff.escape("what the service silken.service runs"))
        page.see_also("silken(1)", *[f"silken-{c}(1)" for c in commands])
        made[name + ".5"] = page.text()
    return made
