import { version } from "../about.ts";
import { eventLine } from "../events/line.ts";
import { bold, dim, print, table } from "../terminal.ts";
import type { DevServer } from "./server.ts";

/** The events that are printed while the server runs. */
const shown = [
  "message.received",
  "message.sent",
  "message.failed",
  "conversation.handoff",
  "agent.run.awaiting_approval",
  "contact.opted_out",
] as const;

/** Prints where everything is, and then what happens. */
export function announce({ engine, file, url, pages, token, key }: DevServer): void {
  const rows = [
    ...pages.map((page) => [bold(page.name), page.url, dim(page.purpose)]),
    [bold("Token"), token, dim("opens the console and the inbox until the server stops")],
    [bold("API"), `${url}/v1`, dim("described in /v1/openapi.json")],
    [bold("Key"), key.secret, dim(`${key.isNew ? "new, " : ""}kept in ${key.file}`)],
    [bold("Data"), file, dim("delete it to start over")],
  ];
  print(
    "",
    `  ${bold("tidings")} ${version()}  ${dim("sandbox: no real SMS is sent")}`,
    "",
    ...table(rows).map((line) => `  ${line}`),
    "",
    `  ${dim("Sign in to the console and the inbox:")}`,
    `    ${url}/console/#token=${token}`,
    "",
    `  ${dim("Send a message:")}`,
    `    curl ${url}/v1/messages -H "Content-Type: application/json" \\`,
    `      -H "Authorization: Bearer ${key.secret}" \\`,
    `      -d '{"to":"+15005550001","body":"Hello"}'`,
    "",
    `  ${dim("Press Ctrl+C to stop.")}`,
    "",
  );
  for (const type of shown) engine.on(type, (event) => print(`  ${eventLine(event)}`));
}
