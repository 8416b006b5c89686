/**
 * Builds the browser halves of the pages into `dist/web/<page>`. `manifest.json` there maps
 * `main.tsx` to its hashed files, and `texts.json` has the texts that an application can replace.
 * The chat widget is one file, `dist/web/widget/widget.js`, since other websites name it. All
 * libraries are bundled.
 */
import { existsSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build, runnerImport, type Plugin } from "vite";

const hashedFiles = { input: "main.tsx" };
const oneScript = {
  input: "main.tsx",
  output: { format: "iife", entryFileNames: "widget.js" },
} as const;

const pages = { inbox: hashedFiles, console: hashedFiles, widget: oneScript };

/** The widget must be small. It is written for Preact and drawn by a part of it. */
const renderer = fileURLToPath(new URL("adapters/web/widget/browser/renderer.ts", import.meta.url));
const ownRenderer = [{ find: /^preact(\/jsx-runtime)?$/, replacement: renderer }];

for (const [page, rolldownOptions] of Object.entries(pages)) {
  const root = fileURLToPath(new URL(`adapters/web/${page}/browser`, import.meta.url));
  if (!existsSync(root)) continue;
  await build({
    configFile: false,
    root,
    base: "./",
    logLevel: "warn",
    publicDir: false,
    resolve: { alias: page === "widget" ? ownRenderer : [] },
    build: {
      outDir: fileURLToPath(new URL(`dist/web/${page}`, import.meta.url)),
      emptyOutDir: true,
      manifest: "manifest.json",
      target: ["chrome123", "edge123", "firefox125", "safari17.5"],
      modulePreload: false,
      // A data URL would need a wider content security policy.
      assetsInlineLimit: 0,
      rolldownOptions,
    },
  });
}

const folderOfWeb = fileURLToPath(new URL("adapters/web", import.meta.url));

/** The files that declare the texts of a page. */
const textFiles = {
  inbox: ["shared/browser/texts/shared-texts.ts", "inbox/browser/texts.ts"],
  console: [
    "shared/browser/texts/shared-texts.ts",
    "console/browser/texts.ts",
    "console/browser/agents/edit/texts.ts",
  ],
};

/** Returns declared texts as they are. Loads none of the modules that need a document. */
const declarations: Plugin = {
  name: "declarations",
  load(id) {
    if (id.endsWith("/shared/browser/texts/define-texts.ts")) {
      return "export const defineTexts = (texts) => texts;";
    }
    if (id.endsWith("/shared/browser/index.ts")) {
      return 'export * from "./texts/define-texts.ts"; export { messageTexts } from "./texts/message-words.ts";';
    }
    return undefined;
  },
};

for (const [page, files] of Object.entries(textFiles)) {
  const declared = await Promise.all(
    files.map(async (file) => {
      const { module } = await runnerImport<
        Readonly<Record<string, Readonly<Record<string, unknown>>>>
      >(`${folderOfWeb}/${file}`, { configFile: false, logLevel: "warn", plugins: [declarations] });
      return Object.values(module);
    }),
  );
  const texts = Object.fromEntries(declared.flat().flatMap((each) => Object.entries(each)));
  const path = fileURLToPath(new URL(`dist/web/${page}/texts.json`, import.meta.url));
  writeFileSync(path, `${JSON.stringify(texts, null, 2)}\n`);
}
