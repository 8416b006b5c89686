/**
 * API7:2023. No URL of a stranger makes the engine connect to a private address.
 * `test/ports/destinations.test.ts` has every range and notation, and `test/adapters/http-client`
 * every way to reach one: names, redirects, kept connections. This is the way through the API.
 */
import { afterEach, expect, test } from "vitest";
import { httpClient } from "../../adapters/http-client/index.ts";
import { system } from "../../adapters/system/index.ts";
import { nameServer } from "../adapters/http-client/name-server.ts";
import { receiver } from "../adapters/http-client/receiver.ts";
import { call, jsonOf } from "../api/call.ts";
import { guardedRoutes, nameOf, requestOf } from "./examples.ts";
import { alternatives, bodySchemaOf, type Schema } from "./fields.ts";
import { newOwner } from "./owner.ts";
import { idleWorld, type SecurityWorld } from "./world.ts";

let there: SecurityWorld | undefined;
afterEach(() => there?.stop());

const privateUrls: readonly string[] = [
  "https://127.0.0.1/",
  "https://127.1/",
  "https://2130706433/",
  "https://0x7f000001/",
  "https://0x7f.1/",
  "https://0177.0.0.1/",
  "https://127.0.0.1:22/",
  "https://0.0.0.0/",
  "https://0/",
  "https://10.0.0.1/",
  "https://172.16.0.1/",
  "https://192.168.0.1/",
  "https://100.64.0.1/",
  "https://169.254.169.254/latest/meta-data/",
  "https://2852039166/",
  "https://168.63.129.16/",
  "https://224.0.0.1/",
  "https://255.255.255.255/",
  "https://[::]/",
  "https://[::1]/",
  "https://[::ffff:127.0.0.1]/",
  "https://[::ffff:7f00:1]/",
  "https://[::127.0.0.1]/",
  "https://[64:ff9b::7f00:1]/",
  "https://[2002:7f00:1::]/",
  "https://[fc00::1]/",
  "https://[fe80::1]/",
  "https://[fe80::1%25eth0]/",
  "https://localhost/",
  "https://LOCALHOST./",
  "https://a.localhost/",
  "https://printer.local/",
  "https://metadata.google.internal/",
  "https://intranet/",
  "https://%6c%6f%63%61%6c%68%6f%73%74/",
  "https://\uff11\uff12\uff17.0.0.1/",
  "https://127\u30020\u30020\u30021/",
  "https://kim@127.0.0.1/",
  "https://example.com@127.0.0.1/",
  "https://example.com:secret@example.com/",
  "file:///etc/passwd",
  "gopher://example.com/",
  "ftp://example.com/",
  "javascript:alert(1)",
  "data:text/html,x",
  "//example.com/",
  "https://",
  "https:///etc",
  "https://example.com:0/",
  "https://example.com:99999/",
];

/** Who fetches the URL of a field. The engine itself calls webhooks only. */
const fetchedBy: Readonly<Record<string, "engine" | "others">> = {
  "POST /v1/webhooks /url": "engine",
  "PATCH /v1/webhooks/:id /url": "engine",
  // The carrier fetches media. A page fetches them and avatars with `publicOnly`: test/web.
  "PUT /v1/operators/:id /avatar_url": "others",
  "POST /v1/messages /media/url": "others",
  "POST /v1/messages/batch /messages/media/url": "others",
  "POST /v1/messages/preview /media/url": "others",
  "PATCH /v1/messages/:id /media/url": "others",
  "POST /v1/conversations/:id/messages /media/url": "others",
  "POST /v1/sandbox/inbound /media/url": "others",
};

/** The places of a body that take a URL. */
function urlsIn(schema: Schema, at = ""): readonly string[] {
  return alternatives(schema).flatMap(({ format, properties = {}, items }) => [
    ...(format === "uri" ? [at] : []),
    ...(items === undefined ? [] : urlsIn(items, at)),
    ...Object.entries(properties).flatMap(([name, each]) => urlsIn(each, `${at}/${name}`)),
  ]);
}

test("every field that takes a URL says who fetches it", () => {
  const found = guardedRoutes.flatMap((route) =>
    urlsIn(bodySchemaOf(route) ?? {}).map((at) => `${nameOf(route)} ${at}`),
  );
  expect([...new Set(found)].toSorted()).toEqual(Object.keys(fetchedBy).toSorted());
});

const called = Object.entries(fetchedBy).flatMap(([name, by]) =>
  by === "engine" ? [name.replace(/ [^ ]*$/, "")] : [],
);

test.each(called)("%s refuses private addresses in every form", async (name) => {
  there = idleWorld();
  const own = await newOwner(there);
  const route = guardedRoutes.find((each) => nameOf(each) === name) ?? expect.fail();
  for (const { secret: key } of [own, await there.tenant("live")]) {
    if (key !== own.secret && name.includes(":")) continue;
    const request = requestOf(route, own);
    const before = await there.written();
    for (const url of privateUrls) {
      const body = { ...request.body, url };
      const answer = await call(there.engine.api, { ...request, key, body });
      expect([url, answer.status, jsonOf(answer)["errors"]]).toEqual([
        url,
        422,
        [expect.objectContaining({ pointer: "/url" })],
      ]);
    }
    expect((await there.written()).slice(before.length)).toEqual([]);
  }
});

test("a webhook whose name points to a private address later is not called, and not told why", async () => {
  const inside = await receiver({ onRequest: (socket) => void socket.end() });
  const names = await nameServer({
    "rebound.example": [["127.0.0.1"]],
    "mixed.example": [["93.184.215.14", "127.0.0.1"]],
    "mapped.example": [["::ffff:127.0.0.1"]],
  });
  const client = httpClient({ dnsServers: [names.address] });
  there = idleWorld({ http: { client }, ...system() });
  const { secret: key } = await there.tenant("sandbox");
  await there.engine.start();
  const ask = async (method: string, path: string, body?: object) =>
    jsonOf(await call(there?.engine.api ?? expect.fail(), { method, path, key, body }));
  for (const host of ["rebound.example", "mixed.example", "mapped.example"]) {
    const url = `http://${host}:${inside.port}/`;
    const { id } = await ask("POST", "/v1/webhooks", { url, events: ["message.sent"] });
    const { id: delivery } = await ask("POST", `/v1/webhooks/${String(id)}/test`, {});
    const path = `/v1/webhooks/${String(id)}/deliveries/${String(delivery)}`;
    const attempts = async (): Promise<readonly Record<string, unknown>[]> =>
      (await ask("GET", path))["attempts"] as Record<string, unknown>[];
    await expect.poll(async () => (await attempts()).length).toBeGreaterThan(0);
    const [attempt = {}] = await attempts();
    expect([host, attempt["error"]]).toEqual([host, "address_forbidden"]);
    // The address of a name would describe the internal network.
    expect(JSON.stringify(attempt)).not.toMatch(/127\.0\.0\.1|::ffff/);
  }
  expect(inside.connections).toEqual([]);
  client.close();
});
