"""A stack from its creation to its removal by the Automation API, with a program of this process. Prints what came of it."""

import json

from pulumi import Config, Output, Stash, export
from pulumi.automation import ConfigValue, create_stack, select_stack


def program():
    config = Config()
    first = Stash("first", input=config.require("word"))
    Stash("second", input=Output.secret(config.require_secret("password")))
    export("word", first.output)
    export("password", config.require_secret("password"))


def kinds(stack):
    return [update.kind for update in stack.history()]


place = {"stack_name": "dev", "project_name": "automated", "program": program}
stack = create_stack(**place)
stack.set_config("word", ConfigValue("one"))
stack.set_config("password", ConfigValue("hunter2", secret=True))
said = {"user": stack.workspace.who_am_i().user}
said["planned"] = {str(kind): count for kind, count in stack.preview().change_summary.items()}
events = []
result = stack.up(message="by a program", on_event=events.append)
said["created"] = result.summary.resource_changes
said["message"] = result.summary.message
said["outputs"] = {name: [output.value, output.secret] for name, output in result.outputs.items()}
said["events"] = sorted({name for event in events for name in ("resource_pre_event", "summary_event") if getattr(event, name)})

stack.set_tag("team", "web")
said["tag"] = stack.get_tag("team")
state = stack.export_stack()
stack.import_stack(state)
again = select_stack(**place)
# Its configuration is that of the newest update.
again.refresh_config()
said["same"] = again.up().summary.resource_changes
again.refresh()
said["history"] = kinds(again)
said["stacks"] = [(known.name, known.resource_count) for known in again.workspace.list_stacks()]
said["destroyed"] = again.destroy().summary.resource_changes
again.workspace.remove_stack("dev")
said["left"] = len(again.workspace.list_stacks())
print(json.dumps(said))
