import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  builtIn,
  bundledLibraries,
  entries,
  programs,
  threads,
  versionCheck,
} from "../../tsup.config.ts";
import { samplesOf } from "../examples/samples.ts";
import { chromium } from "../support/browser/chromium.ts";
import { compile } from "../support/compile.ts";
import { cases, longTest } from "../support/runs.ts";
import { installIn, onWindows, type Manifest } from "./consumer.ts";
import { playStory, startTidings } from "./journey.ts";

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
const specifiers = Object.keys(manifest.exports).map((subpath) =>
  subpath.replace(/^\./, "tidings"),
);

/**
 * The project's TypeScript version, and the oldest supported version, which also generates the
 * client.
 */
const compilers = ["node_modules/typescript", "test/openapi-client/node_modules/typescript"].map(
  (path) => resolve(path),
);
const versionOf = (folder: string) =>
  (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string }).version;

/** Runs a program in a folder and returns its output, errors included. */
const runNode = (cwd: string, ...args: string[]) =>
  new Promise<string>((done) => {
    execFile(process.execPath, args, { cwd }, (_, stdout, stderr) => done(stdout + stderr));
  });

/**
 * Runs a program until it has printed so many characters, for a minute at most. Returns its output,
 * with errors if it printed less.
 */
async function outputOf(cwd: string, program: string, length: number): Promise<string> {
  const options = { cwd, timeout: 60_000, killSignal: "SIGKILL" } as const;
  const child = spawn(process.execPath, [program], options);
  const closed = once(child, "close");
  const errors = text(child.stderr);
  let output = "";
  for await (const chunk of child.stdout) {
    output += String(chunk);
    if (output.length >= length) break;
  }
  const isComplete = output.length >= length;
  child.kill("SIGKILL");
  await closed;
  return isComplete ? output : `${output}${await errors}`;
}

/** Makes Node report an older version. */
const asOldNode = (version: string) => [
  "--import",
  `data:text/javascript,${encodeURIComponent(
    `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });`,
  )}`,
];
const refusalOf = (version: string) =>
  `tidings needs Node 22.16 or later, but not 23. This is Node ${version}.`;

