"""The official Python SDK drives the recipe's window through the bridge.

usage: client.py {legacy|2026-07-28|auto} BRIDGE [ARGUMENTS...]
"""

import asyncio
import json
import os
import re
import sys

import mcp
from mcp import StdioServerParameters

REVISION = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}


def text(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


def version(outline):
    return int(re.search(r'textbox "Customer" \[name-field\].* v(\d+)', outline)[1])


async def main(mode, command, *arguments):
    # The SDK passes on a few variables only.
    server = StdioServerParameters(command=command, args=list(arguments), env=dict(os.environ))
    updated = asyncio.Event()

    async def hear(message):
        if getattr(message, "method", "") == "notifications/resources/updated":
            updated.set()

    options = {"mode": mode, "read_timeout_seconds": 30, "message_handler": hear}
    async with mcp.Client(server, **options) as client:
        assert client.protocol_version == REVISION[mode], client.protocol_version

        async def call(tool, **arguments):
            result = await client.call_tool(tool, arguments)
            print(f"{tool} {arguments}\n  " + text(result).replace("\n", "\n  "))
            return result

        tools = [tool.name for tool in (await client.list_tools()).tools]
        print("tools", tools)
        assert tools[:2] == ["list_apps", "describe_ui"], tools
        assert {"click", "set_text", "get_text"} <= set(tools), tools

        assert "org.example.orders" in text(await call("list_apps"))
        shown = text(await call("describe_ui"))
        assert shown.startswith("# org.example.orders revision "), shown
        assert '\n button "Save" [save-btn]\n' in shown, shown

        saved = await call("click", id="save-btn")
        assert not saved.is_error and "allowed" in text(saved), saved
        shown = text(await call("describe_ui"))
        assert 'text "saved for nobody" [status]' in shown, shown

        edit = {"id": "name-field", "value": "Ada", "base_version": version(shown)}
        written = await call("set_text", **edit)
        assert not written.is_error, written
        stale = await call("set_text", **{**edit, "value": "Bob"})
        assert stale.is_error and "version_conflict" in text(stale), stale
        await call("click", id="save-btn")
        shown = text(await call("describe_ui"))
        assert '="Ada" v' in shown and 'text "saved for Ada" [status]' in shown, shown

        refused = await call("click", id="nothing-like-it")
        assert refused.is_error and "not_found" in text(refused), refused

        uri = "agent-surface://events?node=save-btn&verb=clicked"

        async def heard():
            """What the resource holds, once it was updated."""
            events = json.loads((await client.read_resource(uri)).contents[0].text)["events"]
            print("heard", events)
            return [(event["source"], event["verb"], event["own"]) for event in events]

        if REVISION[mode] == "2026-07-28":
            async with client.listen(resource_subscriptions=[uri]) as stream:
                await call("click", id="save-btn")
                async with asyncio.timeout(30):
                    print("updated", await anext(aiter(stream)))
                assert await heard() == [("save-btn", "clicked", True)]
        else:
            await client.subscribe_resource(uri)
            await call("click", id="save-btn")
            async with asyncio.timeout(30):
                await updated.wait()
            assert await heard() == [("save-btn", "clicked", True)]
            await client.unsubscribe_resource(uri)


asyncio.run(main(*sys.argv[1:]))
