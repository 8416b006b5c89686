import { LRUCache } from "lru-cache";
import { checkUrl, type Destinations, hostOf, type Refusal } from "../../src/ports/destinations.ts";

/** Where a request goes, in the terms of `http.request`. */
export interface Target {
  readonly protocol: string;
  readonly host: string;
  readonly port: string;
  readonly path: string;
}

export type CheckedTarget =
  { readonly ok: true; readonly target: Target } | ({ readonly ok: false } & Refusal);

/** URLs whose check is remembered: reading and checking one takes a fifth of the time of a whole request. */
const mostRemembered = 1_000;

/** Checks URLs, each again only when the rules are others. What a name leads to is checked with each connection. */
export function targets(): (url: string, to: Destinations) => CheckedTarget {
  const remembered = new LRUCache<
    string,
    { readonly to: Destinations; readonly checked: CheckedTarget }
  >({
    max: mostRemembered,
  });
  return (url, to) => {
    const before = remembered.get(url);
    if (before?.to === to) return before.checked;
    const checked = check(url, to);
    remembered.set(url, { to, checked });
    return checked;
  };
}

function check(text: string, to: Destinations): CheckedTarget {
  const checked = checkUrl(text, to);
  if (!checked.ok) return checked;
  const { protocol, port, pathname, search } = checked.url;
  return {
    ok: true,
    target: { protocol, host: hostOf(checked.url), port, path: pathname + search },
  };
}
