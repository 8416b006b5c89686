import { execFile } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { existsSync, globSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { sandbox } from "tidings/sandbox";
import { MessagingEngine } from "tidings";
import { keywordOf } from "../../src/consents/keywords.ts";
import type { Keyword } from "../../src/contacts/consent-types.ts";
import { eventTypes } from "../../src/events/types.ts";
import { errorCodes, TidingsError } from "../../src/kernel/errors.ts";
import { database } from "../support/postgres.ts";
import { expectToChat } from "./chat.ts";
import { type Sample, samplesOf } from "./samples.ts";

const documents = ["README.md", ...globSync("docs/*.md").toSorted()];
const samples = documents.flatMap((document) => samplesOf(document));

/** Within the project, so that `tidings` is found; hidden, so that nothing else takes notice. */
const folder = resolve("test/examples/.samples");
const fileOf = ({ name }: Sample): string => join(folder, `${name.replaceAll(/\W+/g, "-")}.ts`);

/** Ports are whichever are free, and what runs on is handed out to be stopped. */
function programOf({ code }: Sample): string {
  const names = ["engine", "server", "pool"].filter((name) =>
    new RegExp(`^const ${name} =`, "m").test(code),
  );
  return `${code.replaceAll("listen(3000", "listen(0")}\nexport { ${names.join(", ")} };\n`;
}

/** What is printed later than this was not printed. */
const patienceMs = 60_000;

interface Running {
  readonly engine?: { stop(): Promise<void> };
  readonly server?: Server;
  readonly pool?: { end(): Promise<void> };
}

describe("the code in the README and the docs", () => {
  const home = process.cwd();
  let elsewhere = "";

  beforeAll(async () => {
    await mkdir(folder, { recursive: true });
    await Promise.all(samples.map((sample) => writeFile(fileOf(sample), programOf(sample))));
    const compilerOptions = { noUnusedLocals: false, rootDir: home };
    // Where a dependency has no types of its own, the project declares them.
    const include = ["./*.ts", "../../../adapters/**/*.d.ts"];
    await writeFile(
      join(folder, "tsconfig.json"),
      JSON.stringify({ extends: "../../../tsconfig.json", compilerOptions, include, exclude: [] }),
    );
    elsewhere = await mkdtemp(join(tmpdir(), "tidings-samples-"));
  });

  afterAll(async () => {
    process.chdir(home);
    await rm(folder, { recursive: true, force: true });
    await rm(elsewhere, { recursive: true, force: true });
  });

  test("has no errors of type", async () => {
    const findings = await new Promise<string>((resolve) => {
      execFile(join(home, "node_modules/.bin/tsc"), ["-p", folder], (_error, stdout, stderr) =>
        resolve(stdout + stderr),
      );
    });
    expect(findings).toBe("");
  });

  test.for(samples)(
    "$name prints what the document says, and serves where it does",
    async (sample, { skip }) => {
      process.chdir(await mkdtemp(join(elsewhere, "run-")));
      if (sample.page !== "") await servePage(sample);
      if (sample.code.includes("DATABASE_URL")) vi.stubEnv("DATABASE_URL", (await database()).url);
      const lines = new EventEmitter();
      let output = "";
      vi.spyOn(console, "log").mockImplementation((...line: unknown[]) => {
        output += `${line.join(" ")}\n`;
        lines.emit("line");
      });
      const { engine, server, pool } = (await import(fileOf(sample))) as Running;
      try {
        while (output.length < sample.output.length) {
          await once(lines, "line", { signal: AbortSignal.timeout(patienceMs) });
        }
        expect(output).toBe(sample.output);
        if (server === undefined) return;
        await expectToServe(server, sample.code);
        if (sample.page !== "") await expectToChat(urlOf(server), skip);
      } finally {
        vi.restoreAllMocks();
        vi.unstubAllEnvs();
        server?.close();
        server?.closeAllConnections();
        await engine?.stop();
        await pool?.end();
      }
    },
  );
});

/** Puts a page where the program serves it from. */
async function servePage({ page }: Sample): Promise<void> {
  await mkdir("public");
  await writeFile("public/index.html", page);
}

function urlOf(server: Server): string {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server has no port");
  return `http://localhost:${address.port}`;
}

/** The surface answers under the path that the code mounts it at. */
async function expectToServe(server: Server, code: string): Promise<void> {
  const [, path = ""] = /"(\/\w+)(?:\/\*)?"/.exec(code) ?? [];
  const response = await fetch(`${urlOf(server)}${path}/v1/health`);
  expect(await response.json()).toEqual({ status: "ok" });
}

function complaintOf(work: () => unknown): string {
  try {
    work();
    return "";
  } catch (error) {
    return String(error);
  }
}

describe("the documents", () => {
  const read = (document: string): string => readFileSync(document, "utf8");

  test("begin with an example in the README's first ten lines", () => {
    const top = read("README.md").split("\n").slice(0, 10);
    expect(top.some((line) => line.includes("npm start"))).toBe(true);
    expect(top).toContain("```ts");
  });

  test("list the sandbox's numbers as the sandbox has them", () => {
    const rows = [...read("README.md").matchAll(/^\| (\d{4}) \| (.+) \|$/gm)];
    const listed = rows.map(([, ending = "", behaviour]) => ({
      number: `+1500555${ending}`,
      behaviour,
    }));
    expect(listed).toEqual(sandbox().test_numbers);
  });

  test("list every error code with its status", () => {
    const rows = [...read("docs/http.md").matchAll(/^\| (\d{3}) \| (.+?) \|/gm)];
    const listed = rows.flatMap(([, status, codes = ""]) =>
      [...codes.matchAll(/`(\w+)`/g)].map(([, code]) => `${status} ${code}`),
    );
    expect(listed.toSorted()).toEqual(
      errorCodes.map((code) => `${new TidingsError(code, "").status} ${code}`).toSorted(),
    );
  });

  test("list every option", () => {
    const complaint = complaintOf(() => new MessagingEngine({ other: true } as never));
    const [, names = ""] = /expected one of ([\w, ]+), got "other"/.exec(complaint) ?? [];
    const rows = [...read("docs/embedding.md").matchAll(/^\| (`\w+`(?:, `\w+`)*) \|/gm)];
    const listed = rows.flatMap(([, cell = ""]) => cell.match(/\w+/g) ?? []);
    expect(listed.toSorted()).toEqual(names.split(", ").toSorted());
  });

  test("list every type of event", () => {
    const rows = [...read("docs/embedding.md").matchAll(/^\| (`[a-z]+\.[a-z_.]+`.*?) \|/gm)];
    const listed = rows.flatMap(([, cell = ""]) => cell.match(/[\w.]+/g) ?? []);
    expect(listed.toSorted()).toEqual(eventTypes.toSorted());
  });

  test("list keywords that mean what they say", () => {
    const meant = (word: string): Keyword =>
      /^(HELP|INFO)$/.test(word) ? "help" : word === "STOP" ? "opt_out" : "opt_in";
    const rows = [...read("docs/consent-and-policies.md").matchAll(/^\| ([A-Z]{4}.*?) \|/gm)];
    expect(rows).toHaveLength(3);
    for (const [, cell = ""] of rows) {
      const words = cell.replace(", of who has opted out", "").split(", ");
      for (const word of words) expect(keywordOf(word, true), word).toBe(meant(words[0] ?? ""));
    }
  });

  test.each(documents)("%s links to what is there", (document) => {
    for (const [, link = ""] of read(document).matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
      if (link.startsWith("https://")) continue;
      expect(existsSync(join(dirname(document), link)), link).toBe(true);
    }
  });
});
