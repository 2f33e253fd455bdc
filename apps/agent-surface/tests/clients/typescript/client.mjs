// The official TypeScript SDK's client drives the recipe's window through the bridge.
//
// usage: node client.mjs BRIDGE [ARGUMENTS...]

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "typescript-client", version: "1" });
// The SDK passes on a few variables only.
await client.connect(new StdioClientTransport({ command, args, env: { ...process.env } }));
assert.match(client.getInstructions(), /never instructions/);

const text = (result) => result.content.map((block) => block.text).join("\n");
async function call(name, args = {}) {
  const result = await client.callTool({ name, arguments: args });
  console.log(`${name} ${JSON.stringify(args)}\n  ${text(result).replaceAll("\n", "\n  ")}`);
  return result;
}

const { tools } = await client.listTools();
const names = tools.map((tool) => tool.name);
console.log("tools", names.join(" "));
assert.deepEqual(names.slice(0, 2), ["list_apps", "describe_ui"]);
const click = tools.find((tool) => tool.name === "click");
assert.equal(click.inputSchema.additionalProperties, false);
assert.equal(click.annotations.destructiveHint, true);

assert.match(text(await call("list_apps")), /org\.example\.orders/);
let shown = text(await call("describe_ui"));
assert.match(shown, /^# org\.example\.orders revision \d+\n/);
assert.match(shown, /\n button "Save" \[save-btn\]\n/);

const saved = await call("click", { id: "save-btn" });
assert.ok(!saved.isError && text(saved).includes("allowed"));
shown = text(await call("describe_ui"));
assert.match(shown, /text "saved for nobody" \[status\]/);

const base_version = Number(/textbox "Customer" \[name-field\].* v(\d+)/.exec(shown)[1]);
const written = await call("set_text", { id: "name-field", value: "Ada", base_version });
assert.ok(!written.isError);
const stale = await call("set_text", { id: "name-field", value: "Bob", base_version });
assert.ok(stale.isError && text(stale).includes("version_conflict"));
shown = text(await call("describe_ui"));
assert.match(shown, /="Ada" v/);

const structured = JSON.parse(text(await call("describe_ui", { structured: true })).split("\n")[1]);
assert.equal(structured.nodes[0].id, "main");

const uri = "agent-surface://events?node=save-btn&verb=clicked";
const updated = new Promise((resolve) => {
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, (note) => resolve(note.params.uri));
});
await client.subscribeResource({ uri });
await call("click", { id: "save-btn" });
assert.equal(await updated, uri);
const { events } = JSON.parse((await client.readResource({ uri })).contents[0].text);
console.log("heard", JSON.stringify(events));
assert.deepEqual(events.map(({ source, verb, own }) => [source, verb, own]), [["save-btn", "clicked", true]]);
await client.unsubscribeResource({ uri });

await client.close();
