import { globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import { builtIn } from "../../tsup.config.ts";
import { hiddenInputs } from "./determinism.ts";
import { misplacedImports, type Modules } from "./layers.ts";
import { importsOf, parse } from "./syntax.ts";

const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
  dependencies: Record<string, string>;
};

function modulesIn(...patterns: string[]): Modules {
  return new Map(
    globSync(patterns).map((path) => [path.replaceAll("\\", "/"), readFileSync(path, "utf8")]),
  );
}

describe("the project", () => {
  test("imports follow the order of the modules, without cycles", () => {
    const modules = modulesIn("src/**/*.ts", "adapters/**/*.{ts,tsx}", "examples/**/*.ts");
    expect(modules.size).toBeGreaterThan(20);
    const libraries = [...Object.keys(dependencies), ...builtIn];
    expect(misplacedImports(modules, libraries)).toEqual([]);
  });

  test("the core uses clocks, randomness, timers and the outside world only through its ports", () => {
    const findings = [...modulesIn("src/**/*.ts")].flatMap(([path, source]) =>
      hiddenInputs(path, source),
    );
    expect(findings).toEqual([]);
  });

  // Prettier wraps code, but neither comments nor texts.
  test("no line of the product is longer than 100 characters", () => {
    const modules = modulesIn("{src,adapters}/**/*.{ts,tsx}");
    const long = [...modules].flatMap(([path, source]) =>
      source.split("\n").flatMap((line, i) => (line.length > 100 ? [`${path}:${i + 1}`] : [])),
    );
    expect(long).toEqual([]);
  });

  test("the thread of a SQLite file starts fast, since it loads neither a package nor the core", () => {
    const loaded = new Set(["adapters/storage/sqlite/thread/worker.ts"]);
    for (const path of loaded) {
      if (path.startsWith("node:")) continue;
      expect(path).toMatch(/^adapters\/storage\//);
      for (const { from, isType } of importsOf(parse(readFileSync(path, "utf8"), path))) {
        if (!isType) loaded.add(from.startsWith(".") ? posix.join(path, "..", from) : from);
      }
    }
    expect(loaded.size).toBeGreaterThan(3);
  });
});

describe("the check of imports", () => {
  const check = (modules: Record<string, string>) =>
    misplacedImports(new Map(Object.entries({ ...floor, ...modules })), ["zod"]);
  const floor = {
    "src/engine.ts": "",
    "src/ports/index.ts": "",
    "src/contacts/find.ts": "",
    "src/contacts/index.ts": "",
    "src/messages/rows.ts": "",
    "src/messages/index.ts": "",
    "adapters/testing/index.ts": "",
    "adapters/storage/memory/index.ts": "",
    "adapters/http/node.ts": "",
    "adapters/language/index.ts": "",
    "adapters/models/index.ts": "",
    "adapters/entry.ts": "",
    "src/index.ts": "",
    "adapters/web/inbox/browser/app.tsx": "",
    "adapters/web/shared/browser/theme.ts": "",
  };

  test.each([
    [
      "src/ports/logger.ts",
      "import type { A } from '../messages/index.ts'",
      "ports stands below messages",
    ],
    [
      "src/contacts/list.ts",
      "export * from '../messages/index.ts'",
      "contacts stands below messages",
    ],
    [
      "src/messages/send.ts",
      "import { a } from '../contacts/find.ts'",
      "another module imports only src/contacts/index.ts",
    ],
    [
      "src/messages/send.ts",
      "const { a } = await import('../engine.ts')",
      "messages stands below src/engine.ts",
    ],
    [
      "src/messages/send.ts",
      "let a: import('../engine.ts').Engine",
      "messages stands below src/engine.ts",
    ],
    ["src/messages/send.ts", "const { a } = await import(place)", "must name its module"],
    [
      "src/messages/send.ts",
      "import { a } from '../../adapters/storage/memory/index.ts'",
      "src may not import adapters",
    ],
    [
      "src/messages/send.ts",
      "import { a } from '../../adapters/testing/index.ts'",
      "src may not import adapters",
    ],
    [
      "adapters/http/node.ts",
      "import { a } from '../testing/index.ts'",
      "adapters of kind http may not import adapters of kind testing",
    ],
    ["src/messages/send.ts", "import { a } from 'node:fs'", "no node built-in but"],
    ["src/messages/send.ts", "import { a } from 'express'", "express is not a dependency"],
    ["src/messages/send.ts", "import { a } from './gone.ts'", "no such file"],
    [
      "src/new-idea.ts",
      "import { a } from './contacts/index.ts'",
      "src/new-idea.ts is in no module",
    ],
    [
      "adapters/testing/a.ts",
      "import { a } from '../../src/messages/index.ts'",
      "adapters of kind testing may not import messages",
    ],
    [
      "adapters/storage/sqlite/a.ts",
      "import { a } from '../../../src/engine.ts'",
      "adapters of kind storage may not import engine",
    ],
    [
      "adapters/system/a.ts",
      "import { a } from '../http/node.ts'",
      "adapters of kind system may not import adapters of kind http",
    ],
    [
      "adapters/language/a.ts",
      "import { a } from '../models/index.ts'",
      "adapters of kind language may not import adapters of kind models",
    ],
    [
      "adapters/web/console/browser/app.tsx",
      "import { a } from '../../inbox/browser/app.tsx'",
      "only its own files and adapters/web/shared/browser",
    ],
    [
      "adapters/web/inbox/browser/view.tsx",
      "import { TidingsError } from '../../../../src/index.ts'",
      "only types of the engine",
    ],
    [
      "adapters/web/inbox/server/index.ts",
      "import { a } from '../browser/app.tsx'",
      "only a browser half may import a browser half",
    ],
    [
      "adapters/web/inbox/browser/view.tsx",
      "import { z } from 'zod'",
      "zod is not among the libraries of the pages",
    ],
    [
      "examples/express/main.ts",
      "import { a } from '../../src/engine.ts'",
      "examples may import only what users import",
    ],
  ])("finds that %s has: %s", (path, source, reason) => {
    expect(check({ [path]: source })).toEqual([expect.stringContaining(reason)]);
  });

  test("finds cycles, also of types", () => {
    expect(
      check({
        "src/ports/a.ts": "import type { B } from './b.ts'",
        "src/ports/b.ts": "import type { C } from './c.ts'",
        "src/ports/c.ts": "import type { A } from './a.ts'",
      }),
    ).toEqual(["cycle: src/ports/a.ts → src/ports/b.ts → src/ports/c.ts → src/ports/a.ts"]);
  });

  test.each([
    [
      "src/messages/send.ts",
      "import { a } from '../contacts/index.ts'; import { z } from 'zod/v4'",
    ],
    ["src/messages/send.ts", "import { a } from './rows.ts'; import { hash } from 'node:crypto'"],
    ["src/engine.ts", "import { a } from './messages/index.ts'"],
    [
      "adapters/storage/sqlite/a.ts",
      "import { a } from '../memory/index.ts'; import { b } from 'node:sqlite'",
    ],
    [
      "adapters/http/koa.ts",
      "import { a } from './node.ts'; import { b } from '../../src/engine.ts'",
    ],
    ["adapters/models/a.ts", "import { a } from '../language/index.ts'"],
    [
      "adapters/web/inbox/browser/view.tsx",
      "import { render } from 'preact'; import { b } from '../../shared/browser/theme.ts'; " +
        "import type { Message } from '../../../../src/index.ts'; const page = <p />",
    ],
    ["examples/express/main.ts", "import express from 'express'; import { a } from 'tidings'"],
  ])("allows %s to have: %s", (path, source) => {
    expect(check({ [path]: source })).toEqual([]);
  });
});

describe("the check of hidden inputs", () => {
  test.each([
    ["Date", "const now = Date.now()"],
    ["Date", "const now = Date['now']()"],
    ["Date", "const { now } = Date"],
    ["Date", "const now = new Date()"],
    ["Date", "const now = Date()"],
    ["Date", "const clock = { read: Date }"],
    ["Math.random", "const dice = Math.random()"],
    ["Math.random", "const { random } = Math"],
    ["Temporal.Now", "const now = Temporal.Now.instant()"],
    ["Temporal.Now", "const { Now } = Temporal"],
    ["Temporal.Now", "import { Temporal as T } from 'temporal-polyfill'"],
    ["AbortSignal.timeout", "const signal = AbortSignal.timeout(5)"],
    ["setTimeout", "setTimeout(() => {}, 5)"],
    ["setImmediate", "await new Promise((resolve) => setImmediate(resolve))"],
    ["setInterval", "const timers = { setInterval }"],
    ["performance", "const at = performance.now()"],
    ["process", "const home = (process as { env: object }).env"],
    ["console", "console.log('hello')"],
    ["crypto", "const id = crypto.randomUUID()"],
    ["crypto", "export const draw = { crypto }"],
    ["globalThis", "const dice = globalThis.Math.random()"],
    ["fetch", "await fetch('https://example.com')"],
    ["randomUUID of node:crypto", "import { randomUUID as id } from 'node:crypto'"],
    ["randomBytes of node:crypto", "import { createHmac, randomBytes } from 'node:crypto'"],
    ["randomBytes of node:crypto", "export { randomBytes } from 'node:crypto'"],
    ["* of node:crypto", "const crypt = await import('node:crypto')"],
    ["* of node:crypto", "import * as crypt from 'node:crypto'"],
    ["default of node:crypto", "import crypt from 'node:crypto'"],
  ])("finds %s in: %s", (finding, source) => {
    expect(hiddenInputs("src/a.ts", source)).toEqual([`src/a.ts uses ${finding}`]);
  });

  test.each([
    "const at = new Date(clock.now()).toISOString()",
    "const at = Date.parse('2026-01-01')",
    "const isDate = (value: unknown): value is Date => value instanceof Date",
    "interface Options { readonly start: Date; readonly fetch: unknown; process(): void }",
    "import { Temporal } from 'temporal-polyfill'; const day = Temporal.PlainDate.from('2026-01-01')",
    "import { Temporal } from 'temporal-polyfill'; let day: Temporal.PlainDate",
    "const most = Math.max(1, 2)",
    "const both = AbortSignal.any([signal])",
    "const signal = options.signal as AbortSignal",
    "await http.fetch(request); job.process()",
    "const wiring = { console: silent, process: undefined }",
    "import { createHmac, timingSafeEqual } from 'node:crypto'",
    "const valueOf = (rows: Rows) => rows.constructor",
    "// Date.now() and process.env",
  ])("allows: %s", (source) => {
    expect(hiddenInputs("src/a.ts", source)).toEqual([]);
  });
});
