import { describe, expect, it } from "vitest";
import { MessagingEngine } from "../../adapters/entry.ts";
import { english } from "../../adapters/language/index.ts";
import { rules } from "../../adapters/models/index.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import { simulated } from "../../adapters/testing/index.ts";
import type { AccountOptions, EngineOptions, StopOptions } from "../../src/host/options/options.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import { carrier } from "../support/engines/carrier.ts";
import { thrownBy } from "../support/thrown-by.ts";

const good: EngineOptions = { storage: memory(), transports: [carrier()], ...simulated() };

/** A carrier with other capabilities, also with wrong ones. */
const able = (other: object) => ({
  ...carrier(),
  capabilities: { ...carrier().capabilities, ...other },
});

/** The error of options as a JavaScript host application might pass them. */
function complaint(wrong: unknown): string {
  const error = thrownBy(() => new MessagingEngine(wrong as EngineOptions));
  if (typeof error === "string") return error;
  expect(error).toBeInstanceOf(TidingsError);
  expect(error).toMatchObject({ code: "invalid_option", retryable: false });
  return error instanceof Error ? error.message : "";
}

describe("options", () => {
  it.each<[name: string, wrong: unknown, expected: RegExp, got: string]>([
    ["storage", undefined, /sqlite\(\{ file \}\) of .*, or postgres\(\{ pool \}\) of/, "undefined"],
    ["storage", "app.db", /a storage/, "a string"],
    ["storage", {}, /a storage/, "an object"],
    ["storage", memory, /a storage/, "a function. Call the function, and pass what it returns."],
    ["transports", undefined, /a list of transports, such as \[sandbox\(\)\]/, "undefined"],
    ["transports", carrier(), /a list of transports, such as \[sandbox\(\)\]/, "an object"],
    ["transports", [], /at least one transport, such as sandbox\(\)/, "an empty list"],
    ["transports.0", [null], /a transport with a name/, "null"],
    [
      "transports.0",
      [{ name: "half" }],
      /a transport with a name/,
      "an object. Missing or wrong: capabilities, send",
    ],
    [
      "transports.1",
      [carrier(), { send: () => {} }],
      /a transport with a name/,
      "an object. Missing or wrong: name, capabilities",
    ],
    [
      "transports.0",
      [carrier],
      /a transport with a name/,
      "a function. Call the function, and pass what it returns.",
    ],
    ["transports.0.name", [carrier({ name: "x y" })], /for the path of its callbacks/, '"x y"'],
    ["transports.0.name", [carrier({ name: ".." })], /and not only dots/, '".."'],
    [
      "transports.0.capabilities.channels",
      [able({ channels: ["sms", "rcs"] })],
      /a list of one or more of "sms", "mms"/,
      'a list with "rcs"',
    ],
    ["transports.0.capabilities.channels", [able({ channels: "sms" })], /a list of one/, '"sms"'],
    [
      "transports.0.capabilities.modes",
      [able({ modes: [] })],
      /a list of one or more of "sandbox", "live"/,
      "a list of 0",
    ],
    ["transports.0.capabilities.receipts", [able({ receipts: "no" })], /"none" or/, '"no"'],
    [
      "transports.0.capabilities.receipts.lookups_ms",
      [able({ receipts: { timeout_ms: 1 } })],
      /a list of times in ascending order/,
      "undefined",
    ],
    ...[-1, 0.5, Infinity, Number.MAX_SAFE_INTEGER].map(
      (time): [string, unknown, RegExp, string] => [
        "transports.0.capabilities.receipts.timeout_ms",
        [able({ receipts: { timeout_ms: time, lookups_ms: [] } })],
        /whole milliseconds, from 0 to 315360000000 \(3,650 days\)/,
        String(time),
      ],
    ),
    [
      "transports.0.capabilities.receipts.lookups_ms.1",
      [{ ...able({ receipts: { timeout_ms: 9, lookups_ms: [1, 0.1] } }), lookup() {} }],
      /whole milliseconds/,
      "0.1",
    ],
    [
      "transports.0.capabilities.receipts.lookups_ms.2",
      [{ ...able({ receipts: { timeout_ms: 9, lookups_ms: [1, 8, 5] } }), lookup() {} }],
      /times in ascending order/,
      "5 after 8",
    ],
    [
      "transports.0.capabilities.receipts.lookups_ms.1",
      [{ ...able({ receipts: { timeout_ms: 9, lookups_ms: [1, 10] } }), lookup() {} }],
      /a time up to timeout_ms, which is 9/,
      "10",
    ],
    [
      "transports.0.capabilities.receipts.lookups_ms",
      [able({ receipts: { timeout_ms: 9, lookups_ms: [5] } })],
      /an empty list, because the transport has no method lookup/,
      "a list of 1",
    ],
    ["transports.0.lookup", [{ ...carrier(), lookup: 5 }], /a function, or nothing/, "5"],
    ["transports.0.parseCallback", [{ ...carrier(), parseCallback: "x" }], /a function, /, '"x"'],
    ["transports.0.start", [{ ...carrier(), start: {} }], /a function, or nothing/, "an object"],
    ["transports.0.stop", [{ ...carrier(), stop: true }], /a function, or nothing/, "true"],
    [
      "transports.0.capabilities.confirms_opt_outs",
      [able({ confirms_opt_outs: undefined })],
      /true or false/,
      "undefined",
    ],
    ["transports", [carrier(), carrier()], /different names/, '"sandbox"'],
    ["routes", {}, /a list of up to 100 routes/, "an object"],
    [
      "routes",
      Array.from({ length: 101 }, () => ({ transports: ["sandbox"] })),
      /a list of up to 100 routes/,
      "a list of 101",
    ],
    ["routes.0", ["sandbox"], /a route, such as \{ transports: \["sandbox"\] \}/, "a string"],
    ["routes.0.transports", [{}], /a list of up to 5 names of transports/, "undefined"],
    ["routes.0.transports", [{ transports: [] }], /at least one name of a transport/, "an empty"],
    [
      "routes.0.transports.1",
      [{ transports: ["sandbox", "twilio"] }],
      /the name of one of the transports \("sandbox"\)/,
      '"twilio"',
    ],
    [
      "routes.0.transports",
      [{ transports: ["sandbox", "sandbox"] }],
      /different names of transports/,
      '"sandbox" twice',
    ],
    ["routes.0.from", [{ transports: ["sandbox"], from: [] }], /at least one address/, "an empty"],
    [
      "routes.0.to.1",
      [{ transports: ["sandbox"], to: ["+44", "44"] }],
      /the beginning of a phone number, such as "\+44"/,
      '"44"',
    ],
    ["routes.0.channels.0", [{ transports: ["sandbox"], channels: ["fax"] }], /"sms"/, '"fax"'],
    [
      "routes.0.fallBackAfter.0",
      [{ transports: ["sandbox"], fallBackAfter: ["failed"] }],
      /"ambiguous" or "undelivered"/,
      '"failed"',
    ],
    ["clock", null, /a clock with the methods now, monotonic and sleep/, "null"],
    ["clock", { now: Date.now }, /a clock/, "an object"],
    ["random", null, /randomness/, "null"],
    ["logger", { info() {} }, /a logger with the methods debug, info, warn and error/, "an object"],
    ["language", "en", /a language, such as english\(\)/, "a string"],
    ["language", { readDate() {} }, /a language/, "an object"],
    ["mode", "production", /"sandbox" or "live"/, '"production"'],
    ["concurrency", 0, /a whole number from 1 to 1000/, "0"],
    ["concurrency", 1_001, /a whole number from 1 to 1000/, "1001"],
    ["laneConcurrency", 1.5, /a whole number from 1 to 1000/, "1.5"],
    ["laneConcurrency", "8", /a whole number from 1 to 1000/, "a string"],
    ["idempotencyHours", 721, /a whole number from 1 to 720/, "721"],
    ["eventRetentionDays", Number.NaN, /a whole number from 1 to 3650/, "NaN"],
    ["runRetentionDays", 0, /a whole number from 1 to 3650/, "0"],
    [
      "timeZone",
      "Mars/Olympus",
      /a time zone of the IANA database, such as Europe\/Berlin/,
      '"Mars/Olympus"',
    ],
    ["timeZone", "+01:00", /a time zone/, '"+01:00"'],
    ["timeZone", 1, /a time zone/, "1"],
    ["limits", null, /an object/, "null"],
    ["limits", 7, /an object/, "7"],
    ["limits.bodyBytes", { bodyBytes: -1 }, /a whole number above 0/, "-1"],
    ["webchat.origins.1", { origins: ["https://a.example", "b"] }, /an origin, such as/, '"b"'],
    [
      "webchat.origins.0",
      { origins: ["https://a.example/chat"] },
      /an origin, such as/,
      '"https://a.example/chat". Did you mean "https://a.example"?',
    ],
    ["http.allow.0", { client: {}, allow: ["a b"] }, /a host name, an address or/, '"a b"'],
    ["http.allow.0", { client: {}, allow: ["a:80"] }, /, without scheme and port/, '"a:80"'],
    ["policies.0.name", [{ name: "Quiet", evaluate() {} }], /letter and up to 63/, '"Quiet"'],
    ["policies.0.evaluate", [{ name: "quiet", check() {} }], /a function/, "undefined"],
    ["policies.0", [() => "allow"], /a policy with a name and a method evaluate/, "a function"],
    ["agents.actions.0.risk", { model: rules(), actions: [{}] }, /"read", "write" or/, "undefined"],
    ["agents.actions.0", { model: rules(), actions: [() => 1] }, /an action with a/, "a function"],
    ["agents", 5, /\{ model \}, such as rules/, "5"],
    [
      "agents.model",
      { model: null },
      /a model, such as rules\(\) of "tidings\/models", or a function that/,
      "null",
    ],
    [
      "agents.model",
      { model: { specificationVersion: "v3", doGenerate() {} } },
      /a model, such as/,
      'an object. Pass languageModel(model) of "tidings/models".',
    ],
    ["http.client", { client: {} }, /a client, such as httpClient/, "an object"],
    ["consent.scope", { scope: "all" }, /"account" or "sender"/, '"all"'],
    ["consent.optOutText", { optOutText: " " }, /a string of 1 to 1,600/, "a string that is blank"],
    ["consent.helpText", { helpText: "a".repeat(1_601) }, /1,600/, "a string of 1601 characters"],
    ["consent.helpText", { helpText: "\0" }, /1,600/, "a string with NUL or half a surrogate pair"],
    ["consent.helpText", { helpText: null }, /1,600/, "null"],
    ["quietHours", "night", /\{ from, to \} as "HH:MM"/, "a string"],
    ["quietHours.from", { from: "8:00", to: "20:00" }, /a time of day as "HH:MM"/, '"8:00"'],
    ["quietHours.to", { from: "08:00" }, /a time of day as "HH:MM"/, "undefined"],
  ])(
    "that are invalid are reported with the expected and the given value: %s %o",
    (name, wrong, expected, got) => {
      const option = name.split(".")[0] ?? "";
      const told = complaint({ ...good, [option]: wrong });
      expect(told).toMatch(expected);
      expect(told).toContain(`${name}: expected `);
      expect(told).toContain(`got ${got}`);
    },
  );

  it.each<[name: string, given: unknown, problem: string]>([
    [
      "limits.body_bites",
      { body_bites: 10 },
      'unknown option. Did you mean "bodyBytes"? Known options: bodyBytes, batchBodyBytes, ',
    ],
    ["limits.toString", { toString: 10 }, "unknown option. Known options: bodyBytes, "],
    [
      "storag",
      memory(),
      'unknown option. Did you mean "storage"? Known options: storage, transports, ',
    ],
    ["lane_concurrency", 8, 'unknown option. Did you mean "laneConcurrency"? Known options: st'],
    ["colour", 1, "unknown option. Known options: storage, "],
    [
      "routes.0.channel",
      [{ transports: ["sandbox"], channel: "sms" }],
      'unknown option. Did you mean "channels"? Known options: from, channels, ',
    ],
    [
      "transports.0.capabilities.chanels",
      [able({ chanels: ["sms"] })],
      'unknown option. Did you mean "channels"? Known options: channels, modes, ',
    ],
    [
      "transports.0.capabilities.receipts.timeout",
      [able({ receipts: { timeout_ms: 1, lookups_ms: [], timeout: 1 } })],
      'unknown option. Did you mean "timeout_ms"? Known options: timeout_ms, lookups_ms',
    ],
    [
      "agents.modle",
      { model: rules(), modle: 1 },
      'unknown option. Did you mean "model"? Known options: model, actions, redact',
    ],
    [
      "http.alow",
      { client: { send() {}, close() {} }, alow: [] },
      'unknown option. Did you mean "allow"? Known options: client, allow',
    ],
    ["webhooks.deadline", { deadline: 1 }, "unknown option. Known options: deadlineSeconds"],
    [
      "quietHours.timeZone",
      { from: "21:00", to: "08:00", timeZone: "UTC" },
      "unknown option. Known options: from, to",
    ],
  ])(
    "that are unknown are reported with the option that they resemble: %s",
    (name, given, problem) => {
      const option = name.split(".")[0] ?? "";
      expect(complaint({ ...good, [option]: given })).toContain(`${name}: ${problem}`);
    },
  );

  it("that are unknown are reported with the list of options once", () => {
    const told = complaint({
      ...good,
      quiethours: {},
      loger: console,
      colour: 1,
      limits: { x: 1 },
    });
    expect(told).toMatch(
      /^limits\.x: unknown option\. Known options: bodyBytes, [\w, ]+; quiethours/,
    );
    expect(told).toMatch(
      /; quiethours: unknown option\. Did you mean "quietHours"\? Known options: storage, [\w, ]+; loger: unknown option\. Did you mean "logger"\?; colour: unknown option$/,
    );
  });

  it("that are unknown are named up to the fifth: a whole object of a library has many", () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`field${n}`, n]));
    const told = complaint({ ...good, ...many });
    expect(told).toMatch(/; field4: unknown option \(and 25 more\)$/);
  });

  it("that are invalid are listed in `errors` with their places", () => {
    const wrong = { ...good, mod: "live", http: { client: 1 } } as unknown as EngineOptions;
    const thrown = thrownBy(() => new MessagingEngine(wrong));
    expect(thrown).toMatchObject({
      errors: [
        {
          pointer: "/http/client",
          code: "invalid",
          message: expect.stringMatching(/^expected a cl/),
        },
        { pointer: "/mod", code: "unknown_option", message: expect.stringMatching(/"mode"\? Kn/) },
      ],
    });
  });

  it("are all reported at once if they are invalid", () => {
    const told = complaint({ ...good, storage: 1, mode: "x", concurrency: 0 });
    expect(told.split("; ").map((each) => each.slice(0, each.indexOf(":")))).toEqual([
      "storage",
      "mode",
      "concurrency",
    ]);
  });

  it.each([undefined, null, "app.db", 7])("that are not an object are rejected: %o", (wrong) => {
    expect(complaint(wrong)).toMatch(/^options: expected an object, got /);
  });

  it("with a secret do not show it in errors", () => {
    expect(
      complaint({ ...good, storage: { password: "hunter2" }, random: () => "hunter2" }),
    ).not.toContain("hunter2");
    const url = "postgres://app:hunter2@db/app";
    for (const option of [
      "storage",
      "transports",
      "clock",
      "random",
      "logger",
      "limits",
      "concurrency",
      "idempotencyHours",
    ]) {
      expect(complaint({ ...good, [option]: url })).not.toContain("hunter2");
    }
    expect(complaint({ ...good, limits: { bodyBytes: url } })).not.toContain("hunter2");
    expect(complaint(url)).not.toContain("hunter2");
  });

  it("that are valid are accepted, with defaults for the others", () => {
    expect(
      new MessagingEngine({ ...good, limits: {}, concurrency: 1_000 }).account().scope.mode,
    ).toBe("sandbox");
    expect(new MessagingEngine({ ...good, mode: "live" }).account().scope.mode).toBe("live");
  });

  it("of `engine.account` do not come first", () => {
    const engine = new MessagingEngine(good);
    const account = (id: unknown): unknown => engine.account(id as string);
    expect(() => account({ mode: "live" })).toThrow(
      "engine.account: id: expected the id of an account, or undefined for the default account, " +
        "got an object. Options such as { mode } come second.",
    );
    expect(() => account(7)).toThrow("engine.account: id: expected the id of an account");
  });

  it.each<[options: unknown, problem: string]>([
    [{ mode: "test" }, 'engine.account: mode: expected "sandbox" or "live", got "test"'],
    [{ mode: null }, 'engine.account: mode: expected "sandbox" or "live", got null'],
    [
      { mod: "live" },
      'engine.account: mod: unknown option. Did you mean "mode"? Known options: mode',
    ],
    ["live", "engine.account: options: expected an object, got a string"],
  ])("of `engine.account` are checked, too: %o", (options, problem) => {
    const engine = new MessagingEngine(good);
    const account = (): unknown => engine.account(undefined, options as AccountOptions);
    expect(account).toThrow(expect.objectContaining({ code: "invalid_option", message: problem }));
    expect(engine.account(undefined, { mode: "live" }).scope.mode).toBe("live");
  });

  it.each<[options: unknown, problem: string]>([
    [
      { deadline: 5 },
      'engine.stop: deadline: unknown option. Did you mean "deadlineMs"? Known options: deadlineMs',
    ],
    [
      { deadlineMs: "x" },
      "engine.stop: deadlineMs: expected a whole number from 0 to 3600000, got a string",
    ],
    [
      { deadlineMs: -1 },
      "engine.stop: deadlineMs: expected a whole number from 0 to 3600000, got -1",
    ],
    [
      { deadlineMs: Infinity },
      "engine.stop: deadlineMs: expected a whole number from 0 to 3600000, got Infinity",
    ],
    ["SIGTERM", "engine.stop: options: expected an object, got a string"],
  ])("of `engine.stop` are checked before anything stops: %o", async (options, problem) => {
    await using engine = new MessagingEngine({ ...good, storage: memory() });
    await expect(engine.stop(options as StopOptions)).rejects.toMatchObject({
      code: "invalid_option",
      message: problem,
    });
    await engine.start();
  });

  it.each([NaN, -1, 1.5, Infinity, "3"])(
    "of `engine.migrationSql` are checked, so that no statements skip tables: %o",
    (from) => {
      const engine = new MessagingEngine({ ...good, storage: sqlite({ file: "unused.db" }) });
      const print = (): string => engine.migrationSql(from as number);
      expect(print).toThrow("engine.migrationSql: from: expected a whole number from 0 to ");
      expect(engine.migrationSql(0)).toBe(engine.migrationSql());
    },
  );

  it("need only a storage and transports; clock, randomness and logger default to the system's", async () => {
    const { storage, transports } = good;
    await using engine = new MessagingEngine({ storage, transports });
    const before = Date.now();
    const contact = await engine.contacts.create({ phone: "+15005550101" });
    expect(Date.parse(contact.created_at)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(contact.created_at)).toBeLessThanOrEqual(Date.now());
    const same = { ...good, clock: undefined, random: undefined, language: undefined };
    expect(complaint(same)).toMatch(/^none/);
  });

  it("decide which language agents understand", async () => {
    const asked: string[] = [];
    const { clock, random } = simulated();
    await using engine = new MessagingEngine({
      ...good,
      storage: memory(),
      clock,
      random,
      agents: { model: rules() },
      language: { ...english(), asksForPerson: (text) => asked.push(text) > 0 },
    });
    await engine.start();
    await engine.agents.create({
      name: "Ada",
      channels: ["sms"],
      enabled: true,
      persona: { role: "assistant" },
      instructions: "",
      handoff: { rules: [{ on: "customer_request" }], on_no_humans: "leave_message" },
      fallback_text: "Sorry?",
    });
    await engine.sandbox.inbound({ from: "+15005550101", body: "Einen Menschen, bitte" });
    await clock.advanceUntil(() => asked.length > 0);
    expect(asked).toEqual(["Einen Menschen, bitte"]);
  });
});