describe("an old Node", () => {
  test("is refused by the scripts, in one sentence", async () => {
    for (const version of ["18.19.1", "20.20.2", "22.15.1", "23.11.1"]) {
      const output = await runNode(".", ...asOldNode(version), versionCheck);
      expect(output).toBe(`${refusalOf(version)}\n`);
    }
    for (const version of ["22.16.0", "24.0.0", process.versions.node]) {
      expect(await runNode(".", ...asOldNode(version), versionCheck)).toBe("");
    }
    const { scripts, engines } = manifest;
    expect(engines.node).toBe("^22.16 || >=24");
    // `pretest` and `check` begin with one of the others.
    const checked = "start compile types bench simulate crash fuzz mutants mutate-rules".split(" ");
    for (const name of checked) {
      expect(scripts[name], name).toMatch(new RegExp(`^node ${versionCheck} && `));
    }
    expect(scripts["pretest"]).toMatch(/^npm run --silent compile/);
    expect(scripts["prepack"]).toMatch(/^npm run --silent compile/);
    expect(scripts["check"]).toMatch(/^npm run --silent types/);
  });

  test("would load every built file, since none imports what an old Node lacks", () => {
    for (const path of globSync("dist/*.js")) {
      const code = readFileSync(path, "utf8");
      expect(code, path).not.toMatch(/^\s*(?:import|\}) .*"node:sqlite";?$/m);
      const isCheck = path.endsWith(versionCheck);
      expect(isCheck || /^(?:#!.*\n)?import ".\/node-version.js";/.test(code), path).toBe(true);
    }
  });
});

describe("the export map", () => {
  test("has every built entry except commands, threads and the check of Node's version", () => {
    const built = globSync("dist/*.js").map((path) => path.replaceAll("\\", "/"));
    expect(built, "nothing is built: npm run build").not.toEqual([]);
    const inner = [
      ...Object.keys({ ...programs, ...threads }).map((name) => `${name}.js`),
      versionCheck,
    ];
    const innerFiles = inner.map((name) => `dist/${name}`);
    expect(built).toEqual(expect.arrayContaining(innerFiles));
    const entryFiles = built
      .filter((path) => !path.startsWith("dist/chunk-") && !innerFiles.includes(path))
      .map((path) => `./${path}`);
    expect(entryFiles.toSorted()).toEqual(
      Object.values(manifest.exports)
        .map((each) => each.default)
        .toSorted(),
    );
  });

  test("names the build and the declarations of each entry", () => {
    const expected = Object.entries(entries).map(([name, source]) => [
      name === "index" ? "." : `./${name}`,
      { types: `./dist/types/${source.replace(/\.ts$/, ".d.ts")}`, default: `./dist/${name}.js` },
    ]);
    expect(manifest.exports).toEqual(Object.fromEntries(expected));
    for (const { types } of Object.values(manifest.exports)) {
      expect(existsSync(types), types).toBe(true);
    }
  });
});

describe("the package", () => {
  let folder = "";
  let paths: readonly string[] = [];

  /** Runs a program in the consumer's project and returns its output, errors included. */
  const consume = (...args: string[]) => runNode(folder, ...args);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tidings-consumer-"));
    paths = await installIn(folder, manifest);
  });

  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  test("contains the build, its declarations and the documentation, and nothing else", async () => {
    const belongs =
      /^(dist\/[\w-]+\.js(\.map)?|dist\/[\w-]+\.LICENSE|dist\/demo\/\w+\.(html|css|svg)|dist\/web\/\w+\/(manifest\.json|texts\.json|widget\.js|assets\/[\w-]+\.(js|css))|dist\/openapi\/descriptions\.js|dist\/types\/(adapters\/[\w/-]+|chunk-[\w-]+)\.d\.ts|docs\/[\w-]+\.md|docs\/images\/\w+\.png|examples\/storage\/\w+\.ts|package\.json|(README|CHANGELOG)\.md|LICENSE)$/;
    expect(paths.filter((path) => !belongs.test(path))).toEqual([]);
    const texts = ["README.md", "CHANGELOG.md", "LICENSE"];
    expect(paths).toEqual(expect.arrayContaining(texts));
    const pages = globSync("docs/*.md").map((path) => path.replaceAll("\\", "/"));
    expect(paths).toEqual(expect.arrayContaining(pages));
  });

  test("contains every file that the documentation links to", () => {
    const links = paths
      .filter((path) => path.endsWith(".md"))
      .flatMap((path) =>
        [...readFileSync(path, "utf8").matchAll(/\]\((?!\w+:)([^)#]+)/g)].map(([, target = ""]) =>
          join(path, "..", target).replaceAll("\\", "/"),
        ),
      );
    const missing = links.filter((link) => !paths.some((path) => path.startsWith(link)));
    expect(missing).toEqual([]);
  });

  test("has the license of each library that is built in, and installs no such library", async () => {
    const libraries = await bundledLibraries();
    expect(libraries).toEqual(expect.arrayContaining(builtIn));
    const licenses = libraries.map((name) => `dist/${name}.LICENSE`);
    expect(paths).toEqual(expect.arrayContaining(licenses));
    expect(libraries.filter((name) => name in manifest.dependencies)).toEqual([]);
  });

  test("contains no messages of zod but the English ones, since the other languages slow the import down", async () => {
    const files = globSync("dist/*.js");
    const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
    const languages = texts.flatMap((text) =>
      [...text.matchAll(/^\/\/ .*\/zod\/v4\/locales\/(.+)\.js$/gm)].map(([, name]) => name),
    );
    expect(languages).toEqual(["en"]);
  });

  test("runs the first programs of a new user, word for word as the README and the docs have them", async () => {
    const programOf = (document: string, until?: string): { code: string; output: string } => {
      const [sample] = samplesOf(document);
      if (sample === undefined) throw new Error(`${document} has no program`);
      const { code, output } = sample;
      return until === undefined ? { code, output } : { code: code.split(until)[0] ?? "", output };
    };
    const scheduled = programOf("docs/messages.md", "const edited =");
    const steps = [
      programOf("README.md", "import express"),
      programOf("docs/webhooks.md"),
      programOf("docs/agents.md"),
      {
        code: `${scheduled.code}
          await clock.advanceTo("2026-03-03T18:01:00Z");
          console.log((await engine.messages.get(reminder.id)).status);`,
        output: `${scheduled.output.split("\n").slice(0, 3).join("\n")}\ndelivered\n`,
      },
      programOf("docs/consent-and-policies.md"),
    ];
    for (const [n, { code, output }] of cases([...steps.entries()], ([at]) => at === 0)) {
      await writeFile(join(folder, `step-${n}.ts`), code);
      expect(await outputOf(folder, `step-${n}.ts`, output.length)).toBe(output);
    }
  });

  test("contains no path of the machine that built it", async () => {
    for (const path of paths) {
      const content = await readFile(join(folder, "node_modules/tidings", path));
      expect(content.includes(resolve(".")), path).toBe(false);
    }
  });

  test("has the same exports for import and require", async () => {
    await writeFile(
      join(folder, "esm.mjs"),
      `const keys = {};
       for (const name of ${JSON.stringify(specifiers)}) keys[name] = Object.keys(await import(name));
       console.log(JSON.stringify(keys));`,
    );
    await writeFile(
      join(folder, "cjs.cjs"),
      `const keys = {};
       for (const name of ${JSON.stringify(specifiers)}) keys[name] = Object.keys(require(name));
       console.log(JSON.stringify(keys));`,
    );
    const imported = JSON.parse(await consume("esm.mjs")) as Record<string, string[]>;
    expect(JSON.parse(await consume("cjs.cjs"))).toEqual(imported);
    for (const name of specifiers) expect(imported[name], name).not.toEqual([]);
  });

  test("lists the texts of each page, which an application can replace by their keys", async () => {
    const textsOf = async (page: string): Promise<unknown> =>
      JSON.parse(
        await readFile(join(folder, `node_modules/tidings/dist/web/${page}/texts.json`), "utf8"),
      );
    const shared = { copied: "Copied", channelSms: "SMS" };
    expect(await textsOf("inbox")).toMatchObject({ ...shared, title: "Inbox" });
    const ofForms = { agentNew: "New agent", webhooks: "Webhooks" };
    expect(await textsOf("console")).toMatchObject({ ...shared, ...ofForms, title: "Console" });
  });

  test("has the descriptions of the OpenAPI document", async () => {
    await writeFile(
      join(folder, "document.mjs"),
      `import { MessagingEngine } from "tidings";
       import { fetchHandler } from "tidings/fetch";
       import { memory } from "tidings/memory";
       import { sandbox } from "tidings/sandbox";
       const engine = new MessagingEngine({ storage: memory(), transports: [sandbox()] });
       const request = new Request("http://localhost/v1/openapi.json");
       const { components } = await (await fetchHandler(engine)(request)).json();
       console.log(components.schemas.Webhook.properties.url.description);`,
    );
    expect((await consume("document.mjs")).trim()).toBe("The URL that events are posted to.");
  });

  test("maps stack traces to lines of its sources", async () => {
    await writeFile(
      join(folder, "trace.mjs"),
      `import { virtualClock } from "tidings/testing";
       try { virtualClock("never"); } catch (error) { console.log(error.stack); }`,
    );
    const trace = await consume("--enable-source-maps", "trace.mjs");
    expect(trace).toMatch(/[\\/]adapters[\\/]testing[\\/][\w\\/-]+\.ts:\d+/);
  });

  test("shows an engine by the name of its class", async () => {
    await writeFile(
      join(folder, "name.mjs"),
      `import { MessagingEngine } from "tidings";
       import { memory } from "tidings/memory";
       import { sandbox } from "tidings/sandbox";
       import { inspect } from "node:util";
       const engine = new MessagingEngine({ storage: memory(), transports: [sandbox()] });
       console.log(inspect(engine, { depth: 0 }).split(" ")[0]);`,
    );
    expect((await consume("name.mjs")).trim()).toBe("MessagingEngine");
  });

  test("refuses an old Node in one sentence, from every entry", async () => {
    await writeFile(
      join(folder, "old.mjs"),
      `for (const name of ${JSON.stringify(specifiers)}) {
         await import(name).then(() => console.log(name), (error) => console.log(error.message));
       }`,
    );
    const refusal = refusalOf("20.20.2");
    const output = await consume(...asOldNode("20.20.2"), "old.mjs");
    expect(output.trim().split("\n")).toEqual(specifiers.map(() => refusal));
    const uncaught = await consume(...asOldNode("20.20.2"), "esm.mjs");
    expect(uncaught.split(refusal)).toHaveLength(2);
  });

  const bin = (): string =>
    join(folder, "node_modules/.bin", onWindows ? "tidings.cmd" : "tidings");

  test("has the command tidings, which serves its pages in an empty folder", async () => {
    const empty = join(folder, "empty");
    const { addresses, interrupt } = await startTidings(bin(), empty);
    for (const page of [addresses.console, addresses.inbox, addresses.shop]) {
      const html = await (await fetch(page)).text();
      const files = [...html.matchAll(/(?:src|href)="([^"#]+\.(?:js|css))"/g)];
      expect(files, page).not.toEqual([]);
      for (const [, file = ""] of files) {
        expect((await fetch(new URL(file, page))).status, file).toBe(200);
      }
    }
    expect(await interrupt()).toEqual([0, null]);
    expect(readdirSync(empty)).toEqual(["tidings.db", "tidings.db.secrets.json"]);
  });

  longTest("has the command tidings, whose story can be played to its end", async ({ skip }) => {
    const { addresses, interrupt } = await startTidings(bin(), join(folder, "story"), "--seed");
    expect(await playStory(await chromium(skip), addresses)).toEqual([]);
    expect(await interrupt()).toEqual([0, null]);
  });

  longTest(
    "opens a large SQLite database without the file of its thread, as in a bundle",
    async () => {
      const copy = join(folder, "node_modules/bundled");
      await cp(join(folder, "node_modules/tidings"), copy, { recursive: true });
      await rm(join(copy, "dist/sqlite-worker.js"));
      await writeFile(
        join(folder, "large.mjs"),
        `import { DatabaseSync } from "node:sqlite";
       import { MessagingEngine } from "./node_modules/bundled/dist/index.js";
       import { sandbox } from "./node_modules/bundled/dist/sandbox.js";
       import { sqlite } from "./node_modules/bundled/dist/sqlite.js";
       const database = new DatabaseSync("large.db");
       database.exec("CREATE TABLE files (content); INSERT INTO files VALUES (zeroblob(40000000))");
       database.close();
       for (const check of ["quick", "full"]) {
         const storage = sqlite({ file: "large.db", check });
         const engine = new MessagingEngine({ storage, transports: [sandbox()] });
         const { status } = await engine.messages.send({ to: "+15005550001", body: "Hello" });
         console.log(status);
         await engine.stop();
       }`,
      );
      expect(await consume("large.mjs")).toBe("queued\nqueued\n");
    },
  );

  test("runs a world of engines under node:test, on memory and on SQLite", async () => {
    await writeFile(
      join(folder, "world.test.mjs"),
      `import assert from "node:assert/strict";
       import { test } from "node:test";
       import { memory } from "tidings/memory";
       import { sqlite } from "tidings/sqlite";
       import { scriptedCarrier, world } from "tidings/testing";
       for (const storage of [memory(), sqlite({ file: "world.db" })]) {
         test("a crash loses nothing", async () => {
           const carrier = scriptedCarrier();
           const shop = world({ storage, transports: [carrier] });
           shop.inject("crashAfterSend");
           await shop.run((engine) => engine.messages.send({ to: "+15005550001", body: "Hello" }));
           await shop.settle();
           assert.deepEqual(carrier.handedOver.map(({ message }) => message.body), ["Hello"]);
         });
       }`,
    );
    const output = await consume("--test", "world.test.mjs");
    expect(output).toMatch(/\bpass 2\b/);
    expect(output).toMatch(/\bfail 0\b/);
  });

  test("has one error class for all entries, for import and require", async () => {
    await writeFile(
      join(folder, "errors.cjs"),
      `const { virtualClock } = require("tidings/testing");
       import("tidings").then(({ TidingsError }) => {
         try { virtualClock("never"); } catch (error) { console.log(error instanceof TidingsError, error.code); }
       });`,
    );
    expect((await consume("errors.cjs")).trim()).toBe("true invalid_option");
  });

  const compilerSettings = [
    ["nodenext", "nodenext", "7"],
    ["preserve", "bundler", "7"],
    ["nodenext", "nodenext", "5.9"],
    ["preserve", "bundler", "5.9"],
  ] as const;
  const few = ([, resolution, version]: (typeof compilerSettings)[number]): boolean =>
    resolution === "nodenext" && version === "7";
  test.each(cases(compilerSettings, few))(
    "compiles in strict mode with module %s, module resolution %s, TypeScript %s",
    async (module, moduleResolution, version) => {
      const compiler =
        compilers.find((path) => versionOf(path).startsWith(`${version}.`)) ?? expect.fail();
      const project = join(folder, `${moduleResolution}-${version}`);
      await mkdir(project);
      // If a declaration were missing, its names would be `any`, and the expected error would not
      // occur.
      const uses = (load: (name: string, as: string) => string) => `
      ${specifiers.map((name, index) => load(name, `entry${index}`)).join("\n")}
      ${load("tidings/testing", "testing")}
      export const all: object[] = [${specifiers.map((_, index) => `entry${index}`).join(", ")}];
      export const clock: testing.VirtualClock = testing.virtualClock();
      // @ts-expect-error time is a number
      export const time: string = clock.now();`;
      await writeFile(
        join(project, "esm.mts"),
        uses((name, as) => `import * as ${as} from "${name}";`),
      );
      if (moduleResolution === "nodenext") {
        await writeFile(
          join(project, "cjs.cts"),
          uses((name, as) => `import ${as} = require("${name}");`),
        );
      }
      const compilerOptions = {
        module,
        moduleResolution,
        target: "es2023",
        lib: ["es2023", "esnext.disposable"],
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
        // Each compiler checks the declarations themselves, the slower one in one mode only.
        skipLibCheck: version === "5.9" && moduleResolution === "bundler",
        // TypeScript's own declarations are not the package's, and take a quarter of the time.
        skipDefaultLibCheck: true,
        typeRoots: [resolve("node_modules/@types")],
        // TypeScript 7 includes no types by default. The package asks for those that it needs.
        ...(version === "5.9" ? { types: ["node"] } : {}),
      };
      await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions }));
      expect(await compile(project, compiler)).toBe("");
    },
  );
});
