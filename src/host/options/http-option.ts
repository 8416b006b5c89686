/** The check of the option `http`. */
import { listOption, option, optionsObject, portOption } from "../../kernel/index.ts";
import { destinations, type HttpClient } from "../../ports/index.ts";
import type { HttpSettings } from "../../webhooks/index.ts";

const destination = option<string>(
  "a host name, an address or a network, without scheme and port",
  isDestination,
  {
    isQuoted: true,
  },
);

export const http = optionsObject(
  {
    client: portOption<HttpClient>(
      'a client, such as httpClient() of "tidings/http-client"',
      "send",
      "close",
    ),
    allow: listOption("host names, addresses and networks", destination, 1_000).default(() => []),
  },
  '{ client }, such as httpClient() of "tidings/http-client"',
).transform(({ client, allow }): HttpSettings => ({
  client,
  destinations: { live: destinations({ allow }), sandbox: destinations({ allow, http: true }) },
}));

function isDestination(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    destinations({ allow: [value] });
    return true;
  } catch {
    return false;
  }
}
