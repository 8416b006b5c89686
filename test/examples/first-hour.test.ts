/** A reader who follows docs/first-hour.md sees at each step what the page shows. */
import { execFile } from "node:child_process";
import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compile } from "../support/compile.ts";
import { eventually } from "../support/eventually.ts";
import { start } from "./program.ts";
import { blocksOf, outlineOf, sampleCompilerOptions, type Block } from "./samples.ts";

const run = promisify(execFile);
const readerUrl = "http://localhost:3000";

const document = "docs/first-hour.md";
/** The blocks of each step, by its heading. The first commands only install the package. */
const steps = Map.groupBy(blocksOf(await readFile(document, "utf8")), ({ heading }) => heading);
steps.delete("The first hour");

let folder = "";

/** The program's code, which then listens on a free port and prints its address. */
const onFreePort = (code: string): string =>
  code
    .replace("listen(3000", "listen(0")
    .replace(
      `"The shop is at ${readerUrl}"`,
      "`The shop is at http://localhost:${server.address().port}`",
    );

/** Writes a block to the file that its first line names. */
async function apply({ language, content }: Block): Promise<void> {
  const [, name = ""] = /^\/\/ (\S+)\n/.exec(content) ?? [];
  const file = join(folder, name);
  if (language === "js") {
    await appendFile(file, onFreePort(content));
    return;
  }
  const linesWith = (sign: string): string =>
    content
      .split("\n")
      .filter((line) => line.startsWith(sign))
      .map((line) => `${line.slice(1)}\n`)
      .join("");
  const before = await readFile(file, "utf8");
  expect(before).toContain(linesWith("-"));
  await writeFile(file, before.replace(linesWith("-"), linesWith("+")));
}

/** Anna signs in and replies, as the page of the inbox does for her. */
async function replyInTheInbox(url: string, body: string): Promise<void> {
  const signedIn = await fetch(`${url}/sign-in`, { method: "POST", redirect: "manual" });
  expect(signedIn.headers.get("Location")).toBe("/inbox/");
  const headers = {
    Cookie: signedIn.headers.get("Set-Cookie")?.split(";")[0] ?? "",
    "Content-Type": "application/json",
    "Tidings-Page": "1",
    "Sec-Fetch-Site": "same-origin",
  };
  expect(await (await fetch(`${url}/inbox/`, { headers })).text()).toContain("<title>");
  const conversations = `${url}/inbox/v1/conversations`;
  const listed = await fetch(conversations, { headers });
  const { data } = (await listed.json()) as { data: { id: string }[] };
  expect(data).toHaveLength(1);
  const reply = { method: "POST", headers, body: JSON.stringify({ body }) };
  const replied = await fetch(`${conversations}/${data[0]?.id}/messages`, reply);
  expect(replied.status).toBe(201);
}

/** Runs a command of the reader. One that only reads is repeated until it prints what the page shows. */
async function enter(command: string, url: string, shown: Block | undefined): Promise<void> {
  const line = command
    .replaceAll(readerUrl, url)
    .replace(/^curl /, "curl --silent --fail-with-body ")
    .replace(/^node /, `"${process.execPath}" `);
  const check = async (): Promise<void> => {
    const { stdout } = await run("sh", ["-c", line], { cwd: folder });
    if (shown?.language === "json") expect(JSON.parse(stdout)).toEqual(JSON.parse(shown.content));
    if (shown?.language === "console") {
      expect(outlineOf(stdout)).toEqual(expect.arrayContaining(outlineOf(shown.content)));
    }
  };
  await (line.includes(" -d ") ? check() : eventually(check));
}

describe("the tutorial", () => {
  beforeAll(async () => {
    // Inside the project, so that imports resolve. Hidden, so that other tools skip it.
    folder = await mkdtemp(resolve("test/examples/.first-hour-"));
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("has eight steps", () => expect(steps.size).toBe(8));

  test.each([...steps])("%s shows what the page says", async (_heading, blocks) => {
    for (const block of blocks) if (/^(js|diff)$/.test(block.language)) await apply(block);
    await using shop = start("main.js", [], {}, folder);
    const [banner = "", url = ""] = await shop.printed(/^The shop is at (\S+)\n/);
    let printed = banner.length;
    for (const [n, { language, content }] of blocks.entries()) {
      if (language === "sh") await enter(content, url, blocks[n + 1]);
      if (language !== "text" || content.includes(readerUrl)) continue;
      const [, reply] = /: (Half .*)\n/.exec(content) ?? [];
      if (reply !== undefined) await replyInTheInbox(url, reply);
      await eventually(() => expect(shop.output().slice(printed)).toBe(content));
      printed += content.length;
    }
    expect(await shop.interrupt()).toBe(0);
    expect(await shop.errors()).toBe("");
  });

  test("ends with a shop that Twilio can call", async () => {
    const account = {
      TWILIO_ACCOUNT_SID: "AC00000000000000000000000000000000",
      TWILIO_AUTH_TOKEN: "0123456789abcdef0123456789abcdef",
      TWILIO_NUMBER: "+15557770100",
      PUBLIC_URL: "https://shop.example",
    };
    await using shop = start("main.js", [], account, folder);
    const [, url = ""] = await shop.printed(/^The shop is at (\S+)\n/);
    const forged = { method: "POST", body: new URLSearchParams({ Body: "Hi" }) };
    const response = await fetch(`${url}/messaging/v1/transports/twilio/callbacks`, forged);
    expect(await response.json()).toMatchObject({ code: "invalid_signature" });
    expect(await shop.interrupt()).toBe(0);
  });

  test("ends with programs that have no type errors", async () => {
    const compilerOptions = {
      ...sampleCompilerOptions,
      rootDir: ".",
      outDir: ".",
      allowJs: true,
      checkJs: true,
      noImplicitAny: false,
      noUnusedParameters: false,
      noPropertyAccessFromIndexSignature: false,
    };
    const project = { extends: "../../../tsconfig.json", compilerOptions, include: ["./shop*.js"] };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ ...project, exclude: [] }));
    expect(await compile(folder)).toBe("");
  });
});
