import { execFile } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { existsSync, globSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { MessagingEngine } from "tidings";
import { nodeHandler } from "tidings/node";
import { sandbox } from "tidings/sandbox";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { keywordOf } from "../../src/consents/keywords.ts";
import type { Keyword } from "../../src/contacts/consent/consent-types.ts";
import { eventTypes } from "../../src/events/types.ts";
import { errorCodes, TidingsError } from "../../src/kernel/errors.ts";
import { compile } from "../support/compile.ts";
import { database } from "../support/postgres/test-database.ts";
import { cases } from "../support/runs.ts";
import { expectToChat, expectWidgetToChat } from "./chat.ts";
import {
  moduleOf,
  outlineOf,
  sampleCompilerOptions,
  samplesOf,
  watchSignalHandlers,
  type Sample,
} from "./samples.ts";

/** The samples of the conformance page are suites. `conformance-docs.test.ts` runs them. */
const withSuites = "docs/conformance.md";
const pages = globSync("docs/*.md").filter((page) => page !== withSuites);
const documents = ["README.md", ...pages.toSorted()];
const samples = documents.flatMap((document) => samplesOf(document));

/** Inside the project, so that imports resolve. Hidden, so that other tools skip it. */
const folder = resolve("test/examples/.samples");
const fileOf = ({ name }: Sample): string => join(folder, `${name.replaceAll(/\W+/g, "-")}.ts`);

/** The headings of samples that play hundreds of stories, or more than a day. */
const slow = new Set(["Find a race", "Virtual time"]);
/** `frameworks.test.ts` compiles and runs the samples of this page. Node cannot run NestJS as it is. */
const ofFrameworks = "docs/frameworks.md:";
const runHere = samples.filter(({ name }) => !name.startsWith(ofFrameworks));
const isQuick = ({ heading }: Sample): boolean => !slow.has(heading);

/** How long a sample may take to print what its document says. */
const printTimeoutMs = 60_000;

interface Running {
  readonly engine?: { stop(): Promise<void> };
  readonly server?: Server;
  readonly pool?: { end(): Promise<void> };
  readonly secret?: string | null;
}

interface Called {
  readonly status: number;
  readonly body: { readonly contact_id?: string; readonly conversation_id?: string };
}

const hours = { title: "Opening hours", text: "We are open from 9 to 6." };

describe("the code in the README and the docs", () => {
  const home = process.cwd();
  let elsewhere = "";

  beforeAll(async () => {
    await mkdir(folder, { recursive: true });
    await Promise.all(samples.map((sample) => writeFile(fileOf(sample), moduleOf(sample))));
    // With folders of their own, `tidings` is the built declarations, as for users. The compiler
    // would check the sources anew.
    const compilerOptions = { ...sampleCompilerOptions, rootDir: ".", outDir: "." };
    const include = ["./*.ts"];
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

  test("has no type errors", async () => {
    expect(await compile(folder)).toBe("");
  });

  test.for(cases(runHere, isQuick))(
    "$name prints the documented output and serves at the documented URL",
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
      const removeSignalHandlers = watchSignalHandlers();
      const { engine, server, pool, secret } = (await import(fileOf(sample))) as Running;
      try {
        while (output.length < sample.output.length) {
          await once(lines, "line", { signal: AbortSignal.timeout(printTimeoutMs) });
        }
        if (sample.outline === "") expect(output).toBe(sample.output);
        else expect(outlineOf(output)).toEqual(outlineOf(sample.outline));
        if (server === undefined) return;
        if (sample.page.includes("widget.js")) {
          await expectWidgetToChat(urlOf(server), skip);
          return;
        }
        await expectToServe(server, sample.code);
        if (typeof secret === "string") await expectToRespond(server, sample, secret);
        if (sample.page !== "") await expectToChat(urlOf(server), skip);
      } finally {
        vi.restoreAllMocks();
        vi.unstubAllEnvs();
        removeSignalHandlers();
        server?.close();
        server?.closeAllConnections();
        await engine?.stop();
        await pool?.end();
      }
    },
  );

  test("the README's first program serves webhooks, agents and sentiment over HTTP", async () => {
    process.chdir(await mkdtemp(join(elsewhere, "run-")));
    const program = join(folder, "first-program.ts");
    await writeFile(program, samples.map(moduleOf)[0] ?? "");
    vi.spyOn(console, "log").mockImplementation(() => {});
    const { engine } = (await import(program)) as { engine: MessagingEngine };
    const { secret } = await engine.apiKeys.create({ name: "a key" });
    const server = createServer(nodeHandler(engine)).listen(0);
    const call = async (method: string, path: string, body?: object): Promise<Called> => {
      const response = await fetch(`${urlOf(server)}/v1/${path}`, {
        method,
        headers: { Authorization: `Bearer ${secret}`, "Content-Type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Called["body"] };
    };
    try {
      const webhook = { url: "https://shop.example/hooks", events: ["message.sent"] };
      expect(await call("POST", "webhooks", webhook)).toMatchObject({ status: 201 });

      const agent = { name: "Ada", channels: ["sms"], knowledge: [hours] };
      expect(await call("POST", "agents", agent)).toMatchObject({ status: 201 });
      const question = { from: "+15005550101", body: "When are you open? I love your shop!" };
      const inbound = await call("POST", "sandbox/inbound", question);
      expect(inbound).toMatchObject({ status: 201 });
      const { contact_id, conversation_id } = inbound.body;
      await expect
        .poll(() => call("GET", `conversations/${conversation_id}/messages`))
        .toMatchObject({ body: { data: [{ body: hours.text }, { body: question.body }] } });

      await expect
        .poll(() => call("GET", `contacts/${contact_id}/sentiment`))
        .toMatchObject({
          status: 200,
          body: { messages: [{ score: expect.any(Number) as number }] },
        });
    } finally {
      vi.restoreAllMocks();
      server.close();
      server.closeAllConnections();
      await engine.stop();
    }
  });
});

/** Writes the document's page to the folder that the program serves. */
async function servePage({ page }: Sample): Promise<void> {
  await mkdir("public");
  await writeFile("public/index.html", page);
}

function urlOf(server: Server): string {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server has no port");
  return `http://localhost:${address.port}`;
}

/** Checks that the API responds under the path at which the code mounts it. */
async function expectToServe(server: Server, code: string): Promise<void> {
  const [, path = ""] = /"(\/\w+)(?:\/\*)?"/.exec(code) ?? [];
  const response = await fetch(`${urlOf(server)}${path}/v1/health`);
  expect(await response.json()).toEqual({ status: "ok", reasons: [] });
}

/** Each `curl` command of the document succeeds, and its response has the fields that are shown. */
async function expectToRespond(
  server: Server,
  { requests }: Sample,
  secret: string,
): Promise<void> {
  for (const { command, response } of requests) {
    const line = command
      .replaceAll("http://localhost:3000", urlOf(server))
      .replace(/^curl /, "curl --silent --show-error --fail-with-body ");
    const { stdout } = await promisify(execFile)("sh", ["-c", line], {
      env: { ...process.env, KEY: secret },
    });
    if (response !== "") expect(withoutIds(stdout)).toMatchObject(withoutIds(response));
  }
}

/** Parses JSON and keeps only the prefix of each id, since ids differ from run to run. */
function withoutIds(json: string): object {
  return JSON.parse(json, (_name, value: unknown) =>
    typeof value === "string" ? value.replace(/^([a-z]+_)[0-9A-Z]{26}$/, "$1") : value,
  ) as object;
}

function errorTextOf(work: () => unknown): string {
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

  test("list the sandbox's numbers with their behavior", () => {
    const rows = [...read("docs/testing.md").matchAll(/^\| (\d{4}) \| (.+) \|$/gm)];
    const listed = rows.map(([, ending = "", behavior]) => ({
      number: `+1500555${ending}`,
      behavior,
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
    const errorText = errorTextOf(() => new MessagingEngine({ other: true } as never));
    const [, names = ""] = /other: unknown option\. Known options: ([\w, ]+)/.exec(errorText) ?? [];
    const rows = [...read("docs/embedding.md").matchAll(/^\| (`\w+`(?:, `\w+`)*) \|/gm)];
    const listed = rows.flatMap(([, cell = ""]) => cell.match(/\w+/g) ?? []);
    expect(listed.toSorted()).toEqual(names.split(", ").toSorted());
  });

  test("list every type of event", () => {
    const rows = [...read("docs/events.md").matchAll(/^\| (`[a-z]+\.[a-z_.]+`.*?) \|/gm)];
    const listed = rows.flatMap(([, cell = ""]) => cell.match(/[\w.]+/g) ?? []);
    expect(listed.toSorted()).toEqual(eventTypes.toSorted());
  });

  test("list keywords with their meaning", () => {
    const meant = (word: string): Keyword =>
      word === "HELP" ? "help" : word === "STOP" ? "opt_out" : "opt_in";
    const rows = [...read("docs/consent-and-policies.md").matchAll(/^\| ([A-Z]{4}.*?) \|/gm)];
    expect(rows).toHaveLength(3);
    for (const [, cell = ""] of rows) {
      const words = cell.replace(", from an opted-out contact", "").split(", ");
      for (const word of words) expect(keywordOf(word, true), word).toBe(meant(words[0] ?? ""));
    }
  });

  test("list every page in the index", () => {
    const index = read("docs/README.md");
    const listed = [...index.matchAll(/\]\(([\w-]+\.md)\)/g)].map(
      ([, page = ""]) => `docs/${page}`,
    );
    const others = globSync("docs/*.md").filter((page) => page !== "docs/README.md");
    expect(listed.toSorted()).toEqual(others.toSorted());
  });

  test.each(documents)("%s has no broken links", (document) => {
    for (const [, link = ""] of read(document).matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
      if (link.startsWith("https://")) continue;
      expect(existsSync(join(dirname(document), link)), link).toBe(true);
    }
  });
});
