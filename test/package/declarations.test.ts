import { globSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { compile } from "../support/compile.ts";
import { installIn, type Manifest } from "./consumer.ts";

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;

test("each entry is declared in one file, with no library that an application would have to install", () => {
  const files = globSync("dist/types/**/*.d.ts").map((path) => path.replaceAll("\\", "/"));
  const shared = files.filter((path) => path.startsWith("dist/types/chunk-"));
  const entries = Object.values(manifest.exports).map(({ types }) => types.replace("./", ""));
  expect(files.toSorted()).toEqual([...entries, ...shared].toSorted());
  expect(shared.length).toBeLessThan(5);
  const imports = files.flatMap((path) =>
    [...readFileSync(path, "utf8").matchAll(/^import [^'"]*['"]([^.'"][^'"]*)['"];$/gm)].map(
      ([, name = ""]) => name,
    ),
  );
  expect(imports).toContain("node:http");
  const known = Object.keys(manifest.dependencies);
  expect(imports.filter((name) => !name.startsWith("node:") && !known.includes(name))).toEqual([]);
});

// Workspaces emit declarations. The compiler must name each type by an entry that the program
// imports.
test("an application with declarations can export what it makes, without naming its type", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tidings-declarations-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await installIn(folder, manifest);
  await writeFile(
    join(folder, "application.ts"),
    `import { MessagingEngine } from "tidings";
     import { httpClient } from "tidings/http-client";
     import { english } from "tidings/language";
     import { memory } from "tidings/memory";
     import { rules } from "tidings/models";
     import { sandbox } from "tidings/sandbox";
     import { sentiment } from "tidings/sentiment";
     import { system } from "tidings/system";
     export const storage = memory();
     export const carrier = sandbox();
     export const [model, language, analyzer] = [rules(), english(), sentiment()] as const;
     export const [client, { clock, random }] = [httpClient(), system()] as const;
     export const engine = new MessagingEngine({ storage, transports: [carrier] });
     export const { api } = engine;
     export const sent = () => engine.events.list({ type: "message.sent" });
     export const consumer = engine.consume("all", ["message.sent"], async () => {});`,
  );
  const compilerOptions = {
    module: "nodenext",
    target: "es2023",
    strict: true,
    declaration: true,
    noEmit: true,
    skipLibCheck: true,
    typeRoots: [resolve("node_modules/@types")],
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  expect(await compile(folder)).toBe("");
});
